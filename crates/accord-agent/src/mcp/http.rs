//! A server behind an address: Streamable HTTP, with the headers that were declared.

use std::collections::HashMap;

use accord_protocol::v1::McpServerHttp;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::{
    StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
};

/// The way to a server. Redirects to other origins are not followed: they would take the headers along.
pub(super) fn transport(
    server: &McpServerHttp,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let mut headers = HashMap::new();
    for header in &server.headers {
        // Both were looked at when the declaration was checked; no value of them is ever shown.
        let name =
            HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| "a header has no proper name")?;
        let mut value = HeaderValue::from_str(&header.value).map_err(|_| "a header has no proper value")?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(server.url.as_str()).custom_headers(headers);
    Ok(StreamableHttpClientTransport::from_config(config))
}
