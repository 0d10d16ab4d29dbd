use serde_json::Value;

/// Metadata and conditions of any Kubernetes object, read from its JSON (apimachinery `pkg/apis/meta/v1/types.go`,
/// `ObjectMeta`).
///
/// ```
/// use serde_json::json;
/// use structured_merge::ObjectMeta as _;
///
/// let web = json!({"kind": "Pod", "metadata": {"name": "web", "labels": {"app": "shop"}, "finalizers": ["example.com/a"]}});
/// assert_eq!(web.name(), Some("web"));
/// assert_eq!(web.label("app"), Some("shop"));
/// assert_eq!(web.finalizers().collect::<Vec<_>>(), ["example.com/a"]);
/// assert!(!web.is_terminating());
/// ```
pub trait ObjectMeta {
    /// A field of `metadata`.
    fn metadata(&self, field: &str) -> Option<&Value>;

    /// `metadata.name`
    fn name(&self) -> Option<&str> {
        self.metadata("name")?.as_str()
    }

    /// `metadata.uid`
    fn uid(&self) -> Option<&str> {
        self.metadata("uid")?.as_str()
    }

    /// `metadata.resourceVersion`
    fn resource_version(&self) -> Option<&str> {
        self.metadata("resourceVersion")?.as_str()
    }

    /// The value of a label.
    fn label(&self, name: &str) -> Option<&str> {
        self.metadata("labels")?.get(name)?.as_str()
    }

    /// The value of an annotation.
    fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata("annotations")?.get(name)?.as_str()
    }

    /// `metadata.finalizers`
    fn finalizers(&self) -> impl Iterator<Item = &str> {
        list(self.metadata("finalizers")).iter().filter_map(Value::as_str)
    }

    /// `metadata.ownerReferences`
    fn owner_references(&self) -> &[Value] {
        list(self.metadata("ownerReferences"))
    }

    /// The entries of `metadata.managedFields` as they are written.
    fn raw_managed_fields(&self) -> &[Value] {
        list(self.metadata("managedFields"))
    }

    /// `status.conditions`
    fn conditions(&self) -> &[Value];

    /// Returns true if the object is being deleted.
    fn is_terminating(&self) -> bool {
        self.metadata("deletionTimestamp").is_some()
    }
}

impl ObjectMeta for Value {
    fn metadata(&self, field: &str) -> Option<&Value> {
        self.get("metadata")?.get(field)
    }

    fn conditions(&self) -> &[Value] {
        list(self.get("status").and_then(|status| status.get("conditions")))
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_or_of_another_type_is_nothing() {
        for object in [json!(null), json!({}), json!({"metadata": []}), json!({"metadata": {"name": 1, "labels": "x"}})]
        {
            assert_eq!((object.name(), object.uid(), object.label("x")), (None, None, None), "{object}");
            assert_eq!(object.finalizers().count() + object.conditions().len(), 0, "{object}");
        }
        let terminating =
            json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"conditions": [{}]}});
        assert!(terminating.is_terminating() && terminating.conditions().len() == 1);
    }
}
