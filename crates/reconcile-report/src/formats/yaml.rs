//! `-o yaml`: the document of `-o json` as YAML, its keys sorted as kubectl does.

use reconcile_core::text::yaml;

use super::json;
use crate::{Reports, View};

/// The document of `-o json`, as YAML.
pub fn render(reports: &Reports, view: &View) -> String {
    // Serialising can fail only for maps whose keys are not strings, and the model has none.
    yaml(&serde_json::to_value(&*json::shown(reports, view)).unwrap_or_default())
}
