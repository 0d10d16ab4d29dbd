//! Decides if the manifest is to blame for a refusal, or fields that only the live object has.

use serde_json::Value;
use structured_merge::{FieldPath, ListKind, item_element};

use super::and_more;
use super::causes::message_of;
use super::cursor::{Cursor, follow_validation};
use super::in_the_way::live_only_mention;
use super::rejected_object::RejectedObject;
use crate::diagnostic::Diagnostic;
use crate::live::discreet::Discreet;
use crate::manifest::yaml::Step;
use crate::request::{Cause, StatusError};

/// The part of the merged object that a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compare) enum Blame {
    /// Fields that the manifest has or lacks.
    Manifest,
    /// Both, as far as the paths show.
    Both,
    /// Fields that only the live object has.
    Live,
}

/// Reads the causes of a 422.
pub(in crate::compare) fn blame(subject: &RejectedObject<'_>, status: &StatusError) -> Blame {
    if status.code != 422 || subject.live.is_none() {
        return Blame::Manifest;
    }
    let merged = subject.merged();
    let mut live = false;
    let mut own = false;
    for cause in &status.causes {
        let is_live_only = live_only_field(subject, &merged, cause).is_some();
        live |= is_live_only || live_only_sibling(subject, &merged, cause).is_some();
        own |= !is_live_only;
    }
    match (live, own) {
        (false, _) => Blame::Manifest,
        (true, true) => Blame::Both,
        (true, false) => Blame::Live,
    }
}

/// The diagnostic for a refused result of an apply, if the manifest by itself is valid.
pub(in crate::compare) fn refused_result(subject: &RejectedObject<'_>, status: &StatusError) -> Diagnostic {
    if subject.may_quote_secret {
        let objects: Vec<&Value> = std::iter::once(subject.manifest()).chain(subject.live).collect();
        return Discreet::of(&objects).diagnostic(status);
    }
    let merged = subject.merged();
    let mut messages: Vec<String> = Vec::new();
    for cause in &status.causes {
        let cursor = follow_validation(Cursor::root(&merged, subject.schema), &merged, &cause.field);
        let message = message_of(cursor, cause);
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    messages.extend(and_more(status));
    let diagnostic = Diagnostic::new(status, format!("the server would refuse the result: {}", messages.join("; ")));
    let stored = status.causes.iter().find_map(|cause| stored_version(subject, cause));
    let clash = || {
        let found = |find: fn(&RejectedObject<'_>, &Value, &Cause) -> Option<FieldPath>| {
            status.causes.iter().find_map(|cause| find(subject, &merged, cause))
        };
        let named = found(live_only_field).or_else(|| found(live_only_sibling));
        named.or_else(|| found(live_only_mention)).and_then(|path| subject.clash(&path))
    };
    match stored.or_else(clash) {
        Some(hint) => diagnostic.with_hint(hint),
        None => diagnostic,
    }
}

/// The field or item that a cause is about, if the live object has it and the manifest does not.
pub(super) fn live_only_field(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    let cursor = follow_validation(Cursor::root(subject.manifest(), subject.schema), merged, &cause.field);
    let nulled = || {
        // A null in an apply keeps what is there.
        let is_null = cursor.missing.is_empty() && cursor.here().0.is_null();
        (is_null && cursor.path.value_in(merged).is_some_and(|value| !value.is_null())).then(|| cursor.path.clone())
    };
    cursor.live_only.clone().or_else(nulled).or_else(|| live_only_duplicate(subject, merged, cause))
}

/// The item of the live object that repeats a value of the manifest's items which must be unique.
fn live_only_duplicate(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    let is_duplicate = cause.reason == "FieldValueDuplicate";
    is_duplicate
        .then(|| find_live_only_item(subject, merged, cause, |item, value, inner| at(item, inner) == Some(value)))?
}

/// Another item in the list of the item that a cause is about, if only the live object has it: without it, the manifest's item may be
/// valid (the only port of a Service needs no name).
pub(super) fn live_only_sibling(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    find_live_only_item(subject, merged, cause, |_, _, _| true)
}

/// An item that the manifest does not have, in a keyed list that contains the value of a cause. `is_meant` gets the item, the value,
/// and the path to the value from its own item.
fn find_live_only_item(
    subject: &RejectedObject<'_>,
    merged: &Value,
    cause: &Cause,
    is_meant: impl Fn(&Value, &Value, &[Step<'_>]) -> bool,
) -> Option<FieldPath> {
    let cursor = follow_validation(Cursor::root(merged, subject.schema), merged, &cause.field);
    let (value, _) = cursor.here();
    for (depth, step) in cursor.steps.iter().enumerate().rev() {
        let (Step::Index(own), (list, schema)) = (step, cursor.trail.get(depth)?) else { continue };
        if !matches!(schema.list_kind(), ListKind::Keyed(_)) {
            continue;
        }
        let above = FieldPath::from(cursor.path.elements().get(..depth)?.to_vec());
        let (_, inner) = cursor.steps.get(depth..)?.split_first()?;
        let others =
            list.as_array()?.iter().enumerate().filter(|(index, item)| index != own && is_meant(item, value, inner));
        let paths = others.filter_map(|(_, item)| item_element(item, *schema)).map(|element| above.child(element));
        // The claims hold the defaults of keys that the manifest leaves out.
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

/// Advice about a version that a CustomResourceDefinition drops although objects may be stored in it.
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
