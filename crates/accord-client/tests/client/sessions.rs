//! Sessions: what may be asked for, modes and options, lists, closing, logging in.

use std::path::Path;

use accord_client::{
    Client, Error, Misuse, NewSessionRequest, SessionStatus,
    auth::Login,
    protocol::v1::{ListSessionsRequest, LoadSessionRequest, McpServer, McpServerHttp, McpServerStdio},
};
use serde_json::{Value, json};
use tokio::io::split;

use crate::script::{Agent, CWD, connected, open, opened, wire};

fn model(current: &str) -> Value {
    json!([{
        "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": current,
        "options": [{"value": "m1", "name": "m1"}, {"value": "m2", "name": "m2"}],
    }])
}

fn current_model(session: &accord_client::Session) -> String {
    let options = serde_json::to_value(session.config_options()).expect("options are JSON");
    options[0]["currentValue"].as_str().unwrap_or_default().to_owned()
}

// ACPX-SESS-001, ACPX-SESS-002, ACPX-ADDDIRS-001, E9, ACPX-MCP-007: what the agent does not take is never sent.
#[tokio::test]
async fn what_the_agent_does_not_take_is_never_sent() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let refused = |result: Result<accord_client::Session, Error>| match result {
        Err(Error::Misuse(misuse)) => misuse.to_string(),
        other => panic!("{other:?}"),
    };
    let relative = client.new_session(Path::new("here")).await;
    assert_eq!(refused(relative), "cwd must be an absolute path, not here");
    let http = McpServer::Http(McpServerHttp::new("api", "http://127.0.0.1:9", []));
    let http = client.new_session(NewSessionRequest::new(CWD, [http])).await;
    assert_eq!(
        refused(http),
        "the agent does not offer mcpCapabilities.http, which an MCP server over http needs"
    );
    let mut elsewhere = NewSessionRequest::new(CWD, []);
    elsewhere.additional_directories = Some(vec!["/elsewhere".into()]);
    assert!(
        refused(client.new_session(elsewhere).await).contains("sessionCapabilities.additionalDirectories")
    );
    assert!(
        refused(client.load_session(LoadSessionRequest::new("s", CWD, [])).await).contains("loadSession")
    );
    for (call, capability) in [
        (client.list_sessions(ListSessionsRequest::new()).await.map(drop), "list"),
        (client.close_session("s").await, "close"),
        (client.delete_session("s").await, "delete"),
        (client.logout().await, "auth.logout"),
    ] {
        assert!(call.unwrap_err().to_string().contains(capability));
    }
    agent.assert_quiet().await;
    // B136: a stdio server always passes, with its arrays.
    let stdio = McpServer::Stdio(McpServerStdio::new("fs", "/bin/mcp", [], []));
    let opening = tokio::spawn({
        let client = client.clone();
        async move { client.new_session(NewSessionRequest::new(CWD, [stdio])).await }
    });
    let request = agent.expect("session/new").await;
    let server = json!({"name": "fs", "command": "/bin/mcp", "args": [], "env": []});
    assert_eq!(request["params"], json!({"cwd": CWD, "mcpServers": [server]}));
    agent.answer(&request, json!({"sessionId": "sess_1"})).await;
    opening.await.unwrap().unwrap();
}

// E10, ACPX-PROMPT-002: content the agent does not take leaves the session idle and the wire quiet.
#[tokio::test]
async fn a_prompt_of_unsupported_content_is_refused() {
    let (session, mut agent) =
        opened(Client::builder(), json!({"promptCapabilities": {"image": false}})).await;
    let image = accord_client::protocol::v1::ImageContent::new("iVBORw0KGgo=", "image/png");
    let error = session.prompt(accord_client::ContentBlock::Image(image)).await.unwrap_err();
    assert!(error.to_string().contains("promptCapabilities.image"), "{error}");
    let error = session.prompt(Vec::new()).await.unwrap_err();
    assert!(matches!(error, Error::Misuse(Misuse::EmptyPrompt)), "{error:?}");
    assert_eq!(session.status(), SessionStatus::Idle);
    agent.assert_quiet().await;
}

// ACPX-CONFIG-013, ACPX-CONFIG-014: only offered values are sent; the answer replaces what is known.
#[tokio::test]
async fn an_option_is_set_to_what_is_offered() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let session =
        open(&client, &mut agent, json!({"sessionId": "sess_1", "configOptions": model("m1")})).await;
    let error = session.set_config_option("model", "m9").await.unwrap_err();
    assert_eq!(error.to_string(), "`m9` is no value of the configuration option `model`");
    assert!(session.set_config_option("speed", "fast").await.is_err());
    assert!(session.set_config_option("model", true).await.is_err());
    agent.assert_quiet().await;
    let (set, ()) = tokio::join!(
        session.set_config_option("model", "m2"),
        agent.serve("session/set_config_option", json!({"configOptions": model("m2")}))
    );
    assert_eq!(set.unwrap().len(), 1);
    assert_eq!(current_model(&session), "m2");
}

