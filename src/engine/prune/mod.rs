//! `--prune --applyset`: the manifests join an apply set, and its members that no manifest names any more are deleted.
//!
//! ```text
//! Requested ─prepare─▶ Planned ─list─▶ Listed ─judge─▶ Judged ─(shown)─▶ begin: the parent lists a superset ─▶ (the pass)
//!                                                                        ─▶ act: deletions ─▶ the parent lists what is left
//! ```
//! Each state is a type, so that the steps come in this order: nothing can be deleted that was not judged, and nothing can be judged
//! that was not listed. What is decided, and why, is in the crate `apply-set`.

mod definitions;
mod delete;
mod entry;
mod find;
mod judged;
mod labelled;
mod listed;
mod parent;
mod planned;
mod reach;
mod reference;
mod write_parent;

pub(crate) use find::searchable;
pub(crate) use judged::{Judged, Left};
pub(crate) use planned::{Planned, Requested};
pub(crate) use reach::reach;
pub(crate) use reference::Reference;

use apply_set::{GroupKind, Inventory};

use crate::diagnostic::Diagnostic;

/// Where members may be.
#[derive(Debug, Default)]
struct Coverage {
    /// Where the parent says that there are members, as far as that counts and the server still knows the kinds.
    listed: Inventory,
    /// Where the manifests put objects.
    mentioned: Inventory,
}

impl Coverage {
    /// Returns true if the parent lists a kind, in a namespace or at all.
    fn is_listed(&self, kind: &GroupKind, namespace: Option<&str>) -> bool {
        namespace.is_none_or(|name| self.listed.namespaces.contains(name))
            && (self.listed.kinds.contains(kind) || self.has_moved(kind))
    }

    /// Returns true if the parent lists a kind of the manifests under another group.
    fn has_moved(&self, kind: &GroupKind) -> bool {
        !self.listed.kinds.contains(kind)
            && self.mentioned.kinds.contains(kind)
            && self.listed.kinds.iter().any(|listed| listed.kind == kind.kind)
    }
}

/// What the report says of the set as a whole.
#[derive(Debug, Default)]
struct Notes {
    warnings: Vec<String>,
    errors: Vec<Diagnostic>,
}
