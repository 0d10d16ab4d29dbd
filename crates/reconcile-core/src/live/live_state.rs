//! The state of an object in the cluster.

use serde_json::Value;

use crate::diagnostic::Diagnostic;

/// The state of a live object. An object that may not be read is not absent.
#[derive(Clone, Debug)]
pub enum LiveState {
    /// The object exists.
    Present(Value),
    /// The server says that it does not exist.
    Absent,
    /// It could not be read.
    Unreadable(Diagnostic),
}
