//! The values that the server gives fields of built-in kinds where a manifest has none.

use serde_json::{Map, Value, json};
use structured_merge::{TypeRef, is_default};

/// Returns true if the server gives a field this value where a manifest has none. `siblings` are the fields of the same map, as far as
/// they are known.
///
/// OpenAPI publishes few defaults. Those of Pods and Services are in `SetDefaults_*` of
/// `k8s.io/kubernetes/pkg/apis/core/v1/defaults.go`; their types are known by the fields that they declare. In the Pod template of a
/// custom resource the server sets only what the definition says. A default that is missing here is pulled into the manifest, where it
/// changes nothing, and counts as added by whom the record names.
pub(crate) fn is_known_default(value: &Value, name: &str, siblings: &Map<String, Value>, schema: TypeRef<'_>) -> bool {
    if is_default(value, name, schema) {
        return true;
    }
    let declares = |fields: [&str; 2]| fields.iter().all(|field| schema.declares(field));
    let default = match name {
        "terminationMessagePath" if declares(["terminationMessagePolicy", "image"]) => json!("/dev/termination-log"),
        "terminationMessagePolicy" if declares(["terminationMessagePath", "image"]) => json!("File"),
        "imagePullPolicy" if declares(["terminationMessagePath", "image"]) => pull_policy(siblings),
        "timeoutSeconds" | "successThreshold" if declares(["failureThreshold", "periodSeconds"]) => json!(1),
        "periodSeconds" if declares(["failureThreshold", "successThreshold"]) => json!(10),
        "failureThreshold" if declares(["periodSeconds", "successThreshold"]) => json!(3),
        "scheme" if declares(["httpHeaders", "port"]) => json!("HTTP"),
        "defaultMode" if schema.declares("items") || schema.declares("sources") => json!(0o644),
        "type" if declares(["path", "type"]) && schema.field_names().count() == 2 => json!(""),
        "targetPort" if declares(["nodePort", "port"]) => siblings.get("port").cloned().unwrap_or_default(),
        _ => Value::Null,
    };
    schema.is_builtin() && !default.is_null() && *value == default
}

/// The default of `imagePullPolicy`, which depends on the tag of the image; null if there is no image.
fn pull_policy(container: &Map<String, Value>) -> Value {
    let Some(image) = container.get("image").and_then(Value::as_str) else { return Value::Null };
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    // A colon before the last slash belongs to the port of a registry.
    let tag = name.rsplit('/').next().and_then(|name| name.split_once(':')).map(|(_, tag)| tag);
    let is_latest = tag == Some("latest") || tag.is_none() && digest.is_none();
    json!(if is_latest { "Always" } else { "IfNotPresent" })
}
