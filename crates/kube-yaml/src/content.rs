//! What one document of a stream holds, YAML or JSON.

use serde_json::Value;

use super::Mark;
use super::positions::Nodes;

/// What reading one document gave.
pub(super) struct Content {
    /// The value; nothing if the document is empty or cannot be read.
    pub value: Option<Value>,
    pub start: Mark,
    pub nodes: Nodes,
}
