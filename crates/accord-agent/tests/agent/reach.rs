//! The client's files, terminals and forms: asked for only where offered, and released on every path.

use accord_agent::{
    ClientError, Command, Error, Filled, Question, StopReason, Turn, Visit,
    protocol::{
        open::Ordered,
        v1::{ElicitationSchema, IntegerPropertySchema, StringPropertySchema, ToolCall, ToolCallUpdate},
    },
};
use serde_json::{Value, json};

use crate::support::{Peer, Scripted, cancel, stop, texts};

/// Runs one turn; `serve` answers the agent's requests with a result or an error.
async fn turn(peer: &mut Peer, text: &str, mut serve: impl FnMut(&Value) -> Value) -> (Vec<Value>, Value) {
    let session = peer.session().await;
    let prompt = peer.prompt(&session, text);
    peer.send(prompt.clone()).await;
    let mut seen = vec![];
    loop {
        let message = peer.next().await;
        if message.get("method").is_none() && message["id"] == prompt["id"] {
            return (seen, message);
        }
        if message.get("id").is_some() {
            let mut reply = serve(&message);
            reply["jsonrpc"] = json!("2.0");
            reply["id"] = message["id"].clone();
            peer.send(reply).await;
        }
        seen.push(message);
    }
}

/// The calls among some messages.
fn calls(messages: &[Value]) -> Vec<&str> {
    let methods = messages.iter().filter_map(|message| message["method"].as_str());
    methods.filter(|method| *method != "session/update").collect()
}

fn files() -> Scripted {
    Scripted::new(|turn: Turn| async move {
        let client = turn.client();
        for result in [
            client.read_text_file("/a").await,
            client.read_lines("/a", 0, 2).await,
            client.write_text_file("/b", "x").await.map(|()| "written".to_owned()),
            client.read_text_file("relative").await,
        ] {
            let said = match result {
                Ok(text) => text,
                Err(ClientError::Unsupported { capability }) => format!("no {capability}"),
                Err(error) => error.code().map_or(error.to_string(), |code| code.to_string()),
            };
            turn.say(said).await?;
        }
        Ok(StopReason::EndTurn)
    })
}

// ACPX-FS-001, ACPX-FS-002, ACPX-FS-006, ACPX-FS-010, ACPX-INIT-006, ACPX-INIT-007, ACPX-INIT-012, rule 9
#[tokio::test]
async fn files_are_asked_for_only_where_they_are_offered() {
    let (no_read, no_write) = ("no fs.readTextFile", "no fs.writeTextFile");
    for (capabilities, expected) in [
        (json!({}), [no_read, no_read, no_write, no_read]),
        (json!({"fs": null}), [no_read, no_read, no_write, no_read]),
        (json!({"fs": {"readTextFile": "yes"}}), [no_read, no_read, no_write, no_read]),
        (json!({"fs": {"readTextFile": true}}), ["text", "text", no_write, "the path is not absolute"]),
        (json!({"fs": {"writeTextFile": true}}), [no_read, no_read, "written", no_read]),
    ] {
        let mut peer = Peer::connected(files(), capabilities.clone()).await;
        let (seen, answer) = turn(&mut peer, "go", |request| {
            assert!(request["params"]["path"].as_str().unwrap().starts_with('/'));
            match request["method"].as_str().unwrap() {
                "fs/read_text_file" => json!({"result": {"content": "text"}}),
                _ => json!({"result": null}),
            }
        })
        .await;
        assert_eq!(texts(&seen), expected, "{capabilities}");
        assert_eq!(stop(&answer), "end_turn");
        let mut windows = seen.iter().map(|seen| &seen["params"]).filter(|params| params["line"].is_number());
        assert!(windows.all(|params| params["line"] == 1 && params["limit"] == 2));
    }
    let both = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let mut peer = Peer::connected(files(), both).await;
    let refuse = |_: &Value| json!({"error": {"code": -32002, "message": "Resource not found"}});
    let (seen, answer) = turn(&mut peer, "go", refuse).await;
    assert_eq!(texts(&seen)[..3], ["-32002", "-32002", "-32002"]);
    assert_eq!(stop(&answer), "end_turn");
}

