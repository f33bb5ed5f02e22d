//! Two JSON values side by side.

use serde_json::Value;

/// Where the second value differs from the first: a path each, `+` for what is only in the second and `-` for what is
/// only in the first. Numbers compare by value.
pub(crate) fn differences(first: &Value, second: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", first, second, &mut found);
    found
}

fn walk(path: &str, first: &Value, second: &Value, found: &mut Vec<String>) {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            for (name, value) in first {
                match second.get(name) {
                    Some(other) => walk(&format!("{path}.{name}"), value, other, found),
                    None => found.push(format!("-{path}.{name}")),
                }
            }
            let added = second.keys().filter(|name| !first.contains_key(*name));
            found.extend(added.map(|name| format!("+{path}.{name}")));
        }
        (Value::Array(first), Value::Array(second)) if first.len() == second.len() => {
            for (value, other) in first.iter().zip(second) {
                walk(&format!("{path}[]"), value, other, found);
            }
        }
        (Value::Number(first), Value::Number(second)) if first.as_f64() == second.as_f64() => {}
        (first, second) if first == second => {}
        (first, second) => found.push(format!("{path}: {first} became {second}")),
    }
}
