//! The main job of the whole project, played on a real agent: two runs over one store, driven through accord-client alone.
//!
//! Choose a model and an effort, mount an MCP server, run turns with tools and permissions, close, end the process, start it again,
//! find the session, resume it, go on, cancel; and once more with `kill -9` right behind a session's announcement. What crosses the
//! wire meanwhile is recorded by a fitting in between, and judged by the witness, which knows none of our crates.

mod first;
mod judged;
mod killed;
mod options;
mod plan;
mod second;
mod stage;
mod talk;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::baseline::Baseline;
use crate::waiting::Waiting;
use crate::wire::case::Subject;
use crate::wire::frame::Frame;
use crate::wire::recording::Recording;
use crate::wire::verdict::Verdict;

pub(crate) use stage::Stage;

/// How the scenario is played.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    /// The agent, and what to type to it.
    pub(crate) subject: Subject,
    /// How permission requests are answered.
    pub(crate) permission: Answer,
    /// Where the recordings go; a temporary folder if nothing is said.
    pub(crate) record: Option<PathBuf>,
    /// Advisory findings and inconclusive steps count as failures, too.
    pub(crate) strict: bool,
    /// What is known to fail, and does not count.
    pub(crate) baseline: Option<Baseline>,
    /// Hears of what takes its time.
    pub(crate) waiting: Arc<Waiting>,
}

/// The answer to every permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Allow,
    Reject,
    Cancel,
}

/// What came of one step.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The run it belongs to, from 1.
    pub(crate) run: usize,
    /// What was done.
    pub(crate) step: &'static str,
    /// The behaviours it shows, by their ids.
    pub(crate) shows: &'static str,
    pub(crate) verdict: Verdict,
    /// Why it is not passed.
    pub(crate) why: String,
    pub(crate) took: Duration,
    /// What crossed during the step, kept where it is needed to explain.
    pub(crate) frames: Vec<Frame>,
}

/// What was played, and what crossed meanwhile, by the number of the run.
pub(crate) type Played = (Vec<Row>, Vec<(usize, Recording)>);

/// Plays all runs; `told` hears of each step as it ends.
pub(crate) fn play(play: Play, told: impl Fn(&Row)) -> Result<Played, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let mut stage = Stage::prepare(play, &told)?;
    runtime.block_on(async {
        let past = first::run(&mut stage).await;
        second::run(&mut stage, &past).await;
        killed::run(&mut stage).await;
    });
    stage.over();
    judged::run(&mut stage);
    let recordings = stage.set().recordings();
    Ok((stage.rows(), recordings))
}
