//! The effect of an edited base on another overlay.

use reconcile_core::pull::kustomize::BuildChange;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::words::styled::{Role, Styled};
use crate::words::value::number::counted;

/// The most values of one overlay that the text shows.
const SHOWN: usize = 20;

/// Another overlay that an edited base is a part of.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherOverlay {
    /// Its directory; empty if it is not known.
    pub directory: String,
    /// The values that the edit changes in its build.
    pub changes: Vec<OverlayChange>,
    /// The reason why they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A value that an edit changes in the build of another overlay.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverlayChange {
    /// The kind and the name of the object, with the namespace where it is written.
    pub object: String,
    /// The field.
    pub path: String,
    /// The former value; absent if there was none, or if it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The new value; absent if there is none, or if it is secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl OtherOverlay {
    /// An overlay with the values that change.
    pub fn of(directory: String, changes: Vec<BuildChange>) -> Self {
        let change = |BuildChange { object, path, before, after }| OverlayChange { object, path, before, after };
        Self { directory, changes: changes.into_iter().map(change).collect(), error: None }
    }

    /// An overlay of which it is not known what changes.
    pub fn unknown(directory: String, reason: &str) -> Self {
        Self { directory, changes: Vec::new(), error: Some(reason.to_owned()) }
    }

    /// One line for the overlay, and one for each value.
    pub fn text(&self, dry_run: bool) -> Styled {
        let mut text = Styled::new();
        let Self { directory, changes, error } = self;
        let verb = if dry_run { "would also change" } else { "also changed" };
        let head = match error {
            Some(reason) if directory.is_empty() => format!("{verb} others perhaps: {reason}"),
            Some(reason) => format!("{verb} {directory} perhaps: {reason}"),
            None if changes.is_empty() => format!("{directory} has the file as well, and its build stays as it is"),
            None => format!("{verb} {directory}: {}", counted(changes.len(), "value", "values")),
        };
        text.push(Role::Note, head);
        text.line_end();
        for OverlayChange { object, path, before, after } in changes.iter().take(SHOWN) {
            let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), Value::to_string);
            let values = match (before, after) {
                (None, None) => "differs".to_owned(),
                _ => format!("{} → {}", shown(before), shown(after)),
            };
            text.push(Role::Plain, format!("  {object} {path}: {values}"));
            text.line_end();
        }
        if changes.len() > SHOWN {
            text.push(Role::Note, format!("  and {} more", changes.len().saturating_sub(SHOWN)));
            text.line_end();
        }
        text
    }
}
