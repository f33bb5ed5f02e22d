//! The order of the session list, and the opaque cursor that names a place in it.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use accord_protocol::v1::SessionId;

use super::Header;

/// A session's place in the list: newest first, and by id among those of the same millisecond.
///
/// As a cursor (`Display` and `FromStr`) it is opaque to clients and carries a checksum, so that a made-up or
/// damaged cursor is refused and does not start a page anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    created: u64,
    id: SessionId,
}

impl Key {
    /// The place of a session.
    pub fn of(header: &Header) -> Self {
        Self::new(header.created, header.id.clone())
    }

    /// The place of a session made at this millisecond.
    pub fn new(created: u64, id: SessionId) -> Self {
        Self { created, id }
    }

    /// When the session was made, in milliseconds since the epoch.
    pub fn created(&self) -> u64 {
        self.created
    }

    /// The session.
    pub fn id(&self) -> &SessionId {
        &self.id
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        other.created.cmp(&self.created).then_with(|| other.id.as_str().cmp(self.id.as_str()))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = format!("{:x}.{}", self.created, self.id);
        write!(f, "{:08x}", checksum(body.as_bytes()))?;
        body.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Key {
    type Err = InvalidCursor;

    fn from_str(cursor: &str) -> Result<Self, InvalidCursor> {
        let (sum, body) = cursor.split_at_checked(8).ok_or(InvalidCursor)?;
        let body = unhex(body).ok_or(InvalidCursor)?;
        if u32::from_str_radix(sum, 16) != Ok(checksum(&body)) {
            return Err(InvalidCursor);
        }
        let body = String::from_utf8(body).map_err(|_| InvalidCursor)?;
        let (created, id) = body.split_once('.').ok_or(InvalidCursor)?;
        let created = u64::from_str_radix(created, 16).map_err(|_| InvalidCursor)?;
        Ok(Self::new(created, SessionId::from(id)))
    }
}

/// The cursor was not one that this agent gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one of this agent's")]
#[non_exhaustive]
pub struct InvalidCursor;

/// FNV-1a: it guards against accidents, not against forgers, who would gain nothing.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            if pair.starts_with('+') {
                return None;
            }
            u8::from_str_radix(pair, 16).ok()
        })
        .collect()
}
