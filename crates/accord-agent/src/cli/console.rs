//! Questions to the person at the terminal, for `--setup`.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    process::{Command, Stdio},
};

/// Where `--setup` asks: a terminal, or whatever a test puts in its place.
pub struct Console<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
    terminal: bool,
}

impl<'a> Console<'a> {
    /// A console on these two.
    pub fn new(input: &'a mut dyn BufRead, output: &'a mut dyn Write) -> Self {
        Self { input, output, terminal: false }
    }

    /// A console on the process's own stdin, which `input` reads.
    pub(super) fn on_stdin(input: &'a mut dyn BufRead, output: &'a mut dyn Write) -> Self {
        Self { terminal: io::stdin().is_terminal(), ..Self::new(input, output) }
    }

    /// Says something, as a line.
    ///
    /// # Errors
    ///
    /// When the output is gone.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.output, "{text}")
    }

    /// Asks; an empty answer means `default`.
    ///
    /// # Errors
    ///
    /// When the input ends before there is an answer, or one of the two fails.
    pub fn ask(&mut self, question: &str, default: &str) -> io::Result<String> {
        if default.is_empty() {
            write!(self.output, "{question}: ")?;
        } else {
            write!(self.output, "{question} [{default}]: ")?;
        }
        self.output.flush()?;
        let mut answer = String::new();
        if self.input.read_line(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let answer = answer.trim();
        Ok(if answer.is_empty() { default } else { answer }.to_owned())
    }

    /// Asks for something that nobody else should see: on a terminal what is typed is not shown.
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask).
    pub fn ask_secret(&mut self, question: &str) -> io::Result<String> {
        let hidden = self.terminal.then(Hidden::start).flatten();
        let answer = self.ask(question, "");
        if hidden.is_some() {
            // The line end that was typed was not shown either.
            writeln!(self.output)?;
        }
        answer
    }

    /// Asks until the answer is one of `choices`, which may be named by their number too.
    ///
    /// # Errors
    ///
    /// When the input ends before there is an answer, or one of the two fails.
    pub fn choose(&mut self, question: &str, choices: &[&str]) -> io::Result<usize> {
        for (index, choice) in choices.iter().enumerate() {
            writeln!(self.output, "  {}. {choice}", index + 1)?;
        }
        loop {
            let answer = self.ask(question, "1")?;
            let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let chosen = by_number
                .filter(|index| *index < choices.len())
                .or_else(|| choices.iter().position(|choice| choice.eq_ignore_ascii_case(&answer)));
            match chosen {
                Some(index) => return Ok(index),
                None => self.say(&format!("please answer with a number from 1 to {}", choices.len()))?,
            }
        }
    }
}

impl std::fmt::Debug for Console<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Console").finish_non_exhaustive()
    }
}

/// A terminal that shows nothing of what is typed, until this is dropped.
struct Hidden;

impl Hidden {
    /// `None` where the terminal can't be told, as on systems without `stty`.
    fn start() -> Option<Self> {
        stty("-echo").then_some(Self)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        stty("echo");
    }
}

fn stty(mode: &str) -> bool {
    let mut stty = Command::new("stty");
    stty.arg(mode).stdin(Stdio::inherit()).stdout(Stdio::null()).stderr(Stdio::null());
    stty.status().is_ok_and(|status| status.success())
}
