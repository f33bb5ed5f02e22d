//! A buffer that grows for a large message and gives the memory back when messages are small again.

/// A buffer up to this size is kept in any case.
const KEEP: usize = 256 << 10;
/// So many uses that did not need the large buffer, and it is given back.
const PATIENCE: u32 = 64;

/// Remembers whether the size of a buffer is still needed.
///
/// Giving memory back at once would take it from the system again for the next large message, and a page that is fresh
/// from the system costs more than the bytes in it.
#[derive(Debug, Default)]
pub struct Shrink {
    idle: u32,
}

impl Shrink {
    /// Tells that `used` bytes of the buffer were needed this time. The buffer must be empty, or nearly.
    pub fn used(&mut self, buffer: &mut Vec<u8>, used: usize) {
        if buffer.capacity() <= KEEP || used > buffer.capacity() / 4 {
            self.idle = 0;
            return;
        }
        self.idle += 1;
        if self.idle > PATIENCE {
            self.idle = 0;
            buffer.shrink_to(KEEP);
        }
    }
}
