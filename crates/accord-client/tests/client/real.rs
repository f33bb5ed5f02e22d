//! Published agents, installed elsewhere: turn, permission, cancel, restart, restore, all by the runner.
//!
//! `ACCORD_REAL_AGENTS='/path/to/run.sh opencode;/path/to/run.sh gemini' cargo test -p accord-client --test client real`,
//! with the model they talk to running. `docs/guides/real-agents.md` says how to get them.

use std::{path::Path, time::Duration};

use accord_client::{
    AgentCommand, Runner, SessionId, StopReason,
    events::{Event, EventKind, RunStatus},
    runner::{Decision, EventSink, Restore, SinkError},
};
use tokio::{sync::mpsc, time::timeout};

/// No step takes longer, on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

struct Tell(mpsc::UnboundedSender<Event>);

impl EventSink for Tell {
    async fn emit(&mut self, event: Event) -> Result<(), SinkError> {
        Ok(self.0.send(event)?)
    }
}

fn start(agent: &str, cwd: &Path, restore: Option<Restore>) -> (Runner, mpsc::UnboundedReceiver<Event>) {
    let mut words = agent.split_whitespace();
    let command = AgentCommand::new(words.next().expect("a program")).args(words);
    let (sender, events) = mpsc::unbounded_channel();
    let mut builder = Runner::builder(command).cwd(cwd);
    if let Some(restore) = restore {
        builder = builder.restore(restore);
    }
    (builder.start_with(Tell(sender)), events)
}

/// Runs a prompt; `each` sees every event of it as it comes.
async fn turn(
    runner: &Runner,
    events: &mut mpsc::UnboundedReceiver<Event>,
    prompt: &str,
    mut each: impl FnMut(&Runner, &EventKind),
) -> (StopReason, RunStatus) {
    let (running, prompt) = (runner.clone(), prompt.to_owned());
    let mut run = tokio::spawn(async move { running.run(prompt).await });
    loop {
        let event = tokio::select! {
            biased;
            event = timeout(LIMIT, events.recv()) => event.expect("the agent goes on").expect("the runner goes on"),
            // What fails before the turn starts is told by no event.
            outcome = &mut run => panic!("{outcome:?}"),
        };
        each(runner, &event.kind);
        if let EventKind::RunCompleted { status, .. } = event.kind {
            return (run.await.expect("no panic").expect("the turn has a stop reason"), status);
        }
    }
}

async fn drive(agent: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cwd = folder.path();
    let (runner, mut events) = start(agent, cwd, None);
    let mut asked = 0;
    let (reason, _) = turn(&runner, &mut events, "[[shell:echo made > made.txt]]", |runner, kind| {
        if let EventKind::ApprovalRequested(approval) = kind {
            asked += 1;
            runner
                .answer_approval(&approval.approval_id, &Decision::Approve)
                .expect("it can be allowed once");
        }
    })
    .await;
    assert_eq!(reason, StopReason::EndTurn, "{agent}");
    assert!(asked > 0, "{agent} asked for nothing");
    assert!(cwd.join("made.txt").exists(), "{agent} did not run what it was allowed to");

    let mut seen = 0;
    let (reason, status) = turn(&runner, &mut events, "[[slow:200]]", |runner, kind| {
        seen += usize::from(matches!(kind, EventKind::MessageDelta { .. }));
        if seen == 3 {
            runner.interrupt();
        }
    })
    .await;
    assert_eq!((reason, status), (StopReason::Cancelled, RunStatus::Cancelled), "{agent}");

    // The next prompt waits for the cancelled turn's end, and gets nothing of its tail.
    let mut text = String::new();
    let (reason, _) = turn(&runner, &mut events, "hello", |_, kind| {
        if let EventKind::MessageCompleted { text: message, .. } = kind {
            text.push_str(message);
        }
    })
    .await;
    assert_eq!(reason, StopReason::EndTurn, "{agent}");
    assert!(!text.contains("slow chunk"), "{agent}: {text}");
    let offers = runner.agent().and_then(|agent| agent.agent_capabilities).unwrap_or_default();
    let resumes = offers.session_capabilities.as_ref().is_some_and(|sessions| sessions.resume.is_value());
    if !resumes {
        // One agent spoils a session that is loaded in the clock minute it was made in; this turn outlasts the minute.
        turn(&runner, &mut events, "[[slow:260]]", |_, _| {}).await;
    }
    let session: SessionId = runner.session().expect("the session is open").id().clone();
    timeout(LIMIT, runner.dispose()).await.expect("the agent ends");

    if !resumes && offers.load_session != Some(true) {
        return;
    }
    let (runner, mut events) = start(agent, cwd, Some(Restore::Resume(session.clone())));
    let (reason, _) = turn(&runner, &mut events, "and again", |_, _| {}).await;
    assert_eq!(reason, StopReason::EndTurn, "{agent}");
    assert_eq!(runner.session().expect("the session is open").id(), &session, "{agent}");
    timeout(LIMIT, runner.dispose()).await.expect("the agent ends");
}

#[tokio::test]
async fn real_agents_are_driven_by_the_runner() {
    for agent in
        std::env::var("ACCORD_REAL_AGENTS").unwrap_or_default().split(';').filter(|agent| !agent.is_empty())
    {
        drive(agent.trim()).await;
    }
}
