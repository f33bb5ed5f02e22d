//! Times agents and clients of the Agent Client Protocol from outside: over pipes, by their processor clock and their memory.
//!
//! An *agent* is any command that speaks the protocol on its standard input and output and does what the text of a prompt says:
//! `ping`, `stream COUNT BYTES`, `tools COUNT`, `permit COUNT`, `echo TEXT` ([`work::Work`] says what each means).
//! A *client* is any command that is run as `CLIENT AGENT_COMMAND PROMPT`, sends the one prompt, prints
//! `{"count":UPDATES,"bytes":BYTES,"elapsed_ms":TIME}` and ends; with `ACPBENCH_SLOW=1` in its environment its handler
//! sleeps 1 ms after each 100 updates.

pub mod agent;
pub mod bars;
pub mod client;
pub mod frame;
pub mod instructions;
pub mod lines;
pub mod markdown;
pub mod options;
pub mod process;
pub mod report;
pub mod rounds;
pub mod sample;
pub mod store;
pub mod summary;
pub mod text;
pub mod work;
