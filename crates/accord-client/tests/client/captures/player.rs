//! Plays a recording: the client is made to ask what the recorded client asked, and gets the recorded answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use accord_client::{
    Client, Error, Handler, Misuse, Prompt, Session, SessionId, SessionStatus, SessionUpdate,
    protocol::v1::ClientCapabilities,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf, duplex, split},
    sync::{Notify, mpsc},
    task::JoinHandle,
};

use super::Recorded;

/// How many updates were sent for sessions the client knows, and how many came out, by session.
pub(super) struct Played {
    pub(super) sent: BTreeMap<String, usize>,
    pub(super) received: BTreeMap<String, usize>,
}

/// Counts what comes out, in turns and between them.
#[derive(Clone, Default)]
struct Count(Arc<Mutex<BTreeMap<String, usize>>>, Arc<Notify>);

impl Count {
    fn one(&self, session: &SessionId) {
        *self.0.lock().expect("nothing panics while counting").entry(session.to_string()).or_default() += 1;
        self.1.notify_one();
    }

    fn now(&self) -> BTreeMap<String, usize> {
        self.0.lock().expect("nothing panics while counting").clone()
    }
}

impl Handler for Count {
    async fn update(&self, session: &SessionId, _: SessionUpdate) {
        self.one(session);
    }
}

/// The recorded agent, and the client it is played to.
struct Player {
    client: Client,
    count: Count,
    write: WriteHalf<DuplexStream>,
    requests: mpsc::UnboundedReceiver<Value>,
    /// The recorded ids of requests, with the ids the client really used, and the calls that wait for the answers.
    asking: BTreeMap<String, (Value, JoinHandle<()>)>,
    sessions: Arc<Mutex<BTreeMap<String, Session>>>,
    known: BTreeSet<String>,
    sent: BTreeMap<String, usize>,
}

pub(super) async fn play(recording: &[Recorded]) -> Played {
    let nothing = Played { sent: BTreeMap::new(), received: BTreeMap::new() };
    let is_hello = |line: &&Recorded| !line.from_agent && line.frame["method"] == "initialize";
    let Some(hello) = recording.iter().find(is_hello) else { return nothing };
    let is_answer = |line: &&Recorded| line.from_agent && line.frame["id"] == hello.frame["id"];
    let Some(answer) = recording.iter().find(is_answer) else { return nothing };
    if answer.frame["result"]["protocolVersion"] != 1 {
        // Recordings of other versions have no session.
        return nothing;
    }
    let mut player = Player::connect(hello, answer).await;
    for line in recording.iter().filter(|line| !std::ptr::eq(*line, answer)) {
        if line.from_agent {
            player.tell(&line.frame).await;
        } else {
            player.ask(&line.frame).await;
        }
    }
    player.finish().await
}

