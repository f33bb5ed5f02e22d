//! The subject client: a client made with `accord-client` as a user's would be, for outside checkers to start.

mod events;
mod options;

use std::{env, process::ExitCode, time::Duration};

use accord_client::{
    ConnectError, Error, Files, Misuse, Runner, SessionStatus, StopReason, Terminals, TurnError,
    runner::{RunError, RunnerBuilder},
};
use serde_json::json;

use self::{
    events::Printer,
    options::{Options, USAGE},
};
use crate::say;

/// How long the agent may take to heed a cancel.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// Runs the program. Prints every event and the end as JSON lines on stdout.
#[must_use]
pub fn run(arguments: &[String]) -> ExitCode {
    let options = match Options::parse(arguments.get(1..).unwrap_or_default()) {
        Ok(options) => options,
        Err(problem) => {
            say::err(&format!("{problem}\n{USAGE}\n"));
            return ExitCode::from(2);
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            say::err(&format!("{error}\n"));
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(play(options));
    // Whoever still waits for stdin or a command would hold the program up.
    runtime.shutdown_background();
    let (code, cause, message) = match &outcome {
        Ok(()) => (0, "completed", None),
        Err(error) => (code_of(error), cause_of(error), Some(error.to_string())),
    };
    let end = json!({"type": "end", "exitCode": code, "cause": cause, "message": message});
    say::out(&format!("{end}\n"));
    if let Some(message) = message {
        say::err(&format!("{message}\n"));
    }
    ExitCode::from(code)
}

/// Runs the prompts one after the other; the first that fails ends it.
async fn play(options: Options) -> Result<(), RunError> {
    let client = RunnerBuilder::client_builder()
        .files(Files::new())
        .terminals(Terminals::new())
        .startup_deadline(options.timeout)
        .request_deadline(options.timeout)
        .turn_deadline(options.timeout)
        .cancel_grace(CANCEL_GRACE);
    let (printer, runner) = Printer::new(options.permission);
    let mut builder = Runner::builder(options.agent).client(client);
    if let Ok(cwd) = env::current_dir() {
        builder = builder.cwd(cwd);
    }
    let started = builder.start_with(printer);
    // The printer answers questions, so it is told of the runner it prints.
    let _ = runner.set(started.clone());
    let outcome = prompts(&started, options.prompts).await;
    started.dispose().await;
    outcome
}

async fn prompts(runner: &Runner, prompts: Vec<String>) -> Result<(), RunError> {
    // Without a prompt the session is opened all the same, so that a checker sees the handshake.
    runner.open().await?;
    for prompt in prompts {
        let running = runner.run(prompt);
        tokio::select! {
            outcome = running => drop::<StopReason>(outcome?),
            // A person who presses Ctrl-C wants this turn to end in order.
            _ = tokio::signal::ctrl_c() => runner.interrupt(),
        }
    }
    Ok(())
}

/// One code for each kind of cause.
fn code_of(error: &RunError) -> u8 {
    match error {
        RunError::Connect(error) => match **error {
            ConnectError::Spawn(_) => 3,
            ConnectError::Ended(_) => 4,
            ConnectError::Timeout { .. } => 5,
            ConnectError::Version { .. } => 6,
            _ => 7,
        },
        RunError::Login(_) => 8,
        RunError::Call(error) => match **error {
            Error::AuthRequired { .. } => 8,
            Error::Lost(_) => 9,
            Error::Timeout { .. } => 10,
            Error::Refused { .. } => 11,
            Error::Undecodable { .. } | Error::Malformed { .. } => 12,
            Error::Misuse(Misuse::Busy { status: SessionStatus::Unresponsive }) => 14,
            Error::Misuse(_) => 13,
            _ => 1,
        },
        RunError::Turn(error) => match **error {
            TurnError::Lost(_) => 9,
            TurnError::Deadline { .. } => 10,
            TurnError::Refused(_) => 11,
            TurnError::Undecodable(_) | TurnError::Malformed(_) => 12,
            TurnError::CancelIgnored { .. } => 14,
            _ => 1,
        },
        RunError::Closed(_) => 9,
        _ => 1,
    }
}

fn cause_of(error: &RunError) -> &'static str {
    match code_of(error) {
        3 => "not_started",
        4 => "ended_before_initialize",
        5 => "initialize_timeout",
        6 => "protocol_version",
        7 => "initialize_failed",
        8 => "auth_required",
        9 => "connection_lost",
        10 => "timeout",
        11 => "refused",
        12 => "malformed_answer",
        13 => "unsupported",
        14 => "cancel_ignored",
        _ => "failed",
    }
}
