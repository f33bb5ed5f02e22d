//! What a backend offers to choose from: providers and their models, efforts, modes, switches.

use std::{fmt, str::FromStr};

use accord_protocol::v1::SessionMode;
use serde::{Deserialize, Serialize};

/// Everything a session can be configured with. It is advice: a route that it lacks can be used all the same.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Catalogue {
    /// Who serves models, in the order to show.
    pub providers: Vec<Provider>,
    /// The model a new session starts with; without one, the first of the first provider.
    pub initial: Option<Route>,
    /// Ways of working; the first is the initial one.
    pub modes: Vec<SessionMode>,
    /// Things to switch on and off. Only clients that know boolean options see them.
    pub switches: Vec<Switch>,
}

impl Catalogue {
    /// A catalogue of models.
    pub fn new(providers: impl Into<Vec<Provider>>) -> Self {
        Self { providers: providers.into(), ..Self::default() }
    }

    /// The model a new session starts with, in the catalogue or not.
    #[must_use]
    pub fn initial(mut self, route: Route) -> Self {
        self.initial = Some(route);
        self
    }

    /// Ways of working.
    #[must_use]
    pub fn modes(mut self, modes: impl Into<Vec<SessionMode>>) -> Self {
        self.modes = modes.into();
        self
    }

    /// Things to switch on and off.
    #[must_use]
    pub fn switches(mut self, switches: impl Into<Vec<Switch>>) -> Self {
        self.switches = switches.into();
        self
    }

    /// The model of a route, if it is listed.
    pub fn model(&self, route: &Route) -> Option<&Model> {
        let provider = self.providers.iter().find(|provider| provider.id == route.provider)?;
        provider.models.iter().find(|model| model.id == route.model)
    }

    pub(super) fn first(&self) -> Option<Route> {
        let first = || {
            let provider = self.providers.iter().find(|provider| !provider.models.is_empty())?;
            Some(Route::new(&provider.id, &provider.models.first()?.id))
        };
        self.initial.clone().or_else(first)
    }
}

/// Who serves models.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Provider {
    /// The provider in a [`Route`].
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// Its models, in the order to show.
    pub models: Vec<Model>,
}

impl Provider {
    /// A provider of these models.
    pub fn new(id: impl Into<String>, name: impl Into<String>, models: impl Into<Vec<Model>>) -> Self {
        Self { id: id.into(), name: name.into(), models: models.into() }
    }
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The model in a [`Route`].
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// The reasoning efforts it can be asked for.
    pub efforts: Vec<Effort>,
    /// The effort that is asked for if nobody chose; without one, none is sent and the provider decides.
    pub default_effort: Option<String>,
    /// Whether it takes images.
    pub images: bool,
}

impl Model {
    /// A model without efforts that takes images.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), efforts: vec![], default_effort: None, images: true }
    }

    /// With these efforts.
    #[must_use]
    pub fn efforts(mut self, efforts: impl Into<Vec<Effort>>) -> Self {
        self.efforts = efforts.into();
        self
    }

    /// With this effort if nobody chose.
    #[must_use]
    pub fn default_effort(mut self, effort: impl Into<String>) -> Self {
        self.default_effort = Some(effort.into());
        self
    }

    /// That takes no images.
    #[must_use]
    pub fn text_only(mut self) -> Self {
        self.images = false;
        self
    }
}

/// How hard a model thinks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Effort {
    /// What the provider calls it.
    pub id: String,
    /// Its name, for people.
    pub name: String,
}

impl Effort {
    /// An effort.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into() }
    }
}

/// Something to switch on and off.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Switch {
    /// The option's id.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// Whether a new session has it on.
    pub initial: bool,
}

impl Switch {
    /// A switch.
    pub fn new(id: impl Into<String>, name: impl Into<String>, initial: bool) -> Self {
        Self { id: id.into(), name: name.into(), initial }
    }
}

/// A model of a provider: both, because two providers may serve models of the same name.
///
/// Its text form, the value of the `model` option, keeps the pair whatever the two are called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Route {
    /// The provider's id.
    pub provider: String,
    /// The model's id.
    pub model: String,
}

impl Route {
    /// A route.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { provider: provider.into(), model: model.into() }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider.replace('%', "%25").replace('/', "%2F"), self.model)
    }
}

impl FromStr for Route {
    type Err = NotARoute;

    fn from_str(value: &str) -> Result<Self, NotARoute> {
        let (provider, model) = value.split_once('/').ok_or(NotARoute)?;
        Ok(Self::new(provider.replace("%2F", "/").replace("%25", "%"), model))
    }
}

/// The value does not name a provider and a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value does not name a provider and a model")]
#[non_exhaustive]
pub struct NotARoute;
