//! Words for people: reports on stdout, complaints and progress on stderr.

use std::io::{IsTerminal as _, Write as _};

/// Appends a formatted line to a `String`.
macro_rules! line {
    ($text:expr, $($format:tt)*) => {{
        use std::fmt::Write as _;
        writeln!($text, $($format)*).expect("a String takes whatever is written to it")
    }};
}
pub(crate) use line;

/// Writes a report; a reader that has gone (a closed pager) is no error.
pub(crate) fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Writes a complaint.
pub(crate) fn err(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Whether colours and a moving line of progress make sense.
pub(crate) fn lively() -> bool {
    std::env::var_os("NO_COLOR").is_none()
        && std::io::stdout().is_terminal()
        && std::io::stderr().is_terminal()
}

/// Text in one of the terminal's colours, if it shows any.
pub(crate) fn paint(text: &str, colour: Colour) -> String {
    if lively() { format!("\x1b[{}m{text}\x1b[0m", colour as u8) } else { text.to_owned() }
}

/// The few colours that reports use.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Colour {
    Grey = 90,
    Red = 31,
    Green = 32,
    Yellow = 33,
}
