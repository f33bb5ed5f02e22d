//! Repair of lone surrogate escapes, which some peers write when they cut text inside a character.

/// `text` with each `\uD800`–`\uDFFF` escape that has no partner replaced by `\ufffd`, or `None` if there is none.
///
/// JSON allows such an escape, but no Rust string can hold it; a replacement character costs less than the whole
/// message.
pub(crate) fn repaired(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut lone = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        at += match (escape(bytes, at), escape(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                lone.push(at);
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    if lone.is_empty() {
        return None;
    }
    let mut fixed = String::with_capacity(text.len());
    let mut from = 0;
    for at in lone {
        fixed.push_str(&text[from..at]);
        fixed.push_str("\\ufffd");
        from = at + 6;
    }
    fixed.push_str(&text[from..]);
    Some(fixed)
}

/// The code unit of the `\uXXXX` escape at `at`, if there is one.
fn escape(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit: u16, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        assert_eq!(repaired(r#""\ud83d\ude00 \u00e9 \\ud800""#), None);
        assert_eq!(repaired(r#""a\ud83d""#).as_deref(), Some(r#""a\ufffd""#));
        assert_eq!(repaired(r#""\ude00\ud83d\ude00""#).as_deref(), Some(r#""\ufffd\ud83d\ude00""#));
        assert_eq!(repaired(r#""\\\ud83d""#).as_deref(), Some(r#""\\\ufffd""#));
        assert_eq!(repaired(r#""\ud8"#), None);
    }
}
