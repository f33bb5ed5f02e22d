//! `cargo xtask coverage`: which test shows which requirement, written to `docs/coverage.md`.
//!
//! A test cites what it shows by its id, in a comment or in its name. What no test cites must stand, with the reason, in
//! `docs/not-covered.md`; `--check` fails when a page is out of date or an id is neither covered nor excused.

mod cited;
mod ids;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use self::{cited::Place, ids::Requirement};
use crate::cargo::root;

const PAGE: &str = "docs/coverage.md";
const EXCUSES: &str = "docs/not-covered.md";
/// What the conformance kit cannot see from outside, and why; some of it other tests show all the same.
const UNSEEN: &str = "conformance/unseen.toml";

/// Writes the page, or with `--check` compares it.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: cargo xtask coverage [--check]".into()),
    };
    let requirements = ids::all(&root())?;
    let known: BTreeSet<&str> = requirements.iter().map(|requirement| requirement.id.as_str()).collect();
    let places = cited::everywhere(&known)?;
    let read = |name: &str| fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"));
    let excuses = excuses(&read(EXCUSES)?);
    let mut reasons = unseen(&read(UNSEEN)?);
    reasons.extend(excuses.clone());
    let page = page(&requirements, &places, &reasons);
    let open: Vec<&str> = requirements
        .iter()
        .map(|requirement| requirement.id.as_str())
        .filter(|id| !places.contains_key(*id) && !reasons.contains_key(*id))
        .collect();
    let stale: Vec<&str> = excuses
        .keys()
        .map(String::as_str)
        .filter(|id| places.contains_key(*id) || !known.contains(id))
        .collect();
    println!("{}", told(&requirements, &places, &excuses, &open));
    if !stale.is_empty() {
        return Err(format!("{EXCUSES} excuses what is covered or unknown: {}", stale.join(" ")));
    }
    if check {
        up_to_date(&root().join(PAGE), &page)?;
    } else {
        fs::write(root().join(PAGE), page).map_err(|error| format!("{PAGE}: {error}"))?;
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("neither covered nor excused in {EXCUSES}: {}", open.join(" ")))
    }
}

/// How many ids there are, and what becomes of each.
fn told(
    requirements: &[Requirement],
    places: &BTreeMap<String, Vec<Place>>,
    excuses: &BTreeMap<String, String>,
    open: &[&str],
) -> String {
    let with_reason = requirements.iter().filter(|each| excuses.contains_key(&each.id)).count();
    let unseen = requirements.len() - places.len() - with_reason - open.len();
    format!(
        "{} ids: {} cited by tests, {with_reason} excused, {unseen} not to be seen from outside ({UNSEEN}), {} open",
        requirements.len(),
        places.len(),
        open.len()
    )
}

fn up_to_date(path: &Path, page: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|text| text == page) {
        return Ok(());
    }
    Err(format!("{PAGE} is out of date: run `cargo xtask coverage`"))
}

/// The rows `| id … | reason |` of a table; a cell may name several ids, separated by spaces.
fn excuses(text: &str) -> BTreeMap<String, String> {
    let mut excuses = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let (Some(ids), Some(reason)) = (cells.next(), cells.next()) else { continue };
        if ids == "id" || ids.starts_with('-') {
            continue;
        }
        excuses.extend(ids.split_whitespace().map(|id| (id.to_owned(), reason.to_owned())));
    }
    excuses
}

/// The lines `ID = "reason"`.
fn unseen(text: &str) -> BTreeMap<String, String> {
    let entry = |line: &str| {
        let (id, reason) = line.split_once(" = ")?;
        Some((id.to_owned(), reason.trim_matches('"').to_owned()))
    };
    text.lines().filter(|line| line.starts_with("ACP")).filter_map(entry).collect()
}

fn page(
    requirements: &[Requirement],
    places: &BTreeMap<String, Vec<Place>>,
    excuses: &BTreeMap<String, String>,
) -> String {
    let mut page = String::from(
        "# Coverage\n\nWhich test shows which requirement. Written by `cargo xtask coverage`; do not edit.\n\
         What no test shows has its reason, from [not-covered.md](not-covered.md).\n",
    );
    let mut group = "";
    for requirement in requirements {
        if requirement.group != group {
            group = &requirement.group;
            let _ = write!(page, "\n## {group}\n\n| id | what | shown by |\n| --- | --- | --- |\n");
        }
        let shown = match (places.get(&requirement.id), excuses.get(&requirement.id)) {
            (Some(places), _) => places.iter().map(ToString::to_string).collect::<Vec<_>>().join("<br>"),
            (None, Some(reason)) => format!("*not covered*: {reason}"),
            (None, None) => "**not covered**".to_owned(),
        };
        let _ = writeln!(page, "| {} | {} | {shown} |", requirement.id, requirement.text);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_may_name_several_ids() {
        let excuses = excuses("| id | reason |\n| --- | --- |\n| A-1 A-2 | cannot be seen |\n");
        assert_eq!(excuses.len(), 2);
        assert_eq!(excuses["A-2"], "cannot be seen");
    }

    #[test]
    fn the_page_says_what_is_open() {
        let requirement =
            |id: &str| Requirement { id: id.into(), group: "Rows E".into(), text: "words".into() };
        let page =
            page(&[requirement("E1"), requirement("E2")], &BTreeMap::new(), &excuses("| E2 | later |"));
        assert!(page.contains("| E1 | words | **not covered** |"), "{page}");
        assert!(page.contains("| E2 | words | *not covered*: later |"), "{page}");
    }
}
