//! Reads fields that may be missing or of any type.

use serde_json::Value;

/// Length of the longest controller text in a message, in characters.
const LONGEST: usize = 400;

pub(super) fn text<'v>(object: &'v Value, pointer: &str) -> Option<&'v str> {
    object.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

pub(super) fn int(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer).and_then(Value::as_i64)
}

/// A count in the status, where zero is left out.
pub(super) fn count(object: &Value, pointer: &str) -> i64 {
    int(object, pointer).unwrap_or(0)
}

pub(super) fn list<'v>(object: &'v Value, pointer: &str) -> &'v [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Names as a list for a message.
pub(super) fn name_list(names: &[Value]) -> String {
    let names = names.iter().filter_map(Value::as_str).map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(", ")
}

/// A controller's text on one line, without a full stop, and of bounded length.
pub(super) fn sentence(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('.');
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    line.chars().take(LONGEST).chain(['…']).collect()
}

/// `1 Pod`, `2 Pods`
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
