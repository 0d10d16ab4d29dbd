//! Compares two versions of an object: every difference with its class and its owners, and redacted for a Secret.
//!
//! Items that manual changes added to keyed lists of the manifest are no differences, because an apply leaves them alone: a container
//! that was renamed manually keeps running next to the container of the manifest.

use serde_json::Value;
use structured_merge::{
    Change, FieldPath, FieldSet, GroupVersionKind, KindInfo, LAST_APPLIED, Lookup, ManagedFieldsEntry, ManagedObject,
    Op, PathElement, changes, leave_out_bookkeeping, merge, owners_with_string_data, unrecorded, whole_value,
    with_node_ports, with_string_data_folded,
};

use crate::compare::classify::Classifier;
use crate::compare::classify::base::BaseComparison;
use crate::compare::classify::conflicts::values_of;
use crate::compare::diff::{Class, Evidence, FieldChange, UnmanagedCount};
use crate::compare::live_object::LiveObject;
use crate::compare::object_diff::{DiffNotes, ObjectDiff};
use crate::compare::policy::{ForceConflicts, Policy};
use crate::compare::prediction::{CompareContext, Prediction};
use crate::compare::secrecy::Secrecy;
use crate::compare::secrecy::redact::Redactor;
use crate::live::Target;
use crate::manifest::Packed;
use crate::object::RBAC;