/// Starts a command, then does what the prompt says.
fn runs() -> Scripted {
    Scripted::new(|turn: Turn| async move {
        let command = Command::new("sleep").args(["60"]).env("A", "b").cwd("/tmp").output_limit(9);
        let terminal = match turn.client().create_terminal(command).await {
            Err(ClientError::Unsupported { capability }) => {
                turn.say(capability).await?;
                return Ok(StopReason::EndTurn);
            }
            created => created?,
        };
        match turn.text().as_str() {
            "wait" => {
                let exit = terminal.wait().await?;
                let output = terminal.output().await?;
                turn.say(format!("{:?} {} {}", exit.exit_code.get(), output.text, output.truncated)).await?;
            }
            "kill" => terminal.kill().await?,
            "fail" => return Err(Error::internal("on purpose")),
            _ => std::future::pending().await,
        }
        Ok(StopReason::EndTurn)
    })
}

fn terminal(request: &Value) -> Value {
    match request["method"].as_str().expect("a method") {
        "terminal/create" => {
            let params = &request["params"];
            assert_eq!((&params["command"], &params["args"]), (&json!("sleep"), &json!(["60"])));
            assert_eq!(
                (&params["env"], &params["cwd"]),
                (&json!([{"name": "A", "value": "b"}]), &json!("/tmp"))
            );
            assert_eq!(params["outputByteLimit"], 9);
            json!({"result": {"terminalId": "t1"}})
        }
        "terminal/wait_for_exit" => json!({"result": {"exitCode": 3}}),
        "terminal/output" => json!({"result": {"output": "out", "truncated": true}}),
        _ => json!({"result": {}}),
    }
}

// ACPX-TERM-001, ACPX-TERM-009, ACPX-TERM-011, B200
#[tokio::test]
async fn a_terminal_is_released_whatever_happens() {
    let mut peer = Peer::connected(runs(), json!({"terminal": false})).await;
    let (seen, _) = turn(&mut peer, "wait", |request| panic!("{request}")).await;
    assert_eq!(texts(&seen), ["terminal"]);
    for (text, expected) in [
        ("wait", &["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"][..]),
        ("kill", &["terminal/create", "terminal/kill", "terminal/release"]),
        ("fail", &["terminal/create", "terminal/release"]),
    ] {
        let mut peer = Peer::connected(runs(), json!({"terminal": true})).await;
        let (mut seen, _) = turn(&mut peer, text, terminal).await;
        if !calls(&seen).contains(&"terminal/release") {
            seen.push(peer.next().await);
        }
        assert_eq!(calls(&seen), expected, "{text}");
        let ids = seen.iter().map(|seen| &seen["params"]["terminalId"]).filter(|id| !id.is_null());
        assert!(ids.into_iter().all(|id| id == "t1"));
    }
}

// B205, ACPX-TERM-009
#[tokio::test]
async fn a_terminal_that_comes_after_the_cancel_is_released() {
    let mut peer = Peer::connected(runs(), json!({"terminal": true})).await;
    let session = peer.session().await;
    let prompt = peer.prompt(&session, "hang");
    peer.send(prompt.clone()).await;
    let create = peer.next().await;
    assert_eq!(create["method"], "terminal/create");
    peer.send(cancel(&session)).await;
    let (_, answer) = peer.answer(&prompt).await;
    assert_eq!(stop(&answer), "cancelled", "without waiting for the terminal");
    peer.send(json!({"jsonrpc": "2.0", "id": create["id"], "result": {"terminalId": "t1"}})).await;
    let release = peer.next().await;
    assert_eq!(release["method"], "terminal/release");
    assert_eq!(release["params"], json!({"sessionId": session, "terminalId": "t1"}));
}

fn form() -> Scripted {
    Scripted::new(|turn: Turn| async move {
        let schema = ElicitationSchema::new()
            .properties(Ordered::from([
                ("name", StringPropertySchema::new().max_length(5).into()),
                ("age", IntegerPropertySchema::new().minimum(0).into()),
            ]))
            .required(["name".to_owned()]);
        let said = match turn.client().fill_in("Who?", schema).await {
            Ok(Filled::Accepted(values)) => format!("accepted {}", values.len()),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        };
        turn.say(said).await?;
        Ok(StopReason::EndTurn)
    })
}

