//! MCP servers, real ones: a shell script over stdio, a socket over HTTP.

use std::{fs, io, path::Path, time::Duration};

use accord_agent::{
    StopReason,
    mcp::{McpPolicy, McpSettings},
    runtime::Turn,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{
    stage::{Script, Stage, listed},
    support::{Peer, texts},
};

/// Answers what it is asked; writes a file while it runs, and when it has ended.
const SERVER: &str = r#"
echo $$ > "$PWD/$NAME.pid"
while read -r line; do
  id=${line##*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) answer='{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*)
      tool='{"name":"where","inputSchema":{"type":"object"}}'
      [ -e "$PWD/more" ] && tool="$tool,{\"name\":\"more\",\"inputSchema\":{\"type\":\"object\"}}"
      answer="{\"tools\":[$tool]}" ;;
    *'"tools/call"'*)
      answer="{\"content\":[{\"type\":\"text\",\"text\":\"$NAME $PWD $SECRET\"}]}"
      case $line in *grow*) : > "$PWD/more"; echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' ;; esac ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$answer"
done
"#;

fn server(name: &str, script: &str) -> Value {
    let env = json!([{"name": "NAME", "value": name}, {"name": "SECRET", "value": "s3cret"}]);
    json!({"name": name, "command": "/bin/sh", "args": ["-c", script], "env": env})
}

/// Lists the tools, or calls one: `TOOL JSON`.
fn caller() -> Script {
    Script::new(|turn: Turn| async move {
        let text = turn.text();
        let said = match text.split_once(' ') {
            None => turn.tools().into_iter().map(|tool| tool.name).collect::<Vec<_>>().join(" "),
            Some((tool, args)) => match turn.call_tool(tool, serde_json::from_str(args).expect("JSON")).await
            {
                Ok(outcome) => outcome.text(),
                Err(error) => error.map_or("cancelled".to_owned(), |error| error.to_string()),
            },
        };
        turn.say(said).await?;
        Ok(StopReason::EndTurn)
    })
}

async fn start(stage: &Stage, policy: McpPolicy, limit: Duration) -> Peer {
    let settings = McpSettings::default().policy(policy).start_limit(limit);
    Peer::connected(stage.builder(caller()).mcp(settings).build(), json!({"session": {"notices": {}}})).await
}

async fn patient(stage: &Stage) -> Peer {
    start(stage, McpPolicy::Strict, Duration::from_secs(30)).await
}

async fn open(stage: &Stage, peer: &mut Peer, servers: &[Value]) -> Value {
    let request = peer.request("session/new", json!({"cwd": stage.cwd(), "mcpServers": servers}));
    peer.send(request.clone()).await;
    peer.answer(&request).await.1
}

fn id(answer: &Value) -> String {
    answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn say(peer: &mut Peer, session: &str, text: &str) -> String {
    let (updates, answer) = peer.turn(session, text).await;
    assert_eq!(crate::support::stop(&answer), "end_turn");
    texts(&updates).concat()
}

/// Whether the process that wrote its number there is gone.
fn is_gone(file: &Path) -> bool {
    let pid = fs::read_to_string(file).expect("it has started");
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    // One that nobody has waited for yet is gone too.
    stat.map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |stat| stat.contains(") Z "))
}

// D11, ACPX-MCP-001, ACPX-MCP-002, ACPX-MCP-003, ACPX-MCP-013, B139
#[tokio::test]
async fn servers_are_mounted_in_the_sessions_directory_and_end_with_it() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    let session = id(&open(&stage, &mut peer, &[server("one", SERVER), server("two", SERVER)]).await);
    assert_eq!(say(&mut peer, &session, "list").await, "one__where two__where");
    let expected = format!("two {} s3cret", stage.cwd().display());
    assert_eq!(say(&mut peer, &session, "two__where {}").await, expected);
    // By its own name only where that is clear.
    assert_eq!(say(&mut peer, &session, "where {}").await, "no tool is called where");
    peer.call("session/close", json!({"sessionId": session})).await;
    assert!(is_gone(&stage.cwd().join("one.pid")) && is_gone(&stage.cwd().join("two.pid")));
}

// D11, B140: equal names in two sessions are two servers
#[tokio::test]
async fn a_sessions_tools_are_its_own() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    let one = id(&open(&stage, &mut peer, &[server("fs", SERVER)]).await);
    let two = id(&open(&stage, &mut peer, &[]).await);
    assert_eq!(say(&mut peer, &one, "list").await, "fs__where");
    assert_eq!(say(&mut peer, &two, "list").await, "");
    assert_eq!(say(&mut peer, &two, "fs__where {}").await, "no tool is called fs__where");
}

