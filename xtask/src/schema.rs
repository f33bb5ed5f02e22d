//! `cargo xtask schema [FILE]`: the types of accord-protocol against an official schema file.

mod facts;

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use crate::cargo::{cargo, output, root};
use facts::{Fact, facts};

/// Where the copy of the official schema lies.
const OFFICIAL: &str = "conformance/schema/v1/schema.json";

/// Compares and prints what is missing or different; additions of ours are counted, not held against us.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let file = match arguments {
        [] => root().join(OFFICIAL),
        [file] => file.into(),
        _ => return Err("usage: cargo xtask schema [FILE]".into()),
    };
    let official = read(&file)?;
    let ours = output(cargo().args([
        "run",
        "--quiet",
        "--package=accord-protocol",
        "--features=schemars",
        "--example=schema",
    ]))?;
    let ours =
        serde_json::from_str(&ours).map_err(|error| format!("the example printed no schema: {error}"))?;
    let comparison = compare(&official, &ours);
    comparison.print();
    if comparison.differences.is_empty() {
        Ok(())
    } else {
        Err(format!("{} differences from {}", comparison.differences.len(), file.display()))
    }
}

fn read(file: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}

/// What two schemas agree and differ on.
struct Comparison {
    definitions: usize,
    agreed: usize,
    differences: Vec<Difference>,
    /// Places that only our schema has; what is inside them is not listed.
    additions: Vec<String>,
}

/// One place where they differ: what each side says about one thing.
#[derive(Debug, PartialEq, PartialOrd, Eq, Ord)]
struct Difference {
    place: String,
    what: &'static str,
    official: String,
    ours: String,
}

/// Everything the official schema says must be said by ours. Ours may have more definitions, properties and variants,
/// and its enums and unions may be open where the official ones are closed; anything else it adds is a difference.
fn compare(official: &Value, ours: &Value) -> Comparison {
    let (official_facts, our_facts) = (facts(official), facts(ours));
    let places: BTreeSet<&str> = official_facts.iter().map(|fact| &*fact.place).collect();
    let mut additions: Vec<String> = Vec::new();
    let mut found: BTreeSet<&Fact> = official_facts.difference(&our_facts).collect();
    for fact in our_facts.difference(&official_facts) {
        let known = places.contains(&*fact.place);
        let required_beside_known = fact.what == "required" && places.contains(&*fact.parent);
        match fact.what {
            "is there" if !known && (fact.parent.is_empty() || places.contains(&*fact.parent)) => {
                additions.push(fact.place.clone());
            }
            "open" => {}
            "value" if known => additions.push(format!("{} = {}", fact.place, fact.value)),
            _ if known || required_beside_known => {
                found.insert(fact);
            }
            _ => {}
        }
    }
    let mut differences: Vec<Difference> = Vec::new();
    for fact in found {
        let said = |facts: &BTreeSet<Fact>| {
            let values: Vec<&str> = facts
                .iter()
                .filter(|other| other.place == fact.place && other.what == fact.what)
                .filter(|other| fact.what != "value" || other.value == fact.value)
                .map(|other| &*other.value)
                .collect();
            values.join(", ")
        };
        let (official, ours) = (said(&official_facts), said(&our_facts));
        differences.push(Difference { place: fact.place.clone(), what: fact.what, official, ours });
    }
    differences.sort();
    differences.dedup();
    additions.sort();
    Comparison {
        definitions: official["$defs"].as_object().map_or(0, serde_json::Map::len),
        agreed: official_facts.intersection(&our_facts).count(),
        differences,
        additions,
    }
}

impl Comparison {
    fn print(&self) {
        if !self.differences.is_empty() {
            println!("| where | what | official | ours |");
            println!("| --- | --- | --- | --- |");
            for Difference { place, what, official, ours } in &self.differences {
                let say = |text: &str| if text.is_empty() { "—".to_owned() } else { text.to_owned() };
                println!("| {place} | {what} | {} | {} |", say(official), say(ours));
            }
            println!();
        }
        let Self { definitions, agreed, additions, .. } = self;
        println!(
            "{definitions} definitions, {agreed} facts agree; {} places are only ours:",
            additions.len()
        );
        println!("  {}", additions.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn official() -> Value {
        read(&root().join(OFFICIAL)).expect("the copy of the schema")
    }

    /// The differences which one change to the official schema makes.
    fn after(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut newer = official();
        change(&mut newer["$defs"]);
        let rows = compare(&newer, &official()).differences;
        rows.into_iter().map(|row| format!("{}: {} {}", row.place, row.what, row.official)).collect()
    }

    #[test]
    fn the_same_schema_has_no_differences() {
        assert_eq!(after(|_| {}), [""; 0]);
    }

    #[test]
    fn one_added_thing_is_found() {
        let added = after(|defs| {
            defs["ToolCall"]["properties"]["colour"] = serde_json::json!({ "type": "string" });
        });
        assert_eq!(added, ["ToolCall.colour: is there yes", "ToolCall.colour: type string"]);
        let added = after(|defs| {
            let kinds = defs["ToolKind"]["oneOf"].as_array_mut().expect("variants");
            kinds.push(serde_json::json!({ "type": "string", "const": "dream" }));
        });
        assert_eq!(added, ["ToolKind: value \"dream\""]);
        let added = after(|defs| {
            defs["ToolCall"]["required"].as_array_mut().expect("names").push("kind".into());
        });
        assert_eq!(added, ["ToolCall.kind: required yes"]);
        let added = after(|defs| {
            defs["ToolCall"]["properties"]["title"]["x-deserialize-default-on-error"] = true.into();
        });
        assert_eq!(added, ["ToolCall.title: mark x-deserialize-default-on-error"]);
        let added = after(|defs| {
            defs["Dream"] = serde_json::json!({ "type": "object" });
        });
        assert_eq!(added, ["Dream: is there yes", "Dream: type object"]);
    }

    #[test]
    fn one_changed_or_removed_thing_is_found() {
        let changed = after(|defs| {
            defs["AuthCapabilities"]["properties"]["terminal"]["default"] = true.into();
        });
        assert_eq!(changed, ["AuthCapabilities.terminal: default true"]);
        let removed = after(|defs| {
            defs["ToolCall"]["properties"]["kind"]
                .as_object_mut()
                .expect("marks")
                .remove("x-deserialize-default-on-error");
        });
        assert_eq!(removed, ["ToolCall.kind: mark "], "we are lenient where the schema is strict");
        let removed = after(|defs| {
            defs["ToolCall"]["required"].as_array_mut().expect("names").pop();
        });
        assert_eq!(removed, ["ToolCall.title: required "], "we insist on what the schema does not");
    }

    #[test]
    fn additions_of_ours_are_no_differences() {
        let added = after(|defs| {
            defs["ToolCall"]["properties"].as_object_mut().expect("properties").remove("locations");
            defs["ToolKind"]["oneOf"].as_array_mut().expect("variants").pop();
        });
        assert_eq!(added, [""; 0]);
    }
}
