//! The form of the tables: a check, when its defect shows, and what it does.

use crate::line::{Line, Part, Writer};

/// A fault that one check exists to find.
pub(crate) struct Defect {
    /// The check's requirement.
    pub(crate) id: &'static str,
    when: When,
    does: fn(&mut Line<'_>),
    /// What the process does, besides its lines.
    pub(crate) act: Act,
    /// What trips as well, and why it has to; `*` is everything.
    pub(crate) implies: &'static [&'static str],
    pub(crate) why: &'static str,
    /// Checks in which the witness has the occasion to see it.
    pub(crate) seen_in: &'static [&'static str],
    /// Flags for the kit.
    pub(crate) flags: &'static [&'static str],
    /// Arguments for the program behind the spoiler.
    pub(crate) args: &'static [&'static str],
}

/// The lines that a defect is about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    Never,
    Any,
    FromAgent,
    FromClient,
    /// The client's request; a name that ends with a slash stands for all below, an empty one for all.
    Request(&'static str),
    /// The client's notification.
    Notify(&'static str),
    /// The agent's answer to it.
    Answer(&'static str),
    /// The agent's update of this kind.
    Update(&'static str),
    /// The agent's request.
    Ask(&'static str),
    /// The client's answer to it.
    Reply(&'static str),
}

/// What the process does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Behave,
    /// Forgets the store at its start.
    Forget,
    /// Stays when its input ends.
    Stay,
    /// Ends with this status.
    Status(u8),
    /// Writes a last line without its newline when its input ends.
    Unfinished,
    /// Does not read the other side's stderr.
    Deaf,
}

const fn blank(id: &'static str) -> Defect {
    Defect {
        id,
        when: When::Never,
        does: |_| (),
        act: Act::Behave,
        implies: &[],
        why: "",
        seen_in: &[],
        flags: &[],
        args: &[],
    }
}

/// A defect on the wire.
pub(crate) const fn wire(id: &'static str, when: When, does: fn(&mut Line<'_>)) -> Defect {
    Defect { when, does, ..blank(id) }
}

/// A defect of the process.
pub(crate) const fn acts(id: &'static str, act: Act) -> Defect {
    Defect { act, ..blank(id) }
}

/// What a fault of form trips as well.
pub(crate) const FORM: &str = "a fault of form is one for the schema, too";

impl Defect {
    /// What else it trips, with the reason.
    pub(crate) const fn implying(self, implies: &'static [&'static str], why: &'static str) -> Self {
        Self { implies, why, ..self }
    }

    /// Where the witness can see it.
    pub(crate) const fn seen_in(self, seen_in: &'static [&'static str]) -> Self {
        Self { seen_in, ..self }
    }

    /// What the kit and the program need to be told.
    pub(crate) const fn with(self, flags: &'static [&'static str], args: &'static [&'static str]) -> Self {
        Self { flags, args, ..self }
    }

    /// Spoils the line, if it is one of those.
    pub(crate) fn spoil(&self, line: &mut Line<'_>) {
        if self.when.fits(line) {
            (self.does)(line);
        }
    }
}

impl When {
    fn fits(self, line: &Line<'_>) -> bool {
        let named = |name: &str| {
            name.is_empty() || line.method == name || name.ends_with('/') && line.method.starts_with(name)
        };
        let (writer, part, name) = match self {
            Self::Never => return false,
            Self::Any => return true,
            Self::FromAgent => return line.writer == Writer::Agent,
            Self::FromClient => return line.writer == Writer::Client,
            Self::Request(name) => (Writer::Client, Part::Request, name),
            Self::Notify(name) => (Writer::Client, Part::Notification, name),
            Self::Answer(name) => (Writer::Agent, Part::Answer, name),
            Self::Ask(name) => (Writer::Agent, Part::Request, name),
            Self::Reply(name) => (Writer::Client, Part::Answer, name),
            Self::Update(kind) => {
                let told = line.json["params"]["update"]["sessionUpdate"].as_str().unwrap_or_default();
                return line.method == "session/update" && (kind.is_empty() || told == kind);
            }
        };
        line.writer == writer && line.part == part && named(name)
    }
}
