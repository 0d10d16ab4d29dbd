//! Stage 3, compare: what differs between the live object and what an apply would make of it, field by field, and whose
//! doing that is.
//!
//! ```text
//! manifest, live ─merge (local) or the server's answer─▶ Prediction ─changes─▶ paths ─classify─▶ ObjectDiff
//!                      owners of the live object and of the prediction ────────┘
//! ```
//! Pure: answers of the server come in as values.

mod beside;
mod bookkeeping;
mod changes;
mod claimants;
mod classify;
mod diff;
mod inquiry;
mod merge;
mod node_ports;
mod nulls;
mod owners;
mod patch;
mod path_stack;
mod prove;
mod prune;
mod redact;
mod refusal;
mod rejection;
mod replacement;
mod secrecy;
mod verdict;

pub use changes::{Change, Op, changes};
pub use classify::{ObjectPair, judge};
pub use diff::{Action, Class, Conflict, Evidence, FieldChange, ObjectDiff, Owner};
pub use inquiry::{EvidenceMode, Finding, Found, Questions};
pub use merge::{Prediction, predict, with_live_spelling};
pub use nulls::{leave_out_nulls, may_hold_refused_nulls};
pub use owners::{ForceConflicts, Owners, Policy, Replace};
pub use prove::{Proof, Unproven, prove};
pub use redact::{REDACTED, Redactor, withheld};
pub use refusal::{Refusal, refusal};
pub use replacement::{REPLACE, cost, probe_object, replace_guard};
pub use secrecy::Secrecy;
pub use verdict::{CompareContext, defines, offline, verdict};
