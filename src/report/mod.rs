//! The report of a run: one model, the words for it, and a table of formats that show it ([`formats::FORMATS`]).
//!
//! - `model` is the contract behind `-o json`: what was found, what was done, and what that means for the exit code.
//! - [`View`] is how a report is to be shown.
//! - `words` are sentences, signs and comparisons that several formats share.
//! - [`formats`] has a file for each output format.
//! - `merge` reads reports again and joins them.

pub mod access;
pub mod formats;
// Reports are read from files, and counts are read with them.
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
mod merge;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
mod model;
#[cfg(test)]
mod tests;
pub mod version;
mod view;
mod words;

pub use merge::{Merged, Part, merged};
pub(crate) use model::Failure;
pub use model::{
    ApplySetInfo, CLASSES, ClassInfo, ClusterInfo, Command, ConfigurationInfo, ContextReport, ContextsSummary,
    EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_INVALID, EXIT_NOT_READY, EXIT_SUCCESS, EXIT_UNREACHABLE,
    FAIL_CLASSES, FailClass, FailOn, Level, ObjectReport, Outcome, ParentAction, ParentInfo, ReadinessCounts, Report,
    Reports, Section, Sections, Side, Summary, UnmanagedObject, Verdict, Why,
};
pub use view::{Sort, View};
pub use words::excerpt;
pub use words::label::why_without_fields;
pub use words::styled::{Role, Styled};
pub use words::why::why;
