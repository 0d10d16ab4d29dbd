use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The command that a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Command {
    /// Reports the differences, and the changes that an apply would make.
    Diff,
    /// Applies the manifests, and reports the outcomes.
    Apply,
    /// Reports the readiness of the objects.
    Status,
}
