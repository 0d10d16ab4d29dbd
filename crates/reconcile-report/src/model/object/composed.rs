//! The report of an object from its target and what was decided, observed and done.

use reconcile_core::compare::{Action, Class, Conflict, Decision, ObjectDiff, Side};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::effects::of_deletion;
use reconcile_core::live::Target;
use reconcile_core::live::readiness::ObjectReadiness;
use reconcile_core::manifest::{BaseObject, BaseState};
use reconcile_core::own::Handover;
use reconcile_core::pass::TurnResult;
use reconcile_core::plan::deletion::Deletion;
use reconcile_core::rare::Rare;
use reconcile_core::upgrade::HELM;
use serde_json::Value;
use structured_merge::ObjectKey;

use super::{ObjectFields, ObjectReport, ObjectRun};

/// Largest number of changed fields of an object that are looked up in its manifest: each costs a search.
const LINES: usize = 1_000;

impl ObjectReport {
    /// The report of the decision about one target.
    pub fn new(target: &Target, decision: &Decision) -> Self {
        let mut report = Self::about(target, decision.diff.clone());
        report.messages.warnings = target.desired.warnings().iter().chain(&decision.warnings).cloned().collect();
        report.details.rules.clone_from(&decision.rules);
        report.details.times = decision.times();
        if report.differs() || report.is_ownership_only() {
            report.name_live(decision.live());
        }
        report.withhold_keys(target, decision);
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
        report.withhold_keys(target, decision);
        report
    }

    fn about(target: &Target, diff: ObjectDiff) -> Self {
        let mut report = Self::unwanted(&target.key, diff);
        report.source = Some(target.desired.origin.source.clone());
        let record = target.desired.origin.record.as_ref();
        report.release = record.and_then(|record| record.named_release()).map(Box::new);
        let is_of_helm = |conflict: &Conflict| conflict.owner.manager == HELM;
        let conflicts = &report.diff.conflicts;
        if record.is_some_and(|record| record.release().is_some())
            && report.messages.hint.is_none()
            && !conflicts.is_empty()
            && conflicts.iter().all(is_of_helm)
        {
            // Helm is in conflict with its own manifest: nobody takes over.
            let hint = "`--field-manager helm` compares as Helm itself, which is how `apply --from` restores a release";
            report.messages.hint = Some(hint.to_owned());
        }
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

    /// Records that a pass skips the object, so that its changes have no effects.
    pub fn will_be_skipped(&mut self, warning: &str) {
        self.diff.effects.clear();
        self.messages.warnings.push(warning.to_owned());
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
}
