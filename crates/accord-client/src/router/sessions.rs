//! The sessions of one connection, and the updates that came before theirs was known.

use std::{
    collections::{BTreeMap, HashMap, btree_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use accord_protocol::v1::{SessionId, SessionUpdate};
use serde_json::value::RawValue;

use crate::session::Live;

/// How much is held for sessions whose ids are not known yet, in bytes, over all of them.
const HELD_LIMIT: usize = 1024 * 1024;

/// The sessions of one connection.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    live: BTreeMap<SessionId, Arc<Live>>,
    /// How many `session/new` are on their way: while there are any, an unknown id may become known.
    opening: usize,
    held: HashMap<SessionId, Vec<Held>>,
    held_bytes: usize,
    /// Updates that belonged nowhere: an agent that sends nothing else must not fill the log.
    strays: u64,
    /// The handshake succeeded: before that there is no connection whose end would matter.
    agreed: bool,
    ended: bool,
}

#[derive(Debug)]
struct Held {
    update: SessionUpdate,
    raw: Option<Box<RawValue>>,
    bytes: usize,
}

/// A `session/new` on its way.
#[derive(Debug)]
pub(crate) struct Opening(Arc<Sessions>);

impl Sessions {
    pub(crate) fn get(&self, id: &SessionId) -> Option<Arc<Live>> {
        self.lock().live.get(id).cloned()
    }

    /// Takes an update to its session, or holds it while its session may still become known.
    pub(crate) fn receive(
        &self,
        id: &SessionId,
        update: SessionUpdate,
        raw: Option<Box<RawValue>>,
        bytes: usize,
    ) {
        let mut inner = self.lock();
        if let Some(live) = inner.live.get(id).cloned() {
            drop(inner);
            live.receive(update, raw, bytes);
        } else if inner.opening > 0 && inner.held_bytes + bytes <= HELD_LIMIT {
            inner.held_bytes += bytes;
            inner.held.entry(id.clone()).or_default().push(Held { update, raw, bytes });
        } else {
            inner.strays = inner.strays.saturating_add(1);
            let count = inner.strays;
            drop(inner);
            if count.is_power_of_two() {
                tracing::warn!(count, bytes, "updates for unknown sessions were dropped");
            }
        }
    }

    /// From now until the guard is dropped, updates for unknown sessions are held.
    pub(crate) fn opening(self: &Arc<Self>) -> Opening {
        self.lock().opening += 1;
        Opening(Arc::clone(self))
    }

    /// Makes a session known, and gives it what was held for it. A session known already stays the one it is.
    pub(crate) fn insert(&self, live: Arc<Live>) -> Arc<Live> {
        let mut inner = self.lock();
        let held = inner.held.remove(&live.id).unwrap_or_default();
        inner.held_bytes -= held.iter().map(|held| held.bytes).sum::<usize>();
        let ended = inner.ended;
        let live = match inner.live.entry(live.id.clone()) {
            Entry::Vacant(place) => Arc::clone(place.insert(live)),
            Entry::Occupied(known) => {
                known.get().begin_opening();
                Arc::clone(known.get())
            }
        };
        drop(inner);
        for Held { update, raw, bytes } in held {
            live.receive(update, raw, bytes);
        }
        if ended {
            live.closed();
        }
        live
    }

    /// The handshake succeeded.
    pub(crate) fn agree(&self) {
        self.lock().agreed = true;
    }

    pub(crate) fn was_agreed(&self) -> bool {
        self.lock().agreed
    }

    /// A session that is about to be opened and is known already.
    pub(crate) fn open_again(&self, id: &SessionId) -> Option<Arc<Live>> {
        let inner = self.lock();
        let live = inner.live.get(id).cloned();
        if let Some(live) = &live {
            live.begin_opening();
        }
        live
    }

    /// An opening is over. True if nothing came of it and nobody else opens the session: it is not known any more.
    pub(crate) fn leave(&self, live: &Arc<Live>) -> bool {
        let mut inner = self.lock();
        let is_none = live.end_opening();
        if is_none {
            inner.remove(live);
        }
        is_none
    }

    pub(crate) fn remove(&self, live: &Arc<Live>) {
        self.lock().remove(live);
    }

    /// The connection is gone, and every session with it.
    pub(crate) fn end(&self) {
        let mut inner = self.lock();
        inner.ended = true;
        inner.held.clear();
        inner.held_bytes = 0;
        let live = std::mem::take(&mut inner.live);
        drop(inner);
        for live in live.into_values() {
            live.closed();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change under the lock is whole before anything in it could panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Another session of the same id stays.
    fn remove(&mut self, live: &Arc<Live>) {
        if self.live.get(&live.id).is_some_and(|known| Arc::ptr_eq(known, live)) {
            self.live.remove(&live.id);
        }
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.opening -= 1;
        if inner.opening == 0 && !inner.held.is_empty() {
            let sessions = inner.held.len();
            inner.held.clear();
            inner.held_bytes = 0;
            drop(inner);
            tracing::warn!(sessions, "updates for sessions that never became known were dropped");
        }
    }
}
