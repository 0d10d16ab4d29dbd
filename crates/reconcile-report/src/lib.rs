//! The report of a run of `kubectl reconcile`: one model, the words for it, and a table of formats that show it
//! ([`formats::FORMATS`]). Values in, texts out: no file, socket, clock or environment.
//!
//! - `model` is the contract behind `-o json`: the findings, the outcomes, and the exit code that follows from them.
//! - [`View`] has the options for showing a report.
//! - `words` are sentences, signs and comparisons that several formats share.
//! - `groups` finds what several objects have in common, which formats show once.
//! - [`formats`] has a file for each output format.
//! - `merge` reads reports again and joins them, `baseline` compares a report with an earlier one, and `saved_plan` keeps what was shown
//!   for the apply.
//! - [`access`], [`blame`], [`pull`], [`resolve`] and [`version`] are what the other commands print.
//! - `theme` gives text its colours.

#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

pub mod access;
// Reports are read from files.
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
mod baseline;
pub mod blame;
pub mod formats;
mod groups;
// Reports are read from files, and counts are read with them.
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
mod merge;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
mod model;
pub mod pull;
pub mod resolve;
// Plans are read from files.
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
mod saved_plan;
#[cfg(test)]
mod tests;
mod theme;
pub mod version;
mod view;
mod words;

pub use baseline::{Baseline, KnownDifferences};
pub use merge::{MergeInput, SharedObjects, merged};
pub use model::{
    ApplySetInfo, AuditQuestions, Audited, BaseInfo, CLASSES, ClassInfo, ClusterInfo, Command, ConfigurationInfo,
    ContextReport, ContextsSummary, DroppedObject, EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_INVALID,
    EXIT_NOT_READY, EXIT_SUCCESS, EXIT_UNREACHABLE, FAIL_CLASSES, FailClass, FailOn, Failure, FormerObject, Level,
    ObjectMessages, ObjectReport, ObjectRun, ParentAction, ParentInfo, ReadinessCounts, Renaming, RenamingsElsewhere,
    Report, Reports, SideCounts, StartTime, Summary, ToolInfo, UnmanagedObject, Verdict, Why, created, is_of_server,
    renamings,
};
pub use saved_plan::{ManifestDigest, PlanBase, PlanFlags, SavedPlan, SecretCoverage};
pub use theme::{STANDARD, THEMES, Theme, paint, plain};
pub use view::{Sort, View};
pub use words::conflict::upgrade_warning;
pub use words::describe::{hooks_left_out, left_alone};
pub use words::label::why_without_fields;
pub use words::sentence::excerpt;
pub use words::styled::{Role, Styled};
pub use words::summary::cluster;
pub use words::why::why;
