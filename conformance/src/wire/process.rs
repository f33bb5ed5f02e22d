//! An agent's process behind raw pipes: lines in, lines out, everything recorded, nothing left behind.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memchr::memchr;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::frame::{Direction, Frame};
use crate::stop;

/// How to start a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Variables on top of the inherited environment.
    pub(crate) env: Vec<(String, String)>,
    /// The directory it starts in.
    pub(crate) cwd: Option<PathBuf>,
}

/// What the wire brought.
#[derive(Debug)]
pub(crate) enum Event {
    /// A line, and its place in the recording.
    Line(usize, Frame),
    /// stdout ended.
    End,
}

/// A running process whose pipes the kit holds.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    status: Option<ExitStatus>,
    writer: Option<Sender<Outgoing>>,
    inbox: Receiver<Event>,
    tape: Arc<Tape>,
    stderr: Arc<Stderr>,
    gate: Arc<Gate>,
}

/// What a process leaves behind for the report, also after it is gone.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    tape: Arc<Tape>,
    stderr: Arc<Stderr>,
}

/// The end of what a process says on stderr.
#[derive(Debug, Default)]
struct Stderr {
    kept: Mutex<VecDeque<u8>>,
    ended: Mutex<bool>,
    over: Condvar,
}

/// A write, and how slowly it goes out.
struct Outgoing {
    bytes: Vec<u8>,
    pause: Duration,
}

/// The recording of one process, shared by the threads that serve its pipes.
#[derive(Debug)]
struct Tape {
    since: Instant,
    frames: Mutex<Vec<Frame>>,
    /// What was written of a line whose newline has not been written yet.
    begun: Mutex<Vec<u8>>,
}

/// Holds the reading thread back while the kit plays a reader that has stopped.
#[derive(Debug, Default)]
struct Gate {
    shut: Mutex<bool>,
    opened: Condvar,
}

/// How much of stderr is kept: its end is what explains a crash.
const STDERR_KEPT: usize = 64 * 1024;

impl Process {
    /// Starts the program in a process group of its own, with `marks` in its environment so that what it leaves behind can be found.
    pub(crate) fn start(launch: &Launch, mark: &str) -> io::Result<Self> {
        let [program, args @ ..] = launch.command.as_slice() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
        };
        let mut command = Command::new(program);
        command
            .args(args)
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .env(super::leftovers::MARK, mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(cwd) = &launch.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn()?;
        let tape =
            Arc::new(Tape { since: Instant::now(), frames: Mutex::default(), begun: Mutex::default() });
        let gate = Arc::new(Gate::default());
        let stderr = Arc::new(Stderr::default());
        let (deliver, inbox) = mpsc::channel();
        let (writer, outgoing) = mpsc::channel();
        if let Some(pipe) = child.stdout.take() {
            let (tape, gate) = (Arc::clone(&tape), Arc::clone(&gate));
            thread::spawn(move || read_lines(pipe, &tape, &gate, &deliver));
        }
        if let Some(pipe) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || keep_tail(pipe, &kept));
        }
        if let Some(pipe) = child.stdin.take() {
            thread::spawn(move || write_all(pipe, &outgoing));
        }
        Ok(Self { child, status: None, writer: Some(writer), inbox, tape, stderr, gate })
    }

    /// Writes bytes as they are; every line they complete is recorded.
    pub(crate) fn write(&mut self, bytes: impl Into<Vec<u8>>) {
        self.write_slowly(bytes, Duration::ZERO);
    }

    /// Writes byte by byte with a pause between, so that the reader meets every possible boundary.
    pub(crate) fn write_slowly(&mut self, bytes: impl Into<Vec<u8>>, pause: Duration) {
        let bytes = bytes.into();
        self.tape.record_sent(&bytes);
        if let Some(writer) = &self.writer {
            // A writer that is gone means a process that is gone, which the inbox tells.
            let _ = writer.send(Outgoing { bytes, pause });
        }
    }

    /// Closes stdin once what was written has gone out.
    pub(crate) fn close_stdin(&mut self) {
        self.tape.record_rest();
        self.writer = None;
    }

    /// Stops reading stdout until `resume_reading`.
    pub(crate) fn pause_reading(&self) {
        *lock(&self.gate.shut) = true;
    }

    /// Reads stdout again.
    pub(crate) fn resume_reading(&self) {
        *lock(&self.gate.shut) = false;
        self.gate.opened.notify_all();
    }

    pub(crate) fn next(&mut self, deadline: Instant) -> Option<Event> {
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(rest.min(stop::LOOK)) {
                Ok(event) => return Some(event),
                Err(RecvTimeoutError::Timeout) if stop::stopped() => return Some(Event::End),
                Err(RecvTimeoutError::Timeout) if rest <= stop::LOOK => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(Event::End),
            }
        }
    }

    /// Waits for the process to end by itself.
    pub(crate) fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        while self.status.is_none() {
            match self.child.try_wait() {
                Ok(Some(status)) => self.status = Some(status),
                _ if Instant::now() >= deadline || stop::stopped() => break,
                _ => thread::sleep(Duration::from_millis(2)),
            }
        }
        self.status
    }

    /// Sends the process itself a signal.
    pub(crate) fn signal(&mut self, signal: Signal) {
        if self.status.is_none()
            && let Some(pid) = Pid::from_raw(self.id())
        {
            // One that is gone already needs no signal.
            let _ = kill_process(pid, signal);
        }
    }

    /// `kill -9` of the process and its group, as a power cut would.
    pub(crate) fn kill(&mut self) {
        if let Some(pid) = Pid::from_raw(self.id()) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
    }

    /// The process id.
    pub(crate) fn id(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or_default()
    }

    /// What crosses, and what is said on stderr.
    pub(crate) fn evidence(&self) -> Evidence {
        Evidence { tape: Arc::clone(&self.tape), stderr: Arc::clone(&self.stderr) }
    }
}

