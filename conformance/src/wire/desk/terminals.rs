//! Terminals of the kit's own: a command runs, its output is kept, its end is told.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The terminals that were made, and how many were given back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terminals {
    open: Arc<Mutex<BTreeMap<String, Terminal>>>,
    pub(crate) made: usize,
    pub(crate) released: usize,
}

#[derive(Debug)]
struct Terminal {
    child: Child,
    output: Arc<Mutex<Vec<u8>>>,
    status: Option<ExitStatus>,
}

impl Terminals {
    /// Serves one `terminal/*` request; waiting for an exit is bounded, since the kit serves one request at a time.
    pub(super) fn serve(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        if method == "terminal/create" {
            return self.create(params);
        }
        let id = params["terminalId"].as_str().unwrap_or_default();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(terminal) = open.get_mut(id) else {
            return Err(json!({"code": -32002, "message": "no such terminal"}));
        };
        match method {
            "terminal/output" => Ok(terminal.output()),
            "terminal/wait_for_exit" => Ok(terminal.wait()),
            "terminal/kill" => Ok(terminal.kill()),
            "terminal/release" => {
                terminal.kill();
                open.remove(id);
                self.released += 1;
                Ok(json!({}))
            }
            _ => Err(json!({"code": -32601, "message": "method not found"})),
        }
    }

    fn create(&mut self, params: &Value) -> Result<Value, Value> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let args: Vec<String> = params["args"].as_array().into_iter().flatten().map(text).collect();
        let line = text(&params["command"]);
        // A whole command line without arguments is what a person would type into a terminal.
        let mut command = if args.is_empty() && line.contains(' ') {
            let mut shell = Command::new("sh");
            shell.args(["-c", &line]);
            shell
        } else {
            Command::new(line)
        };
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        for variable in params["env"].as_array().into_iter().flatten() {
            command.env(text(&variable["name"]), text(&variable["value"]));
        }
        if let Some(cwd) = params["cwd"].as_str() {
            command.current_dir(cwd);
        }
        let mut child =
            command.spawn().map_err(|error| json!({"code": -32603, "message": error.to_string()}))?;
        let output = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut pipe) = child.stdout.take() {
            let kept = Arc::clone(&output);
            thread::spawn(move || {
                let mut chunk = [0; 4096];
                while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).extend(&chunk[..count]);
                }
            });
        }
        self.made += 1;
        let id = format!("terminal-{}", self.made);
        let terminal = Terminal { child, output, status: None };
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), terminal);
        Ok(json!({"terminalId": id}))
    }
}

impl Terminal {
    fn ended(&mut self) -> Option<Value> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status.map(
            |status| json!({"exitCode": status.code(), "signal": status.signal().map(|n| n.to_string())}),
        )
    }

    fn output(&mut self) -> Value {
        let output =
            String::from_utf8_lossy(&self.output.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        json!({"output": output, "truncated": false, "exitStatus": self.ended()})
    }

    fn wait(&mut self) -> Value {
        for _ in 0..500 {
            if let Some(status) = self.ended() {
                return status;
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.kill()
    }

    fn kill(&mut self) -> Value {
        // One that has ended already needs no signal.
        let _ = self.child.kill().and_then(|()| self.child.wait().map(|status| self.status = Some(status)));
        json!({})
    }
}
