//! Requests of ours that have no outcome yet.

use std::collections::BTreeMap;

use accord_protocol::rpc::Id;

/// Names a request of ours; it is also its id on the wire, and it is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestKey(i64);

impl RequestKey {
    /// The id on the wire.
    pub fn id(self) -> Id {
        Id::Number(self.0)
    }
}

/// A request is *pending* from the moment its line is in the output until it was answered, abandoned, or lost.
#[derive(Debug)]
pub(crate) struct Outgoing<W> {
    last: i64,
    pending: BTreeMap<i64, Pending<W>>,
}

#[derive(Debug)]
struct Pending<W> {
    waiter: W,
    cancelled: bool,
}

/// What is known about an id that a response came with.
pub(crate) enum Asked<W> {
    /// Pending until now: the waiter has its outcome, once.
    Pending(W),
    /// Asked once and abandoned, or answered before.
    Before,
    /// Never asked.
    Never,
}

impl<W> Outgoing<W> {
    pub(crate) fn new() -> Self {
        Self { last: 0, pending: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    /// The id of the next request, which becomes pending with [`Outgoing::insert`].
    pub(crate) fn next_key(&self) -> RequestKey {
        RequestKey(self.last + 1)
    }

    pub(crate) fn insert(&mut self, key: RequestKey, waiter: W) {
        self.last = key.0;
        self.pending.insert(key.0, Pending { waiter, cancelled: false });
    }

    pub(crate) fn take(&mut self, id: &Id) -> Asked<W> {
        match id {
            Id::Number(number) => match self.pending.remove(number) {
                Some(pending) => Asked::Pending(pending.waiter),
                None if (1..=self.last).contains(number) => Asked::Before,
                None => Asked::Never,
            },
            Id::Null | Id::String(_) => Asked::Never,
        }
    }

    /// The only pending request, if there is just one: whom else could an answer without an id be for?
    pub(crate) fn take_only(&mut self) -> Option<W> {
        match self.pending.len() {
            1 => self.pending.pop_first().map(|(_, pending)| pending.waiter),
            _ => None,
        }
    }

    /// Notes that the request is being cancelled; whether that is news.
    pub(crate) fn cancel(&mut self, key: RequestKey) -> bool {
        self.pending.get_mut(&key.0).is_some_and(|pending| !std::mem::replace(&mut pending.cancelled, true))
    }

    /// Forgets the request, whose answer is then ignored. The flag is whether it was not cancelled before.
    pub(crate) fn abandon(&mut self, key: RequestKey) -> Option<(W, bool)> {
        self.pending.remove(&key.0).map(|pending| (pending.waiter, !pending.cancelled))
    }

    /// Everything that is still pending, oldest first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = W> + use<W> {
        std::mem::take(&mut self.pending).into_values().map(|pending| pending.waiter)
    }
}
