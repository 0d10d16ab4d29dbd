//! The differences of an object that rules hide.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use structured_merge::FieldPath;

/// The differences of one object that one rule hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoredFields {
    /// The location of the rule, or the annotation that holds it.
    pub rule: String,
    /// The reason that the rule gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `true` for an autoscaler or another controller that this program knows without a rule.
    #[serde(rename = "builtIn", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_built_in: bool,
    /// The fields.
    pub paths: Vec<FieldPath>,
    /// The field managers that own these fields in the live object, by path. Fields without an owner are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub managers: BTreeMap<String, Vec<String>>,
}
