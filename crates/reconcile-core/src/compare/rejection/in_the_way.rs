//! Fields that the live object has and the manifest does not, and with which the server may refuse the manifest.

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ListKind, Ownership, fields_of, item_element};

use super::and_more;
use super::causes::{TAKE_OUT, is_about_null, message_of, would_be_null};
use super::counterpart::counterpart;
use super::cursor::{Cursor, follow_validation};
use super::rejected_object::RejectedObject;
use crate::compare::policy::Policy;
use crate::diagnostic::Diagnostic;
use crate::live::discreet::Discreet;
use crate::manifest::yaml::Step;
use crate::request::{Cause, StatusError};

/// Maximum number of fields that are looked at for all causes.
const MOST: usize = 100;

/// The distance from a cause, and the owners, of fields that may be in the way. How the server words a refusal differs from kind to kind,
/// so that the nearest fields are tried first, and then all that the causes may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compare) enum Reach {
    /// Fields that the causes name or mention, and those next to a forbidden field, if it is ours to take.
    Named,
    /// Everything that is ours to take in the values that the causes name, and next to them.
    Below,
    /// Fields that the causes name or mention, and nobody owns: defaults.
    Defaults,
}

impl Reach {
    /// All of them, the nearest first.
    pub const ALL: [Self; 3] = [Self::Named, Self::Below, Self::Defaults];
}

/// A field that may be in the way.
#[derive(Clone, Debug)]
pub(in crate::compare) struct InTheWay {
    /// The outermost path that the manifest does not have.
    pub path: FieldPath,
    /// The claims on it and below it.
    pub fields: FieldSet,
    /// True if no cause names it.
    pub is_guessed: bool,
}

/// The fields that may be in the way, each once.
pub(in crate::compare) fn in_the_way(
    subject: &RejectedObject<'_>,
    status: &StatusError,
    owners: &Ownership,
    policy: &Policy,
    reach: Reach,
) -> Vec<InTheWay> {
    let merged = subject.merged();
    let takeable = |path: &FieldPath| {
        let mut owning = owners.others.iter().filter(|entry| entry.fields.contains_at_or_below(path)).peekable();
        owning.peek().is_some() && owning.all(|entry| policy.takes_from(entry))
    };
    let is_owned = |path: &FieldPath| owners.entries().any(|entry| entry.fields.contains_at_or_below(path));
    let mut found: Vec<InTheWay> = Vec::new();
    for cause in status.causes.iter().filter(|cause| !refuses_null(subject, cause)) {
        let named = || live_only_field(subject, &merged, cause).map(|path| (path, false)).into_iter();
        let mut near: Vec<(FieldPath, bool)> = match reach {
            Reach::Named => named().filter(|(path, _)| takeable(path)).collect(),
            Reach::Below => below(subject, &merged, cause, owners),
            Reach::Defaults => named().chain(mentioned(subject, &merged, cause)).collect(),
        };
        if reach == Reach::Named && near.is_empty() {
            near = near_by(subject, &merged, cause);
        }
        near.retain(|(path, _)| if reach == Reach::Defaults { !is_owned(path) } else { takeable(path) });
        for (path, is_guessed) in near {
            if found.len() >= MOST || found.iter().any(|one| one.path.is_prefix_of(&path)) {
                continue;
            }
            let fields = if reach == Reach::Defaults {
                fields_of(subject.live.unwrap_or(&Value::Null), subject.schema).filter(|field| path.is_prefix_of(field))
            } else {
                owners.fields_of_others_at(&path)
            };
            found.push(InTheWay { path, fields, is_guessed });
        }
    }
    found
}

