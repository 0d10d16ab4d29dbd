use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The object of a manifest as it was applied last: the third side of a comparison, beside the manifest and the live object. It is
/// never sent.
#[derive(Clone, Debug, PartialEq)]
pub enum BaseObject {
    /// The base has the same manifest.
    Same,
    /// The base has another version of the manifest: this one, as it would be sent.
    Differs(Box<Value>),
    /// The base does not have the object.
    Absent,
}

/// The part of a base that an object has, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BaseState {
    /// The same manifest.
    Same,
    /// Another version of the manifest.
    Differs,
    /// Nothing: the object is new in the manifests.
    Absent,
}

impl BaseObject {
    /// The part of the base that the object has.
    pub fn state(&self) -> BaseState {
        match self {
            Self::Same => BaseState::Same,
            Self::Differs(_) => BaseState::Differs,
            Self::Absent => BaseState::Absent,
        }
    }
}
