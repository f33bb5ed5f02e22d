//! The subject agent's login: a file, so that one made elsewhere counts at once.

use std::{env, fs, io, path::PathBuf};

use accord_agent::{
    Auth, Error, LoggingOut,
    protocol::v1::{AuthMethod, AuthMethodAgent, AuthMethodId, AuthMethodTerminal},
};

use super::options::Options;

/// The file that stands for a login.
const FILE: &str = "login";

/// Whether a login is asked for, and where it is remembered.
#[derive(Debug)]
pub(super) struct Login {
    asked_for: bool,
    file: PathBuf,
}

impl Login {
    pub(super) fn of(options: &Options) -> Self {
        let dir = options.state_dir.clone().unwrap_or_else(env::temp_dir);
        Self { asked_for: options.auth, file: dir.join(FILE) }
    }

    pub(super) fn is_asked_for(&self) -> bool {
        self.asked_for
    }

    pub(super) fn record(&self, logged_in: bool) -> io::Result<()> {
        if logged_in {
            self.file.parent().map_or(Ok(()), fs::create_dir_all)?;
            return fs::write(&self.file, "");
        }
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn changed(&self, logged_in: bool) -> Result<(), Error> {
        self.record(logged_in).map_err(|error| Error::internal(error.to_string()))
    }
}

impl Auth for Login {
    fn methods(&self) -> Vec<AuthMethod> {
        let mut terminal = AuthMethodTerminal::new("login", "Log in in a terminal");
        terminal.args = Some(vec!["--login".to_owned()]);
        vec![AuthMethodAgent::new("token", "A token that always works").into(), terminal.into()]
    }

    async fn ready(&self) -> Result<(), Error> {
        if self.file.exists() { Ok(()) } else { Err(Error::auth_required()) }
    }

    async fn authenticate(&self, _: AuthMethodId) -> Result<(), Error> {
        self.changed(true)
    }
}

impl LoggingOut for Login {
    async fn logout(&self) -> Result<(), Error> {
        self.changed(false)
    }
}
