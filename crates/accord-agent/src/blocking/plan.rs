//! The session's plan, as a todo tool keeps it.

use accord_protocol::v1::{Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus};
use serde_json::{Deserializer, Value};

/// The plan that a todo tool's result tells, else the one that its arguments ask for; `None` where neither has a list.
///
/// The list stands in `todos`, `items`, `plan` or `entries`, or is the whole value; an empty one is an empty plan.
pub(super) fn of(arguments: &Value, output: &Value) -> Option<Plan> {
    let told = match output {
        // A remark for the model may follow the list.
        Value::String(text) => Deserializer::from_str(text).into_iter::<Value>().next().and_then(Result::ok),
        other => Some(other.clone()),
    };
    let list = told.as_ref().and_then(list).or_else(|| list(arguments))?;
    Some(Plan::new(list.iter().filter_map(entry).collect::<Vec<_>>()))
}

fn list(value: &Value) -> Option<&Vec<Value>> {
    value
        .as_array()
        .or_else(|| ["todos", "items", "plan", "entries"].iter().find_map(|name| value.get(name)?.as_array()))
}

/// The protocol has no entry that is given up: it counts as done and says so.
fn entry(item: &Value) -> Option<PlanEntry> {
    let text = |names: &[&str]| names.iter().find_map(|name| item.get(name)?.as_str());
    let content = item.as_str().or_else(|| text(&["content", "step", "text", "title", "id"]))?;
    let (status, content) = match text(&["status", "state"]) {
        Some("in_progress" | "active") => (PlanEntryStatus::InProgress, content.to_owned()),
        Some("completed" | "done") => (PlanEntryStatus::Completed, content.to_owned()),
        Some("cancelled" | "canceled") => (PlanEntryStatus::Completed, format!("[cancelled] {content}")),
        _ => (PlanEntryStatus::Pending, content.to_owned()),
    };
    let priority = match text(&["priority"]) {
        Some("high") => PlanEntryPriority::High,
        Some("low") => PlanEntryPriority::Low,
        _ => PlanEntryPriority::Medium,
    };
    Some(PlanEntry::new(content, priority, status))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(arguments: &Value, output: &Value) -> Value {
        serde_json::to_value(of(arguments, output)).expect("JSON")
    }

    // H5
    #[test]
    fn a_todo_list_becomes_the_plan() {
        let list = json!({"todos": [
            {"id": "1", "content": "look", "status": "completed", "priority": "high"},
            {"id": "2", "content": "fix", "status": "in_progress"},
            {"id": "3", "content": "ship", "status": "cancelled"},
            {"id": "4", "status": "someday", "priority": "low"},
            7,
        ]});
        let expected = json!({"entries": [
            {"content": "look", "priority": "high", "status": "completed"},
            {"content": "fix", "priority": "medium", "status": "in_progress"},
            {"content": "[cancelled] ship", "priority": "medium", "status": "completed"},
            {"content": "4", "priority": "low", "status": "pending"},
        ]});
        assert_eq!(told(&Value::Null, &list), expected);
        assert_eq!(told(&Value::Null, &json!(format!("{list}\n\nGo on with the next."))), expected);
        assert_eq!(told(&list, &json!("ok")), expected, "a result without a list leaves the arguments'");
        assert_eq!(told(&list, &json!({"todos": []})), json!({"entries": []}));
        assert_eq!(told(&Value::Null, &json!("ok")), Value::Null);
    }
}
