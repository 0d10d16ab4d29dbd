//! Content of one YAML or JSON document of a stream.

use serde_json::Value;

use super::Mark;
use super::positions::Nodes;

/// Result of reading one document.
pub(super) struct Content {
    /// The value; `None` if the document is empty or cannot be read.
    pub value: Option<Value>,
    pub start: Mark,
    pub nodes: Nodes,
}
