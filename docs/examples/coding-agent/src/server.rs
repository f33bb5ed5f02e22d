//! A small server of chat completions in front of the scripted model.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use accord_agent::blocking::Cancel;
use serde_json::{Value, json};

use crate::model::{Answer, Delta, End, Message, Model, Request, scripted::Scripted};

/// The largest request that is read, in bytes.
const LARGEST: usize = 64 << 20;

/// Serves until the listener fails; each connection has a thread and answers one request.
///
/// # Errors
///
/// When a connection can't be accepted.
pub fn serve(listener: &TcpListener) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        thread::spawn(move || {
            // A client that has gone needs no answer.
            let _ = answer(&stream);
        });
    }
}

fn answer(stream: &TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let found = line.starts_with("POST ") && line.contains("/chat/completions");
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length.min(LARGEST)];
    reader.read_exact(&mut body)?;
    let mut stream = stream;
    match serde_json::from_slice::<Value>(&body) {
        Ok(body) if found => completion(&body, &mut stream),
        _ => stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
    }
}

fn completion(body: &Value, stream: &mut &TcpStream) -> io::Result<()> {
    let messages: Vec<Message> = serde_json::from_value(body["messages"].clone()).unwrap_or_default();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let request = Request {
        provider: "server",
        model: body["model"].as_str().unwrap_or_default(),
        effort: body["reasoning_effort"].as_str(),
        messages: &messages,
        tools: &tools,
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    let cancel = Cancel::default();
    // When the client is gone the model goes on to its end; nobody hears it.
    let mut pass_on = |delta: Delta<'_>| {
        let delta = match delta {
            Delta::Text(text) => json!({ "content": text }),
            Delta::Reasoning(text) => json!({ "reasoning_content": text }),
        };
        let _ = event(stream, &json!({ "choices": [{ "delta": delta }] }));
    };
    let outcome = Scripted.answer(&request, &mut pass_on, &cancel);
    match outcome {
        Ok(answer) => ended(&answer, stream),
        Err(failure) => event(stream, &json!({ "error": { "message": failure.to_string() } })),
    }
}

fn ended(answer: &Answer, stream: &mut &TcpStream) -> io::Result<()> {
    for (index, call) in answer.calls.iter().enumerate() {
        let mut piece = serde_json::to_value(call).map_err(io::Error::other)?;
        piece["index"] = index.into();
        event(stream, &json!({ "choices": [{ "delta": { "tool_calls": [piece] } }] }))?;
    }
    let reason = match answer.end {
        End::Limit => "length",
        End::Refusal => "content_filter",
        End::Complete if answer.calls.is_empty() => "stop",
        End::Complete => "tool_calls",
    };
    event(stream, &json!({ "choices": [{ "delta": {}, "finish_reason": reason }] }))?;
    if let Some(tokens) = answer.tokens {
        event(
            stream,
            &json!({ "choices": [], "usage": { "prompt_tokens": tokens, "completion_tokens": 0 } }),
        )?;
    }
    stream.write_all(b"data: [DONE]\n\n")
}

fn event(stream: &mut &TcpStream, event: &Value) -> io::Result<()> {
    stream.write_all(format!("data: {event}\n\n").as_bytes())
}
