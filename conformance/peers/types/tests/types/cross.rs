//! The two crates on the same values: good ones, and damaged ones.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::{compare::differences, generate::Generator, mutate::mutate, registry::TYPES};

/// The schema that knows a definition: the stable one, or the draft for what the official crate counts as stable already.
fn schemas() -> [Value; 2] {
    ["schema.json", "schema.unstable.json"].map(|name| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/v1").join(name);
        serde_json::from_str(&fs::read_to_string(file).expect("the schema")).expect("JSON")
    })
}

fn schema_of<'a>(schemas: &'a [Value; 2], name: &str) -> &'a Value {
    let [stable, draft] = schemas;
    if stable["$defs"][name].is_object() { stable } else { draft }
}

#[test]
fn good_values_cross_both_ways() {
    let schemas = schemas();
    for (name, ours, theirs) in TYPES {
        for seed in 0..200 {
            let value = Generator::random(schema_of(&schemas, name), seed).definition(name);
            let (Ok(we_wrote), Ok(they_wrote)) = (ours(&value), theirs(&value)) else {
                panic!("{name} {seed}: ours {:?}, theirs {:?}: {value}", ours(&value), theirs(&value));
            };
            let crossed = theirs(&we_wrote).unwrap_or_else(|error| panic!("{name}: {error}: {we_wrote}"));
            assert_eq!(differences(&they_wrote, &crossed), [""; 0], "{name} {seed}: {value}");
            let back = ours(&they_wrote).unwrap_or_else(|error| panic!("{name}: {error}: {they_wrote}"));
            assert_eq!(differences(&they_wrote, &back), [""; 0], "{name} {seed}: {value}");
        }
    }
}

/// A damaged value is taken by both or refused by both, and means the same to both; the exceptions are counted by type.
#[test]
fn damaged_values_are_judged_alike() {
    let schemas = schemas();
    let mut verdicts: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut judged = 0;
    for (name, ours, theirs) in TYPES {
        for seed in 0..600 {
            let mut value = Generator::random(schema_of(&schemas, name), seed % 50).definition(name);
            mutate(&mut value, seed * 31 + seed / 50);
            judged += 1;
            let verdict = match (ours(&value), theirs(&value)) {
                (Err(_), Err(_)) => continue,
                (Ok(_), Err(error)) => format!("{name}: only we take it: {error}"),
                (Err(error), Ok(_)) => format!("{name}: only they take it: {error}"),
                (Ok(we_wrote), Ok(they_wrote)) => match theirs(&we_wrote) {
                    Ok(crossed) if differences(&they_wrote, &crossed).is_empty() => continue,
                    Ok(crossed) => format!("{name}: differs: {}", differences(&they_wrote, &crossed).join(" ")),
                    Err(error) => format!("{name}: they refuse what we wrote: {error}"),
                },
            };
            let verdict = verdict.split(" at line").next().unwrap_or(&verdict).to_owned();
            verdicts.entry(verdict).or_insert((0, value.to_string())).0 += 1;
        }
    }
    println!("{judged} values judged");
    for (verdict, (count, example)) in &verdicts {
        println!("{count} {verdict}: {}", example.chars().take(300).collect::<String>());
    }
}
