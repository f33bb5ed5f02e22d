//! Real processes: how an agent's end is told, what it printed, how it is logged in to.
#![cfg(unix)]

use std::fs;

use accord_client::{
    AgentCommand, Client, ConnectError, Reason, Runner,
    auth::{Login, LoginError, login_in_terminal},
    protocol::v1::{AuthMethodTerminal, ClientCapabilities},
    registry::{Availability, ConfiguredAgent, Registry},
    runner::RunnerBuilder,
};

/// An agent in a few lines of shell: `prompt` is what it does when it is prompted.
fn agent(before: &str, prompt: &str) -> AgentCommand {
    let script = format!(
        r#"{before}
        reply() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
        while read -r line; do
            id=${{line#*\"id\":}}; id=${{id%%,*}}; id=${{id%%\}}*}}
            case $line in
                *'"method":"initialize"'*) reply '{{"protocolVersion":1,"agentInfo":{{"name":"sh","version":"1"}}}}' ;;
                *'"method":"session/new"'*) reply '{{"sessionId":"sess_1"}}' ;;
                *'"method":"session/prompt"'*) {prompt} ;;
            esac
        done"#
    );
    AgentCommand::new("/bin/sh").args(["-c", script.as_str()])
}

const END_TURN: &str = r#"reply '{"stopReason":"end_turn"}'"#;

async fn end_of(prompt: &str) -> (Option<accord_client::TurnError>, accord_client::End) {
    let client = Client::builder().spawn(agent("", prompt)).await.expect("the agent starts");
    let session = client.new_session(std::env::temp_dir()).await.expect("the session opens");
    let outcome = session.prompt("go").await.expect("the prompt is sent").finish().await;
    (outcome.err(), client.closed().await)
}

// E5, ACPX-TR-017: with a child its exit decides, and the error says how it went and what it said last.
#[tokio::test]
async fn a_childs_exit_decides_the_reason() {
    let (error, end) = end_of("echo 'out of memory' >&2; exit 3").await;
    assert_eq!((end.reason(), end.exit_code(), end.signal()), (Reason::Crashed, Some(3), None));
    let text = error.unwrap().to_string();
    assert!(text.contains("connection lost"), "{text}");
    assert_eq!(end.stderr().trim_end(), "out of memory");
    let (error, end) = end_of("exit 0").await;
    assert!(error.is_some());
    assert_eq!((end.reason(), end.exit_code()), (Reason::Completed, Some(0)));
    let (error, end) = end_of("kill -9 $$").await;
    assert!(error.is_some());
    assert_eq!((end.reason(), end.signal()), (Reason::Killed, Some(9)));
}

// B079, ACPX-TR-016: a turn is over when it is answered, though the agent lives on; closing ends the agent.
#[tokio::test]
async fn closing_ends_the_agent() {
    let client = Client::builder().spawn(agent("", END_TURN)).await.unwrap();
    let session = client.new_session(std::env::temp_dir()).await.unwrap();
    for _ in 0..2 {
        session.prompt("go").await.unwrap().finish().await.unwrap();
    }
    assert!(!client.is_closed());
    let end = client.close().await;
    assert_eq!(end.reason(), Reason::Killed);
    assert!(session.prompt("more").await.is_err());
}

// B082, ACPX-TR-006: a flood on stderr around the answers holds nothing up, and only its end is kept.
#[tokio::test]
async fn a_flood_on_stderr_holds_nothing_up() {
    let flood = "head -c 1048576 /dev/zero | tr '\\0' 'x' >&2;";
    let client = Client::builder().spawn(agent(flood, &format!("{flood} {END_TURN}"))).await.unwrap();
    let session = client.new_session(std::env::temp_dir()).await.unwrap();
    session.prompt("go").await.unwrap().finish().await.unwrap();
    let end = client.close().await;
    assert!(end.stderr().len() <= 64 * 1024, "{}", end.stderr().len());
}

