//! The turns, a function each.

mod talk;
mod tools;

use accord_agent::Error;
use accord_agent::protocol::v1::StopReason;
use accord_agent::runtime::Turn;

use super::backend::Memory;
use super::command::Command;

pub(super) async fn run(command: Command, memory: &Memory, turn: &Turn) -> Result<StopReason, Error> {
    match command {
        Command::Ping => {}
        Command::Echo(text) => turn.say(text).await?,
        Command::Stream { count, size } => talk::stream(turn, count, size).await?,
        Command::Think(text) => talk::think(turn, text).await?,
        Command::Slow { milliseconds } => talk::slow(turn, milliseconds).await?,
        Command::History => talk::history(turn, memory).await?,
        Command::Whoami => talk::whoami(turn).await?,
        Command::Usage => talk::usage(turn, memory).await?,
        Command::Plan => talk::plan(turn).await?,
        Command::Commands => talk::commands(turn).await?,
        Command::Title(title) => turn.session().set_title(title).await?,
        Command::Tools(count) => tools::tools(turn, count).await?,
        Command::Permit(count) => tools::permit(turn, count).await?,
        Command::Write { path, text } => tools::write(turn, &path, text).await?,
        Command::Read(path) => tools::read(turn, &path).await?,
        Command::Run(line) => tools::run(turn, &line).await?,
        Command::Mcp { tool, args } => tools::mcp(turn, &tool, &args).await?,
        Command::Ask => talk::ask(turn).await?,
        Command::Refuse => return Ok(StopReason::Refusal),
        Command::Limit => {
            turn.say("As I was saying").await?;
            return Ok(StopReason::MaxTokens);
        }
        Command::Requests => return Ok(StopReason::MaxTurnRequests),
        Command::Fail(text) => return Err(Error::internal(text)),
        Command::Panic => panic!("asked to panic"),
        Command::Talk(text) => talk::echo(turn, &text).await?,
    }
    Ok(StopReason::EndTurn)
}
