use std::fmt;

use structured_merge::{
    FieldPath, GroupKind, GroupVersionKind, LAST_APPLIED, ManagedFieldsEntry, ObjectKey, ObjectMeta as _, Operation,
    managed_fields,
};

use crate::id::PART_OF;
use crate::member::{Member, Unlisted};
use crate::parent::coded;

/// Decision about a member that no manifest names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneDecision {
    /// The object is deleted.
    Prune(Prunable),
    /// The object stays a member.
    Keep(Reason),
    /// The object stays although it has the label; the parent does not list it.
    Spare(Reason),
    /// The object is not a member although it has the label. Its namespace or definition may be deleted, and the object
    /// with it.
    NotAMember(Reason),
}

impl PruneDecision {
    /// Returns true if the object is deleted.
    pub fn is_prune(&self) -> bool {
        matches!(self, Self::Prune(_))
    }

    /// Reason why the object is not pruned.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Prune(_) => None,
            Self::Keep(reason) | Self::Spare(reason) | Self::NotAMember(reason) => Some(reason),
        }
    }
}

/// Proof of the decision to delete a member: the preconditions of the DELETE request. Only
/// [`DesiredMembers`](crate::DesiredMembers) creates one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prunable {
    uid: String,
    resource_version: String,
}

impl Prunable {
    pub(crate) fn of(member: &Member) -> Self {
        Self { uid: member.uid().to_owned(), resource_version: member.resource_version().to_owned() }
    }

    /// The uid of the object that was decided about.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The resource version of the object that was decided about.
    pub fn resource_version(&self) -> &str {
        &self.resource_version
    }
}

/// Reason why a member is not pruned although no manifest names it. As text, it continues "kept because".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The label names another set, or was removed.
    LeftTheSet,
    /// The object is the parent of the set.
    IsParent,
    /// `managedFields` does not record who set the label.
    LabelOwnerUnknown,
    /// This field manager, which is not trusted, set the label.
    LabelSetBy(String),
    /// This controller copied the labels of another object, and deletes the copy with it.
    LabelCopiedBy(String),
    /// The parent does not list the object.
    Unlisted {
        /// Reason why the parent does not list it.
        why: Unlisted,
        /// True if the parent is about to list its kind and namespace.
        is_next: bool,
    },
    /// The parent does not list the object, and its deletion would delete other objects.
    UnlistedContainer {
        /// The reason why it is not listed.
        why: Unlisted,
        /// Type of the object.
        gvk: GroupVersionKind,
    },
    /// The object has the annotation that keeps objects, as in `example.com/prune: keep`.
    Annotated(String),
    /// Another object owns the object.
    OwnedBy(ObjectKey),
    /// The object is the namespace of this one, which stays.
    NamespaceOf(ObjectKey),
    /// The object is the namespace of objects of this kind, which could not be listed.
    NamespaceOfUnseen(GroupKind),
    /// The object defines the kind of this one, which stays.
    Defines(ObjectKey),
    /// The object defines a kind whose objects could not be listed.
    DefinesUnseen,
    /// The run makes no deletions.
    NotChosen,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftTheSet => f.write_str("it is no longer in the apply set"),
            Self::IsParent => f.write_str("it is the apply set's own parent"),
            Self::LabelOwnerUnknown => {
                f.write_str("`managedFields` does not record who set the label of the apply set")
            }
            Self::LabelSetBy(manager) => write!(f, "the label was set by {}", coded(manager)),
            Self::LabelCopiedBy(manager) => {
                write!(f, "{} copied the label of the apply set from another object", coded(manager))
            }
            Self::Unlisted { why, is_next } => write!(f, "{why}{}", if *is_next { " yet" } else { "" }),
            Self::UnlistedContainer { why, gvk } => {
                write!(f, "{why}, and a {} is only deleted if it does", gvk.kind)
            }
            Self::Annotated(annotation) => write!(f, "of its annotation {}", coded(annotation)),
            Self::OwnedBy(owner) => write!(f, "{owner} owns it"),
            Self::NamespaceOf(object) => write!(f, "{object} is in it"),
            Self::NamespaceOfUnseen(kind) => write!(f, "its objects of kind `{kind}` cannot be listed"),
            Self::Defines(object) => write!(f, "it defines the kind of {object}"),
            Self::DefinesUnseen => f.write_str("its objects cannot be listed"),
            Self::NotChosen => f.write_str("this run makes no deletions"),
        }
    }
}

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
        && object.metadata("annotations").is_none_or(|annotations| annotations.get(LAST_APPLIED).is_none());
    Some(if is_followed {
        PruneDecision::NotAMember(Reason::LabelCopiedBy(manager))
    } else {
        PruneDecision::Spare(Reason::LabelSetBy(manager))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
