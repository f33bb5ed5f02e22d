//! What the agent may ask, offered or not: who is asked, and what it is answered.

use std::sync::{Arc, Mutex};

use accord_client::{
    Client, ContentBlock, Handler, Permissions, SessionUpdate, StopReason, permission,
    protocol::{
        rpc,
        v1::{
            ClientCapabilities, FileSystemCapabilities, ReadTextFileRequest, ReadTextFileResponse,
            RequestPermissionOutcome, ToolKind,
        },
    },
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::script::{CWD, chunk, opened, permission as question, play, update_of};

async fn answer_of(permissions: Option<Permissions>, request: Value) -> Value {
    let builder = Client::builder();
    let builder = match permissions {
        Some(permissions) => builder.permissions(permissions),
        None => builder,
    };
    let (_session, mut agent) = opened(builder, json!({})).await;
    agent.ask(7, "session/request_permission", request).await;
    agent.expect_answer(7).await["result"]["outcome"].clone()
}

fn selected(option: &str) -> Value {
    json!({"outcome": "selected", "optionId": option})
}

// B055, B065, ACPX-PERM-001, quirk 30: chosen by kind, whatever the order; nobody is left waiting.
#[tokio::test]
async fn policies_choose_by_kind() {
    let all = || question("sess_1");
    assert_eq!(answer_of(None, all()).await, selected("r1"));
    assert_eq!(answer_of(Some(Permissions::deny()), all()).await, selected("r1"));
    assert_eq!(answer_of(Some(Permissions::allow_all_once()), all()).await, selected("a1"));
    let execute = Permissions::allow_once([ToolKind::Execute]);
    assert_eq!(answer_of(Some(execute), all()).await, selected("a1"));
    let read = || Permissions::allow_once([ToolKind::Read]);
    assert_eq!(answer_of(Some(read()), all()).await, selected("r1"));
    let asking =
        read().otherwise(Permissions::ask(|request| async move { permission::allow_once(&request) }));
    assert_eq!(answer_of(Some(asking), all()).await, selected("a1"));

    let mut only_always = question("sess_1");
    only_always["options"] = json!([
        {"optionId": "aa", "name": "Always", "kind": "allow_always"},
        {"optionId": "ra", "name": "Never", "kind": "reject_always"},
    ]);
    // A grant covers what was shown, so nothing is allowed for good by a policy.
    assert_eq!(answer_of(Some(Permissions::allow_all_once()), only_always.clone()).await, selected("ra"));
    assert_eq!(answer_of(None, only_always).await, json!({"outcome": "cancelled"}));
}

// B056, B148: an unknown kind and an extra member still get an answer; ACPX-PERM-007: no option that was not offered.
#[tokio::test]
async fn odd_questions_are_answered() {
    let mut odd = question("sess_1");
    odd["options"]
        .as_array_mut()
        .unwrap()
        .push(json!({"optionId": "p", "name": "Persist", "kind": "allow_persistent"}));
    odd["toolCall"]["sessionUpdate"] = json!("tool_call");
    assert_eq!(answer_of(None, odd.clone()).await, selected("r1"));
    let wrong = Permissions::ask(|_| async { RequestPermissionOutcome::selected("elsewhere") });
    assert_eq!(answer_of(Some(wrong), odd).await, json!({"outcome": "cancelled"}));
    // ACPX-SESS-014: a session that is not there.
    assert_eq!(answer_of(None, question("sess_9")).await, json!({"outcome": "cancelled"}));
}

// Rule 3: a handler that panics leaves no question open, and the next one is asked.
#[tokio::test]
async fn a_handler_that_panics_cancels_its_question() {
    let fuse = Arc::new(Mutex::new(true));
    let panicking = Permissions::ask(move |request| {
        let blown = !std::mem::take(&mut *fuse.lock().expect("the lock is whole"));
        async move {
            assert!(blown, "the first question panics");
            permission::allow_once(&request)
        }
    });
    let (_session, mut agent) = opened(Client::builder().permissions(panicking), json!({})).await;
    agent.ask(1, "session/request_permission", question("sess_1")).await;
    assert_eq!(agent.expect_answer(1).await["result"]["outcome"], json!({"outcome": "cancelled"}));
    agent.ask(2, "session/request_permission", question("sess_1")).await;
    assert_eq!(agent.expect_answer(2).await["result"]["outcome"], selected("a1"));
}

// E4, B043, B157, B158, B188, ACPX-RPC-004, ACPX-RPC-014, ACPX-EXT-003 to 005: what is not offered does not exist; notifications
// are never answered.
#[tokio::test]
async fn what_is_not_offered_does_not_exist() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    for (id, method, params) in [
        (30, "terminal/create", json!({"sessionId": "sess_1", "command": "ls"})),
        (31, "fs/read_text_file", json!({"sessionId": "sess_1", "path": "/etc/hostname"})),
        (32, "fs/write_text_file", json!({"sessionId": "sess_1", "path": "/tmp/x", "content": "x"})),
        (33, "terminal/output", json!({"sessionId": "sess_1", "terminalId": "t"})),
        (
            34,
            "elicitation/create",
            json!({"sessionId": "sess_1", "mode": "form", "message": "m", "requestedSchema": {}}),
        ),
        (70, "_vendor.example/drain", json!({"sessionId": "sess_1"})),
        (71, "nosuch/method", json!({})),
    ] {
        agent.ask(id, method, params).await;
        assert_eq!(agent.expect_answer(id).await["error"]["code"], -32601, "{method}");
    }
    for method in ["_vendor.example/tick", "$/progress", "future/notice"] {
        agent.send(json!({"jsonrpc": "2.0", "method": method, "params": {"n": 1}})).await;
    }
    agent.assert_quiet().await;
    let turn = session.prompt("go").await.unwrap();
    agent.serve("session/prompt", json!({"stopReason": "end_turn"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
}

/// Serves reads and extensions itself, and is slow about updates.
#[derive(Default)]
struct Own(Arc<Notify>);

impl Handler for Own {
    async fn read_text_file(&self, request: ReadTextFileRequest) -> Result<ReadTextFileResponse, rpc::Error> {
        // A request that is never answered must not hold the others up.
        if request.path.ends_with("slow") {
            self.0.notified().await;
        }
        Ok(ReadTextFileResponse::new(format!("buffer of {}", request.path.display())))
    }

    async fn ext_request(
        &self,
        method: &str,
        params: Option<Box<serde_json::value::RawValue>>,
    ) -> Result<Box<serde_json::value::RawValue>, rpc::Error> {
        match method {
            "_own/echo" => Ok(params.expect("the test sends params")),
            _ => Err(rpc::Error::method_not_found(method)),
        }
    }
}

// ACPX-FS-004, ACPX-RPC-024: a handler of one's own, for what it offers; requests are served side by side.
#[tokio::test]
async fn a_handler_serves_what_it_offers() {
    let slow = Arc::new(Notify::new());
    let fs = FileSystemCapabilities::new().read_text_file(true);
    let builder =
        Client::builder().handler(Own(Arc::clone(&slow))).capabilities(ClientCapabilities::new().fs(fs));
    let (_session, mut agent) = opened(builder, json!({})).await;
    let path = |name: &str| json!({"sessionId": "sess_1", "path": format!("{CWD}/{name}")});
    agent.ask(1, "fs/read_text_file", path("slow")).await;
    agent.ask(2, "fs/read_text_file", path("quick")).await;
    assert_eq!(agent.expect_answer(2).await["result"]["content"], format!("buffer of {CWD}/quick"));
    agent.ask(3, "fs/write_text_file", json!({"sessionId": "sess_1", "path": "/x", "content": ""})).await;
    assert_eq!(agent.expect_answer(3).await["error"]["code"], -32601);
    agent.ask(4, "_own/echo", json!({"a": [1, "b"]})).await;
    assert_eq!(agent.expect_answer(4).await["result"], json!({"a": [1, "b"]}));
    // B199's rule: the place of the fault is named.
    agent.ask(5, "fs/read_text_file", json!({"sessionId": "sess_1", "path": "/x", "line": -1})).await;
    let error = agent.expect_answer(5).await["error"].clone();
    assert_eq!(
        (error["code"].as_i64(), error["data"]["path"].as_str()),
        (Some(-32602), Some("line")),
        "{error}"
    );
    slow.notify_one();
    agent.expect_answer(1).await;
}

// B052, B143, B214, ACPX-CONTENT-004: thoughts alone, unknown updates, images and links all come, in order and typed.
#[tokio::test]
async fn every_kind_of_update_comes() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let mut turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    for update in [
        json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}),
        json!({"sessionUpdate": "usage_update", "used": 11383, "size": 262_144}),
        json!({"sessionUpdate": "future_thing", "x": [1]}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "resource_link", "uri": "file:///a", "name": "a"}}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "_new", "y": 2}}),
    ] {
        agent.update(update).await;
    }
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    let mut kinds = Vec::new();
    while let Some(update) = turn.next().await {
        kinds.push(match update {
            SessionUpdate::AgentThoughtChunk(_) => "thought",
            SessionUpdate::UsageUpdate(_) => "usage",
            SessionUpdate::AgentMessageChunk(chunk) => match chunk.content {
                ContentBlock::ResourceLink(_) => "link",
                ContentBlock::Image(_) => "image",
                _ => "other content",
            },
            _ => "other",
        });
    }
    assert_eq!(kinds, ["thought", "usage", "other", "link", "image", "other content"]);
    assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
    assert_eq!(session.state().usage.unwrap().used, 11383);
}

