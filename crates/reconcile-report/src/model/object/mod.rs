pub(crate) mod disposition;
pub(crate) mod read_object;
pub(crate) mod renamed;
mod withheld;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use reconcile_core::compare::{Action, Class, Conflict, Decision, Effect, ObjectDiff, Side};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::effects::of_deletion;
use reconcile_core::live::Target;
use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use reconcile_core::manifest::{BaseObject, BaseState, ReleaseName, Source};
use reconcile_core::own::Handover;
use reconcile_core::owners::{ObjectTimes, Owner};
use reconcile_core::pass::{Outcome, TurnResult};
use reconcile_core::plan::deletion::Deletion;
use reconcile_core::rare::{MayBeEmpty, Rare, is_zero};
use reconcile_core::rules::RuleRef;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey};

use crate::model::diagnostic::ObjectError;
use crate::model::identity::KeyFields;
use crate::model::{diagnostic, identity};
use disposition::Disposition;

/// Largest number of changed fields of an object that are looked up in its manifest: each costs a search.
const LINES: usize = 1_000;

/// One object of the report. Copies share their memory until one of them is changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ObjectReport(Arc<ObjectFields>);

/// The fields of an object of the report.
// Its JSON has the fields of all parts, in this order; `read_object` reads them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ObjectReport", description = "One object of the report.")]
pub struct ObjectFields {
    /// The object.
    #[serde(flatten, serialize_with = "identity::as_fields")]
    #[schemars(with = "KeyFields")]
    pub key: ObjectKey,
    /// The former name of an object whose name has a hash of its content; the former object is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// The release of Helm that has it, with `--from helm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<Box<ReleaseName>>,
    /// Its location; absent for a member of an apply set that is in no manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The `resourceVersion` of the live object, if it differs from the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// Its position in the order of all objects, with `--shard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// The result of its comparison.
    #[serde(flatten)]
    pub diff: ObjectDiff,
    /// The messages about it.
    #[serde(flatten)]
    #[schemars(with = "ObjectMessages")]
    pub messages: Rare<ObjectMessages>,
    /// The results of the run.
    #[serde(flatten)]
    pub run: ObjectRun,
    /// The facts that decide the output of some formats, and are not part of the JSON.
    #[serde(skip)]
    pub details: Rare<Details>,
}

/// The messages about one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ObjectMessages {
    /// Warnings for the author of the manifest.
    pub warnings: Vec<String>,
    /// The number of these warnings that the server gave; absent if there are none.
    #[serde(default, rename = "serverWarnings", skip_serializing_if = "is_zero")]
    pub server_warnings: usize,
    /// The error for which it could not be compared or written.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "diagnostic::of_object")]
    #[schemars(with = "Option<ObjectError<'static>>")]
    pub error: Option<Box<Diagnostic>>,
    /// The reason why it is to be replaced or deleted, is kept, or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The action to take about the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The results of the run for one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRun {
    /// The outcome of `apply`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Its readiness, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness: Option<Box<ObjectReadiness>>,
    /// True if it changed during the run, so that its differences are no longer those that were shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed_during_run: bool,
    /// True if it was not deleted because objects that were applied are not ready: a later run does it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub postponed: bool,
}

/// The facts about an object that are not part of its JSON: formats show some of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The uid of the live object, if it differs from the manifest.
    pub uid: Option<String>,
    /// The times of the live object that bound the writes of others.
    pub times: ObjectTimes,
    /// The warnings that only the write returned.
    pub notes: Vec<String>,
    /// True if its manifest names fields to ignore.
    pub is_annotated: bool,
    /// The lines of the changed fields in the manifest.
    pub lines: BTreeMap<FieldPath, u32>,
    /// The counts of it, before known differences were left out.
    pub(crate) counted: Option<Counted>,
    /// True if its conflicts were left out, because they are shown with those of other objects.
    pub(crate) is_conflict_shown: bool,
    /// The ignore rules that cover a field of it, whether or not the field differs.
    pub rules: BTreeSet<RuleRef>,
}

impl MayBeEmpty for ObjectMessages {
    fn empty() -> &'static Self {
        static EMPTY: LazyLock<ObjectMessages> = LazyLock::new(ObjectMessages::default);
        &EMPTY
    }
}

impl MayBeEmpty for Details {
    fn empty() -> &'static Self {
        static EMPTY: LazyLock<Details> = LazyLock::new(Details::default);
        &EMPTY
    }
}

/// An object as summaries count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The part that it takes in a pass.
    pub disposition: Disposition,
    /// The side that changed.
    pub side: Option<Side>,
    /// True if an apply overwrites what changed in the cluster with what changed in the manifest.
    pub overwrites: bool,
}