#[tokio::test]
async fn a_program_that_cannot_start_or_say_hello_is_named() {
    let error = Client::builder().spawn(AgentCommand::new("no-such-agent-program")).await.unwrap_err();
    assert_eq!(error.to_string(), "program not found: no-such-agent-program");
    let dying = AgentCommand::new("/bin/sh").args(["-c", "echo 'no licence' >&2; exit 4"]);
    let error = Client::builder().spawn(dying).await.unwrap_err();
    let ConnectError::Ended(end) = &error else { panic!("{error:?}") };
    assert_eq!(end.exit_code(), Some(4));
    assert!(error.to_string().contains("no licence"), "{error}");
}

// ACPX-AUTH-006, ACPX-AUTH-007: the agent's own program, its own arguments first, the method's environment over its own.
#[tokio::test]
async fn a_terminal_login_runs_the_agents_own_program() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = r#"printf '%s\n' "$@" "$BASE" "$OVER" > "$LOG"; exit "${CODE:-0}""#;
    let command = AgentCommand::new("/bin/sh")
        .args(["-c", script, "sh", "--base"])
        .env("BASE", "base")
        .env("OVER", "under")
        .env("LOG", log.as_os_str());
    let mut method = AuthMethodTerminal::new("t", "Terminal");
    method.args = Some(vec!["login".into(), "--now".into()]);
    method.env = Some([("OVER".to_owned(), "over".into())].into());
    login_in_terminal(&command, &method).await.unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "--base\nlogin\n--now\nbase\nover\n");
    method.env = Some([("CODE".to_owned(), "5".into())].into());
    let error = login_in_terminal(&command, &method).await.unwrap_err();
    assert!(matches!(&error, LoginError::Failed(status) if status.code() == Some(5)), "{error:?}");
}

// Issue's auth: a runner logs in through the terminal, connects anew and opens the session, once.
#[tokio::test]
async fn a_runner_logs_in_through_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        if [ "$1" = login ]; then touch "$DONE"; exit 0; fi
        reply() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
        while read -r line; do
            id=${line#*\"id\":}; id=${id%%,*}; id=${id%%\}*}
            case $line in
                *'"method":"initialize"'*)
                    reply '"result":{"protocolVersion":1,"authMethods":[{"id":"t","name":"T","type":"terminal","args":["login"]}]}' ;;
                *'"method":"session/new"'*)
                    if [ -e "$DONE" ]; then reply '"result":{"sessionId":"sess_1"}'
                    else reply '"error":{"code":-32000,"message":"Authentication required"}'; fi ;;
                *'"method":"session/prompt"'*) reply '"result":{"stopReason":"end_turn"}' ;;
            esac
        done"#;
    let done = folder.path().join("done");
    let command = AgentCommand::new("/bin/sh").args(["-c", script, "sh"]).env("DONE", done.as_os_str());
    let build = |login: Option<Login>| {
        let builder = Runner::builder(command.clone()).cwd(std::env::temp_dir());
        match login {
            Some(login) => builder.login(login),
            None => builder,
        }
    };
    let (unable, _events) = build(None).start();
    let error = unable.run("go").await.unwrap_err();
    assert!(error.to_string().contains("it advertises `t`"), "{error}");

    let (runner, mut events) = build(Some(Login::with_method("t"))).start();
    let running = tokio::spawn(async move {
        let outcome = runner.run("go").await;
        runner.dispose().await;
        outcome
    });
    let mut names = Vec::new();
    while let Some(event) = events.next().await {
        names.push(event.kind.name());
    }
    running.await.unwrap().unwrap();
    assert_eq!(names, ["run.started", "run.completed", "runner.closed"]);
}

