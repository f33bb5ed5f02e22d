//! The wrapper of a client: the same process to whoever starts it, but for how it ends.

use std::fs;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, getpid, kill_process};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{self, SignalKind};

use crate::line::END;
use crate::table::Act;

/// Serves `wrap ID COMMAND…`.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let [id, command @ ..] = args else { return ExitCode::from(2) };
    let defect = crate::client::all().into_iter().find(|defect| defect.id == id).expect("the test has it");
    let cwd = std::env::current_dir().expect("it is started in a folder");
    let end = cwd.parent().expect("the check's own").join("spoiled-end");
    let interrupts = Interrupts::take();
    let mut child =
        Command::new(&command[0]).args(&command[1..]).env(END, &end).spawn().expect("the subject is built");
    interrupts.forward(i32::try_from(child.id()).expect("a process id"));
    let status = child.wait().expect("it ends");
    match (fs::read_to_string(end), defect.act) {
        (Ok(text), _) if text.is_empty() => {
            kill_process(getpid(), Signal::KILL).expect("it is our own");
            ExitCode::FAILURE
        }
        (Ok(text), _) => ExitCode::from(text.parse::<u8>().expect("a status")),
        (_, Act::Status(status)) => ExitCode::from(status),
        _ => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
    }
}

/// Ctrl-C, which is for the client; held from before it is started.
struct Interrupts(Runtime, unix::Signal);

impl Interrupts {
    fn take() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let held = runtime.block_on(async { unix::signal(SignalKind::interrupt()) });
        Self(runtime, held.expect("an interrupt can be held"))
    }

    fn forward(self, client: i32) {
        let Self(runtime, mut held) = self;
        let client = Pid::from_raw(client).expect("a process id");
        std::thread::spawn(move || {
            while runtime.block_on(held.recv()).is_some() {
                // One that has just ended needs none.
                let _ = kill_process(client, Signal::INT);
            }
        });
    }
}
