//! `--prune --applyset`: the manifests join an apply set, and its members that no manifest names any more are deleted.
//!
//! ```text
//! Requested ─prepare─▶ Planned ─list─▶ Listed ─judge─▶ Judged ─(shown)─▶ begin: the parent lists a superset ─▶ (the pass)
//!                                                                        ─▶ act: deletions ─▶ the parent lists the other members
//! ```
//! Each state is a type, so that the steps come in this order: nothing can be deleted that was not judged, and nothing can be judged
//! that was not listed. The crate `apply-set` decides what is deleted.

mod coverage;
mod definitions;
mod delete;
mod entry;
mod error;
mod find;
mod judged;
mod labelled;
mod listed;
mod listed_member;
mod parent;
mod planned;
mod reach;
mod reference;
mod write_parent;

pub(crate) use definitions::parent_kinds;
pub(crate) use error::ApplySetError;
pub(crate) use find::searchable;
pub(crate) use judged::{Judged, Unapplied};
pub(crate) use parent::{ParentChange, is_own_tooling};
pub(crate) use planned::{Planned, Requested};
pub(crate) use reach::reach;
pub(crate) use reference::ParentReference;
