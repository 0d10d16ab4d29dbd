//! The kinds and namespaces in which the members of an apply set are looked for.

use apply_set::{GroupKind, Inventory};

/// The kinds and namespaces that may have members.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Those that the parent lists, as far as its list is trusted and the server still knows the kinds.
    pub listed: Inventory,
    /// Those of the manifests.
    pub mentioned: Inventory,
}

impl Coverage {
    /// Returns true if the parent lists a kind, in a namespace or at all.
    pub fn is_listed(&self, kind: &GroupKind, namespace: Option<&str>) -> bool {
        namespace.is_none_or(|name| self.listed.namespaces.contains(name))
            && (self.listed.kinds.contains(kind) || self.has_moved(kind))
    }

    /// Returns true if the parent lists a kind of the manifests under another group.
    pub fn has_moved(&self, kind: &GroupKind) -> bool {
        !self.listed.kinds.contains(kind)
            && self.mentioned.kinds.contains(kind)
            && self.listed.kinds.iter().any(|listed| listed.kind == kind.kind)
    }
}
