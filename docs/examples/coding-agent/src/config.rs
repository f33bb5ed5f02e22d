//! What the agent is configured with: a model server by environment, or none at all for the scripted model.

use std::path::PathBuf;

use accord_agent::{
    blocking::Login,
    cli::Environment,
    runtime::{Catalogue, Effort, Model as Offered, Provider},
};

use crate::model::{Model, chat::Chat, scripted::Scripted};

/// Where the model server is, up to and with `/v1`.
pub(crate) const BASE_URL: &str = "ACCORD_BASE_URL";
/// The models to choose from, separated by commas, the first one first.
pub(crate) const MODELS: &str = "ACCORD_MODEL";
/// The key of the model server, if it wants one.
pub(crate) const KEY: &str = "ACCORD_API_KEY";
/// Reasoning efforts that the models know, separated by commas.
const EFFORTS: &str = "ACCORD_EFFORTS";
/// The size of the models' context, in tokens.
const WINDOW: &str = "ACCORD_CONTEXT";
/// `scripted` for the model that needs no server.
const BACKEND: &str = "ACCORD_BACKEND";
/// `1` where the models see images.
const IMAGES: &str = "ACCORD_IMAGES";
/// Where sessions are stored.
const STATE_DIR: &str = "ACCORD_STATE_DIR";

/// The configuration as it stands.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) backend: Backend,
    pub(crate) catalogue: Catalogue,
    pub(crate) window: u64,
    pub(crate) images: bool,
    environment: Environment,
}

/// Where answers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Scripted,
    Chat,
}

impl Config {
    /// Reads it anew, the env file too: a set-up may have come meanwhile, and a running agent should know.
    pub(crate) fn read(environment: &Environment) -> Self {
        let environment = &environment.reread().unwrap_or_else(|_| environment.clone());
        let backend = match environment.get(BACKEND).as_deref() {
            Some("scripted") => Backend::Scripted,
            None | Some("" | "chat") => Backend::Chat,
            Some(other) => {
                ignored(BACKEND, other);
                Backend::Chat
            }
        };
        let efforts = |names: Vec<String>| -> Vec<Effort> {
            names.into_iter().map(|name| Effort::new(name.clone(), name)).collect()
        };
        let provider = match backend {
            Backend::Scripted => {
                let thorough = efforts(vec!["low".to_owned(), "high".to_owned()]);
                let models =
                    [Offered::new("plain", "Plain"), Offered::new("thorough", "Thorough").efforts(thorough)];
                Provider::new("scripted", "Scripted", models)
            }
            Backend::Chat => {
                let known = efforts(listed(environment, EFFORTS));
                let models = listed(environment, MODELS).into_iter();
                let models = models.map(|model| Offered::new(model.clone(), model).efforts(known.clone()));
                Provider::new("server", "Model server", models.collect::<Vec<_>>())
            }
        };
        Self {
            backend,
            catalogue: Catalogue::new([provider]),
            window: number(environment, WINDOW).unwrap_or(32_768),
            images: environment.get(IMAGES).is_some_and(|value| value == "1"),
            environment: environment.clone(),
        }
    }

    /// The ids of the models.
    pub(crate) fn models(&self) -> Vec<&str> {
        self.catalogue
            .providers
            .iter()
            .flat_map(|provider| &provider.models)
            .map(|model| &*model.id)
            .collect()
    }

    pub(crate) fn base_url(&self) -> Option<String> {
        self.environment.get(BASE_URL)
    }

    /// What is missing, if anything.
    pub(crate) fn login(&self) -> Login {
        if self.backend == Backend::Scripted {
            return Login::NotNeeded;
        }
        match (self.base_url(), self.models().first()) {
            (None, _) => Login::Missing { what: format!("no model server is configured ({BASE_URL})") },
            (_, None) => Login::Missing { what: format!("no model is configured ({MODELS})") },
            _ => Login::Configured { provider: "Model server".to_owned() },
        }
    }

    pub(crate) fn model(&self) -> Box<dyn Model> {
        match self.backend {
            Backend::Scripted => Box::new(Scripted),
            Backend::Chat => {
                Box::new(Chat::new(&self.base_url().unwrap_or_default(), self.environment.get(KEY)))
            }
        }
    }

    /// Where the sessions are: as told, else where the user's programs keep their state.
    pub(crate) fn state_dir(&self) -> Option<PathBuf> {
        self.environment.get(STATE_DIR).map(PathBuf::from).or_else(|| {
            let state = self.environment.get("XDG_STATE_HOME").map(PathBuf::from);
            let home = || Some(PathBuf::from(self.environment.get("HOME")?).join(".local/state"));
            state.or_else(home).map(|state| state.join("accord-coding-agent"))
        })
    }
}

/// The env file that is read where none is named.
pub(crate) fn env_file() -> Option<PathBuf> {
    let environment = Environment::process();
    let config = environment.get("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(environment.get("HOME")?).join(".config"));
    config.or_else(home).map(|config| config.join("accord-coding-agent/env"))
}

fn listed(environment: &Environment, name: &str) -> Vec<String> {
    let value = environment.get(name).unwrap_or_default();
    value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn number(environment: &Environment, name: &str) -> Option<u64> {
    let value = environment.get(name)?;
    value.parse().inspect_err(|_| ignored(name, &value)).ok()
}

/// A setting of another version, or a slip, must not keep the agent from working.
fn ignored(name: &str, value: &str) {
    tracing::warn!(name, value, "this setting is not understood, and its default holds");
}
