//! Ctrl-C and SIGTERM end a run early, with a report on what was found until then.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// The number of the signal that came; 0 while none has.
static SIGNAL: AtomicU8 = AtomicU8::new(0);

/// How long a wait may go on before it looks whether the run is over.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// Whether the run is to end now.
pub(crate) fn stopped() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0
}

/// The exit status of a run that was stopped, as a shell gives it; `None` if it was not.
pub(crate) fn status() -> Option<u8> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|number| *number != 0).map(|number| 128 + number)
}

/// Until the run is to end.
pub(crate) async fn wait() {
    while !stopped() {
        tokio::time::sleep(LOOK).await;
    }
}

/// From here on the first signal stops the run, and a second one ends the process at once.
pub(crate) fn watch() {
    let (listening, ready) = mpsc::channel::<()>();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        // Without it a signal does what it always does.
        let _ = runtime.map(|runtime| runtime.block_on(listen(listening)));
    });
    // An error is the sender's end: it listens, or it never will.
    let _ = ready.recv();
}

async fn listen(listening: mpsc::Sender<()>) {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    drop(listening);
    loop {
        let number = tokio::select! {
            _ = interrupt.recv() => 2,
            _ = terminate.recv() => 15,
        };
        if SIGNAL.swap(number, Ordering::Relaxed) != 0 {
            end(number);
        }
        crate::say::err(
            "\nstopping: the report on what was found comes at once; a second signal does without\n",
        );
    }
}

#[expect(clippy::exit, reason = "who signals twice wants the process gone, whatever its threads do")]
fn end(number: u8) -> ! {
    std::process::exit(i32::from(128 + number))
}
