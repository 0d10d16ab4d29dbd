//! Reads an object of a report, and refuses fields that it does not know: serde does not do both for an object with flattened parts.

use reconcile_core::compare::{Action, Conflict, Effect, Evidence, IgnoredFields, LeftDifference, Replacement, Side};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::readiness::ObjectReadiness;
use reconcile_core::manifest::{BaseState, ReleaseName, Source};
use reconcile_core::own::Transfer;
use reconcile_core::pass::Outcome;
use reconcile_core::plan::deletion::Deletion;
use serde::{Deserialize, Deserializer};
use structured_merge::FieldPath;

use super::change::ChangeReport;
use super::rare::Rare;
use super::{ObjectDiff, ObjectMessages, ObjectReport, ObjectRun};
use crate::model::classes::ClassInfo;
use crate::model::diagnostic;
use crate::model::identity::key;

/// The fields of an object, as the JSON has them.
#[derive(Deserialize)]
#[serde(rename = "ObjectReport", rename_all = "camelCase", deny_unknown_fields)]
struct ObjectEntry {
    api_version: String,
    kind: String,
    namespace: Option<String>,
    name: String,
    renamed_from: Option<String>,
    release: Option<ReleaseName>,
    source: Option<Source>,
    resource_version: Option<String>,
    position: Option<usize>,
    action: Action,
    evidence: Option<Evidence>,
    base: Option<BaseState>,
    /// Computed from the changes instead.
    #[serde(rename = "side")]
    _side: Option<Side>,
    replacement: Option<Replacement>,
    deletion: Option<Deletion>,
    changes: Vec<ChangeReport>,
    transfers: Option<Vec<Transfer>>,
    conflicts: Vec<Conflict>,
    #[serde(default)]
    added_items: Vec<FieldPath>,
    #[serde(default)]
    known_added_items: usize,
    #[serde(default)]
    ignored: Vec<IgnoredFields>,
    #[serde(default)]
    effects: Vec<Effect>,
    #[serde(default)]
    left: Vec<LeftDifference>,
    warnings: Vec<String>,
    #[serde(default)]
    server_warnings: usize,
    #[serde(default, deserialize_with = "diagnostic::read_of_object")]
    error: Option<Diagnostic>,
    reason: Option<String>,
    hint: Option<String>,
    outcome: Option<Outcome>,
    readiness: Option<ObjectReadiness>,
    #[serde(default)]
    changed_during_run: bool,
    #[serde(default)]
    postponed: bool,
}

impl From<ObjectEntry> for ObjectReport {
    fn from(entry: ObjectEntry) -> Self {
        let ObjectEntry {
            api_version,
            kind,
            namespace,
            name,
            renamed_from,
            release,
            source,
            resource_version,
            position,
            ..
        } = entry;
        let ObjectEntry {
            action,
            evidence,
            base,
            replacement,
            deletion,
            mut changes,
            transfers,
            conflicts,
            added_items,
            known_added_items,
            ignored,
            effects,
            left,
            ..
        } = entry;
        for change in &mut changes {
            // A report of an earlier version names no sides. What is no drift has none.
            let by_class = Side::of_change(change.class, change.op);
            change.side = by_class.and(change.side).or(by_class);
        }
        let ObjectEntry { warnings, server_warnings, error, reason, hint, .. } = entry;
        let ObjectEntry { outcome, readiness, changed_during_run, postponed, .. } = entry;
        Self {
            key: key(&api_version, &kind, namespace, name),
            renamed_from,
            release: release.map(Box::new),
            source,
            resource_version,
            position,
            diff: ObjectDiff {
                action,
                evidence,
                base,
                side: ClassInfo::side_of(&changes),
                replacement,
                deletion: deletion.map(Box::new),
                changes,
                transfers,
                conflicts,
                added_items,
                known_added_items,
                ignored,
                effects,
                left,
            },
            messages: ObjectMessages { warnings, server_warnings, error: error.map(Box::new), reason, hint }.into(),
            run: ObjectRun { outcome, readiness: readiness.map(Box::new), changed_during_run, postponed },
            details: Rare::default(),
        }
    }
}

impl<'de> Deserialize<'de> for ObjectReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ObjectEntry::deserialize(deserializer).map(Self::from)
    }
}
