//! Any bytes, in any pieces: nothing panics, the pieces do not matter, what is said about them is JSON, a line each, and
//! the quick way to read a line, which is for members in the usual order, finds what the careful one finds.
//!
//! `cargo fuzz run --sanitizer none bytes`
#![no_main]

use accord_peer::{Config, Frame, Frames, Peer};
use accord_protocol::method::Side;
use accord_protocol::rpc::{self, Malformed, Message};
use accord_protocol::v1::{
    NewSessionResponse, PromptRequest, PromptResponse, RequestPermissionRequest, RequestPermissionResponse,
};
use libfuzzer_sys::fuzz_target;

const LIMIT: usize = 4096;

/// What both sides say about `bytes`, read in pieces of `piece`.
fn said(side: Side, bytes: &[u8], piece: usize) -> Vec<u8> {
    let mut peer: Peer<()> = Peer::new(Config::new(side));
    // One request is pending, so that answers have something to end.
    peer.request("_ask", &(), ()).expect("the connection is open");
    let mut frames = Frames::new(LIMIT);
    for piece in bytes.chunks(piece) {
        frames.space().extend_from_slice(piece);
        while let Some(frame) = frames.next() {
            receive(&mut peer, frame);
        }
    }
    if let Some(frame) = frames.finish() {
        receive(&mut peer, frame);
    }
    peer.take_output(Vec::new())
}

fn receive(peer: &mut Peer<()>, frame: Frame<'_>) {
    let message = match frame {
        Frame::Line(line) => rpc::decode(line).map(|message| (message, line.len())),
        Frame::TooLong(start) => Err(Malformed::too_long(start)),
    };
    match message {
        Ok((message, bytes)) => drop(peer.receive(message, bytes)),
        Err(malformed) => drop(peer.receive_malformed(&malformed)),
    }
}

/// White space where nobody writes any sends a line the careful way.
fn read_carefully(line: &[u8]) -> Option<Vec<u8>> {
    Some([b"{ ", line.strip_prefix(b"{")?].concat())
}

/// A message as it came, and what it says to whoever wants one of the types that are read with their line.
fn meaning(line: &[u8]) -> Option<String> {
    let mut message = rpc::decode(line).ok()?;
    let came = format!("{message:?}");
    let says = match &mut message {
        Message::Request { params, .. } => format!(
            "{:?} {:?} {:?}",
            params.clone().take::<PromptRequest>(),
            params.take::<PromptRequest>(),
            params.take::<RequestPermissionRequest>()
        ),
        Message::Response { outcome: Ok(answer), .. } => format!(
            "{:?} {:?} {:?} {:?}",
            answer.take::<RequestPermissionResponse>(),
            answer.take::<PromptResponse>(),
            answer.take::<NewSessionResponse>(),
            answer.clone().into_raw()
        ),
        _ => String::new(),
    };
    Some(came + &says)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Some(careful) = read_carefully(line) {
            assert_eq!(meaning(line), meaning(&careful));
        }
    }
    for side in [Side::Agent, Side::Client] {
        let whole = said(side, bytes, bytes.len().max(1));
        for line in whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            rpc::decode(line).expect("what is said is a message");
        }
        // A line over the limit is judged by its beginning, which depends on the pieces.
        if bytes.len() <= LIMIT {
            assert_eq!(whole, said(side, bytes, usize::from(piece).max(1)));
        }
    }
});