// D6, D11, ACPX-MCP-010
#[tokio::test]
async fn a_server_that_does_not_start_rolls_the_session_back() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    let crash = server("bad", "echo oops $SECRET >&2; exit 3");
    let answer = open(&stage, &mut peer, &[server("good", SERVER), crash]).await;
    assert_eq!(answer["error"]["data"]["path"], "mcpServers[1]", "{answer}");
    assert!(!answer.to_string().contains("s3cret"), "{answer}");
    assert_eq!(stage.files(), 0, "nothing is stored");
    let missing = json!({"name": "x", "command": "/no/such", "args": [], "env": []});
    assert_eq!(open(&stage, &mut peer, &[missing]).await["error"]["code"], -32603);
    let twice = [server("My fs", SERVER), server("my_FS", SERVER)];
    let answer = open(&stage, &mut peer, &twice).await;
    assert_eq!(answer["error"]["data"]["path"], "mcpServers[1].name", "{answer}");
    assert!(!stage.cwd().join("My fs.pid").exists(), "nothing is started before everything is checked");
}

/// What a client is told of the one server that it asked for and that did not start.
async fn refused(stage: &Stage, peer: &mut Peer, server: Value) -> Value {
    let answer = open(stage, peer, &[server]).await;
    let told = answer.to_string().to_lowercase();
    for leak in ["rmcp", "reqwest", "transport", "send message error", "s3cret", "initialized response"] {
        assert!(!told.contains(leak), "{leak}: {answer}");
    }
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    answer["error"].clone()
}

// D11: whose fault it was and what happened, in words for people
#[tokio::test]
async fn a_server_that_does_not_start_is_told_about_in_plain_words() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    let crash = refused(&stage, &mut peer, server("bad", "echo oops $SECRET >&2; exit 3")).await;
    let expected = "the MCP server bad did not start: it closed the connection before it was ready; its process exited with code 3";
    assert_eq!(crash["message"], expected);
    assert_eq!(crash["data"]["server"], "bad");
    assert_eq!(crash["data"]["program"], "/bin/sh");
    assert_eq!(crash["data"]["stderr"], "oops <hidden>");
    let killed = refused(&stage, &mut peer, server("bad", "kill -9 $$")).await["message"].to_string();
    assert!(killed.contains("its process was ended by signal 9"), "{killed}");
    let refusal = r#"read -r line; printf '%s\n' '{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"no\r\nlicence"}}'; cat >&2"#;
    let told = refused(&stage, &mut peer, server("bad", refusal)).await["message"].to_string();
    assert!(told.contains("it refused initialize: no  licence (-32000)"), "{told}");
    let missing = json!({"name": "x", "command": "/no/such", "args": [], "env": []});
    let told = refused(&stage, &mut peer, missing).await;
    assert!(told["message"].as_str().unwrap().contains("its program cannot be run: No such file"), "{told}");
    assert_eq!(told["data"]["program"], "/no/such");
    // A port that was just let go: nobody is there.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let away = json!({"type": "http", "name": "web", "url": format!("http://{free}/mcp"), "headers": []});
    let told = refused(&stage, &mut peer, away).await["message"].to_string();
    assert!(told.contains("nothing answers at its address"), "{told}");
}

// ACPX-MCP-008: a relative path would be another program in each session
#[tokio::test]
async fn a_relative_command_is_refused_by_its_field() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    for command in ["./sh", "bin/sh", ""] {
        let relative = json!({"name": "x", "command": command, "args": [], "env": []});
        let answer = open(&stage, &mut peer, &[relative]).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["data"]["path"], "mcpServers[0].command", "{answer}");
    }
}

// D11, B137
#[tokio::test]
async fn a_lenient_session_starts_without_it_and_tells() {
    let stage = Stage::new();
    let mut peer = start(&stage, McpPolicy::Lenient, Duration::from_millis(700)).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let stalled = json!({"type": "http", "name": "stalled", "url": url, "headers": []});
    let request = peer.request(
        "session/new",
        json!({"cwd": stage.cwd(), "mcpServers": [stalled, server("dead", "exit 1"), server("fs", SERVER)]}),
    );
    peer.send(request.clone()).await;
    let session = id(&peer.answer(&request).await.1);
    for name in ["stalled", "dead"] {
        let notice = peer.next().await["params"]["update"].clone();
        assert_eq!(notice["sessionUpdate"], "notice");
        assert!(notice["title"].as_str().unwrap().contains(name), "{notice}");
    }
    peer.next().await;
    assert_eq!(say(&mut peer, &session, "list").await, "fs__where");
}

