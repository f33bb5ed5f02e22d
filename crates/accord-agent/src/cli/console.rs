//! Questions to the person at the terminal, for `--setup`.

use std::io::{self, BufRead, Write};

/// Where `--setup` asks: a terminal, or whatever a test puts in its place.
pub struct Console<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
}

impl<'a> Console<'a> {
    /// A console on these two.
    pub fn new(input: &'a mut dyn BufRead, output: &'a mut dyn Write) -> Self {
        Self { input, output }
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
