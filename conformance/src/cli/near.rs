//! What was meant by a word that is not known.

/// The candidate that is a typing mistake away from `word`, as the end of a complaint; empty if none is.
pub(super) fn hint<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // A third of the letters may be wrong: more than that is another word.
    let limit = (word.chars().count() / 3).clamp(1, 3);
    let near = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate));
    near.filter(|(far, _)| *far <= limit).min_by_key(|(far, _)| *far).map(|(_, candidate)| candidate)
}

/// How many letters have to be put in, taken out, replaced, or swapped with their neighbours.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows = vec![(0..=other.len()).collect::<Vec<usize>>()];
    for (line, letter) in one.iter().enumerate() {
        let mut row = vec![line + 1];
        for (place, theirs) in other.iter().enumerate() {
            let replaced = rows[line][place] + usize::from(letter != theirs);
            let mut least = replaced.min(rows[line][place + 1] + 1).min(row[place] + 1);
            if line > 0 && place > 0 && *letter == other[place - 1] && one[line - 1] == *theirs {
                least = least.min(rows[line - 1][place - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_mistake_is_found_and_another_word_is_not() {
        let commands = ["agent", "client", "scenario"];
        assert_eq!(nearest("agnet", commands), Some("agent"));
        assert_eq!(nearest("scenarios", commands), Some("scenario"));
        assert_eq!(nearest("client", commands), Some("client"));
        assert_eq!(nearest("serve", commands), None);
        assert_eq!(hint("x", ["y", "long"]), "; did you mean y?");
        assert_eq!(hint("", commands), "");
    }
}
