//! What the tests share: a service that tells everything to a channel, and a raw other end.

use std::time::Duration;

use accord_transport::{Call, End, Handle, Notification, Options, Service, Update, connect};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::mpsc;

/// What a [`Recorder`] was told.
#[derive(Debug)]
pub(crate) enum Told {
    Update(Box<Update>),
    Notification(Notification),
    Call(Call),
    Closed(End),
}

pub(crate) struct Recorder(pub(crate) mpsc::UnboundedSender<Told>);

impl Recorder {
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Told>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    fn tell(&self, told: Told) {
        // The test may be over.
        let _ = self.0.send(told);
    }
}

impl Service for Recorder {
    fn update(&mut self, update: Update) {
        self.tell(Told::Update(Box::new(update)));
    }

    fn notification(&mut self, notification: Notification) {
        self.tell(Told::Notification(notification));
    }

    fn call(&mut self, call: Call) {
        self.tell(Told::Call(call));
    }

    fn closed(&mut self, end: &End) {
        self.tell(Told::Closed(end.clone()));
    }
}

/// Answers every call with its params.
pub(crate) struct Echo;

impl Service for Echo {
    fn update(&mut self, _: Update) {}

    fn notification(&mut self, _: Notification) {}

    fn call(&mut self, call: Call) {
        let params = call.raw_params().map(ToOwned::to_owned);
        call.answer(Ok(params));
    }
}

/// The other end of a connection, spoken to in raw lines.
pub(crate) struct Raw {
    pub(crate) write: WriteHalf<DuplexStream>,
    pub(crate) lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Raw {
    pub(crate) fn connected(options: Options, service: impl Service) -> (Handle, Self) {
        Self::with_capacity(options, service, 64 << 10)
    }

    pub(crate) fn with_capacity(options: Options, service: impl Service, capacity: usize) -> (Handle, Self) {
        let (ours, theirs) = tokio::io::duplex(capacity);
        let (read, write) = tokio::io::split(ours);
        let handle = connect(read, write, options, service);
        let (read, write) = tokio::io::split(theirs);
        (handle, Self { write, lines: BufReader::new(read).lines() })
    }

    pub(crate) async fn send(&mut self, text: impl AsRef<[u8]>) {
        self.write.write_all(text.as_ref()).await.expect("the connection reads");
    }

    pub(crate) async fn send_json(&mut self, value: Value) {
        self.send(format!("{value}\n")).await;
    }

    pub(crate) async fn line(&mut self) -> Option<Value> {
        let line = within(self.lines.next_line()).await.expect("the connection writes")?;
        Some(serde_json::from_str(&line).expect("the connection writes JSON"))
    }

    /// Asks something that is always answered, and gives what came before the answer.
    pub(crate) async fn until_probe(&mut self) -> Vec<Value> {
        self.send_json(json!({"jsonrpc": "2.0", "id": "probe", "method": "probe"})).await;
        let mut before = Vec::new();
        loop {
            let line = self.line().await.expect("the connection lives");
            if line["id"] == "probe" {
                return before;
            }
            before.push(line);
        }
    }
}

/// No test waits for ever: a hang is a failure with a name.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it takes no time")
}
