//! One prompt to any agent: `one_shot "explain this repository" -- gemini --acp`.
//!
//! The answer streams to stdout, everything else to stderr. Permissions are asked for on the terminal; `--allow` grants each
//! once, `--cwd DIR` says where the agent works, `--files` and `--terminals` offer those.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::{
    collections::{BTreeMap, HashMap},
    env,
    error::Error,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use accord_client::{
    AgentCommand, Builder, Client, Elicitations, Files, InputReply, Permissions, SessionUpdate, StopReason,
    Terminals,
    elicitation::{Input, Wanted},
    permission,
    protocol::v1::{RequestPermissionOutcome, RequestPermissionRequest, ToolCallId, ToolCallStatus},
};
use tokio::task::spawn_blocking;

const USAGE: &str =
    "usage: one_shot [--cwd DIR] [--allow] [--files] [--terminals] PROMPT -- AGENT [ARGUMENT…]";

struct Options {
    prompt: String,
    agent: AgentCommand,
    cwd: PathBuf,
    allow: bool,
    files: bool,
    terminals: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(options) = options(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(options).await {
        Ok(StopReason::EndTurn) => ExitCode::SUCCESS,
        Ok(reason) => {
            eprintln!("the agent stopped: {reason}");
            ExitCode::from(3)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<StopReason, Box<dyn Error>> {
    let client = client(&options).spawn(options.agent).await?;
    if let Some(info) = client.agent().agent_info.get() {
        eprintln!("{} {}", info.name, info.version);
    }
    let session = client.new_session(options.cwd.as_path()).await?;
    let mut turn = session.prompt(options.prompt).await?;
    let canceller = turn.canceller();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            canceller.cancel();
        }
    });
    let mut calls = HashMap::new();
    while let Some(update) = turn.next().await {
        show(&update, &mut calls)?;
    }
    let outcome = turn.finish().await;
    println!();
    client.close().await;
    Ok(outcome?)
}

fn client(options: &Options) -> Builder {
    let permissions = if options.allow { Permissions::allow_all_once() } else { Permissions::ask(ask) };
    let mut builder = Client::builder().permissions(permissions).elicitations(Elicitations::forms(fill_in));
    if options.files {
        builder = builder.files(Files::new());
    }
    if options.terminals {
        builder = builder.terminals(Terminals::new());
    }
    builder
}

/// Shows text as it comes, and a tool call when its status changes, by the title it had first.
fn show(update: &SessionUpdate, calls: &mut HashMap<ToolCallId, (String, ToolCallStatus)>) -> io::Result<()> {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => {
            print!("{}", shown(chunk.content.as_text().unwrap_or("[not text]")));
            io::stdout().flush()?;
        }
        SessionUpdate::ToolCall(call) => {
            let title = shown(&call.title);
            eprintln!("\n[{title}]");
            calls.insert(call.tool_call_id.clone(), (title, ToolCallStatus::Pending));
        }
        SessionUpdate::ToolCallUpdate(update) => {
            let unknown = || ("tool call".to_owned(), ToolCallStatus::Pending);
            let (title, known) = calls.entry(update.tool_call_id.clone()).or_insert_with(unknown);
            if let Some(status) = update.status.get().filter(|status| *status != known) {
                eprintln!("[{title} {status}]");
                known.clone_from(status);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Asks on the terminal. Without one nobody can decide, so the agent is refused.
async fn ask(request: RequestPermissionRequest) -> RequestPermissionOutcome {
    if !io::stdin().is_terminal() {
        return permission::reject(&request);
    }
    let call = &request.tool_call;
    let title = call.title.get().map_or("(it does not say what)", String::as_str);
    eprintln!("\nmay the agent do this? {}", shown(title));
    match call.raw_input.get() {
        Some(input) => eprintln!("  {}", shown(&input.to_string())),
        None => eprintln!("  (it does not say with which arguments)"),
    }
    for (position, option) in request.options.iter().enumerate() {
        eprintln!("  {}: {}", position + 1, shown(&option.name));
    }
    let chosen = line("> ").await.and_then(|line| line.parse::<usize>().ok()?.checked_sub(1));
    match chosen.and_then(|chosen| request.options.get(chosen)) {
        Some(option) => RequestPermissionOutcome::selected(option.option_id.clone()),
        None => permission::reject(&request),
    }
}

/// Asks a form's questions on the terminal, one after the other; an empty line leaves the default.
async fn fill_in(input: Input) -> InputReply {
    let Wanted::Questions { questions, problems, .. } = input.wanted else { return InputReply::Cancel };
    if !io::stdin().is_terminal() {
        return InputReply::Cancel;
    }
    eprintln!("\n{}", shown(&input.message));
    for problem in problems {
        eprintln!("  {problem}");
    }
    let mut answers = BTreeMap::new();
    for question in questions {
        for choice in &question.choices {
            eprintln!("  {}: {}", shown(&choice.value), shown(&choice.title));
        }
        match line(&format!("{}: ", shown(&question.title))).await {
            Some(answer) if answer.is_empty() => {}
            Some(answer) if question.multiple => {
                let several = answer.split(',').map(|text| text.trim().to_owned()).collect();
                answers.insert(question.id, several);
            }
            Some(answer) => drop(answers.insert(question.id, vec![answer])),
            None => return InputReply::Cancel,
        }
    }
    InputReply::Submit(answers)
}

/// What an agent says, without what would steer the terminal: it could write over the question about it.
fn shown(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

async fn line(prompt: &str) -> Option<String> {
    eprint!("{prompt}");
    let read = spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|count| (count > 0).then_some(line))
    });
    Some(read.await.ok()?.ok()??.trim().to_owned())
}

fn options(mut arguments: impl Iterator<Item = String>) -> Option<Options> {
    let (mut prompt, mut cwd) = (None, env::current_dir().ok()?);
    let (mut allow, mut files, mut terminals) = (false, false, false);
    loop {
        match arguments.next()?.as_str() {
            "--cwd" => cwd = Path::new(&arguments.next()?).canonicalize().ok()?,
            "--allow" => allow = true,
            "--files" => files = true,
            "--terminals" => terminals = true,
            "--" => break,
            text if prompt.is_none() => prompt = Some(text.to_owned()),
            _ => return None,
        }
    }
    let agent = AgentCommand::new(arguments.next()?).args(arguments).stderr(|line| eprintln!("  | {line}"));
    Some(Options { prompt: prompt?, agent, cwd, allow, files, terminals })
}
