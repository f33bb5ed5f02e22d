//! Logging in: choosing among the agent's ways, and running its own program in the terminal for those that need it.

use std::{fmt, future::Future, io, pin::Pin, process::ExitStatus, sync::Arc};

use accord_protocol::v1::{AuthMethod, AuthMethodAgent, AuthMethodId, AuthMethodTerminal};
use accord_transport::{AgentCommand, SpawnError};

type Chosen = Pin<Box<dyn Future<Output = Option<AuthMethodId>> + Send>>;
type Choose = Arc<dyn Fn(Vec<AuthMethod>) -> Chosen + Send + Sync>;

/// Chooses how to log in when the agent wants that, for [`Builder::login`](crate::Builder::login).
///
/// The agent is asked once more after a login, and no further.
#[derive(Clone)]
pub struct Login(Choose);

impl Login {
    /// Lets `choose` pick one of the ways the agent advertises, or none.
    #[must_use]
    pub fn choose_with<F, C>(choose: F) -> Self
    where
        F: Fn(Vec<AuthMethod>) -> C + Send + Sync + 'static,
        C: Future<Output = Option<AuthMethodId>> + Send + 'static,
    {
        Self(Arc::new(move |methods| Box::pin(choose(methods))))
    }

    /// Uses one method, if the agent advertises it.
    #[must_use]
    pub fn with_method(method: impl Into<AuthMethodId>) -> Self {
        let method = method.into();
        Self::choose_with(move |methods| {
            let offered = methods.iter().any(|offered| id_of(offered) == Some(&method));
            let chosen = offered.then(|| method.clone());
            async move { chosen }
        })
    }

    pub(crate) async fn choose(&self, methods: &[AuthMethod]) -> Option<AuthMethodId> {
        (self.0)(methods.to_vec()).await
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(…)")
    }
}

/// Why a login in the terminal did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The agent's program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The agent's program could not be started or waited for.
    #[error("the login could not be run")]
    Io(#[from] io::Error),
    /// The login failed, or was given up.
    #[error("the login failed: {0}")]
    Failed(ExitStatus),
}

/// Runs the agent's own program for a login in the terminal, and waits for its end.
///
/// It is started as the agent is, with the method's arguments after its own and the method's environment over its own.
/// It has this program's terminal and is in its process group, so that it can ask questions and is interrupted with
/// it. After a success, connect again: the old connection does not know of the login.
///
/// # Errors
/// [`LoginError`] says whether it could not be run, or failed.
///
/// # Cancel safety
/// Dropping the future ends the program.
pub async fn login_in_terminal(
    command: &AgentCommand,
    method: &AuthMethodTerminal,
) -> Result<(), LoginError> {
    let mut login = tokio::process::Command::from(command.to_command()?);
    login.args(method.args.iter().flatten());
    login.envs(method.env.iter().flatten().map(|(name, value)| (name, value.as_str())));
    let status = login.kill_on_drop(true).status().await?;
    if status.success() { Ok(()) } else { Err(LoginError::Failed(status)) }
}

/// The id of a way to log in; none if it is of a kind that is not known here.
#[must_use]
pub fn id_of(method: &AuthMethod) -> Option<&AuthMethodId> {
    match method {
        AuthMethod::Agent(AuthMethodAgent { id, .. })
        | AuthMethod::Terminal(AuthMethodTerminal { id, .. }) => Some(id),
        _ => None,
    }
}
