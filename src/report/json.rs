//! `-o json`: the report as one document.

use super::Report;

/// The document, indented, with a line end.
#[must_use]
pub fn render(report: &Report) -> String {
    // Serialising can fail only for maps whose keys aren't strings, and the model has none.
    let text = serde_json::to_string_pretty(report).unwrap_or_default();
    format!("{text}\n")
}
