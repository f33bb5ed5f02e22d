//! Tests made from the official schema: each mark, each word, and random values.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    compare::differences,
    generate::Generator,
    registry::{NAMES, again},
};

/// The definitions that are not read alone: the messages around params and answers, and an error's code.
const MESSAGES: [&str; 9] = [
    "AgentRequest",
    "AgentResponse",
    "AgentNotification",
    "ClientRequest",
    "ClientResponse",
    "ClientNotification",
    "ExtRequest",
    "ExtNotification",
    "ErrorCode",
];

/// The copy of the official schema in the workspace; a copy of the crate alone has none.
fn official() -> Option<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/schema/v1/schema.json");
    let Ok(text) = fs::read_to_string(&file) else {
        println!("skipped: there is no official schema here");
        return None;
    };
    Some(serde_json::from_str(&text).expect("the schema is JSON"))
}

#[test]
fn every_definition_has_its_type() {
    let Some(schema) = official() else { return };
    let definitions = schema["$defs"].as_object().expect("definitions");
    let missing: Vec<_> = definitions
        .keys()
        .filter(|name| !NAMES.contains(&&***name) && !MESSAGES.contains(&&***name))
        .collect();
    assert_eq!(missing, [&""; 0]);
    assert_eq!(definitions.len(), 178);
}

#[test]
fn values_made_from_the_schema_round_trip() {
    let Some(schema) = official() else { return };
    for name in
        schema["$defs"].as_object().expect("definitions").keys().filter(|name| NAMES.contains(&&***name))
    {
        for seed in 0..300 {
            let value = Generator::random(&schema, seed).definition(name);
            match again(name, &value) {
                Ok(written) => assert_eq!(differences(&value, &written), [""; 0], "{name} {seed}: {value}"),
                Err(error) => panic!("{name} {seed}: {error}: {value}"),
            }
        }
    }
}

#[test]
fn words_are_known_and_unknown_ones_kept() {
    let Some(schema) = official() else { return };
    let mut words = 0;
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        let variants = ["oneOf", "anyOf"].iter().filter_map(|key| definition[key].as_array()).flatten();
        let known: Vec<&Value> =
            variants.filter_map(|variant| variant.get("const")).filter(|word| word.is_string()).collect();
        for word in &known {
            assert_eq!(again(name, word).expect("it reads"), **word);
            words += 1;
        }
        if !known.is_empty() {
            for word in [json!("_mine"), json!("of_a_newer_protocol"), json!("")] {
                assert_eq!(again(name, &word).expect("it reads"), word, "{name}");
            }
            assert!(again(name, &json!(3)).is_err(), "{name} is text");
        }
    }
    assert!(words > 45, "{words}");
}

#[test]
fn each_property_is_as_strict_as_its_marks_say() {
    let Some(schema) = official() else { return };
    let mut checked = 0;
    for (name, definition) in schema["$defs"].as_object().expect("definitions") {
        if !NAMES.contains(&&**name) || name == "Error" {
            continue;
        }
        let minimal = Generator::minimal(&schema).definition(name);
        again(name, &minimal).unwrap_or_else(|error| panic!("{name}: {error}: {minimal}"));
        for (property, marks) in definition["properties"].as_object().into_iter().flatten() {
            let required =
                definition["required"].as_array().is_some_and(|names| names.contains(&json!(property)));
            Case { schema: &schema, name, property, marks, minimal: &minimal, required }.check();
            checked += 1;
        }
    }
    assert!(checked > 400, "{checked}");
}

/// One property of one type, to be given all sorts of values.
struct Case<'a> {
    schema: &'a Value,
    name: &'a str,
    property: &'a str,
    marks: &'a Value,
    minimal: &'a Value,
    required: bool,
}

impl Case<'_> {
    fn check(&self) {
        let lenient = self.marks["x-deserialize-default-on-error"] == true;
        let nullable = self.marks["x-deserialize-default-on-null"] == true;
        if self.required {
            let mut without = self.minimal.clone();
            without.as_object_mut().expect("an object").remove(self.property);
            assert!(again(self.name, &without).is_err(), "{} must be there", self.place());
        }
        let good = Generator::minimal(self.schema).value(self.marks, 0);
        let left = self.given(&good).expect("good values read").expect("and stay");
        assert_eq!(differences(&good, &left), [""; 0], "{}", self.place());

        for bad in self.bad() {
            match self.given(&bad) {
                Ok(left) if lenient => {
                    let empty = if self.required { Some(json!([])) } else { None };
                    assert_eq!(left, empty, "{} drops {bad}", self.place());
                }
                Ok(left) => panic!("{} took {bad} as {left:?}", self.place()),
                Err(error) => assert!(!lenient, "{} is lenient: {error}: {bad}", self.place()),
            }
        }
        match self.given(&Value::Null) {
            Ok(left) if self.allows("null") => assert_eq!(left, Some(Value::Null), "{}", self.place()),
            Ok(_) => assert!(lenient || nullable || self.allows_anything(), "{} took null", self.place()),
            Err(error) => {
                assert!(
                    !lenient && !nullable && !self.allows("null"),
                    "{} takes null: {error}",
                    self.place()
                );
            }
        }
        if self.marks["x-deserialize-skip-invalid-items"] == true {
            let item = Generator::minimal(self.schema).value(&self.marks["items"], 0);
            let left =
                self.given(&json!([item, { "\u{0}": 1 }, 7.5, item, [[]]])).expect("items are skipped");
            assert_eq!(left, Some(json!([item, item])), "{}", self.place());
        }
    }

    /// What is left of the value in the property once it was read and written.
    fn given(&self, value: &Value) -> Result<Option<Value>, serde_json::Error> {
        let mut object = self.minimal.clone();
        object[self.property] = value.clone();
        Ok(again(self.name, &object)?.get(self.property).cloned())
    }

    /// Values of every JSON type that the property is not of.
    fn bad(&self) -> Vec<Value> {
        if self.allows_anything() {
            return Vec::new();
        }
        let all = [
            ("string", json!("\u{1}")),
            ("integer", json!(-7.25)),
            ("boolean", json!(true)),
            ("array", json!([[]])),
            ("array", json!([{ "a": "b" }])),
            ("object", json!({ "\u{0}": [1] })),
        ];
        let number = self.allows("number");
        all.into_iter()
            .filter(|(kind, _)| !(self.allows(kind) || number && *kind == "integer"))
            .map(|(_, value)| value)
            .collect()
    }

    fn allows(&self, kind: &str) -> bool {
        self.kinds(self.marks).iter().any(|allowed| allowed == kind)
    }

    fn allows_anything(&self) -> bool {
        self.kinds(self.marks).is_empty()
    }

    /// The JSON types that a schema allows.
    fn kinds(&self, schema: &Value) -> Vec<String> {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return self.kinds(&self.schema["$defs"][name]);
        }
        let own = match &schema["type"] {
            Value::String(kind) => vec![kind.clone()],
            Value::Array(kinds) => kinds.iter().filter_map(|kind| kind.as_str().map(str::to_owned)).collect(),
            _ => Vec::new(),
        };
        let parts = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten();
        own.into_iter().chain(parts.flat_map(|part| self.kinds(part))).collect()
    }

    fn place(&self) -> String {
        format!("{}.{}", self.name, self.property)
    }
}
