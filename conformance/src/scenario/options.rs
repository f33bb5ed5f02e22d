//! Choosing: a model, and an effort that depends on it.

use accord_client::Session;
use accord_client::protocol::v1::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelect,
};

use super::talk::failed;
use crate::wire::verdict::{Judged, ensure, inconclusive, skip};

/// A choice that was made, to be found again later.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub(super) option: String,
    pub(super) value: String,
    /// What people call the value.
    pub(super) name: String,
}

/// Chooses another model; one that has efforts, if there is such.
pub(super) async fn model(session: &Session) -> Judged<Choice> {
    let options = session.config_options();
    let Some((option, select)) = find(&options, &SessionConfigOptionCategory::Model, "model") else {
        return skip("no model can be chosen");
    };
    let others = values(select).filter(|(value, _)| *value != select.current_value.as_str());
    let others: Vec<(String, String)> =
        others.map(|(value, name)| (value.to_owned(), name.to_owned())).collect();
    let mut chosen = None;
    for (value, name) in others {
        let now = set(session, option.id.as_str(), &value).await?;
        chosen = Some(Choice { option: option.id.to_string(), value, name });
        if find(&now, &SessionConfigOptionCategory::ThoughtLevel, "reasoning_effort").is_some() {
            break;
        }
    }
    match chosen {
        Some(choice) => Ok(choice),
        None => inconclusive("there is only one model"),
    }
}

/// Chooses another effort.
pub(super) async fn effort(session: &Session) -> Judged<Choice> {
    let options = session.config_options();
    let Some((option, select)) =
        find(&options, &SessionConfigOptionCategory::ThoughtLevel, "reasoning_effort")
    else {
        return skip("the model has no efforts");
    };
    let Some((value, name)) =
        values(select).filter(|(value, _)| *value != select.current_value.as_str()).last()
    else {
        return inconclusive("there is only one effort");
    };
    let choice = Choice { option: option.id.to_string(), value: value.to_owned(), name: name.to_owned() };
    set(session, &choice.option, &choice.value).await?;
    Ok(choice)
}

/// The choice still holds.
pub(super) fn holds(options: &[SessionConfigOption], choice: &Choice) -> Judged {
    let now = options.iter().find(|option| option.id.as_str() == choice.option).map(current);
    ensure(now.as_deref() == Some(choice.value.as_str()), || {
        format!("{} was {}, and is {now:?}", choice.option, choice.value)
    })
}

async fn set(session: &Session, option: &str, value: &str) -> Judged<Vec<SessionConfigOption>> {
    let before = session.config_options().len();
    let now = session.set_config_option(option, value).await.map_err(failed)?;
    let choice = Choice { option: option.to_owned(), value: value.to_owned(), name: String::new() };
    holds(&now, &choice)?;
    ensure(now.len() > 1 || before == 1, || "the answer is not the complete list of options".into())?;
    Ok(now)
}

fn find<'o>(
    options: &'o [SessionConfigOption],
    category: &SessionConfigOptionCategory,
    id: &str,
) -> Option<(&'o SessionConfigOption, &'o SessionConfigSelect)> {
    let of_category = |option: &&SessionConfigOption| option.category.get() == Some(category);
    let of_id = |option: &&SessionConfigOption| option.id.as_str() == id;
    let option = options.iter().find(of_category).or_else(|| options.iter().find(of_id))?;
    match &option.kind {
        SessionConfigKind::Select(select) => Some((option, select)),
        _ => None,
    }
}

fn values(select: &SessionConfigSelect) -> impl Iterator<Item = (&str, &str)> {
    select.options.iter().map(|each| (each.value.as_str(), each.name.as_str()))
}

fn current(option: &SessionConfigOption) -> String {
    match &option.kind {
        SessionConfigKind::Select(select) => select.current_value.to_string(),
        SessionConfigKind::Boolean(switch) => switch.current_value.to_string(),
        _ => String::new(),
    }
}
