//! A model server on loopback that follows the words of the prompt: to try the agent, and to test it, without a model.
#![expect(clippy::print_stdout, reason = "the address is what this program has to say")]

use std::net::TcpListener;

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("http://{}/v1", listener.local_addr()?);
    accord_coding_agent::server::serve(&listener)
}
