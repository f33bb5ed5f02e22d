//! The same tools over Streamable HTTP, on a loopback port that the system picks.

use std::io;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

use super::tools::Tools;

/// Serves until stdin ends; the address is the one line on stdout.
pub(super) async fn serve(tools: Tools) -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    crate::say::out(&format!("http://{address}/mcp\n"));
    let config = StreamableHttpServerConfig::default();
    let service =
        StreamableHttpService::new(move || Ok(tools.clone()), LocalSessionManager::default().into(), config);
    let mut stdin = tokio::io::stdin();
    let mut ignored = [0; 256];
    loop {
        tokio::select! {
            read = stdin.read(&mut ignored) => {
                if read? == 0 {
                    return Ok(());
                }
            }
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                let service = TowerToHyperService::new(service.clone());
                tokio::spawn(async move {
                    // A connection that breaks concerns its client alone.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        }
    }
}
