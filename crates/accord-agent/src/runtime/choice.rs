//! What a session is set to, and the config options that show and change it. Pure: no session, no store, no wire.

use std::collections::BTreeMap;

use accord_protocol::v1::{
    SessionConfigId, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectGroup, SessionConfigSelectOption, SessionModeId, SessionModeState,
};
use serde::{Deserialize, Serialize};

use super::catalogue::{Catalogue, Model, Route};
use crate::handler::Error;

/// The id of the option that chooses the model.
pub const MODEL: &str = "model";
/// The id of the option that chooses the reasoning effort; it is there when the chosen model has efforts.
pub const EFFORT: &str = "reasoning_effort";
/// The id of the option that mirrors the session's mode.
pub const MODE: &str = "mode";
/// The value of the effort option that leaves the effort to the provider.
pub const PROVIDER_DEFAULT: &str = "provider_default";

/// What a session is set to. A turn gets a copy when it is admitted and keeps it to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Choice {
    /// The provider and the model, if there is one to choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// The reasoning effort to ask for; with none, none is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The mode, if the agent has modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<SessionModeId>,
    /// The switches that were set; a switch that was not is as the catalogue says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub switches: BTreeMap<String, bool>,
}

impl Choice {
    /// What a new session starts with.
    pub fn initial(catalogue: &Catalogue) -> Self {
        let mut choice = Self::default();
        if let Some(route) = catalogue.first() {
            choice.choose(route, catalogue);
        }
        choice.mode = catalogue.modes.first().map(|mode| mode.id.clone());
        choice
    }

    /// Gives up a mode or an effort that the catalogue has no more, for what a new session starts with.
    ///
    /// A route stays, since models come and go; a turn that cannot have its model says so.
    pub(super) fn fit(&mut self, catalogue: &Catalogue) {
        // A catalogue without modes may get them yet.
        if let Some(first) = catalogue.modes.first() {
            let known = |mode: &SessionModeId| catalogue.modes.iter().any(|known| known.id == *mode);
            if let Some(mode) = self.mode.take_if(|mode| !known(mode)) {
                tracing::warn!(%mode, "a session's mode is not known any more; it starts in the first one");
            }
            self.mode.get_or_insert_with(|| first.id.clone());
        }
        if let Some(model) = self.route.as_ref().and_then(|route| catalogue.model(route)) {
            let known = |effort: &String| model.efforts.iter().any(|known| known.id == *effort);
            if let Some(effort) = self.effort.take_if(|effort| !known(effort)) {
                tracing::warn!(%effort, "a session's effort is not known any more; the model's default holds");
                self.effort.clone_from(&model.default_effort);
            }
        }
    }

    /// Whether a switch is on.
    pub fn is_on(&self, switch: &str, catalogue: &Catalogue) -> bool {
        let initial = || catalogue.switches.iter().any(|known| known.id == switch && known.initial);
        self.switches.get(switch).copied().unwrap_or_else(initial)
    }

    /// The same with one option changed.
    ///
    /// # Errors
    /// `-32602` for an option or a value that is not offered; nothing is changed then.
    pub fn set(
        &self,
        option: &SessionConfigId,
        value: &SessionConfigOptionValue,
        catalogue: &Catalogue,
    ) -> Result<Self, Error> {
        let options = self.options(catalogue);
        let known = options.iter().find(|known| known.id == *option);
        let known = known
            .ok_or_else(|| Error::invalid_params("configId", "the id of one of the session's options"))?;
        let mut changed = self.clone();
        match (value, option.as_str()) {
            (SessionConfigOptionValue::Boolean(on), id)
                if catalogue.switches.iter().any(|known| known.id == id) =>
            {
                changed.switches.insert(id.to_owned(), *on);
            }
            (SessionConfigOptionValue::ValueId(value), id) if offers(known, value.as_str()) => match id {
                MODEL => {
                    let route = value.as_str().parse().map_err(|_| not_offered())?;
                    changed.choose(route, catalogue);
                }
                EFFORT => changed.effort = Some(value.to_string()).filter(|value| value != PROVIDER_DEFAULT),
                _ => changed.mode = Some(SessionModeId::from(value.as_str())),
            },
            _ => return Err(not_offered()),
        }
        Ok(changed)
    }

    /// The same in another mode.
    ///
    /// # Errors
    /// `-32602` for a mode that is not offered.
    pub fn in_mode(&self, mode: &SessionModeId, catalogue: &Catalogue) -> Result<Self, Error> {
        if !catalogue.modes.iter().any(|known| known.id == *mode) {
            return Err(Error::invalid_params("modeId", "the id of one of the session's modes"));
        }
        Ok(Self { mode: Some(mode.clone()), ..self.clone() })
    }

