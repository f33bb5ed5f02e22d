//! A small, real MCP server over stdio, for agents to mount; it leaves a trace, and it can misbehave on purpose.

mod http;
mod tools;
mod trace;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use rmcp::ServiceExt as _;

use self::tools::Tools;
use self::trace::Trace;

const HELP: &str = "\
accord-mcp-server: a small MCP server over stdio

  --trace FILE  append a JSON line to FILE at the start, at each step and at the end
  --name NAME   the server's name in its handshake (default accord-mcp-server)
  --stubborn    stay when stdin ends
  --mute        read, and never answer
  --http        serve Streamable HTTP on a loopback port instead, and print the address on stdout
  --crash       end with status 3 before the handshake
  --help        this text
";

/// What the command line asks for.
#[derive(Debug, Default)]
struct Options {
    trace: Option<PathBuf>,
    name: Option<String>,
    stubborn: bool,
    manner: Manner,
}

/// How it serves.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Manner {
    #[default]
    Stdio,
    Http,
    Mute,
    Crash,
}

/// Serves until stdin ends; `args` are the process's own, program name first.
pub fn run(args: &[String]) -> ExitCode {
    let options = match parse(&args[1..]) {
        Ok(Some(options)) => options,
        Ok(None) => return say(HELP, 0),
        Err(why) => return say(&format!("accord-mcp-server: {why}\n"), 2),
    };
    say("accord-mcp-server: started\n", 0);
    let trace = Trace::to(options.trace.clone());
    trace.started(args);
    if options.manner == Manner::Crash {
        return ExitCode::from(3);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return say(&format!("accord-mcp-server: {error}\n"), 1),
    };
    let code = runtime.block_on(serve(&options, &trace));
    trace.event("end");
    // A blocked read of stdin must not hold up the end of the process.
    runtime.shutdown_background();
    code
}

async fn serve(options: &Options, trace: &Trace) -> ExitCode {
    if options.manner == Manner::Mute {
        // Draining is what makes a mute server nastier than a dead one: the client's writes succeed.
        let drained = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
        return stay_if_stubborn(options, drained.is_ok()).await;
    }
    let name = options.name.as_deref().unwrap_or("accord-mcp-server");
    let tools = Tools::new(name, trace.clone());
    if options.manner == Manner::Http {
        return match http::serve(tools).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => say(&format!("accord-mcp-server: {error}\n"), 1),
        };
    }
    let ended = match tools.serve(rmcp::transport::stdio()).await {
        Ok(service) => service.waiting().await.is_ok(),
        Err(error) => {
            say(&format!("accord-mcp-server: {error}\n"), 1);
            false
        }
    };
    trace.event("stdin ended");
    stay_if_stubborn(options, ended).await
}

async fn stay_if_stubborn(options: &Options, clean: bool) -> ExitCode {
    if options.stubborn {
        loop {
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
    }
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(args: &[String]) -> Result<Option<Options>, String> {
    let mut options = Options::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().cloned().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--trace" => options.trace = Some(value()?.into()),
            "--name" => options.name = Some(value()?),
            "--stubborn" => options.stubborn = true,
            "--mute" => options.manner = Manner::Mute,
            "--crash" => options.manner = Manner::Crash,
            "--http" => options.manner = Manner::Http,
            "--help" => return Ok(None),
            // What else is given only shows up in the trace: a check may want to see odd arguments arrive unchanged.
            _ => {}
        }
    }
    Ok(Some(options))
}

/// Writes to stderr: stdout is the wire.
fn say(text: &str, code: u8) -> ExitCode {
    // Nobody may be listening, and there is nowhere else to complain.
    let _ = std::io::stderr().write_all(text.as_bytes());
    ExitCode::from(code)
}
