//! A server behind an address: Streamable HTTP, with the headers that were declared.

use std::collections::HashMap;

use accord_protocol::v1::McpServerHttp;
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderName, HeaderValue},
};
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
    let url = address(&server.url, headers.contains_key(&AUTHORIZATION))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    Ok(StreamableHttpClientTransport::from_config(config))
}

/// Credentials in an address stand for an `Authorization` header, and would replace one that was declared.
fn address(url: &str, has_credentials: bool) -> Result<String, &'static str> {
    let mut url = Url::parse(url).map_err(|_| "its address is none")?;
    if has_credentials {
        url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| "its address is none")?;
    }
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn a_declared_header_counts_more_than_the_address() {
        let url = "http://me:secret@localhost:1/mcp?a=b";
        assert_eq!(address(url, true).unwrap(), "http://localhost:1/mcp?a=b");
        assert_eq!(address(url, false).unwrap(), url);
    }
}
