//! Stage 3, compare: what differs between the live object and what an apply would make of it, field by field, and whose
//! doing that is.
//!
//! ```text
//! manifest, live ─merge (local) or the server's answer─▶ Prediction ─changes─▶ paths ─classify─▶ ObjectDiff
//!                      owners of the live object and of the prediction ────────┘
//! ```
//! Pure: answers of the server come in as values.

mod beside;
mod classify;
mod diff;
mod inquiry;
mod nulls;
mod patch;
mod policy;
mod prediction;
mod redact;
mod refusal;
mod rejection;
mod replacement;
mod secrecy;
mod verdict;

pub use classify::{ObjectPair, judge};
pub use diff::{Action, Class, Conflict, Evidence, FieldChange, ObjectDiff, Owner};
pub use inquiry::{Finding, Found, Questions};
pub use nulls::{leave_out_nulls, may_hold_refused_nulls};
pub use policy::{EvidenceMode, ForceConflicts, Policy, Replace};
pub use prediction::{Prediction, predict};
pub use redact::{REDACTED, Redactor, withheld};
pub use refusal::{Refusal, refusal};
pub use replacement::{REPLACE, cost, probe_object, replace_guard};
pub use secrecy::Secrecy;
pub use verdict::{CompareContext, defines, offline, verdict};
