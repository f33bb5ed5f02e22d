//! Lives as the tests that start them see them, and what must be found in a store afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use accord_agent::store::{Query, Record};

use super::life::{self, DEEDS, DIR, Deed, KIND, NAME, SEED};

/// A process with a store.
pub(super) struct Life {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Life {
    /// One that does so many deeds by itself.
    pub(super) fn free(dir: &Path, kind: &str, name: &str, seed: u64, deeds: usize) -> Self {
        let mut command = command(dir, kind);
        command.env(NAME, name).env(SEED, seed.to_string()).env(DEEDS, deeds.to_string());
        Self::start(&mut command)
    }

    /// One that does as it is told.
    pub(super) fn obedient(dir: &Path, kind: &str) -> Self {
        Self::start(&mut command(dir, kind))
    }

    /// One that does as it is told and may not write files longer than so many blocks.
    pub(super) fn cramped(dir: &Path, kind: &str, blocks: u32) -> Self {
        let usual = command(dir, kind);
        let mut cramped = Command::new("sh");
        // Without the signal a write that goes too far fails, as on a full disk.
        let line = format!(r#"trap '' XFSZ; ulimit -f {blocks}; exec "$0" "$@""#);
        cramped.args(["-c", &line]).arg(usual.get_program()).args(usual.get_args());
        cramped.envs(usual.get_envs().filter_map(|(key, value)| Some((key, value?))));
        Self::start(cramped.stdin(Stdio::piped()).stdout(Stdio::piped()))
    }

    /// One that does as it is told and has no power over the permissions of files; and what it says first.
    /// `None` where the test binary is out of such a user's reach.
    #[cfg(unix)]
    pub(super) fn powerless(dir: &Path, kind: &str) -> Option<(Self, String)> {
        use std::os::unix::fs::MetadataExt as _;
        use std::os::unix::process::CommandExt as _;
        let mut command = command(dir, kind);
        if fs::metadata(dir).expect("it is there").uid() == 0 {
            command.uid(65534);
        }
        let mut life = Self::spawn(&mut command).ok()?;
        let first = life.line()?;
        Some((life, first))
    }

    /// Returns once its store is open.
    fn start(command: &mut Command) -> Self {
        let mut life = Self::spawn(command).expect("this binary starts again");
        assert_eq!(life.line().as_deref(), Some("@ up"));
        life
    }

    fn spawn(command: &mut Command) -> std::io::Result<Self> {
        let mut process = command.spawn()?;
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("piped"));
        Ok(Self { process, input, output })
    }

    /// What it says next; the test harness it runs in says things of its own.
    pub(super) fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("UTF-8");
            // A kill does not leave half a line: each is written at once.
            let whole = line.strip_suffix('\n')?;
            if whole.starts_with(['@', '>', '<']) {
                return Some(whole.to_owned());
            }
        }
    }

    /// Has it do something, and gives what came of it.
    pub(super) fn tell(&mut self, deed: &impl std::fmt::Display) -> String {
        writeln!(self.input.as_mut().expect("it listens"), "{deed}").expect("it listens");
        self.line().expect("it answers")
    }

    pub(super) fn kill(&mut self) {
        self.process.kill().expect("it can be killed");
    }

    pub(super) fn signal(&self, signal: &str) {
        let line = format!("kill -{signal} {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &line]).status().expect("a shell").success());
    }

    /// Waits for its end. Whether it was a good one.
    pub(super) fn end(mut self) -> bool {
        drop(self.input.take());
        self.process.wait().expect("it ends").success()
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn command(dir: &Path, kind: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test has a path"));
    command
        .args(["--exact", "life::a_life", "--ignored", "--nocapture", "--test-threads=2"])
        .env(DIR, dir)
        .env(KIND, kind)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// What a store must hold: what was acknowledged, and one deed that was begun and may have happened, as a whole.
#[derive(Default)]
pub(super) struct Expected {
    stored: BTreeMap<String, Vec<Record>>,
    begun: Option<Deed>,
}

impl Expected {
    /// Takes in what a life said.
    pub(super) fn hear(&mut self, line: &str) {
        if let Some(deed) = line.strip_prefix("> ") {
            self.begun = Some(deed.parse().expect("a deed"));
        } else if line == "<" {
            let deed = self.begun.take().expect("it began before it ended");
            apply(&mut self.stored, &deed);
        }
    }

    /// Splits off the sessions whose ids begin so.
    pub(super) fn part(&mut self, name: &str) -> Self {
        let (part, rest) =
            std::mem::take(&mut self.stored).into_iter().partition(|(id, _)| id.starts_with(name));
        self.stored = rest;
        Self { stored: part, begun: None }
    }

    pub(super) fn merge(&mut self, other: Self) {
        assert!(self.begun.is_none() || other.begun.is_none(), "both were interrupted");
        self.stored.extend(other.stored);
        self.begun = self.begun.take().or(other.begun);
    }

    /// Opens the store as the next process does and looks at everything; what is there is expected from here on.
    pub(super) fn check(&mut self, kind: &str, dir: &Path, when: &str) {
        let mut store = life::open(kind, dir).unwrap_or_else(|error| panic!("{when}: {error:?}"));
        let page = store.list(&Query::newest(1000).with_active()).expect("listed");
        let inactive = store.list(&Query::newest(1000)).expect("listed");
        assert_eq!(page, inactive, "{when}: a claim outlived its process");
        let mut found = BTreeMap::new();
        for entry in page.entries {
            let id = entry.header.id.as_str();
            let header = store.open(&entry.header.id).unwrap_or_else(|error| panic!("{when}: {error:?}"));
            assert_eq!(header, life::header(id), "{when}");
            found.insert(id.to_owned(), life::read_all(&mut *store, id).expect("readable"));
        }
        let mut after = self.stored.clone();
        if let Some(begun) = &self.begun {
            apply(&mut after, begun);
        }
        for id in self.stored.keys().chain(after.keys()).chain(found.keys()) {
            let fits = found.get(id) == self.stored.get(id) || found.get(id) == after.get(id);
            let lengths = [&found, &self.stored, &after].map(|all| all.get(id).map(Vec::len));
            assert!(fits, "{when}: {id} after {:?}: found, acknowledged, at most: {lengths:?}", self.begun);
        }
        drop(store);
        *self = Self { stored: found, begun: None };
        self.no_leftovers(kind, dir, when);
    }

    /// Nothing lies in the folder but sessions.
    fn no_leftovers(&self, kind: &str, dir: &Path, when: &str) {
        let names = |dir: &Path| -> Vec<_> {
            let entries = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("its entry"));
            entries.map(|entry| entry.file_name()).filter(|name| name != "ids").collect()
        };
        if kind == "jsonl" {
            assert_eq!(names(dir).len(), self.stored.len(), "{when}: {:?}", names(dir));
        } else {
            assert_eq!(names(&dir.join("locks")), ["present.lock"], "{when}");
        }
    }
}

fn apply(stored: &mut BTreeMap<String, Vec<Record>>, deed: &Deed) {
    match deed {
        Deed::New(id) => drop(stored.insert(id.clone(), Vec::new())),
        Deed::Append(id, first, count) => {
            stored.entry(id.clone()).or_default().extend(life::records(*first, *count));
        }
        Deed::Delete(id) => drop(stored.remove(id)),
        Deed::Lazy(_) | Deed::Open(_) | Deed::Close(_) => {}
    }
}