// B173, ACPX-TR-012: 8 MiB in one chunk. B176: 5,000 updates of one call to a consumer that takes its time.
#[tokio::test]
async fn large_and_many_updates_arrive_whole() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    let huge = "y".repeat(8 * 1024 * 1024);
    let line = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "content": [{"type": "content", "content": {"type": "text", "text": "line"}}]});
    let many = format!("{}\n", update_of("sess_1", &line)).repeat(5000);
    let expected = huge.len();
    let playing = tokio::spawn(play(turn));
    agent.update(chunk(&huge)).await;
    agent.write(&many).await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    let (text, end) = playing.await.unwrap();
    assert_eq!((text.len(), end.unwrap()), (expected, StopReason::EndTurn));
}

// ACPX-TR-007 to 011, E1: byte by byte, CRLF, blank lines, a BOM, noise, invalid UTF-8, id last: all of it is survived.
#[tokio::test]
async fn the_wire_may_be_odd() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    agent.write("\r\n\n \t\nnoise\n[1]\n\"x\"\n{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"?\"}}\n").await;
    agent.write_bytes(b"\xEF\xBB\xBF").await;
    agent.write(&format!("{}\r\n", update_of("sess_1", &chunk("a")))).await;
    agent.write_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xFF\xFE\"}\n").await;
    for byte in format!("{}\n", update_of("sess_1", &chunk("日本 😀"))).bytes() {
        agent.write_bytes(&[byte]).await;
    }
    agent
        .write(&format!(
            "{{\"result\":{{\"stopReason\":\"end_turn\"}},\"jsonrpc\":\"2.0\",\"id\":{}}}\n",
            prompt["id"]
        ))
        .await;
    let (text, end) = play(turn).await;
    assert_eq!((text.as_str(), end.unwrap()), ("a日本 😀", StopReason::EndTurn));
}

// Rule 5: a malformed answer ends its request with an error, and nothing else.
#[tokio::test]
async fn a_malformed_answer_ends_its_turn_alone() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    for odd in [json!({"stopReason": 5}), json!([1]), json!("done")] {
        let turn = session.prompt("go").await.unwrap();
        let prompt = agent.expect("session/prompt").await;
        agent.answer(&prompt, odd.clone()).await;
        let error = turn.finish().await.unwrap_err();
        assert!(matches!(error, accord_client::TurnError::Undecodable(_)), "{odd}: {error:?}");
    }
    let turn = session.prompt("go").await.unwrap();
    agent.serve("session/prompt", json!({"stopReason": "end_turn"})).await;
    turn.finish().await.unwrap();
}
