//! The coding agent as a program.

#[tokio::main]
async fn main() -> std::process::ExitCode {
    accord_coding_agent::run().await
}
