//! The turns, a function each.

mod session;
mod talk;
mod tools;

use accord_agent::{Error, protocol::v1::StopReason, runtime::Turn};

use super::backend::Memory;
use super::command::Command;

pub(super) async fn run(command: Command, memory: &Memory, turn: &Turn) -> Result<StopReason, Error> {
    match command {
        Command::Ping => {}
        Command::Echo(text) => turn.say(text).await?,
        Command::Stream { count, size } => talk::stream(turn, count, size).await?,
        Command::Think(text) => talk::think(turn, text).await?,
        Command::Slow { milliseconds } => talk::slow(turn, milliseconds).await?,
        Command::History => session::history(turn, memory).await?,
        Command::Whoami => session::whoami(turn).await?,
        Command::Usage => session::usage(turn, memory).await?,
        Command::Plan => session::plan(turn).await?,
        Command::Commands => session::commands(turn).await?,
        Command::Title(title) => turn.session().set_title(title).await?,
        Command::Tools(count) => tools::tools(turn, count).await?,
        Command::Permit(count) => tools::permit(turn, count).await?,
        Command::Write { path, text } => tools::write(turn, memory, &path, text).await?,
        Command::Read(path) => tools::read(turn, memory, &path).await?,
        Command::Run(line) => tools::run(turn, &line).await?,
        Command::Mcp { tool, args } => tools::mcp(turn, &tool, &args).await?,
        Command::Ask => talk::ask(turn).await?,
        Command::Visit => talk::visit(turn).await?,
        Command::Refuse => return Ok(StopReason::Refusal),
        Command::Limit => {
            turn.say("As I was saying").await?;
            return Ok(StopReason::MaxTokens);
        }
        Command::Requests => return Ok(StopReason::MaxTurnRequests),
        Command::Fail(text) => return Err(failure(text)),
        Command::Stumble(text) => {
            turn.say("So far so good").await?;
            return Err(failure(text));
        }
        Command::Panic => panic!("asked to panic"),
        Command::Mode(mode) => tools::mode(turn, &mode).await?,
        Command::Notice(text) => session::notice(turn, text).await?,
        Command::Compact => session::compact(turn).await?,
        Command::Expire => return Err(session::expired()),
        Command::Child(text) => session::child(turn, text).await?,
        Command::Print(text) => tools::print(turn, &text).await?,
        Command::Image => session::image(turn).await?,
        Command::Talk(text) => talk::echo(turn, &text).await?,
    }
    Ok(StopReason::EndTurn)
}

/// Whoever asks for a failure without a reason gets one that says so.
fn failure(why: String) -> Error {
    Error::internal(if why.is_empty() { "asked to fail".to_owned() } else { why })
}
