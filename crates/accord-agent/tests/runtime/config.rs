//! Config options: what is offered, what is chosen, what a turn is pinned to.

use std::sync::Arc;

use accord_agent::{
    StopReason,
    protocol::v1::SessionMode,
    runtime::{Catalogue, Choice, Effort, Model, Provider, Route, Runtime, Turn},
};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use crate::{
    stage::{Script, Stage, catalogue},
    support::{Peer, stop, texts},
};

/// The options of an answer, as `id=value`.
fn chosen(answer: &Value) -> Vec<String> {
    let result = answer.get("result").unwrap_or_else(|| panic!("{answer}"));
    let options = result["configOptions"].as_array().expect("options").iter();
    options.map(|option| format!("{}={}", option["id"], option["currentValue"]).replace('"', "")).collect()
}

async fn set(peer: &mut Peer, session: &str, option: &str, value: Value) -> Value {
    let mut params = json!({"sessionId": session, "configId": option, "value": value});
    if value.is_boolean() {
        params["type"] = json!("boolean");
    }
    peer.call("session/set_config_option", params).await
}

// D10, ACP-CONFIG-001, ACP-CONFIG-002, ACP-CONFIG-003, ACPX-CONFIG-001, ACPX-CONFIG-002, ACPX-CONFIG-015
#[tokio::test]
async fn every_answer_holds_the_complete_state() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, answer) = stage.open(&mut peer).await;
    // The boolean option is for clients that ask for such.
    assert_eq!(chosen(&answer), ["model=a%2Fb/m", "reasoning_effort=low", "mode=ask"]);
    let model = &answer["result"]["configOptions"][0];
    assert_eq!(model["category"], "model");
    let groups: Vec<_> = model["options"].as_array().unwrap().iter().map(|group| &group["group"]).collect();
    assert_eq!(groups, ["a/b", "c"]);

    let answer = set(&mut peer, &id, "model", json!("c/m")).await;
    assert_eq!(chosen(&answer), ["model=c/m", "mode=ask"], "a model without efforts has no such option");
    let answer = set(&mut peer, &id, "model", json!("a%2Fb/open")).await;
    assert_eq!(chosen(&answer), ["model=a%2Fb/open", "reasoning_effort=provider_default", "mode=ask"]);
    let (updates, _) = peer.turn(&id, "x").await;
    assert_eq!(texts(&updates), [" a%2Fb/open -"], "the provider's default is no effort at all");
    let answer = set(&mut peer, &id, "reasoning_effort", json!("high")).await;
    assert_eq!(chosen(&answer)[1], "reasoning_effort=high");
    let answer = set(&mut peer, &id, "model", json!("a%2Fb/m")).await;
    assert_eq!(chosen(&answer)[1], "reasoning_effort=high", "kept where the model has it too");

    let options = json!({"session": {"configOptions": {"boolean": {}}}});
    let mut peer = Peer::connected(stage.builder(Script::telling()).build(), options).await;
    let (id, answer) = stage.open(&mut peer).await;
    assert_eq!(chosen(&answer).last().unwrap(), "web=false");
    let answer = set(&mut peer, &id, "web", json!(true)).await;
    assert_eq!(chosen(&answer).last().unwrap(), "web=true");
}

// D16, ACPX-CONFIG-004, B122
#[tokio::test]
async fn what_is_not_offered_is_refused_and_changes_nothing() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, before) = stage.open(&mut peer).await;
    for (option, value, path) in [
        ("model", json!("no/such"), "value"),
        ("model", json!(true), "value"),
        ("reasoning_effort", json!("provider_default"), "value"),
        ("mode", json!("yolo"), "value"),
        ("nope", json!("x"), "configId"),
    ] {
        let answer = set(&mut peer, &id, option, value).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["data"]["path"], path, "{answer}");
    }
    assert_eq!(set(&mut peer, "nope", "model", json!("c/m")).await["error"]["code"], -32002);
    let after = set(&mut peer, &id, "mode", json!("ask")).await;
    assert_eq!(chosen(&after), chosen(&before));
}

