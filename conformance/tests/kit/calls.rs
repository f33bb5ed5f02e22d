//! Tool calls that no good answer comes to: each ends as failed, says why on one line, and its turn goes on.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    fixtures::hears_hang_ups,
    process::{Agent, Home, said, updates},
    termination::{pid, report, wait_for_the_end_of},
};

/// Answers what it is asked, and a call by what its tool is called.
const SERVER: &str = r#"
while read -r line; do
  id=${line##*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*)
      tools=
      for tool in huge silent dying refusing good; do
        tools="$tools${tools:+,}{\"name\":\"$tool\",\"inputSchema\":{\"type\":\"object\"}}"
      done
      answer="\"result\":{\"tools\":[$tools]}" ;;
    *'"name":"huge"'*) head -c 17000000 /dev/zero | tr '\0' x; echo; continue ;;
    *'"name":"dying"'*) exit 3 ;;
    *'"name":"refusing"'*) answer='"error":{"code":-32099,"message":"not today:\nno s3cret"}' ;;
    *'"name":"good"'*) answer='"result":{"content":[{"type":"text","text":"here"}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done
"#;

fn start(home: &Home, limit: &str) -> (Agent, String) {
    let mut agent = home.start(&["--mcp-call-limit", limit], &json!({}));
    let env = json!([{"name": "SECRET", "value": "s3cret"}]);
    let server = json!({"name": "sh", "command": "/bin/sh", "args": ["-c", SERVER], "env": env});
    let answer = agent.call("session/new", &json!({"cwd": home.cwd(), "mcpServers": [server]}));
    let session = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    agent.call("session/set_mode", &json!({"sessionId": session, "modeId": "auto"}));
    (agent, session)
}

/// What is told of a call that failed; the turn ended as any other.
fn failed(agent: &mut Agent, session: &str, tool: &str) -> String {
    let (told, answer) = agent.turn(session, &format!("mcp {tool}"), "allow");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    let last = told.iter().rfind(|update| update["sessionUpdate"] == "tool_call_update").expect("an end");
    assert_eq!(last["status"], "failed", "{last}");
    let text = last["content"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{last}"));
    assert!(!text.contains(['\n', '\r']), "{text}");
    text.to_owned()
}

// D11, ACPX-TOOL-007: an answer that is too long, a refusal, a server that is gone
#[test]
fn a_call_without_an_answer_fails_and_its_turn_goes_on() {
    let home = Home::new();
    let (mut agent, session) = start(&home, "3600000");
    assert_eq!(
        failed(&mut agent, &session, "huge"),
        "the MCP server sh said more than 16777216 bytes at once"
    );
    let told = failed(&mut agent, &session, "refusing");
    assert_eq!(told, "the MCP server sh refused the call: not today: no <hidden> (-32099)");
    // The server is as good as before.
    assert_eq!(said(&agent.turn(&session, "mcp good", "allow").0), "here");
    for _ in 0..2 {
        let told = failed(&mut agent, &session, "dying");
        assert_eq!(told, "the MCP server sh gave no answer: the connection to it is gone");
    }
}

// D11: silence has a limit
#[test]
fn a_call_in_silence_fails_and_its_turn_goes_on() {
    let home = Home::new();
    let (mut agent, session) = start(&home, "300");
    assert_eq!(failed(&mut agent, &session, "silent"), "the MCP server sh said nothing for 300ms");
}

// ACPX-PERM-006: only a cancel of the turn cancels the turn
#[test]
fn an_answer_that_calls_itself_cancelled_allows_nothing_and_cancels_nothing() {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({}));
    let session = home.session(&mut agent);
    let cancelled = |frame: &Value| {
        let asked = frame["method"] == "session/request_permission";
        asked.then(|| json!({"result": {"outcome": {"outcome": "cancelled"}}}))
    };
    for (text, calls) in [("permit 2", 2), ("run touch made", 1)] {
        let prompt = agent.prompt(&session, text);
        let (before, answer) = agent.answer(prompt, |_, frame| cancelled(frame)).expect("an answer");
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        let failed = updates(&before).iter().filter(|update| update["status"] == "failed").count();
        assert_eq!(failed, calls, "{before:?}");
    }
    assert!(!home.cwd().join("made").exists());
}

// D4, ACPX-TR-021: the end of the terminal it was started in, and the end by force
#[test]
fn no_command_outlives_the_agent() {
    for (signal, status) in [(Signal::HUP, Some(0)), (Signal::KILL, None)] {
        if signal == Signal::HUP && !hears_hang_ups() {
            continue;
        }
        let home = Home::new();
        let mut agent = home.start(&[], &json!({}));
        let session = home.session(&mut agent);
        agent.call("session/set_mode", &json!({"sessionId": session, "modeId": "auto"}));
        let command = report(home.cwd(), "command");
        // It reports late: a parent that is killed at the very start of a child cannot have said that it has one.
        let prompt = agent
            .prompt(&session, "run trap '' HUP; sleep 1; echo $$ > command; while :; do sleep 1000; done");
        let command = pid(&command);
        agent.signal(signal);
        if status.is_some() {
            let (_, answer) = agent.answer(prompt, |_, _| None).expect("an answer");
            assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
            while agent.frame().is_some() {}
        }
        assert_eq!(agent.ended().code(), status);
        wait_for_the_end_of(&command);
    }
}
