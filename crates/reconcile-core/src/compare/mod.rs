//! Stage 3, compare: the differences between a live object and the object that an apply would leave, field by field, and the
//! manager that made each of them.
//!
//! ```text
//! manifest, LiveState ─ComparisonMachine─▶ ComparisonResult ─decide─▶ Decision, with the ObjectVerdict
//!                        │         ▲
//!                     Question   Answer      (engine::dry_run sends and receives them)
//! ```
//! The `structured-merge` crate merges, proves and reads ownership; this module makes the decisions of this tool. It is pure:
//! the server's answers come in as values.

mod base;
mod classify;
mod conflicts;
mod decision;
mod diff;
mod effect;
mod ignored_values;
mod judge;
mod machine;
mod membership;
mod nulls;
mod object_verdict;
mod offline;
mod only;
mod patch;
mod policy;
mod prediction;
mod redact;
mod refusal;
mod rejection;
// Numbers of live objects.
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
mod replacement;
mod secrecy;
mod versions;
mod wanted;

pub use decision::{CompareContext, ComparisonResult, Decision, LiveObject, decide};
pub use diff::{
    Action, Class, Conflict, Evidence, FieldChange, FieldDiff, IgnoredFields, LeftDifference, Reason, Replacement,
    Side, UnmanagedCount,
};
pub use effect::{Effect, EffectKind};
pub use judge::judge;
pub use machine::{Answer, ComparisonMachine, Question, ROUNDS};
pub use membership::{Membership, UnnamedSet};
pub use nulls::{DefinedKinds, leave_out_nulls, may_hold_refused_nulls};
pub use object_verdict::ObjectVerdict;
pub use offline::offline;
pub use only::Chosen;
pub use policy::{EvidenceMode, ForceConflicts, Policy, Replace, WriteAs};
pub(crate) use prediction::unreadable_owners;
pub use prediction::{ObjectPair, Prediction, predict};
pub use redact::{REDACTED, Redactor, holds_redacted, secret_number, withheld};
pub use refusal::{Refusal, missing_namespace, refusal, refused_by_definition};
pub use replacement::{REPLACE, cost, probe_object, replace_guard};
pub use secrecy::Secrecy;
pub use versions::{Versions, masked};
pub use wanted::Wanted;
