//! Processes that the other tests start: this test binary again, told to run one of the functions here.

use std::future::pending;
use std::process::Command;
use std::time::Duration;

use accord_transport::{AgentCommand, Call, Connection, Notification, Options, Service, Update, stdio};

use crate::support::Echo;

const ARGUMENT: &str = "ACCORD_FIXTURE";

/// The command that runs one of the functions that are ignored. libtest prints a line of its own to stdout first.
pub(crate) fn fixture(name: &str, argument: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test has a path"));
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=2"]).env(ARGUMENT, argument);
    command
}

fn argument() -> String {
    std::env::var(ARGUMENT).unwrap_or_default()
}

/// An agent that answers every request with its params.
///
/// With `stray` it prints to stdout first, and has a child that does, with its own stdin. With `slow` each answer waits
/// until the client is gone and a moment longer.
#[test]
#[ignore = "a process for other tests"]
fn echo_agent() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (input, output) = stdio::take().expect("both are open");
        let mode = argument();
        if mode == "stray" {
            println!("a stray print");
            let child = Command::new("sh").args(["-c", "cat; echo from a child"]).status();
            assert!(child.expect("sh is there").success());
        }
        let (_handle, connection) = Connection::new(Options::agent());
        let end = match mode.as_str() {
            "slow" => connection.run(input, output, Slow).await,
            _ => connection.run(input, output, Echo).await,
        };
        println!("{end}");
    });
}

struct Slow;

impl Service for Slow {
    fn update(&mut self, _: Update) {}

    fn notification(&mut self, _: Notification) {}

    fn call(&mut self, call: Call) {
        tokio::spawn(async move {
            call.cancelled().await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            let params = call.raw_params().map(ToOwned::to_owned);
            call.answer(Ok(params));
        });
    }
}

/// A client that will be killed: it starts a shell script from a thread that ends, and waits.
#[test]
#[ignore = "a process for other tests"]
fn doomed_client() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let context = runtime.handle().clone();
    let spawning = std::thread::spawn(move || {
        let _context = context.enter();
        let (handle, connection) = Connection::new(Options::client());
        let script = AgentCommand::new("sh").arg("-c").arg(argument());
        connection.spawn_child(&script, Echo).expect("sh is there");
        handle
    });
    let _handle = spawning.join().expect("no panic");
    println!("started");
    runtime.block_on(pending::<()>());
}
