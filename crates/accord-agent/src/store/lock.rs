//! One owner for each session, by a lock of the operating system that no crash can leave behind.
//!
//! The lock belongs to the open file, and files are opened so that no program the process starts gets them: an owner
//! that dies leaves nothing locked, whatever children survive it.
//!
//! The owner holds the lock exclusively. A list only looks: it takes the lock shared for a moment. An owner-to-be
//! that fails therefore asks whether the lock can be *shared*: if it can, only lookers are there, and it tries again.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::Duration;

/// How often an owner-to-be that meets lookers tries again, a millisecond apart. A look takes microseconds.
const TRIES: u32 = 200;

/// Claims the file; `false` when somebody owns it. The claim ends when the file is closed, however that happens.
///
/// # Errors
/// What the system said, other than that the lock is held.
pub fn claim(file: &File) -> io::Result<bool> {
    for attempt in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        match file.try_lock_shared() {
            // Only lookers. Let go before trying again, or two owners-to-be would keep each other out.
            Ok(()) => file.unlock()?,
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if attempt > 2 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(false)
}

/// Whether somebody owns the file.
///
/// # Errors
/// What the system said, other than that the lock is held.
pub fn is_claimed(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
