//! Where the members of an apply set are looked for.

use apply_set::{GroupKind, Inventory};

/// Where members may be.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Where the parent says that there are members, as far as that counts and the server still knows the kinds.
    pub listed: Inventory,
    /// Where the manifests put objects.
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
