//! Text that is cut where it has to be, between two characters.

/// The beginning of a text, at most so many bytes of it.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::beginning;

    #[test]
    fn a_character_is_whole_or_not_there() {
        assert_eq!(["a€b", "", "ab"].map(|text| beginning(text, 3)), ["a", "", "ab"]);
        assert_eq!(["a€b", "€", "x"].map(|text| beginning(text, 4)), ["a€", "€", "x"]);
    }
}
