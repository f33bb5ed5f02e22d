//! Notices, compactions and what a session says of itself.

use serde_json::Value;

use super::Witness;

/// How far a compaction has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Compaction {
    Running,
    Ended,
}

impl Witness {
    /// Updates whose own members have rules.
    pub(super) fn special_update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("notice") => {
                let title = update["title"].as_str().unwrap_or_default();
                let sound = !title.trim().is_empty() && update["severity"].is_string();
                self.agent_rule("ACPX-NOTICE-002", sound, || "a notice without title or severity".into());
            }
            Some("compaction_update" | "compaction_summary_chunk") => self.compaction(update),
            Some("session_info_update") => {
                let foreign = ["sessionId", "cwd", "additionalDirectories"];
                let found = foreign.into_iter().find(|member| !update[*member].is_null());
                self.agent_rule("ACPX-LIST-011", found.is_none(), || {
                    format!("session_info_update carries {}", found.unwrap_or_default())
                });
            }
            _ => {}
        }
    }

    fn compaction(&mut self, update: &Value) {
        let id = update["compactionId"].as_str().unwrap_or_default().to_owned();
        let chunk = update["sessionUpdate"] == "compaction_summary_chunk";
        let ends = matches!(update["status"].as_str(), Some("completed" | "failed" | "cancelled"));
        let before = self.compactions.get(&id);
        let fine = match before {
            Some(Compaction::Ended) => !chunk && !ends,
            Some(Compaction::Running) => true,
            None => !chunk,
        };
        let now =
            if ends || before == Some(&Compaction::Ended) { Compaction::Ended } else { Compaction::Running };
        self.compactions.insert(id.clone(), now);
        self.agent_rule("ACPX-COMPACT-002", fine, || {
            format!("compaction {id} goes on after its end, or has a summary before its start")
        });
    }
}
