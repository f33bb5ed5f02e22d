//! Defects of clients: how the subject client is spoiled, and the tables.

mod answers;
mod lines;
mod requests;
mod survival;

use crate::judge::spoiler;
use crate::table::Defect;

/// Checks that no defect can trip, and why.
pub(crate) const SPARED: &[(&str, &str)] = &[];

/// Every row.
pub(crate) fn all() -> Vec<&'static Defect> {
    [lines::DEFECTS, requests::DEFECTS, answers::DEFECTS, survival::DEFECTS].into_iter().flatten().collect()
}

/// The kit's arguments for the subject client with one defect.
pub(crate) fn words(defect: &Defect) -> Vec<String> {
    let mut words = vec!["--interrupt".to_owned()];
    if !defect.flags.iter().any(|flag| flag.starts_with("--timeout")) {
        words.push("--timeout=40".into());
    }
    for (way, prompt, more) in [
        ("list", HELLO, &[][..]),
        ("load", HELLO, &[]),
        ("wait", HELLO, WAIT),
        ("command", "/accord run it", &[]),
    ] {
        let line: Vec<String> =
            command(defect, prompt, more).iter().map(|word| format!("'{word}'")).collect();
        words.extend([format!("--to-{way}"), line.join(" ")]);
    }
    words.push("--".into());
    words.extend(command(defect, HELLO, &[]));
    words
}

/// Questions are left open.
const WAIT: &[&str] = &["--permission", "wait"];
/// An ordinary prompt.
const HELLO: &str = "hello";

fn command(defect: &Defect, prompt: &str, more: &[&str]) -> Vec<String> {
    let mut command = spoiler("client", defect);
    let wrapper = [command[0].clone(), "wrap".into(), defect.id.into()];
    let client = [env!("CARGO_BIN_EXE_accord-subject-client"), "--timeout", "60", "--prompt", prompt];
    let mut words: Vec<String> = wrapper.into_iter().chain(client.map(str::to_owned)).collect();
    words.extend(more.iter().chain(defect.args).map(|arg| (*arg).to_owned()));
    words.push("--".into());
    words.append(&mut command);
    words.push("{AGENT}".into());
    words
}
