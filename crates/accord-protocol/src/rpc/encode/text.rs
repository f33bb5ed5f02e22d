//! Strings as JSON writes them, looked at eight bytes at a time.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHEST: u64 = ONES << 7;

/// Writes `text` in quotes, with the same escapes as `serde_json`.
pub(super) fn write(out: &mut Vec<u8>, text: &str) {
    quoted(out, text.as_bytes(), b"\"");
}

/// Writes the name of a member, and its colon.
pub(super) fn write_name(out: &mut Vec<u8>, name: &str) {
    quoted(out, name.as_bytes(), b"\":");
}

/// Writes the name of a member that stands in quotes already, and with its colon.
pub(super) fn write_ready(out: &mut Vec<u8>, name: &str) {
    let name = name.as_bytes();
    match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) if name.len() <= 16 => overlapped::<8>(out, name.len(), first, last),
        _ => out.extend_from_slice(name),
    }
}

/// Most strings are short and need no escape: those are looked at and written in two parts, which overlap where there are
/// not enough bytes for both, and so without a loop or a call.
fn quoted<const N: usize>(out: &mut Vec<u8>, text: &[u8], close: &[u8; N]) {
    out.push(b'"');
    match (text.first_chunk(), text.last_chunk(), text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last), ..)
            if text.len() <= 16 && special(word(*first)) | special(word(*last)) == 0 =>
        {
            overlapped::<8>(out, text.len(), first, last);
        }
        (None, None, Some(first), Some(last)) if special(half(*first) | half(*last) << 32) == 0 => {
            overlapped::<4>(out, text.len(), first, last);
        }
        (.., None, None) if !text.iter().any(|byte| needs_escape(*byte)) => {
            for byte in text {
                out.push(*byte);
            }
        }
        _ => write_any(out, text),
    }
    out.extend_from_slice(close);
}

/// Writes `length` bytes, which begin with `first` and end with `last`.
fn overlapped<const N: usize>(out: &mut Vec<u8>, length: usize, first: &[u8; N], last: &[u8; N]) {
    let end = out.len() + length;
    out.extend_from_slice(first);
    out.truncate(end - N);
    out.extend_from_slice(last);
}

/// Writes a text of any length.
#[inline(never)]
fn write_any(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    out.reserve(rest.len());
    while !rest.is_empty() {
        let (plain, special) = rest.split_at(plain(rest));
        out.extend_from_slice(plain);
        rest = special.split_first().map_or(&[], |(byte, after)| {
            escape(out, *byte);
            after
        });
    }
}

/// How many bytes at the beginning need no escape.
fn plain(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    for (place, bytes) in words.iter().enumerate() {
        let found = special(word(*bytes));
        if found != 0 {
            return place * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    // What is left over makes a word with bytes that were seen before, and need no escape.
    let over = match (bytes.last_chunk(), rest.first_chunk(), rest.last_chunk()) {
        (Some(last), ..) => special(word(*last)),
        (None, Some(first), Some(last)) => special(half(*first) | half(*last) << 32),
        _ => HIGHEST,
    };
    if over == 0 {
        return bytes.len();
    }
    let at = rest.iter().position(|byte| needs_escape(*byte));
    words.len() * 8 + at.unwrap_or(rest.len())
}

fn word(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes)
}

fn half(bytes: [u8; 4]) -> u64 {
    u32::from_le_bytes(bytes).into()
}

/// The lowest bit that is set is the highest of the first byte, in memory, that needs an escape: a quote, a backslash or
/// a control character. Bits above it mean nothing, since what is borrowed from a byte can make it look special.
fn special(word: u64) -> u64 {
    // Where `least` is more than the byte, the difference borrows into the highest bit.
    let below = |bytes: u64, least: u8| bytes.wrapping_sub(ONES * u64::from(least));
    let changed = |bits: u8| word ^ (ONES * u64::from(bits));
    // With this bit changed, the quote takes the place of the blank right behind the control characters.
    let special = below(changed(b'"' ^ b' '), b' ' + 1) | below(changed(b'\\'), 1);
    special & !word & HIGHEST
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
