//! The wire core by itself: bytes into lines, lines into messages, messages into lines.

use std::hint::black_box;

use accord_peer::{Config, Frame, Frames, Peer};
use accord_protocol::method::Side;
use accord_protocol::rpc;
use accord_protocol::v1::{ContentBlock, SessionNotification, SessionUpdate};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn update(size: usize) -> SessionNotification {
    let text = "The quick brown fox said \"hi\".\n".chars().cycle().take(size).collect::<String>();
    SessionNotification::new("sess-1", SessionUpdate::agent_message(ContentBlock::text(text)))
}

/// As many lines as a pipe holds.
fn lines(size: usize) -> Vec<u8> {
    let mut peer: Peer<()> = Peer::new(Config::new(Side::Agent));
    while peer.output_len() < 64 << 10 {
        peer.notify("session/update", &update(size)).expect("the connection is open");
    }
    peer.take_output(Vec::new())
}

fn each(frames: &mut Frames, bytes: &[u8], mut line: impl FnMut(&[u8])) {
    frames.space().extend_from_slice(bytes);
    while let Some(Frame::Line(found)) = frames.next() {
        line(found);
    }
}

fn wire(criterion: &mut Criterion) {
    for size in [64, 4096, 1 << 20] {
        let bytes = lines(size);
        let length = u64::try_from(bytes.len()).expect("it fits");
        let mut group = criterion.benchmark_group("wire");
        group.throughput(Throughput::Bytes(length));
        group.bench_function(BenchmarkId::new("frame", size), |bench| {
            let mut frames = Frames::new(32 << 20);
            bench.iter(|| each(&mut frames, &bytes, |line| _ = black_box(line.len())));
        });
        group.bench_function(BenchmarkId::new("frame and decode", size), |bench| {
            let mut frames = Frames::new(32 << 20);
            let mut update = None;
            bench.iter(|| {
                each(&mut frames, &bytes, |line| {
                    black_box(rpc::decode_into(line, &mut update).expect("a message"));
                });
            });
        });
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("encode", size), |bench| {
            let mut peer: Peer<()> = Peer::new(Config::new(Side::Agent));
            let mut spare = Vec::new();
            let update = update(size);
            bench.iter(|| {
                peer.notify("session/update", &update).expect("the connection is open");
                let mut written = peer.take_output(std::mem::take(&mut spare));
                written.clear();
                spare = written;
            });
        });
        group.finish();
    }
}

criterion_group!(benches, wire);
criterion_main!(benches);
