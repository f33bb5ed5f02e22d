//! The table of a connection's sessions: who is open, whose turn runs, and in which order calls about one session start.

mod line;
mod ticket;

use std::{
    collections::HashMap,
    mem,
    ops::{Index, IndexMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use accord_protocol::v1::SessionId;

pub(crate) use self::{
    line::{Line, Opening},
    ticket::Ticket,
};

use crate::{session::Entry, turn::Running};

/// The sessions of one connection.
#[derive(Debug, Default)]
pub(crate) struct Table {
    lines: Mutex<Lines>,
}

/// Where a line is. It stays there as long as anything is in it: a ticket, a turn, or an open session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place(usize);

/// The lines by place, and the places by id: a call looks its session up once, and knows the place from then on.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    places: HashMap<SessionId, Place>,
    all: Vec<Line>,
    /// Places whose lines are over.
    free: Vec<Place>,
}

impl Table {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Lines> {
        // Nothing of a user's runs while the lock is held.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self, id: &SessionId) -> Option<Arc<Entry>> {
        self.lock().line(id)?.open.clone()
    }

    /// The next place in the line of a session that is known.
    pub(crate) fn queue(self: &Arc<Self>, id: &SessionId) -> Option<Ticket> {
        let mut lines = self.lock();
        let place = lines.find(id)?;
        Some(lines.ticket(self, place))
    }

    /// The next place in the line of a session, known or not.
    pub(crate) fn begin(self: &Arc<Self>, id: &SessionId) -> Ticket {
        let mut lines = self.lock();
        let place = lines.find_or_begin(id);
        lines.ticket(self, place)
    }

    /// Puts a new session in, unless one is open under its id.
    pub(crate) fn put_new(&self, entry: &Arc<Entry>) -> bool {
        let mut lines = self.lock();
        let place = lines.find_or_begin(&entry.id);
        let open = &mut lines[place].open;
        let new = open.is_none();
        open.get_or_insert_with(|| Arc::clone(entry));
        new
    }

    /// Puts an opened session in, and takes out the one that was there under the same id.
    pub(crate) fn put(&self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let mut lines = self.lock();
        let place = lines.find_or_begin(&entry.id);
        lines[place].open.replace(entry)
    }

    /// Takes a session out.
    pub(crate) fn take(&self, id: &SessionId) -> Option<Arc<Entry>> {
        let mut lines = self.lock();
        let place = lines.find(id)?;
        let entry = lines[place].open.take();
        lines.end_if_idle(place);
        entry
    }

    /// Takes every session out, cancels every turn and gives up every question: the connection is gone, or about to go.
    pub(crate) fn take_all(&self) -> Vec<Arc<Entry>> {
        let mut lines = self.lock();
        let mut entries = Vec::new();
        for place in (0..lines.all.len()).map(Place) {
            let line = &mut lines[place];
            line.turn.iter().for_each(|turn| turn.cancel.set());
            if let Some(entry) = line.open.take() {
                entry.ended.set();
                entries.push(entry);
                lines.end_if_idle(place);
            }
        }
        entries
    }

    /// Cancels the running turn. Without one nothing happens, now or later.
    pub(crate) fn cancel(&self, id: &SessionId) {
        if let Some(turn) = self.lock().line(id).and_then(|line| line.turn.as_ref()) {
            turn.cancel.set();
        }
    }

    /// Has the calls that open the session given up, as far as they are in the line.
    pub(crate) fn give_up_opening(&self, id: &SessionId) -> Option<Arc<Opening>> {
        let mut lines = self.lock();
        let place = lines.find(id)?;
        let opening = mem::take(&mut lines[place].opening).upgrade()?;
        opening.give_up();
        Some(opening)
    }

    /// The running turn.
    pub(crate) fn turn(&self, id: &SessionId) -> Option<Arc<Running>> {
        self.lock().line(id)?.turn.clone()
    }
}

impl Lines {
    /// The place of a session that is known.
    pub(crate) fn find(&self, id: &SessionId) -> Option<Place> {
        self.places.get(id).copied()
    }

    /// The place of a session; it has one from here on, which has to be put to use before the lock is let go.
    pub(crate) fn find_or_begin(&mut self, id: &SessionId) -> Place {
        *self.places.entry(id.clone()).or_insert_with(|| {
            let line = Line::new(id.clone());
            if let Some(place) = self.free.pop() {
                self.all[place.0] = line;
                return place;
            }
            self.all.push(line);
            Place(self.all.len() - 1)
        })
    }

    /// Takes the next place in a line.
    pub(crate) fn ticket(&mut self, table: &Arc<Table>, place: Place) -> Ticket {
        Ticket::new(Arc::clone(table), place, self[place].queue.join())
    }

    /// Forgets a session of which nothing is left.
    pub(crate) fn end_if_idle(&mut self, place: Place) {
        let line = &self.all[place.0];
        // The id of a line that is over may be another line's by now.
        if line.is_idle() && self.places.get(&line.id) == Some(&place) {
            self.places.remove(&line.id);
            self.free.push(place);
        }
    }

    fn line(&self, id: &SessionId) -> Option<&Line> {
        Some(&self[self.find(id)?])
    }
}

/// Never out of bounds: lines that are over are kept for those to come.
impl Index<Place> for Lines {
    type Output = Line;

    fn index(&self, place: Place) -> &Line {
        &self.all[place.0]
    }
}

impl IndexMut<Place> for Lines {
    fn index_mut(&mut self, place: Place) -> &mut Line {
        &mut self.all[place.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId::from(text)
    }

    #[test]
    fn a_place_is_used_again_once_nothing_is_left_in_it() {
        let table = Arc::new(Table::default());
        let place = table.lock().find_or_begin(&id("a"));
        let ticket = table.lock().ticket(&table, place);
        table.put(Arc::new(Entry::new(id("a"))));
        drop(ticket);
        assert_eq!(table.lock().find(&id("a")), Some(place), "the session is open");
        assert_eq!(table.take(&id("a")).map(|entry| entry.id.clone()), Some(id("a")));
        assert_eq!(table.lock().find(&id("a")), None);
        assert_eq!(table.lock().find_or_begin(&id("b")), place);
        assert_eq!(table.lock().find(&id("a")), None);
    }

    #[test]
    fn what_waits_in_line_outlives_the_session_and_keeps_its_place() {
        let table = Arc::new(Table::default());
        table.put(Arc::new(Entry::new(id("a"))));
        let ticket = table.queue(&id("a"));
        assert_eq!(table.take_all().len(), 1);
        let other = table.lock().find_or_begin(&id("b"));
        assert_ne!(table.lock().find(&id("a")), Some(other));
        drop(ticket);
        assert_eq!(table.lock().find(&id("a")), None);
    }
}
