//! `-o json`: the report, or the reports of several contexts, as one document.

use std::borrow::Cow;

use reconcile_core::compare::FieldChange;
use reconcile_core::manifest::Packed;
use reconcile_core::text::{harmless_json, yaml};
use serde::Serialize;
use serde_json::json;

use crate::model::{ContextReport, ObjectReport, Reports};
use crate::view::View;

/// Longest object that is repeated as a whole without `--full`, in bytes of its JSON: definitions of kinds have a megabyte.
pub(crate) const LARGE: usize = 64 << 10;

/// Name of the one field that replaces such an object: `{"omittedBytes": 812345}`, with its size.
pub const OMITTED_BYTES: &str = "omittedBytes";

/// The document. Without `--full`, the size replaces a large object that is to be created or deleted.
pub fn render(reports: &Reports, view: &View) -> String {
    document(&*shown(reports, view))
}

/// The reports as they are shown: with all objects as a whole, or without the large ones.
pub(crate) fn shown<'r>(reports: &'r Reports, view: &View) -> Cow<'r, Reports> {
    let all_are_small = |one: &ContextReport| one.report.objects.iter().all(is_small);
    if view.full || reports.contexts.iter().all(all_are_small) {
        return Cow::Borrowed(reports);
    }
    let mut shown = reports.clone();
    let objects = shown.contexts.iter_mut().flat_map(|one| &mut one.report.objects);
    objects.filter(|object| !is_small(object)).for_each(leave_out);
    Cow::Owned(shown)
}

fn is_small(object: &ObjectReport) -> bool {
    object.diff.changes.iter().all(|change| size(change) <= LARGE)
}

/// An object as it is shown: as a whole, or without what is large.
pub(crate) fn shown_object<'r>(object: &'r ObjectReport, view: &View) -> Cow<'r, ObjectReport> {
    if view.full || is_small(object) {
        return Cow::Borrowed(object);
    }
    let mut shown = object.clone();
    leave_out(&mut shown);
    Cow::Owned(shown)
}

fn leave_out(object: &mut ObjectReport) {
    for change in &mut object.diff.changes {
        let size = size(change);
        if size > LARGE {
            let values = [&mut change.live, &mut change.desired];
            values.into_iter().flatten().for_each(|value| *value = Packed::tree(json!({ OMITTED_BYTES: size })));
        }
    }
}

/// The size of the object that a change is about as a whole, in bytes.
fn size(change: &FieldChange) -> usize {
    let is_whole = change.path.elements().is_empty();
    let value = change.live.as_ref().or(change.desired.as_ref()).filter(|_| is_whole);
    value.map_or(0, |value| value.with(|value| value.to_string().len()))
}

/// A value as a document, indented, with a line end. What a terminal would hide or act on, and what a pipeline would take for a command, is
/// an escape of JSON, which means the same.
pub fn document<T: Serialize>(value: &T) -> String {
    // Serialising can fail only for maps whose keys are not strings, and the model has none.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{}\n", harmless_json(&text))
}

/// The document of `-o json`, as YAML.
pub fn render_yaml(reports: &Reports, view: &View) -> String {
    // Serialising can fail only for maps whose keys are not strings, and the model has none.
    yaml(&serde_json::to_value(&*shown(reports, view)).unwrap_or_default())
}
