//! `initialize`, and what is offered and what is not.

use std::sync::atomic::{AtomicBool, Ordering};

use accord_agent::{
    Agent, Auth, Error, Listing, LoggingOut, StopReason, Turn,
    protocol::v1::{
        AuthMethod, AuthMethodAgent, AuthMethodId, AuthMethodTerminal, Implementation, ListSessionsRequest,
        ListSessionsResponse, PromptCapabilities,
    },
};
use serde_json::{Value, json};

use crate::support::{Peer, Scripted, stop, texts};

struct Echo;

impl Agent for Echo {
    async fn prompt(&self, turn: Turn) -> Result<StopReason, Error> {
        turn.say(turn.text()).await?;
        Ok(StopReason::EndTurn)
    }
}

// D1, ACPX-INIT-013
#[tokio::test]
async fn an_agent_that_only_prompts_offers_nothing_else() {
    let mut peer = Peer::new(Echo);
    let answer = peer.initialize(json!({})).await;
    assert_eq!(answer["protocolVersion"], 1);
    assert_eq!(answer["authMethods"], json!([]));
    assert_eq!(answer["agentInfo"]["name"], "accord-agent");
    let capabilities = &answer["agentCapabilities"];
    assert_eq!(capabilities["loadSession"], false);
    for nothing in ["sessionCapabilities", "promptCapabilities", "mcpCapabilities", "auth"] {
        assert_eq!(capabilities[nothing], json!({}), "{nothing}");
    }
    let session = peer.session().await;
    let (updates, answer) = peer.turn(&session, "hello").await;
    assert_eq!((texts(&updates), stop(&answer)), (vec!["hello"], "end_turn"));
}

