//! Agents as child processes: how they start, what they say, how they end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use accord_transport::{
    AgentCommand, CallError, Cause, Connection, EnvPolicy, Handle, Options, Reason, SpawnError,
};

use crate::support::{Echo, within};

pub(crate) fn spawn(command: &AgentCommand) -> Result<Handle, SpawnError> {
    let (handle, connection) = Connection::new(Options::client());
    connection.spawn_child(command, Echo)?;
    Ok(handle)
}

fn shell(script: &str) -> AgentCommand {
    AgentCommand::new("/bin/sh").args(["-c", script])
}

/// Answers the first request with what `value` prints, and exits at the end of its input.
fn answering(value: &str) -> String {
    format!(
        r#"read line; printf '{{"jsonrpc":"2.0","id":1,"result":{{"is":"%s"}}}}\n' "{value}"; cat >/dev/null"#
    )
}

async fn asked(command: &AgentCommand) -> String {
    let handle = spawn(command).expect("it is there");
    let answer = within(handle.call_raw("_x", &())).await.expect("answered");
    handle.close();
    within(handle.closed()).await;
    answer.get().to_owned()
}

async fn lost(command: &AgentCommand) -> accord_transport::Lost {
    let handle = spawn(command).expect("it is there");
    match within(handle.call_raw("initialize", &())).await.expect_err("it is never answered") {
        CallError::Lost(lost) => {
            // Once for what is pending, and the same for what comes later.
            assert!(matches!(handle.call_raw("later", &()).await, Err(CallError::Lost(_))));
            lost
        }
        other => panic!("the connection should be lost: {other}"),
    }
}

// T1, T2, E5, ACPX-TR-017
#[tokio::test]
async fn a_dying_launcher_is_reported_with_its_last_words() {
    let lost = lost(&shell("read line; echo 'no such model' >&2; exit 3")).await;
    assert_eq!((lost.end().exit_code(), lost.end().signal()), (Some(3), None));
    assert_eq!((lost.end().reason(), lost.end().program()), (Reason::Crashed, Some("/bin/sh")));
    let said = lost.to_string();
    assert!(said.contains("/bin/sh") && said.contains("code 3") && said.contains("no such model"), "{said}");
}

// T1, E5
#[tokio::test]
async fn a_killed_agent_is_reported_with_its_signal() {
    let lost = lost(&shell("read line; kill -9 $$")).await;
    assert_eq!((lost.end().reason(), lost.end().signal()), (Reason::Killed, Some(9)));
}

// T1, E5: half a frame and a clean exit
#[tokio::test]
async fn an_agent_that_leaves_in_the_middle_of_a_frame_is_lost() {
    let lost = lost(&shell(r#"read line; printf '{"jsonrpc":"2.0","method":"_x","par'"#)).await;
    assert_eq!((lost.end().reason(), lost.end().exit_code()), (Reason::Completed, Some(0)));
}

// T1: it closes its output and goes on
#[tokio::test]
async fn an_agent_that_closes_its_output_is_ended() {
    let command = shell("exec >&-; trap '' TERM; sleep 1000").grace(Duration::from_millis(50));
    let lost = lost(&command).await;
    assert!(matches!(lost.end().cause(), Cause::EndOfInput), "{lost}");
    assert_eq!(lost.end().reason(), Reason::Crashed);
}

// T2
#[tokio::test]
async fn a_missing_program_and_a_missing_directory_are_named() {
    let error = spawn(&AgentCommand::new("accord-no-such-agent")).expect_err("it is missing");
    assert!(matches!(&error, SpawnError::NotFound { program } if program == "accord-no-such-agent"));
    assert!(error.to_string().contains("accord-no-such-agent"));
    let error = spawn(&shell("true").cwd("/accord/no/such/place")).expect_err("it is missing");
    assert!(matches!(&error, SpawnError::NoDirectory { cwd } if cwd.ends_with("such/place")), "{error}");
}

// T2
#[tokio::test]
async fn a_silent_agent_is_given_up_at_its_deadline() {
    let deadline = Duration::from_millis(300);
    let command = shell("echo 'waiting for the network' >&2; sleep 1000").grace(Duration::from_millis(50));
    let lost = lost(&command.first_frame_deadline(deadline)).await;
    assert!(matches!(lost.end().cause(), Cause::Silent(after) if *after == deadline));
    let said = lost.to_string();
    assert!(
        said.contains("/bin/sh") && said.contains("waiting for the network") && said.contains("300ms"),
        "{said}"
    );
}

// T2: the deadline is for the first frame only
#[tokio::test]
async fn an_agent_that_spoke_may_take_its_time() {
    let script = r#"echo banner; read line; sleep 1; echo '{"jsonrpc":"2.0","id":1,"result":{}}'"#;
    let handle = spawn(&shell(script).first_frame_deadline(Duration::from_millis(500))).expect("sh is there");
    within(handle.call_raw("_x", &())).await.expect("answered");
}

// B082, B179, ACPX-TR-006
#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_its_tail_kept() {
    let flood = "i=0; while [ $i -lt 20000 ]; do echo \"line $i: some text that fills the pipe sooner or later\"; i=$((i+1)); done >&2";
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let command = shell(&format!("{flood}; {}; {flood}; exit 4", answering("ok")))
        .stderr(move |line| sink.lock().expect("no panic").push(line.to_owned()));
    let handle = spawn(&command).expect("sh is there");
    within(handle.call_raw("_x", &())).await.expect("the flood does not hold it up");
    handle.close();
    let end = within(handle.closed()).await;
    assert_eq!(end.exit_code(), Some(4));
    assert!(end.stderr().len() <= 8 << 10 && end.stderr().contains("line 19999:"), "{}", end.stderr().len());
    let lines = lines.lock().expect("no panic");
    assert_eq!(lines.len(), 40_000);
    assert!(lines[0].starts_with("line 0:"));
}

#[tokio::test]
async fn the_environment_follows_its_policy() {
    let ask = |policy| {
        // PATH is what the shell needs for cat.
        shell(&answering("${CARGO_MANIFEST_DIR:-none} $MINE"))
            .env("MINE", "set")
            .env("PATH", "/usr/bin:/bin")
            .env_policy(policy)
    };
    assert_eq!(asked(&ask(EnvPolicy::Clear)).await, r#"{"is":"none set"}"#);
    assert_eq!(asked(&ask(EnvPolicy::Allow(vec!["HOME".into()]))).await, r#"{"is":"none set"}"#);
    let ours = format!(r#"{{"is":"{} set"}}"#, env!("CARGO_MANIFEST_DIR"));
    assert_eq!(asked(&ask(EnvPolicy::Inherit)).await, ours);
    assert_eq!(asked(&ask(EnvPolicy::Allow(vec!["CARGO_MANIFEST_DIR".into()]))).await, ours);
}

// B085, B089
#[tokio::test]
async fn arguments_directory_and_pid_are_what_was_asked_for() {
    let odd = r#"a "b" \c $d 'e'"#;
    let script = r#"[ $# = 2 ] && [ "$1" = "$2" ] && answer=same; read line; printf '{"jsonrpc":"2.0","id":1,"result":{"is":"%s %s %s"}}\n' $answer $PWD $$; cat"#;
    let command = AgentCommand::new("/bin/sh").args(["-c", script, "sh", odd]).arg(odd).cwd("/");
    let handle = spawn(&command).expect("sh is there");
    let answer = within(handle.call_raw("_x", &())).await.expect("answered");
    let pid = handle.pid().expect("a child has one");
    assert_eq!(answer.get(), format!(r#"{{"is":"same / {pid}"}}"#));
}
