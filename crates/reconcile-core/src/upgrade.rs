//! The fields of a release that the next `helm upgrade` would refuse. Helm 4 applies on the server side without force: a field of the
//! release that another manager owns, and whose value is written otherwise, is a conflict.
//!
//! ```text
//! manifest, live object ─▶ fields of the release with other owners ─dry run as Helm─▶ the conflicts that the server names
//!                                                                 └─▶ without an answer: those whose text differs
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;
use structured_merge::{
    FieldPath, FieldSet, Lookup, ManagedFieldsEntry, ObjectKey, Operation, PathElement, Scalar, TypeRef, field_set,
};

use crate::compare::{LiveObject, Secrecy, texts_may_quote};
use crate::live::Target;
use crate::live::discreet::Discreet;
use crate::manifest::ReleaseName;
use crate::own::is_accepted;
use crate::request::{Cause, StatusError};
use crate::text::one_line;

/// The field manager of Helm.
pub const HELM: &str = "helm";
/// The reason of a cause that is a conflict.
const CONFLICT: &str = "FieldManagerConflict";
/// Longest name of a manager or of a field that is shown, in characters.
const NAME: usize = 200;

/// The fields of an object that an upgrade would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedObject {
    /// The object.
    pub key: ObjectKey,
    /// Its fields.
    pub fields: Vec<RefusedField>,
}

/// A field that an upgrade would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedField {
    /// Its path.
    pub path: String,
    /// The managers that own it.
    pub managers: BTreeSet<String>,
    /// True if a rule or an autoscaler keeps `apply` and `own` from it.
    pub is_left_alone: bool,
}

/// The upgrade of one object.
#[derive(Debug)]
pub struct Upgrade<'a> {
    target: &'a Target,
    live: &'a LiveObject,
    /// The object as Helm applies it.
    pub object: Value,
    contested: Vec<Contested<'a>>,
}

/// A field of the release that others own.
#[derive(Debug)]
struct Contested<'a> {
    path: FieldPath,
    owners: Vec<&'a ManagedFieldsEntry>,
    /// True if the server would see another value.
    is_changed: bool,
}

impl<'a> Upgrade<'a> {
    /// The upgrade of an object to the manifest that it has already; `None` if nobody but Helm owns a part of it.
    pub fn of(target: &'a Target, live: &'a LiveObject, schema: TypeRef<'_>, release: &ReleaseName) -> Option<Self> {
        let mut desired = target.desired.clone();
        desired.join_release(release);
        let object = desired.to_tree();
        let owners = &live.current.owners;
        let others: Vec<&ManagedFieldsEntry> =
            owners.ours.iter().chain(&owners.others).filter(|entry| !is_of_helm(entry)).collect();
        let api_version = target.key.gvk.api_version();
        // The names of fields may be others in another version, and the server invents an owner where there is no record.
        let is_unclear =
            |entry: &&&ManagedFieldsEntry| entry.api_version != api_version && entry.subresource != "status";
        let has_record = owners.ours.is_some() || !owners.others.is_empty();
        let is_open = !has_record || !owners.unreadable.is_empty() || others.iter().any(|entry| is_unclear(&entry));
        let mut contested = Vec::new();
        let mut wanted = Lookup::of(&object);
        let mut values = Lookup::of(&live.current.object);
        field_set(&object, schema, target.kind().as_ref()).visit(&mut |path, below| {
            let Some(to) = wanted.value(path).filter(|_| below.is_empty()) else { return };
            let owning = |entry: &&&ManagedFieldsEntry| entry.fields.contains_at_or_below(path);
            let owners: Vec<&ManagedFieldsEntry> = others.iter().filter(owning).copied().collect();
            if !owners.is_empty() {
                let is_changed = !is_accepted(to, values.value(path));
                contested.push(Contested { path: path.clone(), owners, is_changed });
            }
        });
        (is_open || !contested.is_empty()).then_some(Self { target, live, object, contested })
    }

    /// The fields that the server would refuse, as far as the record of owners shows it.
    pub fn predicted(&self) -> Vec<RefusedField> {
        let changed = self.contested.iter().filter(|contested| contested.is_changed);
        let refused = changed.map(|Contested { path, owners, .. }| RefusedField {
            path: self.path(path),
            managers: owners.iter().map(|owner| one_line(&owner.manager, NAME)).collect(),
            is_left_alone: self.is_left_alone(path),
        });
        refused.collect()
    }