// B121, ACPX-CONFIG-014: an update replaces all options. B125, ACPX-CONFIG-010: what is incomplete or unknown is no option.
#[tokio::test]
async fn options_are_replaced_as_a_whole() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let mut offered =
        json!([{"id": "bad", "name": "Bad", "type": "select", "options": [{"value": "a", "name": "A"}]}]);
    let offered_list = offered.as_array_mut().expect("a list");
    offered_list.extend(model("m1").as_array().expect("a list").clone());
    let effort = |values: &[&str]| {
        let options: Vec<_> = values.iter().map(|value| json!({"value": value, "name": value})).collect();
        json!({"id": "effort", "name": "Effort", "type": "select", "currentValue": values[0], "options": options})
    };
    offered_list.push(effort(&["low", "high"]));
    let session = open(&client, &mut agent, json!({"sessionId": "sess_1", "configOptions": offered})).await;
    let ids = |session: &accord_client::Session| {
        session.config_options().iter().map(|option| option.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&session), ["model", "effort"]);
    let mut now = model("m2");
    now.as_array_mut().expect("a list").push(effort(&["max"]));
    agent.update(json!({"sessionUpdate": "config_option_update", "configOptions": now})).await;
    agent.assert_quiet().await;
    assert_eq!(serde_json::to_value(session.config_options()).unwrap(), now);
    assert!(session.set_config_option("effort", "high").await.is_err());
}

// B119, quirk 46: an agent that answers `{}` and tells the options in an update.
#[tokio::test]
async fn an_empty_answer_leaves_the_options_to_the_update() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let session =
        open(&client, &mut agent, json!({"sessionId": "sess_1", "configOptions": model("m1")})).await;
    let (set, ()) = tokio::join!(
        session.set_config_option("model", "m2"),
        agent.serve("session/set_config_option", json!({}))
    );
    assert_eq!(set.unwrap().len(), 1);
    agent.update(json!({"sessionUpdate": "config_option_update", "configOptions": model("m2")})).await;
    agent.assert_quiet().await;
    assert_eq!(current_model(&session), "m2");
}

// ACPX-MODE-001, ACPX-MODE-005: only offered modes are set; the agent's own changes are known.
#[tokio::test]
async fn a_mode_is_switched_to_what_is_offered() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let modes = json!({
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
    });
    let session = open(&client, &mut agent, json!({"sessionId": "sess_1", "modes": modes})).await;
    assert!(session.set_mode("fly").await.is_err());
    let (set, ()) = tokio::join!(session.set_mode("code"), agent.serve("session/set_mode", json!({})));
    set.unwrap();
    assert_eq!(session.modes().unwrap().current_mode_id, "code");
    agent.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"})).await;
    agent.assert_quiet().await;
    assert_eq!(session.modes().unwrap().current_mode_id, "ask");
}

