//! `--prune --applyset`: the manifests join an apply set, and its members that no manifest names any more are deleted.
//!
//! ```text
//! Requested ─prepare─▶ Planned ─list─▶ Listed ─judge─▶ Judged ─(shown)─▶ begin: the parent lists a superset ─▶ (the pass)
//!                                                                        ─▶ act: deletions ─▶ the parent lists the other members
//! ```
//! Each state is a type, so that the steps come in this order: nothing can be deleted that was not judged, and nothing can be judged
//! that was not listed. The crate `apply-set` decides what is deleted; `limits` holds all of it back until somebody allows it.

mod definitions;
mod delete;
mod judged;
mod limits;
mod listed;
mod parent;
mod place;
mod planned;
mod record;
mod search;

use reconcile_core::diagnostic::Diagnostic;

pub(crate) use definitions::parent_kinds;
pub(crate) use judged::{AfterPass, Judged};
pub(crate) use limits::Limits;
pub(crate) use parent::{ParentChange, is_own_tooling};
pub(crate) use place::places;
pub(crate) use planned::{Planned, Requested, reach};
pub(crate) use search::searchable;

/// An error that ends a run with an apply set before anything is compared or written.
#[derive(Debug)]
pub(crate) enum ApplySetError {
    /// The flags, the manifests or the parent do not allow it.
    Refused(Vec<Diagnostic>),
    /// The parent could not be read, so that nothing is known of the set.
    Unreadable(Diagnostic),
}

impl ApplySetError {
    /// The flags or the parent do not allow it; the hint says what is possible.
    pub(super) fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused(vec![Diagnostic::general(message).with_hint(hint)])
    }
}
