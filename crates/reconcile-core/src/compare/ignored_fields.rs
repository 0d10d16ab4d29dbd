//! What rules hide of the differences of an object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use structured_merge::FieldPath;

use super::written_paths::{as_texts, paths_of};

/// The differences of one object that one rule hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoredFields {
    /// Where the rule is written, or the annotation that it is.
    pub rule: String,
    /// The reason that the rule gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `false` for an autoscaler or another controller that is known without rules.
    #[serde(rename = "written", default = "yes", skip_serializing_if = "Clone::clone")]
    pub is_written: bool,
    /// The fields.
    #[serde(serialize_with = "as_texts", deserialize_with = "paths_of")]
    #[schemars(with = "Vec<String>")]
    pub paths: Vec<FieldPath>,
}

fn yes() -> bool {
    true
}
