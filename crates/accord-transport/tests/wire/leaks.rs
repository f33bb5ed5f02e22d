//! Nothing is left over.

use accord_transport::{AgentCommand, Options, pair};
use serde_json::json;

use crate::children::spawn;
use crate::fixture::fixture;
use crate::support::{Echo, within};

/// In a process of their own, since the other tests take memory and descriptors too.
fn alone(name: &str) {
    let output = fixture(name, "").output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

// T18
#[test]
fn ten_thousand_connections_leave_nothing_behind() {
    alone("leaks::ten_thousand_connections");
}

// T18: with processes
#[test]
fn children_leave_no_descriptor_behind() {
    alone("leaks::a_hundred_children");
}

#[ignore = "a process for other tests"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_connections() {
    async fn one(n: usize) {
        let (agent, client) = pair((Options::agent(), Echo), (Options::client(), Echo));
        client.call_raw("_x", &json!({ "n": n })).await.expect("answered");
        if n.is_multiple_of(2) {
            client.close();
        } else {
            drop(client);
        }
        agent.closed().await;
    }
    let metrics = tokio::runtime::Handle::current().metrics();
    for n in 0..500 {
        within(one(n)).await;
    }
    let before = resident();
    for n in 0..9_500 {
        within(one(n)).await;
    }
    // A task counts until its worker has put it away.
    while metrics.num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 << 20, "{grown} bytes more than after the first 500");
}

/// Bytes of this process in memory; none where the system does not tell.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// Descriptors of this process; none where the system does not tell.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[ignore = "a process for other tests"]
#[tokio::test]
async fn a_hundred_children() {
    async fn one() {
        let handle = spawn(&AgentCommand::new("/bin/cat")).expect("cat is there");
        handle.close();
        within(handle.closed()).await;
    }
    one().await;
    let before = descriptors();
    for _ in 0..100 {
        one().await;
    }
    while tokio::runtime::Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(descriptors(), before);
}
