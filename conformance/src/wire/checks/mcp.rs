//! MCP servers: a real one is mounted, and its trace tells what the agent did with it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::restore::{restore, taken_up};
use super::{Check, Gate, check, gated};
use crate::stop;
use crate::wire::case::{Case, new_session, prompt};
use crate::wire::client::Client;
use crate::wire::leftovers;
use crate::wire::verdict::{Judged, Stop, ensure, fail, inconclusive};

pub(super) const CHECKS: &[Check] = &[
    check("ACPX-MCP-001", connects),
    check("ACPX-MCP-002", launched_as_declared),
    check("ACPX-MCP-003", all_of_them),
    check("ACPX-MCP-004", http_is_supported),
    gated("ACPX-MCP-005", Gate::Offers("mcpCapabilities/http"), over_http),
    gated("ACPX-MCP-006", Gate::Offers("mcpCapabilities/sse"), over_sse),
    check("ACPX-MCP-009", without_type),
    check("ACPX-MCP-010", broken_servers),
    gated(
        "ACPX-MCP-011",
        Gate::OffersAny(&["loadSession", "sessionCapabilities/resume"]),
        servers_of_the_request,
    ),
    check("ACPX-MCP-013", servers_end),
    check("ACPX-AUTH-014", secrets_stay_secret),
];

/// A declaration of the kit's own server that leaves its trace in a file.
fn declared(case: &Case<'_>, name: &str, more: &[&str]) -> (Value, PathBuf) {
    let trace = case.scratch(&format!("{name}.trace"));
    let (command, first) =
        case.subject.mcp.split_first().map_or((String::new(), &[][..]), |(c, rest)| (c.clone(), rest));
    let mut args: Vec<String> = first.to_vec();
    args.extend(["--trace".into(), trace.to_string_lossy().into_owned()]);
    args.extend(more.iter().map(|arg| (*arg).to_owned()));
    let env = json!([{"name": "ACCORD_TEST_VARIABLE", "value": "a value with spaces"}]);
    (json!({"name": name, "command": command, "args": args, "env": env}), trace)
}

