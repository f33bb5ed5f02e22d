//! The floor of an agent: one thread, the official schema's types, one write for each message. Every ratio is to it.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Write},
    os::fd::AsFd,
};

use accord_bench::{lines::Lines, text::text, work::Work};
use accord_bench_peers::{chunk, edited, permission, tool_pair};
use agent_client_protocol_schema::v1::{
    ContentBlock, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, RequestPermissionResponse, SessionId, SessionNotification, SessionUpdate,
    StopReason,
};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Above this a buffer is given back once its message is written.
const KEPT: usize = 1 << 20;

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

#[derive(Serialize)]
struct Outgoing<'a, T> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'static str,
    params: &'a T,
}

#[derive(Serialize)]
struct Answer<'a, T> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: &'a T,
}

struct Output {
    pipe: File,
    buffer: Vec<u8>,
}

fn main() -> Result<()> {
    let mut input = Lines::new(File::from(io::stdin().as_fd().try_clone_to_owned()?));
    let pipe = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut output = Output { pipe, buffer: Vec::with_capacity(64 * 1024) };
    let mut sessions = 0_u64;
    while let Some(line) = input.next_line()? {
        let incoming: Incoming<'_> = serde_json::from_slice(line)?;
        let (Some(method), Some(id)) = (incoming.method.as_deref(), incoming.id) else { continue };
        let params = incoming.params.map_or("null", RawValue::get);
        match method {
            "initialize" => {
                let request: InitializeRequest = serde_json::from_str(params)?;
                output.answer(id, &InitializeResponse::new(request.protocol_version))?;
            }
            "session/new" => {
                let _: NewSessionRequest = serde_json::from_str(params)?;
                sessions += 1;
                output.answer(id, &NewSessionResponse::new(format!("sess-{sessions}")))?;
            }
            "session/prompt" => {
                let request: PromptRequest = serde_json::from_str(params)?;
                let id = id.to_owned();
                turn(&mut input, &mut output, request)?;
                output.answer(&id, &PromptResponse::new(StopReason::EndTurn))?;
            }
            _ => bail!("{method} is no method of this agent"),
        }
    }
    Ok(())
}

fn turn(input: &mut Lines<File>, output: &mut Output, request: PromptRequest) -> Result<()> {
    let session = request.session_id;
    let Some(ContentBlock::Text(words)) = request.prompt.first() else {
        bail!("a prompt begins with a text")
    };
    if words.text == "ping" {
        return Ok(());
    }
    if let Some(echoed) = words.text.strip_prefix("echo ") {
        return output.update(&session, chunk(echoed.to_owned()));
    }
    match words.text.parse()? {
        Work::Stream(count, bytes) => {
            let text = text(usize::try_from(bytes)?);
            for _ in 0..count {
                output.update(&session, chunk(text.clone()))?;
            }
        }
        Work::Tools(count) => {
            let edited = edited();
            for number in 0..count {
                for update in tool_pair(number, &edited) {
                    output.update(&session, update)?;
                }
            }
        }
        Work::Permit(count) => {
            for number in 0..count {
                let params = permission(&session, number);
                let method = "session/request_permission";
                output.put(&Outgoing { jsonrpc: "2.0", id: Some(number), method, params: &params })?;
                let line = input.next_line()?.context("the client is gone")?;
                let answer: Incoming<'_> = serde_json::from_slice(line)?;
                let result = answer.result.context("the client refused")?;
                let _: RequestPermissionResponse = serde_json::from_str(result.get())?;
            }
        }
        work => bail!("{work} is not asked of an agent by a prompt"),
    }
    Ok(())
}

impl Output {
    fn update(&mut self, session: &SessionId, update: SessionUpdate) -> Result<()> {
        let params = SessionNotification::new(session.clone(), update);
        self.put(&Outgoing { jsonrpc: "2.0", id: None, method: "session/update", params: &params })
    }

    fn answer<T: Serialize>(&mut self, id: &RawValue, result: &T) -> Result<()> {
        self.put(&Answer { jsonrpc: "2.0", id, result })
    }

    fn put<T: Serialize>(&mut self, message: &T) -> Result<()> {
        serde_json::to_writer(&mut self.buffer, message)?;
        self.buffer.push(b'\n');
        self.pipe.write_all(&self.buffer)?;
        self.buffer.clear();
        if self.buffer.capacity() > KEPT {
            self.buffer.shrink_to(64 * 1024);
        }
        Ok(())
    }
}