/// The schema of its fields.
impl JsonSchema for ObjectReport {
    fn schema_name() -> Cow<'static, str> {
        ObjectFields::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        ObjectFields::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ObjectFields::json_schema(generator)
    }
}

impl From<ObjectFields> for ObjectReport {
    fn from(fields: ObjectFields) -> Self {
        Self(Arc::new(fields))
    }
}

impl Deref for ObjectReport {
    type Target = ObjectFields;

    fn deref(&self) -> &ObjectFields {
        &self.0
    }
}

impl DerefMut for ObjectReport {
    /// The fields to be changed, which are copied first if others share them.
    fn deref_mut(&mut self) -> &mut ObjectFields {
        Arc::make_mut(&mut self.0)
    }
}

impl ObjectReport {
    /// Its fields, which are copied if others share them.
    pub(crate) fn into_fields(self) -> ObjectFields {
        Arc::unwrap_or_clone(self.0)
    }

    /// The report of the decision about one target.
    pub fn new(target: &Target, decision: &Decision) -> Self {
        let mut report = Self::about(target, decision.diff.clone());
        report.messages.warnings = target.desired.warnings().iter().chain(&decision.warnings).cloned().collect();
        report.details.rules.clone_from(&decision.rules);
        report.details.times = decision.times();
        if report.differs() || report.is_ownership_only() {
            report.name_live(decision.live());
        }
        report.withhold_keys(target);
        report.shrink();
        report
    }

    /// Frees the memory of parts that are empty.
    fn shrink(&mut self) {
        let ObjectFields { diff, messages, details, .. } = &mut **self;
        diff.notes.shrink();
        messages.shrink();
        details.shrink();
    }

    /// The report of an object whose owners change: the fields that differ stay with theirs.
    pub fn handed_over(target: &Target, decision: &Decision, handover: &Result<Handover, Diagnostic>) -> Self {
        let mut report = Self::new(target, decision);
        let (transfers, changes) = match handover {
            Ok(Handover { transfers, changes, .. }) => (transfers.clone(), changes.clone()),
            Err(error) => {
                report.messages.error = Some(Box::new(error.clone()));
                Default::default()
            }
        };
        report.diff.action = if handover.is_ok() { Action::None } else { Action::Unknown };
        report.diff.changes = changes;
        report.diff.find_side();
        report.diff.transfers = Some(transfers.into());
        report.diff.replacement = None;
        report.diff.conflicts.clear();
        report.diff.added_items.clear();
        report.messages.reason = None;
        report.messages.hint = None;
        report.diff.notes = Rare::default();
        report.find_lines(target);
        report.name_live(decision.live());
        report.withhold_keys(target);
        report
    }

    /// The former object of one under a new name.
    pub(crate) fn former(&self) -> Option<ObjectKey> {
        Some(ObjectKey { name: self.renamed_from.clone()?, ..self.key.clone() })
    }

    /// Returns true if some of its fields go to a manager.
    pub fn has_transfers(&self) -> bool {
        self.diff.transfers.as_ref().is_some_and(|transfers| !transfers.is_empty())
    }

    /// Returns true if `own` leaves fields with their owners, because their values differ.
    pub(crate) fn stays_different(&self) -> bool {
        self.diff.transfers.is_some() && self.diff.has_drift()
    }

    fn about(target: &Target, diff: ObjectDiff) -> Self {
        let mut report = Self::unwanted(&target.key, diff);
        report.source = Some(target.desired.origin.source.clone());
        let release = target.desired.origin.record.as_ref().and_then(|record| record.named_release());
        report.release = release.map(Box::new);
        report.take_base(target.base.get().map(BaseObject::state));
        report.details.is_annotated = !target.desired.ignored().is_empty();
        report.find_lines(target);
        report.position = target.shard_member.map(|member| member.position);
        report
    }

    /// Takes the part of the base of the object, which tells on which side a missing object is missing.
    fn take_base(&mut self, base: Option<BaseState>) {
        self.diff.base = base;
        let Some(side) = base.map(Side::of_missing) else { return };
        self.diff.changes.iter_mut().filter(|change| change.class == Class::Missing).for_each(|change| {
            change.side = Some(side);
        });
        self.diff.find_side();
    }

