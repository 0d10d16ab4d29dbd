//! The report of a run: one model, one file per output format, and the table of formats ([`format::FORMATS`]).

pub mod access;
mod apply_set;
mod beside;
mod command;
mod configuration;
mod contexts;
mod diagnostic;
pub mod excerpt;
mod exit;
mod explained;
mod failure;
pub mod format;
mod gate;
pub mod html;
mod ignored;
pub mod json;
mod lines;
pub mod matrix;
mod model;
pub mod name;
mod object;
pub mod outcomes;
pub mod readiness;
pub mod styled;
mod summary;
pub mod summary_line;
pub mod text;
mod unmanaged;
mod value;
pub mod version;
mod view;

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
pub use model::{ClusterInfo, Report};
pub use object::{ObjectReport, Outcome};
pub use summary::{ReadinessCounts, Summary};
pub use unmanaged::UnmanagedObject;
pub use view::{Sort, View};