fn events(trace: &Path) -> Vec<Value> {
    let text = fs::read_to_string(trace).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn has(trace: &Path, event: &str) -> bool {
    events(trace).iter().any(|entry| entry["event"] == event)
}

/// `mount`, for what is about something else: of that nothing was seen where the servers themselves were not taken.
fn mounted(case: &mut Case<'_>, servers: &[Value]) -> Judged<(Client, String)> {
    mount(case, servers).map_err(|stop| match stop {
        Stop::Failed(why) => {
            Stop::Inconclusive(format!("no turn with an MCP server is to be had (see ACPX-MCP-001): {why}"))
        }
        other => other,
    })
}

/// A session with these servers and one turn, since an agent may wait with connecting until then.
fn mount(case: &mut Case<'_>, servers: &[Value]) -> Judged<(Client, String)> {
    let mut client = case.ready()?;
    let session = new_session(&mut client, &json!({"cwd": case.cwd(), "mcpServers": servers}))?;
    // The sum stands nowhere in what is asked.
    let words = match case.words("mcp") {
        Ok(words) => words.replace("{TOOL}", "add").replace("{JSON}", "{\"a\":1234500,\"b\":678901}"),
        Err(_) => case.plain(),
    };
    client.ask("session/prompt", &prompt(&session, &words))?;
    Ok((client, session))
}

fn wait_for(case: &Case<'_>, trace: &Path, event: &str) -> bool {
    soon(case.within(Duration::from_millis(1500)), || has(trace, event))
}

fn connects(case: &mut Case<'_>) -> Judged {
    let (server, trace) = declared(case, "kit", &[]);
    let (client, _) = mount(case, &[server])?;
    if !wait_for(case, &trace, "initialize") {
        return inconclusive("the agent never connected to the server");
    }
    if case.words("mcp").is_ok() {
        let calls = events(&trace);
        let Some(call) = calls.iter().find(|entry| entry["event"] == "call") else {
            super::sessions::tool_used(&client.heard)?;
            return inconclusive("the turn used another tool than the server's");
        };
        // A model may choose other numbers than it was told.
        let sum =
            ["a", "b"].iter().filter_map(|name| call["arguments"][name].as_i64()).sum::<i64>().to_string();
        let shown = client.heard.iter().any(|heard| heard.params.to_string().contains(&sum));
        ensure(shown, || "what the tool gave is not shown".into())?;
    }
    Ok(())
}

fn launched_as_declared(case: &mut Case<'_>) -> Judged {
    let odd = ["--odd=a b", "", "ü", "$HOME", "'quoted'"];
    let (server, trace) = declared(case, "kit", &odd);
    mounted(case, std::slice::from_ref(&server))?;
    if !wait_for(case, &trace, "start") {
        return inconclusive("the agent never started the server");
    }
    let start = events(&trace).remove(0);
    let given = start["args"].as_array().map(|args| args[1..].to_vec()).unwrap_or_default();
    // The program's own name and the subcommand stand first; the kit may be started as either.
    let wanted = server["args"].as_array().cloned().unwrap_or_default();
    ensure(given.ends_with(&wanted[1..]), || format!("the arguments arrived as {}", json!(given)))?;
    let value = &start["env"]["ACCORD_TEST_VARIABLE"];
    ensure(value == "a value with spaces", || format!("the variable arrived as {value}"))
}

fn all_of_them(case: &mut Case<'_>) -> Judged {
    let (one, first) = declared(case, "one", &[]);
    let (two, second) = declared(case, "two", &[]);
    mounted(case, &[one, two])?;
    let seen = [wait_for(case, &first, "initialize"), wait_for(case, &second, "initialize")];
    if !seen.contains(&true) {
        return inconclusive("the agent connected to none of the servers");
    }
    ensure(!seen.contains(&false), || "only one of two servers was connected to".into())
}

fn http_is_supported(case: &mut Case<'_>) -> Judged {
    let offered = case.subject.facts.offers("mcpCapabilities/http");
    ensure(offered, || "mcpCapabilities.http is not advertised".into())
}

fn without_type(case: &mut Case<'_>) -> Judged {
    let (mut server, _) = declared(case, "kit", &[]);
    let mut client = case.ready()?;
    let answer = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": [server]}))?;
    let Err(error) = answer.outcome else { return Ok(()) };
    // Only who takes the entry with a type is seen to miss it.
    server["type"] = json!("stdio");
    let typed = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": [server]}))?;
    match typed.outcome {
        Ok(_) => fail(format!("without a type the entry gives the error {error}, and with one it is taken")),
        Err(_) => inconclusive(format!("no stdio server is taken at all (see ACPX-MCP-001): {error}")),
    }
}

fn broken_servers(case: &mut Case<'_>) -> Judged {
    let (crashing, _) = declared(case, "crashing", &["--crash"]);
    let (mute, _) = declared(case, "mute", &["--mute"]);
    let missing = json!({"name": "missing", "command": "/nonexistent/accord-mcp", "args": [], "env": []});
    for server in [missing, crashing, mute] {
        // An agent that goes on without the server may want to say so.
        let mut client = case.ready_with(&json!({"session": {"notices": {}}}))?;
        let name = server["name"].clone();
        let sent = client.send("session/new", &json!({"cwd": case.cwd(), "mcpServers": [server]}));
        // A handshake's time-out is the agent's own affair; a minute and a half is bounded, for ever is not.
        client.answer_within(&sent, Duration::from_secs(90)).map_err(|stop| match stop {
            Stop::Failed(why) => Stop::Failed(format!("server {name}: {why}")),
            other => other,
        })?;
        client.alive()?;
    }
    Ok(())
}

fn servers_of_the_request(case: &mut Case<'_>) -> Judged {
    let (old, old_trace) = declared(case, "old", &[]);
    let (mut client, session) = mounted(case, &[old])?;
    if !wait_for(case, &old_trace, "initialize") {
        return inconclusive("the agent never connected to the server");
    }
    client.process.close_stdin();
    if client.process.wait(client.patience()).is_none() {
        client.process.kill();
    }
    let starts = events(&old_trace).iter().filter(|entry| entry["event"] == "start").count();
    let (new, new_trace) = declared(case, "new", &[]);
    let mut client = case.ready()?;
    let method = if case.subject.facts.offers("sessionCapabilities/resume") {
        "session/resume"
    } else {
        "session/load"
    };
    let params = json!({"sessionId": session, "cwd": case.cwd(), "mcpServers": [new]});
    taken_up(client.ask(method, &params)?)?;
    client.ask("session/prompt", &prompt(&session, &case.plain()))?;
    ensure(wait_for(case, &new_trace, "initialize"), || {
        "the request's own server was not connected to".into()
    })?;
    let now = events(&old_trace).iter().filter(|entry| entry["event"] == "start").count();
    ensure(now == starts, || "a server of the earlier connection was started again".into())
}

fn servers_end(case: &mut Case<'_>) -> Judged {
    let (server, trace) = declared(case, "stubborn", &["--stubborn"]);
    let (mut client, session) = mounted(case, &[server])?;
    if !wait_for(case, &trace, "start") {
        return inconclusive("the agent never started the server");
    }
    let running = || {
        leftovers::find(case.mark()).map(|left| left.iter().any(|each| each.command.contains("--stubborn")))
    };
    let limit = case.within(Duration::from_secs(8));
    if running().is_none() {
        return inconclusive("this system does not show whose children a process has");
    }
    if case.subject.facts.offers("sessionCapabilities/close") {
        client.call("session/close", &json!({"sessionId": session}))?;
        ensure(soon(limit, || running() == Some(false)), || "the server outlives its session".into())?;
    }
    client.finish(client.patience())?;
    ensure(soon(limit, || running() == Some(false)), || "the server outlives the agent".into())
}

fn soon(limit: Duration, mut wanted: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if wanted() {
            return true;
        }
        if Instant::now() >= deadline || stop::stopped() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn secrets_stay_secret(case: &mut Case<'_>) -> Judged {
    const SECRET: &str = "hunter2-accord-secret";
    let (mut server, _) = declared(case, "secretive", &[]);
    server["env"] = json!([{"name": "API_KEY", "value": SECRET}]);
    let mut broken = server.clone();
    broken["name"] = json!("broken");
    broken["command"] = json!("/nonexistent/accord-mcp");
    let mut malformed = server.clone();
    malformed["args"] = json!(5);
    let mut client = case.ready()?;
    let taken = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": [server]}))?;
    for servers in [json!([broken]), json!([malformed])] {
        client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": servers}))?;
    }
    let session = taken.outcome.as_ref().ok().and_then(|result| result["sessionId"].as_str());
    if let Some(session) = session {
        // An agent may wait with connecting until its first turn.
        client.ask("session/prompt", &prompt(session, &case.plain()))?;
        if case.subject.facts.offers("loadSession") {
            let _ = restore(case, &mut client, session)?;
        }
    }
    client.alive()?;
    client.process.close_stdin();
    client.process.wait(client.patience());
    let evidence = client.process.evidence();
    let told = evidence.frames().iter().any(|frame| {
        frame.direction == crate::wire::frame::Direction::ToClient
            && frame.excerpt(usize::MAX).contains(SECRET)
    });
    ensure(!told, || "a secret of an MCP declaration comes back on stdout".into())?;
    ensure(!evidence.stderr().contains(SECRET), || "a secret of an MCP declaration is on stderr".into())?;
    match session {
        Some(_) => Ok(()),
        None => inconclusive(format!(
            "no MCP server is taken (see ACPX-MCP-001), and no refusal tells the secret: {}",
            taken.told()
        )),
    }
}

/// The kit's server over HTTP; it ends with the value.
struct HttpServer {
    process: std::process::Child,
    url: String,
}

impl HttpServer {
    fn start(case: &Case<'_>, trace: &Path) -> Judged<Self> {
        let trouble = |error: std::io::Error| Stop::Inconclusive(format!("no MCP server: {error}"));
        let (program, first) =
            case.subject.mcp.split_first().ok_or(std::io::ErrorKind::NotFound.into()).map_err(trouble)?;
        let mut process = Command::new(program)
            .args(first)
            .args(["--http", "--trace"])
            .arg(trace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(trouble)?;
        let mut url = String::new();
        if let Some(stdout) = process.stdout.as_mut() {
            BufReader::new(stdout).read_line(&mut url).map_err(trouble)?;
        }
        Ok(Self { process, url: url.trim().to_owned() })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends by itself; the kill is for the case that it does not.
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

fn over_http(case: &mut Case<'_>) -> Judged {
    let trace = case.scratch("http.trace");
    let server = HttpServer::start(case, &trace)?;
    let headers = json!([{"name": "X-Accord-Test", "value": "carried"}]);
    let declared = json!({"type": "http", "name": "web", "url": server.url, "headers": headers});
    mount(case, &[declared])?;
    if !wait_for(case, &trace, "headers") {
        return inconclusive("the agent never connected to the server");
    }
    let entries = events(&trace);
    let sent = entries.iter().any(|entry| entry["headers"]["x-accord-test"] == "carried");
    ensure(sent, || "the declared header is not sent".into())
}

/// Nothing serves the deprecated transport any more: who connects is listened to, and turned away.
fn over_sse(case: &mut Case<'_>) -> Judged {
    let trouble = |error: std::io::Error| Stop::Inconclusive(format!("no listener: {error}"));
    let listener = TcpListener::bind("127.0.0.1:0").map_err(trouble)?;
    let url = format!("http://{}/sse", listener.local_addr().map_err(trouble)?);
    let (told, heard) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let request: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
            // The check is over when nobody listens any more.
            if told.send(request.join("\n").to_lowercase()).is_err() {
                return;
            }
            // The answer is no part of what is checked.
            let _ = (&stream).write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let headers = json!([{"name": "X-Accord-Test", "value": "carried"}]);
    let declared = json!({"type": "sse", "name": "old web", "url": url, "headers": headers});
    let mut client = case.ready()?;
    let sent = client.send("session/new", &json!({"cwd": case.cwd(), "mcpServers": [declared]}));
    // A server that can't be had may take an agent as long as it takes.
    let answer = client.answer_within(&sent, Duration::from_secs(90))?;
    ensure(answer.code() != Some(-32602), || "the entry is refused as invalid".into())?;
    match heard.recv_timeout(case.subject.quiet) {
        Ok(request) => {
            ensure(request.contains("x-accord-test: carried"), || "the declared header is not sent".into())
        }
        Err(_) => inconclusive("the agent never connected to the server"),
    }
}