// D3, ACPX-CONFIG-005
#[tokio::test]
async fn a_turn_keeps_what_it_was_admitted_with() {
    let stage = Stage::new();
    let release = Arc::new(Notify::new());
    let waits = Arc::clone(&release);
    let backend = Script::new(move |turn: Turn| {
        let waits = Arc::clone(&waits);
        async move {
            turn.say("started").await?;
            turn.update(accord_agent::protocol::v1::UsageUpdate::new(1_u64, 2_u64)).await?;
            waits.notified().await;
            turn.say(turn.choice().route.as_ref().map(ToString::to_string).unwrap_or_default()).await?;
            Ok(StopReason::EndTurn)
        }
    });
    let mut peer = stage.start(backend).await;
    let (id, _) = stage.open(&mut peer).await;
    let prompt = peer.prompt(&id, "x");
    peer.send(prompt.clone()).await;
    assert_eq!(texts(&[peer.next().await]), ["started"]);
    assert_eq!(peer.next().await["params"]["update"]["sessionUpdate"], "usage_update");
    let answer = set(&mut peer, &id, "model", json!("c/m")).await;
    assert_eq!(chosen(&answer)[0], "model=c/m", "answered while the turn runs");
    release.notify_one();
    let (updates, _) = peer.answer(&prompt).await;
    assert_eq!(texts(&updates), ["a%2Fb/m"]);
    release.notify_one();
    let (updates, _) = peer.turn(&id, "x").await;
    assert_eq!(texts(&updates), ["started", "c/m"]);
}

// D3: the image check is the pinned model's
#[tokio::test]
async fn images_go_to_models_that_take_them() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, _) = stage.open(&mut peer).await;
    let image =
        json!([{"type": "text", "text": "x"}, {"type": "image", "mimeType": "image/png", "data": "AA=="}]);
    let params = json!({"sessionId": id, "prompt": image});
    let request = peer.request("session/prompt", params.clone());
    peer.send(request.clone()).await;
    assert_eq!(stop(&peer.answer(&request).await.1), "end_turn");
    set(&mut peer, &id, "model", json!("a%2Fb/plain")).await;
    let answer = peer.call("session/prompt", params).await;
    assert_eq!(answer["error"]["data"]["path"], "prompt[1].type", "{answer}");
}

// D10, H16, B115, B116, B118, ACPX-RESTART-005
#[tokio::test]
async fn choices_survive_a_restart() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, opened) = stage.open(&mut peer).await;
    set(&mut peer, &id, "model", json!("a%2Fb/open")).await;
    set(&mut peer, &id, "reasoning_effort", json!("high")).await;
    let request = peer.request("session/set_mode", json!({"sessionId": id, "modeId": "auto"}));
    peer.send(request.clone()).await;
    assert_eq!(peer.answer(&request).await.1["result"], json!({}));
    drop(peer.hang_up().await);
    let mut peer = stage.start(Script::telling()).await;
    let answer = peer.call("session/resume", stage.params(&id)).await;
    assert_eq!(chosen(&answer), ["model=a%2Fb/open", "reasoning_effort=high", "mode=auto"]);
    assert_eq!(answer["result"]["modes"]["currentModeId"], "auto");
    peer.next().await;
    let (updates, _) = peer.turn(&id, "x").await;
    assert_eq!(texts(&updates), [" a%2Fb/open high"], "what is told is what is used");

    peer.call("session/close", json!({"sessionId": id})).await;
    let load = peer.request("session/load", stage.params(&id));
    peer.send(load.clone()).await;
    let loaded = peer.answer(&load).await.1;
    assert_eq!(loaded["result"], answer["result"]);
    let keys = |answer: &Value| -> Vec<String> {
        answer["result"]
            .as_object()
            .expect("a result")
            .keys()
            .filter(|key| *key != "sessionId")
            .cloned()
            .collect()
    };
    assert_eq!(keys(&loaded), keys(&opened));
}

