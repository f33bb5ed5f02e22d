//! What came of a check, and the short way out of one.

use std::fmt;

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Seen, and as it should be.
    Passed,
    /// Seen, and not as it should be.
    Failed,
    /// Not advertised, so it does not apply.
    Skipped,
    /// It applies, and its situation did not come about.
    Inconclusive,
}

impl Verdict {
    /// All of them, what went well first.
    pub(crate) const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::Skipped, Self::Inconclusive];

    /// What it means, for the legends of helps and reports.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Passed => "it was seen, and is as it should be",
            Self::Failed => "it was seen, and is not as it should be",
            Self::Skipped => "it does not apply, since the program does not claim to do it",
            Self::Inconclusive => {
                "it applies, and was not seen: nothing brought it about, or something else was in the way"
            }
        }
    }
}

/// When a failure is called binding, for the legends of helps and reports.
pub(crate) const BINDING: &str = "a failure is binding if its requirement is mandatory, or one of a capability that the program advertises";

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Inconclusive => "inconclusive",
        })
    }
}

/// Why a check ended before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The requirement is broken.
    Failed(String),
    /// The requirement is broken, unless the one with this id is: then that one tells of it, and of this one nothing was seen.
    Follows(&'static str, String),
    /// The requirement does not apply.
    Skipped(String),
    /// The situation could not be brought about.
    Inconclusive(String),
}

impl Stop {
    /// The requirement that tells of it, if it is broken as well.
    pub(crate) fn source(&self) -> Option<&'static str> {
        match self {
            Self::Follows(source, _) => Some(source),
            _ => None,
        }
    }

    /// The verdict, and the reason.
    pub(crate) fn parts(&self) -> (Verdict, &str) {
        match self {
            Self::Failed(why) | Self::Follows(_, why) => (Verdict::Failed, why),
            Self::Skipped(why) => (Verdict::Skipped, why),
            Self::Inconclusive(why) => (Verdict::Inconclusive, why),
        }
    }
}

/// What a check gives: it passed if it came to its end.
pub(crate) type Judged<T = ()> = Result<T, Stop>;

/// Fails with `why` unless `kept`.
pub(crate) fn ensure(kept: bool, why: impl FnOnce() -> String) -> Judged {
    if kept { Ok(()) } else { Err(Stop::Failed(why())) }
}

/// A failure, as the value of any expression.
pub(crate) fn fail<T>(why: impl Into<String>) -> Judged<T> {
    Err(Stop::Failed(why.into()))
}

/// An inconclusive end, as the value of any expression.
pub(crate) fn inconclusive<T>(why: impl Into<String>) -> Judged<T> {
    Err(Stop::Inconclusive(why.into()))
}

/// A skip, as the value of any expression.
pub(crate) fn skip<T>(why: impl Into<String>) -> Judged<T> {
    Err(Stop::Skipped(why.into()))
}
