//! The second run: the session is found again, taken up without a replay, goes on where it was, and is cancelled in two ways.

use accord_client::protocol::v1::{ListSessionsRequest, LoadSessionRequest, ResumeSessionRequest};
use accord_client::{Client, Session, StopReason, TurnError};

use super::first::{Past, WORD, closed, ended, mcp, mcp_server, ordinary};
use super::options::holds;
use super::plan::Step;
use super::stage::{Set, Stage};
use super::talk::{failed, refused, streaming, turn};
use crate::wire::verdict::{Judged, Stop, ensure, fail, inconclusive, skip};

const START: Step = Step::new("starts again over the same store", "D15");
const LIST: Step = Step::new("lists the session", "D5 D8");
const RESUME: Step = Step::new("takes the session up, replaying nothing", "D7");
const KEPT: Step = Step::new("kept the model and the effort", "D10 H16");
const HISTORY: Step = Step::new("knows what was said in the first run", "D7 D15");
const MCP: Step = Step::new("mounts the MCP servers of this request", "D7 D11");
const CANCEL: Step = Step::new("cancels a turn by session/cancel", "D14 E20");
const CANCEL_REQUEST: Step = Step::new("cancels a turn by $/cancel_request", "D14");
const NEXT: Step = Step::new("takes the next prompt after a cancel", "D14 E12");
const CLOSE: Step = Step::new("closes the session again", "D4 D8");
const END: Step = Step::new("ends with its input, in order", "D4 E5");
const PLAN: &[Step] = &[START, LIST, RESUME, KEPT, HISTORY, MCP, CANCEL, CANCEL_REQUEST, NEXT, CLOSE, END];

pub(super) async fn run(stage: &mut Stage<'_>, past: &Past) {
    let set = stage.set();
    stage.next_run(PLAN);
    let Some(id) = past.session.as_deref() else { return };
    let started = stage.step(START, set.start()).await;
    let Some(client) = started else { return };
    stage.step(LIST, listed(&set, &client, id)).await;
    let resumed = stage.step(RESUME, resume(&set, &client, id)).await;
    if let Some(session) = resumed {
        stage.step(KEPT, async { kept(&session, past) }).await;
        stage.step(HISTORY, history(&set, &session)).await;
        stage.step(MCP, mcp(&set, &session)).await;
        stage.step(CANCEL, cancel(&set, &session)).await;
        stage.step(CANCEL_REQUEST, cancel_request(&set, &session)).await;
        stage.step(NEXT, next_prompt(&set, &session)).await;
        stage.step(CLOSE, closed(&session)).await;
    }
    stage.step(END, ended(&client)).await;
}

/// Whether all pages of the list, filtered by the directory, hold the session.
pub(super) async fn listed(set: &Set, client: &Client, id: &str) -> Judged {
    let request = ListSessionsRequest::new().cwd(set.cwd());
    let entries = client.all_sessions(request).collect().await.map_err(refused)?;
    let entry = entries.iter().find(|entry| entry.session_id.as_str() == id);
    let Some(entry) = entry else {
        return fail(format!("{} sessions are listed, and not this one", entries.len()));
    };
    ensure(entry.cwd == set.cwd(), || format!("its directory is {}", entry.cwd.display()))
}

async fn resume(set: &Set, client: &Client, id: &str) -> Judged<Session> {
    let servers = Vec::from_iter(mcp_server(set));
    let mark = set.mark();
    let request = ResumeSessionRequest::new(id, set.cwd()).mcp_servers(servers.clone());
    match client.resume_session(request).await.map_err(refused) {
        Err(Stop::Skipped(_)) => {}
        resumed => {
            let session = resumed?;
            let history = ["_chunk\"", "\"tool_call", "\"plan\""];
            let frames = set.frames_from(mark);
            let mut lines = frames.iter().map(|frame| frame.excerpt(usize::MAX));
            let replayed = lines.any(|line| {
                line.contains("session/update") && history.iter().any(|kind| line.contains(kind))
            });
            ensure(!replayed, || "history is replayed".into())?;
            return Ok(session);
        }
    }
    let request = LoadSessionRequest::new(id, set.cwd(), servers);
    let session = client.load_session(request).await.map_err(refused)?;
    ensure(!session.take_history().is_empty(), || "session/load replays nothing".into())?;
    Ok(session)
}

fn kept(session: &Session, past: &Past) -> Judged {
    if past.choices.is_empty() {
        return skip("nothing was chosen in the first run");
    }
    let options = session.config_options();
    if options.is_empty() {
        return inconclusive("the restored session gives no options");
    }
    past.choices.iter().try_for_each(|choice| holds(&options, choice))
}

async fn history(set: &Set, session: &Session) -> Judged {
    let words = set.words("history")?;
    let said = turn(session, &words).await?.said;
    ensure(said.contains(WORD), || format!("the agent says {said:?}"))
}

async fn cancel(set: &Set, session: &Session) -> Judged {
    let words = set.words("slow")?;
    let mut turn = streaming(set, session, &words).await?;
    turn.cancel();
    while turn.next().await.is_some() {}
    let reason = turn.finish().await.map_err(failed)?;
    ensure(reason == StopReason::Cancelled, || format!("the turn ends with {reason:?}"))
}

async fn cancel_request(set: &Set, session: &Session) -> Judged {
    let words = set.words("slow")?;
    let mut turn = streaming(set, session, &words).await?;
    turn.cancel_request();
    while turn.next().await.is_some() {}
    match turn.finish().await {
        Ok(StopReason::Cancelled) => Ok(()),
        Ok(reason) => inconclusive(format!("the agent ignores it, as it may: {reason:?}")),
        Err(TurnError::Refused(error)) if error.code.0 == -32800 => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

async fn next_prompt(set: &Set, session: &Session) -> Judged {
    let (words, repeats) = ordinary(set, "afterwards");
    let heard = turn(session, &words).await?;
    ensure(!repeats || heard.said.contains("afterwards"), || format!("the agent says {:?}", heard.said))
}
