//! The reason why a field differs, and its managers.

use std::borrow::Cow;

use crate::model::classes::{ClassInfo, Why};
use crate::view::View;
use crate::words::users::{self, quoted};
use crate::words::value::certificate::summarised;
use crate::words::value::inline;
use reconcile_core::compare::{Class, FieldChange, Side};
use reconcile_core::owners::Owner;
use reconcile_core::text::{middle_cut, one_line, visible, width};
use structured_merge::{Op, Operation};

/// The columns that are left to the name of a manager, however long the rest of its text is.
const SHORTEST_NAME: usize = 8;
/// The columns of a value that was applied last, next to the other values of its field.
const FORMER: usize = 60;

/// Returns the reason why a field differs, in a few words; `owners` names its managers. Empty if there is none.
pub fn why(change: &FieldChange, owners: impl Fn(&[Owner]) -> String) -> String {
    why_at(change, owners, ToOwned::to_owned)
}

/// The value that was applied last, if neither the manifest nor the live object has it any more: `was web:1.3`. `None` without a base.
pub(crate) fn former(change: &FieldChange) -> Option<String> {
    let base = change.base.as_ref().filter(|_| change.side == Some(Side::Both) && change.op == Op::Change)?;
    Some(format!("was {}", one_line(&inline(&summarised(base)), FORMER)))
}

fn why_at(change: &FieldChange, owners: impl Fn(&[Owner]) -> String, time: impl Fn(&str) -> String) -> String {
    let mut words = words(ClassInfo::of(change.class).why, change, owners);
    // It is not known that the field was ever there.
    let removed_by = change.removed_by.as_deref().filter(|_| change.class == Class::Absent);
    if let Some(by) = removed_by.and_then(|removed| users::by(removed, time)) {
        words = format!("{words}, perhaps {}", visible(&by));
    }
    former(change).map_or_else(|| words.clone(), |former| format!("{words} ({former})"))
}

/// The reason why an object is missing: `new`, or `deleted in the cluster`. `None` without a base.
pub(crate) fn missing(change: &FieldChange) -> Option<&'static str> {
    match change.side.filter(|_| change.class == Class::Missing)? {
        Side::Manifest => Some("new"),
        Side::Cluster | Side::Both => Some("deleted in the cluster"),
        Side::Either => None,
    }
}

/// Returns the manager that changed a field, or another reason for the difference, for a note next to its value.
pub(crate) fn note(change: &FieldChange, view: &View) -> String {
    let info = ClassInfo::of(change.class);
    // The line above fields that stay names the manager that added them.
    let note = if change.class == Class::Unmanaged && change.is_drift() { info.why } else { info.note };
    let note = words(note, change, |managers| owners(managers, view));
    let note = match users::removed(change, |time| view.time(time)) {
        Some(removed) if note.is_empty() => removed,
        _ => note,
    };
    match (change.known, note.is_empty()) {
        (false, _) => note,
        (true, true) => "known".to_owned(),
        (true, false) => format!("{note}, known"),
    }
}

fn words(why: Why, change: &FieldChange, owners: impl Fn(&[Owner]) -> String) -> String {
    if change.is_following() {
        return format!("follows {}", visible(&change.follows.join(", ")));
    }
    let is_of_base = !matches!(change.class, Class::Conflict | Class::Missing);
    match change.side {
        Some(Side::Both) if is_of_base => return overwrites(change, owners),
        Some(Side::Cluster) if change.class == Class::Absent => return "removed in the cluster".to_owned(),
        Some(Side::Cluster) if change.class == Class::ChangedByOther && change.managers.is_empty() => {
            return "changed in the cluster".to_owned();
        }
        _ => {}
    }
    if change.class == Class::ChangedByOther
        && change.op == Op::Add
        && change.part_of.is_some()
        && !change.managers.is_empty()
    {
        return format!("left out by {}", owners(&change.managers));
    }
    if change.class == Class::Overridden && change.op == Op::Add {
        return "the cluster drops it".to_owned();
    }
    match why {
        Why::Nothing => String::new(),
        Why::Text(words) => words.to_owned(),
        Why::By(words) if change.managers.is_empty() => format!("{words} others"),
        Why::By(words) => format!("{words} {}", owners(&change.managers)),
    }
}

