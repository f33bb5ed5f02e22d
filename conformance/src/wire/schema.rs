//! The official schema of ACP v1: which definition a message answers to, and whether it fits.

mod members;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};

use super::frame::Direction;

/// A set of definitions with the methods they belong to.
pub struct Schema {
    root: Value,
    methods: BTreeMap<(Part, String), (String, Server)>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// What of an exchange a definition describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the three kinds of a JSON-RPC message")]
pub enum Part {
    /// The `params` of a request.
    Request,
    /// The `result` of a response.
    Result,
    /// The `params` of a notification.
    Notification,
}

/// Who serves a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    Agent,
    Client,
    Either,
}

/// The stable definitions of v1.
pub fn stable() -> &'static Schema {
    static STABLE: OnceLock<Schema> = OnceLock::new();
    STABLE.get_or_init(|| Schema::parse(include_str!("../../schema/v1/schema.json")))
}

/// The definitions of v1 that are still drafts, on top of the stable ones.
pub fn drafts() -> &'static Schema {
    static DRAFTS: OnceLock<Schema> = OnceLock::new();
    DRAFTS.get_or_init(|| Schema::parse(include_str!("../../schema/v1/schema.unstable.json")))
}

impl Schema {
    fn parse(text: &str) -> Self {
        let root: Value = serde_json::from_str(text).expect("the official schema is embedded unchanged");
        let methods = methods(&root);
        Self { root, methods, validators: Mutex::default() }
    }

    /// The definition of a message that travels in `direction`, if the protocol has that method for the side it is sent to.
    ///
    /// For a result, `direction` is that of the *request*.
    pub fn definition(&self, part: Part, method: &str, direction: Direction) -> Option<&str> {
        let (name, by) = self.methods.get(&(part, method.to_owned()))?;
        let served = match by {
            Server::Either => true,
            Server::Agent => direction == Direction::ToAgent,
            Server::Client => direction == Direction::ToClient,
        };
        served.then_some(name.as_str())
    }

    /// Whether any side serves `method` in any form.
    pub fn knows(&self, method: &str) -> bool {
        self.methods.keys().any(|(_, known)| known == method)
    }

    /// Why `value` does not fit `definition`: a path and a reason each; empty if it fits.
    pub fn faults(&self, definition: &str, value: &Value) -> Vec<String> {
        self.validator(definition).iter_errors(value).map(|error| explain(&error)).collect()
    }

    /// The members of spec objects in `value` that `definition` does not list, as paths; `_meta` is always listed.
    pub fn unknown_members(&self, definition: &str, value: &Value) -> Vec<String> {
        members::unknown(&self.root, definition, value)
    }

    fn validator(&self, definition: &str) -> Arc<Validator> {
        let mut built = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let validator = built.entry(definition.to_owned()).or_insert_with(|| {
            let schema = json!({
                "$schema": self.root["$schema"],
                "$defs": self.root["$defs"],
                "$ref": format!("#/$defs/{definition}"),
            });
            let built = jsonschema::options()
                .should_ignore_unknown_formats(true)
                .build(&schema)
                .expect("the official schema is embedded unchanged");
            Arc::new(built)
        });
        Arc::clone(validator)
    }
}

fn methods(root: &Value) -> BTreeMap<(Part, String), (String, Server)> {
    let definitions = root["$defs"].as_object().into_iter().flatten();
    definitions
        .filter_map(|(name, definition)| {
            let method = definition["x-method"].as_str()?;
            let part = match name {
                name if name.ends_with("Request") => Part::Request,
                name if name.ends_with("Response") => Part::Result,
                _ => Part::Notification,
            };
            let server = match definition["x-side"].as_str() {
                Some("agent") => Server::Agent,
                Some("client") => Server::Client,
                _ => Server::Either,
            };
            Some(((part, method.to_owned()), (name.clone(), server)))
        })
        .collect()
}

/// One line for a person: where, and what. Values are left out: the frame itself is shown beside it.
fn explain(error: &jsonschema::ValidationError<'_>) -> String {
    if let Some(inner) = meant_branch(error) {
        return inner.iter().map(explain).collect::<Vec<_>>().join("; ");
    }
    let path = error.instance_path().to_string();
    let path = if path.is_empty() { "/" } else { &path };
    format!("{path}: {}", error.masked())
}

/// Of a union that fits nowhere, the complaints of the variant whose tag the value carries, if there is one such.
fn meant_branch<'e>(
    error: &'e jsonschema::ValidationError<'_>,
) -> Option<&'e [jsonschema::ValidationError<'static>]> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return None;
    };
    let tagged = |branch: &&Vec<jsonschema::ValidationError<'static>>| {
        !branch.iter().any(|inner| {
            matches!(inner.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Type { .. })
                && depth(inner) <= depth(error) + 1
        })
    };
    let mut meant = context.iter().filter(tagged);
    match (meant.next(), meant.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn depth(error: &jsonschema::ValidationError<'_>) -> usize {
    error.instance_path().to_string().matches('/').count()
}
