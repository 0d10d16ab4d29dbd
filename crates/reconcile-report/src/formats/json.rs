//! `-o json`: the report, or the reports of several contexts, as one document.

use std::borrow::Cow;
use std::fmt::Write as _;

use reconcile_core::compare::FieldChange;
use reconcile_core::text::is_hidden;
use serde::Serialize;
use serde_json::json;

use crate::{ObjectReport, Section, Sections, View};

/// Longest object that is repeated as a whole without `--full`, in bytes of its JSON: definitions of kinds have a megabyte.
pub(crate) const LARGE: usize = 64 << 10;

/// Name of the one field that replaces such an object: `{"leftOut": 812345}`, with its size.
pub const LEFT_OUT: &str = "leftOut";

/// The document. Without `--full`, the size replaces a large object that is to be created or deleted.
#[must_use]
pub fn render<R: Sections + Serialize + Clone>(report: &R, view: &View) -> String {
    document(&*shown(report, view))
}

/// The report as it is shown: with all objects as a whole, or without the large ones.
pub(crate) fn shown<'r, R: Sections + Clone>(report: &'r R, view: &View) -> Cow<'r, R> {
    let is_whole = |section: &Section<'_>| {
        section.report.objects.iter().flat_map(|object| &object.diff.changes).all(|change| size(change) <= LARGE)
    };
    if view.full || report.sections().iter().all(is_whole) {
        return Cow::Borrowed(report);
    }
    let mut shown = report.clone();
    shown.reports_mut().into_iter().flat_map(|report| &mut report.objects).for_each(leave_out);
    Cow::Owned(shown)
}

/// The same for one object.
pub(crate) fn shown_object<'r>(object: &'r ObjectReport, view: &View) -> Cow<'r, ObjectReport> {
    if view.full || object.diff.changes.iter().all(|change| size(change) <= LARGE) {
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
            values.into_iter().flatten().for_each(|value| *value = json!({ LEFT_OUT: size }));
        }
    }
}

/// The size of the object that a change is about as a whole, in bytes.
fn size(change: &FieldChange) -> usize {
    let is_whole = change.path.elements().is_empty();
    let value = change.live.as_ref().or(change.desired.as_ref()).filter(|_| is_whole);
    value.map_or(0, |value| value.to_string().len())
}

/// A value as a document, indented, with a line end. Characters that a terminal would hide or act on are written as escapes of
/// JSON, which mean the same.
#[must_use]
pub fn document<T: Serialize>(value: &T) -> String {
    // Serialising can fail only for maps whose keys are not strings, and the model has none.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{}\n", escaped(&text))
}

pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !is_hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn hidden_characters_are_escaped_and_mean_the_same() {
        let value = json!({"ad\u{ad}min": "a\u{202e}b\u{e0041}\u{7f}\u{9b}\n\"", "plain": "Grüße → 👍"});
        let text = escaped(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.chars().any(|c| c != '\n' && is_hidden(c)), "{text:?}");
        assert!(text.contains("Grüße → 👍"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
