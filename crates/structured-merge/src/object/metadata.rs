use serde_json::Value;

/// Fields of `metadata` that only a server writes (apimachinery `pkg/apis/meta/v1/types.go`, `ObjectMeta`). They are
/// never a difference.
pub const SERVER_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Labels of a Job's Pods that the server makes from the Job's uid, and rejects in a manifest
/// (`pkg/registry/batch/job/strategy.go`).
const OF_JOBS: [&str; 2] = ["batch.kubernetes.io/controller-uid", "controller-uid"];

/// The object without the fields that only a server writes, so that it can be created again.
pub fn without_system_fields(object: &Value) -> Value {
    let mut object = object.clone();
    let Value::Object(fields) = &mut object else { return object };
    fields.remove("status");
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        metadata.retain(|name, _| !SERVER_METADATA.contains(&name.as_str()));
    }
    let is_job = fields.get("kind").is_some_and(|kind| kind == "Job");
    if is_job && object.pointer("/spec/manualSelector") != Some(&Value::Bool(true)) {
        if let Some(Value::Object(spec)) = object.get_mut("spec") {
            spec.remove("selector");
        }
        for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
            if let Some(Value::Object(labels)) = object.pointer_mut(labels) {
                labels.retain(|name, _| !OF_JOBS.contains(&name.as_str()));
            }
        }
    }
    object
}
