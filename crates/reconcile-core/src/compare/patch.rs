//! The JSON patch that tries an update where a dry run of an apply would not show the result.

use kube_yaml::json_number;
use serde_json::{Value, json};
use structured_merge::ObjectMeta as _;

/// The resourceVersion that was read.
pub(super) fn version(object: &Value) -> Option<&Value> {
    object.metadata("resourceVersion")
}

/// A JSON patch that turns the live object into `object`, so that the server fills in defaults for removed fields. It contains
/// unchanged fields as well: the server would keep their stored text, but an apply rewrites it. A status that is a subresource is
/// left out.
pub(super) fn replacement(live: &Value, object: &Value, status_is_apart: bool) -> Value {
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
    fields.retain(|name| !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
    fields.retain(|name| name != "status" || !status_is_apart);
    for name in &fields {
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        replace(pointer, live.get(name), object.get(name));
    }
    let of_metadata = |object: &'_ Value, name: &str| object.pointer(&format!("/metadata/{name}")).cloned();
    for name in OF_METADATA {
        let before = of_metadata(live, name);
        let after = of_metadata(object, name);
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
        // Go reads every number that does not fit `int64` as a float.
        Value::Number(number) if number.as_i64().is_none() => {
            number.as_f64().and_then(json_number).map_or_else(|| value.clone(), Value::Number)
        }
        Value::Array(items) => items.iter().map(rewritten).collect(),
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), rewritten(value))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_everything_but_a_status_that_is_apart() {
        let live = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "resourceVersion": "1"},
            "spec": {"a": 2.0, "b": 9_223_372_036_854_775_809_u64}, "status": {"ready": true}});
        let paths = |status_is_apart| {
            let patch = replacement(&live, &live, status_is_apart);
            let operations = patch.as_array().unwrap().iter();
            operations.map(|one| one["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(paths(true), ["/spec", "/metadata/resourceVersion"]);
        assert_eq!(paths(false), ["/spec", "/status", "/metadata/resourceVersion"]);
        // The result of `json.Unmarshal` and `json.Marshal`.
        let spec = &replacement(&live, &live, true)[0]["value"];
        assert_eq!(spec.to_string(), r#"{"a":2,"b":9223372036854776000}"#);
    }
}
