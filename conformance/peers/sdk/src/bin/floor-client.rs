//! The floor of a client: one thread, a borrowed envelope, then the official schema's types. Every ratio is to it.
#![expect(clippy::print_stdout, reason = "a client prints what it counted")]

use std::{
    borrow::Cow,
    io::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use accord_bench::{lines::Lines, text::words};
use accord_bench_peers::text_bytes;
use agent_client_protocol_schema::v1::{NewSessionResponse, SessionNotification};
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (agent, prompt) = (arguments.next().context("AGENT_COMMAND")?, arguments.next().context("PROMPT")?);
    let slow = std::env::var_os("ACPBENCH_SLOW").is_some();
    let agent = words(&agent);
    let (program, arguments) = agent.split_first().context("a command names a program")?;
    let mut child =
        Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("its input")?;
    let mut lines = Lines::new(child.stdout.take().context("its output")?);

    input.write_all(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#)?;
    input.write_all(b"\n")?;
    lines.next_line()?.context("no answer to initialize")?;
    input.write_all(
        br#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/tmp","mcpServers":[]}}"#,
    )?;
    input.write_all(b"\n")?;
    let answer: Incoming<'_> =
        serde_json::from_slice(lines.next_line()?.context("no answer to session/new")?)?;
    let session: NewSessionResponse = serde_json::from_str(answer.result.context("refused")?.get())?;

    let (session, prompt) = (Value::from(&*session.session_id.0), Value::from(prompt));
    let began = Instant::now();
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{{"sessionId":{session},"prompt":[{{"type":"text","text":{prompt}}}]}}}}"#
    ) + "\n";
    input.write_all(request.as_bytes())?;
    let (mut count, mut bytes) = (0_u64, 0_u64);
    loop {
        let line = lines.next_line()?.context("the agent is gone")?;
        let incoming: Incoming<'_> = serde_json::from_slice(line)?;
        match (incoming.method.as_deref(), incoming.id) {
            (Some("session/update"), _) => {
                let params = incoming.params.context("an update has params")?;
                let update: SessionNotification = serde_json::from_str(params.get())?;
                bytes += text_bytes(&update);
                count += 1;
                if slow && count % 100 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            (Some(_), Some(id)) => {
                let answer = format!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{{"outcome":{{"outcome":"selected","optionId":"allow"}}}}}}"#,
                    id.get()
                ) + "\n";
                input.write_all(answer.as_bytes())?;
            }
            (None, Some(id)) if id.get() == "2" => break,
            _ => {}
        }
    }
    println!(
        r#"{{"count":{count},"bytes":{bytes},"elapsed_ms":{:.3}}}"#,
        began.elapsed().as_secs_f64() * 1e3
    );
    drop(input);
    child.wait()?;
    Ok(())
}