    /// Takes a route, and keeps the effort if the model there has it too.
    fn choose(&mut self, route: Route, catalogue: &Catalogue) {
        let model = catalogue.model(&route);
        let efforts = model.map(|model| &*model.efforts).unwrap_or_default();
        let kept = self.effort.take().filter(|kept| efforts.iter().any(|effort| effort.id == *kept));
        self.effort = kept.or_else(|| model?.default_effort.clone());
        self.route = Some(route);
    }

    /// The complete state, the most important option first.
    pub fn options(&self, catalogue: &Catalogue) -> Vec<SessionConfigOption> {
        let mut options = Vec::new();
        if let Some(route) = &self.route {
            let option =
                SessionConfigOption::select(MODEL, "Model", route.to_string(), groups(route, catalogue));
            options.push(option.category(SessionConfigOptionCategory::Model));
            options.extend(catalogue.model(route).and_then(|model| self.effort_option(model)));
        }
        if let Some(mode) = self.mode.as_ref().filter(|_| !catalogue.modes.is_empty()) {
            let modes: Vec<_> = catalogue
                .modes
                .iter()
                .map(|mode| SessionConfigSelectOption::new(mode.id.as_str(), mode.name.clone()))
                .collect();
            let option = SessionConfigOption::select(MODE, "Mode", mode.as_str(), modes);
            options.push(option.category(SessionConfigOptionCategory::Mode));
        }
        options.extend(catalogue.switches.iter().map(|switch| {
            let on = self.switches.get(&switch.id).copied().unwrap_or(switch.initial);
            SessionConfigOption::boolean(switch.id.as_str(), switch.name.clone(), on)
        }));
        options
    }

    /// The modes, for clients that do not know the option.
    pub fn modes(&self, catalogue: &Catalogue) -> Option<SessionModeState> {
        let mode = self.mode.clone()?;
        (!catalogue.modes.is_empty()).then(|| SessionModeState::new(mode, catalogue.modes.clone()))
    }

    fn effort_option(&self, model: &Model) -> Option<SessionConfigOption> {
        if model.efforts.is_empty() {
            return None;
        }
        let mut efforts: Vec<_> = model
            .efforts
            .iter()
            .map(|effort| SessionConfigSelectOption::new(effort.id.as_str(), effort.name.clone()))
            .collect();
        // Without a default of its own the provider's must remain reachable, and it means that nothing is sent.
        if model.default_effort.is_none() {
            efforts.insert(0, SessionConfigSelectOption::new(PROVIDER_DEFAULT, "Provider default"));
        }
        let current = self.effort.as_deref().or(model.default_effort.as_deref()).unwrap_or(PROVIDER_DEFAULT);
        let option = SessionConfigOption::select(EFFORT, "Reasoning effort", current, efforts);
        Some(option.category(SessionConfigOptionCategory::ThoughtLevel))
    }
}

/// The models by provider; a chosen route that the catalogue lacks is added where it belongs.
fn groups(chosen: &Route, catalogue: &Catalogue) -> Vec<SessionConfigSelectGroup> {
    let listed = catalogue.model(chosen).is_some();
    let unlisted = || SessionConfigSelectOption::new(chosen.to_string(), chosen.model.clone());
    let mut groups: Vec<_> = catalogue
        .providers
        .iter()
        .map(|provider| {
            let models = provider.models.iter().map(|model| {
                let route = Route::new(&provider.id, &model.id);
                SessionConfigSelectOption::new(route.to_string(), model.name.clone())
            });
            let mut models: Vec<_> = models.collect();
            if !listed && provider.id == chosen.provider {
                models.push(unlisted());
            }
            SessionConfigSelectGroup::new(provider.id.as_str(), provider.name.clone(), models)
        })
        .collect();
    if !catalogue.providers.iter().any(|provider| provider.id == chosen.provider) {
        groups.push(SessionConfigSelectGroup::new(
            chosen.provider.as_str(),
            chosen.provider.clone(),
            vec![unlisted()],
        ));
    }
    groups
}

fn offers(option: &SessionConfigOption, value: &str) -> bool {
    use accord_protocol::v1::SessionConfigKind::Select;
    matches!(&option.kind, Select(select) if select.options.iter().any(|known| known.value.as_str() == value))
}

fn not_offered() -> Error {
    Error::invalid_params("value", "one of the option's values")
}
