//! Turns with tools, which really do what they say, in the session's directory and nowhere else.

use std::{
    path::{Component, Path, PathBuf},
    process::Stdio,
};

use accord_agent::{
    ClientError, Command, Decision, Error, Group, Question, Tool,
    protocol::v1::{
        ContentBlock, Diff, Terminal, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus,
        ToolCallUpdate, ToolKind,
    },
    runtime::Turn,
};
use serde_json::json;
use tokio::process;

use crate::subject::{backend::Memory, catalogue::AUTO};

/// About how much text the diff of a `tools` turn holds.
const DIFF_BYTES: usize = 2000;
/// A command's output is shown up to here.
const SHOWN: usize = 64 << 10;

/// Announces the call, pending.
async fn announce(turn: &Turn, call: ToolCall) -> Result<Tool<Turn>, Error> {
    turn.tool(call.status(ToolCallStatus::Pending)).await
}

/// Whether the tool may run: asks, unless the mode says not to. A refusal ends the call.
async fn may_run(turn: &Turn, tool: &Tool<Turn>, operation: &str) -> Result<bool, Error> {
    let asks = turn.choice().mode.as_ref().is_none_or(|mode| mode.as_str() != AUTO);
    if asks {
        let decision = tool.ask(Question::standard().operation(operation)).await?;
        if !decision.is_allowed() {
            tool.fail(if decision == Decision::Cancelled { "cancelled" } else { "not allowed" }).await?;
            return Ok(false);
        }
    }
    tool.start().await?;
    Ok(true)
}

async fn complete(
    tool: &Tool<Turn>,
    content: Vec<ToolCallContent>,
    output: &serde_json::Value,
) -> Result<(), Error> {
    let output = json_of(output)?;
    tool.update(|call| call.status(ToolCallStatus::Completed).content(content).raw_output(output)).await
}

/// A call with an id of its own, its name and its input.
pub(super) fn call(
    name: &str,
    title: impl Into<String>,
    kind: ToolKind,
    input: &serde_json::Value,
) -> Result<ToolCall, Error> {
    let id = format!("call_{}", uuid::Uuid::now_v7().simple());
    Ok(ToolCall::new(id, title).name(name.to_owned()).kind(kind).raw_input(json_of(input)?))
}

fn json_of(value: &serde_json::Value) -> Result<accord_agent::protocol::open::Json, Error> {
    accord_agent::protocol::open::Json::new(value).map_err(|error| Error::internal(error.to_string()))
}

/// `count` calls, each completed at once with a diff.
pub(super) async fn tools(turn: &Turn, count: usize) -> Result<(), Error> {
    let (old, new) = ("old line\n".repeat(DIFF_BYTES / 18), "new line\n".repeat(DIFF_BYTES / 18));
    let path = turn.cwd().join("file.txt");
    for number in 0..count {
        let announced = call("edit", format!("Edit {number}"), ToolKind::Edit, &json!({"number": number}))?;
        let id = announced.tool_call_id.clone();
        turn.update(announced).await?;
        let diff = Diff::new(path.clone(), new.clone()).old_text(old.clone());
        let done = ToolCallUpdate::new(id).status(ToolCallStatus::Completed);
        turn.update(done.content([ToolCallContent::from(diff)])).await?;
    }
    Ok(())
}

