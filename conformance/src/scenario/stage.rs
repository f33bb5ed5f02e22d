//! The stage: starts agents through the recording fitting, times each step, keeps what crossed during it.

use std::fs::{self, File};
use std::future::Future;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use accord_client::protocol::v1::{Implementation, RequestPermissionOutcome, RequestPermissionRequest};
use accord_client::{AgentCommand, Client, Permissions, permission};

use super::plan::{Place, Step};
use super::{Answer, Play, Row};
use crate::stop;
use crate::wire::frame::Frame;
use crate::wire::recording::Recording;
use crate::wire::verdict::{Judged, Stop, Verdict, fail, inconclusive};

/// The rows of the play, as they come about.
pub(crate) struct Stage<'t> {
    set: Arc<Set>,
    rows: Vec<Row>,
    place: Place,
    told: &'t dyn Fn(&Row),
}

/// What the steps work with; shared, so that a step can use it while its row is being timed.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) play: Play,
    pub(super) permissions: Asked,
    folder: PathBuf,
    program: PathBuf,
    run: AtomicUsize,
    /// The folder is ours to remove.
    temporary: bool,
}

/// The permission requests that the agent made.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<RequestPermissionRequest>>>);

impl Asked {
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl<'t> Stage<'t> {
    /// Makes the folders; `told` hears of each step as it ends.
    pub(super) fn prepare(play: Play, told: &'t dyn Fn(&Row)) -> Result<Self, String> {
        let temporary = play.record.is_none();
        let folder = play
            .record
            .clone()
            .unwrap_or_else(|| std::env::temp_dir().join(format!("accord-scenario-{}", std::process::id())));
        let made = ["work", "state"].iter().try_for_each(|part| fs::create_dir_all(folder.join(part)));
        // Agents report physical paths, and the temporary folder is a symbolic link on some systems.
        let folder = made.and_then(|()| folder.canonicalize()).map_err(|error| error.to_string())?;
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let (permissions, run) = (Asked::default(), AtomicUsize::new(0));
        let set = Arc::new(Set { play, permissions, folder, program, run, temporary });
        Ok(Self { set, rows: Vec::new(), place: Place::default(), told })
    }

    /// What the steps work with.
    pub(super) fn set(&self) -> Arc<Set> {
        Arc::clone(&self.set)
    }

    /// Begins the next run; what was not reached of the one before is told.
    pub(super) fn next_run(&mut self, plan: &'static [Step]) {
        self.set.run.fetch_add(1, Ordering::Relaxed);
        let missed = self.place.begin(self.set.run(), plan);
        self.note_all(missed);
    }

    /// There is no run any more; what was not reached of the last one is told.
    pub(super) fn over(&mut self) {
        let missed = self.place.begin(0, &[]);
        self.note_all(missed);
    }

    /// What has been played.
    pub(super) fn rows(self) -> Vec<Row> {
        self.rows
    }

    /// Plays one step; its frames are kept if it did not pass.
    pub(super) async fn step<T>(&mut self, step: Step, work: impl Future<Output = Judged<T>>) -> Option<T> {
        let missed = self.place.reach(step);
        self.note_all(missed);
        let from = self.set.mark();
        let began = Instant::now();
        let limit = self.set.play.subject.patience * 3;
        self.set.play.waiting.on(format!("the step “{}”", step.does), limit);
        let outcome = tokio::select! {
            biased;
            () = stop::wait() => inconclusive("the run was stopped"),
            outcome = work => outcome,
            () = tokio::time::sleep(limit) => fail(format!("not done within {} s", limit.as_secs_f32())),
        };
        self.set.play.waiting.over();
        let took = began.elapsed();
        let (verdict, why) = match &outcome {
            Ok(_) => (Verdict::Passed, String::new()),
            Err(Stop::Inconclusive(why)) if self.set.play.strict => {
                (Verdict::Failed, format!("inconclusive: {why}"))
            }
            Err(end) => (end.parts().0, end.parts().1.to_owned()),
        };
        let keep = matches!(verdict, Verdict::Failed | Verdict::Inconclusive);
        let frames = if keep { self.set.frames_from(from) } else { Vec::new() };
        self.place.leave(step, verdict);
        let Step { does, shows } = step;
        self.note(Row { run: self.set.run(), step: does, shows, verdict, why, took, frames });
        outcome.ok()
    }

    fn note_all(&mut self, rows: Vec<Row>) {
        for row in rows {
            self.note(row);
        }
    }

    /// Adds a row that needed no playing.
    pub(super) fn note(&mut self, row: Row) {
        (self.told)(&row);
        self.rows.push(row);
    }
}

impl Set {
    fn run(&self) -> usize {
        self.run.load(Ordering::Relaxed)
    }

