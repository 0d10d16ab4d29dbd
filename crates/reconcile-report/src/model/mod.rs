//! The results of a run: the contract behind `-o json`, and the data of every format.

mod apply_set;
mod audited;
pub(crate) mod classes;
pub(crate) mod contexts;
pub(crate) mod diagnostic;
pub(crate) mod identity;
pub(crate) mod object;
pub(crate) mod report;
pub(crate) mod summary;
mod unmanaged;
mod verdict;

pub use apply_set::{ApplySetInfo, ParentAction, ParentInfo};
pub use audited::{AuditQuestions, Audited, AuditedItem};
pub use classes::{CLASSES, ClassInfo, Level, Why};
pub use contexts::{ContextReport, ContextsSummary, Reports};
pub use identity::{Command, ConfigurationInfo, StartTime, ToolInfo};
pub(crate) use object::renamed::paired;
pub use object::renamed::{FormerObject, Renaming, RenamingsElsewhere, created, renamings};
pub use object::{ObjectFields, ObjectMessages, ObjectReport, ObjectRun};
pub use report::{BaseInfo, ClusterInfo, DroppedObject, Report, is_of_server};
pub use summary::{ReadinessCounts, SideCounts, Summary};
pub use unmanaged::UnmanagedObject;
pub use verdict::{
    EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_INVALID, EXIT_NOT_READY, EXIT_SUCCESS, EXIT_UNREACHABLE,
    FAIL_CLASSES, FailClass, FailOn, Failure, Verdict,
};
