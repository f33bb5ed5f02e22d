//! Private descriptors for the wire, and how to use each kind of file without blocking a thread.

mod polled;

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

use polled::Polled;

/// The lowest number a private descriptor may get, so that it never sits on 0, 1 or 2.
const PRIVATE: i32 = 3;

/// The reading half of the wire.
#[derive(Debug)]
pub struct WireInput(Input);

#[derive(Debug)]
enum Input {
    /// A pipe with an open file description of its own.
    Pipe(pipe::Receiver),
    /// A socket, a terminal, or a pipe that could not be opened anew.
    Polled(Polled),
    /// A file or a device that is always ready; reading it runs on the blocking pool and takes no time.
    File(tokio::fs::File),
}

/// The writing half of the wire.
#[derive(Debug)]
pub struct WireOutput(Output);

#[derive(Debug)]
enum Output {
    Pipe(pipe::Sender),
    Polled(Polled),
    File(tokio::fs::File),
}

pub(super) fn take() -> io::Result<(WireInput, WireOutput)> {
    let input = fcntl_dupfd_cloexec(rustix::stdio::stdin(), PRIVATE)?;
    let output = fcntl_dupfd_cloexec(rustix::stdio::stdout(), PRIVATE)?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    // Without a stderr, stray prints go nowhere.
    dup2_stdout(rustix::stdio::stderr()).or_else(|_| dup2_stdout(&null))?;
    Ok((WireInput(open_input(input)?), WireOutput(open_output(output)?)))
}

/// `O_NONBLOCK` belongs to the open file description, which the parent and its other children may share. A pipe that
/// is opened anew, where the system allows it, has a description of its own.
fn open_input(fd: OwnedFd) -> io::Result<Input> {
    if file_type(&fd)? == FileType::Fifo
        && let Ok(pipe) = pipe::OpenOptions::new().open_receiver(own_path(&fd))
    {
        return Ok(Input::Pipe(pipe));
    }
    Ok(match Polled::input(fd)? {
        Ok(polled) => Input::Polled(polled),
        Err(fd) => Input::File(tokio::fs::File::from_std(File::from(fd))),
    })
}

fn open_output(fd: OwnedFd) -> io::Result<Output> {
    if file_type(&fd)? == FileType::Fifo
        && let Ok(pipe) = pipe::OpenOptions::new().open_sender(own_path(&fd))
    {
        return Ok(Output::Pipe(pipe));
    }
    Ok(match Polled::output(fd)? {
        Ok(polled) => Output::Polled(polled),
        Err(fd) => Output::File(tokio::fs::File::from_std(File::from(fd))),
    })
}

fn file_type(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

fn own_path(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

impl AsyncRead for WireInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Input::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buf),
            Input::Polled(polled) => polled.poll_read(cx, buf),
            Input::File(file) => Pin::new(file).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for WireOutput {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Output::Pipe(pipe) => Pin::new(pipe).poll_write(cx, buf),
            Output::Polled(polled) => polled.poll_write(cx, buf),
            Output::File(file) => Pin::new(file).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Output::Pipe(_) | Output::Polled(_) => Poll::Ready(Ok(())),
            Output::File(file) => Pin::new(file).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Output::Pipe(_) | Output::Polled(_) => Poll::Ready(Ok(())),
            Output::File(file) => Pin::new(file).poll_shutdown(cx),
        }
    }
}
