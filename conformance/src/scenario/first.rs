//! The first run: a new session with an MCP server, a model, an effort, turns with tools; closed, and the process ended.

use accord_client::protocol::v1::{McpServer, McpServerStdio, NewSessionRequest};
use accord_client::{Client, Session, SessionUpdate};

use super::Answer;
use super::options::{self, Choice};
use super::plan::Step;
use super::stage::{Set, Stage};
use super::talk::{failed, text_of, turn};
use crate::wire::verdict::{Judged, ensure, fail, inconclusive, skip};

const START: Step = Step::new("starts, and answers initialize", "D1 D15 E6");
const OPEN: Step = Step::new("opens a session with an MCP server mounted", "D2 D11 D15");
const CLOSE: Step = Step::new("closes the session", "D4 D8");
const END: Step = Step::new("ends with its input, in order", "D4 E5");
const MODEL: Step = Step::new("chooses another model", "D10 D15");
const EFFORT: Step = Step::new("chooses an effort", "D10 D15");
const PINNED: Step = Step::new("runs the turn on what was chosen", "D3");
const ECHO: Step = Step::new("says what it was asked to say, in order", "D12 D13");
const THINK: Step = Step::new("shows its reasoning before its message", "D12");
const TOOL: Step = Step::new("asks before a tool runs, then really runs it", "D13 E18");
const MCP: Step = Step::new("calls a tool of the mounted MCP server", "D11 D15");
const USAGE: Step = Step::new("reports its usage", "D12");
const PLAN: &[Step] = &[START, OPEN, MODEL, EFFORT, PINNED, ECHO, THINK, TOOL, MCP, USAGE, CLOSE, END];

/// What the second run has to find again.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub(super) session: Option<String>,
    pub(super) choices: Vec<Choice>,
}

/// The word by which the second run knows the first one's turns again.
pub(super) const WORD: &str = "marmalade";

pub(super) async fn run(stage: &mut Stage<'_>) -> Past {
    let set = stage.set();
    stage.next_run(PLAN);
    let mut past = Past::default();
    let Some(client) = stage.step(START, set.start()).await else {
        return past;
    };
    let opened = stage.step(OPEN, open(&set, &client)).await;
    if let Some(session) = opened {
        past.session = Some(session.id().to_string());
        turns(stage, &set, &session, &mut past).await;
        stage.step(CLOSE, closed(&session)).await;
    }
    stage.step(END, ended(&client)).await;
    past
}

async fn turns(stage: &mut Stage<'_>, set: &Set, session: &Session, past: &mut Past) {
    past.choices.extend(stage.step(MODEL, options::model(session)).await);
    past.choices.extend(stage.step(EFFORT, options::effort(session)).await);
    stage.step(PINNED, pinned(set, session, &past.choices)).await;
    stage.step(ECHO, echo(set, session)).await;
    stage.step(THINK, think(set, session)).await;
    stage.step(TOOL, tool(set, session)).await;
    stage.step(MCP, mcp(set, session)).await;
    stage.step(USAGE, usage(set, session)).await;
}

/// The kit's own MCP server, a real one.
pub(super) fn mcp_server(set: &Set) -> Option<McpServer> {
    let (command, args) = set.play.subject.mcp.split_first()?;
    Some(McpServerStdio::new("kit", command, args, []).into())
}

async fn open(set: &Set, client: &Client) -> Judged<Session> {
    let request = NewSessionRequest::new(set.cwd(), Vec::from_iter(mcp_server(set)));
    let session = client.new_session(request).await.map_err(failed)?;
    ensure(!session.id().as_str().is_empty(), || "the session's id is empty".into())?;
    Ok(session)
}

async fn pinned(set: &Set, session: &Session, choices: &[Choice]) -> Judged {
    let words = set.words("whoami")?;
    if choices.is_empty() {
        return inconclusive("nothing was chosen");
    }
    let said = turn(session, &words).await?.said;
    for choice in choices {
        // A value may be made of parts, such as a provider and a model.
        let mut parts =
            choice.value.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty());
        let told = said.contains(&choice.name) || parts.all(|part| said.contains(part));
        ensure(told, || {
            format!("{} is {} ({}), and the agent says {said:?}", choice.option, choice.value, choice.name)
        })?;
    }
    Ok(())
}

