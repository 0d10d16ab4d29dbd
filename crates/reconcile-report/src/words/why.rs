//! The reason for which a field differs, and its managers.

use reconcile_core::compare::{Class, FieldChange, Owner};
use reconcile_core::text::visible;
use structured_merge::Operation;

use crate::View;
use crate::model::classes::{ClassInfo, Why};

/// Returns the reason for which a field differs, in a few words; `owners` names its managers. Empty if there is none.
pub fn why(change: &FieldChange, owners: impl Fn(&[Owner]) -> String) -> String {
    words(ClassInfo::of(change.class).why, change, owners)
}

/// Returns the manager that changed a field, or another reason for the difference, for a note next to its value.
pub(crate) fn note(change: &FieldChange, view: &View) -> String {
    words(ClassInfo::of(change.class).note, change, |managers| owners(managers, view))
}

fn words(why: Why, change: &FieldChange, owners: impl Fn(&[Owner]) -> String) -> String {
    match why {
        Why::Nothing => String::new(),
        Why::Text(words) => words.to_owned(),
        Why::By(words) if change.managers.is_empty() => format!("{words} others"),
        Why::By(words) => format!("{words} {}", owners(&change.managers)),
    }
}

/// The same in full, for output without a line above the fields that names the manager that added them.
pub(crate) fn why_in_full(change: &FieldChange, view: &View) -> String {
    match change.class {
        Class::Unmanaged => added_by(change.is_manual(), &owners(&change.managers, view)),
        _ => why(change, |managers| owners(managers, view)),
    }
}

/// Returns the manager that added a field that the manifest does not have: `added by hand: kubectl-edit`.
pub(crate) fn added_by(is_manual: bool, owners: &str) -> String {
    if is_manual { format!("added by hand: {owners}") } else { format!("added by {owners}") }
}

/// Names managers: `kubectl (scale) 2026-11-20T10:00:00Z, helm (Apply) …`.
pub(crate) fn owners(managers: &[Owner], view: &View) -> String {
    managers.iter().map(|owner| owner_text(owner, view)).collect::<Vec<_>>().join(", ")
}

/// Names a manager: `kubectl (scale) 2026-11-20T10:00:00Z`, `helm (Apply) …`.
pub(crate) fn owner_text(owner: &Owner, view: &View) -> String {
    let way = match way(owner) {
        "" => String::new(),
        way => format!(" ({way})"),
    };
    let time = owner.time.as_ref().map(|time| format!(" {}", view.time(time))).unwrap_or_default();
    format!("{}{way}{time}", owner.manager)
}

/// Names a manager inside a sentence: `kubectl, scale, 2026-11-20T10:00:00Z`.
pub(crate) fn owner_in_sentence(owner: &Owner) -> String {
    let parts = [owner.manager.as_str(), way(owner), owner.time.as_deref().unwrap_or_default()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    visible(&parts.join(", ")).into_owned()
}

/// The operation or subresource of a manager, unless it updated the object itself.
fn way(owner: &Owner) -> &str {
    if owner.subresource.is_empty() && owner.operation == Operation::Apply { "Apply" } else { &owner.subresource }
}
