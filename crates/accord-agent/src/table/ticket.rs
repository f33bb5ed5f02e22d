//! A call's place in the line of its session.

use std::{future::poll_fn, sync::Arc};

use super::{Place, Table};
use crate::session::Entry;

/// A call's place in the line of its session; dropping it lets the next one start.
#[derive(Debug)]
pub(crate) struct Ticket {
    table: Arc<Table>,
    place: Place,
    number: u64,
}

impl Ticket {
    pub(super) fn new(table: Arc<Table>, place: Place, number: u64) -> Self {
        Self { table, place, number }
    }

    /// Where the line is.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Waits until every call before has finished or given up, and gives what is open then.
    pub(crate) async fn come(&self) -> Option<Arc<Entry>> {
        poll_fn(|cx| {
            let line = &mut self.table.lock()[self.place];
            line.queue.poll_first(self.number, cx).map(|()| line.open.clone())
        })
        .await
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut lines = self.table.lock();
        let next = lines[self.place].queue.leave(self.number);
        lines.end_if_idle(self.place);
        drop(lines);
        if let Some(next) = next {
            next.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::Weak,
        task::{Context, Poll, Waker},
    };

    use accord_protocol::v1::SessionId;

    use super::*;

    fn comes(ticket: &Ticket) -> Poll<()> {
        pin!(ticket.come()).poll(&mut Context::from_waker(Waker::noop())).map(drop)
    }

    #[test]
    fn nobody_overtakes_what_a_call_that_gave_up_was_waiting_for() {
        let table = Arc::new(Table::default());
        let id = SessionId::from("a");
        table.put(Arc::new(Entry::new(id.clone())));
        let [first, second, third] = [(); 3].map(|()| table.queue(&id).expect("it is open"));
        assert_eq!([&first, &second, &third].map(comes), [Poll::Ready(()), Poll::Pending, Poll::Pending]);
        drop(second);
        assert_eq!(comes(&third), Poll::Pending);
        drop(first);
        assert_eq!(comes(&third), Poll::Ready(()));
    }

    #[test]
    fn whoever_is_next_is_woken() {
        struct Told;
        impl std::task::Wake for Told {
            fn wake(self: Arc<Self>) {}
        }
        let table = Arc::new(Table::default());
        let id = SessionId::from("a");
        table.put(Arc::new(Entry::new(id.clone())));
        let [first, second] = [(); 2].map(|()| table.queue(&id).expect("it is open"));
        let told = Arc::new(Told);
        let alive: Weak<Told> = Arc::downgrade(&told);
        {
            let waker = Waker::from(told);
            assert!(pin!(second.come()).poll(&mut Context::from_waker(&waker)).is_pending());
        }
        assert_eq!(alive.strong_count(), 1, "the line keeps the waker");
        drop(first);
        assert_eq!(alive.strong_count(), 0, "and has used it");
        assert_eq!(comes(&second), Poll::Ready(()));
    }
}
