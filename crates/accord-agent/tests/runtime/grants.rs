//! What the person decided for good: it holds in its session, after a restart too, and in no other.

use accord_agent::{Question, StopReason, protocol::v1::ToolCallUpdate, runtime::Turn};
use serde_json::json;

use crate::{
    stage::{Script, Stage},
    support::{Peer, stop, texts},
};

/// Asks about each word of its prompt.
fn asking() -> Script {
    Script::new(|turn: Turn| async move {
        for word in turn.text().split_whitespace() {
            let call = ToolCallUpdate::new(format!("call_{word}")).title(word);
            let decision = turn.ask(Question::new(call).operation(word)).await?;
            turn.say(if decision.is_allowed() { "yes " } else { "no " }).await?;
        }
        Ok(StopReason::EndTurn)
    })
}

/// What was said, and which operations the person was asked about; they are answered in this order.
async fn ask(peer: &mut Peer, session: &str, words: &str, options: &[&str]) -> (String, Vec<String>) {
    let prompt = peer.prompt(session, words);
    peer.send(prompt.clone()).await;
    let (mut seen, mut asked, mut options) = (vec![], vec![], options.iter());
    loop {
        let message = peer.next().await;
        if message["method"] == "session/request_permission" {
            asked.push(message["params"]["toolCall"]["title"].as_str().unwrap_or_default().to_owned());
            let option = options.next().unwrap_or_else(|| panic!("not to be asked: {message}"));
            let result = json!({"outcome": {"outcome": "selected", "optionId": option}});
            peer.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).await;
        } else if message["id"] == prompt["id"] {
            assert_eq!(stop(&message), "end_turn");
            return (texts(&seen).concat().trim().to_owned(), asked);
        } else {
            seen.push(message);
        }
    }
}

// H16, D7, ACPX-PERM-012, ACPX-PERM-013
#[tokio::test]
async fn decisions_for_good_survive_a_restart_and_stay_in_their_session() {
    let stage = Stage::new();
    let mut peer = stage.start(asking()).await;
    let (id, _) = stage.open(&mut peer).await;
    let (said, _) = ask(&mut peer, &id, "read write rm", &["allow", "always", "never"]).await;
    assert_eq!(said, "yes yes no");
    drop(peer.hang_up().await);

    for method in ["session/resume", "session/load"] {
        let builder = stage.builder(asking()).unstable_fork();
        let mut peer = Peer::connected(builder.build(), json!({})).await;
        let request = peer.request(method, stage.params(&id));
        peer.send(request.clone()).await;
        assert!(peer.answer(&request).await.1["result"].is_object(), "{method}");
        peer.next().await;
        let (said, asked) = ask(&mut peer, &id, "rm write read", &["reject"]).await;
        assert_eq!((said.as_str(), asked), ("no yes no", vec!["read".to_owned()]), "{method}: once is once");
        // Neither a new session nor a copy inherits them.
        let (other, _) = stage.open(&mut peer).await;
        let (_, asked) = ask(&mut peer, &other, "write", &["allow"]).await;
        assert_eq!(asked, ["write"]);
        let fork = peer.call("session/fork", stage.params(&id)).await;
        let fork = fork["result"]["sessionId"].as_str().unwrap().to_owned();
        peer.next().await;
        let (_, asked) = ask(&mut peer, &fork, "write", &["allow"]).await;
        assert_eq!(asked, ["write"]);
        drop(peer.hang_up().await);
    }
}
