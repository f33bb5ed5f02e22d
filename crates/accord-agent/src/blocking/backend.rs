//! The adapter as the runtime's backend: sessions are opened and closed, turns run, logins asked for.

use std::sync::{Arc, Mutex, PoisonError};

use accord_protocol::{
    rpc::{Error, ErrorCode},
    v1::{
        AuthMethod, AuthMethodAgent, AuthMethodId, AuthMethodTerminal, AvailableCommand, Implementation,
        PromptCapabilities, StopReason,
    },
};
use tokio::task::spawn_blocking;

use super::{
    Blocking,
    agent::{BlockingAgent, Login},
    sessions::{Open, Opening, SessionsError},
    turn::{Task, refused},
    wire::Wire,
};
use crate::{
    cli::SETUP_FLAG,
    handler::Auth,
    runtime::{self, Backend, Origin, Turn},
};

/// The id of the method that runs the program's set-up in a terminal.
const SETUP: &str = "setup";

/// An open session, as the runtime holds it.
pub struct OpenSession<A: BlockingAgent> {
    open: Arc<Open<A>>,
}

impl<A: BlockingAgent> std::fmt::Debug for OpenSession<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenSession").field("id", &self.open.id).finish_non_exhaustive()
    }
}

impl<A: BlockingAgent> Backend for Blocking<A> {
    type Session = OpenSession<A>;

    fn info(&self) -> Implementation {
        self.turns.about.info.clone()
    }

    fn prompt_capabilities(&self) -> PromptCapabilities {
        // Embedded resources become text, whatever the agent takes.
        self.turns.about.accepts.clone().embedded_context(true)
    }

    fn auth(&self) -> Option<&impl Auth> {
        (self.logins.seen() != Login::NotNeeded).then_some(&self.logins)
    }

    async fn open(&self, opening: runtime::Opening) -> Result<OpenSession<A>, Error> {
        let id = opening.session.id().clone();
        let fork = matches!(opening.origin, Origin::Fork(_));
        let opening = Opening {
            cwd: opening.cwd,
            additional_directories: opening.directories,
            choice: opening.choice,
            records: opening.history.all().await?,
        };
        let (sessions, idle) = (self.sessions.clone(), self.rest_after);
        let made = spawn_blocking(move || {
            sessions.clean_up(idle);
            sessions.make_stored(id, opening, fork)
        });
        // Admitted only here: the client may withdraw its request, and this future is dropped, while the agent takes its time.
        let admitted = match made.await {
            Ok(made) => made.and_then(|open| self.sessions.admit(&open).map(|()| open)),
            Err(_) => Err(SessionsError::Panicked),
        };
        match admitted {
            Ok(open) => Ok(OpenSession { open }),
            Err(SessionsError::Agent(failure)) => Err(refused(failure)),
            Err(error) => Err(Error::internal(error.to_string())),
        }
    }

    fn commands(&self, session: &OpenSession<A>) -> Vec<AvailableCommand> {
        let facts = session.open.facts().clone();
        self.turns.offers(&facts).commands()
    }

    async fn turn(&self, session: &OpenSession<A>, turn: Turn) -> Result<StopReason, Error> {
        let task = Task {
            blocks: turn.blocks().to_vec(),
            choice: turn.choice().clone(),
            wire: Arc::new(Wire::new(turn.clone())),
        };
        self.turns.run(session.open.clone(), task, turn.cancelled()).await
    }

    async fn closed(&self, session: &OpenSession<A>) {
        let (sessions, open) = (self.sessions.clone(), session.open.clone());
        // The agent's object goes with it, and its end may take time.
        let closed = spawn_blocking(move || {
            sessions.forget(&open);
            open.rest();
        });
        let _ = closed.await;
    }
}

/// What is known of the agent's credentials.
pub(super) struct Logins<A> {
    agent: Arc<A>,
    seen: Mutex<Login>,
}

impl<A: BlockingAgent> Logins<A> {
    pub(super) fn new(agent: Arc<A>) -> Self {
        let seen = Mutex::new(agent.login());
        Self { agent, seen }
    }

    fn seen(&self) -> Login {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn look(&self) -> Result<Login, Error> {
        let agent = self.agent.clone();
        let login = spawn_blocking(move || agent.login()).await;
        let login =
            login.map_err(|_| Error::internal("the agent panicked when it was asked for its login"))?;
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&login);
        Ok(login)
    }
}

impl<A: BlockingAgent> Auth for Logins<A> {
    fn methods(&self) -> Vec<AuthMethod> {
        let mut methods = Vec::new();
        if let Login::Configured { provider } = self.seen() {
            let method = AuthMethodAgent::new(id_of(&provider), provider.as_str())
                .description(format!("The credentials that this agent has for {provider}"));
            methods.push(AuthMethod::from(method));
        }
        let setup = AuthMethodTerminal::new(SETUP, "Set the agent up")
            .description("Asks in a terminal for what the agent needs to know".to_owned())
            .args(vec![SETUP_FLAG.to_owned()]);
        methods.push(AuthMethod::from(setup));
        methods
    }

    async fn ready(&self) -> Result<(), Error> {
        match self.look().await? {
            Login::Missing { what } => {
                let message = format!("{what}; start the agent's program with {SETUP_FLAG} to configure it");
                tracing::error!("{message}");
                Err(Error::new(ErrorCode::AUTH_REQUIRED, message))
            }
            _ => Ok(()),
        }
    }

    async fn authenticate(&self, method: AuthMethodId) -> Result<(), Error> {
        match self.look().await? {
            Login::NotNeeded => Ok(()),
            Login::Configured { provider } if id_of(&provider) == method.as_str() => Ok(()),
            // The set-up has been run meanwhile, or another provider: either way there are credentials now.
            Login::Configured { .. } if method.as_str() == SETUP => Ok(()),
            _ => Err(Error::auth_required()),
        }
    }
}

/// A provider's name as an id: lower case, with hyphens.
fn id_of(provider: &str) -> String {
    let words = provider.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}
