//! Reads an object of a report, and refuses fields that it does not know. A derived reader of an object with flattened parts would keep all of
//! its fields in memory first, in a form that neither the bound on values nor [`reconcile_core::exact`] sees.

use super::{ObjectFields, ObjectMessages, ObjectReport, ObjectRun};
use crate::model::diagnostic;
use crate::model::identity::key;
use reconcile_core::compare::{
    Action, Conflict, Effect, Evidence, FieldChange, IgnoredFields, LeftDifference, ObjectDiff, Replacement, Side,
};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::readiness::ObjectReadiness;
use reconcile_core::manifest::{BaseState, ReleaseName, Source};
use reconcile_core::owners::Transfer;
use reconcile_core::pass::Outcome;
use reconcile_core::plan::deletion::Deletion;
use reconcile_core::rare::Rare;
use serde::{Deserialize, Deserializer};
use structured_merge::FieldPath;

/// The fields of an object, as the JSON has them.
#[derive(Deserialize)]
#[serde(rename = "ObjectReport", rename_all = "camelCase", deny_unknown_fields)]
struct ObjectEntry {
    api_version: String,
    kind: String,
    namespace: Option<String>,
    name: String,
    renamed_from: Option<String>,
    release: Option<Box<ReleaseName>>,
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
    deletion: Option<Box<Deletion>>,
    changes: Vec<FieldChange>,
    transfers: Option<Box<[Transfer]>>,
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
    readiness: Option<Box<ObjectReadiness>>,
    #[serde(default)]
    changed_during_run: bool,
    #[serde(default)]
    postponed: bool,
}

impl From<ObjectEntry> for ObjectReport {
    fn from(mut entry: ObjectEntry) -> Self {
        for change in &mut entry.changes {
            // A report of an earlier version names no sides. What is no drift has none.
            let by_class = Side::of_change(change.class, change.op);
            change.side = by_class.and(change.side).or(by_class);
        }
        let mut diff = ObjectDiff {
            base: entry.base,
            replacement: entry.replacement,
            deletion: entry.deletion,
            changes: entry.changes,
            transfers: entry.transfers,
            conflicts: entry.conflicts,
            added_items: entry.added_items,
            known_added_items: entry.known_added_items,
            ignored: entry.ignored,
            effects: entry.effects,
            left: entry.left,
            ..ObjectDiff::new(entry.action, entry.evidence)
        };
        diff.find_side();
        let messages = ObjectMessages {
            warnings: entry.warnings,
            server_warnings: entry.server_warnings,
            error: entry.error.map(Box::new),
            reason: entry.reason,
            hint: entry.hint,
        };
        Self::from(ObjectFields {
            key: key(&entry.api_version, &entry.kind, entry.namespace, entry.name),
            renamed_from: entry.renamed_from,
            release: entry.release,
            source: entry.source,
            resource_version: entry.resource_version,
            position: entry.position,
            diff,
            messages: messages.into(),
            run: ObjectRun {
                outcome: entry.outcome,
                readiness: entry.readiness,
                changed_during_run: entry.changed_during_run,
                postponed: entry.postponed,
            },
            details: Rare::default(),
        })
    }
}

impl<'de> Deserialize<'de> for ObjectReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ObjectEntry::deserialize(deserializer).map(Self::from)
    }
}
