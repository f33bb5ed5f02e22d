//! Ready-made terminals, through the wire, with real commands.
#![cfg(unix)]

use accord_client::{Client, Terminals};
use serde_json::{Value, json};

use crate::script::{Agent, connected};

/// A session in a folder that is there, whose client offers terminals.
async fn session() -> (accord_client::Session, Agent) {
    let (client, mut agent) = connected(Client::builder().terminals(Terminals::new()), json!({})).await;
    let cwd = std::env::temp_dir();
    let opened = json!({"sessionId": "sess_1"});
    let (session, ()) = tokio::join!(client.new_session(cwd.as_path()), agent.serve("session/new", opened));
    (session.expect("the session opens"), agent)
}

async fn create(agent: &mut Agent, mut params: Value) -> Value {
    params["sessionId"] = json!("sess_1");
    agent.ask(30, "terminal/create", params).await;
    let answer = agent.expect_answer(30).await;
    answer["result"].get("terminalId").cloned().unwrap_or_else(|| answer["error"]["code"].clone())
}

async fn shell(agent: &mut Agent, script: &str) -> Value {
    create(agent, json!({"command": "/bin/sh", "args": ["-c", script]})).await
}

async fn ask(agent: &mut Agent, what: &str, terminal: &Value) -> Value {
    agent.ask(31, &format!("terminal/{what}"), json!({"sessionId": "sess_1", "terminalId": terminal})).await;
    let answer = agent.expect_answer(31).await;
    answer.get("result").cloned().unwrap_or_else(|| answer["error"]["code"].clone())
}

// ACPX-TERM-002, 003, 005, 006: args, env and folder; output in order, errors included; the exit code.
#[tokio::test]
async fn a_command_runs_as_asked() {
    let (_session, mut agent) = session().await;
    let folder = tempfile::tempdir().unwrap();
    let terminal = create(
        &mut agent,
        json!({
            "command": "/bin/sh", "args": ["-c", "echo \"$GREETING $1\"; echo oops >&2; pwd; exit 3", "sh", "a b"],
            "env": [{"name": "GREETING", "value": "hi"}], "cwd": folder.path(),
        }),
    )
    .await;
    let exit = ask(&mut agent, "wait_for_exit", &terminal).await;
    assert_eq!(exit, json!({"exitCode": 3}));
    let output = ask(&mut agent, "output", &terminal).await;
    let folder = folder.path().canonicalize().unwrap();
    assert_eq!(output["output"], format!("hi a b\noops\n{}\n", folder.display()));
    assert_eq!((&output["truncated"], &output["exitStatus"]), (&json!(false), &json!({"exitCode": 3})));
}

// B182, B179, ACPX-TERM-004: the beginning is dropped at a character boundary; a flood is bounded.
#[tokio::test]
async fn output_is_limited_from_the_start() {
    let (_session, mut agent) = session().await;
    let eight = "日".repeat(8);
    let limited = json!({"command": "/usr/bin/printf", "args": [eight], "outputByteLimit": 10});
    let terminal = create(&mut agent, limited).await;
    ask(&mut agent, "wait_for_exit", &terminal).await;
    let output = ask(&mut agent, "output", &terminal).await;
    assert_eq!(output, json!({"output": "日日日", "truncated": true, "exitStatus": {"exitCode": 0}}));
    let flood = shell(&mut agent, "yes | head -c 50000000").await;
    ask(&mut agent, "wait_for_exit", &flood).await;
    let output = ask(&mut agent, "output", &flood).await;
    assert_eq!(output["truncated"], true);
    assert!(output["output"].as_str().unwrap().len() <= 1024 * 1024);
}

// B202, ACPX-TERM-007, ACPX-TERM-012, ACPX-TERM-005: while one waits, output, create and kill are answered; then the signal.
#[tokio::test]
async fn calls_do_not_wait_for_each_other() {
    let (_session, mut agent) = session().await;
    let terminal = shell(&mut agent, "echo hi; (sleep 60 &) ; sleep 60").await;
    agent
        .ask("waiting", "terminal/wait_for_exit", json!({"sessionId": "sess_1", "terminalId": terminal}))
        .await;
    let running = ask(&mut agent, "output", &terminal).await;
    assert!(running.get("exitStatus").is_none(), "{running}");
    let other = shell(&mut agent, "exit 0").await;
    assert!(other.is_string() && other != terminal);
    agent.ask(32, "terminal/kill", json!({"sessionId": "sess_1", "terminalId": terminal})).await;
    let mut answers = [agent.next().await.unwrap(), agent.next().await.unwrap()];
    answers.sort_by_key(|answer| answer["id"].to_string());
    assert_eq!(answers[0]["result"], json!({"signal": "SIGTERM"}));
    assert_eq!(answers[1]["result"], json!({}));
    // It stays for its output, until it is released.
    assert_eq!(ask(&mut agent, "output", &terminal).await["output"], "hi\n");
    assert_eq!(ask(&mut agent, "kill", &terminal).await, json!({}));
}

