//! The text that every peer streams, so that all of them escape and copy the same bytes.

/// One line of prose and code; its one newline is the only character of it that JSON escapes.
const LINE: &str = "The quick brown fox jumps over the lazy dog; fn main() {}\n";

/// The first `bytes` bytes of the line, repeated.
pub fn text(bytes: usize) -> String {
    let mut text = LINE.repeat(bytes.div_ceil(LINE.len()));
    text.truncate(bytes);
    text
}

/// Splits a command line at blanks; single or double quotes keep an argument together, nothing else is special.
pub fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in command.chars() {
        if quote == Some(letter) {
            quote = None;
        } else if quote.is_none() && matches!(letter, '\'' | '"') {
            quote = Some(letter);
            word.get_or_insert_default();
        } else if quote.is_none() && letter.is_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(letter);
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::{text, words};

    #[test]
    fn text_has_the_length_asked_for() {
        for bytes in [0, 1, 57, 58, 59, 4096] {
            assert_eq!(text(bytes).len(), bytes);
        }
        assert_eq!(text(64).matches('\n').count(), 1);
    }

    #[test]
    fn quotes_keep_an_argument_together() {
        assert_eq!(words("a  'b c' \"\" d'e'"), ["a", "b c", "", "de"]);
    }
}
