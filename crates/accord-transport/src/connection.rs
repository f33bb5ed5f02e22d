//! A connection before it runs, and the task it runs in.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::child::{AgentCommand, Child, SpawnError};
use crate::driver::Driver;
use crate::shared::Shared;
use crate::{Cause, End, Handle, Options, Service, WeakHandle};

/// How long the end of a stream may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// A connection that does not run yet: its handle exists before its service, so a service can be made with it.
#[derive(Debug)]
pub struct Connection {
    options: Options,
    handle: WeakHandle,
    abandoned: Abandoned,
}

/// Connects `service` to a byte stream, in a task of its own. Must be called within a tokio runtime.
pub fn connect(
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
    options: Options,
    service: impl Service,
) -> Handle {
    let (handle, connection) = Connection::new(options);
    connection.spawn(read, write, service);
    handle
}

impl Connection {
    /// A connection and its first handle.
    pub fn new(options: Options) -> (Handle, Self) {
        let shared = Arc::new(Shared::new(&options));
        let handle = Handle::new(Arc::clone(&shared));
        let connection = Self { options, handle: handle.downgrade(), abandoned: Abandoned(shared) };
        (handle, connection)
    }

    /// Runs the connection in a task of its own. Must be called within a tokio runtime.
    pub fn spawn(
        self,
        read: impl AsyncRead + Unpin + Send + 'static,
        write: impl AsyncWrite + Unpin + Send + 'static,
        service: impl Service,
    ) {
        tokio::spawn(self.run(read, write, service));
    }

    /// Runs the connection until it has ended.
    ///
    /// Prefer [`Connection::spawn`]: on a multi-threaded runtime a future that is not a task of its own pays for every
    /// event with a hop between threads.
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection with [`Cause::Abandoned`].
    pub async fn run(
        self,
        read: impl AsyncRead + Unpin + Send + 'static,
        write: impl AsyncWrite + Unpin + Send + 'static,
        service: impl Service,
    ) -> End {
        let Self { options, handle, abandoned } = self;
        let mut driver = Driver::new(Arc::clone(&abandoned.0), handle, &options, read, write, service);
        let cause = poll_fn(|cx| driver.poll(cx)).await;
        let (read, mut write, mut service) = driver.into_parts();
        // Streams that are more than a descriptor, such as an encrypted one, have something to say at their end.
        let _ = tokio::time::timeout(FAREWELL, write.shutdown()).await;
        drop((read, write));
        let end = End::new(cause, None);
        abandoned.0.finish(&end);
        service.closed(&end);
        end
    }

    /// Starts `command` and connects `service` to its stdin and stdout, in a task of its own. Must be called within a
    /// tokio runtime.
    ///
    /// # Errors
    /// The program could not be started.
    pub fn spawn_child(self, command: &AgentCommand, service: impl Service) -> Result<(), SpawnError> {
        let Self { options, handle, abandoned } = self;
        let shared = Arc::clone(&abandoned.0);
        let (child, stdout, stdin) = Child::spawn(command, move || shared.process_exited())?;
        abandoned.0.lock().pid = Some(child.pid());
        tokio::spawn(async move {
            let mut driver = Driver::new(Arc::clone(&abandoned.0), handle, &options, stdout, stdin, service);
            if let Some(deadline) = child.first_frame() {
                driver.expect_frame(deadline);
            }
            let cause = poll_fn(|cx| driver.poll(cx)).await;
            let (stdout, stdin, mut service) = driver.into_parts();
            let end = child.conclude(cause, stdout, stdin, |end| abandoned.0.lose(end)).await;
            abandoned.0.finish(&end);
            service.closed(&end);
        });
        Ok(())
    }
}

/// Ends the connection when its task is dropped, by a panic or by the end of the runtime, or never starts.
#[derive(Debug)]
struct Abandoned(Arc<Shared>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.finish(&End::new(Cause::Abandoned, None));
    }
}
