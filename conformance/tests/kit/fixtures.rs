//! What the tests of whole programs share: where those are, agents in a few lines of shell, and a process on raw lines.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    thread,
};

use serde_json::Value;

pub(crate) const AGENT: &str = env!("CARGO_BIN_EXE_accord-subject-agent");
pub(crate) const RELAY: &str = env!("CARGO_BIN_EXE_accord-relay");
pub(crate) const CLIENT: &str = env!("CARGO_BIN_EXE_accord-subject-client");

/// Whether a program that is started here hears of SIGHUP: what `nohup` starts ignores it, with its children.
#[cfg(unix)]
pub(crate) fn hears_hang_ups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & 1 == 0)
}

/// An agent in a few lines of shell: `before` is done first, `prompt` when it is prompted. `reply RESULT` answers, `ask ID
/// METHOD PARAMS` asks and takes the answer down in the file `answers`, `tell UPDATE` is an update.
pub(crate) fn shell(before: &str, prompt: &str) -> Vec<String> {
    shell_with(before, prompt, r#"{"protocolVersion":1}"#, r#"{"sessionId":"sess_1"}"#)
}

/// As [`shell`], with its answers to `initialize` and `session/new`.
pub(crate) fn shell_with(before: &str, prompt: &str, hello: &str, opening: &str) -> Vec<String> {
    let script = format!(
        r#"
        reply() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
        refuse() {{ printf '{{"jsonrpc":"2.0","id":%s,"error":%s}}\n' "$id" "$1"; }}
        tell() {{ printf '{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"sess_1","update":%s}}}}\n' "$1"; }}
        ask() {{
            printf '{{"jsonrpc":"2.0","id":"%s","method":"%s","params":%s}}\n' "$1" "$2" "$3"
            read -r answer; printf '%s\n' "$answer" >> answers
        }}
        {before}
        while read -r line; do
            printf '%s\n' "$line" >> heard
            id=${{line#*\"id\":}}; id=${{id%%,*}}; id=${{id%%\}}*}}
            case $line in
                *'"method":"initialize"'*) reply '{hello}' ;;
                *'"method":"session/new"'*) reply '{opening}' ;;
                *'"method":"session/prompt"'*) {prompt} ;;
            esac
        done"#
    );
    vec!["/bin/sh".to_owned(), "-c".to_owned(), script]
}

pub(crate) const END_TURN: &str = r#"reply '{"stopReason":"end_turn"}'"#;

/// The subject agent, with a store of its own.
pub(crate) fn subject(state: &Path) -> Vec<String> {
    vec![AGENT.to_owned(), "--state-dir".to_owned(), state.display().to_string()]
}

/// The lines of a text as JSON.
pub(crate) fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// A running program, on raw lines.
pub(crate) struct Piped {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Piped {
    pub(crate) fn start(program: impl AsRef<Path>, arguments: &[String], cwd: &Path) -> Self {
        let mut process = Command::new(program.as_ref())
            .args(arguments)
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("piped"));
        Self { process, input, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it was not closed");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the program reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Writes while it reads a line, so that neither waits for the other.
    pub(crate) fn exchange(&mut self, bytes: &[u8]) -> Vec<u8> {
        let (input, output) = (self.input.as_mut().expect("it was not closed"), &mut self.output);
        thread::scope(|scope| {
            scope.spawn(|| input.write_all(bytes).and_then(|()| input.flush()).expect("the program reads"));
            let mut line = Vec::new();
            output.read_until(b'\n', &mut line).expect("the pipe can be read");
            line
        })
    }

    /// The next line, with its end; empty at the end of the output.
    pub(crate) fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.output.read_until(b'\n', &mut line).expect("the pipe can be read");
        line
    }

    /// The next message, if the output has not ended.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let line = self.line();
        let read = || {
            serde_json::from_slice(&line).unwrap_or_else(|error| panic!("{error}: {}", line.escape_ascii()))
        };
        (!line.is_empty()).then(read)
    }

    /// The next message that `wanted` wants; the others are passed over.
    pub(crate) fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().expect("the output has not ended");
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Ends its input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// What is left of its output, and how it ended.
    pub(crate) fn end(mut self) -> (Vec<Value>, ExitStatus) {
        let mut rest = Vec::new();
        while let Some(message) = self.next() {
            rest.push(message);
        }
        (rest, self.process.wait().expect("it can be waited for"))
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Recorded sessions of published agents, in the order of their names; none where there are no recordings.
pub(crate) fn captures() -> Vec<PathBuf> {
    let beside = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/captures"));
    let root = std::env::var_os("ACCORD_CAPTURES").map_or_else(|| beside.to_owned(), PathBuf::from);
    let folders = ["npm", "pypi"].iter().filter_map(|folder| std::fs::read_dir(root.join(folder)).ok());
    let mut files: Vec<PathBuf> = folders.flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
}