// D11: what a server offers may change
#[tokio::test]
async fn a_changed_list_of_tools_is_noticed() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    let session = id(&open(&stage, &mut peer, &[server("fs", SERVER)]).await);
    say(&mut peer, &session, r#"where {"grow": true}"#).await;
    // The server is asked again behind its notification; each turn asks it something, too.
    let mut tools = String::new();
    for _ in 0..100 {
        say(&mut peer, &session, "where {}").await;
        tools = say(&mut peer, &session, "list").await;
        if tools == "fs__where fs__more" {
            return;
        }
    }
    panic!("the list is still {tools}");
}

// D7, ACPX-MCP-011
#[tokio::test]
async fn a_resumed_session_has_the_servers_of_its_request() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    let session = id(&open(&stage, &mut peer, &[server("old", SERVER)]).await);
    drop(peer.hang_up().await);
    assert!(is_gone(&stage.cwd().join("old.pid")));
    let mut peer = patient(&stage).await;
    let params = json!({"sessionId": session, "cwd": stage.cwd(), "mcpServers": [server("dead", "exit 1")]});
    assert!(peer.call("session/resume", params).await["error"].is_object());
    assert_eq!(listed(&peer.call("session/list", json!({})).await), [&session], "and it is not claimed");
    let params = json!({"sessionId": session, "cwd": stage.cwd(), "mcpServers": [server("new", SERVER)]});
    let request = peer.request("session/resume", params);
    peer.send(request.clone()).await;
    assert!(peer.answer(&request).await.1["result"].is_object());
    assert!(say(&mut peer, &session, "list").await.contains("new__where"));
}

// B031: a withdrawn session/new leaves no server behind
#[tokio::test]
async fn a_withdrawn_request_leaves_no_server_behind() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    let mute = server(
        "mute",
        r#"echo $$ > "$PWD/mute.pid"; mkfifo "$PWD/started"; : > "$PWD/started"; exec sleep 60"#,
    );
    let request = peer.request("session/new", json!({"cwd": stage.cwd(), "mcpServers": [mute]}));
    peer.send(request.clone()).await;
    let started = stage.cwd().join("started");
    // The pipe opens for reading once the server has opened it for writing.
    let opened = tokio::task::spawn_blocking(move || {
        while fs::File::open(&started).is_err() {
            std::thread::yield_now();
        }
    });
    opened.await.unwrap();
    peer.send(
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": request["id"]}}),
    )
    .await;
    let (_, answer) = peer.answer(&request).await;
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    let pid = stage.cwd().join("mute.pid");
    while !is_gone(&pid) {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.files(), 0);
}

/// One exchange of a server over HTTP: reads a request, checks its header, answers in JSON.
async fn exchange(stream: TcpStream) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut length, mut authorised, mut line) = (0, false, String::new());
        let mut first = String::new();
        if stream.read_line(&mut first).await? == 0 {
            return Ok(());
        }
        loop {
            line.clear();
            stream.read_line(&mut line).await?;
            let header = line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            authorised |= header == "authorization: bearer t0ken";
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let (status, answer) = respond(&first, authorised, &body);
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(answer.as_bytes()).await?;
        stream.flush().await?;
    }
}

fn respond(first: &str, authorised: bool, body: &[u8]) -> (&'static str, String) {
    if !authorised {
        return ("401 Unauthorized", String::new());
    }
    if !first.starts_with("POST") {
        return ("405 Method Not Allowed", String::new());
    }
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let result = match request["method"].as_str() {
        Some("initialize") => {
            json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}})
        }
        Some("tools/list") => json!({"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}),
        Some("tools/call") => json!({"content": [{"type": "text", "text": "hello from afar"}]}),
        _ => return ("202 Accepted", String::new()),
    };
    ("200 OK", json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string())
}

// D11, ACPX-MCP-004, ACPX-MCP-005
#[tokio::test]
async fn a_server_over_http_gets_its_headers() {
    let stage = Stage::new();
    let mut peer = patient(&stage).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(exchange(stream));
        }
    });
    let web = |token: &str| {
        let headers = json!([{"name": "Authorization", "value": format!("Bearer {token}")}]);
        json!({"type": "http", "name": "web", "url": url, "headers": headers})
    };
    let session = id(&open(&stage, &mut peer, &[web("t0ken")]).await);
    assert_eq!(say(&mut peer, &session, "greet {}").await, "hello from afar");
    // Credentials in the address do not replace the header that was declared.
    let mut both = web("t0ken");
    both["url"] = json!(url.replace("http://", "http://me:s3cret@"));
    assert!(open(&stage, &mut peer, &[both]).await["result"].is_object());
    let refused = open(&stage, &mut peer, &[web("wr0ng")]).await;
    assert_eq!(refused["error"]["data"]["path"], "mcpServers[0]", "{refused}");
    assert!(!refused.to_string().contains("wr0ng"), "{refused}");
    serving.abort();
}
