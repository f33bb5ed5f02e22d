//! Why a server is not there, in words for people: what it did or did not do, never the names of a library.

use std::{error::Error, process::ExitStatus};

use rmcp::{
    ServiceError, model::ErrorData, service::ClientInitializeError,
    transport::streamable_http_client::StreamableHttpError,
};

use super::secrets::Secrets;
use crate::text;

/// So much of what a server says about itself is told.
const LONGEST: usize = 300;
/// Whether a pipe breaks while it is written to or ends while it is read is chance.
const CLOSED: &str = "it closed the connection before it was ready";

/// Why the connection to a server did not come about.
pub(super) fn not_ready(error: &ClientInitializeError, secrets: &Secrets) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => refused("initialize", error, secrets),
        ClientInitializeError::ConnectionClosed(_) => CLOSED.to_owned(),
        ClientInitializeError::TransportError { error, .. } => broken(&*error.error),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it speaks no version of MCP that this agent speaks".to_owned()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => not_ready(fallback, secrets),
        ClientInitializeError::Cancelled => "its start was given up".to_owned(),
        _ => "its answer to initialize is not one".to_owned(),
    }
}

/// Why a server did not list its tools.
pub(super) fn not_listed(error: &ServiceError, secrets: &Secrets) -> String {
    match error {
        ServiceError::McpError(error) => refused("tools/list", error, secrets),
        ServiceError::TransportSend(error) => broken(&*error.error),
        ServiceError::TransportClosed => "it closed the connection before it had listed its tools".to_owned(),
        ServiceError::UnexpectedResponse => "its answer to tools/list is not one".to_owned(),
        _ => "it did not list its tools".to_owned(),
    }
}

/// Why a tool call has no answer, other than a refusal.
pub(super) fn unanswered(error: &ServiceError) -> &'static str {
    match error {
        ServiceError::UnexpectedResponse => "what it sent is not an answer to tools/call",
        ServiceError::Cancelled { .. } => "the call was cancelled",
        _ => "the connection to it is gone",
    }
}

/// How a process ended, if it did by itself.
pub(super) fn exit(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("its process was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("its process exited with code {code}"),
        None => "its process ended".to_owned(),
    }
}

/// What a server says about itself. What it was given is hidden before the text is cut, since half of it could not be
/// found.
pub(super) fn told(message: &str, secrets: &Secrets) -> String {
    text::one_line(text::beginning(&secrets.hide(message), LONGEST))
}

fn refused(method: &str, error: &ErrorData, secrets: &Secrets) -> String {
    format!("it refused {method}: {} ({})", told(&error.message, secrets), error.code.0)
}

/// What an error of the connection means, by the first cause that says anything to people.
fn broken(error: &(dyn Error + Send + Sync + 'static)) -> String {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(http) = current.downcast_ref::<StreamableHttpError<reqwest::Error>>()
            && let Some(told) = over_http(http)
        {
            return told;
        }
        if let Some(error) = current.downcast_ref::<reqwest::Error>() {
            return over_the_net(error);
        }
        cause = current.source();
    }
    CLOSED.to_owned()
}

fn over_http(error: &StreamableHttpError<reqwest::Error>) -> Option<String> {
    let told = match error {
        StreamableHttpError::HttpStatus(status) => format!("it answered with HTTP status {}", status.status),
        StreamableHttpError::AuthRequired(_) => "it asks for credentials".to_owned(),
        StreamableHttpError::InsufficientScope(_) => "the credentials do not suffice".to_owned(),
        StreamableHttpError::Client(error) => over_the_net(error),
        StreamableHttpError::UnexpectedContentType(_)
        | StreamableHttpError::UnexpectedServerResponse(_)
        | StreamableHttpError::Deserialize(_) => "what answers there does not speak MCP".to_owned(),
        StreamableHttpError::UnexpectedEndOfStream => "its answer ended too early".to_owned(),
        _ => return None,
    };
    Some(told)
}

fn over_the_net(error: &reqwest::Error) -> String {
    if error.is_connect() {
        return "nothing answers at its address".to_owned();
    }
    match error.status() {
        Some(status) => format!("it answered with HTTP status {}", status.as_u16()),
        None => "the connection to it broke before it was ready".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use accord_protocol::v1::{EnvVariable, McpServerStdio};

    use super::*;

    // ACPX-AUTH-014
    #[test]
    fn a_secret_is_hidden_also_where_the_text_is_cut() {
        let env = [EnvVariable::new("TOKEN", "s3cr3t-t0k3n")];
        let secrets = Secrets::of(&McpServerStdio::new("a", "/bin/mcp", [], env).into());
        let error = ErrorData::internal_error(format!("{}s3cr3t-t0k3n", "x".repeat(LONGEST - 6)), None);
        let told = refused("initialize", &error, &secrets);
        assert!(!told.contains("s3cr"), "{told}");
    }
}