    /// The fields that the server has refused; `None` if it has refused something else.
    pub fn refused(&self, status: &StatusError) -> Option<Vec<RefusedField>> {
        let conflicts = status.causes.iter().filter(|cause| cause.reason == CONFLICT);
        let known: BTreeMap<String, &FieldPath> =
            self.contested.iter().map(|contested| (server_path(&contested.path), &contested.path)).collect();
        let mut refused: BTreeMap<String, RefusedField> = BTreeMap::new();
        for cause in conflicts {
            let path = known.get(&cause.field).copied();
            let shown = path.map_or_else(|| self.shown(&cause.field), |path| self.path(path));
            let is_left_alone = path.is_some_and(|path| self.is_left_alone(path));
            let field = refused.entry(shown.clone()).or_insert_with(|| RefusedField {
                path: shown,
                managers: BTreeSet::new(),
                is_left_alone,
            });
            field.managers.extend(manager_of(cause));
        }
        if refused.is_empty() {
            return None;
        }
        if status.more_causes > 0 {
            for field in self.predicted() {
                refused.entry(field.path.clone()).or_insert(field);
            }
        }
        Some(refused.into_values().collect())
    }

    fn path(&self, path: &FieldPath) -> String {
        Secrecy::of_target(self.target, Some(&self.live.current.object)).shown_path(path).to_string()
    }

    fn is_left_alone(&self, path: &FieldPath) -> bool {
        let ignored: &FieldSet = &self.live.ignored;
        ignored.contains_at_or_above(path) || ignored.contains_at_or_below(path)
    }

    /// A field that is not known by its path. The path of a list item may have a value of the object in it.
    fn shown(&self, field: &str) -> String {
        let objects = [&self.object, &self.live.current.object];
        if self.target.key.gvk.is_secret() {
            return Discreet::of(&objects).field(field).map_or_else(|| "a field".to_owned(), |path| path.to_string());
        }
        if texts_may_quote(self.target, Some(&self.live.current.object), field) {
            return "a field".to_owned();
        }
        one_line(field.trim_start_matches('.'), NAME)
    }
}

fn is_of_helm(entry: &ManagedFieldsEntry) -> bool {
    entry.manager == HELM && entry.operation == Operation::Apply && entry.subresource.is_empty()
}

/// The manager of a conflict (`conflict with "kubectl" with subresource "scale" using apps/v1`: apimachinery
/// `pkg/util/managedfields/internal/conflict.go`).
fn manager_of(cause: &Cause) -> Option<String> {
    let (manager, _) = cause.message.strip_prefix("conflict with \"")?.split_once('"')?;
    Some(one_line(manager, NAME))
}

/// A path as the server writes it (structured-merge-diff `fieldpath/element.go`).
fn server_path(path: &FieldPath) -> String {
    let mut text = String::new();
    for element in path.elements() {
        let _ = match element {
            PathElement::Field(name) => write!(text, ".{name}"),
            PathElement::Key(keys) => {
                let keys: Vec<String> =
                    keys.iter().map(|(name, value)| format!("{name}={}", server_value(value))).collect();
                write!(text, "[{}]", keys.join(","))
            }
            PathElement::Member(value) => write!(text, "[={}]", server_value(value)),
            PathElement::Index(index) => write!(text, "[{index}]"),
        };
    }
    text
}

fn server_value(value: &Scalar) -> String {
    match value {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Text(text) => format!("{text:?}"),
        Scalar::Composite(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_the_server_writes_them() {
        for (path, expected) in [
            ("spec.replicas", ".spec.replicas"),
            ("spec.template.spec.containers[name=web].image", ".spec.template.spec.containers[name=\"web\"].image"),
            ("metadata.labels[\"app.kubernetes.io/managed-by\"]", ".metadata.labels.app.kubernetes.io/managed-by"),
        ] {
            let path: FieldPath = path.parse().unwrap();
            assert_eq!(server_path(&path), expected);
        }
    }

    #[test]
    fn the_manager_of_a_conflict_is_read() {
        let cause = |message: &str| Cause { reason: CONFLICT.into(), message: message.into(), field: String::new() };
        for message in [
            "conflict with \"kubectl\" using apps/v1",
            "conflict with \"kubectl\" with subresource \"scale\" using apps/v1 at 2026-11-20T10:00:00Z",
        ] {
            assert_eq!(manager_of(&cause(message)).as_deref(), Some("kubectl"));
        }
        assert_eq!(manager_of(&cause("something else")), None);
    }
}
