use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use structured_merge::FieldPath;

use crate::owners::Owner;

/// A field of a live object, and its owners.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlamedField {
    /// The path of the field.
    pub path: FieldPath,
    /// The live value: a scalar, or an empty map or list. A value of a Secret is an object with the one field `redacted`.
    pub value: Value,
    /// The field managers that own the field; none if nobody does.
    pub managers: Vec<Owner>,
    /// The comparison with the manifest, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<InManifest>,
    /// The steps from the object to the field, as YAML shows them.
    #[serde(skip)]
    pub steps: Vec<Step>,
}

/// A step in a YAML document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of a key.
    Key(String),
    /// To the item at a position.
    Item(usize),
}

/// A live field, compared with the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InManifest {
    /// The manifest has the same value.
    Same,
    /// The manifest has another value.
    Differs,
    /// The manifest does not have the field.
    Absent,
}
