//! A client on the official Rust SDK, written as its documentation shows.
#![expect(clippy::print_stdout, reason = "a client prints what it counted")]

use std::{
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use accord_bench_peers::text_bytes;
use agent_client_protocol::{
    AcpAgent, Agent, Client, on_receive_notification, on_receive_request,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo,
        schema::{
            ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, RequestPermissionOutcome,
            RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome,
            SessionNotification, TextContent,
        },
    },
};
use anyhow::{Context, Result};

#[derive(Default)]
struct Tally {
    count: AtomicU64,
    bytes: AtomicU64,
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let agent = AcpAgent::from_str(&arguments.next().context("AGENT_COMMAND")?)?;
    let prompt = arguments.next().context("PROMPT")?;
    let slow = std::env::var_os("ACPBENCH_SLOW").is_some();
    let tally = Arc::new(Tally::default());
    let seen = Arc::clone(&tally);
    Client
        .v1()
        .on_receive_notification(
            async move |update: SessionNotification, _| {
                seen.bytes.fetch_add(text_bytes(&update), Ordering::Relaxed);
                let count = seen.count.fetch_add(1, Ordering::Relaxed) + 1;
                if slow && count % 100 == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| {
                let chosen = SelectedPermissionOutcome::new(request.options[0].option_id.clone());
                responder.respond(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(chosen)))
            },
            on_receive_request!(),
        )
        .connect_with(agent, async move |connection: ConnectionTo<Agent>| {
            connection.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
            let session = connection.send_request(NewSessionRequest::new("/tmp")).block_task().await?;
            let began = Instant::now();
            let text = ContentBlock::Text(TextContent::new(prompt));
            connection.send_request(PromptRequest::new(session.session_id, vec![text])).block_task().await?;
            println!(
                r#"{{"count":{},"bytes":{},"elapsed_ms":{:.3}}}"#,
                tally.count.load(Ordering::Relaxed),
                tally.bytes.load(Ordering::Relaxed),
                began.elapsed().as_secs_f64() * 1e3
            );
            Ok(())
        })
        .await?;
    Ok(())
}
