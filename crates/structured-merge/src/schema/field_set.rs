//! The set of fields that a manifest claims when it is applied (structured-merge-diff `typed/tofieldset.go`, and
//! apimachinery `managedfields/internal/stripmeta.go` for what is never owned).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::table::{KindInfo, ListKind, ScalarKind, Shape};
use super::type_ref::{TypeRef, item_element};
use crate::object::{FieldPath, FieldSet, PathElement};

/// Fields of every object that no apply owns.
const STRIPPED: [&[&str]; 12] = [
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

/// The fields that applying `manifest` claims, without those that the server resets for `kind` (`status`).
pub fn field_set(manifest: &Value, schema: TypeRef<'_>, kind: Option<&KindInfo>) -> FieldSet {
    without_unowned(fields_of(manifest, schema), kind)
}

/// The set without the fields that no manager owns: those of every object, and those that the server resets for `kind`.
pub(crate) fn without_unowned(mut set: FieldSet, kind: Option<&KindInfo>) -> FieldSet {
    static PATHS: LazyLock<[FieldPath; STRIPPED.len()]> = LazyLock::new(|| STRIPPED.map(FieldPath::of));
    PATHS.iter().for_each(|path| set.remove(path.elements()));
    for name in kind.map(KindInfo::resets).unwrap_or_default() {
        set.remove_field(name);
    }
    set
}

/// All fields of a value, as structured-merge-diff's `ToFieldSet` returns them.
pub fn fields_of(value: &Value, schema: TypeRef<'_>) -> FieldSet {
    claims(value, schema).1
}

/// The set with the structs on its paths: the paths of declared fields become members (`fieldpath/set.go`,
/// `EnsureNamedFieldsAreMembers`).
pub fn with_named_parents(set: &FieldSet, schema: TypeRef<'_>) -> FieldSet {
    let mut named = FieldSet::new();
    for (element, member, below) in set.nodes() {
        let is_declared = matches!(element, PathElement::Field(name) if schema.declares(name));
        named.graft(element.clone(), member || is_declared, with_named_parents(below, schema.step(element)));
    }
    named
}

/// Returns true if the fields of an entry are in the form that the server keeps now: no paths within values that are
/// replaced as a whole. An entry from before such a change of the type is rewritten by the next apply of any manager
/// (`typed/reconcile_schema.go`).
pub fn is_current(set: &FieldSet, schema: TypeRef<'_>) -> bool {
    set.nodes().all(|(element, _, below)| {
        let child = schema.step(element);
        below.is_empty() || !is_recorded_whole(child) && is_current(below, child)
    })
}

/// The fields of an entry in the form that the server keeps now, so that [`is_current`] is true.
pub fn brought_up_to_date(set: &FieldSet, schema: TypeRef<'_>) -> FieldSet {
    let mut current = FieldSet::new();
    for (element, is_member, below) in set.nodes() {
        let child = schema.step(element);
        if is_recorded_whole(child) {
            current.graft(element.clone(), true, FieldSet::new());
        } else {
            current.graft(element.clone(), is_member, brought_up_to_date(below, child));
        }
    }
    current
}

/// Returns true if no entry has paths within a value of this type. The paths of an old entry in an atomic map without
/// declared fields, and with entries of any type, stay as they are (`typed/reconcile_schema.go`,
/// `isUntypedDeducedMap`).
fn is_recorded_whole(schema: TypeRef<'_>) -> bool {
    let is_of_anything = match (schema.shape(), schema.field("").shape()) {
        (Shape::Map(map), Shape::Untyped | Shape::Scalar(ScalarKind::Any | ScalarKind::IntOrString)) => {
            map.fields.is_empty()
        }
        _ => false,
    };
    schema.is_atomic_type() && !is_of_anything
}

/// The claims of a value: true if it claims its own path, and the paths below.
fn claims(value: &Value, schema: TypeRef<'_>) -> (bool, FieldSet) {
    match value {
        _ if schema.is_atomic(value) => (true, FieldSet::new()),
        Value::Object(map) if !map.is_empty() => {
            let mut set = FieldSet::new();
            for (name, child) in map {
                let (member, below) = claims(child, schema.field(name));
                set.graft(PathElement::Field(name.clone()), member || !schema.declares(name), below);
            }
            (false, set)
        }
        Value::Array(items) if matches!(schema.shape(), Shape::List(ListKind::Set | ListKind::Keyed(_), _)) => {
            let mut set = FieldSet::new();
            let elements: Vec<_> = items.iter().map(|item| item_element(item, schema)).collect();
            let mut sorted: Vec<_> = elements.iter().flatten().collect();
            sorted.sort();
            let repeated: BTreeSet<_> = sorted
                .iter()
                .zip(sorted.iter().skip(1))
                .filter(|(one, next)| one == next)
                .map(|(one, _)| *one)
                .collect();
            for (item, element) in items.iter().zip(&elements) {
                let Some(element) = element else { continue };
                let has_fields = *schema.list_kind() != ListKind::Set && !repeated.contains(element);
                let below = if has_fields { claims(item, schema.item()).1 } else { FieldSet::new() };
                set.graft(element.clone(), true, below);
            }
            (false, set)
        }
        _ => (true, FieldSet::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::builtin;
    use serde_json::json;

    #[test]
    fn only_the_metadata_of_the_system_is_not_claimed() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "ConfigMap")).unwrap();
        let claims = |metadata: Value| field_set(&json!({"metadata": metadata}), schema, None).to_fields_v1();
        assert_eq!(claims(json!({})), json!({}));
        assert_eq!(
            claims(json!({"name": "a", "uid": "1", "labels": {"a": "b"}})),
            json!({"f:metadata": {"f:labels": {"f:a": {}}}})
        );
    }
}
