//! Calls of the peer that have no answer yet.

use accord_protocol::rpc::Id;

/// Names a call of the peer. It is ours and never reused, whatever the peer does with its ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey(u64);

/// A call is *open* from the moment it was handed to the application until it was answered.
///
/// Few calls are open at once, most of them for a short time, and never more than the peer's configuration allows: so
/// they lie in a row, oldest first, and are looked for from the newest.
#[derive(Debug)]
pub(crate) struct Incoming {
    last: u64,
    open: Vec<Open>,
    /// How long the lines of the open calls are together.
    bytes: usize,
}

#[derive(Debug)]
struct Open {
    key: CallKey,
    id: Id,
    bytes: usize,
    cancelled: bool,
}

impl Incoming {
    pub(crate) fn new() -> Self {
        Self { last: 0, open: Vec::new(), bytes: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Opens a call that came in a line of `bytes` bytes. Its id must be [free](Self::is_free).
    pub(crate) fn open(&mut self, id: Id, bytes: usize) -> CallKey {
        self.last += 1;
        let key = CallKey(self.last);
        self.bytes += bytes;
        self.open.push(Open { key, id, bytes, cancelled: false });
        key
    }

    /// Whether no open call has this id. A null id names nothing and is always free.
    pub(crate) fn is_free(&self, id: &Id) -> bool {
        self.place_of(id).is_none()
    }

    /// The id to answer to, once.
    pub(crate) fn close(&mut self, key: CallKey) -> Option<Id> {
        let Open { id, bytes, .. } = self.open.remove(self.place(key)?);
        self.bytes -= bytes;
        Some(id)
    }

    /// The call the peer no longer wants, if it is open and this is news.
    pub(crate) fn cancel(&mut self, id: &Id) -> Option<CallKey> {
        let place = self.place_of(id)?;
        let call = &mut self.open[place];
        (!std::mem::replace(&mut call.cancelled, true)).then_some(call.key)
    }

    pub(crate) fn is_cancelled(&self, key: CallKey) -> bool {
        self.place(key).is_some_and(|place| self.open[place].cancelled)
    }

    /// Forgets every open call: nobody is there to be answered.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
        self.bytes = 0;
    }

    fn place(&self, key: CallKey) -> Option<usize> {
        self.open.binary_search_by_key(&key, |call| call.key).ok()
    }

    fn place_of(&self, id: &Id) -> Option<usize> {
        if *id == Id::Null {
            return None;
        }
        self.open.iter().rposition(|call| call.id == *id)
    }
}
