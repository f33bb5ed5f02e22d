//! The backend: what it remembers of a session, and how it runs a turn.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use accord_agent::{
    Auth, Error, LoggingOut,
    protocol::v1::{
        AvailableCommand, AvailableCommandInput, Implementation, PromptCapabilities, StopReason,
        UnstructuredCommandInput,
    },
    runtime::{Backend, Opening, Turn},
};
use serde::{Deserialize, Serialize};

use super::command::Command;
use super::login::Login;
use super::turns;

/// How much of a prompt is remembered.
const FIRST_WORDS: usize = 60;

/// A backend that knows its lines.
#[derive(Debug)]
pub(super) struct Subject {
    login: Login,
}

impl Subject {
    pub(super) fn new(login: Login) -> Self {
        Self { login }
    }
}

/// What is remembered of a session.
#[derive(Debug, Default)]
pub(super) struct Memory {
    turns: Mutex<Vec<String>>,
    /// Where the session's tools may read and write.
    pub(super) roots: Vec<PathBuf>,
}

/// What is stored of a turn.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    said: String,
}

impl Memory {
    /// The first words of each earlier turn.
    pub(super) fn turns(&self) -> MutexGuard<'_, Vec<String>> {
        // Nothing panics while the lock is held.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Subject {
    type Session = Memory;

    fn info(&self) -> Implementation {
        Implementation::new("accord-subject-agent", env!("CARGO_PKG_VERSION")).title("Accord subject agent")
    }

    fn prompt_capabilities(&self) -> PromptCapabilities {
        PromptCapabilities::new().image(true).audio(true).embedded_context(true)
    }

    fn auth(&self) -> Option<&impl Auth> {
        self.login.is_asked_for().then_some(&self.login)
    }

    fn logging_out(&self) -> Option<&impl LoggingOut> {
        self.login.is_asked_for().then_some(&self.login)
    }

    async fn open(&self, mut opening: Opening) -> Result<Memory, Error> {
        let roots = opening.directories.iter().filter_map(|root| root.canonicalize().ok());
        let roots = std::iter::once(opening.cwd.clone()).chain(roots).collect();
        let memory = Memory { roots, ..Memory::default() };
        while let Some(record) = opening.history.next().await? {
            // A record of another version of this program is not one of its turns.
            if let Ok(Remembered { said }) = serde_json::from_str(record.get()) {
                memory.turns().push(said);
            }
        }
        Ok(memory)
    }

    fn commands(&self, _: &Memory) -> Vec<AvailableCommand> {
        commands()
    }

    async fn turn(&self, memory: &Memory, turn: Turn) -> Result<StopReason, Error> {
        let text = turn.text();
        let said: String = text.chars().take(FIRST_WORDS).collect();
        turn.record(&Remembered { said: said.clone() }).await?;
        let result = turns::run(Command::parse(&text), memory, &turn).await;
        memory.turns().push(said);
        result
    }
}

pub(super) fn commands() -> Vec<AvailableCommand> {
    let command = |name: &str, description: &str, hint: &str| {
        AvailableCommand::new(name, description)
            .input(AvailableCommandInput::from(UnstructuredCommandInput::new(hint)))
    };
    vec![
        AvailableCommand::new("history", "Say what was said before"),
        AvailableCommand::new("whoami", "Say which model answers"),
        command("write", "Write a file", "path and text"),
        command("run", "Run a command", "command line"),
        command("title", "Name the session", "title"),
    ]
}