// ACPX-ELIC-001, ACPX-ELIC-002, ACPX-ELIC-003, ACPX-ELIC-007, ACPX-ELIC-010, ACPX-ELIC-019, ACPX-ELIC-027, B074
#[tokio::test]
async fn forms_are_gated_and_their_values_checked_again() {
    for elicitation in [json!(null), json!({}), json!({"form": null, "url": {}})] {
        let mut peer = Peer::connected(form(), json!({"elicitation": elicitation})).await;
        let (seen, _) = turn(&mut peer, "go", |request| panic!("{request}")).await;
        assert_eq!(texts(&seen), ["the client does not offer elicitation.form"]);
    }
    let mut peer = Peer::connected(form(), json!({"elicitation": {"form": {}}})).await;
    let misfit = |field: &str| format!("the value of {field} does not fit the form");
    for (reply, expected) in [
        (json!({"action": "accept", "content": {"name": "Ada", "age": 3}}), "accepted 2".to_owned()),
        (json!({"action": "accept", "content": {"name": "Ada"}}), "accepted 1".to_owned()),
        (json!({"action": "accept", "content": {"age": 3}}), misfit("name")),
        (json!({"action": "accept"}), misfit("name")),
        (json!({"action": "accept", "content": {"name": "Augusta"}}), misfit("name")),
        (json!({"action": "accept", "content": {"name": "Ada", "age": -1}}), misfit("age")),
        (json!({"action": "accept", "content": {"name": "Ada", "more": "x"}}), misfit("more")),
        (json!({"action": "decline"}), "Declined".to_owned()),
        (json!({"action": "cancel", "content": {"name": "Ada"}}), "Cancelled".to_owned()),
        (json!({"action": "_later", "content": {"name": "Ada"}}), "Declined".to_owned()),
    ] {
        let (seen, answer) = turn(&mut peer, "go", |request| {
            assert_eq!(request["method"], "elicitation/create");
            assert_eq!(request["params"]["mode"], "form");
            assert!(request["params"]["sessionId"].is_string());
            json!({"result": reply})
        })
        .await;
        assert_eq!(texts(&seen), [expected], "{reply}");
        assert_eq!(stop(&answer), "end_turn");
    }
}

// ACPX-ELIC-016, ACPX-ELIC-026
#[tokio::test]
async fn a_visit_is_agreed_to_and_completed_apart() {
    let agent = Scripted::new(|turn: Turn| async move {
        let (id, visit) = turn.client().visit("Log in", "https://example.org/login").await?;
        assert_eq!(visit, Visit::Opened);
        turn.client().visited(id).await?;
        Ok(StopReason::EndTurn)
    });
    let mut peer = Peer::connected(agent, json!({"elicitation": {"url": {}}})).await;
    let (seen, answer) = turn(&mut peer, "go", |request| {
        assert_eq!(request["params"]["url"], "https://example.org/login");
        json!({"result": {"action": "accept"}})
    })
    .await;
    assert_eq!(calls(&seen), ["elicitation/create", "elicitation/complete"]);
    assert_eq!(seen[0]["params"]["elicitationId"], seen[1]["params"]["elicitationId"]);
    assert_eq!(stop(&answer), "end_turn");
}

// ACPX-PROMPT-014: nothing is asked in the name of a turn that is over
#[tokio::test]
async fn a_turn_that_was_kept_asks_nothing_after_its_answer() {
    let kept = std::sync::Arc::new(std::sync::Mutex::new(None));
    let keep = kept.clone();
    let agent = Scripted::new(move |turn: Turn| {
        let keep = keep.clone();
        async move {
            turn.tool(ToolCall::new("t", "Tool")).await?.complete([]).await?;
            *keep.lock().unwrap() = Some(turn);
            Ok(StopReason::EndTurn)
        }
    });
    let offered = json!({"fs": {"readTextFile": true}, "terminal": true});
    let mut peer = Peer::connected(agent, offered).await;
    let session = peer.session().await;
    assert_eq!(stop(&peer.turn(&session, "").await.1), "end_turn");
    let turn = kept.lock().unwrap().take().expect("the handler kept it");
    assert!(matches!(turn.ask(Question::new(ToolCallUpdate::new("t"))).await, Err(ClientError::Ended)));
    assert!(matches!(turn.client().read_text_file("/a").await, Err(ClientError::Ended)));
    assert!(matches!(turn.client().create_terminal(Command::new("true")).await, Err(ClientError::Ended)));
    assert!(matches!(turn.say("late").await, Err(ClientError::Ended)));
    peer.quiet().await;
}
