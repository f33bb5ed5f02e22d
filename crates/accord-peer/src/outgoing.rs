//! Requests of ours that have no outcome yet.

use std::collections::VecDeque;

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
///
/// Ids only grow, so what is pending lies in their order; most answers are for the oldest or the newest.
#[derive(Debug)]
pub(crate) struct Outgoing<W> {
    last: i64,
    pending: VecDeque<Pending<W>>,
}

#[derive(Debug)]
struct Pending<W> {
    id: i64,
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
        Self { last: 0, pending: VecDeque::new() }
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
        self.pending.push_back(Pending { id: key.0, waiter, cancelled: false });
    }

    pub(crate) fn take(&mut self, id: &Id) -> Asked<W> {
        match id {
            Id::Number(number) => match self.remove(*number) {
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
            1 => self.pending.pop_front().map(|pending| pending.waiter),
            _ => None,
        }
    }

    /// Notes that the request is being cancelled; whether that is news.
    pub(crate) fn cancel(&mut self, key: RequestKey) -> bool {
        let Some(place) = self.place(key.0) else { return false };
        !std::mem::replace(&mut self.pending[place].cancelled, true)
    }

    /// Forgets the request, whose answer is then ignored. The flag is whether it was not cancelled before.
    pub(crate) fn abandon(&mut self, key: RequestKey) -> Option<(W, bool)> {
        self.remove(key.0).map(|pending| (pending.waiter, !pending.cancelled))
    }

    /// Everything that is still pending, oldest first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = W> + use<W> {
        std::mem::take(&mut self.pending).into_iter().map(|pending| pending.waiter)
    }

    fn remove(&mut self, id: i64) -> Option<Pending<W>> {
        self.pending.remove(self.place(id)?)
    }

    fn place(&self, id: i64) -> Option<usize> {
        self.pending.binary_search_by_key(&id, |pending| pending.id).ok()
    }
}
