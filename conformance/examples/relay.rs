//! Stands between a client and an agent: `accord-relay [--tap FILE] -- AGENT [ARGUMENT…]` is an agent to the one and a client to the other.
//!
//! Every line is passed on byte for byte as it comes, known or not, so cancels, answers and the ends of either side reach
//! the other as they were. The tap writes one line a frame: which way, what it is, how long; never what it says.
#![expect(clippy::print_stderr, reason = "stdout is the wire; what is to be said goes to stderr")]

use std::{
    env,
    error::Error,
    fs::File,
    io::{self, Write},
    path::PathBuf,
    process::{ExitCode, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use accord_client::{
    AgentCommand,
    protocol::rpc::{self, Message},
    transport::{Group, stdio},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    process::{Child, Command},
    time::timeout,
};

const USAGE: &str = "usage: accord-relay [--tap FILE] -- AGENT [ARGUMENT…]";

/// How long the agent may take to end once its client is gone.
const GRACE: Duration = Duration::from_secs(5);

/// What the tap remembers of a line, at most; longer ones are passed on all the same and told by their length.
const TAPPED: usize = 4 * 1024 * 1024;

type Sink = Arc<Mutex<Box<dyn Write + Send>>>;

#[tokio::main]
async fn main() -> ExitCode {
    let Some((tap, agent)) = options(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match relay(tap, &agent).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn relay(tap: Option<PathBuf>, agent: &AgentCommand) -> Result<ExitCode, Box<dyn Error>> {
    let sink: Box<dyn Write + Send> = match tap {
        Some(path) => Box::new(File::create(path)?),
        None => Box::new(io::stderr()),
    };
    let sink = Arc::new(Mutex::new(sink));
    // From here on no stray print can reach the wire.
    let (from_client, to_client) = stdio::take()?;
    let mut command = Command::from(agent.to_command()?);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Group::prepare(&mut command);
    let mut child = command.spawn()?;
    let group = Group::of(&child)?;
    let (Some(to_agent), Some(from_agent)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the agent has no pipes".into());
    };
    // Each ends when its reader does, and drops its writer, which passes the end on.
    let mut down = tokio::spawn(pass(from_agent, to_client, Tap::new("<-", Arc::clone(&sink))));
    let up = tokio::spawn(pass(from_client, to_agent, Tap::new("->", sink)));
    tokio::select! {
        _ = &mut down => {}
        _ = up => {}
        () = asked_to_end() => group.terminate(),
    }
    let code = wait(&mut child, &group).await?;
    drop(group);
    // What the agent said last is still on its way.
    if !down.is_finished() {
        let _ = timeout(GRACE, down).await;
    }
    Ok(code)
}

/// Passes bytes on as they come.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut tap: Tap,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..count]).await?;
        to.flush().await?;
        tap.take(&buffer[..count]);
    }
}

/// The agent's own end, forced if it does not come: asked after one grace, killed after another.
async fn wait(child: &mut Child, group: &Group) -> io::Result<ExitCode> {
    let status = if let Ok(status) = timeout(GRACE, child.wait()).await {
        status?
    } else {
        group.terminate();
        if let Ok(status) = timeout(GRACE, child.wait()).await {
            status?
        } else {
            group.kill();
            child.wait().await?
        }
    };
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

async fn asked_to_end() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = terminate.recv() => return,
            _ = tokio::signal::ctrl_c() => return,
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// Tells what passes in one direction.
struct Tap {
    arrow: &'static str,
    sink: Sink,
    line: Vec<u8>,
    length: usize,
}

impl Tap {
    fn new(arrow: &'static str, sink: Sink) -> Self {
        Self { arrow, sink, line: Vec::new(), length: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.length += piece.len();
            if self.line.len() + piece.len() <= TAPPED {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                self.tell();
            }
        }
    }

    fn tell(&mut self) {
        let whole = self.line.len() == self.length;
        let what = if whole { describe(&self.line) } else { "a long line".to_owned() };
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        // A tap that cannot be written to must not hold the wire up.
        let _ = writeln!(sink, "{} {what}, {} bytes", self.arrow, self.length);
        self.line.clear();
        self.length = 0;
    }
}

fn describe(line: &[u8]) -> String {
    match rpc::decode(line) {
        Ok(Message::Request { id, method, .. }) => format!("request {id} {method}"),
        Ok(Message::Notification { method, .. }) => format!("notification {method}"),
        Ok(Message::Update(update)) => format!("update of {}", update.session_id),
        Ok(Message::Response { id, outcome: Ok(_) }) => format!("answer {id}"),
        Ok(Message::Response { id, outcome: Err(error) }) => format!("error {id} {}", error.code),
        Ok(_) => "a message".to_owned(),
        Err(malformed) => format!("no message ({})", malformed.fault),
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Option<(Option<PathBuf>, AgentCommand)> {
    let mut tap = None;
    loop {
        match arguments.next()?.as_str() {
            "--tap" => tap = Some(PathBuf::from(arguments.next()?)),
            "--" => break,
            _ => return None,
        }
    }
    Some((tap, AgentCommand::new(arguments.next()?).args(arguments)))
}
