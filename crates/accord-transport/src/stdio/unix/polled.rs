//! A descriptor that the system can wait for, used without changing its blocking mode.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, ReadBuf};

/// POSIX promises that a pipe which is ready takes this much without blocking.
const PIPE_BUF: usize = 512;

#[derive(Debug)]
pub(super) struct Polled {
    fd: AsyncFd<OwnedFd>,
    /// Sockets can be told not to block, call by call.
    socket: bool,
}

impl Polled {
    /// Gives the descriptor back if it is of a kind that is always ready, such as a file.
    pub(super) fn input(fd: OwnedFd) -> io::Result<Result<Self, OwnedFd>> {
        Self::new(fd, Interest::READABLE)
    }

    /// As [`Polled::input`], for writing.
    pub(super) fn output(fd: OwnedFd) -> io::Result<Result<Self, OwnedFd>> {
        Self::new(fd, Interest::WRITABLE)
    }

    #[expect(
        deprecated,
        reason = "an owned descriptor stays what it is while it is registered, and the replacement is unsafe"
    )]
    fn new(fd: OwnedFd, interest: Interest) -> io::Result<Result<Self, OwnedFd>> {
        let socket = super::file_type(&fd)? == FileType::Socket;
        Ok(match AsyncFd::try_with_interest(fd, interest) {
            Ok(fd) => Ok(Self { fd, socket }),
            Err(error) => Err(error.into_parts().0),
        })
    }

    pub(super) fn poll_read(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.fd.poll_read_ready(cx))?;
            let read = ready.try_io(|fd| {
                let space = buf.initialize_unfilled();
                if self.socket {
                    return Ok(recv(fd, space, RecvFlags::DONTWAIT)?.0);
                }
                is_ready(fd.get_ref(), PollFlags::IN)?;
                Ok(rustix::io::read(fd, space)?)
            });
            match read {
                Ok(Ok(count)) => {
                    buf.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_not_ready) => {}
            }
        }
    }

    pub(super) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.fd.poll_write_ready(cx))?;
            let written = ready.try_io(|fd| {
                if self.socket {
                    return Ok(send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?);
                }
                is_ready(fd.get_ref(), PollFlags::OUT)?;
                Ok(rustix::io::write(fd, &bytes[..bytes.len().min(PIPE_BUF)])?)
            });
            match written {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(written) => return Poll::Ready(written),
                Err(_not_ready) => {}
            }
        }
    }
}

/// What the runtime remembers may be out of date, and a call that blocks would stop the whole thread.
fn is_ready(fd: &OwnedFd, flags: PollFlags) -> io::Result<()> {
    let mut fds = [PollFd::new(fd, flags)];
    match poll(&mut fds, Some(&Timespec::default()))? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(()),
    }
}
