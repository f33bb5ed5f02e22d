//! What a terminal's command has printed so far: the last bytes of it, cut at a character boundary.

/// The tail of a command's output, bounded in bytes.
#[derive(Debug)]
pub(super) struct Output {
    kept: Vec<u8>,
    limit: usize,
    truncated: bool,
    /// Nothing more will come: a character cut off at the end stays cut off.
    finished: bool,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), limit, truncated: false, finished: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        // Twice the limit before the tail is moved, so that each byte is moved once on average.
        if self.kept.len() > self.limit.saturating_mul(2) {
            self.drop_start();
        }
    }

    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    /// The text at most the limit long, and whether its beginning was dropped.
    pub(super) fn read(&mut self) -> (String, bool) {
        self.drop_start();
        let whole = if self.finished { self.kept.len() } else { complete_len(&self.kept) };
        let mut text = String::from_utf8_lossy(&self.kept[..whole]).into_owned();
        // A replacement character is longer than the byte it stands for.
        if text.len() > self.limit {
            let mut start = text.len() - self.limit;
            while !text.is_char_boundary(start) {
                start += 1;
            }
            text.drain(..start);
            self.truncated = true;
        }
        (text, self.truncated)
    }

    fn drop_start(&mut self) {
        if self.kept.len() <= self.limit {
            return;
        }
        let cut = self.kept.len() - self.limit;
        let continued = self.kept[cut..].iter().take(3).take_while(|byte| is_continuation(**byte)).count();
        self.kept.drain(..cut + continued);
        self.truncated = true;
    }
}

/// The length without a character at the end whose last bytes have not come yet.
fn complete_len(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let Some(lead) = (tail..bytes.len()).rev().find(|&at| !is_continuation(bytes[at])) else {
        return bytes.len();
    };
    let wanted = match bytes[lead] {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    };
    if bytes.len() - lead < wanted { lead } else { bytes.len() }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    // ACPX-TERM-004, B182: the beginning goes, at a character boundary.
    #[test]
    fn the_beginning_is_dropped_at_a_character_boundary() {
        let mut output = Output::new(10);
        output.push("日日日日日日日日".as_bytes());
        output.finish();
        assert_eq!(output.read(), ("日日日".to_owned(), true));
    }

    #[test]
    fn a_character_split_between_reads_appears_when_it_is_whole() {
        let mut output = Output::new(100);
        let text = "a日".as_bytes();
        output.push(&text[..2]);
        assert_eq!(output.read(), ("a".to_owned(), false));
        output.push(&text[2..]);
        assert_eq!(output.read(), ("a日".to_owned(), false));
    }

    #[test]
    fn bytes_that_are_no_text_stay_within_the_limit() {
        let mut output = Output::new(7);
        output.push(&[0xFF; 7]);
        output.finish();
        let (text, truncated) = output.read();
        assert!(text.len() <= 7 && truncated, "{text:?}");
    }

    // B179: a flood is bounded, whatever the pieces.
    #[test]
    fn a_flood_keeps_its_tail_alone() {
        for piece in [1, 7, 4096] {
            let mut output = Output::new(1000);
            let flood = "yes\n".repeat(20_000);
            for bytes in flood.as_bytes().chunks(piece) {
                output.push(bytes);
                assert!(output.kept.len() <= 2000 + piece);
            }
            output.finish();
            let (text, truncated) = output.read();
            assert_eq!((text.as_str(), truncated), (&flood[flood.len() - 1000..], true));
        }
    }
}
