//! Clients that ask for everything at once: each request gets one answer, and what is left can be opened again.

use std::collections::{BTreeMap, BTreeSet};

use accord_agent::{
    StopReason,
    runtime::{Active, Turn},
};
use serde_json::{Value, json};

use crate::{
    stage::{Script, Stage, listed},
    support::{Peer, cancel},
};

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Talks for a while, unless it is cancelled.
fn talking() -> Script {
    Script::new(|turn: Turn| async move {
        turn.record(&turn.text()).await?;
        for word in 0..20 {
            turn.say(format!("{word} ")).await?;
            tokio::task::yield_now().await;
        }
        Ok(StopReason::EndTurn)
    })
}

/// One client's requests about one session, written at once; what is withdrawn was asked for before.
fn requests(peer: &mut Peer, stage: &Stage, session: &str, dice: &mut Dice) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    for _ in 0..40 {
        let id = json!({"sessionId": session});
        let line = match dice.roll(10) {
            0..=2 => peer.prompt(session, "talk"),
            3 => cancel(session),
            4 => peer.request("session/close", id),
            5 => peer.request("session/load", stage.params(session)),
            6 => peer.request("session/resume", stage.params(session)),
            7 => peer.request("session/set_mode", json!({"sessionId": session, "modeId": "auto"})),
            8 => peer.request(
                "session/set_config_option",
                json!({"sessionId": session, "configId": "reasoning_effort", "value": "high"}),
            ),
            _ => {
                let asked: Vec<_> = lines.iter().filter(|line| !line["id"].is_null()).collect();
                let Some(line) = asked.get(usize::try_from(dice.roll(40)).expect("small")) else { continue };
                let params = json!({"requestId": line["id"]});
                json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params})
            }
        };
        lines.push(line);
    }
    lines
}

// D2, D4, D7, ACPX-RPC-003: whatever crosses whatever
#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_requests_about_one_session_leaves_it_whole() {
    for seed in 0..24 {
        let stage = Stage::new();
        let active = if seed % 2 == 0 { Active::Reserved } else { Active::Reopenable };
        let mut peer = Peer::connected(stage.builder(talking()).active(active).build(), json!({})).await;
        let (session, _) = stage.open(&mut peer).await;
        let lines = requests(&mut peer, &stage, &session, &mut Dice(seed));
        let asked: BTreeSet<i64> = lines.iter().filter_map(|line| line["id"].as_i64()).collect();
        peer.send_all(lines).await;
        let mut answers: BTreeMap<i64, usize> = BTreeMap::new();
        while answers.len() < asked.len() {
            let message = peer.next().await;
            if message["method"].is_null() {
                *answers.entry(message["id"].as_i64().expect("an id of ours")).or_default() += 1;
            }
        }
        let (rest, served) = peer.hang_up().await;
        assert!(served.is_ok(), "seed {seed}");
        assert!(rest.iter().all(|message| message["method"] == "session/update"), "seed {seed}: {rest:?}");
        assert!(answers.values().all(|count| *count == 1), "seed {seed}: {answers:?}");
        assert_eq!(answers.into_keys().collect::<BTreeSet<_>>(), asked, "seed {seed}");
        // Nobody holds it any more, and it reads from its beginning to its end.
        let mut peer = stage.start(talking()).await;
        assert_eq!(listed(&peer.call("session/list", json!({})).await), [&session], "seed {seed}");
        let load = peer.request("session/load", stage.params(&session));
        peer.send(load.clone()).await;
        let (_, answer) = peer.answer(&load).await;
        assert!(answer["result"].is_object(), "seed {seed}: {answer}");
    }
}

// D6, X5
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_new_sessions_is_served() {
    let stage = Stage::new();
    let mut peer = stage.start(talking()).await;
    let new: Vec<Value> = (0..80).map(|_| peer.request("session/new", stage.new_params())).collect();
    peer.send_all(new.clone()).await;
    let mut opened = BTreeSet::new();
    while opened.len() < new.len() {
        let message = peer.next().await;
        if message["method"].is_null() {
            let id = message["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{message}"));
            assert!(opened.insert(id.to_owned()), "{id} was given twice");
        }
    }
    drop(peer.hang_up().await);
    let mut peer = stage.start(talking()).await;
    let first = peer.call("session/list", json!({})).await;
    let second = peer.call("session/list", json!({"cursor": first["result"]["nextCursor"]})).await;
    let all: BTreeSet<_> = listed(&first).into_iter().chain(listed(&second)).map(str::to_owned).collect();
    assert_eq!(all, opened);
}