/// The words for a change in the cluster that an apply undoes although the manifest changed as well.
fn overwrites(change: &FieldChange, owners: impl Fn(&[Owner]) -> String) -> String {
    let what = match change.op {
        Op::Add => "the removal in the cluster".to_owned(),
        _ if change.managers.is_empty() => "a change in the cluster".to_owned(),
        _ => owners(&change.managers),
    };
    let before = if change.class == Class::Pruned { "no longer in the manifest; " } else { "" };
    format!("{before}overwrites {what}")
}

/// The reason in full, for output without a line above the fields that names the manager that added them.
pub(crate) fn why_in_full(change: &FieldChange, view: &View) -> String {
    match change.class {
        Class::Unmanaged if change.is_addition() => added_by(change.is_manual(), &owners(&change.managers, view)),
        _ => why_at(change, |managers| owners(managers, view), |time| view.time(time)),
    }
}

/// Returns the manager that added a field that the manifest does not have: `added by hand: kubectl-edit`.
pub(crate) fn added_by(is_manual: bool, owners: &str) -> String {
    if is_manual { format!("added by hand: {owners}") } else { format!("added by {owners}") }
}

/// Names managers: `kubectl (scale) 2026-11-20T10:00:00Z, helm (Apply) …`.
pub(crate) fn owners(managers: &[Owner], view: &View) -> String {
    // The users of a manager follow a comma.
    let separator = if managers.iter().any(|owner| !owner.users.is_empty()) { "; " } else { ", " };
    managers.iter().map(|owner| owner_text(owner, view)).collect::<Vec<_>>().join(separator)
}

/// Names a manager: `kubectl (scale) 2026-11-20T10:00:00Z`, `helm (Apply) …`, and the users behind it, if a log names them:
/// `kubectl-edit 2026-11-20T10:00:00Z, ops@example.com or dev@example.com`.
pub(crate) fn owner_text(owner: &Owner, view: &View) -> String {
    format!("{}{}", quoted(&owner.manager), way_time_and_users(owner, view))
}

/// Names a manager in this many columns: its name is cut rather than the time and the users.
pub(crate) fn owner_within(owner: &Owner, view: &View, columns: usize) -> String {
    let rest = way_time_and_users(owner, view);
    let room = columns.saturating_sub(width(&rest)).max(SHORTEST_NAME);
    middle_cut(&format!("{}{rest}", middle_cut(&quoted(&owner.manager), room)), columns)
}

fn way_time_and_users(owner: &Owner, view: &View) -> String {
    let way = match &*way(owner) {
        "" => String::new(),
        way => format!(" ({way})"),
    };
    let time = owner.time.as_ref().map(|time| format!(" {}", view.time(time))).unwrap_or_default();
    let users = users::of_owner(owner).map(|users| format!(", {users}")).unwrap_or_default();
    format!("{way}{time}{users}")
}

/// Names a manager inside a sentence: `kubectl, scale, 2026-11-20T10:00:00Z`.
pub(crate) fn owner_in_sentence(owner: &Owner) -> String {
    let users = users::of_owner(owner).unwrap_or_default();
    let manager = quoted(&owner.manager);
    let way = way(owner);
    let parts = [&*manager, &*way, owner.time.as_deref().unwrap_or_default(), &users];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    visible(&parts.join(", ")).into_owned()
}

/// The operation or subresource of a manager, unless it updated the object itself.
fn way(owner: &Owner) -> Cow<'_, str> {
    match (owner.subresource.as_str(), owner.operation) {
        ("", Operation::Apply) => Cow::Borrowed("Apply"),
        ("", _) => Cow::Borrowed(""),
        (subresource, _) => quoted(subresource),
    }
}
