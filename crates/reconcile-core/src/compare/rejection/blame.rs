//! Whose doing a refusal is: that of the manifest, or of what the live object has beside it.

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ListKind, Ownership, item_element};

use super::and_more;
use super::causes::message_of;
use super::cursor::{Place, follow_validation};
use super::rejected_object::RejectedObject;
use crate::compare::policy::Policy;
use crate::diagnostic::Diagnostic;
use crate::live::discreet::Discreet;
use crate::manifest::yaml::Step;
use crate::request::{Cause, StatusError};

/// Which of the two a refusal complains of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compare) enum Blame {
    /// Of what the manifest has or lacks.
    Manifest,
    /// Of both, as far as the paths tell.
    Both,
    /// Of what only the live object has.
    Live,
}

/// Whom the causes of a 422 blame.
#[must_use]
pub(in crate::compare) fn blame(subject: &RejectedObject<'_>, status: &StatusError) -> Blame {
    if status.code != 422 || subject.live.is_none() {
        return Blame::Manifest;
    }
    let merged = subject.merged();
    let (mut live, mut own) = (false, false);
    for cause in &status.causes {
        let is_lives = culprit(subject, &merged, cause).is_some();
        live |= is_lives || company(subject, &merged, cause).is_some();
        own |= !is_lives;
    }
    match (live, own) {
        (false, _) => Blame::Manifest,
        (true, true) => Blame::Both,
        (true, false) => Blame::Live,
    }
}

/// A refusal of what an apply would make of the live object, where the manifest is right by itself.
#[must_use]
pub(in crate::compare) fn refused_result(subject: &RejectedObject<'_>, status: &StatusError) -> Diagnostic {
    if subject.is_secret() {
        let objects: Vec<&Value> = std::iter::once(subject.manifest()).chain(subject.live).collect();
        return Discreet::of(&objects).diagnostic(status);
    }
    let merged = subject.merged();
    let mut messages: Vec<String> = Vec::new();
    for cause in &status.causes {
        let place = follow_validation(Place::root(&merged, subject.of), &merged, &cause.field);
        let message = message_of(place, cause);
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    messages.extend(and_more(status));
    let trouble = Diagnostic::new(status, format!("the server would refuse the result: {}", messages.join("; ")));
    let stored = status.causes.iter().find_map(|cause| stored_version(subject, cause));
    let clash = || {
        let found = |find: fn(&RejectedObject<'_>, &Value, &Cause) -> Option<FieldPath>| {
            status.causes.iter().find_map(|cause| find(subject, &merged, cause))
        };
        found(culprit).or_else(|| found(company)).and_then(|path| subject.clash(&path))
    };
    match stored.or_else(clash) {
        Some(hint) => trouble.with_hint(hint),
        None => trouble,
    }
}

/// What only manual changes own of what a refusal may be about: it can pass to us, so that the apply takes it out. The fields
/// and items that the causes name come first; where there are none, the neighbours that they may mean.
#[must_use]
pub(in crate::compare) fn in_the_way(
    subject: &RejectedObject<'_>,
    status: &StatusError,
    owners: &Ownership,
    policy: &Policy,
) -> FieldSet {
    let merged = subject.merged();
    let manual = |paths: Vec<FieldPath>| {
        let fields = paths.iter().filter_map(|path| owners.transferable_fields(path, policy));
        fields.fold(FieldSet::new(), |all, fields| all.union(&fields))
    };
    let named = manual(status.causes.iter().filter_map(|cause| culprit(subject, &merged, cause)).collect());
    if !named.is_empty() {
        return named;
    }
    let near = |cause| neighbours(subject, &merged, cause).into_iter().chain(company(subject, &merged, cause));
    manual(status.causes.iter().flat_map(near).collect())
}

/// The field or item that a cause is about, where the live object has it and the manifest does not.
fn culprit(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    let place = follow_validation(Place::root(subject.manifest(), subject.of), merged, &cause.field);
    place.kept.or_else(|| twin(subject, merged, cause))
}

/// The item that has the same value as one of the manifest's, where that must differ.
fn twin(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    let is_duplicate = cause.reason == "FieldValueDuplicate";
    is_duplicate.then(|| stranger(subject, merged, cause, |item, value, inner| at(item, inner) == Some(value)))?
}

/// An item that the live object has beside the one that a cause is about: alone, the manifest's may be right (the only port of a
/// Service needs no name).
fn company(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    stranger(subject, merged, cause, |_, _, _| true)
}

/// An item that the manifest does not have, in a keyed list around the place of a cause. `is_meant` gets the item, the value at
/// the place, and the way to that from its own item.
fn stranger(
    subject: &RejectedObject<'_>,
    merged: &Value,
    cause: &Cause,
    is_meant: impl Fn(&Value, &Value, &[Step<'_>]) -> bool,
) -> Option<FieldPath> {
    let place = follow_validation(Place::root(merged, subject.of), merged, &cause.field);
    let (value, _) = place.here();
    for (depth, step) in place.steps.iter().enumerate().rev() {
        let (Step::Index(own), (list, of)) = (step, place.trail.get(depth)?) else { continue };
        if !matches!(of.list_kind(), ListKind::Keyed(_)) {
            continue;
        }
        let above = FieldPath::from(place.path.elements().get(..depth)?.to_vec());
        let (_, inner) = place.steps.get(depth..)?.split_first()?;
        let others =
            list.as_array()?.iter().enumerate().filter(|(index, item)| index != own && is_meant(item, value, inner));
        let paths = others.filter_map(|(_, item)| item_element(item, *of)).map(|element| above.child(element));
        // Keys that an item of the manifest leaves out have their defaults in its claims.
        let found = paths.into_iter().find(|path| !subject.claims().contains_at_or_below(path));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn at<'v>(value: &'v Value, steps: &[Step<'_>]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(name) => value.get(name),
        Step::Index(index) => value.get(index),
    })
}

/// Fields that the live object has and the manifest does not, beside the field that a cause names (a second source of a
/// volume) or mentioned in its text (`may not be specified when 'value' is not empty`).
fn neighbours(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Vec<FieldPath> {
    let own = follow_validation(Place::root(subject.manifest(), subject.of), merged, &cause.field);
    let place = follow_validation(Place::root(merged, subject.of), merged, &cause.field);
    let (_, text) = cause.message.split_once(": ").unwrap_or(("", &cause.message));
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let parents = place.steps.len();
    let mut found = Vec::new();
    for depth in (0..parents).rev() {
        let (Some((Value::Object(there), _)), Some((Value::Object(wanted), _))) =
            (place.trail.get(depth), own.trail.get(depth))
        else {
            continue;
        };
        let is_beside = depth + 1 == parents && cause.reason == "FieldValueForbidden";
        let above = FieldPath::from(place.path.elements().get(..depth).unwrap_or_default().to_vec());
        let names = there.keys().filter(|name| !wanted.contains_key(*name));
        let meant = names.filter(|name| is_beside || words.contains(&name.as_str()));
        found.extend(meant.map(|name| above.field(name)));
    }
    found
}

/// What to do about a version that a CustomResourceDefinition drops while objects may be stored in it.
fn stored_version(subject: &RejectedObject<'_>, cause: &Cause) -> Option<String> {
    if !subject.target.key.gvk.is_crd() || !cause.field.starts_with("status.storedVersions") {
        return None;
    }
    let quoted = cause.message.split('"').nth(1)?;
    Some(format!(
        "`{quoted}` is in `status.storedVersions` (set by `kube-apiserver`), as objects may still be stored in it: keep it in \
         `spec.versions` with `served: false` until they are migrated and `status.storedVersions` is patched"
    ))
}
