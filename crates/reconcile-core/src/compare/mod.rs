//! Stage 3, compare: the differences between a live object and the object that an apply would leave, field by field, and the
//! manager that made each of them.
//!
//! ```text
//! manifest, LiveState ─ComparisonMachine─▶ ComparisonResult ─decide─▶ Decision, with the ObjectDiff
//!                        │         ▲
//!                     Question   Answer      (engine::dry_run sends and receives them)
//! ```
//! The `structured-merge` crate merges, proves and reads ownership; this module makes the decisions of this tool. It is pure:
//! the server's answers come in as values.

mod additions;
mod changing_kinds;
mod classify;
mod decision;
mod diff;
mod effect;
mod immutable_fields;
pub(crate) mod known_defaults;
mod live_object;
mod machine;
mod nulls;
mod object_diff;
mod offline;
mod patch;
mod policy;
mod prediction;
mod rejection;
// Numbers of live objects.
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
mod replacement;
mod secrecy;

pub use changing_kinds::{ChangingKinds, ComingType};
pub use classify::only::Chosen;
pub use decision::judge::judge;
pub use decision::membership::{Membership, UnnamedSet};
pub use decision::{Decision, creation};
pub use diff::{
    Action, Class, Conflict, Evidence, FieldChange, IgnoredFields, LeftDifference, Reason, Replacement, Side,
    UnmanagedCount,
};
pub(crate) use effect::MOST_NAMED;
pub use effect::{Effect, EffectKind};
pub use live_object::LiveObject;
pub use machine::{Answer, ComparisonMachine, Question, ROUNDS, is_convertible, takes_out};
pub use nulls::{DefinedKinds, leave_out_nulls, may_hold_refused_nulls};
pub use object_diff::{DiffNotes, ObjectDiff};
pub use offline::offline;
pub use policy::{EvidenceMode, FIELD_MANAGER, ForceConflicts, Ignored, Policy, RemoveAdded, Replace, WriteAs};
pub(crate) use prediction::unreadable_owners;
pub use prediction::{CompareContext, Prediction};
pub use rejection::Patterns;
pub use rejection::refusal::{Refusal, missing_namespace, refusal};
pub use replacement::{REPLACE, cost, is_in_its_own_way, probe_object, replace_guard};
pub use secrecy::Secrecy;
pub(crate) use secrecy::paths::is_withheld as is_withheld_path;
pub use secrecy::readiness::readiness_by;
pub use secrecy::redact::{REDACTED, Redactor, holds_redacted, secret_number, withheld};
pub(crate) use secrecy::texts_may_quote;
pub use secrecy::versions::{Versions, masked, without_server_fields};
