//! How deep a line may nest, found without parsing it.

use memchr::memchr2_iter;

/// The deepest nesting of objects and arrays that is accepted, the message's own object included.
pub const MAX_DEPTH: usize = 128;

/// Whether `line` nests deeper than [`MAX_DEPTH`].
///
/// The exact scan goes byte by byte, so it runs only for lines that hold more openers than the limit.
pub(crate) fn too_deep(line: &[u8]) -> bool {
    line.len() > MAX_DEPTH
        && memchr2_iter(b'{', b'[', line).nth(MAX_DEPTH).is_some()
        && deepest(line) > MAX_DEPTH
}

fn deepest(line: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
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
    }
}
