//! A client that will be killed: it starts an agent from a thread that ends, and waits.
//!
//! Whatever the agent started must be gone when this process is.
#![expect(clippy::print_stdout, reason = "it tells its test which processes to look for")]

use std::error::Error;
use std::future::pending;

use accord_transport::{AgentCommand, Call, Connection, Notification, Options, Service, Update};

struct Ignore;

impl Service for Ignore {
    fn update(&mut self, _: Update) {}

    fn notification(&mut self, notification: Notification) {
        // The agent tells the process ids of its family.
        if let Some(pids) = notification.raw_params {
            println!("{pids}");
        }
    }

    fn call(&mut self, _: Call) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let script = std::env::args().nth(1).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let context = runtime.handle().clone();
    let handle = std::thread::spawn(move || {
        let _context = context.enter();
        let (handle, connection) = Connection::new(Options::client());
        connection.spawn_child(&AgentCommand::new("sh").args(["-c", &script]), Ignore)?;
        Ok::<_, accord_transport::SpawnError>(handle)
    })
    .join()
    .map_err(|_| "the thread panicked")??;
    runtime.block_on(pending::<()>());
    drop(handle);
    Ok(())
}
