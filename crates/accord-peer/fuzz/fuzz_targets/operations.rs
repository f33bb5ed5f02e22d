//! Any order of what two ends can do: every request has exactly one outcome, every call at most one answer.
//!
//! `cargo fuzz run --sanitizer none operations`
#![no_main]

use std::collections::BTreeMap;

use accord_peer::{CallKey, Config, Event, Frame, Frames, Peer, RequestKey};
use accord_protocol::method::Side;
use accord_protocol::rpc::{self, Error};
use libfuzzer_sys::fuzz_target;

struct End {
    peer: Peer<u32>,
    frames: Frames,
    inbox: Vec<u8>,
    asked: Vec<RequestKey>,
    open: Vec<CallKey>,
    outcomes: BTreeMap<u32, u32>,
}

impl End {
    fn new(side: Side, opening: Option<&'static str>) -> Self {
        let mut config = Config::new(side);
        config.opening = opening;
        config.max_calls = 8;
        Self {
            peer: Peer::new(config),
            frames: Frames::new(1 << 16),
            inbox: Vec::new(),
            asked: Vec::new(),
            open: Vec::new(),
            outcomes: BTreeMap::new(),
        }
    }

    fn settled(&mut self, waiter: u32) {
        *self.outcomes.entry(waiter).or_default() += 1;
    }

    fn ask(&mut self, method: &str) {
        let waiter = u32::try_from(self.asked.len()).expect("few requests");
        let key = self.peer.request(method, &(), waiter).expect("the connection is open");
        self.asked.push(key);
    }

    fn take(&mut self, event: Event<u32>) {
        match event {
            Event::Call { key, .. } => self.open.push(key),
            Event::Outcome { waiter, .. } => self.settled(waiter),
            _ => {}
        }
    }

    fn read(&mut self, count: usize) {
        while let Some(event) = self.peer.receive_held() {
            self.take(event);
        }
        let piece: Vec<u8> = self.inbox.drain(..count.min(self.inbox.len())).collect();
        self.frames.space().extend_from_slice(&piece);
        while let Some(Frame::Line(line)) = self.frames.next() {
            let message = rpc::decode(line).expect("ends of ours write messages");
            if let Some(event) = self.peer.receive(message, line.len()) {
                self.take(event);
            }
        }
    }

    fn step(&mut self, what: u8, which: u8) {
        let which = usize::from(which);
        match what % 8 {
            0 => self.ask("_ask"),
            1 => self.ask("initialize"),
            2 => self.peer.notify("_note", &()).expect("the connection is open"),
            3 if !self.asked.is_empty() => {
                self.peer.cancel(self.asked[which % self.asked.len()]);
            }
            4 if !self.asked.is_empty() => {
                if let Some(waiter) = self.peer.abandon(self.asked[which % self.asked.len()]) {
                    self.settled(waiter);
                }
            }
            5 if !self.open.is_empty() => {
                let key = self.open.swap_remove(which % self.open.len());
                let outcome = if which % 3 == 0 { Err(&Error::cancelled()) } else { Ok(&()) };
                assert!(self.peer.answer(key, outcome));
                assert!(!self.peer.answer(key, outcome));
            }
            _ => self.read(which),
        }
    }
}

fuzz_target!(|steps: Vec<(bool, u8, u8)>| {
    let mut agent = End::new(Side::Agent, Some("initialize"));
    let mut client = End::new(Side::Client, None);
    for (agents_turn, what, which) in steps {
        let (one, other) = if agents_turn { (&mut agent, &mut client) } else { (&mut client, &mut agent) };
        one.step(what, which);
        let written = one.peer.take_output(Vec::new());
        other.inbox.extend(written);
    }
    for end in [&mut agent, &mut client] {
        let lost: Vec<u32> = end.peer.end().collect();
        for waiter in lost {
            end.settled(waiter);
        }
        assert_eq!(end.outcomes.len(), end.asked.len());
        assert!(end.outcomes.values().all(|times| *times == 1));
    }
});
