//! People at a terminal: the chat and the one-shot client, and an agent that somebody starts by hand.
//!
//! The terminal is a real one, which `script` of util-linux opens; where that is missing the tests say so and pass.
#![cfg(unix)]

use std::{
    env, fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use tempfile::tempdir;

use crate::fixtures::subject;

/// What a program in a terminal may take to say what is waited for; a limit for a test that hangs, not a measure.
const PATIENCE: Duration = Duration::from_secs(60);

const SKIPPED: &str = "skipped: there is no `script` of util-linux, or the examples were not built";

/// The chat's prompt, in bold.
const PROMPT: &str = "\x1b[1m>\x1b[0m ";

/// A program in a terminal of its own.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: Receiver<Vec<u8>>,
    /// What was shown and not waited for yet.
    shown: String,
}

impl Terminal {
    /// Starts the program, if there are terminals to be had.
    fn open(cwd: &Path, line: &[String]) -> Option<Self> {
        let version = Command::new("script").arg("--version").output().ok()?;
        if !String::from_utf8_lossy(&version.stdout).contains("util-linux") {
            return None;
        }
        let line: Vec<String> =
            line.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let mut child = Command::new("script")
            // No shell stays in between, which a Ctrl-C would end as well.
            .args(["--quiet", "--return", "--flush", "--command", &format!("exec {}", line.join(" "))])
            .arg("/dev/null")
            .env("SHELL", "/bin/sh")
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let keys = child.stdin.take().expect("it is piped");
        let mut output = child.stdout.take().expect("it is piped");
        let (show, screen) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                if show.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self { child, keys, screen, shown: String::new() })
    }

    /// Waits until the text is on the screen, and forgets what was before it.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(place) = self.shown.find(text) {
                self.shown.drain(..place + text.len());
                return;
            }
            let bytes = self.screen.recv_timeout(PATIENCE);
            let bytes = bytes.unwrap_or_else(|error| panic!("no {text:?} ({error}): {:?}", self.shown));
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
    }

    /// Presses keys.
    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// How the program ended.
    fn end(mut self) -> Option<i32> {
        drop(self.keys);
        for _ in self.screen {}
        self.child.wait().expect("it was started").code()
    }
}

/// An example of the client crate, which cargo builds beside the tests if it is asked for examples.
fn example(name: &str) -> Option<PathBuf> {
    let tests = env::current_exe().expect("the test runs");
    let example = tests.parent()?.parent()?.join("examples").join(name);
    example.exists().then_some(example)
}

/// The example in a terminal, with the subject agent, where that can be.
fn with_subject(name: &str, options: &[&str], cwd: &Path, state: &Path) -> Option<Terminal> {
    let mut line = vec![example(name)?.display().to_string()];
    line.extend(options.iter().map(|option| (*option).to_owned()));
    line.push("--".to_owned());
    line.extend(subject(state));
    Terminal::open(cwd, &line)
}

// E20, E18: a person prompts, allows, ends a turn with Ctrl-C, and goes on.
#[test]
fn a_person_chats() {
    let (cwd, state) = (tempdir().unwrap(), tempdir().unwrap());
    let Some(mut chat) = with_subject("chat", &[], cwd.path(), state.path()) else {
        eprintln!("{SKIPPED}");
        return;
    };
    chat.wait_for("/quit the program");
    chat.wait_for(PROMPT);
    chat.press("write a.txt hello\n");
    chat.wait_for("May the agent do this? Write a.txt");
    chat.wait_for("1: Allow once");
    chat.wait_for("? ");
    chat.press("7\n");
    chat.wait_for("a number from the list");
    chat.wait_for("? ");
    chat.press("1\n");
    chat.wait_for("✔ Write a.txt");
    chat.wait_for("+hello");
    assert_eq!(fs::read_to_string(cwd.path().join("a.txt")).unwrap(), "hello");
    chat.wait_for(PROMPT);
    chat.press("write b.txt no\n");
    chat.wait_for("1: Allow once");
    chat.press("\x03");
    chat.wait_for("cancelled");
    chat.wait_for(PROMPT);
    chat.press("echo still here\n");
    // The terminal shows what is typed, too.
    chat.wait_for("echo still here");
    chat.wait_for("still here");
    chat.wait_for(PROMPT);
    assert!(!cwd.path().join("b.txt").exists());
    chat.press("/quit\n");
    assert_eq!(chat.end(), Some(0));
}

// E18: one prompt; the answer comes from the keyboard.
#[test]
fn a_person_allows_what_one_shot_asks() {
    let (cwd, state) = (tempdir().unwrap(), tempdir().unwrap());
    let prompt = ["write a.txt hello"];
    let Some(mut one_shot) = with_subject("one_shot", &prompt, cwd.path(), state.path()) else {
        eprintln!("{SKIPPED}");
        return;
    };
    one_shot.wait_for("may the agent do this? Write a.txt");
    one_shot.wait_for("1: Allow once");
    one_shot.wait_for("> ");
    one_shot.press("1\n");
    one_shot.wait_for("[Write a.txt completed]");
    assert_eq!(one_shot.end(), Some(0));
    assert_eq!(fs::read_to_string(cwd.path().join("a.txt")).unwrap(), "hello");
}

// An agent that somebody starts by hand says what it is, and ends with its input.
#[test]
fn an_agent_at_a_terminal_says_what_it_is() {
    let (cwd, state) = (tempdir().unwrap(), tempdir().unwrap());
    let Some(mut agent) = Terminal::open(cwd.path(), &subject(state.path())) else {
        eprintln!("{SKIPPED}");
        return;
    };
    agent.wait_for("This is an agent of the Agent Client Protocol");
    agent.press("\x04");
    assert_eq!(agent.end(), Some(0));
}
