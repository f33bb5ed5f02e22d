//! A pipe fitting: starts an agent, passes its wire on byte for byte in both directions, and records every line.
//!
//! The scenario starts the agent through it, so that the client still spawns a real process. What is recorded is written before it
//! is passed on: so the recording never shows an answer ahead of its question.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::wire::frame::{Direction, Frame};
use crate::wire::recording;

/// The recording that both directions write to.
struct Record {
    since: Instant,
    file: Mutex<File>,
}

/// Serves `tee FILE -- COMMAND…`.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let [_, path, _, command @ ..] = args else {
        crate::say::err("tee FILE -- COMMAND…\n");
        return ExitCode::from(2);
    };
    match pass_on(path, command) {
        Ok(code) => code,
        Err(error) => {
            crate::say::err(&format!("{}: {error}\n", command.join(" ")));
            ExitCode::from(127)
        }
    }
}

fn pass_on(path: &str, command: &[String]) -> io::Result<ExitCode> {
    let file = File::options().create(true).append(true).open(path)?;
    let record = Arc::new(Record { since: Instant::now(), file: Mutex::new(file) });
    let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    record.note(&format!("start {}", child.id()))?;
    let watcher = guard(child.id());
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let from_client = Arc::clone(&record);
    thread::spawn(move || {
        if let Some(input) = input {
            // Either end going away ends the copy, and dropping the pipe passes the end on.
            let _ = copy(&from_client, Direction::ToAgent, io::stdin().lock(), input);
        }
    });
    if let Some(output) = output {
        let _ = copy(&record, Direction::ToClient, output, io::stdout().lock());
    }
    let status = child.wait()?;
    record.note(&format!("end {status}"))?;
    if let Ok(mut watcher) = watcher {
        drop(watcher.stdin.take());
        // It must not find a process that got the same number since.
        let _ = watcher.kill().and_then(|()| watcher.wait());
    }
    Ok(status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))))
}

/// Kills the agent when the tee itself is killed: a shell, in a group of its own, that waits for the end of a pipe only we hold.
fn guard(agent: u32) -> io::Result<Child> {
    use std::os::unix::process::CommandExt as _;
    Command::new("sh")
        .args(["-c", "read _; kill -9 \"$1\" 2>/dev/null", "guard", &agent.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

fn copy(record: &Record, direction: Direction, mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut chunk = vec![0; 64 * 1024];
    let mut line = Vec::new();
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for byte in &chunk[..count] {
            if *byte == b'\n' {
                record.frame(direction, &line, true)?;
                line.clear();
            } else {
                line.push(*byte);
            }
        }
        to.write_all(&chunk[..count])?;
        to.flush()?;
    }
    if !line.is_empty() {
        record.frame(direction, &line, false)?;
    }
    record.note(&format!("{} closed its end", direction.writer()))
}

impl Record {
    fn frame(&self, direction: Direction, bytes: &[u8], terminated: bool) -> io::Result<()> {
        let mut frame = Frame::new(self.since.elapsed(), direction, bytes);
        frame.terminated = terminated;
        self.write(&recording::line(&frame))
    }

    fn note(&self, note: &str) -> io::Result<()> {
        self.write(&recording::note(self.since.elapsed(), note))
    }

    fn write(&self, line: &str) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes())
    }
}
