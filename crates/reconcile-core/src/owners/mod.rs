//! The owners of fields: the field managers that the API records and, from an audit log, the users behind them.

mod audit_answer;
mod object_times;
mod owner;
mod user;

pub use audit_answer::AuditAnswer;
pub use object_times::{ObjectTimes, Reach, second};
pub use owner::{MAX_MANAGER, Owner};
pub use user::User;
