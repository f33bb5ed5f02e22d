//! Logging in with the agent's own credentials, and what a client is told where there are none.

use accord_agent::blocking::{Login, Reply};
use serde_json::{Value, json};

use super::harness::{Puppet, Wire, folder};

fn with(login: Login) -> Puppet {
    let agent = Puppet::new(|_, _, _| Ok(Reply::done()));
    *agent.login.lock().expect("no panic while held") = login;
    agent
}

async fn methods(agent: Puppet, capabilities: Value) -> (Wire, Value) {
    let state = folder();
    let wire = Wire::open(agent, state.path(), |builder| builder, capabilities).await;
    let methods = wire.introduced["authMethods"].clone();
    (wire, methods)
}

// H11
#[tokio::test]
async fn the_setup_is_offered_to_clients_with_a_terminal_and_the_provider_to_all() {
    let configured = || with(Login::Configured { provider: "Local Server".into() });
    let (wire, plain) = methods(configured(), json!({})).await;
    assert_eq!(
        plain,
        json!([{ "id": "local-server", "name": "Local Server", "description": plain[0]["description"] }])
    );
    wire.close().await;
    let (wire, terminal) = methods(configured(), json!({ "auth": { "terminal": true } })).await;
    let setup = &terminal[1];
    assert_eq!(
        (&setup["type"], &setup["id"], &setup["args"]),
        (&json!("terminal"), &json!("setup"), &json!(["--setup"]))
    );
    wire.close().await;
}

// H11
#[tokio::test]
async fn without_credentials_sessions_want_a_login_until_there_are_some() {
    let state = folder();
    let agent = with(Login::Missing { what: "no model server is configured".into() });
    let login = agent.login.clone();
    let mut wire = Wire::simple(agent, state.path()).await;
    let new = json!({ "cwd": state.path(), "mcpServers": [] });
    let error = wire.refused("session/new", new.clone()).await;
    assert_eq!(error["code"], -32000);
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("no model server is configured") && message.contains("--setup"), "{message}");
    *login.lock().expect("no panic while held") = Login::Configured { provider: "Local".into() };
    wire.call("session/new", new).await;
    wire.call("authenticate", json!({ "methodId": "local" })).await;
    let error = wire.refused("authenticate", json!({ "methodId": "other" })).await;
    assert_eq!(error["code"], -32602);
    wire.close().await;
}
