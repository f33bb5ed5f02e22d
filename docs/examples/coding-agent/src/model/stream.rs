//! A streamed chat completion, put together from its events.

use std::io::{self, BufRead};

use serde::Deserialize;

use super::{Answer, Delta, End, Function, ToolCall};

/// The longest line of a stream, in bytes: no server sends so much in one event.
const LONGEST_LINE: u64 = 16 << 20;

/// What went wrong with a stream.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamError {
    #[error("the connection to the model server broke")]
    Io(#[from] io::Error),
    #[error("the model server sent an event that is no chat completion")]
    Malformed,
    #[error("the model server reports: {0}")]
    Reported(String),
    #[error("the model server ended its answer before it was complete")]
    Incomplete,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Reported>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, alias = "message")]
    delta: Piece,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Piece {
    content: Option<String>,
    /// Servers that show reasoning do so under one of these names.
    #[serde(alias = "reasoning")]
    reasoning_content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Reported {
    Object { message: String },
    Text(String),
}

/// Reads server-sent events to the end of the answer; servers that do not stream send one JSON object, read the same way.
pub(crate) fn read(mut body: impl BufRead, hear: &mut dyn FnMut(Delta<'_>)) -> Result<Answer, StreamError> {
    let mut assembly = Assembly::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = io::Read::take(&mut body, LONGEST_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return assembly.end();
        }
        let text = str::from_utf8(&line).map_err(|_| StreamError::Malformed)?.trim();
        let data = match text.strip_prefix("data:") {
            Some(data) => data.trim(),
            None if text.starts_with('{') => text,
            // Comments, event names and blank lines.
            None => continue,
        };
        if data == "[DONE]" {
            assembly.finished = true;
            return assembly.end();
        }
        if !data.is_empty() {
            assembly.take(data, hear)?;
        }
    }
}

#[derive(Default)]
struct Assembly {
    answer: Answer,
    /// Each call with the index by which its pieces are told apart.
    calls: Vec<(usize, ToolCall)>,
    finished: bool,
}

impl Assembly {
    fn take(&mut self, data: &str, hear: &mut dyn FnMut(Delta<'_>)) -> Result<(), StreamError> {
        let event: Event = serde_json::from_str(data).map_err(|_| StreamError::Malformed)?;
        if let Some(error) = event.error {
            return Err(StreamError::Reported(match error {
                Reported::Object { message } | Reported::Text(message) => message,
            }));
        }
        if let Some(usage) = event.usage {
            self.answer.tokens = Some(usage.prompt_tokens.saturating_add(usage.completion_tokens));
        }
        let Some(choice) = event.choices.into_iter().next() else { return Ok(()) };
        if let Some(reasoning) = choice.delta.reasoning_content.filter(|text| !text.is_empty()) {
            hear(Delta::Reasoning(&reasoning));
            self.answer.reasoning.push_str(&reasoning);
        }
        for text in [choice.delta.content, choice.delta.refusal].into_iter().flatten() {
            if !text.is_empty() {
                hear(Delta::Text(&text));
                self.answer.text.push_str(&text);
            }
        }
        for piece in choice.delta.tool_calls.into_iter().flatten() {
            self.call(piece);
        }
        if let Some(reason) = choice.finish_reason {
            self.finished = true;
            self.answer.end = match reason.as_str() {
                "length" => End::Limit,
                "content_filter" => End::Refusal,
                _ => End::Complete,
            };
        }
        Ok(())
    }

    fn call(&mut self, piece: CallPiece) {
        // Some servers give whole calls without an index: then each with an id is another call.
        let index = piece.index.unwrap_or_else(|| match (&piece.id, self.calls.last()) {
            (None, Some((last, _))) => *last,
            _ => self.calls.len(),
        });
        let position = self.calls.iter().position(|(known, _)| *known == index).unwrap_or_else(|| {
            let id = piece.id.clone().unwrap_or_else(|| format!("call_{index}"));
            let function = Function { name: String::new(), arguments: String::new() };
            self.calls.push((index, ToolCall { id, kind: super::function_kind(), function }));
            self.calls.len() - 1
        });
        let function = &mut self.calls[position].1.function;
        if let Some(more) = piece.function {
            function.name.push_str(&more.name.unwrap_or_default());
            function.arguments.push_str(&more.arguments.unwrap_or_default());
        }
    }

    fn end(mut self) -> Result<Answer, StreamError> {
        if !self.finished {
            return Err(StreamError::Incomplete);
        }
        self.answer.calls = self.calls.into_iter().map(|(_, call)| call).collect();
        Ok(self.answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(body: &str) -> (Result<Answer, StreamError>, Vec<String>) {
        let mut pieces = Vec::new();
        let answer = read(body.as_bytes(), &mut |delta| pieces.push(format!("{delta:?}")));
        (answer, pieces)
    }

    #[test]
    fn pieces_come_together() {
        let body = concat!(
            ": keep-alive\r\n\r\n",
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"hm\"}}]}\r\n\r\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"Let \"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"me.\"}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"shell\",\"arguments\":\"{\\\"com\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"read_file\",\"arguments\":\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"mand\\\":\\\"ls\\\"}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\n",
            "data: [DONE]\n\n",
        );
        let (answer, pieces) = heard(body);
        let answer = answer.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("Let me.", "hm"));
        assert_eq!(pieces, ["Reasoning(\"hm\")", "Text(\"Let \")", "Text(\"me.\")"]);
        assert_eq!(answer.tokens, Some(15));
        let calls: Vec<_> = answer
            .calls
            .iter()
            .map(|call| (call.id.as_str(), call.function.name.as_str(), call.arguments()))
            .collect();
        assert_eq!(
            calls,
            [("a", "shell", serde_json::json!({"command": "ls"})), ("b", "read_file", serde_json::json!({})),]
        );
    }

    #[test]
    fn an_answer_in_one_piece_is_read_too() {
        let whole = "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"length\"}]}";
        let answer = heard(whole).0.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.end), ("hi", End::Limit));
    }

    #[test]
    fn a_stream_that_breaks_off_is_no_answer() {
        let cut = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
        assert!(matches!(heard(cut).0, Err(StreamError::Incomplete)));
        assert!(matches!(heard("data: {oops}\n").0, Err(StreamError::Malformed)));
        let reported = heard("data: {\"error\":{\"message\":\"overloaded\"}}\n").0;
        assert!(matches!(reported, Err(StreamError::Reported(message)) if message == "overloaded"));
    }
}
