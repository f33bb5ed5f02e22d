//! The command line: what can't be run is told at once and with a hint, and what was stopped is reported.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fixtures::AGENT;

pub(crate) const KIT: &str = env!("CARGO_BIN_EXE_accord-conformance");

pub(crate) fn kit(args: &[&str]) -> Output {
    Command::new(KIT).args(args).output().expect("the kit is built")
}

/// What the kit complains of; it ends with status 2.
pub(crate) fn complaint(args: &[&str]) -> String {
    let ran = kit(args);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(ran.stdout.is_empty(), "{ran:?}");
    String::from_utf8(ran.stderr).expect("text")
}

#[test]
fn a_program_that_cannot_be_started_is_told_at_once() {
    for command in ["agent", "scenario"] {
        let told = complaint(&[command, "--", "/no/such"]);
        assert!(told.contains("/no/such can't be started: No such file"), "{told}");
    }
    let told = complaint(&["client", "--", "/no/such", "{AGENT}"]);
    assert!(told.contains("can't be started: No such file"), "{told}");
    let told = complaint(&["agent", "--cwd", "/no/such", "--", AGENT]);
    assert!(told.contains("--cwd: /no/such is no folder"), "{told}");
}

#[test]
fn a_program_that_says_nothing_is_not_put_through_every_check() {
    let told = complaint(&["agent", "--", "sh", "-c", "echo usage: it; echo broken >&2; exit 3"]);
    for part in ["ended without an answer to initialize (exit status: 3)", "usage: it", "broken"] {
        assert!(told.contains(part), "{told}");
    }
    // Its folder is not the one that the words mean.
    let told = complaint(&["agent", "--", "sh", "src/lib.rs"]);
    assert!(told.contains("src/lib.rs is here, and the program is started in a folder of its own"), "{told}");
    // Who asks for a check by its name gets it.
    let ran = kit(&["agent", "--only", "ACP-INIT-001", "--", "false"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
}

#[test]
fn a_slip_is_answered_with_what_was_meant() {
    assert!(complaint(&["agnet", "--", AGENT]).contains("no command agnet; did you mean agent?"));
    assert!(complaint(&["agent", "--tiemout", "3", "--", AGENT]).contains("did you mean --timeout?"));
    assert!(complaint(&["explain", "ACP-INIT-01"]).contains("did you mean ACP-INIT-001?"));
    let told = complaint(&["agent", "my-agent", "run"]);
    assert!(told.contains("accord-conformance agent [flags] -- my-agent run"), "{told}");
    assert!(complaint(&["agent"]).contains("which program?"));
}

// The witness watches it in what other checks exchange: they are named, and run with it.
#[test]
fn a_rule_without_a_check_of_its_own_is_run_with_one_that_shows_it() {
    let page = String::from_utf8(kit(&["explain", "ACPX-TOOL-002"]).stdout).expect("text");
    assert!(page.contains("ACPX-PERM-012 above all"), "{page}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let report = folder.path().join("report.json");
    let written = report.to_string_lossy();
    let flags = ["--only", "ACPX-TOOL-002", "--prompt-tool", "write {PATH} {TEXT}", "--json", &written];
    let ran = kit(&[&["agent"], &flags[..], &["--", AGENT, "--state-dir", "{STATE}"]].concat());
    assert!(ran.status.success(), "{ran:?}");
    let report: Value = serde_json::from_slice(&std::fs::read(&report).expect("written")).expect("JSON");
    let results = report["results"].as_array().expect("a list");
    let own = results.iter().find(|each| each["id"] == "ACPX-TOOL-002").expect("its verdict");
    assert_eq!(own["verdict"], "passed", "{own}");
}

#[test]
fn steps_that_were_not_reached_are_told_with_what_was_in_the_way() {
    let answer = r#"{"jsonrpc":"2.0","id":\1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#;
    let refusal = r#"{"jsonrpc":"2.0","id":\1,"error":{"code":-32601,"message":"no"}}"#;
    let script = format!(
        r#"s|^.*"id":([^,]*),.*"method":"initialize".*$|{answer}|;t;s|^.*"id":([^,]*),.*"method".*$|{refusal}|;t;d"#
    );
    let ran = kit(&["scenario", "--", "sed", "-u", "-E", &script]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let told = String::from_utf8(ran.stdout).expect("text");
    let reason = "not reached: run 1 got no further than “opens a session with an MCP server mounted”";
    assert_eq!(told.matches(reason).count(), 2, "a reason is told where it begins: {told}");
    for step in ["takes the session up, replaying nothing", "lists the session that was announced"] {
        let line = told.lines().find(|line| line.contains(step)).expect("the step is told");
        assert!(line.contains("inconclusive"), "{line}");
    }
}

// One set of words, wherever verdicts are told.
#[test]
fn every_report_and_help_explains_the_same_words() {
    let words = [
        "it was seen, and is as it should be",
        "it was seen, and is not as it should be",
        "it does not apply, since the program does not claim to do it",
        "it applies, and was not seen",
        "a failure is binding if",
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("report.html");
    let flags = ["agent", "--only", "ACP-INIT-001", "--html", &page.to_string_lossy(), "--", AGENT];
    let ran = kit(&[&flags[..], &["--state-dir", "{STATE}"]].concat());
    let told = String::from_utf8(ran.stdout).expect("text");
    assert!(told.contains("conforms to ACP v1: no binding failure"), "{told}");
    let page = std::fs::read_to_string(&page).expect("written");
    assert!(page.contains("onforms to ACP v1: no binding failure"), "{page}");
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guides/check-your-agent.md");
    let guide = std::fs::read_to_string(guide).expect("the guide is there");
    let unwrapped = guide.split_whitespace().collect::<Vec<_>>().join(" ");
    let helps = ["scenario", "agent", "client"]
        .map(|command| String::from_utf8(kit(&[command, "--help"]).stdout).expect("text"));
    for text in [&page, &unwrapped].into_iter().chain(&helps) {
        for word in words {
            assert!(text.contains(word), "{word} is not explained in: {text:.200}");
        }
    }
}

// A file of known failures is written, holds, and fails the run once one of its entries no longer holds.
#[test]
fn known_failures_are_written_down_and_held() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("known.toml");
    let path = file.to_string_lossy();
    // It answers initialize with an id of another type, and nothing else.
    let agent =
        r#"read -r line; echo '{"jsonrpc":"2.0","id":"0","result":{"protocolVersion":1}}'; cat > /dev/null"#;
    let run = |flags: &[&str], agent: &[&str]| {
        kit(&[&["agent", "--only", "ACP-INIT-001", "--timeout", "2"], flags, &["--"], agent].concat())
    };
    let wrong = ["sh", "-c", agent];
    assert_eq!(run(&["--write-known", &path], &wrong).status.code(), Some(1));
    let written = std::fs::read_to_string(&file).expect("written");
    assert!(written.contains("[[agent]]\nid = \"ACP-INIT-001\"\nverdict = \"failed\""), "{written}");
    let held = run(&["--known", &path], &wrong);
    let told = String::from_utf8(held.stdout).expect("text");
    assert_eq!(held.status.code(), Some(0), "{told}");
    assert!(told.contains("is as known: 1 listed"), "{told}");
    let mended = run(&["--known", &path], &[AGENT, "--state-dir", "{STATE}"]);
    let told = String::from_utf8(mended.stdout).expect("text");
    assert_eq!(mended.status.code(), Some(1), "{told}");
    assert!(told.contains("ACP-INIT-001 is listed, and is passed: remove the entry"), "{told}");
    // What somebody may have written reasons into is not written over.
    assert_eq!(run(&["--write-known", &path], &wrong).status.code(), Some(2));
}

// The page on other programs counts what the kit counts.
#[test]
fn the_verdicts_on_other_programs_add_up_to_what_is_checked() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/");
    let page = std::fs::read_to_string(format!("{docs}verdicts.md")).expect("the page is there");
    let programs = std::fs::read(format!("{docs}verdicts.json")).expect("the file is there");
    let programs: Vec<Value> = serde_json::from_slice(&programs).expect("JSON");
    for side in ["agent", "client"] {
        let list = String::from_utf8(kit(&["list", "--side", side]).stdout).expect("text");
        let sum = list.lines().last().expect("a sum");
        assert!(page.contains(sum), "docs/verdicts.md does not say: {sum}");
        let checked = list.lines().filter(|line| line.starts_with('✓')).count();
        for program in programs.iter().filter(|program| program["side"] == side) {
            let told = |verdict: &str| program[verdict].as_u64().expect("a count");
            let failed = |kind: &str| program[kind].as_array().expect("a list").len();
            let (binding, advisory) = (failed("binding"), failed("advisory"));
            let [passed, skipped, inconclusive] = ["passed", "skipped", "inconclusive"].map(told);
            let row = format!("| {passed} | {binding} / {advisory} | {skipped} | {inconclusive} |");
            assert!(page.contains(&row), "docs/verdicts.md has no row {row}");
            let seen = passed + skipped + inconclusive;
            assert_eq!(usize::try_from(seen).expect("few") + binding + advisory, checked, "{program}");
        }
    }
}

#[test]
fn an_interrupted_run_reports_what_it_has_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let report = folder.path().join("report.json");
    // The agent's own prompts tell that the checks have begun; the tape is a pipe that this test reads.
    let marks = folder.path().join("marks");
    let begun = Command::new("mkfifo").arg(&marks).status().expect("mkfifo is there");
    assert!(begun.success());
    let agent = format!("echo >> '{}'; exec '{AGENT}' --state-dir \"$1\"", marks.display());
    let run = Command::new(KIT)
        .args(["agent", "--no-scenario", "--jobs", "1", "--prompt-slow", "slow 600000", "--json"])
        .arg(&report)
        .args(["--", "sh", "-c", &agent, "sh", "{STATE}"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the kit is built");
    // Open for writing as well, so that it does not end with each agent that has written.
    let pipe = std::fs::File::options().read(true).write(true).open(&marks).expect("a pipe");
    let mut marks = BufReader::new(pipe);
    let mut mark = String::new();
    // The first start is the probe's; the checks come after it.
    while mark.len() < 5 && marks.read_line(&mut mark).expect("the agents write") > 0 {}
    let pid = Pid::from_raw(i32::try_from(run.id()).expect("a process id")).expect("not zero");
    kill_process(pid, Signal::INT).expect("it runs");
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let told = String::from_utf8(output.stdout).expect("text");
    assert!(told.contains("stopped after"), "{told}");
    let report: Value = serde_json::from_slice(&std::fs::read(&report).expect("written")).expect("JSON");
    assert_eq!(report["holds"], false);
    assert!(report["stopped"]["done"].as_u64() < report["stopped"]["of"].as_u64(), "{}", report["stopped"]);
}
