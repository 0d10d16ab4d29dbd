use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::object::GroupVersionKind;

/// New objects by apiVersion and kind, generated from the Go types:
/// `UPDATE_TYPES=1 cargo test -p structured-merge --test it new_objects`.
static NEW_OBJECTS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    // The file is compiled in, and a test reads all of it.
    serde_json::from_str(include_str!("new_objects.json")).unwrap_or_default()
});

/// The fields, except its metadata, that an object has before one is set: for a built-in kind, those that its Go type
/// never leaves out.
pub fn new_object(gvk: &GroupVersionKind) -> Value {
    let found = NEW_OBJECTS.get(&format!("{}/{}", gvk.api_version(), gvk.kind));
    found.cloned().unwrap_or_else(|| Value::Object(Map::new()))
}
