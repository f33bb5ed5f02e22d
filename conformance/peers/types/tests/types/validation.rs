//! The JSON Schema made from the types against the official one: each validates what the other does.

use std::{collections::BTreeMap, fs, path::Path};

use accord_protocol::v1::{AgentNotification, AgentRequest, ClientNotification, ClientRequest};
use jsonschema::Validator;
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

use crate::{
    generate::Generator,
    registry::{TYPES, describe},
};

/// What newer official crates have and the schema file has not.
const NEWER: [&str; 6] =
    ["plan_update", "plan_removed", "subagent_update", "session_message", "session_message_chunk", "session"];

fn official() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/v1/schema.json");
    serde_json::from_str(&fs::read_to_string(file).expect("the schema")).expect("JSON")
}

fn ours() -> Value {
    let mut generator: SchemaGenerator = SchemaSettings::draft2020_12().into_generator();
    describe(&mut generator);
    json!({ "$defs": generator.take_definitions(true) })
}

/// One validator for each definition.
fn validators(schema: &Value) -> BTreeMap<String, Validator> {
    TYPES
        .iter()
        .filter(|(name, ..)| schema["$defs"][*name].is_object())
        .map(|(name, ..)| {
            let mut root = json!({ "$defs": schema["$defs"] });
            root["$ref"] = format!("#/$defs/{name}").into();
            let validator = jsonschema::draft202012::new(&root).expect("a schema");
            ((*name).to_owned(), validator)
        })
        .collect()
}

#[test]
fn what_the_official_schema_allows_ours_allows() {
    let official = official();
    let ours = validators(&ours());
    for (name, theirs) in validators(&official) {
        for seed in 0..20 {
            let value = Generator::random(&official, seed).definition(&name);
            assert!(theirs.is_valid(&value), "{name} {seed}: the generator is wrong: {value}");
            assert!(ours[&name].is_valid(&value), "{name} {seed}: {value}");
        }
    }
}

#[test]
fn what_our_schema_allows_the_official_allows() {
    let official = official();
    let mut narrowed = ours();
    narrow(&mut narrowed["$defs"], &official["$defs"]);
    let theirs = validators(&official);
    let ours = validators(&narrowed);
    for (name, theirs) in &theirs {
        for seed in 0..20 {
            let value = Generator::random(&narrowed, seed).definition(name);
            assert!(ours[name].is_valid(&value), "{name} {seed}: the generator is wrong: {value}");
            assert!(theirs.is_valid(&value), "{name} {seed}: {value}");
        }
    }
}

/// Takes out what is ours alone: the variants that keep the unknown, and what is newer than the file.
fn narrow(ours: &mut Value, official: &Value) {
    for (name, definition) in ours.as_object_mut().expect("definitions") {
        if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|property, _| official[name]["properties"].get(property).is_some());
        }
        let open = ["anyOf", "oneOf"].iter().filter_map(|key| official[name][*key].as_array()).flatten();
        // An elicitation of an unknown mode must name its scope there; here it is kept whatever it has.
        let open =
            name != "CreateElicitationRequest" && open.into_iter().any(|variant| variant["title"] == "other");
        for key in ["anyOf", "oneOf"] {
            if let Some(variants) = definition.get_mut(key).and_then(Value::as_array_mut) {
                variants.retain(|variant| (open || variant["title"] != "other") && !newer(variant));
            }
        }
    }
}

fn newer(variant: &Value) -> bool {
    let properties = variant["properties"].as_object();
    properties.into_iter().flatten().any(|(_, property)| NEWER.iter().any(|tag| property["const"] == *tag))
}

/// A frame with a variant unknown to both is valid to our schema only, so that is left out here.
#[test]
fn recorded_frames_are_judged_alike() {
    let official = official();
    let mut narrowed = ours();
    narrow(&mut narrowed["$defs"], &official["$defs"]);
    let (theirs, ours) = (validators(&official), validators(&narrowed));
    let frames =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../crates/accord-protocol/tests/data/frames.jsonl");
    let (mut valid, mut invalid) = (0, 0);
    let mut calls: BTreeMap<String, &str> = BTreeMap::new();
    for line in fs::read_to_string(frames).expect("the sample").lines() {
        let frame = &serde_json::from_str::<Value>(line).expect("JSON")["frame"];
        let (name, value) = match frame["method"].as_str() {
            Some(method) => {
                let Some((params, answer)) = types_of(method) else { continue };
                calls.insert(frame["id"].to_string(), answer);
                (params, &frame["params"])
            }
            None if frame["result"].is_object() => (calls[&frame["id"].to_string()], &frame["result"]),
            None => continue,
        };
        let verdict = theirs[name].is_valid(value);
        assert_eq!(ours[name].is_valid(value), verdict, "{name}: {value}");
        *(if verdict { &mut valid } else { &mut invalid }) += 1;
    }
    println!("{valid} valid frames, {invalid} invalid ones");
    assert!(valid > 100 && invalid > 2, "{valid} {invalid}");
}

/// The names of a method's params and answer.
fn types_of(method: &str) -> Option<(&'static str, &'static str)> {
    let calls = [ClientRequest::METHODS, AgentRequest::METHODS].concat();
    let notes = [ClientNotification::METHODS, AgentNotification::METHODS].concat();
    let call =
        calls.into_iter().find(|(name, ..)| *name == method).map(|(_, params, answer)| (params, answer));
    call.or_else(|| notes.into_iter().find(|(name, _)| *name == method).map(|(_, params)| (params, "")))
}
