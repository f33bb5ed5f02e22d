//! An agent at the level of the transport: it answers every request with its own params.
//!
//! It prints to stdout and has a child that does, which must not touch the wire: `echo_agent stray`. With `slow`,
//! each answer waits until the client is gone and a moment longer.
#![expect(clippy::print_stdout, reason = "the point is that a stray print goes to stderr")]

use std::error::Error;
use std::process::Command;
use std::time::Duration;

use accord_transport::{Call, Connection, Notification, Options, Service, Update, stdio};

struct Echo {
    slow: bool,
}

impl Service for Echo {
    fn update(&mut self, _: Update) {}

    fn notification(&mut self, _: Notification) {}

    fn call(&mut self, call: Call) {
        let slow = self.slow;
        tokio::spawn(async move {
            if slow {
                call.cancelled().await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            let params = call.raw_params().map(ToOwned::to_owned);
            call.answer(Ok(params));
        });
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (input, output) = stdio::take()?;
    let mode = std::env::args().nth(1).unwrap_or_default();
    if mode == "stray" {
        println!("a stray print");
        Command::new("sh").args(["-c", "cat; echo from a child"]).status()?;
    }
    let (handle, connection) = Connection::new(Options::agent());
    let end = connection.run(input, output, Echo { slow: mode == "slow" }).await;
    drop(handle);
    println!("{end}");
    Ok(())
}
