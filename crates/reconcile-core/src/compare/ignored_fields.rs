//! What rules hide of the differences of an object.

use serde::{Deserialize, Serialize};
use structured_merge::FieldPath;

use super::written_paths::{as_texts, paths_of};

/// The differences of one object that one rule hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoredFields {
    /// Where the rule is written, or the annotation that it is.
    pub rule: String,
    /// Why there is such a rule, in the words of its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it is a rule that somebody wrote, and not an autoscaler or a controller that is known without rules.
    #[serde(rename = "written", default = "yes", skip_serializing_if = "Clone::clone")]
    pub is_written: bool,
    /// The fields.
    #[serde(serialize_with = "as_texts", deserialize_with = "paths_of")]
    pub paths: Vec<FieldPath>,
}

fn yes() -> bool {
    true
}
