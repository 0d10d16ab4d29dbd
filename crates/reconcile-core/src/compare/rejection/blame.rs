//! Decides if the manifest is to blame for a refusal, or fields that only the live object has.

use serde_json::Value;
use structured_merge::FieldPath;

use super::and_more;
use super::causes::message_of;
use super::cursor::{Cursor, follow_validation};
use super::in_the_way::{live_only_field, live_only_mention, live_only_sibling};
use super::rejected_object::RejectedObject;
use crate::diagnostic::Diagnostic;
use crate::live::discreet::Discreet;
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
