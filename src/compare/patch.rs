//! What is sent to try an update, where an apply would not tell.

use kube_yaml::json_number;
use serde_json::{Value, json};
use structured_merge::ObjectMeta as _;

/// The version that was read.
pub(super) fn version(object: &Value) -> Option<&Value> {
    object.metadata("resourceVersion")
}

/// A JSON patch that makes `object` of the live one, so that the server fills in its defaults where something went. It names what
/// stays as well: the server would keep the text of that, and an apply writes it anew.
pub(super) fn replacement(live: &Value, object: &Value) -> Value {
    const OF_METADATA: [&str; 4] = ["annotations", "finalizers", "labels", "ownerReferences"];
    let mut operations = Vec::new();
    let mut replace = |path: String, before: Option<&Value>, after: Option<&Value>| match (before, after) {
        (Some(_), Some(after)) => {
            operations.push(json!({"op": "replace", "path": path, "value": rewritten(after)}));
        }
        (None, Some(after)) => operations.push(json!({"op": "add", "path": path, "value": rewritten(after)})),
        (Some(_), None) => operations.push(json!({"op": "remove", "path": path})),
        (None, None) => {}
    };
    let names = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default();
    let mut fields: Vec<String> = names(live);
    fields.extend(names(object));
    fields.sort();
    fields.dedup();
    fields.retain(|name| !["apiVersion", "kind", "metadata", "status"].contains(&name.as_str()));
    for name in &fields {
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        replace(pointer, live.get(name), object.get(name));
    }
    let of_metadata = |object: &'_ Value, name: &str| object.pointer(&format!("/metadata/{name}")).cloned();
    for name in OF_METADATA {
        let (before, after) = (of_metadata(live, name), of_metadata(object, name));
        replace(format!("/metadata/{name}"), before.as_ref(), after.as_ref());
    }
    if let Some(version) = version(live) {
        operations.push(json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version}));
    }
    Value::Array(operations)
}

/// A value as the server writes it after it has read it: `2.0` is `2`.
fn rewritten(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().and_then(json_number).map_or_else(|| value.clone(), Value::Number)
        }
        Value::Array(items) => items.iter().map(rewritten).collect(),
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), rewritten(value))).collect(),
        other => other.clone(),
    }
}
