//! Text made small enough for a screen: cut on a character boundary and marked as cut, fenced, or one line.

use std::borrow::Cow;

pub(super) use crate::text::beginning as head;

/// The first `limit` bytes of a text, or a little less so that no character is split; what is cut is marked with the
/// size of the whole.
///
/// The mark comes on top of the limit: it never pushes out text.
pub(super) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let kept = head(text, limit);
    Cow::Owned(format!("{kept}\n… (cut: {} of {} bytes shown)", kept.len(), text.len()))
}

/// The longest end of a text that fits into `limit` bytes without splitting a character.
pub(super) fn tail(text: &str, limit: usize) -> &str {
    let mut start = text.len().saturating_sub(limit);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// One line of at most `limit` characters: line ends and runs of white space become a space, a cut becomes `…`.
pub(super) fn line(text: &str, limit: usize) -> String {
    let mut characters = text.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars);
    let mut line: String = characters.by_ref().take(limit).collect();
    if characters.next().is_some() {
        line.pop();
        line.push('…');
    }
    line
}

/// A Markdown code block whose fence is longer than any run of backticks inside, so that the text can't end it.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

fn longest_run(text: &str, character: char) -> usize {
    text.split(|other| other != character).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // H7
    #[test]
    fn a_cut_never_splits_a_character_and_says_how_much_there_was() {
        let text = "aé漢🦀".repeat(50);
        for limit in 0..text.len() {
            let shown = cut(&text, limit);
            let (kept, mark) = shown.split_once("\n… (cut: ").expect("a mark");
            assert!(kept.len() <= limit && kept.len() + 4 > limit, "{limit}: {}", kept.len());
            assert!(text.starts_with(kept));
            assert_eq!(mark, format!("{} of {} bytes shown)", kept.len(), text.len()));
            assert!(text.ends_with(tail(&text, limit)) && tail(&text, limit).len() <= limit);
        }
        assert_eq!(cut(&text, text.len()), text.as_str());
    }

    #[test]
    fn a_line_is_one_line_of_bounded_length() {
        assert_eq!(line("  ls\n\t-l  ", 80), "ls -l");
        assert_eq!(line("aaaa bbbb", 6), "aaaa …");
        assert_eq!(line("漢字漢字", 3), "漢字…");
        assert_eq!(line("exact", 5), "exact");
    }

    #[test]
    fn a_fence_outgrows_what_it_holds() {
        assert_eq!(fenced("x", "rust"), "```rust\nx\n```");
        assert_eq!(fenced("a ```` b\n", ""), "`````\na ```` b\n`````");
    }
}
