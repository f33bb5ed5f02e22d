//! A model that needs no server: the words of the prompt say what it answers, the same every time.

use std::time::Duration;

use accord_agent::blocking::{Cancel, Failure};
use serde_json::{Value, json};

use super::{Answer, Delta, End, Message, Model, Request, Role, ToolCall};

/// How long it takes to say a word when it is slow.
const WORD: Duration = Duration::from_millis(50);

/// Follows the first word of the last prompt: `echo`, `write`, `read`, `run` and so on; echoes what it does not know.
#[derive(Debug)]
pub(crate) struct Scripted;

impl Model for Scripted {
    fn answer(
        &self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(Delta<'_>),
        cancel: &Cancel,
    ) -> Result<Answer, Failure> {
        let mut reply = Reply { answer: Answer::default(), hear };
        let last = request.messages.last();
        let prompt = request.messages.iter().rfind(|message| message.role == Role::User);
        let prompt = prompt.map(Message::text).unwrap_or_default();
        let (word, rest) = split(&prompt);
        if last.is_some_and(|message| message.role == Role::Tool) {
            after_tools(&mut reply, word, request.messages);
        } else {
            begin(&mut reply, word, rest, request, cancel)?;
        }
        if word == "usage" {
            reply.answer.tokens = Some(request.messages.len() as u64 * 100);
        }
        Ok(reply.answer)
    }
}

struct Reply<'a> {
    answer: Answer,
    hear: &'a mut dyn FnMut(Delta<'_>),
}

impl Reply<'_> {
    fn say(&mut self, text: &str) {
        (self.hear)(Delta::Text(text));
        self.answer.text.push_str(text);
    }

    fn think(&mut self, text: &str) {
        (self.hear)(Delta::Reasoning(text));
        self.answer.reasoning.push_str(text);
    }

    fn call(&mut self, name: &str, arguments: &Value) {
        let id = format!("call_{}", self.answer.calls.len());
        self.answer.calls.push(ToolCall::new(id, name, arguments));
    }

    fn end(&mut self, end: End, text: &str) {
        self.say(text);
        self.answer.end = end;
    }
}

fn begin(
    reply: &mut Reply<'_>,
    word: &str,
    rest: &str,
    request: &Request<'_>,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let (first, second) = split(rest);
    match word {
        "ping" => {}
        "echo" => reply.say(rest),
        "think" => {
            reply.think(rest);
            reply.say("I have thought about it.");
        }
        "stream" => {
            let size = second.parse().unwrap_or(16);
            for number in 0..first.parse().unwrap_or(1) {
                reply.say(&chunk(number, size));
            }
        }
        "slow" => slow(reply, rest.parse().unwrap_or(1_000), cancel),
        "write" => reply.call("write_file", &json!({ "path": first, "content": second })),
        "read" => reply.call("read_file", &json!({ "path": rest })),
        "search" => reply.call("search_files", &json!({ "pattern": rest })),
        "run" => reply.call("shell", &json!({ "command": rest })),
        "mcp" => mcp(reply, first, second, request.tools),
        "tools" => {
            for number in 0..rest.parse().unwrap_or(1) {
                reply.call("sample_edit", &json!({ "number": number }));
            }
        }
        "permit" => {
            for _ in 0..rest.parse().unwrap_or(1) {
                reply.call("shell", &json!({ "command": "true" }));
            }
        }
        "plan" => reply.call(
            "todo",
            &json!({ "todos": [
            { "content": "look", "status": "completed" },
            { "content": "change", "status": "in_progress" },
            { "content": "check", "status": "pending" },
        ] }),
        ),
        "title" => reply.call("set_title", &json!({ "title": rest })),
        "requests" => reply.call("list_files", &json!({ "path": "." })),
        "history" => reply.say(&history(request.messages)),
        "whoami" => reply.say(&format!(
            "{}/{}, effort {}",
            request.provider,
            request.model,
            request.effort.unwrap_or("as the provider sees fit")
        )),
        "usage" => reply.say("That is how full the context is."),
        "refuse" => reply.end(End::Refusal, "I will not do that."),
        "limit" => reply.end(End::Limit, "This goes on and on and"),
        "fail" => return Err(Failure::Failed(rest.to_owned())),
        "panic" => panic!("the model was asked to panic"),
        _ => {
            for piece in prompt_pieces(word, rest) {
                reply.say(&piece);
            }
        }
    }
    Ok(())
}

/// What is said once the tools have run: the first line of what the last one gave.
fn after_tools(reply: &mut Reply<'_>, word: &str, messages: &[Message]) {
    if word == "requests" {
        reply.call("list_files", &json!({ "path": "." }));
        return;
    }
    if matches!(word, "tools" | "permit") {
        return;
    }
    let result = messages.last().map(Message::text).unwrap_or_default();
    reply.say(result.lines().next().unwrap_or("Done."));
}

fn slow(reply: &mut Reply<'_>, milliseconds: u64, cancel: &Cancel) {
    let words = u128::from(milliseconds).div_ceil(WORD.as_millis());
    for number in 0..words {
        reply.say(&format!("word{number} "));
        if cancel.wait(WORD) {
            return;
        }
    }
}

/// Calls the tool of that name, whichever server it comes from.
fn mcp(reply: &mut Reply<'_>, name: &str, arguments: &str, tools: &[Value]) {
    let names = tools.iter().filter_map(|tool| tool["function"]["name"].as_str());
    let called = names.into_iter().find(|known| *known == name || known.ends_with(&format!("_{name}")));
    let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
    match called {
        Some(known) => reply.call(known, &arguments),
        None => reply.say(&format!("There is no tool named {name}.")),
    }
}

fn history(messages: &[Message]) -> String {
    let said: Vec<String> = messages
        .iter()
        .filter(|message| message.role == Role::User)
        .map(|message| message.text().split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        .collect();
    // The turn that asks is not one that the session holds yet.
    let before = &said[..said.len().saturating_sub(1)];
    format!("{} turns: {}", before.len(), before.join("; "))
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((first, rest)) => (first, rest.trim_start()),
        None => (text, ""),
    }
}

fn chunk(number: usize, size: usize) -> String {
    let mut text = format!("{number} ");
    text.truncate(size);
    while text.len() < size {
        text.push('x');
    }
    text
}

fn prompt_pieces(word: &str, rest: &str) -> Vec<String> {
    let mut words = std::iter::once(word).chain(rest.split_whitespace());
    let mut pieces = Vec::new();
    if let Some(first) = words.next() {
        pieces.push(first.to_owned());
    }
    pieces.extend(words.map(|word| format!(" {word}")));
    pieces
}
