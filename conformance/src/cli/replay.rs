//! `accord-conformance replay`: a recording as a scripted peer, for a client or for an agent.

use std::fs::File;
use std::io::{self, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};

use super::args::{Args, Flag, flag};
use crate::replay::{Manner, Played, play};
use crate::say::line;
use crate::wire::frame::Direction;
use crate::wire::recording::Recording;

pub(super) const FLAGS: &[Flag] = &[
    flag("pace", "", "keep the recorded pauses"),
    flag("whole", "", "a peer that leaves before the end of the recording is a failure"),
    flag("cwd", "DIR", "what stands for the recorded working directory (default: the current one)"),
    flag("timeout", "SECONDS", "how long the peer may take for what it did in the recording (default 20)"),
];

/// Without a command, the recorded agent on stdin and stdout; with one, the recorded client of that agent.
pub(super) fn run(args: &Args) -> Result<ExitCode, String> {
    let [path] = args.words.as_slice() else {
        return Err("give one recording, and after `--` the agent that it shall be a client of".into());
    };
    let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
    let recording = Recording::read(BufReader::new(file)).map_err(|error| format!("{path}: {error}"))?;
    if recording.frames.is_empty() {
        return Err(format!("{path} holds no line that crossed"));
    }
    let cwd = super::subject::absolute(args.value("cwd").unwrap_or("."))?;
    let ours = if args.command.is_empty() { Direction::ToClient } else { Direction::ToAgent };
    let manner = Manner {
        ours,
        patience: args.seconds("timeout", 20.0)?,
        paced: args.has("pace"),
        cwd: cwd.trim_end_matches("/.").to_owned(),
    };
    let played = match ours {
        Direction::ToClient => play(&recording.frames, &manner, io::stdin(), io::stdout()),
        Direction::ToAgent => with_agent(&recording, &manner, &args.command)?,
    };
    crate::say::err(&told(&played, recording.frames.len()));
    let whole = played.stopped.is_none() || (played.left && !args.has("whole"));
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn with_agent(recording: &Recording, manner: &Manner, command: &[String]) -> Result<Played, String> {
    let failed = |error: io::Error| format!("{}: {error}", command.join(" "));
    let mut agent: Child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (Some(input), Some(output)) = (agent.stdout.take(), agent.stdin.take()) else {
        return Err(failed(io::ErrorKind::BrokenPipe.into()));
    };
    // Its stdin is closed when the play is over, and so it ends.
    let mut played = play(&recording.frames, manner, input, output);
    let status = agent.wait().map_err(failed)?;
    if !status.success() {
        played.differences.push(format!("the agent ends with {status}"));
    }
    Ok(played)
}

fn told(played: &Played, all: usize) -> String {
    let mut text = String::new();
    line!(text, "replayed {} of {all} lines", played.lines);
    if let Some(why) = &played.stopped {
        line!(text, "  stopped: {why}");
    }
    for difference in &played.differences {
        line!(text, "  {difference}");
    }
    text
}