/// Classifies the changes that an apply would make. The texts are warnings for the author of the manifest.
pub fn judge(
    context: CompareContext<'_>,
    live: &LiveObject,
    prediction: &Prediction,
    redactor: &Redactor,
) -> (ObjectDiff, Vec<String>) {
    let CompareContext { target, schema, policy, .. } = context;
    let object = &live.current.object;
    let before_first_apply = owner_before_first_apply(context, object);
    let mut differences = changes(object, &prediction.object, schema, target.status_is_apart());
    leave_out_bookkeeping(&mut differences, &target.key.gvk, live.sent(target), schema);
    join_rules(&mut differences, &target.key.gvk, object, prediction);
    let others = owners_with_string_data(&target.key.gvk, &live.current.owners.others);
    let classifier = Classifier::new(context, (live, &others), before_first_apply.as_ref(), &differences, prediction);

    let mut found = differing(context, live, &classifier, differences);
    // Nothing follows from nothing: a policy that came after the object changes it, for example.
    if !found.iter().any(FieldChange::is_drift) {
        let following = found.iter_mut().filter(|change| change.class == Class::Consequence);
        following.for_each(|change| change.reclassify(Class::Unrecorded));
    }
    let conflicts = classifier.contested.conflicts(&found);
    // Lists of a kind with unknown types are compared by position: items that others added would seem to override ours.
    if prediction.evidence != Evidence::Proven && schema.declares("kind") {
        found.extend(overridden(context, live, prediction, &found));
    }
    let mut values = Lookup::of(object);
    let mut warnings = add_released(context, live, &classifier, &mut values, &mut found);
    let is_settled = |change: &FieldChange| change.is_drift() || change.class == Class::Released;
    if !found.iter().any(is_settled) && classifier.is_adopting(&prediction.owners) {
        found.push(FieldChange::of_object(Op::Change, Class::Adopted));
    }
    // What was added to a list is there whatever its order.
    let differs = found.iter().filter(|change| change.is_drift() && change.op != Op::Move);
    let differs: FieldSet = differs.map(|change| change.path.clone()).collect();
    let left_out = classifier.left_out();
    let mut added = added_items(&live.current, &prediction.owners.our_fields(), policy);
    added.retain(|path| !left_out.contains_at_or_above(path) && !differs.overlaps(path));
    let unmanaged = classifier.unmanaged(object, &mut values, &found, &left_out);
    let counted = UnmanagedCount::of(&unmanaged);
    if policy.show_unmanaged {
        found.extend(unmanaged);
    }

    for change in &mut found {
        let whole = whole_value(&change.path, schema);
        change.part_of = (whole != change.path).then(|| whole.into());
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let base = target.base.get().map(|base| BaseComparison::of(context, live, prediction, base));
    if let Some(base) = &base {
        for change in &mut found {
            classifier.settle_by_base(base, change);
        }
        warnings.extend(classifier.kept(base, &mut values, &found));
    }
    redact(context, object, prediction, base.as_ref().map(BaseComparison::object), redactor, &mut found);
    let notes = DiffNotes { unmanaged: counted, ..DiffNotes::default() }.into();
    let diff =
        ObjectDiff { changes: found, conflicts, added_items: added, notes, ..ObjectDiff::in_sync(prediction.evidence) };
    (diff.by_drift(), warnings)
}

/// Joins the differences inside the rules of a role: the list is one value, and only as a whole it says what is granted.
fn join_rules(differences: &mut Vec<Change>, gvk: &GroupVersionKind, live: &Value, prediction: &Prediction) {
    let rules = FieldPath::of(&["rules"]);
    let is_role = gvk.group == RBAC && ["ClusterRole", "Role"].contains(&gvk.kind.as_str());
    let is_inside = |change: &Change| change.path != rules && rules.is_prefix_of(&change.path);
    if !is_role || !differences.iter().any(is_inside) {
        return;
    }
    differences.retain(|change| !is_inside(change));
    let from = live.get("rules").cloned();
    let to = prediction.object.get("rules").cloned();
    differences.push(Change { path: rules, op: Op::Change, from, to });
}

/// The differences that count, with their classes, and the conflicts without a difference if they block the apply.
fn differing(
    context: CompareContext<'_>,
    live: &LiveObject,
    classifier: &Classifier<'_>,
    differences: Vec<Change>,
) -> Vec<FieldChange> {
    let manifest = live.sent(context.target);
    let mut found = classifier.classified(differences);
    // The last-applied annotation is removed together with its owner, whose claims are transferred to us.
    let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
    found.retain(|change| change.op != Op::Remove || change.path != copy);
    found.retain(|change| !live.ignores(&change.path));
    if context.policy.force == ForceConflicts::None {
        let without_difference = classifier.contested.without_difference(live, manifest, &found);
        found.extend(without_difference);
    }
    let mut manifest = Lookup::of(manifest);
    for change in &mut found {
        change.defaulted = defaulted(change, &mut manifest);
    }
    found
}

/// Adds the fields that we give up and other managers keep. Returns warnings about the fields that stay without an owner.
fn add_released(
    context: CompareContext<'_>,
    live: &LiveObject,
    classifier: &Classifier<'_>,
    values: &mut Lookup<'_>,
    found: &mut Vec<FieldChange>,
) -> Vec<String> {
    let gvk = &context.target.key.gvk;
    let mut warnings = Vec::new();
    let mut kept = Vec::new();
    for change in classifier.released(values, found) {
        match change {
            change if live.ignores(&change.path) => {}
            change if !change.managers.is_empty() => found.push(change),
            change => match kept_string_data(gvk, &change.path) {
                Some(warning) => warnings.push(warning),
                None if classifier.has_default(&change.path, values) => {}
                None => kept.push(change.path),
            },
        }
    }
    warnings.extend(classifier.kept_by_server(kept.iter().collect()));
    warnings
}

/// Replaces the secret values of changes.
fn redact(
    context: CompareContext<'_>,
    live: &Value,
    prediction: &Prediction,
    base: Option<&Value>,
    redactor: &Redactor,
    found: &mut [FieldChange],
) {
    if found.is_empty() {
        return;
    }
    let Target { key, desired, .. } = context.target;
    let secrecy = Secrecy::of(&key.gvk, Some(desired.object()), Some(live));
    let secrecy = secrecy.with_result(&prediction.object).of_encrypted(desired.origin.is_encrypted);
    let of_base = match base {
        Some(base) => secrecy.clone().with_base(&key.gvk, base),
        None => secrecy.clone(),
    };
    for change in found {
        for value in [&mut change.live, &mut change.desired].into_iter().flatten() {
            *value = Packed::tree(redactor.value(&secrecy, &change.path, value));
        }
        if let Some(value) = &mut change.base {
            *value = redactor.value(&of_base, &change.path, value);
        }
    }
}

/// The owner that the server invents for an object without a record of owners.
fn owner_before_first_apply(context: CompareContext<'_>, live: &Value) -> Option<ManagedFieldsEntry> {
    let CompareContext { target, schema, .. } = context;
    let gvk = &target.key.gvk;
    let kind = KindInfo { gvk: gvk.clone(), root: 0, namespaced: false, status: target.status_is_apart() };
    unrecorded(live, schema, Some(&kind), &gvk.api_version())
}

/// The fields of an added value that the manifest does not have.
fn defaulted(change: &FieldChange, manifest: &mut Lookup<'_>) -> Vec<FieldPath> {
    let mut defaulted = Vec::new();
    if let (Op::Add, Some(value)) = (change.op, &change.desired)
        && let Some(written) = manifest.value(&change.path)
    {
        collect_defaulted(&mut defaulted, &FieldPath::root(), value, written);
    }
    defaulted
}

fn collect_defaulted(defaulted: &mut Vec<FieldPath>, path: &FieldPath, value: &Value, written: &Value) {
    match (value, written) {
        (Value::Object(fields), Value::Object(written)) => {
            for (name, value) in fields {
                let path = path.field(name);
                match written.get(name) {
                    Some(written) => collect_defaulted(defaulted, &path, value, written),
                    None => defaulted.push(path),
                }
            }
        }
        (Value::Array(items), Value::Array(written)) if items.len() == written.len() => {
            for (at, (item, written)) in items.iter().zip(written).enumerate() {
                collect_defaulted(defaulted, &path.child(PathElement::index(at)), item, written);
            }
        }
        _ => {}
    }
}

/// The fields where an apply changes nothing, although the manifest has another value: admission or the server keeps its own.
fn overridden(
    context: CompareContext<'_>,
    live: &LiveObject,
    prediction: &Prediction,
    found: &[FieldChange],
) -> Vec<FieldChange> {
    let CompareContext { target, schema, .. } = context;
    let sent = live.sent(target);
    let manifest = with_node_ports(with_string_data_folded(sent), &prediction.object, schema);
    let wanted = merge(&manifest, &prediction.object, schema);
    let differs = values_of(found);
    let mut kept = changes(&prediction.object, &wanted, schema, target.status_is_apart());
    leave_out_bookkeeping(&mut kept, &target.key.gvk, sent, schema);
    kept.into_iter()
        .filter(|change| !differs.overlaps(&change.path))
        .filter(|change| change.op != Op::Move)
        .map(|change| FieldChange::new(change, Class::Overridden))
        .collect()
}

/// The warning about a key that was set through `stringData`: when the manifest drops it, it stays in `data`.
fn kept_string_data(gvk: &GroupVersionKind, path: &FieldPath) -> Option<String> {
    let is_data = matches!(path.elements(), [PathElement::Field(first), _] if first == "data");
    (gvk.is_secret() && is_data).then(|| {
        format!("`{path}` stays in the cluster: it was set through `stringData`, from which the API removes nothing")
    })
}

/// The list items that only manual changes own, in keyed lists in which `ours` has other items.
pub(crate) fn added_items(live: &ManagedObject, ours: &FieldSet, policy: &Policy) -> Vec<FieldPath> {
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