impl Evidence {
    /// What crossed so far.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        lock(&self.tape.frames).clone()
    }

    /// The end of what the process said on stderr.
    pub(crate) fn stderr(&self) -> String {
        let kept: Vec<u8> = lock(&self.stderr.kept).iter().copied().collect();
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// `stderr`, once nobody can write there any more, or the limit is over.
    pub(crate) fn last_words(&self, limit: Duration) -> String {
        let ended = lock(&self.stderr.ended);
        // Whichever it is, what was said until then is what there is.
        drop(self.stderr.over.wait_timeout_while(ended, limit, |ended| !*ended));
        self.stderr()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.resume_reading();
        self.kill();
    }
}

impl Tape {
    fn record(&self, direction: Direction, bytes: &[u8], terminated: bool) -> (usize, Frame) {
        let mut frame = Frame::new(self.since.elapsed(), direction, bytes);
        frame.terminated = terminated;
        let mut frames = lock(&self.frames);
        frames.push(frame.clone());
        (frames.len() - 1, frame)
    }

    fn record_sent(&self, bytes: &[u8]) {
        let mut begun = lock(&self.begun);
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            begun.extend_from_slice(&rest[..end]);
            self.record(Direction::ToAgent, &std::mem::take(&mut *begun), true);
            rest = &rest[end + 1..];
        }
        begun.extend_from_slice(rest);
    }

    fn record_rest(&self) {
        let begun = std::mem::take(&mut *lock(&self.begun));
        if !begun.is_empty() {
            self.record(Direction::ToAgent, &begun, false);
        }
    }
}

fn read_lines(mut pipe: impl Read, tape: &Tape, gate: &Gate, deliver: &Sender<Event>) {
    let mut chunk = vec![0; 64 * 1024];
    let mut line = Vec::new();
    loop {
        let shut = lock(&gate.shut);
        drop(gate.opened.wait_while(shut, |shut| *shut).unwrap_or_else(PoisonError::into_inner));
        let count = match pipe.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let mut rest = &chunk[..count];
        while let Some(end) = memchr(b'\n', rest) {
            line.extend_from_slice(&rest[..end]);
            let (place, frame) = tape.record(Direction::ToClient, &line, true);
            line.clear();
            // Nobody listens any more once the check is over.
            let _ = deliver.send(Event::Line(place, frame));
            rest = &rest[end + 1..];
        }
        line.extend_from_slice(rest);
    }
    if !line.is_empty() {
        let (place, frame) = tape.record(Direction::ToClient, &line, false);
        let _ = deliver.send(Event::Line(place, frame));
    }
    let _ = deliver.send(Event::End);
}

fn write_all(mut pipe: impl Write, outgoing: &Receiver<Outgoing>) {
    while let Ok(Outgoing { bytes, pause }) = outgoing.recv() {
        let step = if pause.is_zero() { bytes.len().max(1) } else { 1 };
        for part in bytes.chunks(step) {
            if pipe.write_all(part).and_then(|()| pipe.flush()).is_err() {
                return;
            }
            if !pause.is_zero() {
                thread::sleep(pause);
            }
        }
    }
}

fn keep_tail(mut pipe: impl Read, stderr: &Stderr) {
    let mut chunk = [0; 8192];
    while let Ok(count @ 1..) = pipe.read(&mut chunk) {
        let mut kept = lock(&stderr.kept);
        kept.extend(&chunk[..count]);
        let surplus = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..surplus);
    }
    *lock(&stderr.ended) = true;
    stderr.over.notify_all();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