/// The words for an ordinary turn that says `text`, and whether the agent repeats it.
pub(super) fn ordinary(set: &Set, text: &str) -> (String, bool) {
    match set.play.subject.prompts.get("echo") {
        Some(words) if words.contains("{TEXT}") => (words.replace("{TEXT}", text), true),
        Some(words) => (words.clone(), false),
        None => (format!("Say {text}."), false),
    }
}

async fn echo(set: &Set, session: &Session) -> Judged {
    let text = format!("{WORD}, then grün 漢字 😀, then the end");
    let (words, repeats) = ordinary(set, &text);
    let heard = turn(session, &words).await?;
    ensure(!heard.said.is_empty(), || "the agent says nothing".into())?;
    ensure(!repeats || heard.said.contains(&text), || format!("the agent says {:?}", heard.said))
}

async fn think(set: &Set, session: &Session) -> Judged {
    let words = set.words("think")?;
    let heard = turn(session, &words).await?;
    let of = |wanted: fn(&SessionUpdate) -> bool| heard.updates.iter().position(wanted);
    let thought = of(|update| matches!(update, SessionUpdate::AgentThoughtChunk(_)));
    let message = of(|update| matches!(update, SessionUpdate::AgentMessageChunk(_)));
    match (thought, message) {
        (Some(thought), Some(message)) => ensure(thought < message, || "the message comes first".into()),
        (None, _) => inconclusive("no thought was shown"),
        (Some(_), None) => fail("a thought, and no message"),
    }
}

async fn tool(set: &Set, session: &Session) -> Judged {
    let words = set.words("tool")?.replace("{PATH}", "scenario.txt").replace("{TEXT}", WORD);
    let (asked, mark) = (set.permissions.count(), set.mark());
    let heard = turn(session, &words).await?;
    if set.permissions.count() == asked {
        return inconclusive("no permission was asked for");
    }
    // The two kinds of message reach a client on different ways, so their order is read off the wire.
    let frames: Vec<String> = set.frames_from(mark).iter().map(|frame| frame.excerpt(usize::MAX)).collect();
    let call = frames.iter().position(|line| line.contains("\"tool_call\""));
    let request = frames.iter().position(|line| line.contains("session/request_permission"));
    ensure(call.is_some() && call < request, || {
        "permission is asked before the tool call is reported".into()
    })?;
    let file = set.cwd().join("scenario.txt");
    let names_a_file = set.words("tool")?.contains("{PATH}");
    if set.play.permission != Answer::Allow {
        return ensure(!names_a_file || !file.exists(), || "the tool ran without permission".into());
    }
    heard.tool_completed()?;
    if names_a_file {
        let text = text_of(&file)?;
        ensure(text.contains(WORD), || format!("the file holds {text:?}"))?;
    }
    Ok(())
}

/// Also the second run's proof that the servers of its own request are mounted.
pub(super) async fn mcp(set: &Set, session: &Session) -> Judged {
    let words = set.words("mcp")?.replace("{TOOL}", "add").replace("{JSON}", "{\"a\":1234500,\"b\":678901}");
    let heard = turn(session, &words).await?;
    if set.play.permission == Answer::Allow {
        heard.tool_completed()?;
        ensure(heard.mentions("1913401"), || "what the tool gave is not shown".into())?;
    }
    Ok(())
}

async fn usage(set: &Set, session: &Session) -> Judged {
    let words = set.words("usage")?;
    let heard = turn(session, &words).await?;
    let told = heard.updates.iter().any(|update| matches!(update, SessionUpdate::UsageUpdate(_)));
    if told { Ok(()) } else { inconclusive("no usage_update was sent") }
}

/// The session is closed by the agent's own doing.
pub(super) async fn closed(session: &Session) -> Judged {
    let offers = session.client().agent().agent_capabilities.as_ref();
    let sessions = offers.and_then(|offers| offers.session_capabilities.as_ref());
    if sessions.is_none_or(|sessions| sessions.close.get().is_none()) {
        return skip("sessionCapabilities.close is not advertised");
    }
    session.close().await.map_err(failed)
}

/// stdin is closed: the process ends by itself, with status 0.
pub(super) async fn ended(client: &Client) -> Judged {
    let end = client.close().await;
    ensure(end.exit_code() == Some(0), || end.to_string())
}
