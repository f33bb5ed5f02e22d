//! A session's conversation as the agent keeps it, and the records by which it is stored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::grants::Grant;

/// The agent's entries as they were last stored.
///
/// A copy of it is a fork's deep copy: an entry never changes, so sharing it shares nothing that can be written.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    entries: Vec<Arc<RawValue>>,
    /// The session's own log does not say what it is.
    unstored: bool,
}

/// One backend record of the session's log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    /// How the history became what it is now.
    History(Change),
    /// An answer "always" that outlives the process.
    Grant(Grant),
}

/// The first `keep` entries stay, what followed them is gone, `add` comes after.
///
/// A turn usually appends; compaction and reset keep less. So a log grows with the conversation, not with its square.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Change {
    keep: usize,
    add: Vec<Arc<RawValue>>,
}

impl History {
    /// Takes over what the agent has now; what changed is to be stored, and nothing is returned where nothing did.
    ///
    /// # Errors
    ///
    /// When an entry can't be written as JSON.
    pub(super) fn advance(&mut self, now: &[Value]) -> serde_json::Result<Option<Change>> {
        let mut keep = 0;
        let mut add = Vec::new();
        for (index, entry) in now.iter().enumerate() {
            let raw = serde_json::value::to_raw_value(entry)?;
            let same = keep == index && self.entries.get(index).is_some_and(|old| old.get() == raw.get());
            if same {
                keep += 1;
            } else {
                add.push(Arc::from(raw));
            }
        }
        if std::mem::take(&mut self.unstored) {
            add = self.entries.drain(..keep).chain(add).collect();
            keep = 0;
        } else if keep == self.entries.len() && add.is_empty() {
            return Ok(None);
        }
        let change = Change { keep, add };
        self.apply(&change);
        Ok(Some(change))
    }

    /// What it holds is not in this session's log, or not for certain: the next change stores all of it.
    pub(super) fn store_anew(&mut self) {
        self.unstored = true;
    }

    /// Follows a stored change.
    pub(super) fn apply(&mut self, change: &Change) {
        self.entries.truncate(change.keep);
        self.entries.extend(change.add.iter().cloned());
    }

    /// The entries, for an agent that is built anew.
    ///
    /// # Errors
    ///
    /// When an entry no longer decodes, which a store that is intact rules out.
    pub(super) fn values(&self) -> serde_json::Result<Vec<Value>> {
        self.entries.iter().map(|entry| serde_json::from_str(entry.get())).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Reads a record; one of a later version that this one does not know is passed over.
pub(super) fn read(record: &RawValue) -> Option<Record> {
    serde_json::from_str(record.get())
        .inspect_err(|_| tracing::warn!("an unknown backend record is passed over"))
        .ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn replay(records: &[Box<RawValue>]) -> History {
        let mut history = History::default();
        for record in records {
            match read(record) {
                Some(Record::History(change)) => history.apply(&change),
                other => panic!("expected a change, got {other:?}"),
            }
        }
        history
    }

    // H4, H10
    #[test]
    fn the_records_give_the_history_back_whatever_it_went_through() {
        let steps = [
            json!(["a"]),
            json!(["a", {"role": "user"}, "c"]),
            json!(["a", "x"]),
            json!(["a", "x", "y"]),
            json!([]),
            json!(["new"]),
        ];
        let mut live = History::default();
        let mut records = Vec::new();
        for step in &steps {
            let now = step.as_array().expect("an array");
            let change = live.advance(now).expect("JSON").expect("a change");
            records.push(serde_json::value::to_raw_value(&Record::History(change)).expect("JSON"));
            assert!(live.advance(now).expect("JSON").is_none(), "nothing new, nothing stored");
            assert_eq!(replay(&records).values().expect("JSON"), *now);
        }
        assert_eq!(records[1].get(), r#"{"history":{"keep":1,"add":[{"role":"user"},"c"]}}"#);
    }

    // H10
    #[test]
    fn a_fork_stores_all_of_it_once() {
        let mut source = History::default();
        source.advance(&[json!(1), json!(2)]).expect("JSON");
        let mut fork = source.clone();
        fork.store_anew();
        let change = fork.advance(&[json!(1), json!(2), json!(3)]).expect("JSON").expect("a change");
        assert_eq!(serde_json::to_value(change).expect("JSON"), json!({ "keep": 0, "add": [1, 2, 3] }));
        let change =
            fork.advance(&[json!(1), json!(2), json!(3), json!(4)]).expect("JSON").expect("a change");
        assert_eq!(serde_json::to_value(change).expect("JSON"), json!({ "keep": 3, "add": [4] }));
        assert_eq!(source.len(), 2);
    }

    // H4
    #[test]
    fn what_could_not_be_stored_is_stored_with_the_next_change() {
        let mut live = History::default();
        let stored = |change| serde_json::value::to_raw_value(&Record::History(change)).expect("JSON");
        let mut records = vec![stored(live.advance(&[json!(1)]).expect("JSON").expect("a change"))];
        live.advance(&[json!(1), json!(2)]).expect("JSON").expect("a change that is lost");
        live.store_anew();
        records.push(stored(live.advance(&[json!(1), json!(2), json!(3)]).expect("JSON").expect("a change")));
        assert_eq!(replay(&records).values().expect("JSON"), [json!(1), json!(2), json!(3)]);
        live.advance(&[]).expect("JSON").expect("a change that is lost");
        live.store_anew();
        records.push(stored(live.advance(&[]).expect("JSON").expect("a change, though nothing is left")));
        assert_eq!(replay(&records).len(), 0);
    }

    #[test]
    fn a_record_of_a_later_version_is_passed_over() {
        let later = RawValue::from_string(r#"{"mood":"good"}"#.into()).expect("JSON");
        assert!(read(&later).is_none());
    }
}
