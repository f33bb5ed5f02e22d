//! Members of a message that its definition does not list: custom data belongs into `_meta`.

use serde_json::{Map, Value, json};

/// Paths of the members in `value` that the definition called `name` does not know.
pub(super) fn unknown(root: &Value, name: &str, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(root, &root["$defs"][name], value, "", &mut found);
    found
}

fn walk(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            let Some(known) = Known::of(root, schema, object) else { return };
            for (name, member) in object {
                let here = format!("{path}/{name}");
                match known.properties.get(name) {
                    // `_meta` is where anything goes.
                    _ if name == "_meta" => {}
                    Some(inner) => walk(root, inner, member, &here, found),
                    None if known.open => {}
                    None => found.push(here),
                }
            }
        }
        Value::Array(items) => {
            // A list may be of one kind or another (options, or groups of options): an item's members count as known in either.
            let mut kinds = Vec::new();
            item_schemas(root, schema, &mut kinds);
            let inner = json!({"anyOf": kinds});
            for (index, item) in items.iter().enumerate() {
                walk(root, &inner, item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// The members an object may have, over all parts of its schema that apply to it.
#[derive(Default)]
struct Known {
    properties: Map<String, Value>,
    /// The schema is a map of names the protocol does not choose (an environment, a form's fields).
    open: bool,
}

impl Known {
    /// `None` where the schema says nothing of members: any JSON is allowed there.
    fn of(root: &Value, schema: &Value, object: &Map<String, Value>) -> Option<Self> {
        let mut known = Self::default();
        known.gather(root, schema, object);
        (!known.properties.is_empty()).then_some(known)
    }

    fn gather(&mut self, root: &Value, schema: &Value, object: &Map<String, Value>) {
        let schema = resolve(root, schema);
        if let Some(properties) = schema["properties"].as_object() {
            self.properties.extend(properties.iter().map(|(name, inner)| (name.clone(), inner.clone())));
        }
        self.open |= schema["additionalProperties"].is_object();
        for part in list(&schema["allOf"]) {
            self.gather(root, part, object);
        }
        let variants = list(&schema["anyOf"]).chain(list(&schema["oneOf"]));
        for variant in variants.filter(|variant| applies(root, variant, object)) {
            self.gather(root, variant, object);
        }
    }
}

/// Whether the constants a variant asks for are those of the object: its tag decides.
fn applies(root: &Value, variant: &Value, object: &Map<String, Value>) -> bool {
    let variant = resolve(root, variant);
    let fits = |schema: &Value| {
        schema["properties"].as_object().is_none_or(|properties| {
            properties.iter().all(|(name, property)| {
                property["const"].is_null() || object.get(name) == Some(&property["const"])
            })
        })
    };
    fits(variant) && list(&variant["allOf"]).all(|part| fits(resolve(root, part)))
}

fn item_schemas(root: &Value, schema: &Value, kinds: &mut Vec<Value>) {
    let schema = resolve(root, schema);
    if schema["items"].is_object() {
        kinds.push(schema["items"].clone());
    }
    for part in ["allOf", "anyOf", "oneOf"] {
        for inner in list(&schema[part]) {
            item_schemas(root, inner, kinds);
        }
    }
}

fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    match schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        Some(name) => resolve(root, &root["$defs"][name]),
        None => schema,
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
