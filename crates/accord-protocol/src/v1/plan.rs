//! Plans: what the agent means to do, step by step.

use std::path::PathBuf;

use crate::open::{Maybe, from, id, record, strings, tagged};

record! {
    /// The agent's plan for the task, complete; each one replaces the last.
    ///
    /// See [Agent plan](https://agentclientprotocol.com/protocol/v1/agent-plan).
    pub struct Plan {
        required {
            /// The steps, in order.
            lenient entries: Vec<PlanEntry>,
        }
    }
}

record! {
    /// A step of a plan.
    ///
    /// See [Plan entries](https://agentclientprotocol.com/protocol/v1/agent-plan#plan-entries).
    pub struct PlanEntry {
        required {
            /// What is to be done, for people.
            strict content: String,
            /// How much it matters.
            strict priority: PlanEntryPriority,
            /// How far it is.
            strict status: PlanEntryStatus,
        }
    }
}

strings! {
    /// How much a step matters.
    ///
    /// See [Plan entries](https://agentclientprotocol.com/protocol/v1/agent-plan#plan-entries).
    pub enum PlanEntryPriority {
        /// The task fails without it.
        High = "high",
        /// It matters.
        Medium = "medium",
        /// It would be nice.
        Low = "low",
    }
}

strings! {
    /// How far a step is.
    ///
    /// See [Plan entries](https://agentclientprotocol.com/protocol/v1/agent-plan#plan-entries).
    pub enum PlanEntryStatus {
        /// Not started.
        Pending = "pending",
        /// Being worked on.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
}

id! {
    /// Names one of several plans of a session.
    pub struct PlanId;
}

record! {
    /// One of several plans has new contents. Needs the client capability `plan`.
    ///
    /// See [Agent plan](https://agentclientprotocol.com/protocol/v1/agent-plan).
    pub struct PlanUpdate {
        required {
            /// The plan, complete.
            strict plan: PlanUpdateContent,
        }
    }
}

record! {
    /// One of several plans is gone. Needs the client capability `plan`.
    ///
    /// See [Agent plan](https://agentclientprotocol.com/protocol/v1/agent-plan).
    pub struct PlanRemoved {
        required {
            /// Which plan it is.
            strict plan_id: PlanId,
        }
    }
}

tagged! {
    /// The form that a named plan has.
    ///
    /// See [Agent plan](https://agentclientprotocol.com/protocol/v1/agent-plan).
    pub enum PlanUpdateContent by "type" {
        /// A list of steps.
        "items" => Items(PlanItems),
        /// A file that holds the plan.
        "file" => File(PlanFile),
        /// A text.
        "markdown" => Markdown(PlanMarkdown),
    }
}

from!(PlanUpdateContent {
    Items(PlanItems),
    File(PlanFile),
    Markdown(PlanMarkdown),
});

record! {
    /// A named plan as a list of steps.
    pub struct PlanItems {
        required {
            /// Which plan it is.
            strict plan_id: PlanId,
            /// The steps, in order and complete.
            lenient entries: Vec<PlanEntry>,
        }
    }
}

record! {
    /// A named plan that is in a file.
    pub struct PlanFile {
        required {
            /// Which plan it is.
            strict plan_id: PlanId,
            /// Where the file is.
            strict uri: String,
        }
    }
}

record! {
    /// A named plan as a text.
    pub struct PlanMarkdown {
        required {
            /// Which plan it is.
            strict plan_id: PlanId,
            /// The plan, in Markdown.
            strict content: String,
        }
        optional {
            /// The file (absolute) that holds the same text, if there is one.
            lenient path: Maybe<PathBuf>,
        }
    }
}