// ACPX-INIT-021, ACP-JSONRPC-004, ACPX-RPC-014
#[tokio::test]
async fn what_is_not_offered_is_not_there() {
    let mut peer = Peer::connected(Echo, json!({})).await;
    for method in [
        "session/load",
        "session/resume",
        "session/list",
        "session/close",
        "session/delete",
        "session/fork",
        "session/set_mode",
        "session/set_config_option",
        "authenticate",
        "logout",
        "session/update",
        "no/such",
        "_x/unknown",
    ] {
        let answer = peer.call(method, json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

// ACPX-INIT-017, ACPX-INIT-018, B155
#[tokio::test]
async fn initialize_comes_first_and_once() {
    let mut peer = Peer::new(Echo);
    let early = peer.call("session/new", json!({"cwd": "/", "mcpServers": []})).await;
    assert_eq!(early["error"]["code"], -32600, "{early}");
    peer.initialize(json!({})).await;
    let again = peer.call("initialize", json!({"protocolVersion": 1})).await;
    assert_eq!(again["error"]["code"], -32600, "{again}");
    peer.session().await;
}

// ACP-INIT-003, ACPX-INIT-008, ACPX-INIT-009, ACPX-INIT-010, B184
#[tokio::test]
async fn any_version_is_answered_with_the_one_there_is() {
    for version in [0, 1, 2, 65535] {
        let mut peer = Peer::new(Echo);
        let answer = peer.call("initialize", json!({"protocolVersion": version})).await;
        assert_eq!(answer["result"]["protocolVersion"], 1);
    }
    let mut peer = Peer::new(Echo);
    for version in [json!("1"), json!(65536), json!(-1), json!(1.5), Value::Null] {
        let answer = peer.call("initialize", json!({"protocolVersion": version})).await;
        assert_eq!(answer["error"]["code"], -32602, "{version}");
        assert_eq!(answer["error"]["data"]["path"], "protocolVersion");
        if version.is_u64() {
            assert_eq!(answer["error"]["data"]["expected"], "an integer from 0 to 65535");
        }
    }
    peer.initialize(json!({})).await;
}

// ACPX-SESS-003, ACPX-SESS-004, ACPX-RPC-013, ACPX-ADDDIRS-005, B134, B142, B154
#[tokio::test]
async fn a_bad_request_names_its_field_and_changes_nothing() {
    let mut peer = Peer::connected(Echo, json!({})).await;
    let good = json!({"name": "s", "command": "/bin/true", "args": [], "env": []});
    let sse = json!({"type": "sse", "name": "s", "url": "http://x", "headers": []});
    for (params, path) in [
        (json!({"mcpServers": []}), "cwd"),
        (json!({"cwd": 42, "mcpServers": []}), "cwd"),
        (json!({"cwd": "relative", "mcpServers": []}), "cwd"),
        (json!({"cwd": "/", "mcpServers": {}}), "mcpServers"),
        (json!({"cwd": "/", "mcpServers": [good, {"name": "bad", "cmd": "/x"}]}), "mcpServers[1].command"),
        (json!({"cwd": "/", "mcpServers": [sse]}), "mcpServers[0].type"),
        (json!({"cwd": "/", "mcpServers": [], "additionalDirectories": ["/tmp"]}), "additionalDirectories"),
    ] {
        let answer = peer.call("session/new", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        assert_eq!(answer["error"]["data"]["path"], path, "{params}: {answer}");
    }
    let answer = peer.call("session/new", json!({"cwd": "/", "mcpServers": null})).await;
    assert!(answer["result"]["sessionId"].is_string(), "{answer}");
}

// ACPX-SESS-012, ACPX-PROMPT-003, ACPX-PROMPT-019, ACPX-PROMPT-020, B191
#[tokio::test]
async fn a_prompt_is_for_an_open_session_and_of_offered_content() {
    let mut peer = Peer::connected(Echo, json!({})).await;
    let session = peer.session().await;
    let text = json!([{"type": "text", "text": "x"}]);
    let answer = peer.call("session/prompt", json!({"sessionId": "nope", "prompt": text})).await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    // As much of an unknown id comes back as can be looked at.
    let long = "é".repeat(1 << 20);
    let answer = peer.call("session/prompt", json!({"sessionId": long, "prompt": text})).await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    assert_eq!(answer["error"]["data"]["sessionId"], "é".repeat(64));
    let image = json!([text[0], {"type": "image", "mimeType": "image/png", "data": "AA=="}]);
    let answer = peer.call("session/prompt", json!({"sessionId": session, "prompt": image})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(answer["error"]["data"]["path"], "prompt[1].type");
    for prompt in [json!("text"), Value::Null, json!([{"type": "text"}]), json!([{"type": "_hologram"}])] {
        let answer = peer.call("session/prompt", json!({"sessionId": session, "prompt": prompt})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let link = json!([text[0], {"type": "resource_link", "uri": "file:///a", "name": "a"}]);
    let request = peer.request("session/prompt", json!({"sessionId": session, "prompt": link}));
    peer.send(request.clone()).await;
    assert_eq!(stop(&peer.answer(&request).await.1), "end_turn");
}

/// Needs a login, and offers a little more than nothing.
#[derive(Default)]
struct Guarded {
    logged_in: AtomicBool,
}

impl Agent for Guarded {
    fn info(&self) -> Implementation {
        Implementation::new("guarded", "7")
    }

    fn prompt_capabilities(&self) -> PromptCapabilities {
        PromptCapabilities::new().image(true)
    }

    async fn prompt(&self, _: Turn) -> Result<StopReason, Error> {
        Ok(StopReason::EndTurn)
    }

    fn listing(&self) -> Option<&impl Listing> {
        Some(self)
    }

    fn auth(&self) -> Option<&impl Auth> {
        Some(self)
    }

    fn logging_out(&self) -> Option<&impl LoggingOut> {
        Some(self)
    }
}

impl Listing for Guarded {
    async fn list(&self, _: ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
        Ok(ListSessionsResponse::new([]))
    }
}

impl Auth for Guarded {
    fn methods(&self) -> Vec<AuthMethod> {
        vec![AuthMethodAgent::new("key", "API key").into(), AuthMethodTerminal::new("setup", "Set up").into()]
    }

    async fn ready(&self) -> Result<(), Error> {
        if self.logged_in.load(Ordering::SeqCst) { Ok(()) } else { Err(Error::auth_required()) }
    }

    async fn authenticate(&self, method: AuthMethodId) -> Result<(), Error> {
        assert_eq!(method.as_str(), "key");
        self.logged_in.store(true, Ordering::SeqCst);
        Ok(())
    }
}

impl LoggingOut for Guarded {
    async fn logout(&self) -> Result<(), Error> {
        self.logged_in.store(false, Ordering::SeqCst);
        Ok(())
    }
}

// ACP-AUTH-002, ACP-AUTH-003, ACP-AUTH-004, ACPX-AUTH-003, ACPX-AUTH-011, B194
#[tokio::test]
async fn a_login_is_asked_for_where_it_is_needed() {
    let mut peer = Peer::new(Guarded::default());
    let answer = peer.initialize(json!({})).await;
    assert_eq!(answer["agentInfo"], json!({"name": "guarded", "version": "7"}));
    let capabilities = &answer["agentCapabilities"];
    assert_eq!(capabilities["sessionCapabilities"], json!({"list": {}}));
    assert_eq!(capabilities["promptCapabilities"], json!({"image": true}));
    assert_eq!(capabilities["auth"], json!({"logout": {}}));
    let methods = answer["authMethods"].as_array().unwrap();
    assert!(methods.len() == 1 && methods[0]["id"] == "key", "{methods:?}");
    let new = json!({"cwd": "/", "mcpServers": []});
    for (method, params) in [("session/new", new.clone()), ("session/list", json!({}))] {
        assert_eq!(peer.call(method, params).await["error"]["code"], -32000, "{method}");
    }
    for method in ["made-up", "setup"] {
        let answer = peer.call("authenticate", json!({"methodId": method})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["data"]["path"], "methodId");
    }
    assert_eq!(peer.call("authenticate", json!({"methodId": "key"})).await["result"], json!({}));
    let session = peer.session().await;
    assert_eq!(peer.call("logout", json!({})).await["result"], json!({}));
    assert_eq!(peer.call("session/new", new).await["error"]["code"], -32000);
    // B196: also in the middle of a session.
    let (_, refused) = peer.turn(&session, "x").await;
    assert_eq!(refused["error"]["code"], -32000, "{refused}");

    let mut peer = Peer::new(Guarded::default());
    let answer = peer.initialize(json!({"auth": {"terminal": true}})).await;
    assert_eq!(answer["authMethods"].as_array().unwrap().len(), 2);
}

// ACP-JSONRPC-001, ACPX-RPC-007, ACPX-RPC-008
#[tokio::test]
async fn ids_come_back_as_they_were() {
    let agent = Scripted::new(|_| async { Ok(StopReason::EndTurn) });
    let mut peer = Peer::connected(agent, json!({})).await;
    let beyond_a_double = json!(9_007_199_254_740_993_i64);
    for id in [json!(7), json!("7"), json!(i64::MAX), json!(i64::MIN), beyond_a_double, Value::Null] {
        let params = json!({"cwd": "/", "mcpServers": []});
        peer.send(json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": params})).await;
        let answer = peer.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["result"]["sessionId"].is_string(), "{answer}");
    }
}
