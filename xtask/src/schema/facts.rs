//! A JSON Schema as a set of facts, so that two can be compared whatever way they are written.

use std::collections::BTreeSet;

use serde_json::Value;

/// One thing that a schema says about one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fact {
    /// The place, such as `ToolCall.locations[]` or `ContentBlock|type=text`.
    pub(crate) place: String,
    /// What is said: `type`, `required`, `mark`, …
    pub(crate) what: &'static str,
    /// What it is said to be.
    pub(crate) value: String,
    /// The place around this one.
    pub(crate) parent: String,
}

/// All that a schema's definitions say.
pub(crate) fn facts(schema: &Value) -> BTreeSet<Fact> {
    let mut facts = Facts(BTreeSet::new());
    for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
        facts.walk("", name, definition);
    }
    facts.0
}

struct Facts(BTreeSet<Fact>);

const MARKS: [&str; 3] =
    ["x-deserialize-default-on-error", "x-deserialize-default-on-null", "x-deserialize-skip-invalid-items"];

impl Facts {
    fn say(&mut self, parent: &str, place: &str, what: &'static str, value: impl Into<String>) {
        let (place, parent) = (place.to_owned(), parent.to_owned());
        self.0.insert(Fact { place, what, value: value.into(), parent });
    }

    /// Describes one place.
    fn walk(&mut self, parent: &str, place: &str, schema: &Value) {
        self.say(parent, place, "is there", "yes");
        if let Some(name) = reference(schema) {
            self.say(parent, place, "type", name);
        }
        for part in list(schema, "allOf").iter().filter(|part| reference(part).is_none()) {
            self.walk(parent, place, part);
        }
        for kind in kinds(schema) {
            self.say(parent, place, "type", kind);
            if matches!(kind, "integer" | "number")
                && let Some(format) = schema["format"].as_str()
            {
                self.say(parent, place, "format", format);
            }
        }
        if let Some(default) = schema.get("default") {
            self.say(parent, place, "default", default.to_string());
        }
        for mark in MARKS.into_iter().filter(|mark| schema[*mark] == true) {
            self.say(parent, place, "mark", mark);
        }
        for (key, what) in [("x-side", "served by"), ("x-method", "method")] {
            if let Some(value) = schema[key].as_str() {
                self.say(parent, place, what, value);
            }
        }
        self.members(place, schema);
        self.variants(parent, place, schema);
    }

    fn members(&mut self, place: &str, schema: &Value) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            self.walk(place, &format!("{place}.{name}"), property);
        }
        for name in list(schema, "required").iter().filter_map(Value::as_str) {
            self.say(place, &format!("{place}.{name}"), "required", "yes");
        }
        if let Some(items) = schema.get("items") {
            self.walk(place, &format!("{place}[]"), items);
        }
        if schema["additionalProperties"].is_object() {
            self.walk(place, &format!("{place}{{}}"), &schema["additionalProperties"]);
        }
    }

    fn variants(&mut self, parent: &str, place: &str, schema: &Value) {
        let variants = [list(schema, "oneOf"), list(schema, "anyOf")].concat();
        let (nulls, variants): (Vec<_>, Vec<_>) =
            variants.iter().partition(|variant| reference(variant).is_none() && kinds(variant) == ["null"]);
        if !nulls.is_empty() {
            self.say(parent, place, "type", "null");
            if let [only] = *variants {
                return self.walk(parent, place, only);
            }
        }
        for variant in variants {
            if variant["title"].as_str().is_some_and(|title| title.eq_ignore_ascii_case("other")) {
                self.say(parent, place, "open", "yes");
            } else if let Some(value) = variant.get("const") {
                self.say(parent, place, "value", value.to_string());
            } else if let Some(name) = variant_name(variant) {
                self.walk(place, &format!("{place}|{name}"), variant);
            } else {
                self.variants(parent, place, variant);
            }
        }
    }
}

/// What tells a variant from the others: its tag, the type it refers to, its title, or its type.
fn variant_name(variant: &Value) -> Option<String> {
    let properties = variant["properties"].as_object();
    let tag = properties
        .into_iter()
        .flatten()
        .find_map(|(name, property)| property["const"].as_str().map(|tag| format!("{name}={tag}")));
    tag.or_else(|| reference(variant))
        .or_else(|| variant["title"].as_str().map(str::to_owned))
        .or_else(|| kinds(variant).first().map(|kind| (*kind).to_owned()))
}

/// The definition that a schema refers to, plainly or as the only part of an `allOf`.
fn reference(schema: &Value) -> Option<String> {
    let target = match list(schema, "allOf") {
        [part] => part["$ref"].as_str(),
        _ => schema["$ref"].as_str(),
    };
    target.and_then(|path| path.rsplit('/').next()).map(str::to_owned)
}

fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn list<'a>(schema: &'a Value, key: &str) -> &'a [Value] {
    schema[key].as_array().map_or(&[], Vec::as_slice)
}
