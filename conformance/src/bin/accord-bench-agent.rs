//! The agent that benchmarks drive: it does what the text of a prompt says, and nothing else.
//!
//! | prompt | what it does before it answers |
//! | --- | --- |
//! | `ping` | nothing |
//! | `stream N S` | N message chunks of S bytes |
//! | `tools N` | N tool calls, each announced and then completed with a diff of 2 KiB |
//! | `permit N` | asks N times for permission |
//! | `echo TEXT` | one chunk with the text |

use std::sync::atomic::{AtomicU64, Ordering};

use accord_agent::protocol::v1::{
    Diff, NewSessionRequest, NewSessionResponse, StopReason, ToolCall, ToolCallContent, ToolCallStatus,
    ToolCallUpdate, ToolKind,
};
use accord_agent::{Agent, Error, Question, ServeError, Turn, standard_options};

#[derive(Default)]
struct BenchAgent {
    sessions: AtomicU64,
}

impl Agent for BenchAgent {
    /// As the other agents of the benchmark name their sessions.
    async fn new_session(&self, _: NewSessionRequest) -> Result<NewSessionResponse, Error> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(NewSessionResponse::new(format!("sess-{number}")))
    }

    async fn prompt(&self, turn: Turn) -> Result<StopReason, Error> {
        let text = turn.text();
        if let Some(text) = text.strip_prefix("echo ") {
            turn.say(text).await?;
            return Ok(StopReason::EndTurn);
        }
        let words: Vec<&str> = text.split(' ').collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
        match words[0] {
            "stream" => stream(&turn, number(1), number(2)).await?,
            "tools" => tools(&turn, number(1)).await?,
            "permit" => permit(&turn, number(1)).await?,
            _ => {}
        }
        Ok(StopReason::EndTurn)
    }
}

async fn stream(turn: &Turn, count: usize, size: usize) -> Result<(), Error> {
    let text = pattern(size);
    for _ in 0..count {
        turn.say(text.clone()).await?;
    }
    Ok(())
}

async fn tools(turn: &Turn, count: usize) -> Result<(), Error> {
    let text = pattern(2048);
    for n in 0..count {
        let id = format!("call-{n}");
        turn.update(ToolCall::new(id.clone(), "Edit src/main.rs").kind(ToolKind::Edit)).await?;
        let diff = ToolCallContent::Diff(Diff::new("/project/src/main.rs", text.clone()));
        turn.update(ToolCallUpdate::new(id).status(ToolCallStatus::Completed).content(vec![diff])).await?;
    }
    Ok(())
}

async fn permit(turn: &Turn, count: usize) -> Result<(), Error> {
    let tool = turn.tool(ToolCall::new("call", "Edit src/main.rs").kind(ToolKind::Edit)).await?;
    for _ in 0..count {
        // The contract's question names the call and no more.
        let call = ToolCallUpdate::new(tool.id().clone());
        turn.ask(Question::new(call).options(standard_options())).await?;
    }
    tool.complete([]).await?;
    Ok(())
}

/// The text that every benchmarked agent streams, so that all of them escape and copy the same bytes.
fn pattern(size: usize) -> String {
    const LINE: &str = "The quick brown fox jumps over the lazy dog; fn main() {}\n";
    let mut text = LINE.repeat(size.div_ceil(LINE.len()));
    text.truncate(size);
    text
}

/// One thread is enough for an agent that only waits, and it saves what threads cost.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ServeError> {
    accord_agent::serve_stdio(BenchAgent::default()).await
}
