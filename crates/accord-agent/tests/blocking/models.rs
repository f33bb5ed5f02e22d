//! Models, and the slash commands that the adapter answers.

use accord_agent::{
    blocking::Reply,
    runtime::{Catalogue, Effort, Model, Provider},
};
use serde_json::{Value, json};

use super::harness::{Puppet, Wire, folder, of, said};

fn choosing() -> Puppet {
    let agent = Puppet::new(|strings, prompt, _| {
        strings.usage = Some(accord_agent::blocking::Usage::new(50, 200));
        Ok(Reply::text(prompt.text()))
    });
    let thorough = Model::new("big", "Big").efforts([Effort::new("low", "Low"), Effort::new("high", "High")]);
    let local = Provider::new("local", "Local", [Model::new("small", "Small"), thorough]);
    Puppet { catalogue: Catalogue::new([local]), ..agent }
}

fn current<'a>(options: &'a Value, id: &str) -> &'a Value {
    let options = options.as_array().expect("options");
    &options.iter().find(|option| option["id"] == id).unwrap_or_else(|| panic!("{id} in {options:?}"))["currentValue"]
}

fn chosen(agent: &Puppet) -> Vec<(String, Option<String>)> {
    let choices = agent.choices.lock().expect("no panic while held");
    choices
        .iter()
        .map(|choice| (choice.route.as_ref().expect("a model").model.clone(), choice.effort.clone()))
        .collect()
}

// H14, H16
#[tokio::test]
async fn a_session_is_switched_to_another_model_and_stays_there() {
    let state = folder();
    let agent = choosing();
    let mut wire = Wire::simple(agent.clone(), state.path()).await;
    let opened = wire.call("session/new", json!({ "cwd": state.path(), "mcpServers": [] })).await;
    let session = opened["sessionId"].as_str().expect("an id").to_owned();
    assert_eq!(current(&opened["configOptions"], "model"), "local/small");
    let setup = agent.setups.lock().expect("no panic while held")[0].clone();
    assert_eq!(
        setup.choice.route.expect("a model").model,
        "small",
        "the conversation knows it from the start"
    );

    let other = wire.session(state.path()).await;
    for (option, value) in [("model", "local/big"), ("reasoning_effort", "high")] {
        let params = json!({ "sessionId": session, "configId": option, "value": value });
        let answer = wire.call("session/set_config_option", params).await;
        assert_eq!(current(&answer["configOptions"], option), value);
    }
    wire.prompt(&session, "hi").await;
    wire.prompt(&other, "hi").await;
    assert_eq!(
        chosen(&agent),
        [("big".to_owned(), Some("high".to_owned()))],
        "the other session keeps its own"
    );
    wire.close().await;

    let agent = choosing();
    let mut wire = Wire::simple(agent.clone(), state.path()).await;
    let params = json!({ "sessionId": session, "cwd": state.path(), "mcpServers": [] });
    let resumed = wire.call("session/resume", params).await;
    assert_eq!(current(&resumed["configOptions"], "model"), "local/big");
    assert_eq!(current(&resumed["configOptions"], "reasoning_effort"), "high");
    let setup = agent.setups.lock().expect("no panic while held")[0].clone();
    assert_eq!(
        (setup.choice.route.expect("a model").model, setup.choice.effort),
        ("big".into(), Some("high".into()))
    );
    wire.close().await;
}

/// What a command answers.
async fn command(wire: &mut Wire, session: &str, text: &str) -> (String, Vec<Value>) {
    let (stop, updates) = wire.prompt(session, text).await;
    assert_eq!(stop, "end_turn");
    (said(&updates), updates)
}

// H8, H14
#[tokio::test]
async fn the_adapters_commands_are_advertised_and_answered() {
    let state = folder();
    let agent = choosing();
    let mut wire = Wire::simple(agent.clone(), state.path()).await;
    let session = wire.session(state.path()).await;
    let advertised =
        wire.take(|frame| frame["params"]["update"]["sessionUpdate"] == "available_commands_update").await;
    let commands = advertised["params"]["update"]["availableCommands"].as_array().expect("commands").clone();
    let names: Vec<_> = commands.iter().filter_map(|command| command["name"].as_str()).collect();
    assert_eq!(names, ["help", "model", "context", "reset", "compact", "version"]);

    command(&mut wire, &session, "hello").await;
    let (help, _) = command(&mut wire, &session, "/help").await;
    assert!(names.iter().all(|name| help.contains(&format!("`/{name}`"))), "{help}");
    assert_eq!(command(&mut wire, &session, "/version").await.0, "puppet 4.5.6");
    let (context, _) = command(&mut wire, &session, "/context").await;
    assert_eq!(context, "2 entries (assistant: 1, user: 1); 50 of 200 tokens (25 %)");
    let (models, _) = command(&mut wire, &session, "/model").await;
    assert!(
        models.contains("`local/small`: Small (in use)") && models.contains("`local/big`: Big"),
        "{models}"
    );

    let (switched, updates) = command(&mut wire, &session, "/model big").await;
    assert!(switched.contains("Big"), "{switched}");
    let options = of(&updates, "config_option_update");
    assert_eq!(current(&options[0]["configOptions"], "model"), "local/big", "clients see it too");
    command(&mut wire, &session, "hello").await;
    assert_eq!(chosen(&agent), [("big".to_owned(), None)]);

    assert_eq!(command(&mut wire, &session, "/compact").await.0, "It is short now.");
    assert!(command(&mut wire, &session, "/context").await.0.starts_with("1 entries"));
    command(&mut wire, &session, "/reset").await;
    assert!(command(&mut wire, &session, "/context").await.0.starts_with("0 entries"));
    assert_eq!(
        command(&mut wire, &session, "/unknown thing").await.0,
        "/unknown thing",
        "the model's business"
    );

    let error = {
        let turn = wire.start(&session, "/model none").await;
        wire.response(turn).await["error"].clone()
    };
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().expect("a message").contains("local/big"), "{error}");
    wire.close().await;
}
