use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::object::GroupVersionKind;

/// By apiVersion and kind. Generated from the Go types: `UPDATE_TYPES=1 cargo test -p structured-merge --test it new_objects`.
static NEW_OBJECTS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    // The file is part of the program, and a test reads it whole.
    serde_json::from_str(include_str!("new_objects.json")).unwrap_or_default()
});

/// What is in an object before anybody has set a field, but for its metadata: of a built-in kind, the fields that its Go type never leaves
/// out.
pub fn new_object(gvk: &GroupVersionKind) -> Value {
    let found = NEW_OBJECTS.get(&format!("{}/{}", gvk.api_version(), gvk.kind));
    found.cloned().unwrap_or_else(|| Value::Object(Map::new()))
}
