//! Private handles for the wire; reading and writing run on the blocking pool.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The reading half of the wire.
#[derive(Debug)]
pub struct WireInput(tokio::fs::File);

/// The writing half of the wire.
#[derive(Debug)]
pub struct WireOutput(tokio::fs::File);

pub(super) fn take() -> io::Result<(WireInput, WireOutput)> {
    let input = io::stdin().as_handle().try_clone_to_owned()?;
    let output = io::stdout().as_handle().try_clone_to_owned()?;
    let file = |handle| tokio::fs::File::from_std(File::from(handle));
    Ok((WireInput(file(input)), WireOutput(file(output))))
}

impl AsyncRead for WireInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for WireOutput {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