    /// The report of differences alone, for a member of an apply set that no manifest names.
    pub fn unwanted(key: &ObjectKey, diff: ObjectDiff) -> Self {
        let mut report = Self::from(ObjectFields {
            key: key.clone(),
            renamed_from: None,
            release: None,
            source: None,
            resource_version: None,
            position: None,
            diff,
            messages: Rare::default(),
            run: ObjectRun::default(),
            details: Rare::default(),
        });
        report.diff.find_side();
        if !report.diff.notes.is_empty() {
            report.messages.error = report.diff.notes.error.take();
            if let Some(reason) = report.diff.notes.reason.take() {
                report.messages.reason = Some(reason.text);
                report.messages.hint = reason.hint;
            }
            report.shrink();
        }
        if report.diff.action == Action::Delete
            && let Some(live) = report.diff.changes.first().and_then(|change| change.live.clone())
        {
            live.with(|live| {
                report.name_live(Some(live));
                report.diff.effects.extend(of_deletion(key, live));
            });
        }
        report
    }

    /// Adds what has to be allowed before it is deleted, or the reason why it cannot be.
    #[must_use]
    pub fn with_deletion(mut self, deletion: Option<&Deletion>, refusal: Option<&Diagnostic>) -> Self {
        self.diff.deletion = deletion.cloned().map(Box::new);
        self.messages.error = refusal.cloned().map(Box::new);
        if refusal.is_some() || deletion.is_some_and(|deletion| !deletion.allowed && !deletion.needs.is_empty()) {
            self.diff.effects.clear();
        }
        self
    }

    /// Names the version of the live object.
    fn name_live(&mut self, live: Option<&Value>) {
        let field = |name: &str| Some(live?.get("metadata")?.get(name)?.as_str()?.to_owned());
        self.resource_version = field("resourceVersion");
        self.details.uid = field("uid");
    }

    /// Finds the lines of the changed fields.
    fn find_lines(&mut self, target: &Target) {
        let paths = self.diff.changes.iter().map(|change| &change.path).filter(|path| !path.elements().is_empty());
        self.details.lines = paths.take(LINES).map(|path| (path.clone(), target.desired.line_of(path))).collect();
    }

    /// The line of a changed field in the manifest, or of the nearest parent that is written there, if it is known.
    pub fn line_of(&self, path: &FieldPath) -> Option<u32> {
        self.details.lines.get(path).copied()
    }

    /// The report of the readiness of one target, without a comparison.
    pub fn observed(target: &Target, readiness: ObjectReadiness) -> Self {
        let diagnostic = readiness.diagnostic.clone();
        let unknown = diagnostic.clone().unwrap_or_else(|| Diagnostic::new(Code::Unknown, ""));
        let mut report = Self::about(target, ObjectDiff::unknown(unknown));
        if diagnostic.is_none() {
            report.diff.action = Action::None;
            report.messages.error = None;
        }
        report.run.readiness = Some(Box::new(readiness));
        report
    }

    /// Adds the end of its turn in the pass.
    pub fn settle(&mut self, turn: &TurnResult) {
        let TurnResult { outcome, error, reason, hint, notes, new_diff, postponed } = turn;
        if let Some(diff) = new_diff {
            let mut new = Self::unwanted(&self.key, (**diff).clone());
            new.take_base(self.diff.base);
            let unmanaged = self.diff.notes.unmanaged;
            let ObjectDiff { evidence, transfers, added_items, known_added_items, ignored, .. } =
                std::mem::replace(&mut self.diff, new.into_fields().diff);
            self.diff.evidence = evidence;
            self.diff.transfers = transfers;
            self.diff.added_items = added_items;
            self.diff.known_added_items = known_added_items;
            self.diff.ignored = ignored;
            self.diff.notes.unmanaged = unmanaged;
            self.run.changed_during_run = true;
        }
        self.run.outcome = Some(*outcome);
        self.run.postponed = *postponed;
        let ObjectFields { messages, details, source, .. } = &mut **self;
        messages.warnings.extend(notes.iter().cloned());
        details.notes.extend(notes.iter().cloned());
        if error.is_some() {
            messages.error = error.clone().map(Box::new);
            // The error of a deletion replaces the reason for it.
            messages.reason.take_if(|_| source.is_none());
        }
        messages.reason = reason.clone().or(messages.reason.take());
        messages.hint = hint.clone().or(messages.hint.take());
        self.shrink();
    }

    /// The part that it takes in a pass with the same flags.
    pub(crate) fn disposition(&self) -> Disposition {
        let ObjectDiff { action, replacement, conflicts, .. } = &self.diff;
        let is_blocked = !conflicts.is_empty() || self.details.is_conflict_shown;
        match Disposition::of(*action, *replacement) {
            Disposition::Update if is_blocked => Disposition::Conflict,
            Disposition::InSync if self.is_kept() => Disposition::Kept,
            Disposition::InSync if self.is_left_whole() => Disposition::Left,
            disposition => disposition,
        }
    }

