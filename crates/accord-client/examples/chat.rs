//! A small terminal client for any agent: `chat -- gemini --acp`, or `chat --resume -- gemini --acp` to take up a session.
//!
//! Text streams as it comes; tool calls, plans and diffs are shown as they change; permissions and forms are asked for.
//! Ctrl-C ends the running turn, and the program when none runs. `/quit` ends it as well. What an agent says is shown
//! without its control characters: they could write over the question that is asked about it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::{
    collections::{HashMap, VecDeque},
    env,
    error::Error,
    io::{self, BufRead, Write},
    path::PathBuf,
    process::ExitCode,
    thread,
};

use accord_client::{
    AgentCommand, Client, Files, InputReply, Runner, Terminals,
    elicitation::{Answers, Input, Wanted},
    events::{Event, EventKind, Role, RunStatus, ToolEnd},
    permission::Approval,
    protocol::v1::{ListSessionsRequest, PlanEntryStatus, ToolCallId},
    runner::{Decision, Restore, RunError, RunnerBuilder},
};
use tokio::sync::mpsc;

const USAGE: &str = "usage: chat [--cwd DIR] [--resume] -- AGENT [ARGUMENT…]";

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// What the agent waits for a person to say.
enum Open {
    Approval(Approval),
    Form { input: Input, answers: Answers, next: usize },
}

/// What is on the screen, and what is still to be asked.
struct Chat {
    runner: Runner,
    open: VecDeque<Open>,
    is_running: bool,
    titles: HashMap<ToolCallId, String>,
    failed: mpsc::Sender<RunError>,
    /// Whose text was printed last, without a line end.
    speaker: Option<Role>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some((cwd, resume, agent)) = options(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let outcome = chat(cwd, resume, agent).await;
    if let Err(error) = &outcome {
        eprintln!("{RED}{error}{PLAIN}");
    }
    ExitCode::from(u8::from(outcome.is_err()))
}

async fn chat(cwd: PathBuf, resume: bool, agent: AgentCommand) -> Result<(), Box<dyn Error>> {
    let mut lines = lines();
    let mut builder = Runner::builder(agent.clone())
        .cwd(&cwd)
        .client(RunnerBuilder::client_builder().files(Files::new()).terminals(Terminals::new()));
    if resume {
        match choose_session(agent, &cwd, &mut lines).await? {
            Some(restore) => builder = builder.restore(restore),
            None => return Ok(()),
        }
    }
    let (runner, mut events) = builder.start();
    let mut interrupts = interrupts();
    tokio::select! {
        opened = runner.open() => drop(opened?),
        _ = interrupts.recv() => return Ok(()),
    }
    if let Some(info) = runner.agent().and_then(|agent| agent.agent_info.into_option()) {
        let (name, version) = (shown(&info.name), shown(&info.version));
        println!("{DIM}{name} {version}; Ctrl-C ends a turn, /quit the program{PLAIN}");
    }
    let (failed, mut failures) = mpsc::channel(1);
    let mut chat = Chat {
        runner,
        failed,
        open: VecDeque::new(),
        is_running: false,
        titles: HashMap::new(),
        speaker: None,
    };
    chat.ask()?;
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => chat.show(event)?,
                None => return Ok(()),
            },
            Some(error) = failures.recv() => {
                println!("{RED}{error}{PLAIN}");
                chat.is_running = false;
                chat.ask()?;
            }
            line = lines.recv() => match line.as_deref().map(str::trim) {
                Some("/quit") | None => { chat.runner.dispose().await; }
                Some(line) => chat.said(line)?,
            },
            _ = interrupts.recv() => {
                if chat.is_running {
                    chat.runner.interrupt();
                } else {
                    chat.runner.dispose().await;
                }
            }
        }
    }
}

