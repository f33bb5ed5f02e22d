//! Strings as JSON writes them, looked at eight bytes at a time.

/// Writes `text` in quotes, with the same escapes as `serde_json`.
pub(super) fn write(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    out.reserve(rest.len() + 2);
    out.push(b'"');
    while !is_plain(rest) {
        let (plain, special) = rest.split_at(plain(rest));
        out.extend_from_slice(plain);
        rest = special.split_first().map_or(&[], |(byte, after)| {
            escape(out, *byte);
            after
        });
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Whether nothing needs an escape, for short texts that are looked at in one or two steps; of long ones nothing is said.
fn is_plain(bytes: &[u8]) -> bool {
    let word = |bytes: &[u8; 8]| special(u64::from_le_bytes(*bytes));
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    // The two parts overlap where there are not enough bytes for both.
    match (bytes.first_chunk(), bytes.last_chunk(), bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last), ..) => bytes.len() <= 16 && word(first) | word(last) == 0,
        (.., Some(first), Some(last)) => special(half(first) | half(last) << 32) == 0,
        _ => !bytes.iter().any(|byte| needs_escape(*byte)),
    }
}

/// How many bytes at the beginning need no escape.
fn plain(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    for (place, word) in words.iter().enumerate() {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return place * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let at = rest.iter().position(|byte| needs_escape(*byte));
    words.len() * 8 + at.unwrap_or(rest.len())
}

/// The lowest bit that is set is the highest of the first byte, in memory, that needs an escape: a quote, a backslash or
/// a control character. Bits above it mean nothing, since what is borrowed from a byte can make it look special.
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = ONES << 7;
    // Where `least` is more than the byte, the difference borrows into the highest bit.
    let below = |word: u64, least: u8| word.wrapping_sub(ONES * u64::from(least)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | equal(b'"') | equal(b'\\')) & HIGHEST
}

fn needs_escape(byte: u8) -> bool {
    matches!(byte, ..b' ' | b'"' | b'\\')
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0c => b'f',
        b'"' | b'\\' => byte,
        control => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let digit = |value: u8| DIGITS[usize::from(value & 15)];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(control >> 4), digit(control)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte that may need an escape, at every place in a word, between neighbours of every kind.
    #[test]
    fn strings_are_written_as_serde_json_writes_them() {
        let odd: Vec<char> =
            (0..=0x22).map(char::from).chain(['[', '\\', ']', '\u{7f}', 'é', '\u{2028}', '😀']).collect();
        for length in 0..20 {
            for place in 0..=length {
                for &first in &odd {
                    for second in ['x', '"', '\\', '\n', 'é'] {
                        let mut text: String = "x".repeat(length);
                        text.insert(place, second);
                        text.insert(place, first);
                        let mut out = b"before".to_vec();
                        write(&mut out, &text);
                        let expected = serde_json::to_string(&text).expect("a string serialises");
                        assert_eq!(str::from_utf8(&out[6..]), Ok(&*expected));
                    }
                }
            }
        }
    }
}
