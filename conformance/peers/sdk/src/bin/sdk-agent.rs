//! An agent on the official Rust SDK, written as its documentation shows.

use std::sync::atomic::{AtomicU64, Ordering};

use accord_bench::{text::text, work::Work};
use accord_bench_peers::{chunk, edited, permission, tool_pair};
use agent_client_protocol::{
    Agent, Client, Error, Result, Stdio, on_receive_request,
    v1::{
        ConnectionTo,
        schema::{
            AgentCapabilities, ContentBlock, InitializeRequest, InitializeResponse, NewSessionRequest,
            NewSessionResponse, PromptRequest, PromptResponse, SessionId, SessionNotification, StopReason,
        },
    },
};

#[tokio::main]
async fn main() -> Result<()> {
    let sessions = AtomicU64::new(0);
    Agent
        .v1()
        .name("sdk-agent")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| {
                let answer = InitializeResponse::new(request.protocol_version);
                responder.respond(answer.agent_capabilities(AgentCapabilities::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _| {
                let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
                responder.respond(NewSessionResponse::new(format!("sess-{number}")))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection: ConnectionTo<Client>| {
                let done = PromptResponse::new(StopReason::EndTurn);
                let session = request.session_id;
                let Some(ContentBlock::Text(words)) = request.prompt.into_iter().next() else {
                    return responder.respond_with_error(Error::invalid_params());
                };
                if words.text == "ping" {
                    return responder.respond(done);
                }
                if let Some(echoed) = words.text.strip_prefix("echo ") {
                    connection
                        .send_notification(SessionNotification::new(session, chunk(echoed.to_owned())))?;
                    return responder.respond(done);
                }
                let to = connection.clone();
                connection.spawn(async move {
                    turn(&to, &session, &words.text).await?;
                    responder.respond(done)
                })
            },
            on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}

async fn turn(to: &ConnectionTo<Client>, session: &SessionId, words: &str) -> Result<()> {
    let update = |update| to.send_notification(SessionNotification::new(session.clone(), update));
    match words.parse() {
        Ok(Work::Stream(count, bytes)) => {
            let text = text(usize::try_from(bytes).map_err(Error::into_internal_error)?);
            for _ in 0..count {
                update(chunk(text.clone()))?;
            }
        }
        Ok(Work::Tools(count)) => {
            let edited = edited();
            for number in 0..count {
                for of_pair in tool_pair(number, &edited) {
                    update(of_pair)?;
                }
            }
        }
        Ok(Work::Permit(count)) => {
            for number in 0..count {
                to.send_request(permission(session, number)).block_task().await?;
            }
        }
        _ => return Err(Error::invalid_params()),
    }
    Ok(())
}
