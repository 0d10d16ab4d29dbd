//! Selects the changes and warnings of an object that are shown, and those that only `-v` shows.

use reconcile_core::compare::{Class, FieldChange};
use reconcile_core::manifest::LEFT_OUT;
use serde_json::Value;
use structured_merge::{ObjectKey, PathElement};

use crate::model::ObjectReport;
use crate::view::View;

/// Fields of numbers in which 0 means that the server chooses.
const CHOSEN_AT_ZERO: [&str; 3] = ["healthCheckNodePort", "nodePort", "targetPort"];

/// The changes that are shown.
pub(super) fn shown<'o>(object: &'o ObjectReport, view: &View) -> Vec<&'o FieldChange> {
    object.diff.changes.iter().filter(|change| is_wanted(change, view)).collect()
}

/// Returns true if the text shows a change.
pub(super) fn is_wanted(change: &FieldChange, view: &View) -> bool {
    is_shown(change) && (view.verbosity > 0 || view.full || !is_harmless(change))
}

/// Returns true if a field is shown.
pub(crate) fn is_shown(change: &FieldChange) -> bool {
    !change.path.elements().is_empty() && !matches!(change.class, Class::Missing | Class::Adopted)
}

/// The warnings that are shown.
pub(super) fn warnings<'o>(object: &'o ObjectReport, view: &View) -> Vec<&'o str> {
    let is_shown = |warning: &&str| view.verbosity > 0 || view.full || !warning.starts_with(LEFT_OUT);
    object.messages.warnings.iter().map(String::as_str).filter(is_shown).collect()
}

/// The warnings about objects, each with its object, for a run that does not show the objects themselves. Those that the line about the
/// outcome of an object has are left out.
pub fn object_warnings<'o>(objects: impl IntoIterator<Item = &'o ObjectReport>, view: &View) -> Vec<String> {
    let of_object = |object: &'o ObjectReport| {
        let shown = warnings(object, view).into_iter();
        shown.filter(|text| !object.details.notes.iter().any(|note| note == text)).map(|text| about(&object.key, text))
    };
    objects.into_iter().flat_map(of_object).collect()
}

/// A warning about an object among those of a run: `ConfigMap shop/settings: this is watched`.
pub fn about(key: &ObjectKey, warning: &str) -> String {
    format!("{key}: {warning}")
}

/// Returns true if the cluster keeps a value of its own where the manifest has none: nobody can or needs to do anything about it.
fn is_harmless(change: &FieldChange) -> bool {
    let says_nothing = match change.desired.as_deref() {
        None | Some(Value::Null) => true,
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Number(number)) => {
            let name = change.path.elements().last();
            number.as_i64() == Some(0)
                && matches!(name, Some(PathElement::Field(name)) if CHOSEN_AT_ZERO.contains(&name.as_str()))
        }
        Some(Value::Bool(_)) => false,
    };
    change.class == Class::Overridden && says_nothing
}
