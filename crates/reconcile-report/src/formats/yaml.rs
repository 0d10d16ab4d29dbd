//! `-o yaml`: the document of `-o json` as YAML, its keys sorted as kubectl does.

use reconcile_core::text::yaml;
use serde::Serialize;

use super::json;
use crate::{Sections, View};

/// The document of `-o json`, as YAML.
pub fn render<R: Sections + Serialize + Clone>(report: &R, view: &View) -> String {
    // Serialising can fail only for maps whose keys are not strings, and the model has none.
    yaml(&serde_json::to_value(&*json::shown(report, view)).unwrap_or_default())
}
