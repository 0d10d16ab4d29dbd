use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The command that a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Command {
    /// What differs, and what an apply would do.
    Diff,
    /// What was done.
    Apply,
    /// How far the objects are on their way to being ready.
    Status,
}
