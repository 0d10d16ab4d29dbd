use serde_json::Value;
use structured_merge::{FieldPath, LAST_APPLIED, ManagedFieldsEntry, Operation, managed_fields};

use crate::decision::{PruneDecision, Reason};
use crate::id::PART_OF;
use crate::member::Member;

/// Returns true for an entry of `managedFields` whose label of the set makes a member. Anybody can set the label, and
/// copies of an object have it as well.
pub type Trust = dyn Fn(&ManagedFieldsEntry) -> bool + Send + Sync;

/// The decision about an object whose label was set by a manager that is not trusted. Anybody can set the label, and
/// copies of an object have it as well; only `managedFields` records who set it.
pub(crate) fn set_by_another(Member { key, object, .. }: &Member, trust: &Trust) -> Option<PruneDecision> {
    let label = FieldPath::of(&["metadata", "labels", PART_OF]);
    let entries = managed_fields(object);
    let owners: Vec<&ManagedFieldsEntry> = entries.iter().filter(|entry| entry.fields.contains(&label)).collect();
    if owners.iter().any(|entry| trust(entry)) {
        return None;
    }
    let Some(first) = owners.first() else { return Some(PruneDecision::Spare(Reason::LabelOwnerUnknown)) };
    let manager = first.manager.clone();
    // The controllers of these two kinds copy the labels of the Service, and delete the copies with it.
    let is_followed = ["Endpoints", "EndpointSlice"].contains(&key.gvk.kind.as_str())
        && owners.iter().all(|entry| entry.operation == Operation::Update)
        && annotation(object, LAST_APPLIED).is_none();
    Some(if is_followed {
        PruneDecision::NotAMember(Reason::LabelCopiedBy(manager))
    } else {
        PruneDecision::Spare(Reason::LabelSetBy(manager))
    })
}

fn annotation<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    object.pointer("/metadata/annotations")?.get(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;

    /// Trusts any entry of `us`, and the updates of `kubectl label`.
    fn decision(kind: &str, entries: &Value) -> Option<PruneDecision> {
        let metadata = json!({"name": "it", "labels": {PART_OF: "set"}, "managedFields": entries});
        let member = Member::new(GroupVersionKind::new("v1", kind), json!({"metadata": metadata}));
        set_by_another(&member, &|entry| {
            entry.manager == "us" || entry.manager == "kubectl-label" && entry.operation == Operation::Update
        })
    }

    fn entry(manager: &str, operation: &str) -> Value {
        let fields = json!({"f:metadata": {"f:labels": {format!("f:{PART_OF}"): {}}}});
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields})
    }

    #[test]
    fn only_a_trusted_owner_of_the_label_makes_a_member() {
        for (manager, operation, is_member) in [
            ("us", "Apply", true),
            ("us", "Update", true),
            ("kubectl-label", "Update", true),
            ("kubectl-label", "Apply", false),
            ("mallory", "Update", false),
            ("mallory", "Apply", false),
        ] {
            let decision = decision("ConfigMap", &json!([entry(manager, operation)]));
            let refused = PruneDecision::Spare(Reason::LabelSetBy(manager.to_owned()));
            assert_eq!(decision, (!is_member).then_some(refused), "{manager}");
        }
        let both = json!([entry("mallory", "Apply"), entry("us", "Apply")]);
        assert_eq!(decision("ConfigMap", &both), None, "no matter who else says the same");
    }

    #[test]
    fn a_label_that_nobody_is_recorded_to_own_makes_no_member() {
        let all_labels = json!({"f:metadata": {"f:labels": {".": {}}}});
        let others = json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}}});
        let unreadable = json!({"f:metadata": {"f:labels": {format!("x:{PART_OF}"): {}}}});
        let unknown = Some(PruneDecision::Spare(Reason::LabelOwnerUnknown));
        for fields in [all_labels, others, unreadable] {
            let entries = json!([{"manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields}]);
            assert_eq!(decision("ConfigMap", &entries), unknown, "{entries}");
        }
        assert_eq!(decision("ConfigMap", &json!([])), unknown);
    }

    #[test]
    fn a_controller_that_copies_labels_is_known() {
        for (manager, operation, is_copy) in [("kube-controller-manager", "Update", true), ("gitops", "Apply", false)] {
            let decision = decision("Endpoints", &json!([entry(manager, operation)]));
            assert_eq!(matches!(decision, Some(PruneDecision::NotAMember(_))), is_copy, "{decision:?}");
        }
        assert_eq!(decision("Endpoints", &json!([entry("us", "Apply")])), None);
    }
}
