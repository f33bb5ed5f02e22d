//! Text that comes from outside, made fit to be told: cut between two characters, on one line.

/// The beginning of a text, at most so many bytes of it.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// The text on one line: a line end, or anything else that is not shown, is a space.
pub(crate) fn one_line(text: &str) -> String {
    text.trim().chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::{beginning, one_line};

    #[test]
    fn what_is_told_stays_on_its_line() {
        assert_eq!(one_line("a\r\nb\tc\u{1b}[1m\n"), "a  b c [1m");
    }

    #[test]
    fn a_character_is_whole_or_not_there() {
        assert_eq!(["a€b", "", "ab"].map(|text| beginning(text, 3)), ["a", "", "ab"]);
        assert_eq!(["a€b", "€", "x"].map(|text| beginning(text, 4)), ["a€", "€", "x"]);
    }
}
