//! Reading and writing recorded frames: our types beside the official schema crate's.
#![expect(clippy::print_stdout, reason = "the ratio is the result")]

use std::{
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use accord_protocol::{rpc, v1 as ours};
use agent_client_protocol_schema::v1 as theirs;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::Value;

/// The `session/update` lines of the recordings (`ACCORD_CAPTURES`, else those beside the checkout, else the sample in
/// accord-protocol), and their params alone.
fn updates() -> Vec<(String, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = here.join("../../../../shared/captures");
    let sample = here.join("../../../crates/accord-protocol/tests/data");
    let mut folders = vec![std::env::var_os("ACCORD_CAPTURES").map_or(beside, Into::into)];
    if !folders[0].is_dir() {
        folders = vec![sample];
    }
    let mut updates = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            for line in fs::read_to_string(path).expect("text").lines() {
                let frame = &serde_json::from_str::<Value>(line).expect("JSON")["frame"];
                if frame["method"] == "session/update"
                    && serde_json::from_value::<theirs::SessionNotification>(frame["params"].clone()).is_ok()
                {
                    updates.push((line_of(frame), params_of(frame)));
                }
            }
        }
    }
    updates
}

/// The line in the order in which every SDK writes it: the tags first.
fn line_of(frame: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{}}}"#, params_of(frame))
}

fn params_of(frame: &Value) -> String {
    let note: ours::SessionNotification = serde_json::from_value(frame["params"].clone()).expect("an update");
    serde_json::to_string(&note).expect("it writes")
}

fn frames(criterion: &mut Criterion) {
    let updates = updates();
    let bytes: usize = updates.iter().map(|(_, params)| params.len()).sum();
    let read_ours: Vec<ours::SessionNotification> =
        updates.iter().map(|(_, params)| serde_json::from_str(params).expect("it reads")).collect();
    let read_theirs: Vec<theirs::SessionNotification> =
        updates.iter().map(|(_, params)| serde_json::from_str(params).expect("it reads")).collect();

    let read_we = || {
        for (_, params) in &updates {
            black_box(serde_json::from_str::<ours::SessionNotification>(params).is_ok());
        }
    };
    let read_they = || {
        for (_, params) in &updates {
            black_box(serde_json::from_str::<theirs::SessionNotification>(params).is_ok());
        }
    };
    let write_we = || {
        let mut out = Vec::with_capacity(1 << 16);
        for note in &read_ours {
            out.clear();
            black_box(serde_json::to_writer(&mut out, note).is_ok());
        }
    };
    let write_they = || {
        let mut out = Vec::with_capacity(1 << 16);
        for note in &read_theirs {
            out.clear();
            black_box(serde_json::to_writer(&mut out, note).is_ok());
        }
    };
    let line_we = || {
        for (line, _) in &updates {
            black_box(rpc::decode(line.as_bytes()).is_ok());
        }
    };

    let mut group = criterion.benchmark_group("session/update");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("read/ours", |bencher| bencher.iter(read_we));
    group.bench_function("read/theirs", |bencher| bencher.iter(read_they));
    group.bench_function("write/ours", |bencher| bencher.iter(write_we));
    group.bench_function("write/theirs", |bencher| bencher.iter(write_they));
    group.bench_function("line/ours", |bencher| bencher.iter(line_we));
    group.finish();

    println!("{} frames, {bytes} bytes", updates.len());
    println!("read:  ours takes {:.2} of theirs", ratio(read_we, read_they));
    println!("write: ours takes {:.2} of theirs", ratio(write_we, write_they));
}

/// The median ratio of times of the two, run in turns so that the machine's moods hit both.
fn ratio(first: impl Fn(), second: impl Fn()) -> f64 {
    let time = |work: &dyn Fn()| -> Duration {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let mut ratios: Vec<f64> =
        (0..101).map(|_| time(&first).as_secs_f64() / time(&second).as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(3));
    targets = frames
}
criterion_main!(benches);
