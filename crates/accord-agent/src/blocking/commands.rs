//! Slash commands that the adapter answers itself, for every blocking agent.

use std::{collections::BTreeMap, fmt::Write as _};

use accord_protocol::v1::{
    AvailableCommand, AvailableCommandInput, Implementation, UnstructuredCommandInput,
};
use serde_json::Value;

use super::{
    agent::{BlockingSession, Failure, Usage},
    callbacks::Callbacks,
};
use crate::runtime::{Catalogue, Choice, Model, Route};

/// A command of the adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Model(String),
    Context,
    Reset,
    Compact,
    Version,
}

/// What a session offers, by which commands are offered.
#[derive(Clone, Debug, Default)]
pub(super) struct Offers {
    pub(super) compacts: bool,
    pub(super) catalogue: Catalogue,
    pub(super) own: Vec<AvailableCommand>,
}

impl Offers {
    /// All commands of a session, those of the agent last. One of the agent's takes the place of the adapter's.
    pub(super) fn commands(&self) -> Vec<AvailableCommand> {
        let ours = [
            ("help", "What the commands are", None, true),
            ("model", "Which model answers; switches to another", Some("provider/model"), self.switches()),
            ("context", "How much the conversation holds", None, true),
            ("reset", "Start the conversation anew", None, true),
            ("compact", "Shorten the conversation", None, self.compacts),
            ("version", "Which agent this is", None, true),
        ];
        ours.into_iter()
            .filter(|(name, _, _, offered)| *offered && !self.own.iter().any(|own| own.name == *name))
            .map(|(name, description, hint, _)| {
                let command = AvailableCommand::new(name, description);
                match hint {
                    Some(hint) => {
                        command.input(AvailableCommandInput::from(UnstructuredCommandInput::new(hint)))
                    }
                    None => command,
                }
            })
            .chain(self.own.iter().cloned())
            .collect()
    }

    /// The command that a prompt is; `None` for any other text, which is the model's.
    pub(super) fn command(&self, text: &str) -> Option<Command> {
        let (name, rest) = match text.trim().strip_prefix('/')?.split_once(char::is_whitespace) {
            Some((name, rest)) => (name, rest.trim()),
            None => (text.trim().strip_prefix('/')?, ""),
        };
        if self.own.iter().any(|own| own.name == name) {
            return None;
        }
        Some(match name {
            "help" => Command::Help,
            "model" if self.switches() => Command::Model(rest.to_owned()),
            "context" => Command::Context,
            "reset" => Command::Reset,
            "compact" if self.compacts => Command::Compact,
            "version" => Command::Version,
            _ => return None,
        })
    }

    fn switches(&self) -> bool {
        self.models().nth(1).is_some()
    }

    /// The model that a user means: by `provider/model`, by its id, or by its name.
    fn meant(&self, text: &str) -> Option<(Route, &Model)> {
        self.models().find(|(route, model)| {
            let names = [route.to_string(), model.id.clone(), model.name.clone()];
            names.iter().any(|name| name.eq_ignore_ascii_case(text))
        })
    }

    fn models(&self) -> impl Iterator<Item = (Route, &Model)> {
        self.catalogue.providers.iter().flat_map(|provider| {
            provider.models.iter().map(|model| (Route::new(&*provider.id, &*model.id), model))
        })
    }
}

/// Where a command stands.
pub(super) struct Place<'a, S> {
    pub(super) session: &'a mut S,
    pub(super) callbacks: &'a Callbacks,
    pub(super) offers: &'a Offers,
    pub(super) info: &'a Implementation,
    pub(super) choice: &'a Choice,
}

impl Command {
    /// Carries the command out; the text is for the user.
    pub(super) fn carry_out<S: BlockingSession>(&self, place: &mut Place<'_, S>) -> Result<String, Failure> {
        Ok(match self {
            Self::Help => help(&place.offers.commands()),
            Self::Model(meant) if meant.is_empty() => models(place.offers, place.choice),
            Self::Model(meant) => {
                let (route, model) = place.offers.meant(meant).ok_or_else(|| unknown(meant, place.offers))?;
                place.callbacks.choose_model(&route)?;
                format!("From the next prompt on {} answers.", model.name)
            }
            Self::Context => context(&place.session.history(), place.session.usage()),
            Self::Reset => {
                place.session.restore(Vec::new())?;
                "The conversation starts anew. What was said stays in this window, but the model no longer knows it."
                    .to_owned()
            }
            Self::Compact => match place.session.compacting() {
                Some(compacting) => compacting.compact(place.callbacks)?,
                None => "This agent does not shorten conversations.".to_owned(),
            },
            Self::Version => format!("{} {}", place.info.name, place.info.version),
        })
    }
}

fn help(commands: &[AvailableCommand]) -> String {
    let mut text = String::from("Commands:\n");
    for command in commands {
        write!(text, "\n- `/{}`: {}", command.name, command.description)
            .expect("writing to a string cannot fail");
    }
    text
}

fn models(offers: &Offers, choice: &Choice) -> String {
    let mut text = String::from("Models:\n");
    for (route, model) in offers.models() {
        let mark = if choice.route.as_ref() == Some(&route) { " (in use)" } else { "" };
        write!(text, "\n- `{route}`: {}{mark}", model.name).expect("writing to a string cannot fail");
    }
    text
}

fn unknown(meant: &str, offers: &Offers) -> Failure {
    let known: Vec<String> = offers.models().map(|(route, _)| route.to_string()).collect();
    Failure::Invalid(format!("there is no model {meant}; there are {}", known.join(", ")))
}

/// How many entries the conversation has, by who said them, and how full the context is.
fn context(history: &[Value], usage: Option<Usage>) -> String {
    let mut roles: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in history {
        *roles.entry(entry["role"].as_str().unwrap_or("other")).or_default() += 1;
    }
    let counts: Vec<String> = roles.iter().map(|(role, count)| format!("{role}: {count}")).collect();
    let mut text = format!("{} entries", history.len());
    if !counts.is_empty() {
        write!(text, " ({})", counts.join(", ")).expect("writing to a string cannot fail");
    }
    if let Some(Usage { used, size }) = usage {
        let share = used.saturating_mul(100).checked_div(size).unwrap_or_default();
        write!(text, "; {used} of {size} tokens ({share} %)").expect("writing to a string cannot fail");
    }
    text
}
