//! The results of a pass: what it did with each object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::ObjectDiff;
use crate::diagnostic::Diagnostic;

/// The outcome of `apply` for one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It was created.
    Created,
    /// Its fields were changed to those of the manifest.
    Updated,
    /// Its values already matched, and are now recorded as owned by our field manager.
    Adopted,
    /// It was deleted and recreated.
    Replaced,
    /// It was deleted.
    Deleted,
    /// It is being deleted, but was not gone in time.
    Terminating,
    /// It needed no change, or the server accepted an update and left it as it was, of which a warning tells.
    Unchanged,
    /// Not written, because other managers own fields of the manifest.
    Conflict,
    /// It could not be written.
    Failed,
    /// It was not attempted.
    Skipped,
}

impl Outcome {
    /// Returns true if the object now matches its manifest, or is gone.
    pub fn is_done(self) -> bool {
        use Outcome::{Adopted, Created, Deleted, Replaced, Unchanged, Updated};
        matches!(self, Created | Updated | Adopted | Replaced | Deleted | Unchanged)
    }
}

/// The end of one object's turn in a pass.
#[derive(Clone, Debug)]
pub struct TurnResult {
    /// The outcome.
    pub outcome: Outcome,
    /// The error for which it could not be written.
    pub error: Option<Diagnostic>,
    /// The reason for the outcome.
    pub reason: Option<String>,
    /// The action to take about the reason.
    pub hint: Option<String>,
    /// The warnings that only the write returned.
    pub notes: Vec<String>,
    /// The new differences, if the object changed in the meantime.
    pub new_diff: Option<Box<ObjectDiff>>,
    /// True if a later run does it: objects that were applied are not ready yet.
    pub postponed: bool,
}

impl From<Outcome> for TurnResult {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, error: None, reason: None, hint: None, notes: Vec::new(), new_diff: None, postponed: false }
    }
}

impl TurnResult {
    /// The object was not tried, for a reason.
    pub fn skipped(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Outcome::Skipped.into() }
    }

    /// The object was not tried, because others are not ready yet.
    pub fn postponed(reason: impl Into<String>) -> Self {
        Self { postponed: true, ..Self::skipped(reason) }
    }

    /// The object could not be written.
    pub fn failed(error: Diagnostic) -> Self {
        Self { error: Some(error), ..Outcome::Failed.into() }
    }
}
