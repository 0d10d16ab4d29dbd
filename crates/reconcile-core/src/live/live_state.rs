//! What is known of an object in the cluster.

use serde_json::Value;

use crate::diagnostic::Diagnostic;

/// What is known of the live object: forbidden is not absent.
#[derive(Clone, Debug)]
pub enum LiveState {
    /// It is there.
    Present(Value),
    /// The server says that there is none.
    Absent,
    /// It could not be read.
    Unreadable(Diagnostic),
}
