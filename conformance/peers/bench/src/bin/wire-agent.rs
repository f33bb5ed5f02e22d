//! An agent at the speed of the pipe, to drive clients with: its frames are made once and written 64 KiB at a time.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::AsFd,
};

use accord_bench::{
    frame::{Frame, classify},
    lines::Lines,
    text::text,
    work::Work,
};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

const GATHERED: usize = 64 * 1024;

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a str>,
    params: Option<Value>,
}

/// The pipe to the client, with what was not written yet.
struct Output {
    pipe: File,
    gathered: Vec<u8>,
}

fn main() -> Result<()> {
    // Unbuffered files: what std puts between would be measured too.
    let mut input = Lines::new(File::from(io::stdin().as_fd().try_clone_to_owned()?));
    let pipe = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut output = Output { pipe, gathered: Vec::with_capacity(GATHERED) };
    let mut sessions = 0_u64;
    while let Some(line) = input.next_line()? {
        let request: Request<'_> = serde_json::from_slice(line)?;
        let (Some(id), Some(method)) = (request.id.map(|id| id.get().to_owned()), request.method) else {
            continue;
        };
        let params = request.params.unwrap_or_default();
        let result = match method {
            "initialize" => r#"{"protocolVersion":1,"agentCapabilities":{}}"#.to_owned(),
            "session/new" => {
                sessions += 1;
                format!(r#"{{"sessionId":"sess-{sessions}"}}"#)
            }
            "session/prompt" => {
                let session = params["sessionId"].as_str().context("a prompt has a session")?.to_owned();
                let words = params["prompt"][0]["text"].as_str().context("a prompt begins with a text")?;
                turn(&mut input, &mut output, &session, words.parse()?)?;
                r#"{"stopReason":"end_turn"}"#.to_owned()
            }
            _ => bail!("{method} is no method of this agent"),
        };
        output.put(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).as_bytes())?;
        output.put(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

fn turn(input: &mut Lines<File>, output: &mut Output, session: &str, work: Work) -> Result<()> {
    match work {
        Work::Stream(count, bytes) => {
            let frames = [update(session, &chunk("agent_message_chunk", usize::try_from(bytes)?))];
            output.put_in_turn(&frames, count)?;
        }
        Work::Tools(count) => output.put_in_turn(&tools(session), 2 * count)?,
        Work::Mixed(count) => output.put_in_turn(&mixed(session), count)?,
        Work::Permit(count) => {
            for id in 0..count {
                output.put(permission(session, id).as_bytes())?;
                output.flush()?;
                let answered = input.next_line()?.context("the client is gone")?;
                let Frame::Answer(..) = classify(answered)? else { bail!("the client did not answer") };
            }
        }
        work => bail!("no client is measured by {work}"),
    }
    Ok(())
}

impl Output {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.gathered.len() + bytes.len() > GATHERED {
            self.flush()?;
        }
        if bytes.len() > GATHERED {
            return self.pipe.write_all(bytes);
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn put_in_turn(&mut self, frames: &[String], count: u64) -> io::Result<()> {
        for (_, frame) in (0..count).zip(frames.iter().cycle()) {
            self.put(frame.as_bytes())?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.write_all(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }
}

fn update(session: &str, update: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{update}}}}}"#
    ) + "\n"
}

fn permission(session: &str, id: u64) -> String {
    let options = r#"[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]"#;
    let call = format!(r#"{{"toolCallId":"call-{id}","title":"Edit src/main.rs"}}"#);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/request_permission","params":{{"sessionId":"{session}","toolCall":{call},"options":{options}}}}}"#
    ) + "\n"
}

fn string(bytes: usize) -> String {
    Value::from(text(bytes)).to_string()
}

fn chunk(kind: &str, bytes: usize) -> String {
    format!(r#"{{"sessionUpdate":"{kind}","content":{{"type":"text","text":{}}}}}"#, string(bytes))
}

fn tools(session: &str) -> [String; 2] {
    let diff = format!(r#"{{"type":"diff","path":"/project/src/main.rs","newText":{}}}"#, string(2048));
    [
        r#"{"sessionUpdate":"tool_call","toolCallId":"call-0","title":"Edit src/main.rs","kind":"edit","status":"pending"}"#.to_owned(),
        format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"call-0","status":"completed","content":[{diff}]}}"#),
    ]
    .map(|body| update(session, &body))
}

/// Twenty updates as a turn of a coding agent has them: mostly short text, then tools, a plan, and what changes rarely.
fn mixed(session: &str) -> Vec<String> {
    let mut bodies: Vec<String> =
        [10, 26, 38, 66, 88, 19].into_iter().map(|bytes| chunk("agent_message_chunk", bytes)).collect();
    bodies.push(chunk("agent_thought_chunk", 120));
    bodies.extend([
        r#"{"sessionUpdate":"tool_call","toolCallId":"call-1","title":"Read src/lib.rs","kind":"read","status":"pending","locations":[{"path":"/project/src/lib.rs","line":40}],"rawInput":{"path":"/project/src/lib.rs","count":150,"hints":{"links":false,"kinds":["x","y",7]}}}"#.to_owned(),
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"call-1","status":"in_progress"}"#.to_owned(),
        format!(
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"call-1","status":"completed","content":[{{"type":"content","content":{{"type":"text","text":{}}}}}],"rawOutput":{{"lines":150,"cut":false}}}}"#,
            string(1500)
        ),
        format!(
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"call-2","kind":"edit","title":"Edit src/run.rs","status":"completed","content":[{{"type":"diff","path":"/project/src/run.rs","oldText":{},"newText":{}}},{{"type":"terminal","terminalId":"terminal-1"}}]}}"#,
            string(620),
            string(680)
        ),
        r#"{"sessionUpdate":"plan","entries":[{"content":"Find the fault","priority":"high","status":"completed"},{"content":"Repair it","priority":"medium","status":"in_progress"},{"content":"Show that it is gone","priority":"low","status":"pending"}]}"#.to_owned(),
        r#"{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"find","description":"Look it up","input":{"hint":"what to look for"}},{"name":"check","description":"Run the checks"}]}"#.to_owned(),
        r#"{"sessionUpdate":"current_mode_update","currentModeId":"ask"}"#.to_owned(),
        r#"{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","name":"Model","category":"model","type":"select","currentValue":"small","options":[{"value":"small","name":"Small"},{"value":"large","name":"Large","description":"slow"}]}]}"#.to_owned(),
        r#"{"sessionUpdate":"session_info_update","title":"Repair the run","updatedAt":"2026-05-06T07:08:09Z"}"#.to_owned(),
        r#"{"sessionUpdate":"usage_update","used":41000,"size":200000,"cost":{"amount":0.125,"currency":"EUR"}}"#.to_owned(),
        chunk("user_message_chunk", 50),
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","uri":"file:///project/NOTES.md","name":"NOTES.md","mimeType":"text/markdown","size":2048}}"#.to_owned(),
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///project/run.py","mimeType":"text/x-python","text":"def run():\n    return 0\n"}}}"#.to_owned(),
    ]);
    bodies.iter().map(|body| update(session, body)).collect()
}
