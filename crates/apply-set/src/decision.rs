use std::fmt;

use structured_merge::{GroupKind, GroupVersionKind, ObjectKey};

use crate::member::{Member, Unlisted};

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
            Self::LabelSetBy(manager) => write!(f, "the label was set by `{manager}`"),
            Self::LabelCopiedBy(manager) => {
                write!(f, "`{manager}` copied the label of the apply set from another object")
            }
            Self::Unlisted { why, is_next } => write!(f, "{why}{}", if *is_next { " yet" } else { "" }),
            Self::UnlistedContainer { why, gvk } => {
                write!(f, "{why}, and a {} is only deleted if it does", gvk.kind)
            }
            Self::Annotated(annotation) => write!(f, "of its annotation `{annotation}`"),
            Self::OwnedBy(owner) => write!(f, "{owner} owns it"),
            Self::NamespaceOf(object) => write!(f, "{object} is in it"),
            Self::NamespaceOfUnseen(kind) => write!(f, "its objects of kind `{kind}` cannot be listed"),
            Self::Defines(object) => write!(f, "it defines the kind of {object}"),
            Self::DefinesUnseen => f.write_str("its objects cannot be listed"),
            Self::NotChosen => f.write_str("this run makes no deletions"),
        }
    }
}
