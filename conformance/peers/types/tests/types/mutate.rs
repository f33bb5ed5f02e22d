//! Small damage to a JSON value, as a sloppy or newer peer would do it.

use serde_json::{Value, json};

/// Damages one place of the value, chosen by the seed.
pub(crate) fn mutate(value: &mut Value, seed: u64) {
    let places = count(value);
    let target = usize::try_from(seed).expect("a seed fits") % places;
    let how = usize::try_from(seed).expect("a seed fits") / places;
    change(value, target, how);
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(count).sum(),
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

fn change(value: &mut Value, mut target: usize, how: usize) {
    if target == 0 {
        damage(value, how);
        return;
    }
    target -= 1;
    let inner: Vec<&mut Value> = match value {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    for inner in inner {
        let places = count(inner);
        if target < places {
            return change(inner, target, how);
        }
        target -= places;
    }
}

fn damage(value: &mut Value, how: usize) {
    match (how % 9, &mut *value) {
        (0, _) => *value = Value::Null,
        (1, _) => *value = json!(-3),
        (2, _) => *value = json!("odd"),
        (3, _) => *value = json!([{}]),
        (4, _) => *value = json!({ "odd": 1 }),
        (5, _) => *value = json!(true),
        (6, Value::Object(members)) => {
            if let Some(first) = members.keys().next().cloned() {
                members.remove(&first);
            }
        }
        (7, Value::Object(members)) => {
            if let Some(last) = members.keys().next_back().cloned() {
                members.remove(&last);
            }
        }
        (8, Value::Array(items)) => items.push(json!(7)),
        _ => *value = json!(1.5),
    }
}
