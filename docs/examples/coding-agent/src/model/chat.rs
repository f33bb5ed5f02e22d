//! A model behind any server that speaks OpenAI's chat completions.

use std::{io::BufReader, time::Duration};

use accord_agent::blocking::{Cancel, Failure};
use serde_json::{Value, json};

use super::{Answer, Delta, End, Model, Request, stream};

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(20);
/// How long a server may be silent; a large local model can take long over a long prompt.
const SILENCE: Duration = Duration::from_secs(600);
/// The most of an error's text that is passed on, in characters.
const MOST_OF_AN_ERROR: usize = 300;

/// A chat completions endpoint.
#[derive(Debug)]
pub(crate) struct Chat {
    base_url: String,
    key: Option<String>,
}

impl Chat {
    /// The endpoint below `base_url`, which usually ends in `/v1`.
    pub(crate) fn new(base_url: &str, key: Option<String>) -> Self {
        Self { base_url: base_url.trim_end_matches('/').to_owned(), key }
    }

    fn body(request: &Request<'_>) -> Value {
        let mut body = json!({
            "model": request.model,
            "messages": request.messages,
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        if !request.tools.is_empty() {
            body["tools"] = request.tools.into();
        }
        if let Some(effort) = request.effort {
            body["reasoning_effort"] = effort.into();
        }
        body
    }
}

impl Model for Chat {
    fn answer(
        &self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(Delta<'_>),
        cancel: &Cancel,
    ) -> Result<Answer, Failure> {
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .timeout_per_read(Some(SILENCE))
            .http_status_as_error(false)
            .build();
        let agent = ureq::Agent::new_with_config(config);
        // A cancel shuts the socket down, and with it the server stops computing an answer that nobody wants.
        let handle = agent.clone();
        let _reach = cancel.on_cancel(move || handle.shutdown());

        let mut post = agent
            .post(format!("{}/chat/completions", self.base_url))
            .header("content-type", "application/json")
            .header("accept", "text/event-stream");
        if let Some(key) = &self.key {
            post = post.header("authorization", format!("Bearer {key}"));
        }
        let stopped = |failure: Failure| if cancel.is_set() { Failure::failed("cancelled") } else { failure };
        let response = post.send(Self::body(request).to_string()).map_err(|error| {
            stopped(Failure::failed(format!("the model server cannot be reached: {error}")))
        })?;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        if status >= 300 {
            let text = body.with_config().limit(64 << 10).read_to_string().unwrap_or_default();
            return Err(stopped(refusal(status, &text)));
        }
        let reader = body.with_config().limit(u64::MAX).reader();
        match stream::read(BufReader::new(reader), hear) {
            Ok(answer) => Ok(answer),
            Err(_) if cancel.is_set() => Ok(Answer { end: End::Complete, ..Answer::default() }),
            Err(error) => Err(Failure::failed(error)),
        }
    }
}

/// What a status other than success means; the server's own message is kept, since it names the cause.
fn refusal(status: u16, text: &str) -> Failure {
    let object: Option<Value> = serde_json::from_str(text).ok();
    let message = object
        .as_ref()
        .and_then(|object| object["error"]["message"].as_str().or_else(|| object["error"].as_str()))
        .unwrap_or(text);
    let message: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message: String = message.chars().take(MOST_OF_AN_ERROR).collect();
    match status {
        401 | 403 => Failure::Login(format!("the model server refused the key (status {status}): {message}")),
        _ => Failure::failed(format!("the model server answered with status {status}: {message}")),
    }
}
