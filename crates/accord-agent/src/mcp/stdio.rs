//! A server as a child process: started with exactly what was declared, its stderr kept, ended with all it started.

use std::{
    env, io,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use accord_protocol::v1::McpServerStdio;
use accord_transport::Group;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

use super::secrets::Secrets;

/// What a server inherits of this process's environment: enough to find its way, nothing that may be secret.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "SystemRoot",
    "SystemDrive",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "TEMP",
    "TMP",
    "PATHEXT",
    "ComSpec",
];
/// So much of a server's stderr is kept.
const KEPT: usize = 4 << 10;

/// A running server.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Group,
    stderr: Stderr,
}

impl Process {
    /// Starts the server; its stdout and stdin are the connection.
    pub(super) fn start(
        server: &McpServerStdio,
        secrets: Secrets,
        cwd: &Path,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = Command::new(&server.command);
        command.args(&server.args).current_dir(cwd).env_clear();
        command.envs(INHERITED.iter().filter_map(|name| Some((name, env::var_os(name)?))));
        command.envs(server.env.iter().map(|variable| (&variable.name, variable.value.as_str())));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Group::prepare(&mut command);
        let mut child = command.spawn()?;
        let group = Group::of(&child)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let stderr = Stderr::keep(stderr, secrets);
        Ok((Self { child, group, stderr }, stdout, stdin))
    }

    /// Ends the server: its stdin is closed already; then it is asked, then killed, with everything it started. Says how
    /// it ended, if it did so by itself, and the last it said on stderr, without the values of its environment.
    pub(super) async fn end(mut self, grace: Duration) -> (Option<ExitStatus>, String) {
        let exited = timeout(grace, self.child.wait()).await.ok().and_then(Result::ok);
        if exited.is_none() {
            self.group.terminate();
            drop(timeout(grace, self.child.wait()).await);
        }
        // What it started may still be there although it is gone.
        self.group.kill();
        drop(self.child.wait().await);
        (exited, self.stderr.last_words(grace).await)
    }
}

/// A server's stderr: always drained, since a full pipe would stop the server.
#[derive(Debug)]
struct Stderr {
    kept: Arc<Mutex<Vec<u8>>>,
    draining: JoinHandle<()>,
    secrets: Secrets,
}

impl Stderr {
    fn keep(stderr: impl AsyncRead + Unpin + Send + 'static, secrets: Secrets) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let draining = tokio::spawn(drain(stderr, Arc::clone(&kept), KEPT + secrets.longest()));
        Self { kept, draining, secrets }
    }

    /// Of a process that is gone; somebody else may hold its stderr open still.
    async fn last_words(self, patience: Duration) -> String {
        drop(timeout(patience, self.draining).await);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // A character that was cut in two would be longer in words than it was.
        let whole = kept.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(kept.len());
        let words = self.secrets.hide(&String::from_utf8_lossy(&kept[whole..]));
        // Where the beginning was cut off, it may have been cut through a secret: so much more was kept.
        let cut = kept.len().saturating_sub(KEPT);
        let start = (cut..=words.len()).find(|at| words.is_char_boundary(*at)).unwrap_or(words.len());
        words[start..].trim().to_owned()
    }
}

async fn drain(mut stderr: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>, most: usize) {
    let mut chunk = vec![0; 4 << 10];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..read]);
        let excess = kept.len().saturating_sub(most);
        kept.drain(..excess);
    }
}
