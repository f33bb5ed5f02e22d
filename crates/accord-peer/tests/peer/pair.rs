//! Two peers, thousands of random exchanges: every request has exactly one outcome, every call at most one answer.

use std::collections::BTreeMap;

use accord_peer::{CallKey, Event, Frames, Peer, RequestKey};
use accord_protocol::method::Side;
use accord_protocol::rpc::Error;
use serde_json::{Value, json};

use crate::support::{Dice, peer, receive};

const NOISE: &[&str] = &[
    "noise\n",
    "\r\n",
    "[]\n",
    "{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":1}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"\"}}\n",
    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":3}}\n",
    "{\"jsonrpc\":\"2.0\",\"method\":\"_n\"}\n",
];

/// One end, and what it has seen.
struct End {
    peer: Peer<u32>,
    frames: Frames,
    /// Written by the other end and not read here.
    inbox: Vec<u8>,
    asked: Vec<RequestKey>,
    open: Vec<CallKey>,
    asked_count: u32,
    /// How often each waiter came back.
    outcomes: BTreeMap<u32, u32>,
}

impl End {
    fn new(side: Side) -> Self {
        Self {
            peer: peer(side),
            frames: Frames::new(1 << 20),
            inbox: Vec::new(),
            asked: Vec::new(),
            open: Vec::new(),
            asked_count: 0,
            outcomes: BTreeMap::new(),
        }
    }

    fn settled(&mut self, waiter: u32) {
        *self.outcomes.entry(waiter).or_default() += 1;
    }

    fn ask(&mut self) {
        let key = self.peer.request("_ask", &json!({ "n": self.asked_count }), self.asked_count);
        self.asked.push(key.expect("the connection is open"));
        self.asked_count += 1;
    }

    fn answer(&mut self, which: usize, success: bool) {
        let key = self.open.swap_remove(which);
        let outcome = if success { Ok(&Value::Null) } else { Err(&Error::cancelled()) };
        assert!(self.peer.answer(key, outcome), "an open call can be answered");
        assert!(!self.peer.answer(key, Ok(&())), "and only once");
    }

    fn read(&mut self, count: usize) {
        let bytes: Vec<u8> = self.inbox.drain(..count.min(self.inbox.len())).collect();
        for event in receive(&mut self.peer, &mut self.frames, &bytes) {
            match event {
                Event::Call { key, .. } => self.open.push(key),
                Event::Outcome { waiter, .. } => self.settled(waiter),
                _ => {}
            }
        }
    }

    fn step(&mut self, dice: &mut Dice) {
        match dice.roll(7) {
            0 => self.ask(),
            1 => self.peer.notify("_note", &json!([1, 2])).expect("the connection is open"),
            2 if !self.asked.is_empty() => {
                let key = self.asked[dice.roll(self.asked.len())];
                self.peer.cancel(key);
            }
            3 if !self.asked.is_empty() => {
                let key = self.asked[dice.roll(self.asked.len())];
                if let Some(waiter) = self.peer.abandon(key) {
                    self.settled(waiter);
                }
            }
            4 | 5 if !self.open.is_empty() => {
                let which = dice.roll(self.open.len());
                self.answer(which, dice.roll(2) == 0);
            }
            _ => self.read(dice.roll(200)),
        }
    }
}

fn deliver(from: &mut End, to: &mut End) {
    let bytes = from.peer.take_output(Vec::new());
    to.inbox.extend(bytes);
}

// Architecture rule 3
#[test]
fn every_request_has_exactly_one_outcome() {
    for seed in 0..3_000 {
        let mut dice = Dice::new(seed);
        let (mut agent, mut client) = (End::new(Side::Agent), End::new(Side::Client));
        for _ in 0..40 {
            let (one, other) = match dice.roll(2) {
                0 => (&mut agent, &mut client),
                _ => (&mut client, &mut agent),
            };
            one.step(&mut dice);
            deliver(one, other);
            if dice.roll(8) == 0 && other.inbox.ends_with(b"\n") {
                other.inbox.extend_from_slice(NOISE[dice.roll(NOISE.len())].as_bytes());
            }
        }
        finish(seed, &mut dice, &mut agent, &mut client);
    }
}

/// Half of the exchanges are brought to their end, the others are cut off.
fn finish(seed: u64, dice: &mut Dice, agent: &mut End, client: &mut End) {
    let complete = dice.roll(2) == 0;
    while complete && (agent.peer.pending() + client.peer.pending() > 0 || !agent.inbox.is_empty()) {
        for agents_turn in [true, false] {
            let (one, other) =
                if agents_turn { (&mut *agent, &mut *client) } else { (&mut *client, &mut *agent) };
            one.read(usize::MAX);
            while !one.open.is_empty() {
                one.answer(0, true);
            }
            deliver(one, other);
        }
        assert!(
            agent.inbox.len() + client.inbox.len() < 1 << 20,
            "seed {seed}: they answer each other for ever"
        );
    }
    for end in [agent, client] {
        let lost: Vec<u32> = match dice.roll(2) {
            0 => end.peer.receive_eof().chain(end.peer.end()).collect(),
            _ => end.peer.end().collect(),
        };
        assert!(!complete || lost.is_empty(), "seed {seed}: all was answered");
        for waiter in lost {
            end.settled(waiter);
        }
        assert!((0..end.asked_count).all(|waiter| end.outcomes.get(&waiter) == Some(&1)), "seed {seed}");
        assert!(end.peer.request("_late", &(), 0).is_err(), "seed {seed}");
    }
}

/// B152: a bad line and its error go to and fro once.
#[test]
fn peers_do_not_answer_each_others_errors() {
    let (mut agent, mut client) = (End::new(Side::Agent), End::new(Side::Agent));
    agent.inbox.extend_from_slice(b"noise\n");
    for _ in 0..10 {
        agent.read(usize::MAX);
        deliver(&mut agent, &mut client);
        client.read(usize::MAX);
        let echoed = client.peer.take_output(Vec::new());
        assert_eq!(echoed, b"", "an error was answered");
    }
}
