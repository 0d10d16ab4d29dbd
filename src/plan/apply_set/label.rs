use structured_merge::{
    Applier as _, FieldPath, LAST_APPLIED, ManagedFieldsEntry, ObjectMeta as _, Operation, managed_fields,
};

use super::decision::{Member, PruneDecision};
use crate::compare::Policy;
use crate::object::PART_OF;

/// Why the label alone does not make an object a member: somebody else set it. The label is public, and copies of an object
/// carry it as well; only the record of owners tells who meant it. Our own manager, those to adopt and manual changes mean it.
pub(super) fn set_by_another(Member { key, object, .. }: &Member, policy: &Policy) -> Option<PruneDecision> {
    let label = FieldPath::of(&["metadata", "labels", PART_OF]);
    let entries = managed_fields(object);
    let owners: Vec<&ManagedFieldsEntry> = entries.iter().filter(|entry| entry.fields.contains(&label)).collect();
    let means_it = |entry: &&ManagedFieldsEntry| {
        entry.manager == policy.manager || policy.adopts(entry) || policy.is_manual(entry)
    };
    if owners.iter().any(means_it) {
        return None;
    }
    let Some(first) = owners.first() else {
        return Some(PruneDecision::Spared(
            "kept because it is not recorded who set the label of the apply set".to_owned(),
        ));
    };
    let manager = &first.manager;
    // The controllers behind these two give theirs the labels of the Service, and take them along when it goes.
    let is_followed = ["Endpoints", "EndpointSlice"].contains(&key.gvk.kind.as_str())
        && owners.iter().all(|entry| entry.operation == Operation::Update)
        && object.annotation(LAST_APPLIED).is_none();
    Some(if is_followed {
        PruneDecision::NotAMember(format!(
            "kept because `{manager}` copied the label of the apply set from another object"
        ))
    } else {
        PruneDecision::Spared(format!("kept because the label was set by `{manager}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Resource;
    use serde_json::{Value, json};
    use structured_merge::GroupVersionKind;

    fn fate(kind: &str, entries: &Value, policy: &Policy) -> Option<PruneDecision> {
        let gvk = GroupVersionKind::new("v1", kind);
        let resource =
            Resource { gvk, plural: kind.into(), namespaced: true, verbs: [].into(), status: false, pending: false };
        let metadata = json!({"name": "it", "labels": {PART_OF: "set"}, "managedFields": entries});
        set_by_another(&Member::new(&resource, json!({"metadata": metadata})), policy)
    }

    fn entry(manager: &str, operation: &str) -> Value {
        let fields = json!({"f:metadata": {"f:labels": {format!("f:{PART_OF}"): {}}}});
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields})
    }

    #[test]
    fn only_who_means_the_label_makes_a_member() {
        let policy = Policy { adopt: ["helm".to_owned()].into(), ..Policy::of("us") };
        for (manager, operation, is_member) in [
            ("us", "Apply", true),
            ("us", "Update", true),
            ("helm", "Apply", true),
            ("helm", "Update", true),
            ("kubectl-client-side-apply", "Update", true),
            ("kubectl-label", "Update", true),
            ("before-first-apply", "Update", true),
            ("kubectl", "Apply", false),
            ("mallory", "Update", false),
            ("mallory", "Apply", false),
            ("velero-server", "Update", false),
        ] {
            let fate = fate("ConfigMap", &json!([entry(manager, operation)]), &policy);
            assert_eq!(fate.is_none(), is_member, "{manager}");
            if let Some(fate) = fate {
                assert_eq!(fate, PruneDecision::Spared(format!("kept because the label was set by `{manager}`")));
            }
        }
        let both = json!([entry("mallory", "Apply"), entry("us", "Apply")]);
        assert_eq!(fate("ConfigMap", &both, &policy), None, "whoever else says the same");
    }

    #[test]
    fn a_label_that_nobody_is_recorded_to_own_makes_no_member() {
        let policy = Policy::of("us");
        let all_labels = json!({"f:metadata": {"f:labels": {".": {}}}});
        let others = json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}}});
        let unreadable = json!({"f:metadata": {"f:labels": {format!("x:{PART_OF}"): {}}}});
        for fields in [all_labels, others, unreadable] {
            let entries = json!([{"manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields}]);
            assert!(matches!(fate("ConfigMap", &entries, &policy), Some(PruneDecision::Spared(_))), "{entries}");
        }
        assert!(matches!(fate("ConfigMap", &json!([]), &policy), Some(PruneDecision::Spared(_))));
    }

    #[test]
    fn a_controller_that_copies_labels_is_known() {
        let policy = Policy::of("us");
        for (manager, operation, is_copy) in [("kube-controller-manager", "Update", true), ("gitops", "Apply", false)] {
            let fate = fate("Endpoints", &json!([entry(manager, operation)]), &policy);
            assert_eq!(matches!(fate, Some(PruneDecision::NotAMember(_))), is_copy, "{fate:?}");
        }
        assert_eq!(fate("Endpoints", &json!([entry("us", "Apply")]), &policy), None);
    }
}