    /// The part of a pass that it takes and the side that changed, for counts: also of differences that are not shown.
    pub(crate) fn counted(&self) -> Counted {
        self.details.counted.unwrap_or_else(|| Counted {
            disposition: self.disposition(),
            side: self.diff.side,
            overwrites: self.diff.changes.iter().any(|change| change.side == Some(Side::Both)),
        })
    }

    /// The conflicts that its changes do not name.
    pub(crate) fn other_conflicts(&self) -> Vec<&Conflict> {
        let changes = self.diff.changes.iter().filter(|change| change.class == Class::Conflict);
        let named: BTreeMap<&FieldPath, &[Owner]> =
            changes.map(|change| (&change.path, &change.managers[..])).collect();
        let is_named =
            |conflict: &Conflict| named.get(&conflict.path).is_some_and(|owners| owners.contains(&conflict.owner));
        self.diff.conflicts.iter().filter(|conflict| !is_named(conflict)).collect()
    }

    /// Returns true if an apply ends running Pods of it.
    pub(crate) fn restarts(&self) -> bool {
        self.diff.effects.iter().any(Effect::is_restart)
    }

    /// Returns true if it is a member of an apply set that is no longer in the manifests and is kept.
    pub fn is_kept(&self) -> bool {
        self.source.is_none() && self.diff.action == Action::None
    }

    /// Returns true if it is missing or a member to delete, and the run leaves it so.
    pub(crate) fn is_left_whole(&self) -> bool {
        self.diff.left.iter().any(|left| left.path.elements().is_empty())
    }

    /// Returns true if it is to be deleted, and cannot be for a reason that was known before.
    pub(crate) fn is_refused_deletion(&self) -> bool {
        self.diff.action == Action::Delete && self.run.outcome.is_none() && self.messages.error.is_some()
    }

    /// Returns true if it now matches the manifest.
    pub fn is_done(&self) -> bool {
        self.run.outcome.is_some_and(Outcome::is_done)
    }

    /// Returns true if something was done to it.
    pub fn is_changed(&self) -> bool {
        self.is_done() && self.run.outcome != Some(Outcome::Unchanged)
    }

    /// Returns true if only the ownership of fields would change.
    pub fn is_ownership_only(&self) -> bool {
        self.diff.is_ownership_only()
    }

    /// Returns true if it does not match its manifest, or did not before it was written.
    pub(crate) fn differs(&self) -> bool {
        self.diff.action != Action::None || self.diff.has_drift()
    }

    /// Hides the differences that the baseline has. An object without other differences is shown as in sync, while the counts
    /// keep its action.
    pub(crate) fn leave_out_known(&mut self) {
        self.details.counted = Some(self.counted());
        if self.is_known() {
            self.diff.action = Action::None;
            self.messages.reason = None;
            self.messages.hint = None;
        }
        let ObjectFields { diff, .. } = &mut **self;
        let known: BTreeSet<&FieldPath> =
            diff.changes.iter().filter(|change| change.known).map(|change| &change.path).collect();
        diff.conflicts.retain(|conflict| !known.contains(&conflict.path));
        diff.changes.retain(|change| !change.known);
        diff.find_side();
    }

    /// Returns true if all of its differences are known, and were left out.
    pub(crate) fn is_known_left_out(&self) -> bool {
        self.details.counted.is_some_and(|counted| counted.side.is_some()) && self.diff.action == Action::None
    }

    /// Returns true if the baseline has all of its changes, where only the ownership of fields would change.
    pub(crate) fn is_known_ownership(&self) -> bool {
        self.diff.changes.iter().all(|change| change.known)
    }

    /// Returns true if it differs, and the baseline has all of its differences.
    pub fn is_known(&self) -> bool {
        let mut drift = self.diff.drift().peekable();
        drift.peek().is_some() && drift.all(|change| change.known)
    }

    /// Returns true if nothing was to be written, or if it is known what became of it.
    pub(crate) fn is_settled(&self) -> bool {
        !self.differs() || self.run.outcome.is_some()
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        self.diff.action == Action::Unknown
            || self.messages.error.is_some()
            || self.run.outcome.is_some() && !self.is_done() && !self.run.postponed
            || self.run.readiness.as_ref().is_some_and(|readiness| readiness.state == ReadinessState::Unknown)
    }

    /// Returns true if it is not ready, or waits until others are.
    pub(crate) fn waits(&self) -> bool {
        self.is_unready() || self.run.postponed
    }

    /// Returns true if its readiness was checked and it is not ready.
    pub fn is_unready(&self) -> bool {
        self.run.readiness.as_ref().is_some_and(|readiness| !readiness.is_current())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There may be a hundred thousand of them.
    #[test]
    fn the_report_of_an_object_is_small() {
        assert!(size_of::<ObjectFields>() <= 440, "{} bytes", size_of::<ObjectFields>());
    }
}