// ACPX-TERM-007: one that will not hear is forced.
#[tokio::test]
async fn a_command_that_ignores_the_kill_is_forced() {
    let (_session, mut agent) = session().await;
    let terminal = shell(&mut agent, "trap '' TERM; echo ready; while :; do sleep 1; done").await;
    while ask(&mut agent, "output", &terminal).await["output"] != "ready\n" {
        tokio::task::yield_now().await;
    }
    assert_eq!(ask(&mut agent, "kill", &terminal).await, json!({}));
    assert_eq!(ask(&mut agent, "wait_for_exit", &terminal).await, json!({"signal": "SIGKILL"}));
}

// B203: what a command leaves behind, out of reach and with its output in hand: wait, kill and release are answered all the same.
#[tokio::test]
async fn what_a_command_leaves_behind_is_not_waited_for() {
    if !std::path::Path::new("/usr/bin/setsid").exists() {
        println!("skipped: there is no `setsid` here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [up, end] = ["up", "end"].map(|name| folder.path().join(name));
    assert!(std::process::Command::new("mkfifo").args([&up, &end]).status().unwrap().success());
    let (_session, mut agent) = session().await;
    let (up, until) = (up.display(), end.display());
    let script = format!("setsid sh -c 'echo >{up}; read line <{until}' & read line <{up}; echo hi");
    let terminal = shell(&mut agent, &script).await;
    assert_eq!(ask(&mut agent, "wait_for_exit", &terminal).await, json!({"exitCode": 0}));
    let output = json!({"output": "hi\n", "truncated": false, "exitStatus": {"exitCode": 0}});
    assert_eq!(ask(&mut agent, "output", &terminal).await, output);
    assert_eq!(ask(&mut agent, "kill", &terminal).await, json!({}));
    assert_eq!(ask(&mut agent, "release", &terminal).await, json!({}));
    // It is still there: somebody reads what lets it go.
    std::fs::write(end, "\n").unwrap();
}

// ACPX-TERM-008: release ends the command, answers who waits, and frees the id.
#[tokio::test]
async fn release_ends_and_forgets() {
    let (_session, mut agent) = session().await;
    let terminal = shell(&mut agent, "sleep 60").await;
    agent
        .ask("waiting", "terminal/wait_for_exit", json!({"sessionId": "sess_1", "terminalId": terminal}))
        .await;
    agent.ask(32, "terminal/release", json!({"sessionId": "sess_1", "terminalId": terminal})).await;
    let mut answers = [agent.next().await.unwrap(), agent.next().await.unwrap()];
    answers.sort_by_key(|answer| answer["id"].to_string());
    assert_eq!(answers[0]["result"], json!({"signal": "SIGKILL"}));
    assert_eq!(answers[1]["result"], json!({}));
    for call in ["output", "wait_for_exit", "kill", "release"] {
        assert_eq!(ask(&mut agent, call, &terminal).await, -32002, "{call}");
    }
}

// B200, quirk 28: a whole line of shell as the command runs; a program that is not there is refused.
#[tokio::test]
async fn a_line_of_shell_is_understood() {
    let (_session, mut agent) = session().await;
    let terminal = create(&mut agent, json!({"command": "echo a && echo b"})).await;
    ask(&mut agent, "wait_for_exit", &terminal).await;
    assert_eq!(ask(&mut agent, "output", &terminal).await["output"], "a\nb\n");
    assert_eq!(create(&mut agent, json!({"command": "/no/such/bin", "args": ["x"]})).await, -32603);
    assert_eq!(create(&mut agent, json!({"command": "ls", "cwd": "here"})).await, -32602);
}

// A session's terminals are no other's, and end with it.
#[tokio::test]
async fn terminals_belong_to_their_session() {
    let (session, mut agent) = session().await;
    let terminal = shell(&mut agent, "sleep 60").await;
    let opened = json!({"sessionId": "sess_2"});
    let cwd = std::env::temp_dir();
    let (other, ()) =
        tokio::join!(session.client().new_session(cwd.as_path()), agent.serve("session/new", opened));
    other.unwrap();
    agent.ask(31, "terminal/output", json!({"sessionId": "sess_2", "terminalId": terminal})).await;
    assert_eq!(agent.expect_answer(31).await["error"]["code"], -32002);
    agent
        .ask("waiting", "terminal/wait_for_exit", json!({"sessionId": "sess_1", "terminalId": terminal}))
        .await;
    agent.assert_quiet().await;
    session.close().await.unwrap();
    let ended = agent.expect_answer("waiting").await;
    assert_eq!(ended["result"], json!({"signal": "SIGKILL"}));
}
