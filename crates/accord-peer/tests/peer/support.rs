//! What the tests share.

use accord_peer::{Config, Event, Frame, Frames, Peer};
use accord_protocol::method::Side;
use accord_protocol::rpc::{self, Malformed};
use serde_json::Value;

pub(crate) fn peer<W>(side: Side) -> Peer<W> {
    Peer::new(Config::new(side))
}

/// Gives the peer what was read, and gathers what it makes of it.
pub(crate) fn receive<W>(peer: &mut Peer<W>, frames: &mut Frames, bytes: &[u8]) -> Vec<Event<W>> {
    frames.space().extend_from_slice(bytes);
    let mut events = Vec::new();
    while let Some(frame) = frames.next() {
        let decoded = match frame {
            Frame::Line(line) => rpc::decode(line).map(|message| (message, line.len())),
            Frame::TooLong(start) => Err(Malformed::too_long(start)),
        };
        events.extend(match decoded {
            Ok((message, bytes)) => peer.receive(message, bytes),
            Err(malformed) => Some(peer.receive_malformed(&malformed)),
        });
    }
    events
}

/// One line to a peer.
pub(crate) fn tell<W>(peer: &mut Peer<W>, line: &str) -> Vec<Event<W>> {
    receive(peer, &mut Frames::new(1 << 20), format!("{line}\n").as_bytes())
}

/// The lines that wait to be written.
pub(crate) fn output<W>(peer: &mut Peer<W>) -> Vec<Value> {
    let bytes = peer.take_output(Vec::new());
    let text = String::from_utf8(bytes).expect("what is written is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("what is written is JSON")).collect()
}

/// Numbers that look random and are the same each time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }
}
