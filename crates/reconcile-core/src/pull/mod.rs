//! From live values to edits of the manifests: which changes are taken, where each of them is in its file, and what is written there.
//!
//! ```text
//! changes of an object ─ Selection ─▶ chosen ─ place, value ─▶ Proposal (edit, or the reason why there is none)
//! ```

mod defaults;
mod emptied;
pub mod kustomize;
mod meaning;
mod order;
mod place;
mod proposal;
mod secret_lines;
mod selection;
mod switch;
mod unmatched;

pub use meaning::{Accepted, is_meant, made_together};
pub use proposal::{Obstacle, Proposal, Proposer, needs_live, with_changes};
pub use secret_lines::{may_hold_secrets, secret_lines, secret_lines_of_kustomization};
pub use selection::{ObjectName, PULLED, Selection, is_obeyed};
pub use switch::other_halves;
pub use unmatched::Unmatched;