/// The fields and items that a cause may mean: those that it mentions, those next to a forbidden field, and another item of its list.
/// What is next to it goes as a whole.
fn near_by(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Vec<(FieldPath, bool)> {
    let near = mentioned(subject, merged, cause).into_iter().map(|(path, _)| path);
    let near = near.chain(live_only_sibling(subject, merged, cause));
    near.map(|path| (path, false)).collect()
}

/// The first field that a cause mentions, and that only the live object has.
pub(super) fn live_only_mention(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    mentioned(subject, merged, cause).into_iter().next().map(|(path, _)| path)
}

/// Fields that only the live object has: those that the text of a cause mentions (`may not be specified when 'value' is not empty`), above,
/// next to and below the field that it names, and all next to a forbidden one (a second source of a volume). Each with whether it is only
/// guessed.
fn mentioned(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Vec<(FieldPath, bool)> {
    let own = follow_validation(Cursor::root(subject.manifest(), subject.schema), merged, &cause.field);
    let cursor = follow_validation(Cursor::root(merged, subject.schema), merged, &cause.field);
    let (_, text) = cause.message.split_once(": ").unwrap_or(("", &cause.message));
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let parents = cursor.steps.len();
    let mut found = Vec::new();
    for depth in (0..=parents).rev() {
        let (Some((Value::Object(there), _)), Some((Value::Object(wanted), _))) =
            (cursor.trail.get(depth), own.trail.get(depth))
        else {
            continue;
        };
        let is_sibling = depth + 1 == parents && cause.reason == "FieldValueForbidden";
        let above = FieldPath::from(cursor.path.elements().get(..depth).unwrap_or_default().to_vec());
        for name in there.keys().filter(|name| wanted.get(*name).is_none_or(Value::is_null)) {
            let is_mentioned = words.contains(&name.as_str());
            if is_mentioned || is_sibling {
                found.push((above.field(name), !is_mentioned));
            }
        }
    }
    found
}

/// The outermost fields of others that the manifest does not have, in the struct that a cause names or in which the field is that it
/// names. Labels and the like are in the way of nothing.
fn below(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause, owners: &Ownership) -> Vec<(FieldPath, bool)> {
    let cursor = follow_validation(Cursor::root(merged, subject.schema), merged, &cause.field);
    let depth = cursor.trail.iter().rposition(|(value, _)| value.is_object()).unwrap_or_default();
    let root = FieldPath::from(cursor.path.elements().get(..depth).unwrap_or_default().to_vec());
    let has = |path: &FieldPath| {
        subject.claims().contains_at_or_below(path)
            && path.value_in(subject.manifest()).is_none_or(|value| !value.is_null())
    };
    let mut found = Vec::new();
    let mut seen = FieldSet::new();
    for path in owners.fields_of_others_at(&root).paths() {
        let elements = path.elements();
        if found.len() >= MOST || seen.contains_at_or_above(&path) {
            continue;
        }
        let prefix = |length: usize| FieldPath::from(elements.iter().take(length).cloned().collect::<Vec<_>>());
        let Some(path) = (depth + 1..=elements.len()).map(prefix).find(|path| !has(path)) else { continue };
        let is_apart = ["metadata", "status"].iter().any(|name| FieldPath::of(&[name]).is_prefix_of(&path));
        if !is_apart && path.value_in(merged).is_some() {
            seen.insert(&path);
            found.push((path, true));
        }
    }
    found
}

/// The field or item that a cause is about, or that contradicts it, if the live object has it and the manifest does not.
pub(super) fn live_only_field(subject: &RejectedObject<'_>, merged: &Value, cause: &Cause) -> Option<FieldPath> {
    let cursor = follow_validation(Cursor::root(subject.manifest(), subject.schema), merged, &cause.field);
    let nulled = || {
        // A null in an apply keeps what is there.
        let is_null = cursor.missing.is_empty() && cursor.here().0.is_null();
        (is_null && cursor.path.value_in(merged).is_some_and(|value| !value.is_null())).then(|| cursor.path.clone())
    };
    let duplicate = || live_only_duplicate(subject, merged, cause);
    cursor.live_only.clone().or_else(nulled).or_else(duplicate).or_else(|| counterpart(subject, merged, cause))
}

/// Returns true if the server refuses a null of the manifest itself, although the type of the field allows it.
fn refuses_null(subject: &RejectedObject<'_>, cause: &Cause) -> bool {
    let starts = ["Unsupported value: null", "Invalid value: null"];
    starts.iter().any(|start| cause.message.starts_with(start)) && {
        let cursor =
            follow_validation(Cursor::root(subject.manifest(), subject.schema), subject.manifest(), &cause.field);
        cursor.missing.is_empty() && cursor.here().0.is_null()
    }
}

/// Returns true if the server has found null where the live object has a value, the last entries of which the apply removes.
fn is_nulled(cursor: &Cursor<'_>, cause: &Cause) -> bool {
    is_about_null(cause) && cursor.missing.is_empty() && !cursor.here().0.is_null()
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

/// The diagnostic for a refused result of an apply, if the manifest by itself is valid. `owners` are those of the live object, if they are known.
pub(in crate::compare) fn refused_result(
    subject: &RejectedObject<'_>,
    status: &StatusError,
    owners: Option<&Ownership>,
) -> Diagnostic {
    if subject.may_quote_secret {
        let objects: Vec<&Value> = std::iter::once(subject.manifest()).chain(subject.live).collect();
        return Discreet::of(&objects).diagnostic(status);
    }
    let merged = subject.merged();
    let mut messages: Vec<String> = Vec::new();
    for cause in &status.causes {
        let cursor = follow_validation(Cursor::root(&merged, subject.schema), &merged, &cause.field);
        let message = if is_nulled(&cursor, cause) { would_be_null(&cursor) } else { message_of(cursor, cause) };
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
        let below = || status.causes.iter().find_map(|cause| only_one_below(subject, &merged, cause, owners?));
        named.or_else(|| found(live_only_mention)).or_else(below).and_then(|path| subject.clash(&path))
    };
    let lost = || {
        let lost = |cause| live_only_field(subject, &merged, cause).and_then(|path| subject.lost(&path, cause));
        status.causes.iter().find_map(lost)
    };
    let nulled = || {
        let is_one = |cause: &Cause| {
            is_nulled(&follow_validation(Cursor::root(&merged, subject.schema), &merged, &cause.field), cause)
        };
        status.causes.iter().any(is_one).then(|| TAKE_OUT.to_owned())
    };
    match stored.or_else(lost).or_else(nulled).or_else(clash) {
        Some(hint) => diagnostic.with_hint(hint),
        None => diagnostic,
    }
}

/// The field in the value that a cause is about, if it is the only one there that others own and the manifest does not have.
fn only_one_below(
    subject: &RejectedObject<'_>,
    merged: &Value,
    cause: &Cause,
    owners: &Ownership,
) -> Option<FieldPath> {
    let value = |object| follow_validation(Cursor::root(object, subject.schema), merged, &cause.field);
    let (there, own) = (value(merged), value(subject.manifest()));
    let (Value::Object(fields), Value::Object(wanted)) = (there.here().0, own.here().0) else { return None };
    let more = fields.keys().filter(|name| !wanted.contains_key(*name)).map(|name| there.path.field(name));
    let mut of_others = more.filter(|path| !owners.fields_of_others_at(path).is_empty());
    of_others.next().filter(|_| own.missing.is_empty() && of_others.next().is_none())
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
