//! What a turn leaves, also when it fails, is cut short or is very long; and what order it all keeps.

use accord_agent::{
    Error, Question, StopReason,
    protocol::v1::{SessionUpdate, ToolCall, ToolCallUpdate},
    runtime::{Projection, Runtime, Turn},
    store::{Header, Record, SessionStore as _, Store, StoreError, TurnEnd, jsonl::JsonlStore},
};
use serde_json::{Value, json};

use crate::{
    hooked::Hooked,
    stage::{Script, Stage},
    support::{Peer, cancel, stop, texts},
};

fn update(value: &Value) -> Record {
    Record::Update(serde_json::value::to_raw_value(value).expect("JSON"))
}

// ACPX-RESTART-003, ACPX-RESTART-006, ACPX-TOOL-007, B094, B101, B106, B107, B113
#[tokio::test]
async fn an_interrupted_turn_is_ended_when_its_session_is_opened() {
    let stage = Stage::new();
    let mut store = JsonlStore::open(stage.state()).unwrap();
    let cwd = stage.cwd().to_str().unwrap().to_owned();
    store.create(&Header::new("s", cwd, 1)).unwrap();
    let user = json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "go"}});
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Tool"});
    store.append(&"s".into(), &[update(&user), update(&call)]).unwrap();
    drop(store);
    for _ in 0..2 {
        let mut peer = stage.start(Script::telling()).await;
        let load = peer.request("session/load", stage.params("s"));
        peer.send(load.clone()).await;
        let (replayed, answer) = peer.answer(&load).await;
        assert!(answer["result"].is_object(), "{answer}");
        let kinds: Vec<_> =
            replayed.iter().map(|message| &message["params"]["update"]["sessionUpdate"]).collect();
        assert_eq!(
            kinds,
            ["user_message_chunk", "tool_call", "tool_call_update"],
            "once, however often it is loaded"
        );
        assert_eq!(replayed[2]["params"]["update"]["status"], "failed");
        peer.next().await;
        drop(peer.hang_up().await);
    }
}

// ACP-LOAD-002, ACP-RESUME-002, ACPX-LOAD-005, B011, B091
#[tokio::test]
async fn a_failed_and_a_cancelled_turn_are_history_too() {
    let stage = Stage::new();
    let backend = Script::new(|turn: Turn| async move {
        turn.say("part").await?;
        match turn.text().as_str() {
            "fail" => Err(Error::internal("no").with_data(json!({"status": 500}))),
            "panic" => panic!("on purpose"),
            _ => {
                turn.update(ToolCall::new("t", "Tool")).await?;
                turn.cancelled().await;
                Ok(StopReason::EndTurn)
            }
        }
    });
    let mut peer = stage.start(backend).await;
    let (id, _) = stage.open(&mut peer).await;
    assert_eq!(peer.turn(&id, "fail").await.1["error"]["data"]["status"], 500);
    assert_eq!(peer.turn(&id, "panic").await.1["error"]["code"], -32603);
    let prompt = peer.prompt(&id, "wait");
    peer.send(prompt.clone()).await;
    assert_eq!(texts(&[peer.next().await]), ["part"]);
    peer.send(cancel(&id)).await;
    assert_eq!(stop(&peer.answer(&prompt).await.1), "cancelled");
    drop(peer.hang_up().await);

    let mut peer = stage.start(Script::telling()).await;
    assert!(peer.call("session/resume", stage.params(&id)).await["result"].is_object());
    peer.next().await;
    peer.call("session/close", json!({"sessionId": id})).await;
    let load = peer.request("session/load", stage.params(&id));
    peer.send(load.clone()).await;
    let (replayed, _) = peer.answer(&load).await;
    assert_eq!(texts(&replayed), ["part", "part", "part"]);
    assert_eq!(replayed.last().unwrap()["params"]["update"]["status"], "failed");
    assert_eq!(peer.next().await["params"]["update"]["sessionUpdate"], "available_commands_update");
    peer.quiet().await;
}

// B092: a long history is read a piece at a time
#[tokio::test]
async fn a_long_history_replays_whole_and_in_order() {
    let stage = Stage::new();
    let mut store = JsonlStore::open(stage.state()).unwrap();
    store.create(&Header::new("s", stage.cwd().to_str().unwrap(), 1)).unwrap();
    for turn in 0..40 {
        let text = format!("{turn:04} {}", "x".repeat(50_000));
        let chunk =
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        store.append(&"s".into(), &[update(&chunk), Record::TurnEnd(TurnEnd::new("end_turn", 1))]).unwrap();
    }
    drop(store);
    let mut peer = stage.start(Script::telling()).await;
    let load = peer.request("session/load", stage.params("s"));
    peer.send(load.clone()).await;
    let (replayed, _) = peer.answer(&load).await;
    let order: Vec<_> =
        texts(&replayed).into_iter().map(|text| text[..4].parse::<usize>().unwrap()).collect();
    assert_eq!(order, (0..40).collect::<Vec<_>>());
}

// D13: all of it is on the wire before the question, and before the answer
#[tokio::test]
async fn a_question_comes_after_everything_before_it() {
    for projection in [Projection::Live, Projection::Committed] {
        let stage = Stage::new();
        let backend = Script::new(|turn: Turn| async move {
            for number in 0..100 {
                turn.say(format!("{number} ")).await?;
            }
            let decision = turn.ask(Question::new(ToolCallUpdate::new("t").title("Tool"))).await?;
            assert!(decision.is_allowed());
            turn.say("after").await?;
            Ok(StopReason::EndTurn)
        });
        let mut peer =
            Peer::connected(stage.builder(backend).projection(projection).build(), json!({})).await;
        let (id, _) = stage.open_quietly(&mut peer).await;
        let prompt = peer.prompt(&id, "go");
        peer.send(prompt.clone()).await;
        let mut before = Vec::new();
        let question = loop {
            let message = peer.next().await;
            if message["method"] == "session/request_permission" {
                break message;
            }
            before.push(message);
        };
        let said = texts(&before).concat();
        assert_eq!(said.split_whitespace().count(), 100);
        assert_eq!(before.last().unwrap()["params"]["update"]["sessionUpdate"], "tool_call");
        let result = json!({"outcome": {"outcome": "selected", "optionId": "allow"}});
        peer.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
        let (after, answer) = peer.answer(&prompt).await;
        assert_eq!((texts(&after), stop(&answer)), (vec!["after"], "end_turn"));
    }
}

// D12: only durable facts reach the wire; a turn that cannot be stored is not answered as if it had been
#[tokio::test]
async fn a_turn_that_cannot_be_stored_fails() {
    let stage = Stage::new();
    let backend = Script::new(|turn: Turn| async move {
        turn.update(SessionUpdate::from(ToolCall::new("t", "Tool"))).await?;
        Ok(StopReason::EndTurn)
    });
    let full = |_: &[Record]| Err(StoreError::io("written")(std::io::ErrorKind::StorageFull.into()));
    let store = Hooked::new(stage.state(), full);
    let runtime: Runtime<_> = Runtime::builder(backend).store(Store::start(store).unwrap()).build();
    let mut peer = Peer::connected(runtime, json!({})).await;
    let answer = peer.call("session/new", stage.new_params()).await;
    let id = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    let (updates, answer) = peer.turn(&id, "go").await;
    assert!(updates.is_empty(), "{updates:?}");
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(!answer.to_string().contains("full"), "{answer}");
}
