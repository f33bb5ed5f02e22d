//! Prints the runner's events, and answers its questions on the way.

use std::sync::{Arc, OnceLock};

use accord_client::{
    InputReply, Runner,
    elicitation::Answers,
    events::{Event, EventKind},
    runner::{AnswerError, Decision, EventSink, SinkError},
};

use super::options::Permission;
use crate::say;

/// Prints every event as a line of JSON. A question is answered once it is printed.
pub(super) struct Printer {
    permission: Permission,
    runner: Arc<OnceLock<Runner>>,
}

impl Printer {
    /// The printer, and the place for the runner whose events it prints.
    pub(super) fn new(permission: Permission) -> (Self, Arc<OnceLock<Runner>>) {
        let runner = Arc::new(OnceLock::new());
        (Self { permission, runner: Arc::clone(&runner) }, runner)
    }

    fn answer(&self, runner: &Runner, kind: &EventKind) -> Result<(), AnswerError> {
        match kind {
            EventKind::ApprovalRequested(approval) => match self.permission {
                Permission::Allow => {
                    let decision = |decision| runner.answer_approval(&approval.approval_id, &decision);
                    // An agent that offers no way to allow once is refused, by whatever it offers for that.
                    decision(Decision::Approve)
                        .or_else(|_| decision(Decision::Deny))
                        .or_else(|_| decision(Decision::Cancel))
                }
                Permission::Reject => runner
                    .answer_approval(&approval.approval_id, &Decision::Deny)
                    .or_else(|_| runner.answer_approval(&approval.approval_id, &Decision::Cancel)),
                Permission::Cancel => {
                    runner.interrupt();
                    Ok(())
                }
                Permission::Wait => Ok(()),
            },
            EventKind::InputRequested(input) if self.permission == Permission::Allow => {
                let submitted = runner.answer_input(&input.input_id, InputReply::Submit(Answers::new()));
                submitted.or_else(|_| runner.answer_input(&input.input_id, InputReply::Decline))
            }
            EventKind::InputRequested(input) if self.permission != Permission::Wait => {
                runner.answer_input(&input.input_id, InputReply::Decline)
            }
            _ => Ok(()),
        }
    }
}

impl EventSink for Printer {
    async fn emit(&mut self, event: Event) -> Result<(), SinkError> {
        say::out(&format!("{}\n", serde_json::to_string(&event)?));
        if let Some(runner) = self.runner.get() {
            // One that was settled meanwhile needs no answer any more.
            let _ = self.answer(runner, &event.kind);
        }
        Ok(())
    }
}
