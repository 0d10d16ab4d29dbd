//! The copy of the manifest that client-side apply keeps in an annotation: the fields that it applied, and whether the live object still
//! has their values.

use serde_json::Value;

use crate::changes::changes;
use crate::kinds::{with_string_data, with_string_data_folded};
use crate::merge::merge;
use crate::object::ObjectMeta as _;
use crate::object::{FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED};
use crate::schema::{self, TypeRef};

/// The fields that client-side apply applied last. The copy is an annotation, which anybody who may annotate the object can write: it
/// explains a difference, and never decides about one.
#[derive(Clone, Debug)]
pub struct LastApplied {
    fields: FieldSet,
    /// The fields with another live value than was applied.
    changed_since: FieldSet,
}

impl LastApplied {
    /// Reads the copy in a live object; `None` if there is none that can be read.
    pub fn of(live: &Value, schema: TypeRef<'_>) -> Option<Self> {
        let fields = fields_last_applied(live, schema)?;
        let applied = last_applied(live)?;
        let merged = merge(&with_string_data_folded(&applied), live, schema);
        let changed_since = changes(live, &merged, schema, true).into_iter().map(|change| change.path).collect();
        Some(Self { fields, changed_since })
    }

    /// Returns true if it has a value at a path.
    pub fn has(&self, path: &FieldPath) -> bool {
        self.fields.covers(path)
    }

    /// Returns true if it has a value at a path, and the live object has the same.
    pub fn is_live(&self, path: &FieldPath) -> bool {
        self.has(path) && !self.changed_since.overlaps(path)
    }
}

/// The fields of the manifest that client-side apply last applied, if its copy can be read.
pub fn fields_last_applied(live: &Value, schema: TypeRef<'_>) -> Option<FieldSet> {
    let applied = last_applied(live)?;
    Some(with_string_data(&GroupVersionKind::of(live), schema::fields_of(&applied, schema), &[]))
}

/// The manifest that client-side apply last applied.
pub(crate) fn last_applied(live: &Value) -> Option<Value> {
    serde_json::from_str::<Value>(live.annotation(LAST_APPLIED)?).ok().filter(Value::is_object)
}

/// Returns true if an owner is client-side apply, which stores a copy of the manifest it last applied.
pub fn owns_last_applied(fields: &FieldSet) -> bool {
    fields.contains(&FieldPath::of(&["metadata", "annotations", LAST_APPLIED]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::PathElement;
    use crate::schema::builtin;

    fn live(applied: &str) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "annotations": {LAST_APPLIED: applied}},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [
                {"name": "web", "image": "web:2", "resources": {"requests": {"cpu": "500m"}}}]}}}})
    }

    fn of(applied: &str) -> Option<LastApplied> {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        LastApplied::of(&live(applied), builtin().object(&gvk).expect("a type of Kubernetes"))
    }

    #[test]
    fn a_value_is_live_if_it_means_what_was_applied() {
        let applied = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
            "replicas": 2, "paused": true, "template": {"spec": {"containers": [
                {"name": "web", "image": "web:2", "resources": {"requests": {"cpu": 0.5}}}]}}}});
        let applied = of(&applied.to_string()).expect("a copy");
        let web = PathElement::key([("name".to_owned(), crate::object::Scalar::Text("web".to_owned()))]);
        let container = FieldPath::of(&["spec", "template", "spec", "containers"]).child(web);
        let path = |name: &str| container.field(name);
        assert!(applied.is_live(&path("image")));
        assert!(applied.is_live(&path("resources").field("requests").field("cpu")));
        let replicas = FieldPath::of(&["spec", "replicas"]);
        assert!(applied.has(&replicas) && !applied.is_live(&replicas));
        let paused = FieldPath::of(&["spec", "paused"]);
        assert!(applied.has(&paused) && !applied.is_live(&paused));
        assert!(!applied.has(&FieldPath::of(&["spec", "minReadySeconds"])));
    }

    #[test]
    fn a_copy_that_is_no_object_says_nothing() {
        for applied in ["", "[]", "null", "{", "\"text\"", "[[[["] {
            assert!(of(applied).is_none(), "{applied}");
        }
        // Values of other types than the live ones: no panic, and nothing is live.
        let odd = of(r#"{"metadata": [], "spec": "text"}"#).expect("a copy");
        assert!(!odd.is_live(&FieldPath::of(&["spec", "replicas"])));
    }
}
