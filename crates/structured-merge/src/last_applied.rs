//! The manifest that client-side apply last applied, which it keeps in an annotation.

use serde_json::Value;

use crate::changes::{Change, Op, changes};
use crate::claimants::{ClaimStrength, claim_strength};
use crate::kinds::{with_string_data, with_string_data_folded};
use crate::merge::merge;
use crate::object::{FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED, ObjectMeta as _, PathElement};
use crate::schema::{self, ListKind, TypeRef};

/// The fields that client-side apply applied last. The copy is an annotation, which anybody who may annotate the object can write: it
/// explains a difference, and never decides about one.
#[derive(Clone, Debug)]
pub struct LastApplied<'s> {
    object: Value,
    fields: FieldSet,
    schema: TypeRef<'s>,
    /// The fields with another live value than was applied.
    changed_since: FieldSet,
}

impl<'s> LastApplied<'s> {
    /// Reads the copy in a live object; `None` if there is none that can be read.
    pub fn of(live: &Value, schema: TypeRef<'s>) -> Option<Self> {
        let fields = fields_last_applied(live, schema)?;
        let applied = last_applied(live)?;
        let object = with_string_data_folded(&applied).into_owned();
        let merged = merge(&object, live, schema);
        let changed = changes(live, &merged, schema, true).into_iter().filter(|change| !is_of_server(change, schema));
        Some(Self { changed_since: changed.map(|change| change.path).collect(), object, fields, schema })
    }

    /// Returns true if it has a value at a path, or a part of one. An empty map has no entry, and of a map that is replaced as a whole,
    /// only the value tells which it has.
    pub fn has(&self, path: &FieldPath) -> bool {
        claim_strength(&self.fields, path, self.schema) == ClaimStrength::Own
            && (self.fields.contains_at_or_below(path) || path.value_in(&self.object).is_some())
    }

    /// Returns true if it has a value at a path, and the live object has the same.
    pub fn is_live(&self, path: &FieldPath) -> bool {
        self.has(path) && !self.changed_since.overlaps(path)
    }
}

/// Returns true for a difference that the server makes by itself between a live object and what was applied, in the items of a list in
/// which a key is repeated: the merge takes those as they were applied, without the other fields that the live items have and with the
/// empty values that the server drops.
fn is_of_server(change: &Change, schema: TypeRef<'_>) -> bool {
    let elements = change.path.elements();
    let Some(repeated) = elements.iter().position(|element| matches!(element, PathElement::Index(_))) else {
        return false;
    };
    let list = schema.at(elements.get(..repeated).unwrap_or_default());
    let Some((PathElement::Field(name), above)) = elements.split_last() else { return false };
    *list.list_kind() != ListKind::Atomic
        && match (change.op, &change.to) {
            (Op::Remove, _) => true,
            (Op::Add, Some(applied)) => schema::is_omitted_when_empty(applied, name, schema.at(above)),
            _ => false,
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
    use crate::schema::builtin;

    fn live(applied: &str) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "annotations": {LAST_APPLIED: applied}},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [
                {"name": "web", "image": "web:2", "resources": {"requests": {"cpu": "500m"}}}]}}}})
    }

    fn of(applied: &str) -> Option<LastApplied<'static>> {
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
    fn items_with_one_key_are_live_with_the_defaults_and_without_the_empty_values() {
        let deployment = |lists: &Value| {
            let mut container = json!({"name": "web"});
            container.as_object_mut().unwrap().extend(lists.as_object().unwrap().clone());
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                "spec": {"template": {"spec": {"containers": [container]}}}})
        };
        let schema = builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).expect("a type of Kubernetes");
        let is_live = |list: &str, applied: &Value, live: &Value| {
            let applied = deployment(&json!({list: applied}));
            let mut live = deployment(&json!({list: live}));
            live["metadata"]["annotations"] = json!({LAST_APPLIED: applied.to_string()});
            let web = PathElement::key([("name".to_owned(), crate::object::Scalar::Text("web".to_owned()))]);
            let path = FieldPath::of(&["spec", "template", "spec", "containers"]).child(web).field(list);
            LastApplied::of(&live, schema).expect("a copy").is_live(&path)
        };
        let ports = json!([{"name": "http", "containerPort": 9090}, {"name": "admin", "containerPort": 9090}]);
        let port = |name: &str| json!({"name": name, "containerPort": 9090, "protocol": "TCP"});
        assert!(is_live("ports", &ports, &json!([port("http"), port("admin")])));
        for changed in
            [json!([port("http"), port("other")]), json!([port("http")]), json!([port("admin"), port("http")])]
        {
            assert!(!is_live("ports", &ports, &changed), "{changed}");
        }
        let env = json!([{"name": "A", "value": ""}, {"name": "A", "value": "2"}]);
        assert!(is_live("env", &env, &json!([{"name": "A"}, {"name": "A", "value": "2"}])));
        assert!(!is_live("env", &env, &json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])));
        assert!(!is_live(
            "env",
            &json!([{"name": "A", "value": "1"}, {"name": "A"}]),
            &json!([{"name": "A"}, {"name": "A"}])
        ));
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
