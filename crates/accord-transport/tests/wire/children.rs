//! Agents as child processes.

use accord_transport::{AgentCommand, CallError, Connection, Handle, Options, Reason, SpawnError};

use crate::support::{Echo, within};

pub(crate) fn spawn(command: &AgentCommand) -> Result<Handle, SpawnError> {
    let (handle, connection) = Connection::new(Options::client());
    connection.spawn_child(command, Echo)?;
    Ok(handle)
}

pub(crate) fn shell(script: &str) -> AgentCommand {
    AgentCommand::new("/bin/sh").args(["-c", script])
}

// T1, T2, B082
#[tokio::test]
async fn a_dying_launcher_is_reported_with_its_last_words() {
    let handle = spawn(&shell("read line; echo 'no such model' >&2; exit 3")).expect("sh is there");
    let error = within(handle.call_raw("initialize", &())).await.expect_err("it dies");
    let CallError::Lost(lost) = error else { panic!("{error}") };
    assert_eq!(lost.end().exit_code(), Some(3));
    assert_eq!(lost.end().reason(), Reason::Crashed);
    assert_eq!(lost.end().program(), Some("/bin/sh"));
    assert!(lost.end().stderr().contains("no such model"));
    assert!(lost.to_string().contains("/bin/sh") && lost.to_string().contains("no such model"), "{lost}");
}

// T2
#[tokio::test]
async fn a_missing_program_is_named() {
    let error = spawn(&AgentCommand::new("accord-no-such-agent")).expect_err("it is missing");
    assert!(matches!(&error, SpawnError::NotFound { program } if program == "accord-no-such-agent"));
    assert!(error.to_string().contains("accord-no-such-agent"));
}

#[tokio::test]
async fn a_child_answers_and_is_closed() {
    let handle =
        spawn(&shell(r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'; cat >/dev/null"#))
            .expect("sh is there");
    assert_eq!(within(handle.call_raw("x", &())).await.expect("answered").get(), r#"{"a":1}"#);
    handle.close();
    let end = within(handle.closed()).await;
    assert_eq!((end.reason(), end.exit_code()), (Reason::Killed, Some(0)));
}
