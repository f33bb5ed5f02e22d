//! The handshake: what is sent, what is accepted, what is said when it fails.

use std::time::Duration;

use accord_client::{Client, ConnectError};
use serde_json::json;
use tokio::io::split;

use crate::script::{connected, wire};

// ACPX-INIT-001 to 004, B187: version 1, the capabilities, a name; and nothing else before the answer.
#[tokio::test]
async fn initialize_says_who_we_are_and_what_we_offer() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let connecting = tokio::spawn(Client::builder().connect(read, write));
    let request = agent.expect("initialize").await;
    assert_eq!(request["params"]["protocolVersion"], 1);
    assert_eq!(request["params"]["clientCapabilities"], json!({}));
    assert_eq!(request["params"]["clientInfo"]["name"], "accord-client");
    agent.answer(&request, json!({"protocolVersion": 1})).await;
    let client = connecting.await.unwrap().unwrap();
    assert!(client.agent().agent_capabilities.is_none());
}

// E6, ACPX-INIT-005, B185: another version is an error that says so, and the connection is closed.
#[tokio::test]
async fn another_version_is_refused_and_closed() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let (client, ()) = tokio::join!(
        Client::builder().connect(read, write),
        agent.serve("initialize", json!({"protocolVersion": 2}))
    );
    let error = client.unwrap_err();
    assert!(matches!(error, ConnectError::Version { agent: 2, ours: 1 }), "{error:?}");
    assert_eq!(error.to_string(), "the agent speaks version 2 of the protocol, this client version 1");
    assert_eq!(agent.next().await, None);
}

// T2, B172: an agent that prints something else and never answers.
#[tokio::test(start_paused = true)]
async fn t2_initialize_unanswered_ends_at_the_deadline() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let connecting =
        tokio::spawn(Client::builder().startup_deadline(Duration::from_secs(5)).connect(read, write));
    agent.expect("initialize").await;
    agent.write("banner\n{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVer\n").await;
    let error = connecting.await.unwrap().unwrap_err();
    let ConnectError::Timeout { after, .. } = error else { panic!("{error:?}") };
    assert_eq!(after, Duration::from_secs(5));
}

// E5, ACPX-TR-017: an agent that goes away during the handshake is told at once.
#[tokio::test]
async fn an_agent_that_ends_before_it_answers_is_told() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let connecting = tokio::spawn(Client::builder().connect(read, write));
    agent.expect("initialize").await;
    drop(agent);
    let error = connecting.await.unwrap().unwrap_err();
    assert!(matches!(error, ConnectError::Ended(_)), "{error:?}");
}

#[tokio::test]
async fn an_agent_that_refuses_is_quoted() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let connecting = tokio::spawn(Client::builder().connect(read, write));
    let request = agent.expect("initialize").await;
    agent.refuse(&request, -32603, "no licence", json!({"details": "expired"})).await;
    let error = connecting.await.unwrap().unwrap_err();
    assert!(matches!(error, ConnectError::Refused(_)), "{error:?}");
    assert!(error.to_string().contains("no licence") && error.to_string().contains("expired"), "{error}");
}

// B146, ACPX-INIT-012: odd values count as absent, and do not fail the handshake.
#[tokio::test]
async fn odd_capabilities_count_as_absent() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let answer = json!({
        "protocolVersion": 1,
        "agentInfo": {"name": "x", "version": null},
        "agentCapabilities": {"promptCapabilities": null, "loadSession": "yes"},
        "authMethods": [{"id": "ok", "name": "OK", "description": null}, {"id": 7}],
    });
    let (client, ()) =
        tokio::join!(Client::builder().connect(read, write), agent.serve("initialize", answer));
    let client = client.unwrap();
    assert!(client.agent().agent_info.get().is_none());
    let methods = client.agent().auth_methods.as_ref().unwrap();
    assert_eq!(methods.iter().filter_map(accord_client::auth::id_of).collect::<Vec<_>>(), ["ok"]);
}

// E5: the end of the connection has a reason, and outstanding requests fail at once.
#[tokio::test]
async fn the_end_of_the_connection_fails_what_is_outstanding() {
    let (client, mut agent) =
        connected(Client::builder(), json!({"sessionCapabilities": {"list": {}}})).await;
    let asking = client.clone();
    let list = tokio::spawn(async move {
        asking.list_sessions(accord_client::protocol::v1::ListSessionsRequest::new()).await
    });
    agent.expect("session/list").await;
    drop(agent);
    let error = list.await.unwrap().unwrap_err();
    assert!(matches!(error, accord_client::Error::Lost(_)), "{error:?}");
    assert_eq!(client.closed().await.reason(), accord_client::Reason::Completed);
}
