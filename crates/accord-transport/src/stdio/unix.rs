//! Private descriptors for the wire, and how to use each kind without blocking a thread.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

/// The lowest number a private descriptor may get, so that it never sits on 0, 1 or 2.
const PRIVATE: i32 = 3;

/// The reading half of the wire.
#[derive(Debug)]
pub struct WireInput(Input);

#[derive(Debug)]
enum Input {
    Pipe(pipe::Receiver),
    File(tokio::fs::File),
}

/// The writing half of the wire.
#[derive(Debug)]
pub struct WireOutput(Output);

#[derive(Debug)]
enum Output {
    Pipe(pipe::Sender),
    File(tokio::fs::File),
}

pub(super) fn take() -> io::Result<(WireInput, WireOutput)> {
    let input = fcntl_dupfd_cloexec(rustix::stdio::stdin(), PRIVATE)?;
    let output = fcntl_dupfd_cloexec(rustix::stdio::stdout(), PRIVATE)?;
    let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(null)?;
    dup2_stdout(rustix::stdio::stderr())?;
    Ok((WireInput(open_input(input)?), WireOutput(open_output(output)?)))
}

/// `O_NONBLOCK` belongs to the open file description, which the parent and its other children may share. A pipe opened
/// anew has a description of its own.
fn open_input(fd: OwnedFd) -> io::Result<Input> {
    if is_pipe(&fd)?
        && let Ok(pipe) = pipe::OpenOptions::new().open_receiver(own_path(&fd))
    {
        return Ok(Input::Pipe(pipe));
    }
    Ok(Input::File(tokio::fs::File::from_std(File::from(fd))))
}

fn open_output(fd: OwnedFd) -> io::Result<Output> {
    if is_pipe(&fd)?
        && let Ok(pipe) = pipe::OpenOptions::new().open_sender(own_path(&fd))
    {
        return Ok(Output::Pipe(pipe));
    }
    Ok(Output::File(tokio::fs::File::from_std(File::from(fd))))
}

fn is_pipe(fd: &OwnedFd) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode) == FileType::Fifo)
}

fn own_path(fd: &OwnedFd) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd())
}

impl AsyncRead for WireInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Input::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buf),
            Input::File(file) => Pin::new(file).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for WireOutput {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Output::Pipe(pipe) => Pin::new(pipe).poll_write(cx, buf),
            Output::File(file) => Pin::new(file).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Output::Pipe(pipe) => Pin::new(pipe).poll_flush(cx),
            Output::File(file) => Pin::new(file).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Output::Pipe(pipe) => Pin::new(pipe).poll_shutdown(cx),
            Output::File(file) => Pin::new(file).poll_shutdown(cx),
        }
    }
}
