//! Nothing that an agent started outlives its connection.
//!
//! Every process of a test holds a fifo open, so that its end of file says that all of them are gone.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use accord_transport::{AgentCommand, Reason};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::children::spawn;
use crate::fixture::fixture;
use crate::support::within;

struct Family {
    _directory: TempDir,
    fifo: PathBuf,
}

impl Family {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let fifo = directory.path().join("alive");
        let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there");
        assert!(made.success());
        Self { _directory: directory, fifo }
    }

    /// A wrapper script, a child that ignores the end of its input, and a grandchild.
    fn script(&self, then: &str) -> String {
        format!("exec 9>'{}'; sh -c 'sleep 1000 & sleep 1000' & {then}", self.fifo.display())
    }

    fn command(&self, then: &str) -> AgentCommand {
        AgentCommand::new("/bin/sh").args(["-c", &self.script(then)]).grace(Duration::from_millis(50))
    }

    /// Resolves when the last of them is gone. Ready to be awaited once the first of them is there.
    async fn gone(&self) -> oneshot::Receiver<()> {
        let (opened, is_open) = oneshot::channel();
        let (read, is_read) = oneshot::channel();
        let fifo = self.fifo.clone();
        // Not on the blocking pool: a runtime waits for it, and a failed test must not hang.
        std::thread::spawn(move || {
            let mut file = File::open(fifo).expect("it is there");
            let _ = opened.send(());
            file.read_to_end(&mut Vec::new()).expect("readable");
            let _ = read.send(());
        });
        within(is_open).await.expect("no panic");
        is_read
    }
}

const STUBBORN: &str = "trap '' TERM; while :; do sleep 1000; done";

// T12, ACPX-TR-016
#[tokio::test]
async fn close_ends_the_whole_group() {
    for (then, signal) in [("cat >/dev/null", None), ("sleep 1000", Some(15)), (STUBBORN, Some(9))] {
        let family = Family::new();
        let handle = spawn(&family.command(then)).expect("sh is there");
        let gone = family.gone().await;
        handle.close();
        let end = within(handle.closed()).await;
        assert_eq!((end.reason(), end.signal()), (Reason::Killed, signal), "{then}");
        within(gone).await.expect("no panic");
    }
}

// T12
#[tokio::test]
async fn dropping_the_last_handle_ends_the_whole_group() {
    let family = Family::new();
    let handle = spawn(&family.command(STUBBORN)).expect("sh is there");
    let gone = family.gone().await;
    drop(handle.clone());
    assert!(!handle.is_closed());
    drop(handle);
    within(gone).await.expect("no panic");
}

// T12
#[tokio::test]
async fn a_panic_ends_the_whole_group() {
    let family = Family::new();
    let handle = spawn(&family.command(STUBBORN)).expect("sh is there");
    let gone = family.gone().await;
    let doomed = tokio::spawn(async move {
        let _held = handle;
        panic!("on purpose");
    });
    assert!(within(doomed).await.is_err_and(|error| error.is_panic()));
    within(gone).await.expect("no panic");
}

// T12
#[test]
fn the_end_of_the_runtime_ends_the_whole_group() {
    let family = Family::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let mut gone = None;
    runtime.block_on(async {
        let handle = spawn(&family.command(STUBBORN)).expect("sh is there");
        // The handle outlives the runtime, as it would in a static.
        std::mem::forget(handle);
        gone = Some(family.gone().await);
    });
    runtime.shutdown_background();
    gone.expect("set above").blocking_recv().expect("no panic");
}

// T12, T1: the launcher dies, what it started does not
#[tokio::test]
async fn what_a_dead_launcher_left_behind_goes_too() {
    let family = Family::new();
    let handle = spawn(&family.command("exit 7")).expect("sh is there");
    let gone = family.gone().await;
    let end = within(handle.closed()).await;
    assert_eq!((end.reason(), end.exit_code()), (Reason::Crashed, Some(7)));
    within(gone).await.expect("no panic");
}

// T12: SIGKILL of the parent, whose spawning thread has ended
#[tokio::test]
async fn the_group_dies_with_a_parent_that_is_killed() {
    let family = Family::new();
    let mut parent = fixture("fixture::doomed_client", &family.script(STUBBORN))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let gone = family.gone().await;
    let said = BufReader::new(parent.stdout.take().expect("piped"));
    assert!(said.lines().map_while(Result::ok).any(|line| line == "started"));
    parent.kill().expect("it runs");
    parent.wait().expect("it is ours");
    within(gone).await.expect("no panic");
}

// T12: the limit
#[tokio::test]
async fn a_child_that_leaves_with_setsid_escapes() {
    if !Path::new("/usr/bin/setsid").exists() {
        println!("skipped: there is no `setsid` here");
        return;
    }
    let family = Family::new();
    let escaped = family.fifo.with_file_name("escaped");
    let then =
        format!("setsid sh -c 'echo $$ >{0}.new; mv {0}.new {0}; exec sleep 1000'; cat", escaped.display());
    let handle = spawn(&family.command(&then)).expect("sh is there");
    let mut gone = family.gone().await;
    while !escaped.exists() {
        tokio::task::yield_now().await;
    }
    handle.close();
    within(handle.closed()).await;
    assert!(gone.try_recv().is_err(), "it holds the fifo");
    let pid = std::fs::read_to_string(&escaped).expect("it wrote its id");
    assert!(Command::new("kill").args(["-9", pid.trim()]).status().expect("kill is there").success());
    within(gone).await.expect("no panic");
}
