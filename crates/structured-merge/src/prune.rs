//! What an apply takes out: fields that its manager applied before and does not any more, unless somebody else has them
//! (structured-merge-diff `merge/update.go`, `prune`, and `typed/remove.go`).

use serde_json::{Map, Value};

use crate::merge::Values;
use crate::object::{FieldSet, PathElement};
use crate::schema::{TypeRef, fields_of, item_element, with_named_parents};

/// Takes out of `merged` what is in `last`, the fields applied before, and neither in `managed`, which others and the new
/// manifest have, nor only beside them. Structs and items go whole when nothing in them is managed any more.
#[must_use]
pub fn prune(merged: &Value, of: TypeRef<'_>, last: &FieldSet, managed: &FieldSet) -> Value {
    prune_to(Values::Served, merged, of, last, managed)
}

pub(crate) fn prune_to(values: Values, merged: &Value, of: TypeRef<'_>, last: &FieldSet, managed: &FieldSet) -> Value {
    let fields = |object: &Value| with_named_parents(&fields_of(object, of), of);
    let last = with_named_parents(last, of);
    let all = fields(merged);
    let left = fields(&without(merged, &last, of, Values::Sent)).union(&with_named_parents(managed, of));
    let back = without(merged, &all.difference(&left), of, Values::Sent);
    let gone = all.difference(&fields(&back)).intersection(&last);
    without(merged, &gone, of, values)
}

/// A value without these fields and items. What nothing is left in becomes null, which counts as a field still; but none is served
/// as a field of a Go type.
fn without(value: &Value, gone: &FieldSet, of: TypeRef<'_>, values: Values) -> Value {
    if gone.is_empty() {
        return value.clone();
    }
    match value {
        _ if of.is_atomic(value) => Value::Null,
        Value::Object(map) => {
            let mut left = Map::new();
            // A struct in which a null was left stays, even if the null is not served.
            let mut is_emptied = true;
            for (name, child) in map {
                let kept = match gone.step(&PathElement::Field(name.clone())) {
                    Some((true, _)) => continue,
                    Some((false, below)) => without(child, below, of.field(name), values),
                    None => child.clone(),
                };
                is_emptied = false;
                if values == Values::Sent || !kept.is_null() || child.is_null() {
                    left.insert(name.clone(), kept);
                } else if of.stores_as_sent() {
                    left.insert(name.clone(), of.default_of_null(name).cloned().unwrap_or_default());
                }
            }
            if is_emptied { Value::Null } else { Value::Object(left) }
        }
        Value::Array(items) => {
            let kept = items.iter().filter_map(|item| {
                match item_element(item, of).as_ref().and_then(|element| gone.step(element)) {
                    Some((true, _)) => None,
                    Some((false, below)) => Some(without(item, below, of.item(), values)),
                    None => Some(item.clone()),
                }
            });
            let kept: Vec<Value> = kept.collect();
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::{builtin, field_set};
    use serde_json::json;

    #[test]
    fn a_struct_goes_whole_with_the_last_field_that_was_applied() {
        let of = builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).unwrap();
        let object = |context: Value| {
            json!({"metadata": {"name": "web"}, "spec": {"template": {"spec": {
            "containers": [{"name": "web", "image": "a", "securityContext": context, "terminationMessagePath": "/x"}]}}}})
        };
        let live = object(json!({"runAsUser": 1, "privileged": false}));
        let before = field_set(&object(json!({"runAsUser": 1})), of, None);
        let mut manifest = object(json!({}));
        let container = manifest.pointer_mut("/spec/template/spec/containers/0").unwrap().as_object_mut().unwrap();
        container.remove("securityContext");
        let after = prune(&live, of, &before, &fields_of(&manifest, of));
        let container = &after["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container.get("securityContext"), None, "{after}");
        assert_eq!(container["terminationMessagePath"], "/x");
    }

    #[test]
    fn a_struct_around_what_was_emptied_stays() {
        let of = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |spec: Value| json!({"metadata": {"name": "web"}, "spec": spec});
        let live = pod(
            json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 8}]}}}),
        );
        let fields =
            |paths: &[&[&str]]| paths.iter().map(|path| crate::object::FieldPath::of(path)).collect::<FieldSet>();
        let last = fields(&[&["spec", "affinity", "nodeAffinity"]]);
        assert_eq!(prune(&live, of, &last, &fields(&[&["spec", "affinity"]])), pod(json!({})));
    }

    #[test]
    fn an_item_that_somebody_else_has_stays() {
        let of = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |names: &[&str]| {
            let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "image": "a"})).collect();
            json!({"metadata": {"name": "web"}, "spec": {"containers": items}})
        };
        let live = pod(&["a", "b", "c"]);
        let managed = fields_of(&pod(&["a"]), of).union(&fields_of(&pod(&["c"]), of));
        assert_eq!(prune(&live, of, &fields_of(&live, of), &managed), pod(&["a", "c"]));
    }
}