impl Chat {
    fn said(&mut self, line: &str) -> io::Result<()> {
        match self.open.pop_front() {
            Some(Open::Approval(approval)) => {
                let chosen = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let Some(option) = chosen.and_then(|chosen| approval.options.get(chosen)) else {
                    println!("{DIM}a number from the list, or Ctrl-C to end the turn{PLAIN}");
                    self.open.push_front(Open::Approval(approval));
                    return self.ask();
                };
                let decision = Decision::Option(option.option_id.clone());
                // It may have been taken back while the person thought.
                if let Err(error) = self.runner.answer_approval(&approval.approval_id, &decision) {
                    println!("{RED}{error}{PLAIN}");
                }
            }
            Some(Open::Form { input, answers, next }) => self.fill_in(input, answers, next, line),
            None if line.is_empty() => {}
            None if self.is_running => println!("{DIM}the turn still runs; Ctrl-C ends it{PLAIN}"),
            None => {
                let (runner, prompt) = (self.runner.clone(), line.to_owned());
                let failed = self.failed.clone();
                self.is_running = true;
                tokio::spawn(async move {
                    // What fails in the turn is told by its last event; what fails before it, by none.
                    match runner.run(prompt).await {
                        Ok(_) | Err(RunError::Turn(_)) => {}
                        Err(error) => drop(failed.send(error).await),
                    }
                });
                return Ok(());
            }
        }
        self.ask()
    }

    fn fill_in(&mut self, input: Input, mut answers: Answers, next: usize, line: &str) {
        let Wanted::Questions { questions, .. } = &input.wanted else { return };
        if let Some(question) = questions.get(next)
            && !line.is_empty()
        {
            let several = || line.split(',').map(|text| text.trim().to_owned()).collect();
            answers.insert(
                question.id.clone(),
                if question.multiple { several() } else { vec![line.to_owned()] },
            );
        }
        if next + 1 < questions.len() {
            self.open.push_front(Open::Form { input, answers, next: next + 1 });
            return;
        }
        if let Err(error) = self.runner.answer_input(&input.input_id, InputReply::Submit(answers)) {
            println!("{RED}{error}{PLAIN}");
            self.open.push_front(Open::Form { input, answers: Answers::new(), next: 0 });
        }
    }

    fn show(&mut self, event: Event) -> io::Result<()> {
        let Event { kind, run, replay, .. } = event;
        // The tail of a turn that was ended would run into the next prompt.
        let is_tail = run.is_some() && !self.is_running;
        if is_tail && matches!(kind, EventKind::MessageDelta { .. } | EventKind::UsageUpdated { .. }) {
            return Ok(());
        }
        let speaker = match &kind {
            EventKind::MessageDelta { role, .. } => Some(*role),
            _ => None,
        };
        // Text has no line end of its own.
        if self.speaker.is_some() && self.speaker != speaker {
            println!();
        }
        self.speaker = speaker;
        match kind {
            EventKind::MessageDelta { role: Role::Assistant, text, .. } if !replay => {
                print!("{}", shown(&text));
            }
            EventKind::MessageDelta { text, .. } => print!("{DIM}{}{PLAIN}", shown(&text)),
            EventKind::ToolStarted { title, tool_call_id, .. } => {
                let title = shown(&title);
                println!("{CYAN}▶ {title}{PLAIN}");
                self.titles.insert(tool_call_id, title);
            }
            EventKind::ToolCompleted { status, tool_call_id, .. } => {
                let title = self.titles.remove(&tool_call_id).unwrap_or_else(|| "a tool".to_owned());
                match status {
                    ToolEnd::Completed => println!("{GREEN}✔ {title}{PLAIN}"),
                    _ => println!("{RED}✘ {title}{PLAIN}"),
                }
            }
            EventKind::DiffUpdated { unified_diff, .. } => show_diff(&unified_diff),
            EventKind::PlanUpdated { entries } => {
                for entry in entries {
                    let mark = match entry.status {
                        PlanEntryStatus::Completed => "x",
                        PlanEntryStatus::InProgress => "~",
                        _ => " ",
                    };
                    println!("  [{mark}] {}", shown(&entry.content));
                }
            }
            EventKind::UsageUpdated { used, size, .. } => println!("{DIM}{used} of {size} tokens{PLAIN}"),
            EventKind::Notice { title, description, .. } => {
                let (title, more) = (shown(&title), shown(&description.unwrap_or_default()));
                println!("{BOLD}{title}{PLAIN} {more}");
            }
            EventKind::ApprovalRequested(approval) => {
                self.open.push_back(Open::Approval(approval));
                self.ask()?;
            }
            EventKind::InputRequested(input) => {
                self.open.push_back(Open::Form { input, answers: Answers::new(), next: 0 });
                self.ask()?;
            }
            EventKind::ApprovalSettled { approval_id, .. } => {
                self.open.retain(|open| !matches!(open, Open::Approval(a) if a.approval_id == approval_id));
            }
            EventKind::InputSettled { input_id, .. } => {
                self.open
                    .retain(|open| !matches!(open, Open::Form { input, .. } if input.input_id == input_id));
            }
            EventKind::RunCompleted { status, message, .. } => {
                match (status, message) {
                    (RunStatus::Completed, _) => {}
                    (RunStatus::Cancelled, _) => println!("{DIM}cancelled{PLAIN}"),
                    (status, None) => println!("{RED}{status:?}{PLAIN}"),
                    (_, Some(message)) => println!("{RED}{}{PLAIN}", shown(&message)),
                }
                self.is_running = false;
                self.ask()?;
            }
            EventKind::RunnerClosed { message, .. } => println!("{DIM}{message}{PLAIN}"),
            _ => {}
        }
        io::stdout().flush()
    }

