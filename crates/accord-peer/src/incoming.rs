//! Calls of the peer that have no answer yet.

use std::collections::BTreeMap;

use accord_protocol::rpc::Id;

/// Names a call of the peer. It is ours and never reused, whatever the peer does with its ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey(u64);

/// A call is *open* from the moment it was handed to the application until it was answered.
#[derive(Debug)]
pub(crate) struct Incoming {
    last: u64,
    open: BTreeMap<CallKey, Open>,
    /// The open calls that can be cancelled; a null id names nothing.
    by_id: BTreeMap<Id, CallKey>,
}

#[derive(Debug)]
struct Open {
    id: Id,
    cancelled: bool,
}

impl Incoming {
    pub(crate) fn new() -> Self {
        Self { last: 0, open: BTreeMap::new(), by_id: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Opens a call, unless its id is in use.
    pub(crate) fn open(&mut self, id: &Id) -> Option<CallKey> {
        let key = CallKey(self.last + 1);
        if *id != Id::Null {
            match self.by_id.entry(id.clone()) {
                std::collections::btree_map::Entry::Occupied(_) => return None,
                std::collections::btree_map::Entry::Vacant(free) => free.insert(key),
            };
        }
        self.last = key.0;
        self.open.insert(key, Open { id: id.clone(), cancelled: false });
        Some(key)
    }

    /// The id to answer to, once.
    pub(crate) fn close(&mut self, key: CallKey) -> Option<Id> {
        let Open { id, .. } = self.open.remove(&key)?;
        self.by_id.remove(&id);
        Some(id)
    }

    /// The call the peer no longer wants, if it is open and this is news.
    pub(crate) fn cancel(&mut self, id: &Id) -> Option<CallKey> {
        let key = *self.by_id.get(id)?;
        let call = self.open.get_mut(&key)?;
        (!std::mem::replace(&mut call.cancelled, true)).then_some(key)
    }

    pub(crate) fn is_cancelled(&self, key: CallKey) -> bool {
        self.open.get(&key).is_some_and(|call| call.cancelled)
    }

    /// Forgets every open call: nobody is there to be answered.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
        self.by_id.clear();
    }
}