// E3, ACPX-RPC-016: answers come in any order, each to its own request.
#[tokio::test]
async fn answers_come_in_any_order() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let ask = |method: &'static str| {
        let client = client.clone();
        tokio::spawn(async move {
            client.call_raw(method, &json!({})).await.map(|answer| answer.get().to_owned())
        })
    };
    let first = ask("_own/first");
    let one = agent.expect("_own/first").await;
    let second = ask("_own/second");
    let two = agent.expect("_own/second").await;
    agent.answer(&two, json!("2")).await;
    assert_eq!(second.await.unwrap().unwrap(), r#""2""#);
    agent.answer(&one, json!("1")).await;
    assert_eq!(first.await.unwrap().unwrap(), r#""1""#);
}

// ACPX-LIST-007, ACPX-LIST-008: page after page, cursors as they came, and an end even if a page points at itself.
#[tokio::test]
async fn all_pages_of_the_list_are_taken() {
    let (client, mut agent) =
        connected(Client::builder(), json!({"sessionCapabilities": {"list": {}}})).await;
    let listing = tokio::spawn(client.all_sessions(ListSessionsRequest::new().cwd(CWD)).collect());
    let page =
        |id: &str, next: Value| json!({"sessions": [{"sessionId": id, "cwd": CWD}], "nextCursor": next});
    for (id, cursor, next) in
        [("a", None, json!("c/1=")), ("b", Some("c/1="), json!("2")), ("c", Some("2"), json!("2"))]
    {
        let request = agent.expect("session/list").await;
        assert_eq!(request["params"]["cursor"].as_str(), cursor);
        assert_eq!(request["params"]["cwd"], CWD);
        agent.answer(&request, page(id, next)).await;
    }
    let ids: Vec<String> =
        listing.await.unwrap().unwrap().iter().map(|session| session.session_id.to_string()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

// ACPX-CLOSE-003: an agent that no longer knows the session has closed it; afterwards nothing is taken.
#[tokio::test]
async fn a_closed_session_takes_nothing() {
    let (session, mut agent) = opened(Client::builder(), json!({"sessionCapabilities": {"close": {}}})).await;
    let turn = session.prompt("go").await.unwrap();
    agent.expect("session/prompt").await;
    let closing = tokio::spawn({
        let session = session.clone();
        async move { session.close().await }
    });
    let request = agent.expect("session/close").await;
    let error = session.prompt("more").await.unwrap_err();
    assert!(error.to_string().contains("it is closing"), "{error}");
    agent.refuse(&request, -32002, "unknown session", json!(null)).await;
    closing.await.unwrap().unwrap();
    assert!(turn.finish().await.is_err());
    let error = session.prompt("more").await.unwrap_err();
    assert!(error.to_string().contains("it is closed"), "{error}");
    assert!(session.close().await.is_err());
    agent.assert_quiet().await;
}

// B163, B164: the agent's error comes whole, and its text says what its data says.
#[tokio::test]
async fn the_agents_error_comes_whole() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let opening = tokio::spawn(async move { client.new_session(Path::new(CWD)).await });
    let request = agent.expect("session/new").await;
    agent.refuse(&request, -32603, "Internal error", json!({"details": "unknown mode: auto"})).await;
    let error = opening.await.unwrap().unwrap_err();
    assert_eq!(error.refusal().unwrap().code.0, -32603);
    let text = error.to_string();
    assert!(text.contains("session/new") && text.contains("unknown mode: auto"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

async fn logged_out(login: Login) -> (Client, Agent) {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let methods =
        json!([{"id": "t", "name": "Terminal", "type": "terminal"}, {"id": "a", "name": "Agent login"}]);
    let answer = json!({"protocolVersion": 1, "authMethods": methods});
    let connecting = Client::builder().login(login).connect(read, write);
    let (client, ()) = tokio::join!(connecting, agent.serve("initialize", answer));
    (client.expect("the handshake succeeds"), agent)
}

// T14, B193, ACPX-AUTH-004, ACPX-AUTH-013: a login with the chosen method, then one more attempt.
#[tokio::test]
async fn t14_a_login_and_one_more_attempt() {
    let (client, mut agent) = logged_out(Login::with_method("a")).await;
    let opening = tokio::spawn(async move { client.new_session(Path::new(CWD)).await });
    let request = agent.expect("session/new").await;
    agent.refuse(&request, -32000, "Authentication required", json!(null)).await;
    let login = agent.expect("authenticate").await;
    assert_eq!(login["params"], json!({"methodId": "a"}));
    agent.answer(&login, json!({})).await;
    agent.serve("session/new", json!({"sessionId": "sess_1"})).await;
    opening.await.unwrap().unwrap();
}

// T14, B194: no loop when that does not help; the error names the ways to log in.
#[tokio::test]
async fn t14_no_loop_when_a_login_does_not_help() {
    let (client, mut agent) = logged_out(Login::with_method("a")).await;
    let opening = tokio::spawn(async move { client.new_session(Path::new(CWD)).await });
    let request = agent.expect("session/new").await;
    agent.refuse(&request, -32000, "Authentication required", json!(null)).await;
    agent.serve("authenticate", json!({})).await;
    let request = agent.expect("session/new").await;
    agent.refuse(&request, -32000, "Authentication required", json!(null)).await;
    let error = opening.await.unwrap().unwrap_err();
    let Error::AuthRequired { methods, .. } = &error else { panic!("{error:?}") };
    assert_eq!(methods.len(), 2);
    assert!(error.to_string().contains("`t`, `a`"), "{error}");
}

// ACPX-AUTH-005: a method for the terminal is never sent as a request.
#[tokio::test]
async fn a_terminal_method_is_never_requested() {
    let (client, mut agent) = logged_out(Login::with_method("t")).await;
    assert!(client.authenticate("t").await.is_err());
    let opening = tokio::spawn({
        let client = client.clone();
        async move { client.new_session(Path::new(CWD)).await }
    });
    let request = agent.expect("session/new").await;
    agent.refuse(&request, -32000, "Authentication required", json!(null)).await;
    let error = opening.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::AuthRequired { .. }), "{error:?}");
    agent.assert_quiet().await;
}