// E24: what is configured, and what its last handshake said, in one file that others may write, too.
#[tokio::test]
async fn a_registry_keeps_what_the_last_handshake_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents/agents.json");
    let registry = Registry::open(&path).unwrap();
    assert!(registry.agents().is_empty());
    let mut shell = ConfiguredAgent::new("sh", "/bin/sh");
    shell.args = vec!["-c".into(), "exit 1".into()];
    shell.env = [("KEY".to_owned(), "hunter2".to_owned())].into();
    registry.put(shell.clone()).unwrap();
    assert_eq!(registry.availability("sh"), Availability::Unknown);
    assert!(!format!("{registry:?}").contains("hunter2"));

    let error = registry.connect("sh", Client::builder()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Ended(_)), "{error:?}");
    assert!(matches!(registry.availability("sh"), Availability::Unavailable { .. }));
    let error = registry.connect("other", Client::builder()).await.unwrap_err();
    assert!(matches!(error, ConnectError::NotConfigured { .. }), "{error:?}");

    // A live one refreshes it, through a runner as well; another process sees it in the file.
    shell.args[1] = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}'; read line"#.into();
    let id = first_id().await;
    shell.args[1] = shell.args[1].replace("\"id\":1", &format!("\"id\":{id}"));
    registry.put(shell).unwrap();
    let source = accord_client::runner::Source::Configured(registry.clone(), "sh".into());
    let client = RunnerBuilder::client_builder().capabilities(ClientCapabilities::new());
    let (runner, _events) = Runner::builder(source).client(client).cwd(std::env::temp_dir()).start();
    assert!(runner.open().await.is_err());
    let other = Registry::open(&path).unwrap();
    let Availability::Available { agent } = other.availability("sh") else {
        panic!("{:?}", other.availability("sh"))
    };
    assert_eq!(agent.agent_capabilities.unwrap().load_session, Some(true));
    runner.dispose().await;

    // Members of other programs survive, and so does a change made behind our back.
    let mut text = fs::read_to_string(&path).unwrap();
    text = text.replacen("\"name\": \"sh\"", "\"name\": \"sh\", \"colour\": \"red\"", 1).replacen(
        '{',
        "{\"theirs\": 1,",
        1,
    );
    fs::write(&path, text).unwrap();
    registry.put(ConfiguredAgent::new("second", "true")).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"colour\": \"red\"") && text.contains("\"theirs\": 1"), "{text}");
    registry.remove("sh").unwrap();
    assert_eq!(registry.agents().len(), 1);
    fs::write(&path, "[]").unwrap();
    assert!(registry.remove("second").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "[]");
}

/// The id the first request of a connection has.
async fn first_id() -> serde_json::Value {
    let (ours, mut agent) = crate::script::wire();
    let (read, write) = tokio::io::split(ours);
    let connecting = tokio::spawn(Client::builder().connect(read, write));
    let id = agent.expect("initialize").await["id"].clone();
    drop(agent);
    assert!(connecting.await.expect("the test goes on").is_err());
    id
}

// E25: any agent command, given by the environment: `ACCORD_SMOKE_AGENT='gemini --acp' cargo test -p accord-client smoke`.
#[tokio::test]
async fn smoke_any_agent() {
    let given = std::env::var("ACCORD_SMOKE_AGENT").ok();
    let command = match &given {
        Some(command) => {
            let mut words = command.split_whitespace();
            AgentCommand::new(words.next().expect("a program")).args(words)
        }
        None => agent("", END_TURN),
    };
    let folder = tempfile::tempdir().unwrap();
    let (runner, mut events) = Runner::builder(command).cwd(folder.path()).start();
    let running = tokio::spawn(async move {
        let outcome = runner.run("Say hello.").await;
        runner.dispose().await;
        outcome
    });
    let mut names = Vec::new();
    while let Some(event) = events.next().await {
        names.push(event.kind.name());
    }
    running.await.unwrap().unwrap();
    let count = |name: &str| names.iter().filter(|told| **told == name).count();
    assert_eq!(
        (count("run.started"), count("run.completed"), count("runner.closed")),
        (1, 1, 1),
        "{names:?}"
    );
}
