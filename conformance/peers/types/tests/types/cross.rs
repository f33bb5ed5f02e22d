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

/// What we lose of what they keep are members that only a child session's unknown stop reason may have.
#[test]
fn good_values_cross_both_ways() {
    let schemas = schemas();
    for (name, ours, theirs) in TYPES {
        for seed in 0..200 {
            let value = Generator::random(schema_of(&schemas, name), seed).definition(name);
            // The draft schema has plans that are files; the crate has dropped them.
            if name.starts_with("PlanUpdate") && value.to_string().contains(r#""type":"file""#) {
                continue;
            }
            let (Ok(we_wrote), Ok(they_wrote)) = (ours(&value), theirs(&value)) else {
                panic!("{name} {seed}: ours {:?}, theirs {:?}: {value}", ours(&value), theirs(&value));
            };
            let crossed = theirs(&we_wrote).unwrap_or_else(|error| panic!("{name}: {error}: {we_wrote}"));
            let lost = differences(&they_wrote, &crossed);
            assert!(lost.iter().all(|lost| lost.contains(".key")), "{name} {seed}: {lost:?}: {value}");
            let back = ours(&they_wrote).unwrap_or_else(|error| panic!("{name}: {error}: {they_wrote}"));
            assert_eq!(differences(&crossed, &back), [""; 0], "{name} {seed}: {value}");
        }
    }
}

/// A damaged value is taken by both or refused by both, and means the same to both, but for [`excused`] verdicts.
#[test]
fn damaged_values_are_judged_alike() {
    let schemas = schemas();
    let (mut judged, mut excuses) = (0, BTreeMap::new());
    for (name, ours, theirs) in TYPES {
        for seed in 0..600 {
            let mut value = Generator::random(schema_of(&schemas, name), seed % 50).definition(name);
            mutate(&mut value, seed * 31 + seed / 50);
            judged += 1;
            let verdict = match (ours(&value), theirs(&value)) {
                (Err(_), Err(_)) => continue,
                (Ok(_), Err(error)) => Verdict::OnlyOurs(error.to_string()),
                (Err(error), Ok(_)) => Verdict::OnlyTheirs(error.to_string()),
                (Ok(we_wrote), Ok(they_wrote)) => match theirs(&we_wrote) {
                    Ok(crossed) if differences(&they_wrote, &crossed).is_empty() => continue,
                    Ok(crossed) => Verdict::Differs(differences(&they_wrote, &crossed).join(" ")),
                    Err(error) => Verdict::Unreadable(error.to_string()),
                },
            };
            match excused(name, &value, &verdict) {
                Some(excuse) => *excuses.entry(excuse).or_insert(0) += 1,
                None => panic!("{name} {seed}: {verdict:?}: {value}"),
            }
        }
    }
    println!("{judged} values judged; {excuses:?}");
}

#[derive(Debug)]
enum Verdict {
    OnlyOurs(String),
    OnlyTheirs(String),
    Differs(String),
    Unreadable(String),
}

/// Why the two crates may differ on a value.
fn excused(name: &str, value: &Value, verdict: &Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::OnlyOurs(error)
            if error.contains("unknown variant") || error.contains("did not match any variant") =>
        {
            Some("a variant unknown to both, which only we keep")
        }
        Verdict::OnlyOurs(_) if name == "Error" => Some("an error object without a message"),
        Verdict::OnlyTheirs(error) if error.contains("sequence, expected an object") => {
            Some("an array in place of an object, which their derived code reads")
        }
        Verdict::Differs(_) if value.to_string().contains("[{}]") => {
            Some("an array in place of a lenient object, which their derived code reads")
        }
        Verdict::Differs(lost) if lost.contains("authMethods") => {
            Some("an authentication method whose type is no text")
        }
        Verdict::Differs(lost) if value.to_string().contains("stopReason") && lost.contains("key") => {
            Some("members of a child session's unknown stop reason")
        }
        _ => None,
    }
}
