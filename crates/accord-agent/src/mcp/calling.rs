//! One call of a tool, to an end of one kind or another: an answer, a refusal, a broken connection, too long a silence.

use std::{pin::pin, time::Duration};

use rmcp::{
    ServiceError,
    model::{CallToolRequestParams, CallToolResult},
};
use tokio::{sync::watch, time::timeout};

use super::lines::LONGEST;
use super::outcome::{CallError, CallOutcome};
use super::peer::Signs;
use super::reason;
use super::secrets::Secrets;

/// How the tools of one server are called.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) server: String,
    pub(super) peer: rmcp::Peer<rmcp::RoleClient>,
    pub(super) signs: Signs,
    pub(super) secrets: Secrets,
    pub(super) limit: Duration,
}

impl Caller {
    pub(super) async fn call(&self, request: CallToolRequestParams) -> Result<CallOutcome, CallError> {
        let (mut too_long, mut progress) = (self.signs.too_long(), self.signs.progress());
        let mut answer = pin!(self.peer.call_tool(request));
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return self.outcome(answer),
                () = changed(&mut too_long) => {
                    return Err(CallError::TooLong { server: self.server.clone(), limit: LONGEST });
                }
                alive = timeout(self.limit, changed(&mut progress)) => if alive.is_err() {
                    return Err(CallError::Silent { server: self.server.clone(), limit: self.limit });
                },
            }
        }
    }

    fn outcome(&self, answer: Result<CallToolResult, ServiceError>) -> Result<CallOutcome, CallError> {
        let server = self.server.clone();
        answer.map(CallOutcome::of).map_err(|error| match error {
            ServiceError::McpError(error) => {
                let message = reason::told(&error.message, &self.secrets);
                CallError::Refused { server, code: error.code.0.into(), message }
            }
            source => {
                let why = reason::unanswered(&source);
                CallError::Server { server, why, source: Box::new(source) }
            }
        })
    }
}

/// Returns when something has happened that was not seen yet; never, once it cannot happen any more.
async fn changed<T>(seen: &mut watch::Receiver<T>) {
    if seen.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex, split},
        time::sleep,
    };

    use super::*;
    use crate::mcp::peer::Client;

    const LIMIT: Duration = Duration::from_secs(600);

    /// Tells of its progress so often, each time just before it would be too late, and answers as late again.
    async fn serve(stream: DuplexStream, steps: usize) {
        let (read, mut write) = split(stream);
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).expect("JSON");
            let result = match request["method"].as_str() {
                Some("initialize") => json!({
                    "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
                }),
                Some("tools/call") => {
                    for step in 0..steps {
                        sleep(LIMIT * 9 / 10).await;
                        let token = &request["params"]["_meta"]["progressToken"];
                        let params = json!({"progressToken": token, "progress": step});
                        let told =
                            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
                        write.write_all(format!("{told}\n").as_bytes()).await.expect("it is read");
                    }
                    sleep(LIMIT * 9 / 10).await;
                    json!({"content": [{"type": "text", "text": "at last"}]})
                }
                _ => continue,
            };
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            write.write_all(format!("{answer}\n").as_bytes()).await.expect("it is read");
        }
    }

    // D11
    #[tokio::test(start_paused = true)]
    async fn progress_is_no_silence() {
        let client = Client::default();
        let signs = client.signs.clone();
        let (ours, theirs) = duplex(1 << 16);
        let serving = tokio::spawn(serve(theirs, 3));
        let running = rmcp::serve_client(client, ours).await.expect("it answers");
        let peer = running.peer().clone();
        let secrets = Secrets::of(&accord_protocol::v1::McpServerStdio::new("s", "/s", [], []).into());
        let mut caller = Caller { server: "s".into(), peer, signs, secrets, limit: LIMIT };
        let call = || CallToolRequestParams::new("build");
        assert_eq!(caller.call(call()).await.expect("an answer").text(), "at last");
        // The same without patience for it.
        caller.limit = LIMIT / 2;
        assert!(
            matches!(caller.call(call()).await, Err(CallError::Silent { limit, .. }) if limit == LIMIT / 2)
        );
        serving.abort();
    }
}
