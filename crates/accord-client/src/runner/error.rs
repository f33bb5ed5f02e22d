//! What can go wrong with a runner.

use std::sync::Arc;

use crate::{ConnectError, Error, TurnError, auth::LoginError, elicitation::Problem, events::CloseReason};

/// Why a prompt was not run, or not to its end.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Another prompt is running.
    #[error("the runner is already running a prompt")]
    AlreadyRunning,
    /// The runner is being disposed of.
    #[error("the runner is closing")]
    Closing,
    /// The runner is closed.
    #[error("the runner is closed ({})", word(*.0))]
    Closed(CloseReason),
    /// The agent could not be started, and the runner stays unusable.
    #[error(transparent)]
    Connect(Arc<ConnectError>),
    /// The login in the terminal did not succeed.
    #[error(transparent)]
    Login(Arc<LoginError>),
    /// The session was not opened, or the prompt not sent.
    #[error(transparent)]
    Call(Arc<Error>),
    /// The turn has no stop reason.
    #[error(transparent)]
    Turn(Arc<TurnError>),
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// No question of that id is open: there never was, or it has its answer.
    #[error("no question `{id}` is open")]
    NotOpen {
        /// The id asked for.
        id: String,
    },
    /// The question has no such option.
    #[error("the question `{id}` has no such option")]
    NoSuchOption {
        /// The question.
        id: String,
    },
    /// The answers have problems; the form stays open.
    #[error("the answers are not accepted: {}", list(problems))]
    Problems {
        /// All of them.
        problems: Vec<Problem>,
    },
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Call(Arc::new(error))
    }
}

impl From<TurnError> for RunError {
    fn from(error: TurnError) -> Self {
        Self::Turn(Arc::new(error))
    }
}

impl From<ConnectError> for RunError {
    fn from(error: ConnectError) -> Self {
        Self::Connect(Arc::new(error))
    }
}

impl From<LoginError> for RunError {
    fn from(error: LoginError) -> Self {
        Self::Login(Arc::new(error))
    }
}

fn word(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Completed => "completed",
        CloseReason::Crashed => "crashed",
        CloseReason::Killed => "killed",
    }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
