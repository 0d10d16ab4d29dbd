//! Removes the fields that the manager of an apply applied before and no longer applies, unless another manager has
//! them (structured-merge-diff `merge/update.go`, `prune`, and `typed/remove.go`).

use serde_json::{Map, Value};

use crate::merge::Values;
use crate::object::{FieldSet, PathElement};
use crate::schema::{TypeRef, fields_of, item_element, with_named_parents};

/// Removes from `merged` the fields of `last` (applied before) that are not in `managed` (the fields of others and of
/// the new manifest). Structs and items are removed whole when nothing in them is managed any more.
pub fn prune(merged: &Value, schema: TypeRef<'_>, last: &FieldSet, managed: &FieldSet) -> Value {
    prune_to(Values::Served, merged, schema, last, managed)
}

pub(crate) fn prune_to(
    values: Values,
    merged: &Value,
    schema: TypeRef<'_>,
    last: &FieldSet,
    managed: &FieldSet,
) -> Value {
    let fields = |object: &Value| with_named_parents(&fields_of(object, schema), schema);
    let last = with_named_parents(last, schema);
    let all = fields(merged);
    let left = fields(&without(merged, &last, schema, Values::Sent)).union(&with_named_parents(managed, schema));
    let back = without(merged, &all.difference(&left), schema, Values::Sent);
    let gone = all.difference(&fields(&back)).intersection(&last);
    without(merged, &gone, schema, values)
}

/// A value without these fields and items. A map or list that becomes empty is null, which still counts as a field; a
/// field of a Go type is never served as null.
fn without(value: &Value, gone: &FieldSet, schema: TypeRef<'_>, values: Values) -> Value {
    if gone.is_empty() {
        return value.clone();
    }
    match value {
        _ if schema.is_atomic(value) => Value::Null,
        Value::Object(map) => {
            let mut left = Map::new();
            // A struct that still has a null stays, even if the null is not served.
            let mut is_emptied = true;
            for (name, child) in map {
                let kept = match gone.step(&PathElement::Field(name.clone())) {
                    Some((true, _)) => continue,
                    Some((false, below)) => without(child, below, schema.field(name), values),
                    None => child.clone(),
                };
                is_emptied = false;
                if values == Values::Sent || !kept.is_null() || child.is_null() {
                    left.insert(name.clone(), kept);
                } else if schema.stores_as_sent() {
                    left.insert(name.clone(), schema.default_of_null(name).cloned().unwrap_or_default());
                }
            }
            if is_emptied { Value::Null } else { Value::Object(left) }
        }
        Value::Array(items) => {
            let kept = items.iter().filter_map(|item| {
                match item_element(item, schema).as_ref().and_then(|element| gone.step(element)) {
                    Some((true, _)) => None,
                    Some((false, below)) => Some(without(item, below, schema.item(), values)),
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
        let schema = builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).unwrap();
        let object = |context: Value| {
            json!({"metadata": {"name": "web"}, "spec": {"template": {"spec": {
            "containers": [{"name": "web", "image": "a", "securityContext": context, "terminationMessagePath": "/x"}]}}}})
        };
        let live = object(json!({"runAsUser": 1, "privileged": false}));
        let before = field_set(&object(json!({"runAsUser": 1})), schema, None);
        let mut manifest = object(json!({}));
        let container = manifest.pointer_mut("/spec/template/spec/containers/0").unwrap().as_object_mut().unwrap();
        container.remove("securityContext");
        let after = prune(&live, schema, &before, &fields_of(&manifest, schema));
        let container = &after["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container.get("securityContext"), None, "{after}");
        assert_eq!(container["terminationMessagePath"], "/x");
    }

    #[test]
    fn a_struct_around_what_was_emptied_stays() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |spec: Value| json!({"metadata": {"name": "web"}, "spec": spec});
        let live = pod(
            json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 8}]}}}),
        );
        let fields =
            |paths: &[&[&str]]| paths.iter().map(|path| crate::object::FieldPath::of(path)).collect::<FieldSet>();
        let last = fields(&[&["spec", "affinity", "nodeAffinity"]]);
        assert_eq!(prune(&live, schema, &last, &fields(&[&["spec", "affinity"]])), pod(json!({})));
    }

    #[test]
    fn an_item_that_somebody_else_has_stays() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |names: &[&str]| {
            let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "image": "a"})).collect();
            json!({"metadata": {"name": "web"}, "spec": {"containers": items}})
        };
        let live = pod(&["a", "b", "c"]);
        let managed = fields_of(&pod(&["a"]), schema).union(&fields_of(&pod(&["c"]), schema));
        assert_eq!(prune(&live, schema, &fields_of(&live, schema), &managed), pod(&["a", "c"]));
    }
}
