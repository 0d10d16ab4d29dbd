//! The results of a run: the contract behind `-o json`, and the data of every format.

mod apply_set;
mod audited;
pub(crate) mod classes;
mod configuration;
pub(crate) mod contexts;
pub(crate) mod diagnostic;
pub(crate) mod gate;
pub(crate) mod identity;
pub(crate) mod object;
pub(crate) mod report;
mod side;
pub(crate) mod summary;
mod unmanaged;
mod verdict;

pub use apply_set::{ApplySetInfo, ParentAction, ParentInfo};
pub use audited::{AuditQuestions, Audited, AuditedItem};
pub use classes::{CLASSES, ClassInfo, Level, Why};
pub use configuration::ConfigurationInfo;
pub use contexts::{ContextReport, ContextsSummary, Reports};
pub use gate::{FAIL_CLASSES, FailClass, FailOn};
pub use identity::{Command, StartTime, ToolInfo};
pub use object::change::ChangeReport;
pub(crate) use object::renamed::paired;
pub use object::renamed::{FormerObject, Renaming, renamings};
pub use object::{ObjectDiff, ObjectMessages, ObjectReport, ObjectRun};
pub use report::{BaseInfo, ClusterInfo, DroppedObject, Report};
pub use side::SideCounts;
pub use summary::{ReadinessCounts, Summary};
pub use unmanaged::UnmanagedObject;
pub use verdict::{
    EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_INVALID, EXIT_NOT_READY, EXIT_SUCCESS, EXIT_UNREACHABLE,
    Failure, Verdict,
};
