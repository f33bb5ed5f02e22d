//! Cases from the field, frame by frame, on the subject agent: what a scripted model did there a prompt does here, and the
//! working directory is a fresh folder.

use serde_json::{Value, json};

use crate::process::{Home, choose, said, updates};

/// The updates and the answer of one turn of a fresh agent, whose client answers questions by `option`.
fn turn(prompt: &str, option: &str) -> (Vec<Value>, Value) {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({}));
    let session = home.session(&mut agent);
    agent.turn(&session, prompt, option)
}

fn stop(answer: &Value) -> &str {
    answer["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("no stop reason: {answer}"))
}

/// The statuses of the one tool call among some updates, its announcement first.
fn statuses(updates: &[Value]) -> Vec<&str> {
    let about = updates.iter().filter(|update| update["toolCallId"].is_string());
    assert!(
        about.clone().all(|update| update["toolCallId"] == about.clone().next().expect("one")["toolCallId"])
    );
    about.map(|update| update["status"].as_str().unwrap_or("-")).collect()
}

// B019
#[test]
fn b019_a_prompt_that_says_nothing_special_ends_its_turn() {
    let (updates, answer) = turn("say hello", "allow");
    assert_eq!((said(&updates).as_str(), stop(&answer)), ("say hello", "end_turn"));
}

// B044
#[test]
fn b044_a_failure_is_the_answer_and_its_cause_is_in_it() {
    let (_, answer) = turn("fail the model is overloaded", "allow");
    assert_eq!(answer["error"]["message"], "the model is overloaded", "{answer}");
    let (_, answer) = turn("fail", "allow");
    assert_eq!(answer["error"]["message"], "asked to fail", "{answer}");
}

// B046
#[test]
fn b046_a_failure_behind_a_chunk_is_answered_without_a_cancel() {
    let (updates, answer) = turn("stumble over the last step", "allow");
    assert_eq!(said(&updates), "So far so good");
    assert_eq!(answer["error"]["message"], "over the last step", "{answer}");
}

// B128
#[test]
fn b128_a_mode_that_a_tool_switches_is_told_before_the_answer() {
    let (updates, answer) = turn("mode auto", "allow");
    assert_eq!(stop(&answer), "end_turn");
    let mode = updates.iter().find(|update| update["sessionUpdate"] == "current_mode_update").expect("told");
    assert_eq!(mode["currentModeId"], "auto");
    let options =
        updates.iter().find(|update| update["sessionUpdate"] == "config_option_update").expect("told");
    let options = options["configOptions"].as_array().expect("a list");
    assert!(options.iter().any(|option| option["id"] == "mode" && option["currentValue"] == "auto"));
}

// B178
#[test]
fn b178_a_tool_that_prints_much_is_shown_in_bounds() {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({}));
    let session = home.session(&mut agent);
    let chunks = "run i=0; while [ $i -lt 10000 ]; do printf %01024d 7; i=$((i+1)); done";
    let prompt = agent.prompt(&session, chunks);
    let mut bytes = 0;
    let (before, answer) = agent
        .answer(prompt, |_, frame| {
            bytes += frame.to_string().len();
            choose(frame, "allow")
        })
        .expect("an answer");
    assert_eq!(stop(&answer), "end_turn");
    assert!(bytes < 1 << 20, "{bytes} bytes for one call");
    let updates = updates(&before);
    let last = updates.iter().rfind(|update| update["toolCallId"].is_string()).expect("the call's end");
    assert_eq!(last["status"], "completed");
    let shown = last["content"][0]["content"]["text"].as_str().expect("text");
    assert!(shown.starts_with("000") && shown.len() <= 64 << 10, "{} bytes are shown", shown.len());
}

// B190
#[test]
fn b190_a_file_is_read_as_the_person_sees_it() {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({"fs": {"readTextFile": true, "writeTextFile": true}}));
    let session = home.session(&mut agent);
    let prompt = agent.prompt(&session, "read a.txt");
    let path = home.cwd().canonicalize().expect("it is there").join("a.txt");
    let mut asked = 0;
    let (before, answer) = agent
        .answer(prompt, |_, frame| {
            (frame["method"] == "fs/read_text_file").then(|| {
                assert_eq!(frame["params"]["path"], json!(path));
                asked += 1;
                json!({"result": {"content": "unsaved"}})
            })
        })
        .expect("an answer");
    assert_eq!((asked, stop(&answer)), (1, "end_turn"));
    let done =
        updates(&before).into_iter().find(|update| update["status"] == "completed").expect("it is read");
    assert_eq!(done["content"][0]["content"]["text"], "unsaved");
}

// B197
#[test]
fn b197_a_file_that_is_not_there_yet_is_written_through_the_client() {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({"fs": {"readTextFile": true, "writeTextFile": true}}));
    let session = home.session(&mut agent);
    let prompt = agent.prompt(&session, "write new.txt hello");
    let mut written = Vec::new();
    let (before, answer) = agent
        .answer(prompt, |_, frame| match frame["method"].as_str() {
            Some("fs/read_text_file") => {
                Some(json!({"error": {"code": -32002, "message": "Resource not found"}}))
            }
            Some("fs/write_text_file") => {
                written.push(frame["params"]["content"].clone());
                Some(json!({"result": {}}))
            }
            _ => choose(frame, "allow"),
        })
        .expect("an answer");
    assert_eq!((written, stop(&answer)), (vec![json!("hello")], "end_turn"));
    let updates = updates(&before);
    assert_eq!(statuses(&updates), ["pending", "in_progress", "completed"]);
    let done = updates.iter().find(|update| update["status"] == "completed").expect("its end");
    let diff = &done["content"][0];
    assert_eq!((&diff["type"], &diff["newText"]), (&json!("diff"), &json!("hello")));
    assert!(diff["oldText"].is_null(), "{diff}");
}

// B208
#[test]
fn b208_a_call_without_arguments_has_an_end() {
    let (updates, answer) = turn("read", "allow");
    assert_eq!(statuses(&updates).last(), Some(&"failed"));
    assert_eq!(stop(&answer), "end_turn");
}

// B209
#[test]
fn b209_a_call_that_fails_does_not_fail_its_turn() {
    let (updates, answer) = turn("read not-there.txt", "allow");
    assert_eq!(statuses(&updates), ["pending", "in_progress", "failed"]);
    assert_eq!(stop(&answer), "end_turn");
}