impl Player {
    async fn connect(hello: &Recorded, answer: &Recorded) -> Self {
        let count = Count::default();
        let offered: ClientCapabilities =
            typed(&hello.frame["params"]["clientCapabilities"]).unwrap_or_default();
        let (ours, theirs) = duplex(1024 * 1024);
        let (read, write) = split(theirs);
        let (sender, mut requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let frame: Value = serde_json::from_str(&line).expect("the client writes JSON");
                // Answers to the agent's own requests are the client's business here.
                if frame.get("method").is_some() && sender.send(frame).is_err() {
                    return;
                }
            }
        });
        let (read, our_write) = split(ours);
        let builder = Client::builder().handler(count.clone()).capabilities(offered);
        let connecting = tokio::spawn(builder.connect(read, our_write));
        let request = requests.recv().await.expect("the client says hello");
        let mut write = write;
        let result = json!({"jsonrpc": "2.0", "id": request["id"], "result": answer.frame["result"]});
        write.write_all(format!("{result}\n").as_bytes()).await.expect("the client reads");
        let client = connecting.await.expect("connecting goes on").expect("the recorded handshake succeeds");
        Self {
            client,
            count,
            write,
            requests,
            asking: BTreeMap::new(),
            sessions: Arc::default(),
            known: BTreeSet::new(),
            sent: BTreeMap::new(),
        }
    }

    /// Makes the client ask what the recorded one asked, and waits until it does, or refuses to.
    async fn ask(&mut self, frame: &Value) {
        let method = frame["method"].as_str().unwrap_or_default().to_owned();
        let params = frame["params"].clone();
        let session_id = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let session = self.sessions.lock().expect("no panic").get(&session_id).cloned();
        if method == "session/cancel" {
            if let Some(session) = session {
                session.cancel();
            }
            return;
        }
        let waits = session.as_ref().is_some_and(|session| session.status() == SessionStatus::Cancelling);
        if frame.get("id").is_none() || method == "initialize" || (waits && method == "session/prompt") {
            return;
        }
        if method == "session/load" || method == "session/resume" {
            self.known.insert(session_id);
        }
        let (client, sessions, count) = (self.client.clone(), Arc::clone(&self.sessions), self.count.clone());
        let asked = method.clone();
        let mut asking =
            tokio::spawn(async move { ask(&client, &sessions, &count, &asked, params, session).await });
        let sent = loop {
            tokio::select! {
                biased;
                request = self.requests.recv() => match request {
                    Some(request) if request["method"] == *method => break Some(request),
                    Some(_) => {}
                    None => break None,
                },
                _ = &mut asking => break None,
            }
        };
        if let Some(request) = sent {
            self.asking.insert(frame["id"].to_string(), (request["id"].clone(), asking));
        }
    }

    /// Says what the recorded agent said.
    async fn tell(&mut self, frame: &Value) {
        let mut frame = frame.clone();
        let mut answered = None;
        if frame.get("method").is_none() {
            // An answer: to a request the client made, or to one it would not make.
            let asked = frame.get("id").and_then(|id| self.asking.remove(&id.to_string()));
            let Some((id, asking)) = asked else { return };
            frame["id"] = id;
            answered = Some(asking);
            if let Some(session) = frame["result"]["sessionId"].as_str() {
                self.known.insert(session.to_owned());
            }
        }
        if frame["method"] == "session/update" {
            let session = frame["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
            *self.sent.entry(session).or_default() += 1;
        }
        self.write.write_all(format!("{frame}\n").as_bytes()).await.expect("the client reads");
        if let Some(asking) = answered {
            asking.await.expect("no call panics");
        }
    }

    async fn finish(self) -> Played {
        let known = &self.known;
        let sent: BTreeMap<_, _> =
            self.sent.into_iter().filter(|(session, _)| known.contains(session)).collect();
        while self.count.now() != sent {
            self.count.1.notified().await;
        }
        let received = self.count.now();
        self.client.close().await;
        for (_, asking) in self.asking.into_values() {
            asking.await.expect("no call panics");
        }
        Played { sent, received }
    }
}

/// One call of the client's interface. What comes of it is the recording's business; that it ends is the client's.
async fn ask(
    client: &Client,
    sessions: &Mutex<BTreeMap<String, Session>>,
    count: &Count,
    method: &str,
    params: Value,
    session: Option<Session>,
) {
    let opened = match method {
        "session/new" => match typed::<accord_client::NewSessionRequest>(&params) {
            Some(request) => client.new_session(request).await.ok(),
            None => None,
        },
        "session/resume" => match typed(&params) {
            Some(request) => client.resume_session(request).await.ok(),
            None => None,
        },
        "session/load" => match typed(&params).and_then(|request| client.replay_session(request).ok()) {
            Some(mut replay) => {
                while replay.next().await.is_some() {
                    count.one(&SessionId::from(params["sessionId"].as_str().unwrap_or_default()));
                }
                replay.finish().await.ok()
            }
            None => None,
        },
        _ => None,
    };
    if let Some(session) = opened {
        sessions.lock().expect("no panic").insert(session.id().to_string(), session);
        return;
    }
    let Some(session) = session else { return };
    match method {
        "session/prompt" => {
            let blocks: Option<Vec<_>> = typed(&params["prompt"]);
            if let Ok(mut turn) = session.prompt(Prompt::from(blocks.unwrap_or_default())).await {
                while turn.next().await.is_some() {
                    count.one(session.id());
                }
            }
        }
        "session/set_mode" => {
            let set = session.set_mode(params["modeId"].as_str().unwrap_or_default()).await;
            assert!(!matches!(set, Err(Error::Misuse(Misuse::Busy { .. }))));
        }
        "session/set_config_option" => {
            let (option, value) = (params["configId"].as_str().unwrap_or_default(), &params["value"]);
            let _ = match value.as_bool() {
                Some(value) => session.set_config_option(option, value).await,
                None => session.set_config_option(option, value.as_str().unwrap_or_default()).await,
            };
        }
        _ => {}
    }
}

fn typed<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}
