//! Compaction: the agent replaces a long history with a summary.

use super::ContentBlock;
use crate::open::{Maybe, id, record, strings};

id! {
    /// Names a compaction within its session; the agent chooses it.
    pub struct CompactionId;
}

record! {
    /// A compaction begins, goes on or ends; the first one for an id places it among the session's updates.
    ///
    /// Needs the client capability `session.compaction`. Absent fields leave things as they are, null clears them.
    pub struct CompactionUpdate {
        required {
            /// Which compaction it is.
            strict compaction_id: CompactionId,
            /// How far it is.
            strict status: CompactionStatus,
        }
        optional {
            /// The summary, complete, in place of what was there.
            lenient summary: Maybe<Vec<ContentBlock>>,
            /// What went wrong, for people.
            lenient error: Maybe<String>,
        }
    }
}

record! {
    /// A block more for a compaction's summary; an id not seen before begins a compaction.
    ///
    /// Needs the client capability `session.compaction`.
    pub struct CompactionSummaryChunk {
        required {
            /// Which compaction it is.
            strict compaction_id: CompactionId,
            /// The block to append.
            strict content: ContentBlock,
        }
    }
}

strings! {
    /// How far a compaction is.
    pub enum CompactionStatus {
        /// Running.
        InProgress = "in_progress",
        /// Ended well.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Given up before its end.
        Cancelled = "cancelled",
    }
}
