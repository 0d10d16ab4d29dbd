//! The live value as a manifest has it: without the fields that the server sets by itself. In an item that somebody added, they are the
//! defaults of built-in kinds.

use serde_json::Value;
use structured_merge::TypeRef;

use crate::compare::known_defaults::is_known_default;

/// A value without the fields that the server sets by itself where a manifest has none.
pub(super) fn without_known_defaults(value: &Value, schema: TypeRef<'_>) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(name, value)| !is_known_default(value, name, map, schema));
            let below =
                |(name, value): (&String, &Value)| (name.clone(), without_known_defaults(value, schema.field(name)));
            Value::Object(kept.map(below).collect())
        }
        Value::Array(items) => items.iter().map(|item| without_known_defaults(item, schema.item())).collect(),
        scalar => scalar.clone(),
    }
}

/// A live value without what the server would add to the manifest's value as well: `written` is the manifest's value, and
/// `predicted` what an apply would make of it.
pub(super) fn without_defaults(live: &Value, written: &Value, predicted: &Value, schema: TypeRef<'_>) -> Value {
    if live == predicted {
        return written.clone();
    }
    match (live, written, predicted) {
        (Value::Object(live), Value::Object(written), Value::Object(predicted)) => {
            let is_default = |name: &String, value: &Value| {
                let is_known = || is_known_default(value, name, live, schema);
                !written.contains_key(name) && (predicted.get(name) == Some(value) || is_known())
            };
            let kept = live.iter().filter(|(name, value)| !is_default(name, value));
            let below = |name: &String, value: &Value| match (written.get(name), predicted.get(name)) {
                (Some(written), Some(predicted)) => without_defaults(value, written, predicted, schema.field(name)),
                _ => without_known_defaults(value, schema.field(name)),
            };
            kept.map(|(name, value)| (name.clone(), below(name, value))).collect()
        }
        (Value::Array(live), Value::Array(written), Value::Array(predicted)) if written.len() == predicted.len() => {
            let item = |(index, item): (usize, &Value)| {
                let same = predicted.iter().position(|predicted| predicted == item);
                let index = same.unwrap_or(index);
                match (written.get(index), predicted.get(index)) {
                    (Some(written), Some(predicted)) => without_defaults(item, written, predicted, schema.item()),
                    _ => without_known_defaults(item, schema.item()),
                }
            };
            live.iter().enumerate().map(item).collect()
        }
        _ => without_known_defaults(live, schema),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, builtin};

    use super::*;

    fn stripped(kind: (&str, &str), list: [&str; 2], item: &Value) -> Value {
        let object = builtin().object(&GroupVersionKind::new(kind.0, kind.1)).unwrap();
        without_known_defaults(item, object.field(list[0]).field(list[1]).item())
    }

    #[test]
    fn defaults_of_containers_and_ports_are_left_out() {
        let container = json!({
            "name": "proxy", "image": "shop/proxy:3", "imagePullPolicy": "IfNotPresent", "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
            "env": [{"name": "IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}],
            "livenessProbe": {
                "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                "timeoutSeconds": 1, "periodSeconds": 5, "successThreshold": 1, "failureThreshold": 3,
            },
        });
        let expected = json!({
            "name": "proxy", "image": "shop/proxy:3",
            "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
            "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
            "livenessProbe": {"httpGet": {"port": 80}, "periodSeconds": 5},
        });
        assert_eq!(stripped(("v1", "Pod"), ["spec", "containers"], &container), expected);
        let port = json!({"name": "b", "port": 80, "targetPort": 80, "protocol": "TCP", "nodePort": 30080});
        let expected = json!({"name": "b", "port": 80, "nodePort": 30080});
        assert_eq!(stripped(("v1", "Service"), ["spec", "ports"], &port), expected);
        let port = json!({"port": 80, "targetPort": "http", "protocol": "SCTP"});
        assert_eq!(stripped(("v1", "Service"), ["spec", "ports"], &port), port);
        for (source, default) in [("configMap", json!({"name": "x"})), ("secret", json!({"secretName": "x"}))] {
            let mut volume = json!({"name": "x", source: default});
            let expected = volume.clone();
            volume[source]["defaultMode"] = json!(420);
            assert_eq!(stripped(("v1", "Pod"), ["spec", "volumes"], &volume), expected);
            volume[source]["defaultMode"] = json!(256);
            assert_eq!(stripped(("v1", "Pod"), ["spec", "volumes"], &volume), volume);
        }
    }

    #[test]
    fn the_pull_policy_follows_the_tag() {
        for (image, policy) in [
            ("shop/web", "Always"),
            ("shop/web:latest", "Always"),
            ("localhost:5000/web", "Always"),
            ("localhost:5000/web:2", "IfNotPresent"),
            ("web@sha256:0000", "IfNotPresent"),
            ("web:latest@sha256:0000", "Always"),
        ] {
            for given in ["Always", "IfNotPresent"] {
                let container = json!({"name": "web", "image": image, "imagePullPolicy": given});
                let kept = stripped(("v1", "Pod"), ["spec", "containers"], &container);
                assert_eq!(kept.get("imagePullPolicy").is_none(), given == policy, "{image} {given}");
            }
        }
    }

    #[test]
    fn custom_resources_have_no_known_defaults() {
        let item = json!({"image": "a:1", "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log"});
        assert_eq!(without_known_defaults(&item, TypeRef::untyped()), item);
    }

    #[test]
    fn what_the_server_adds_is_left_out() {
        let written = json!([{"port": 80}, {"port": 443, "name": "tls"}]);
        let predicted = json!([{"port": 80, "protocol": "TCP"}, {"port": 443, "name": "tls", "protocol": "TCP"}]);
        let live = json!([{"port": 443, "name": "tls", "protocol": "TCP"}, {"port": 81, "protocol": "UDP"}]);
        let expected = json!([{"port": 443, "name": "tls"}, {"port": 81, "protocol": "UDP"}]);
        assert_eq!(without_defaults(&live, &written, &predicted, TypeRef::untyped()), expected);
        let live = json!([{"port": 8080, "protocol": "TCP"}]);
        assert_eq!(without_defaults(&live, &written, &predicted, TypeRef::untyped()), json!([{"port": 8080}]));
        assert_eq!(
            without_defaults(&json!({"a": 1, "b": 2}), &json!({"a": 0}), &json!({"a": 0, "b": 2}), TypeRef::untyped()),
            json!({"a": 1})
        );
    }
}
