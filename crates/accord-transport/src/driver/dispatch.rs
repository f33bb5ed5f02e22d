//! From messages to the service: the peer says what each one means, and it is handed over in wire order.

use accord_peer::{Event, Violation};
use accord_protocol::rpc::{Malformed, Message};
use serde_json::value::RawValue;

use super::Driver;
use crate::pending::Waiter;
use crate::{Call, CallError, Notification, Service, Update};

/// So many violations are told one by one, then each time their count has doubled.
const TOLD_VIOLATIONS: u32 = 32;

impl<R, W, S: Service> Driver<R, W, S> {
    /// Finds out what a line of `bytes` bytes means and hands it over, behind what had to wait.
    pub(super) fn dispatch(
        &mut self,
        received: Result<Message, Malformed>,
        bytes: usize,
        raw: Option<Box<RawValue>>,
    ) {
        let mut state = self.shared.lock();
        while let Some(event) = state.peer.receive_held() {
            drop(state);
            self.hand_over(event, 0, None);
            state = self.shared.lock();
        }
        let event = match received {
            Ok(message) => state.peer.receive(message, bytes),
            Err(malformed) => Some(state.peer.receive_malformed(&malformed)),
        };
        drop(state);
        if let Some(event) = event {
            self.hand_over(event, bytes, raw);
        }
    }

    /// Hands over what had to wait for the connection to be opened.
    pub(super) fn release_held(&mut self) {
        loop {
            let event = self.shared.lock().peer.receive_held();
            let Some(event) = event else { break };
            self.hand_over(event, 0, None);
        }
        self.service.flush();
    }

    fn hand_over(&mut self, event: Event<Waiter>, bytes: usize, raw: Option<Box<RawValue>>) {
        match event {
            Event::Call { key, id, method, params } => {
                self.service.call(Call::new(self.handle.clone(), key, id, method, params, bytes));
            }
            Event::Update(notification) => {
                self.service.update(Update { notification: *notification, bytes, raw });
            }
            Event::Notification { method, params } => {
                self.service.notification(Notification { method, raw_params: params, bytes });
            }
            Event::Outcome { waiter, outcome } => {
                self.shared.lock().settled(&waiter);
                waiter.settle(outcome.map_err(|failed| CallError::failed(failed, self.frame_limit)));
            }
            Event::Cancelled { key } => self.shared.tell_cancelled(key),
            Event::Violation(violation) => self.tell(&violation),
            _ => {}
        }
    }

    fn tell(&mut self, violation: &Violation) {
        self.violations = self.violations.saturating_add(1);
        if self.violations <= TOLD_VIOLATIONS || self.violations.is_power_of_two() {
            tracing::warn!(target: "accord::wire", %violation, "the peer broke the protocol");
        }
    }
}
