//! One visit of a client: it is started with a scripted agent in its agent's place, and watched until it has gone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader, Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::leftovers;
use super::recording::Recording;
use super::scripts::interrupt;
use super::seen::{Plain, Seen};
use crate::stop;

/// The client under test, and how it is used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visitor {
    /// Its command; `{AGENT}` stands for the agent to start, `{CWD}` for its working directory.
    pub(crate) command: Vec<String>,
    /// Commands for other uses of the client, by their names.
    pub(crate) ways: BTreeMap<String, Vec<String>>,
    /// Variables on top of the inherited environment.
    pub(crate) env: Vec<(String, String)>,
    /// Lines for its stdin, which then ends.
    pub(crate) input: Vec<String>,
    /// What a person types when the client asks for a permission; stdin stays open for it.
    pub(crate) answer: Option<String>,
    /// SIGINT cancels its turn.
    pub(crate) interruptible: bool,
    /// The longest a visit may take.
    pub(crate) patience: Duration,
    /// This program, which plays the agent.
    pub(crate) kit: PathBuf,
    /// What it does in an ordinary session.
    pub(crate) plain: Plain,
}

/// How much is kept of the start of its output, and how much of its end.
const KEPT: usize = 2 << 20;

impl Visitor {
    /// Lets the client come once, with the script called `name` as its agent.
    pub(crate) fn visit(&self, name: &str, way: Option<&str>) -> io::Result<Seen<'_>> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("{}-client-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("accord-conformance-{mark}"));
        fs::create_dir_all(folder.join("work"))?;
        let folder = folder.canonicalize()?;
        let seen = self.watch(name, way, &mark, &folder);
        leftovers::sweep(&mark);
        // What can't be removed stays in the temporary folder, where it harms nothing.
        let _ = fs::remove_dir_all(&folder);
        seen
    }

    fn watch(&self, name: &str, way: Option<&str>, mark: &str, folder: &Path) -> io::Result<Seen<'_>> {
        let tape = folder.join("tape.jsonl");
        let agent = self.wrapper(name, folder, &tape)?;
        let cwd = folder.join("work");
        let expand = |word: &String| {
            word.replace("{AGENT}", &agent.to_string_lossy()).replace("{CWD}", &cwd.to_string_lossy())
        };
        let command = way.and_then(|way| self.ways.get(way)).unwrap_or(&self.command);
        let words: Vec<String> = command.iter().map(expand).collect();
        let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let began = Instant::now();
        let mut child = Command::new(program)
            .args(args)
            .envs(self.env.iter().map(|(name, value)| (name, expand(value))))
            .env(leftovers::MARK, mark)
            .current_dir(&cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (stdout, stderr) = (keep(child.stdout.take()), keep(child.stderr.take()));
        let stdin = self.feed(&mut child);
        let status = self.wait(&mut child, &tape, stdin)?;
        let took = began.elapsed();
        let left = left(mark, &agent);
        if let Some(group) = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default()) {
            // Whatever still holds the client's pipes would keep their readers waiting.
            let _ = kill_process_group(group, Signal::KILL);
        }
        leftovers::sweep(mark);
        // One that was not waited for yet is a zombie until it is.
        let _ = child.wait();
        let recording =
            fs::File::open(&tape).and_then(|file| Recording::read(BufReader::new(file))).unwrap_or_default();
        let text = |reader: JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
        };
        Ok(Seen {
            plain: &self.plain,
            recording,
            status,
            took,
            stdout: text(stdout),
            stderr: text(stderr),
            left,
        })
    }

    /// The executable that stands for the agent.
    fn wrapper(&self, name: &str, folder: &Path, tape: &Path) -> io::Result<PathBuf> {
        let agent = folder.join("agent");
        let kit = self.kit.to_string_lossy();
        fs::write(&agent, format!("#!/bin/sh\nexec '{kit}' play '{name}' '{}'\n", tape.display()))?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
        Ok(agent)
    }

    /// Types the input, and closes stdin unless there will be questions.
    fn feed(&self, child: &mut Child) -> Option<ChildStdin> {
        let mut stdin = child.stdin.take()?;
        for line in &self.input {
            // A client that does not read its stdin needs none.
            let _ = writeln!(stdin, "{line}");
        }
        self.answer.is_some().then_some(stdin)
    }

    /// Waits for the client to end, or until it is clear that it does not; interrupts it where the script says so.
    fn wait(
        &self,
        child: &mut Child,
        tape: &Path,
        mut stdin: Option<ChildStdin>,
    ) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + self.patience;
        let mut told = Told::default();
        let (mut interrupted, mut answered) = (false, 0);
        let mut enough = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            let now = Instant::now();
            if stop::stopped() || now >= deadline || enough.is_some_and(|enough| now >= enough) {
                return Ok(None);
            }
            told.look(tape);
            while let (Some(stdin), Some(answer)) = (&mut stdin, &self.answer)
                && answered < told.questions
            {
                answered += 1;
                // A client that has just ended asks no more.
                let _ = writeln!(stdin, "{answer}");
            }
            if told.done {
                stdin = None;
            }
            if !interrupted && told.interrupt {
                interrupted = true;
                if let Some(pid) = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default()) {
                    // One that has just ended needs no interrupt.
                    let _ = kill_process(pid, Signal::INT);
                }
            }
            // A client that stays after an ordinary session is not waited for longer than its script.
            if enough.is_none() && told.done && !self.plain.ends && !self.plain.hello.is_null() {
                enough = Some(now + Duration::from_millis(700));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What the scripted agent has recorded so far, as far as it matters to whoever sits before the client.
#[derive(Debug, Default)]
struct Told {
    tape: Option<fs::File>,
    /// The start of a line whose end was not written yet.
    rest: Vec<u8>,
    interrupt: bool,
    done: bool,
    /// Permissions asked for.
    questions: usize,
}

impl Told {
    /// Reads on from where the last look ended.
    fn look(&mut self, path: &Path) {
        if self.tape.is_none() {
            self.tape = fs::File::open(path).ok();
        }
        let Some(tape) = &mut self.tape else { return };
        // What can't be read now is read at the next look.
        let _ = tape.read_to_end(&mut self.rest);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        for line in lines.split(|byte| *byte == b'\n') {
            // What tells one line from another stands at its start.
            let start = String::from_utf8_lossy(&line[..line.len().min(1000)]);
            self.interrupt |= start.contains(interrupt());
            self.done |= start.contains("\"note\":\"done\"");
            let asks = start.contains("\"dir\":\"<\"") && start.contains("session/request_permission");
            self.questions += usize::from(asks);
        }
    }
}

/// What the client left running, given a moment to go.
fn left(mark: &str, agent: &Path) -> Vec<String> {
    let own = agent.to_string_lossy().into_owned();
    let running = || leftovers::find(mark).unwrap_or_default();
    for _ in 0..30 {
        if running().is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    running().into_iter().map(|each| each.command.replace(&own, "{AGENT}")).collect()
}

/// Reads a pipe to its end, keeping the first and the last part.
fn keep(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        let Some(mut pipe) = pipe else { return kept };
        let mut chunk = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = pipe.read(&mut chunk) {
            kept.extend_from_slice(&chunk[..count]);
            if kept.len() > 4 * KEPT {
                kept.drain(KEPT..kept.len() - KEPT);
            }
        }
        kept
    })
}