// B127: what was chosen and is not known any more gives way to what there is, and the session opens
#[tokio::test]
async fn a_choice_that_is_not_known_any_more_gives_way() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, _) = stage.open(&mut peer).await;
    set(&mut peer, &id, "model", json!("a%2Fb/open")).await;
    set(&mut peer, &id, "reasoning_effort", json!("high")).await;
    let mode = peer.request("session/set_mode", json!({"sessionId": id, "modeId": "auto"}));
    peer.send(mode.clone()).await;
    assert_eq!(peer.answer(&mode).await.1["result"], json!({}));
    drop(peer.hang_up().await);
    let open = Model::new("open", "Open").efforts([Effort::new("low", "low")]);
    let less = Catalogue::new([Provider::new("a/b", "AB", [open])]).modes([SessionMode::new("ask", "Ask")]);
    let builder = stage.builder(Script::telling()).catalogue(less);
    let mut peer = Peer::connected(builder.build(), json!({})).await;
    let answer = peer.call("session/resume", stage.params(&id)).await;
    assert_eq!(chosen(&answer), ["model=a%2Fb/open", "reasoning_effort=provider_default", "mode=ask"]);
    assert_eq!(answer["result"]["modes"]["currentModeId"], "ask");
    peer.next().await;
    assert_eq!(texts(&peer.turn(&id, "x").await.0), [" a%2Fb/open -"]);
}

// ACP-MODES-001, ACP-MODES-002, ACPX-CONFIG-007, ACPX-MODE-003, ACPX-MODE-004
#[tokio::test]
async fn modes_and_the_mode_option_are_one() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, answer) = stage.open(&mut peer).await;
    assert_eq!(answer["result"]["modes"]["currentModeId"], "ask");
    let request = peer.request("session/set_mode", json!({"sessionId": id, "modeId": "auto"}));
    peer.send(request.clone()).await;
    let mut seen = peer.answer(&request).await.0;
    while seen.len() < 2 {
        seen.push(peer.next().await);
    }
    let updates: Vec<_> = seen.iter().map(|message| &message["params"]["update"]).collect();
    assert!(updates.iter().any(|update| update["currentModeId"] == "auto"), "{updates:?}");
    let options = updates.iter().find(|update| update["sessionUpdate"] == "config_option_update").unwrap();
    assert_eq!(options["configOptions"][2]["currentValue"], "auto");
    let answer = peer.call("session/set_mode", json!({"sessionId": id, "modeId": "yolo"})).await;
    assert_eq!(answer["error"]["data"]["path"], "modeId", "{answer}");
}

// D10: the catalogue is advice, and a change of it is told
#[tokio::test]
async fn a_changed_catalogue_is_told_to_every_session() {
    let stage = Stage::new();
    let small = Catalogue::new([Provider::new("c", "C", [Model::new("m", "M")])]);
    let (sender, receiver) = watch::channel(small.clone().initial(Route::new("own", "route")));
    let runtime: Runtime<_> = stage.builder(Script::telling()).changing_catalogue(receiver).build();
    let mut peer = Peer::connected(runtime, json!({})).await;
    let (_, answer) = stage.open(&mut peer).await;
    assert_eq!(chosen(&answer), ["model=own/route"], "a configured route that is not listed is used");
    assert_eq!(answer["result"]["configOptions"][0]["options"][1]["options"][0]["value"], "own/route");
    sender.send(catalogue()).unwrap();
    let update = peer.next().await["params"]["update"].clone();
    assert_eq!(update["sessionUpdate"], "config_option_update");
    let groups = update["configOptions"][0]["options"].as_array().unwrap().len();
    assert_eq!((groups, &update["configOptions"][0]["currentValue"]), (3, &json!("own/route")));
}

// D10, row by row, without a session
#[test]
fn a_choice_is_changed_as_a_whole_or_not_at_all() {
    let catalogue = catalogue();
    let choice = Choice::initial(&catalogue);
    let own = choice.set(&"model".into(), &"a%2Fb/m".into(), &Catalogue::default());
    assert!(own.is_ok(), "its own route stays offered, whatever the catalogue says");
    let changed = choice.set(&"model".into(), &"c/m".into(), &catalogue).unwrap();
    assert_eq!(changed.effort, None);
    assert_eq!(changed.mode, choice.mode);
    assert!(choice.set(&"web".into(), &true.into(), &catalogue).unwrap().is_on("web", &catalogue));
    assert!(choice.set(&"web".into(), &"true".into(), &catalogue).is_err());
    for (provider, model) in [("a/b", "c"), ("a%2Fb", "c/d"), ("", "x"), ("%", "/")] {
        let route = Route::new(provider, model);
        assert_eq!(route.to_string().parse(), Ok(route));
    }
}
