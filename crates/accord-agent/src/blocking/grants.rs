//! What the user has already decided in one session, so that the same question is not asked twice.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::approval::{Approval, ApprovalRequest, Denial};

/// A tool and what an "always" covers of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Grant {
    tool: String,
    pattern: String,
}

impl Grant {
    pub(super) fn of(request: &ApprovalRequest) -> Self {
        Self { tool: request.tool.clone(), pattern: request.pattern.clone() }
    }
}

/// What an answer is remembered as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// Not at all.
    None,
    /// Until the session is closed or the process ends.
    Session,
    /// As long as the session is stored.
    Lasting,
}

/// One session's decisions. They never leave the session they were made in: a fork starts with none.
#[derive(Debug, Default)]
pub(super) struct Grants {
    session: HashSet<Grant>,
    lasting: HashSet<Grant>,
    refused: HashSet<Grant>,
}

impl Grants {
    /// The answer, where it is known.
    pub(super) fn verdict(&self, request: &ApprovalRequest) -> Option<Approval> {
        if !request.may_remember {
            return None;
        }
        let grant = Grant::of(request);
        if self.refused.contains(&grant) {
            return Some(Approval::Deny(Denial::Refused));
        }
        (self.session.contains(&grant) || self.lasting.contains(&grant)).then_some(Approval::Always)
    }

    /// Remembers an answer the user gave; says which grant is to be stored.
    pub(super) fn remember(
        &mut self,
        request: &ApprovalRequest,
        answer: Approval,
        memory: Memory,
    ) -> Option<Grant> {
        let grant = Grant::of(request);
        match (answer, memory) {
            (_, Memory::None) => None,
            (Approval::Deny(_), _) => {
                self.refused.insert(grant);
                None
            }
            (_, Memory::Session) => {
                self.session.insert(grant);
                None
            }
            (_, Memory::Lasting) => self.lasting.insert(grant.clone()).then_some(grant),
        }
    }

    /// Takes over a grant that was stored.
    pub(super) fn restore(&mut self, grant: Grant) {
        self.lasting.insert(grant);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // H6, B070
    #[test]
    fn a_decision_covers_its_tool_and_pattern_and_nothing_else() {
        let push = ApprovalRequest::new("shell", "git push origin").pattern("git push *");
        let mut grants = Grants::default();
        assert_eq!(grants.verdict(&push), None);
        assert_eq!(grants.remember(&push, Approval::Once, Memory::None), None);
        assert_eq!(grants.verdict(&push), None, "once is once");
        assert_eq!(grants.remember(&push, Approval::Always, Memory::Session), None);
        assert_eq!(grants.verdict(&push), Some(Approval::Always));

        let other_tool = ApprovalRequest { tool: "terminal".into(), ..push.clone() };
        let other_pattern = push.clone().pattern("git push --force *");
        assert_eq!(grants.verdict(&other_tool), None);
        assert_eq!(grants.verdict(&other_pattern), None);
        assert_eq!(grants.verdict(&push.clone().once_only()), None, "what must be asked is asked");

        let refused = Approval::Deny(Denial::Refused);
        grants.remember(&other_pattern, refused, Memory::Session);
        assert_eq!(grants.verdict(&other_pattern), Some(refused));
    }

    // H16
    #[test]
    fn only_lasting_grants_are_stored() {
        let request = ApprovalRequest::new("shell", "ls");
        let mut grants = Grants::default();
        let stored = grants.remember(&request, Approval::Always, Memory::Lasting).expect("a grant to store");
        assert_eq!(grants.remember(&request, Approval::Always, Memory::Lasting), None, "stored once");
        let mut restored = Grants::default();
        restored.restore(stored);
        assert_eq!(restored.verdict(&request), Some(Approval::Always));
    }
}
