//! The ids there are: rows of behaviour, named tests, requirements, and cases from the field.

use std::{fs, path::Path};

use serde_json::Value;

/// Something that a test can show.
#[derive(Debug)]
pub(crate) struct Requirement {
    pub(crate) id: String,
    /// The heading it stands under.
    pub(crate) group: String,
    /// What it demands, in one line.
    pub(crate) text: String,
}

/// The table of the conformance kit: one JSON object a line.
const REQUIREMENTS: &str = "conformance/requirements.jsonl";
/// Rows of behaviour, named tests and field cases: `id`, a tab, what it is.
const ROWS: &str = "docs/rows.tsv";

/// All of them, in the order of the page.
pub(crate) fn all(root: &Path) -> Result<Vec<Requirement>, String> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"));
    let mut all: Vec<Requirement> = read(ROWS)?.lines().filter_map(row).collect();
    for line in read(REQUIREMENTS)?.lines() {
        all.push(requirement(line).ok_or_else(|| format!("{REQUIREMENTS}: not a requirement: {line}"))?);
    }
    Ok(all)
}

fn row(line: &str) -> Option<Requirement> {
    let (id, text) = line.split_once('\t')?;
    let group = match id.as_bytes().first()? {
        b'E' => "Rows E: the client's runner",
        b'D' => "Rows D: automation control",
        b'H' => "Rows H: blocking agents",
        b'X' => "Rows X: beyond",
        b'T' => "Named tests of the wire",
        _ => "Cases from the field",
    };
    Some(Requirement { id: id.to_owned(), group: group.to_owned(), text: text.to_owned() })
}

fn requirement(line: &str) -> Option<Requirement> {
    let value: Value = serde_json::from_str(line).ok()?;
    let member = |name: &str| value[name].as_str().map(|text| text.replace('|', "\\|"));
    let (side, tier) = (member("side")?, member("tier")?);
    let group = format!(
        "Requirements of {}, {tier}",
        if side == "both" { "both sides".into() } else { format!("the {side}") }
    );
    Some(Requirement { id: member("id")?, group, text: member("text")? })
}
