//! The question to the client before something dangerous, and what its answer means to the agent.

use accord_protocol::v1::{PermissionOption, PermissionOptionId, PermissionOptionKind};

use super::{
    approval::{Approval, ApprovalRequest, Denial},
    cut::line,
    grants::Memory,
    wire::Asked,
};

const ALLOW: &str = "allow";
const SESSION: &str = "session";
const ALWAYS: &str = "always";
const REJECT: &str = "reject";
const NEVER: &str = "never";

/// How much of a pattern an option's name shows, in characters.
const SHOWN: usize = 60;

/// What the client may choose from: everything, or where nothing may be remembered, "once" and "no".
///
/// A name says what it covers, since that is all that a person sees before choosing.
pub(super) fn options(request: &ApprovalRequest) -> Vec<PermissionOption> {
    let option = |id: &str, name: String, kind| PermissionOption::new(id, name, kind);
    let once = option(ALLOW, "Allow once".to_owned(), PermissionOptionKind::AllowOnce);
    let reject = option(REJECT, "Reject".to_owned(), PermissionOptionKind::RejectOnce);
    if !request.may_remember {
        return vec![once, reject];
    }
    let what = line(&request.pattern, SHOWN);
    vec![
        once,
        option(SESSION, format!("Allow until the session closes: {what}"), PermissionOptionKind::AllowAlways),
        option(ALWAYS, format!("Always allow in this session: {what}"), PermissionOptionKind::AllowAlways),
        reject,
        option(NEVER, format!("Reject until the session closes: {what}"), PermissionOptionKind::RejectAlways),
    ]
}

/// What the agent is told, and how it is remembered. What is no plain permission is a refusal.
pub(super) fn verdict(request: &ApprovalRequest, asked: &Asked) -> (Approval, Memory) {
    match asked {
        Asked::Chosen(option) => chosen(request, option),
        Asked::Cancelled => (Approval::Deny(Denial::Cancelled), Memory::None),
        Asked::TimedOut => (Approval::Deny(Denial::TimedOut), Memory::None),
        Asked::Failed => (Approval::Deny(Denial::Failed), Memory::None),
    }
}

fn chosen(request: &ApprovalRequest, option: &PermissionOptionId) -> (Approval, Memory) {
    let remembers = request.may_remember;
    match option.as_str() {
        ALLOW => (Approval::Once, Memory::None),
        SESSION if remembers => (Approval::Always, Memory::Session),
        ALWAYS if remembers => (Approval::Always, Memory::Lasting),
        REJECT => (Approval::Deny(Denial::Refused), Memory::None),
        NEVER if remembers => (Approval::Deny(Denial::Refused), Memory::Session),
        // Never offered.
        _ => (Approval::Deny(Denial::Failed), Memory::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // H6
    #[test]
    fn answers_mean_once_always_or_no() {
        let request = ApprovalRequest::new("shell", "rm x").pattern("rm *");
        let mean = |request: &ApprovalRequest, id: &str| verdict(request, &Asked::Chosen(id.into()));
        let refused = Approval::Deny(Denial::Refused);
        assert_eq!(mean(&request, "allow"), (Approval::Once, Memory::None));
        assert_eq!(mean(&request, "session"), (Approval::Always, Memory::Session));
        assert_eq!(mean(&request, "always"), (Approval::Always, Memory::Lasting));
        assert_eq!(mean(&request, "reject"), (refused, Memory::None));
        assert_eq!(mean(&request, "never"), (refused, Memory::Session));
        assert_eq!(mean(&request, "sudo"), (Approval::Deny(Denial::Failed), Memory::None));

        let once_only = request.once_only();
        assert_eq!(mean(&once_only, "always"), (Approval::Deny(Denial::Failed), Memory::None), "not offered");
        let kinds: Vec<_> = options(&once_only).into_iter().map(|option| option.kind).collect();
        assert_eq!(kinds, [PermissionOptionKind::AllowOnce, PermissionOptionKind::RejectOnce]);
    }

    #[test]
    fn every_other_outcome_denies() {
        let request = ApprovalRequest::new("shell", "rm x");
        for (asked, denial) in [
            (Asked::Cancelled, Denial::Cancelled),
            (Asked::TimedOut, Denial::TimedOut),
            (Asked::Failed, Denial::Failed),
        ] {
            assert_eq!(verdict(&request, &asked), (Approval::Deny(denial), Memory::None));
        }
    }

    #[test]
    fn an_option_names_what_it_covers() {
        let request = ApprovalRequest::new("shell", "rm x").pattern(format!("rm {}", "x".repeat(500)));
        let names: Vec<_> = options(&request).into_iter().map(|option| option.name).collect();
        assert!(names[1].contains("rm xxx") && names[1].chars().count() < 120, "{names:?}");
    }
}
