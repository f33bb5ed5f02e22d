//! Ready-made files, through the wire: what may be read and written, and what may not.

use std::{fs, path::Path};

use accord_client::{Client, Files};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::script::{Agent, connected};

/// A session in a folder of its own, with `f` of three lines in it, and `secret` beside it.
async fn session_in(files: Files) -> (accord_client::Session, Agent, TempDir) {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let cwd = outer.path().join("proj");
    fs::create_dir(&cwd).expect("a folder");
    fs::write(cwd.join("f"), "a\nb\r\nc").expect("a file");
    fs::write(outer.path().join("secret"), "s").expect("a file");
    let (client, mut agent) = connected(Client::builder().files(files), json!({})).await;
    let opened = json!({"sessionId": "sess_1"});
    let (session, ()) = tokio::join!(client.new_session(cwd.as_path()), agent.serve("session/new", opened));
    (session.expect("the session opens"), agent, outer)
}

async fn read(agent: &mut Agent, path: &Path, more: Value) -> Value {
    let mut params = json!({"sessionId": "sess_1", "path": path});
    params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    agent.ask(1, "fs/read_text_file", params).await;
    let answer = agent.expect_answer(1).await;
    answer["result"].get("content").cloned().unwrap_or_else(|| answer["error"]["code"].clone())
}

async fn write(agent: &mut Agent, path: &Path, content: &str) -> Value {
    agent
        .ask(2, "fs/write_text_file", json!({"sessionId": "sess_1", "path": path, "content": content}))
        .await;
    let answer = agent.expect_answer(2).await;
    answer.get("result").cloned().unwrap_or_else(|| answer["error"]["code"].clone())
}

// ACPX-FS-003, ACPX-FS-007, ACPX-FS-009, B199: windows of lines counted from 1, with their line ends; odd ones refused.
#[tokio::test]
async fn files_are_read_by_lines() {
    let (_session, mut agent, outer) = session_in(Files::read_only()).await;
    let file = outer.path().join("proj/f");
    for (window, expected) in [
        (json!({}), json!("a\nb\r\nc")),
        (json!({"line": null, "limit": null}), json!("a\nb\r\nc")),
        (json!({"line": 2}), json!("b\r\nc")),
        (json!({"line": 2, "limit": 1}), json!("b\r\n")),
        (json!({"limit": 2}), json!("a\nb\r\n")),
        (json!({"line": 9, "limit": 1}), json!("")),
        (json!({"limit": 0}), json!("")),
        (json!({"line": 0}), json!(-32602)),
        (json!({"line": -1}), json!(-32602)),
        (json!({"limit": 1.5}), json!(-32602)),
    ] {
        assert_eq!(read(&mut agent, &file, window.clone()).await, expected, "{window}");
    }
    assert_eq!(read(&mut agent, &outer.path().join("proj/none"), json!({})).await, -32002);
    assert_eq!(read(&mut agent, Path::new("f"), json!({})).await, -32602);
    // Not offered: reading alone.
    assert_eq!(write(&mut agent, &file, "x").await, -32601);
}

// ACPX-FS-008, B188's rule: the session's folders, and nothing that a link or a `..` leads to.
#[tokio::test]
async fn nothing_outside_the_sessions_folders_is_touched() {
    let (_session, mut agent, outer) = session_in(Files::new()).await;
    let proj = outer.path().join("proj");
    let mut outside =
        vec![outer.path().join("secret"), proj.join("../secret"), proj.join("../new"), "/".into()];
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(outer.path().join("secret"), proj.join("link")).unwrap();
        symlink(outer.path().join("nowhere"), proj.join("dangling")).unwrap();
        symlink(outer.path(), proj.join("folder")).unwrap();
        symlink(proj.join("f"), proj.join("inside")).unwrap();
        outside.extend([proj.join("link"), proj.join("folder/secret"), proj.join("folder/new/deep")]);
        assert_eq!(read(&mut agent, &proj.join("inside"), json!({"limit": 1})).await, "a\n");
        assert!(write(&mut agent, &proj.join("dangling"), "x").await.is_number());
        assert!(!outer.path().join("nowhere").exists());
        // Opening a pipe to which nobody writes would wait for ever.
        let pipe = proj.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read(&mut agent, &pipe, json!({})).await, -32602);
        assert_eq!(write(&mut agent, &pipe, "x").await, -32602);
    }
    for path in outside {
        assert_eq!(read(&mut agent, &path, json!({})).await, -32602, "{}", path.display());
        assert_eq!(write(&mut agent, &path, "x").await, -32602, "{}", path.display());
    }
    assert_eq!(fs::read_to_string(outer.path().join("secret")).unwrap(), "s");
    assert!(!outer.path().join("new").exists());
    // A folder, and a session that is not there.
    assert_eq!(read(&mut agent, &proj, json!({})).await, -32602);
    agent.ask(1, "fs/read_text_file", json!({"sessionId": "sess_9", "path": proj.join("f")})).await;
    assert_eq!(agent.expect_answer(1).await["error"]["code"], -32002);
}

// ACPX-FS-005, ACPX-FS-006: files are made and replaced, with the folders they need; the answer is an empty object.
#[tokio::test]
async fn files_are_written() {
    let (_session, mut agent, outer) = session_in(Files::new()).await;
    let proj = outer.path().join("proj");
    for (name, content) in [("f", "new"), ("deep/er/g", "日本\n")] {
        assert_eq!(write(&mut agent, &proj.join(name), content).await, json!({}));
        assert_eq!(fs::read_to_string(proj.join(name)).unwrap(), content);
    }
}

// Rule 4: what is too large is refused, and a window into it is not; bytes that are no text are said to be none.
#[tokio::test]
async fn sizes_are_limited() {
    let (_session, mut agent, outer) = session_in(Files::new().size_limit(10)).await;
    let proj = outer.path().join("proj");
    fs::write(proj.join("big"), "1234\n6789\n1234\n").unwrap();
    fs::write(proj.join("fits"), "1234\n6789\n").unwrap();
    fs::write(proj.join("binary"), [0xFF, 0xFE]).unwrap();
    assert_eq!(read(&mut agent, &proj.join("big"), json!({})).await, -32603);
    assert_eq!(read(&mut agent, &proj.join("fits"), json!({})).await, "1234\n6789\n");
    assert_eq!(read(&mut agent, &proj.join("big"), json!({"line": 2, "limit": 2})).await, "6789\n1234\n");
    assert_eq!(read(&mut agent, &proj.join("big"), json!({"line": 1, "limit": 3})).await, -32603);
    assert_eq!(read(&mut agent, &proj.join("binary"), json!({})).await, -32603);
    assert_eq!(write(&mut agent, &proj.join("out"), "12345678901").await, -32602);
    assert!(!proj.join("out").exists());
}

// Quirk 26: an agent that reads a file before it makes it.
#[tokio::test]
async fn a_missing_file_may_read_as_empty() {
    let (_session, mut agent, outer) = session_in(Files::new().missing_reads_as_empty()).await;
    assert_eq!(read(&mut agent, &outer.path().join("proj/none"), json!({})).await, "");
    assert_eq!(read(&mut agent, &outer.path().join("none"), json!({})).await, -32602);
}