/// `count` questions, one after the other, each about a call of its own.
pub(super) async fn permit(turn: &Turn, count: usize) -> Result<(), Error> {
    for number in 0..count {
        let call = call("permit", format!("Permit {number}"), ToolKind::Other, &json!({"number": number}))?;
        let id = call.tool_call_id.clone();
        let decision = turn.ask(Question::new(call)).await?;
        // A client that calls its answer cancelled, and not the turn, has allowed nothing; the turn goes on.
        if turn.is_cancelled() {
            return Err(Error::cancelled());
        }
        let status = if decision.is_allowed() { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        turn.update(ToolCallUpdate::new(id).status(status)).await?;
    }
    Ok(())
}

pub(super) async fn write(turn: &Turn, memory: &Memory, path: &str, text: String) -> Result<(), Error> {
    let input = json!({"path": path, "text": text});
    let call = call("write", format!("Write {path}"), ToolKind::Edit, &input)?;
    let Some(full) = inside(&memory.roots, path) else {
        let tool = announce(turn, call).await?;
        return tool.fail("the path is outside the session's directory").await;
    };
    let call = call.locations(vec![ToolCallLocation::new(full.clone())]);
    let tool = announce(turn, call).await?;
    if !may_run(turn, &tool, &format!("write {}", full.display())).await? {
        return Ok(());
    }
    let client = turn.client();
    let old = if client.reads_files() {
        // A file that is not there has no old text.
        client.read_text_file(&full).await.ok()
    } else {
        std::fs::read_to_string(&full).ok()
    };
    let written = if client.writes_files() {
        client.write_text_file(&full, text.clone()).await.map_err(|error| error.to_string())
    } else {
        write_file(&full, &text).map_err(|error| error.to_string())
    };
    match written {
        Ok(()) => {
            let mut diff = Diff::new(full, text.clone());
            diff.old_text = old.into();
            complete(&tool, vec![diff.into()], &json!({"bytes": text.len()})).await
        }
        Err(why) => tool.fail(why).await,
    }
}

pub(super) async fn read(turn: &Turn, memory: &Memory, path: &str) -> Result<(), Error> {
    let call = call("read", format!("Read {path}"), ToolKind::Read, &json!({"path": path}))?;
    let tool = announce(turn, call).await?;
    let Some(full) = inside(&memory.roots, path) else {
        return tool.fail("the path is outside the session's directory").await;
    };
    tool.start().await?;
    let client = turn.client();
    let read = if client.reads_files() {
        client.read_text_file(&full).await.map_err(|error| error.to_string())
    } else {
        std::fs::read_to_string(&full).map_err(|error| error.to_string())
    };
    match read {
        Ok(text) => {
            let content: Vec<ToolCallContent> = vec![ContentBlock::text(text.clone()).into()];
            complete(&tool, content, &json!({"text": text})).await?;
            turn.say(text).await
        }
        Err(why) => tool.fail(why).await,
    }
}

/// A tool of a mounted MCP server; without a name, the names of all of them.
pub(super) async fn mcp(turn: &Turn, tool: &str, args: &str) -> Result<(), Error> {
    if tool.is_empty() {
        let names: Vec<String> = turn.tools().into_iter().map(|tool| tool.name).collect();
        return turn.say(names.join("\n")).await;
    }
    let args = if args.is_empty() { Ok(json!({})) } else { serde_json::from_str(args) };
    let input = args.as_ref().cloned().unwrap_or_default();
    let announced = announce(turn, call(tool, format!("MCP {tool}"), ToolKind::Other, &input)?).await?;
    let Ok(args) = args else { return announced.fail("the arguments are not JSON").await };
    if !turn.tools().iter().any(|known| known.name == tool || known.own_name == tool) {
        return announced.fail(format!("no MCP server offers {tool}")).await;
    }
    if !may_run(turn, &announced, &format!("mcp {tool}")).await? {
        return Ok(());
    }
    match turn.call_tool(tool, args).await {
        Ok(outcome) => {
            let told = outcome.text();
            let content: Vec<ToolCallContent> = outcome.content.iter().cloned().map(Into::into).collect();
            let ended = if outcome.failed { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
            announced.update(|call| call.status(ended).content(content)).await?;
            turn.say(told).await
        }
        Err(None) => Err(Error::cancelled()),
        Err(Some(error)) => announced.fail(error.to_string()).await,
    }
}

/// Switches the session's mode, as a model would that has made its plan.
pub(super) async fn mode(turn: &Turn, mode: &str) -> Result<(), Error> {
    let call =
        call("switch_mode", format!("Switch to {mode}"), ToolKind::SwitchMode, &json!({"mode": mode}))?;
    let tool = announce(turn, call).await?;
    if !may_run(turn, &tool, &format!("mode {mode}")).await? {
        return Ok(());
    }
    match turn.session().set_option("mode", mode).await {
        Ok(()) => complete(&tool, vec![], &json!({"mode": mode})).await,
        Err(error) => tool.fail(error.message).await,
    }
}

/// Writes to the process's own stdout, and has a child do it, as careless tools do.
pub(super) async fn print(turn: &Turn, text: &str) -> Result<(), Error> {
    crate::say::out(&format!("{text}\n"));
    let printed = process::Command::new("echo").arg(text).stdin(Stdio::null()).status().await;
    let told = if printed.is_ok_and(|status| status.success()) { "printed" } else { "not printed" };
    turn.say(told).await
}

/// A command line for the shell: in the client's terminal if it has any, else here.
pub(super) async fn run(turn: &Turn, line: &str) -> Result<(), Error> {
    let call = call("run", format!("Run {line}"), ToolKind::Execute, &json!({"command": line}))?;
    let tool = announce(turn, call).await?;
    if !may_run(turn, &tool, &format!("run {line}")).await? {
        return Ok(());
    }
    let ran = if turn.client().has_terminals() {
        in_terminal(turn, &tool, line).await
    } else {
        here(turn, line).await
    };
    match ran {
        Ok((output, code)) => {
            let content: Vec<ToolCallContent> = vec![ContentBlock::text(output.clone()).into()];
            if code == Some(0) {
                complete(&tool, content, &json!({"output": output, "code": code})).await
            } else {
                let raw = json_of(&json!({"output": output, "code": code}))?;
                tool.update(|call| call.status(ToolCallStatus::Failed).content(content).raw_output(raw)).await
            }
        }
        Err(_) if turn.is_cancelled() => Err(Error::cancelled()),
        Err(why) => tool.fail(why).await,
    }
}

async fn in_terminal(turn: &Turn, tool: &Tool<Turn>, line: &str) -> Result<(String, Option<i64>), String> {
    let command = Command::new("sh").args(["-c", line]).cwd(turn.cwd()).output_limit(SHOWN as u64);
    let told = |error: ClientError| error.to_string();
    let terminal = turn.client().create_terminal(command).await.map_err(told)?;
    // Shown before it is released; what is released can only be shown where it was shown before.
    let shown = ToolCallContent::Terminal(Terminal::new(terminal.id()));
    tool.update(|call| call.content([shown])).await.map_err(|error| error.to_string())?;
    let exit = terminal.wait().await.map_err(told)?;
    let output = terminal.output().await.map_err(told)?;
    Ok((output.text, exit.exit_code.get().map(|code| i64::from(*code))))
}

async fn here(turn: &Turn, line: &str) -> Result<(String, Option<i64>), String> {
    let mut command = process::Command::new("sh");
    command.args(["-c", line]).current_dir(turn.cwd()).stdin(Stdio::null()).kill_on_drop(true);
    Group::prepare(&mut command);
    let child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    // Dropped, it ends what is left of the command; so does the end of this process.
    let _group = Group::of(&child).map_err(|error| error.to_string())?;
    let output = turn.or_cancelled(child.wait_with_output()).await.map_err(|error| error.to_string())?;
    let output = output.map_err(|error| error.to_string())?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text.truncate((0..=SHOWN.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0));
    Ok((text, output.status.code().map(i64::from)))
}

fn write_file(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)?;
    }
    std::fs::write(path, text)
}

/// The path, if it is inside one of the session's directories, links resolved as far as there is something to resolve.
/// A relative one starts at the first of them.
fn inside(roots: &[PathBuf], path: &str) -> Option<PathBuf> {
    if path.is_empty() || Path::new(path).components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let full = roots.first()?.join(path);
    let physical = full.ancestors().find_map(|above| above.canonicalize().ok())?;
    let held = |root: &PathBuf| full.starts_with(root) && physical.starts_with(root);
    roots.iter().any(held).then_some(full)
}
