//! Items that manual changes added to keyed lists of the manifest: a container that was renamed manually keeps running next to the
//! container of the manifest. An apply leaves these items alone, so they are no differences.

use structured_merge::{FieldPath, FieldSet, Lookup, ManagedObject, PathElement};

use super::policy::Policy;

/// The list items that only manual changes own, in keyed lists in which `ours` has other items.
pub(super) fn added_items(live: &ManagedObject, ours: &FieldSet, policy: &Policy) -> Vec<FieldPath> {
    let ManagedObject { object, owners } = live;
    let mut found = Vec::new();
    for entry in owners.others.iter().filter(|entry| policy.is_manual(entry) && entry.subresource != "status") {
        collect(&entry.fields, ours, &FieldPath::root(), &mut found);
    }
    let manual = |path: &FieldPath| {
        let mut owning = owners.others.iter().filter(|entry| entry.fields.contains_at_or_below(path));
        owning.all(|entry| policy.is_manual(entry))
    };
    let mut live = Lookup::of(object);
    found.retain(|path| live.value(path).is_some() && manual(path));
    found.sort();
    found.dedup();
    found
}

/// Walks both sets at once, and collects each item of `theirs` that `ours` lacks in a list of which it has another item.
fn collect(theirs: &FieldSet, ours: &FieldSet, at: &FieldPath, found: &mut Vec<FieldPath>) {
    let is_item = |element: &PathElement| matches!(element, PathElement::Key(_));
    let is_list_of_ours = ours.nodes().any(|(element, _, _)| is_item(element));
    for (element, member, below) in theirs.nodes() {
        match ours.step(element) {
            Some((_, own)) => collect(below, own, &at.child(element.clone()), found),
            None if member && is_list_of_ours && is_item(element) => found.push(at.child(element.clone())),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn an_item_counts_in_a_list_of_ours_and_where_only_manual_changes_own_it() {
        let item = |name: &str| format!("k:{{\"name\":\"{name}\"}}");
        let fields = |names: &[&str]| -> Value {
            let items = names.iter().map(|name| (item(name), json!({".": {}, "f:name": {}, "f:image": {}})));
            json!({"f:spec": {"f:containers": items.collect::<serde_json::Map<_, _>>()}})
        };
        let entry = |manager: &str, operation: &str, fields: Value| json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields});
        let live = json!({
            "metadata": {"managedFields": [
                entry("kubectl-reconcile", "Apply", fields(&["web"])),
                entry("kubectl-edit", "Update", fields(&["web", "webx", "shared", "gone"])),
                entry("kubectl-edit", "Update", json!({"f:spec": {"f:volumes": {item("data"): {".": {}}}}})),
                entry("injector", "Update", fields(&["shared", "proxy"])),
            ]},
            "spec": {"containers": [{"name": "web"}, {"name": "webx"}, {"name": "shared"}, {"name": "proxy"}],
                     "volumes": [{"name": "data"}]},
        });
        let policy = Policy::of("kubectl-reconcile");
        let live = ManagedObject::new(live, &policy.manager);
        let found = added_items(&live, &live.owners.our_fields(), &policy);
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["spec.containers[name=webx]"]);
    }
}
