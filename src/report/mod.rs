//! The report of a run: one model, one file per output format, and the table of formats ([`format::FORMATS`]).

pub mod access;
mod apply_set;
mod beside;
mod command;
mod configuration;
mod contexts;
mod describe;
mod diagnostic;
pub mod excerpt;
mod exit;
mod explained;
mod failure;
mod findings;
mod fingerprint;
pub mod format;
mod gate;
mod github;
mod gitlab;
pub mod html;
mod hunk;
mod ignored;
pub mod json;
pub mod jsonl;
mod junit;
mod key;
mod lines;
mod markdown;
pub mod matrix;
mod merge;
mod model;
pub mod name;
mod number;
mod object;
pub mod outcomes;
mod parsed;
mod place;
mod prometheus;
mod read_diagnostic;
pub mod readiness;
mod sarif;
mod sections;
mod sentence;
pub mod styled;
mod summary;
pub mod summary_line;
mod tally;
#[cfg(test)]
mod tests;
pub mod text;
pub mod unified;
mod unmanaged;
mod unmanaged_object;
mod value;
pub mod version;
mod view;
mod yaml;

pub use apply_set::{ApplySetInfo, ParentAction, ParentInfo};
pub use command::Command;
pub use configuration::ConfigurationInfo;
pub use contexts::{ContextReport, ContextsSummary, Reports};
pub use exit::{
    EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_INVALID, EXIT_NOT_READY, EXIT_SUCCESS, EXIT_UNREACHABLE,
    Verdict,
};
pub use explained::explained;
pub(crate) use failure::Failure;
pub use gate::{FAIL_CLASSES, FailClass, FailOn};
pub use merge::{Merged, Part, merged};
pub use model::{ClusterInfo, Report};
pub use object::{ObjectReport, Outcome};
pub use sections::{Section, Sections};
pub use summary::{ReadinessCounts, Summary};
pub use unmanaged_object::UnmanagedObject;
pub use view::{Sort, View};
