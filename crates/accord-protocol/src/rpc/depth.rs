//! How deep a line may nest, found without parsing it.

use memchr::memchr2;

/// The deepest nesting of objects and arrays that is accepted, the message's own object included.
pub const MAX_DEPTH: usize = 128;

/// Whether `line` nests deeper than [`MAX_DEPTH`].
///
/// The exact scan runs only for lines that hold more openers than the limit, wherever they are.
pub(crate) fn too_deep(line: &[u8]) -> bool {
    line.len() > MAX_DEPTH && has_many_openers(line) && deepest(line) > MAX_DEPTH
}

/// Counted in blocks that fit a byte, so that the compiler makes vector instructions of it.
fn has_many_openers(line: &[u8]) -> bool {
    // The two openers differ in this bit.
    let count = |block: &[u8]| block.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>();
    let (blocks, rest) = line.as_chunks::<64>();
    let mut openers = usize::from(count(rest));
    blocks.iter().any(|block| {
        openers += usize::from(count(block));
        openers > MAX_DEPTH
    }) || openers > MAX_DEPTH
}

/// Strings, which are most of a long line, are skipped from one quote or escape to the next.
fn deepest(line: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(line, at),
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Where the string ends whose first character is at `at`.
fn string_end(line: &[u8], mut at: usize) -> usize {
    while let Some(found) = line.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if line[at - 1] == b'"' {
            return at;
        }
        // What is escaped ends no string.
        at += 1;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_strings() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(!too_deep(nested(MAX_DEPTH).as_bytes()));
        assert!(too_deep(nested(MAX_DEPTH + 1).as_bytes()));
        assert!(!too_deep(format!("{:?}", nested(1000)).as_bytes()));
        assert!(!too_deep("[[]]".repeat(1000).as_bytes()));
        assert!(!too_deep(format!(r#"["\"{}"]"#, "{".repeat(500)).as_bytes()));
        assert!(!too_deep(format!(r#"["{}\\"]"#, "{".repeat(500)).as_bytes()));
        assert!(too_deep(format!(r#"["\\",{}"#, nested(500)).as_bytes()));
        assert!(!too_deep(format!(r#"["{}\"#, "{".repeat(500)).as_bytes()));
    }
}
