//! Bytes into lines.

use accord_peer::{Frame, Frames};

use crate::support::Dice;

fn lines(frames: &mut Frames) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(frame) = frames.next() {
        lines.push(match frame {
            Frame::Line(line) => String::from_utf8_lossy(line).into_owned(),
            Frame::TooLong(start) => format!("too long: {}", start.len()),
        });
    }
    lines
}

fn split(limit: usize, pieces: &[&[u8]]) -> Vec<String> {
    let mut frames = Frames::new(limit);
    let mut all = Vec::new();
    for piece in pieces {
        frames.space().extend_from_slice(piece);
        all.extend(lines(&mut frames));
    }
    if let Some(Frame::Line(line)) = frames.finish() {
        all.push(String::from_utf8_lossy(line).into_owned());
    }
    all
}

// T17, ACPX-TR-007, ACPX-TR-008, E1
#[test]
fn every_split_gives_the_same_lines() {
    let text =
        "\u{feff}{\"a\":\"é日🦀\"}\r\n\n  \n{\"b\":1} \n{\"cccccccccccccccccccccccccccccccccccccc\":2}\nlast"
            .as_bytes();
    let whole = split(30, &[text]);
    assert_eq!(whole, ["{\"a\":\"é日🦀\"}", "{\"b\":1}", "too long: 44", "last"]);
    for first in 0..text.len() {
        for second in first..text.len() {
            let pieces = [&text[..first], &text[first..second], &text[second..]];
            let found = split(30, &pieces);
            assert_eq!((&found[..2], &found[3..]), (&whole[..2], &whole[3..]), "{first} {second}");
            assert!(found[2].starts_with("too long"), "{first} {second}");
        }
    }
}

// T7
#[test]
fn a_line_over_the_limit_is_skipped_without_being_kept() {
    let mut frames = Frames::new(1000);
    frames.space().extend_from_slice(b"{\"first\":1}\n{\"jsonrpc\":");
    assert_eq!(lines(&mut frames), ["{\"first\":1}"]);
    let mut reports = Vec::new();
    for _ in 0..10_000 {
        frames.space().extend_from_slice(&[b'x'; 700]);
        reports.extend(lines(&mut frames));
        assert!(frames.pending() <= 1700, "no more than the limit and one read are kept");
    }
    assert_eq!(reports.len(), 1, "it is reported once");
    frames.space().extend_from_slice(b"\n{\"next\":1}\n");
    assert_eq!(lines(&mut frames), ["{\"next\":1}"]);
}

#[test]
fn limits_are_exact() {
    for length in [999, 1000, 1001] {
        let line = "x".repeat(length);
        let found = split(1000, &[line.as_bytes(), b"\nnext\n"]);
        let expected = if length > 1000 { "too long: 512".to_owned() } else { line };
        assert_eq!(found, [expected, "next".to_owned()]);
    }
}

#[test]
fn a_large_buffer_is_given_back() {
    let mut frames = Frames::new(8 << 20);
    frames.space().extend_from_slice(&vec![b'x'; 4 << 20]);
    frames.space().push(b'\n');
    assert_eq!(lines(&mut frames).len(), 1);
    for _ in 0..200 {
        frames.space().extend_from_slice(b"{\"small\":1}\n");
        assert_eq!(lines(&mut frames).len(), 1);
    }
    assert!(frames.space().capacity() < 1 << 20, "its peak size is not kept");
}

#[test]
fn random_bytes_never_panic_and_are_never_lost_behind_a_line_end() {
    for seed in 0..2_000 {
        let mut dice = Dice::new(seed);
        let mut frames = Frames::new(64);
        for _ in 0..20 {
            let piece: Vec<u8> = (0..dice.roll(40)).map(|_| b"\n\r {}\"\xefx"[dice.roll(8)]).collect();
            frames.space().extend_from_slice(&piece);
            lines(&mut frames);
        }
        frames.space().extend_from_slice(b"\nprobe\n");
        assert_eq!(lines(&mut frames).last().map(String::as_str), Some("probe"), "seed {seed}");
    }
}