    /// Puts the question that is open, or waits for a prompt.
    fn ask(&self) -> io::Result<()> {
        match self.open.front() {
            Some(Open::Approval(approval)) => {
                println!("{BOLD}May the agent do this? {}{PLAIN}", shown(&approval.tool_name));
                if let Some(input) = approval.tool_call.raw_input.get() {
                    println!("  {}", shown(&input.to_string()));
                }
                for (position, option) in approval.options.iter().enumerate() {
                    println!("  {}: {}", position + 1, shown(&option.name));
                }
                print!("? ");
            }
            Some(Open::Form { input, next, .. }) => {
                if *next == 0 {
                    println!("{BOLD}{}{PLAIN}", shown(&input.message));
                }
                if let Wanted::Questions { questions, .. } = &input.wanted
                    && let Some(question) = questions.get(*next)
                {
                    for choice in &question.choices {
                        println!("  {}: {}", shown(&choice.value), shown(&choice.title));
                    }
                    print!("{}? ", shown(&question.title));
                }
            }
            None if self.is_running => {}
            None => print!("{BOLD}>{PLAIN} "),
        }
        io::stdout().flush()
    }
}

fn show_diff(diff: &str) {
    for line in diff.lines() {
        let colour = match line.as_bytes().first() {
            Some(b'+') => GREEN,
            Some(b'-') => RED,
            _ => DIM,
        };
        println!("{colour}{}{PLAIN}", shown(line));
    }
}

/// What an agent says, without what would steer the terminal.
fn shown(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

/// Every Ctrl-C from now on, also one that comes while something is printed.
fn interrupts() -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(
        async move { while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).await.is_ok() {} },
    );
    receiver
}

/// Lists the agent's sessions for this folder and lets the person choose one.
async fn choose_session(
    agent: AgentCommand,
    cwd: &std::path::Path,
    lines: &mut mpsc::Receiver<String>,
) -> Result<Option<Restore>, Box<dyn Error>> {
    let client = Client::builder().spawn(agent).await?;
    let sessions = client.all_sessions(ListSessionsRequest::new().cwd(cwd)).collect().await?;
    client.close().await;
    if sessions.is_empty() {
        println!("there are no sessions for this folder");
        return Ok(None);
    }
    for (position, session) in sessions.iter().enumerate() {
        let title = session.title.get().map_or("(no title)", String::as_str);
        println!("  {}: {} {DIM}{}{PLAIN}", position + 1, shown(title), session.session_id);
    }
    print!("which? ");
    io::stdout().flush()?;
    let line = lines.recv().await.unwrap_or_default();
    let chosen = line.trim().parse::<usize>().ok().and_then(|number| sessions.get(number.checked_sub(1)?));
    Ok(chosen.map(|session| Restore::Resume(session.session_id.clone())))
}

/// The terminal's lines, read by a thread that may wait for ever.
fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn options(mut arguments: impl Iterator<Item = String>) -> Option<(PathBuf, bool, AgentCommand)> {
    let (mut cwd, mut resume) = (env::current_dir().ok()?, false);
    loop {
        match arguments.next()?.as_str() {
            "--cwd" => cwd = PathBuf::from(arguments.next()?).canonicalize().ok()?,
            "--resume" => resume = true,
            "--" => break,
            _ => return None,
        }
    }
    Some((cwd, resume, AgentCommand::new(arguments.next()?).args(arguments)))
}