    /// Where the sessions work.
    pub(super) fn cwd(&self) -> PathBuf {
        self.play.subject.launch.cwd.clone().unwrap_or_else(|| self.folder.join("work"))
    }

    /// What to type to bring a situation about.
    pub(super) fn words(&self, kind: &str) -> Judged<String> {
        match self.play.subject.prompts.get(kind) {
            Some(words) => Ok(words.clone()),
            None => Err(Stop::Inconclusive(format!("nobody said what to type: give --prompt-{kind}"))),
        }
    }

    /// The recordings of all runs so far.
    pub(super) fn recordings(&self) -> Vec<(usize, Recording)> {
        (1..=self.run()).filter_map(|run| Some((run, read_from(&self.tape(run), 0)?))).collect()
    }

    /// The end of this run's recording, to which `frames_from` goes back.
    pub(super) fn mark(&self) -> u64 {
        fs::metadata(self.tape(self.run())).map_or(0, |data| data.len())
    }

    /// What has crossed in this run since.
    pub(super) fn frames_from(&self, mark: u64) -> Vec<Frame> {
        read_from(&self.tape(self.run()), mark).unwrap_or_default().frames
    }

    fn tape(&self, run: usize) -> PathBuf {
        self.folder.join(format!("run-{run}.jsonl"))
    }

    /// Starts the agent behind the fitting and introduces this client.
    pub(super) async fn start(&self) -> Judged<Client> {
        let state = self.folder.join("state").to_string_lossy().into_owned();
        let expand = |text: &String| text.replace("{STATE}", &state);
        let launch = &self.play.subject.launch;
        let mut command = AgentCommand::new(&self.program)
            .arg("tee")
            .arg(self.tape(self.run()))
            .arg("--")
            .args(launch.command.iter().map(expand))
            .cwd(self.cwd())
            .first_frame_deadline(self.play.subject.patience)
            .grace(self.play.subject.patience);
        for (name, value) in &launch.env {
            command = command.env(name, expand(value));
        }
        let (asked, answer) = (self.permissions.clone(), self.play.permission);
        let client = Client::builder()
            .info(Implementation::new("accord-conformance", env!("CARGO_PKG_VERSION")))
            .permissions(Permissions::ask(move |request| {
                let outcome = answered(answer, &request);
                asked.0.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                async move { outcome }
            }))
            .startup_deadline(self.play.subject.patience)
            .request_deadline(self.play.subject.patience)
            .spawn(command)
            .await;
        let client = client.map_err(|error| Stop::Failed(error.to_string()))?;
        if let Some(method) = &self.play.subject.auth {
            client.authenticate(method.as_str()).await.map_err(|error| Stop::Failed(error.to_string()))?;
        }
        Ok(client)
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        if self.temporary {
            // What can't be removed stays in the temporary folder, where it harms nothing.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn answered(answer: Answer, request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    match answer {
        Answer::Allow => permission::allow_once(request),
        Answer::Reject => permission::reject(request),
        Answer::Cancel => RequestPermissionOutcome::Cancelled,
    }
}

/// The recording from a byte offset on.
fn read_from(tape: &Path, from: u64) -> Option<Recording> {
    let mut file = File::open(tape).ok()?;
    file.seek(SeekFrom::Start(from)).ok()?;
    Recording::read(BufReader::new(file)).ok()
}
