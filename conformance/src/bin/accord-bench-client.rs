//! The client that benchmarks drive: `accord-bench-client AGENT_COMMAND PROMPT` runs one turn and counts.
//!
//! It prints `{"count":N,"bytes":B,"elapsed_ms":X}`: the updates, the bytes of text in them, and the time from the prompt
//! to its answer. With `ACPBENCH_SLOW=1` it sleeps a millisecond after each hundred updates.
#![expect(clippy::print_stdout, reason = "its line on stdout is its result")]

use std::error::Error;
use std::time::{Duration, Instant};

use accord_client::protocol::v1::{
    ContentBlock, RequestPermissionOutcome, RequestPermissionRequest, SelectedPermissionOutcome,
    SessionUpdate,
};
use accord_client::{AgentCommand, Client, Handler};

struct Allow;

impl Handler for Allow {
    async fn request_permission(&self, request: RequestPermissionRequest) -> RequestPermissionOutcome {
        match request.options.first() {
            Some(first) => {
                RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(first.option_id.clone()))
            }
            None => RequestPermissionOutcome::Cancelled,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(command), Some(prompt)) = (arguments.next(), arguments.next()) else {
        return Err("usage: accord-bench-client AGENT_COMMAND PROMPT".into());
    };
    let mut words = words(&command).into_iter();
    let agent = AgentCommand::new(words.next().ok_or("the agent's command is empty")?).args(words);
    let slow = std::env::var_os("ACPBENCH_SLOW").is_some_and(|value| value == "1");
    let client = Client::builder().handler(Allow).spawn(agent).await?;
    let session = client.new_session(std::env::current_dir()?).await?;
    let start = Instant::now();
    let mut turn = session.prompt(prompt).await?;
    let (mut count, mut bytes) = (0_u64, 0);
    while let Some(update) = turn.next().await {
        count += 1;
        bytes += text_of(&update);
        if slow && count % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    turn.finish().await?;
    let elapsed = start.elapsed().as_secs_f64() * 1e3;
    println!(r#"{{"count":{count},"bytes":{bytes},"elapsed_ms":{elapsed:.3}}}"#);
    client.close().await;
    Ok(())
}

fn text_of(update: &SessionUpdate) -> usize {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) | SessionUpdate::AgentThoughtChunk(chunk) => {
            match &chunk.content {
                ContentBlock::Text(text) => text.text.len(),
                _ => 0,
            }
        }
        _ => 0,
    }
}

/// Splits a command line as far as benchmarks need it: at blanks that are not in quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![None::<String>], None);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                words.last_mut().expect("never empty").get_or_insert_default();
            }
            (None, ' ') => words.push(None),
            _ => words.last_mut().expect("never empty").get_or_insert_default().push(character),
        }
    }
    words.into_iter().flatten().collect()
}
