//! Lines that are no messages, and messages in unusual lines.

use accord_transport::Options;
use serde_json::{Value, json};

use crate::support::{Echo, Raw};

const SECRET: &str = "sentinel-7f3a";

/// A line, and the code and id it is answered with by an agent.
type Case = (Vec<u8>, Option<(i64, Value)>);

fn table() -> Vec<Case> {
    let text = |line: &str, answer| (line.as_bytes().to_vec(), answer);
    let parse = || Some((-32700, Value::Null));
    let invalid = || Some((-32600, Value::Null));
    vec![
        text(&format!("{SECRET} is not JSON"), parse()),
        text(r#"{"jsonrpc":"2.0","id":5,"meth"#, parse()),
        text("", None),
        text("   \t  ", None),
        text("42", invalid()),
        text(&format!("\"{SECRET}\""), invalid()),
        text("null", invalid()),
        text("[]", invalid()),
        text(r#"[{"jsonrpc":"2.0","id":5,"method":"_x"}]"#, invalid()),
        text("[1,", parse()),
        text(r#"{"jsonrpc":"2.0","id":5,"method":"_x"} {"jsonrpc":"2.0","id":6,"method":"_x"}"#, parse()),
        text("{}", invalid()),
        text(r#"{"jsonrpc":"2.0","foo":1}"#, invalid()),
        text(r#"{"jsonrpc":"2.0","id":777}"#, invalid()),
        text(r#"{"jsonrpc":"2.0","id":1.5,"method":"_x"}"#, invalid()),
        text(r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"_x"}"#, invalid()),
        text(r#"{"jsonrpc":"2.0","id":true,"method":"_x"}"#, invalid()),
        text(r#"{"jsonrpc":"2.0","id":{},"method":"_x"}"#, invalid()),
        text(r#"{"jsonrpc":"2.0","id":[1],"method":"_x"}"#, invalid()),
        text(r#"{"id":5,"method":"_x"}"#, Some((-32600, json!(5)))),
        text(r#"{"jsonrpc":"1.0","id":5,"method":"_x"}"#, Some((-32600, json!(5)))),
        text(r#"{"jsonrpc":"2.0","id":5,"method":7}"#, Some((-32600, json!(5)))),
        text(r#"{"jsonrpc":"1.0","method":"_x"}"#, None),
        text("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"_\u{0}\"}", parse()),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"_\xff\xfe\"}".to_vec(), parse()),
        text(r#"{"jsonrpc":"2.0","id":"a\ud800","method":"_x"}"#, parse()),
        text(
            &format!(
                r#"{{"jsonrpc":"2.0","id":5,"method":"_x","params":{}{}}}"#,
                "[".repeat(200),
                "]".repeat(200)
            ),
            Some((-32600, json!(5))),
        ),
        // What looks like a response is never answered.
        text(r#"{"jsonrpc":"2.0","id":777,"result":{}}"#, None),
        text(r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32700,"message":"m"}}"#, None),
        text(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#, None),
        text(r#"{"jsonrpc":"2.0","id":777,"result":{},"error":{"code":1,"message":"m"}}"#, None),
        text(r#"{"jsonrpc":"2.0","id":777,"method":"_x","result":{}}"#, None),
        text(r#"{"jsonrpc":"2.0","error":"no"}"#, None),
    ]
}

// T3, B151, B152, B170, B181, ACPX-RPC-010..014, ACPX-TR-011, ACPX-TR-014, ACPX-TR-020
#[tokio::test]
async fn an_agent_answers_each_bad_line_at_most_once_and_lives() {
    let (_handle, mut raw) = Raw::connected(Options::agent(), Echo);
    for (line, answer) in table() {
        raw.send([line.as_slice(), b"\n"].concat()).await;
        let name = String::from_utf8_lossy(&line).into_owned();
        let answers = raw.until_probe().await;
        match answer {
            None => assert_eq!(answers, Vec::<Value>::new(), "{name}"),
            Some((code, id)) => {
                assert_eq!(answers.len(), 1, "{name}: {answers:?}");
                assert_eq!((&answers[0]["error"]["code"], &answers[0]["id"]), (&json!(code), &id), "{name}");
            }
        }
        assert!(!answers.iter().any(|answer| answer.to_string().contains(SECRET)), "{answers:?}");
    }
}

// T3, B152
#[tokio::test]
async fn a_client_never_answers_a_bad_line() {
    let (_handle, mut raw) = Raw::connected(Options::client(), Echo);
    for (line, answer) in table() {
        // A request with a readable id has a caller who waits, unless the line is beyond reading.
        if answer.is_some_and(|(_, id)| !id.is_null()) {
            continue;
        }
        raw.send([line.as_slice(), b"\n"].concat()).await;
        assert_eq!(raw.until_probe().await, Vec::<Value>::new(), "{}", String::from_utf8_lossy(&line));
    }
}

// ACPX-TR-010, T3
#[tokio::test]
async fn unusual_lines_are_messages_all_the_same() {
    let (_handle, mut raw) = Raw::connected(Options::agent(), Echo);
    let message = r#"{"jsonrpc":"2.0","id":5,"method":"_x","params":{"t":"\u0000 é"}}"#;
    for line in [
        format!("{message}\n"),
        format!("{message}\r\n"),
        format!("\u{feff}{message}\n"),
        format!("\r\n\n  {message}  \n"),
        format!("{}\n", message.replace(',', " ,\t")),
        format!("{}\n", message.replace("\"id\":5", "\"id\":4,\"id\":5,\"more\":[{}]")),
    ] {
        raw.send(&line).await;
        let answer = raw.line().await.expect("it is answered");
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 5, "result": {"t": "\u{0} é"}}), "{line}");
    }
}

// ACP-JSONRPC-001, ACPX-RPC-007, ACPX-RPC-008
#[tokio::test]
async fn ids_come_back_exactly() {
    let (_handle, mut raw) = Raw::connected(Options::agent(), Echo);
    for id in [
        "0",
        "-1",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "\"\"",
        "\"7\"",
        "null",
    ] {
        raw.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"_x\"}}\n")).await;
        let line = raw.lines.next_line().await.expect("readable").expect("answered");
        assert!(line.contains(&format!("\"id\":{id},")), "{line}");
    }
    raw.send("{\"jsonrpc\":\"2.0\",\"id\":-0,\"method\":\"_x\"}\n").await;
    assert_eq!(raw.line().await.expect("answered")["id"], 0);
}
