use std::collections::BTreeSet;

use structured_merge::ObjectKey;

use crate::group_kind::GroupKind;

/// Where the members of a set are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Their kinds.
    pub kinds: BTreeSet<GroupKind>,
    /// Their namespaces, the parent's own included.
    pub namespaces: BTreeSet<String>,
}

impl Inventory {
    /// Adds the place of a member.
    pub fn add(&mut self, member: &ObjectKey) {
        self.kinds.insert(GroupKind::from(&member.gvk));
        self.namespaces.extend(member.namespace.clone());
    }

    /// Both together.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            kinds: self.kinds.union(&other.kinds).cloned().collect(),
            namespaces: self.namespaces.union(&other.namespaces).cloned().collect(),
        }
    }

    /// Returns true if members of this kind, in this namespace where it has one, are in it.
    #[must_use]
    pub fn covers(&self, kind: &GroupKind, namespace: Option<&str>) -> bool {
        self.kinds.contains(kind) && namespace.is_none_or(|name| self.namespaces.contains(name))
    }
}
