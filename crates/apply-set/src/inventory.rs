use std::collections::BTreeSet;

use structured_merge::ObjectKey;

use crate::group_kind::GroupKind;

/// Kinds and namespaces of the members of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Kinds of the members.
    pub kinds: BTreeSet<GroupKind>,
    /// Namespaces of the members, including the parent's own.
    pub namespaces: BTreeSet<String>,
}

impl Inventory {
    /// Adds the kind and the namespace of a member.
    pub fn add(&mut self, member: &ObjectKey) {
        self.kinds.insert(GroupKind::from(&member.gvk));
        self.namespaces.extend(member.namespace.clone());
    }

    /// The kinds and namespaces of both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            kinds: self.kinds.union(&other.kinds).cloned().collect(),
            namespaces: self.namespaces.union(&other.namespaces).cloned().collect(),
        }
    }

    /// Returns true if it has this kind, and this namespace if there is one.
    pub fn covers(&self, kind: &GroupKind, namespace: Option<&str>) -> bool {
        self.kinds.contains(kind) && namespace.is_none_or(|name| self.namespaces.contains(name))
    }
}
