//! Makes the report of a run: of its events, and of what is known about the run as a whole.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher as _;

use reconcile_report::{
    ApplySetInfo, Command, DroppedObject, FailOn, FormerObject, KnownDifferences, ObjectReport, ParentAction, Renaming,
    RenamingsElsewhere, Report, created, renamings,
};
use structured_merge::ObjectKey;

use crate::cli::CompareArgs;
use crate::engine::event::{Event, Judgement, Stage};
use crate::engine::prune::ParentChange;
use crate::engine::reconciliation::Reconciliation;
use reconcile_core::compare::{Action, IgnoredFields};
use reconcile_core::live::Target;
use reconcile_core::live::readiness::ObjectReadiness;
use reconcile_core::object::Shard;
use reconcile_core::pass::Outcome;
use reconcile_core::text::listed;

/// The most fields that a warning names.
const FREED_SHOWN: usize = 3;
/// The field manager of the controller that scales for horizontal autoscalers.
const SCALER: &str = "kube-controller-manager";

/// The objects of a run as its last events report them, in the order in which they were compared.
#[derive(Default)]
pub(crate) struct ReportBuilder {
    objects: RefCell<Objects>,
    /// The differences that a baseline has.
    known: Option<KnownDifferences>,
    shard: Option<Shard>,
    /// True if effects are reported.
    has_effects: bool,
    /// The differences that the run resolves, if they were chosen.
    only: Vec<&'static str>,
    /// The field managers whose additions the run removes.
    remove_added: Option<BTreeSet<String>>,
    /// The former objects of new ones with generated names.
    formers: RefCell<Vec<FormerObject>>,
    /// The objects that only the base has and that exist.
    dropped: RefCell<Vec<DroppedObject>>,
    /// The number of objects that were left out because their manifests are those of the base.
    unchanged: Cell<Option<usize>>,
}

#[derive(Default)]
struct Objects {
    reports: Vec<ObjectReport>,
    /// The places of the reports, by the hashes of their keys. Of several with the same hash, the first is here.
    places: HashMap<u64, usize>,
}

impl ReportBuilder {
    /// Marks the differences that a baseline has, in the objects of a shard.
    pub fn beside(self, known: Option<KnownDifferences>, shard: Option<Shard>) -> Self {
        Self { known, shard, ..self }
    }

    /// Reports the effects of an apply, and what these flags choose.
    pub fn with_flags(self, args: &CompareArgs) -> Self {
        Self { has_effects: !args.no_effects, only: args.chosen(), remove_added: args.removed_managers(), ..self }
    }

    /// Folds an event into the reports. Returns the place and the report of its object as it is now, if it is about one.
    pub fn fold(&self, event: Event<'_>) -> Option<(usize, RefMut<'_, ObjectReport>)> {
        let mut objects = self.objects.borrow_mut();
        let place = objects.fold(event)?;
        let mut report = RefMut::filter_map(objects, |objects| objects.reports.get_mut(place)).ok()?;
        if !self.has_effects {
            report.diff.effects.clear();
        }
        if let (Some(known), Event::Compared(..) | Event::Judged(..)) = (&self.known, &event) {
            known.mark(&mut report);
        }
        Some((place, report))
    }

    /// The report as it is now.
    pub fn report(&self, command: Command, gate: &FailOn, pass: &Reconciliation<'_>) -> Report {
        let objects = self.objects.borrow().reports.clone();
        complete(self.compared(command, objects, gate), pass)
    }

    /// The report of a run that gives fields to a manager, or only shows which.
    pub fn handed_over(&self, has_written: bool) -> Report {
        Report::handed_over(self.objects.borrow().reports.clone(), has_written)
    }

    /// The report for a plan, in which a generated object and its former one of another name are two.
    pub fn plan(&self, gate: &FailOn) -> Report {
        Report::compared(Command::Diff, self.objects.borrow().reports.clone(), gate)
    }

    /// The objects that may be the former ones of new ones with generated names.
    pub fn renamings(&self, dropped: &[ObjectKey], elsewhere: RenamingsElsewhere) -> Vec<Renaming> {
        renamings(&self.objects.borrow().reports, dropped, elsewhere)
    }

    /// The objects with generated names that do not exist.
    pub fn created(&self) -> BTreeSet<ObjectKey> {
        created(&self.objects.borrow().reports).map(|(_, key)| key.clone()).collect()
    }

    /// Shows new objects as the former ones under a new name.
    pub fn know_formers(&self, formers: Vec<FormerObject>) {
        self.formers.replace(formers);
    }

    /// Adds the objects that only the base has and that exist, and the number of those whose manifests are those of the base.
    pub fn know_rest_of_base(&self, dropped: Vec<DroppedObject>, unchanged: Option<usize>) {
        self.dropped.replace(dropped);
        self.unchanged.set(unchanged);
    }

    /// The report of compared objects, with everything that is known without the pass. Generated objects and their former ones are shown
    /// as one, of which a baseline may have the differences.
    fn compared(&self, command: Command, objects: Vec<ObjectReport>, gate: &FailOn) -> Report {
        let mark = |object: &mut ObjectReport| {
            if let Some(known) = &self.known {
                known.mark_paired(object);
            }
        };
        let report = Report::compared_paired(command, objects, &self.formers.borrow(), mark, gate);
        self.beside_baseline(report)
            .with_only(self.only.clone(), self.remove_added.clone())
            .with_rest_of_base(self.dropped.borrow().clone(), self.unchanged.get())
    }

    /// The report at the end, which takes the objects along.
    pub fn last_report(&self, command: Command, gate: &FailOn, pass: &Reconciliation<'_>) -> Report {
        complete(self.report_without_pass(command, gate), pass)
    }

    /// The report of objects that were compared without a cluster. It takes them along.
    pub fn report_without_pass(&self, command: Command, gate: &FailOn) -> Report {
        self.compared(command, self.objects.take().reports, gate)
    }

    fn beside_baseline(&self, report: Report) -> Report {
        let Some(known) = &self.known else { return report };
        let resolved = known.resolved(&report.objects, self.shard);
        let outside = known.outside(&report.objects, self.shard);
        let mut report = report.with_baseline(resolved);
        report.warnings.extend(outside);
        report
    }
}

/// The report of objects whose readiness was observed, and which were not compared.
pub(crate) fn observed<'t>(targets: impl Iterator<Item = &'t Target>, readiness: Vec<ObjectReadiness>) -> Report {
    let objects = targets.zip(readiness).map(|(target, readiness)| ObjectReport::observed(target, readiness));
    Report::observed(Command::Status, objects.collect())
}

/// Adds the warnings of the comparison, and the apply set with its warnings and errors.
fn complete(mut report: Report, pass: &Reconciliation<'_>) -> Report {
    report.warnings.extend(pass.warnings().iter().cloned());
    let Some(set) = pass.apply_set() else { return report };
    let action = match set.parent_change {
        ParentChange::None => ParentAction::None,
        ParentChange::Create => ParentAction::Create,
        ParentChange::Update => ParentAction::Update,
    };
    let info = ApplySetInfo::new(&set.set().id, &set.set().parent, action);
    let deletes_in = set.deletion_only_namespaces().into_iter().collect();
    let mut report = report.with_apply_set(ApplySetInfo { deletes_in, pruned_by: set.pruned_by, ..info });
    report.warnings.extend(set.warnings().iter().cloned());
    // A former object under a new name is deleted as well, and counts with the new one.
    let deletes = report.summary.delete.is_some_and(|count| count > 0)
        || report.objects.iter().any(|object| object.renamed_from.is_some());
    if report.command == Command::Diff && deletes {
        let blocking = report.objects.iter().find(|object| prevents_pruning(object, pass.replaces()));
        let warning = blocking.map(|object| format!("`apply` would prune nothing until {} can be applied", object.key));
        report.warnings.extend(warning);
    }
    let freed: Vec<String> = freed(&report.objects).collect();
    report.warnings.extend(freed);
    report.with_errors(set.errors().to_vec())
}

/// Warnings about fields that the run leaves to an autoscaler which it deletes.
fn freed(objects: &[ObjectReport]) -> impl Iterator<Item = String> {
    let is_deleted = |object: &&ObjectReport| {
        object.diff.action == Action::Delete && object.run.outcome.is_none_or(|outcome| outcome == Outcome::Deleted)
    };
    let deleted: BTreeSet<String> = objects.iter().filter(is_deleted).map(|object| object.key.to_string()).collect();
    objects.iter().flat_map(move |object| {
        let of_deleted =
            object.diff.ignored.iter().filter(|ignored| ignored.is_built_in && deleted.contains(&ignored.rule));
        let warning = |ignored: &IgnoredFields| {
            let paths: Vec<String> = ignored.paths.iter().map(ToString::to_string).collect();
            let paths = listed(paths.iter().map(String::as_str), FREED_SHOWN);
            let deleted = format!("{}: {} is deleted", object.key, ignored.rule);
            // Its controller does not give up what it has set.
            if ignored.managers.values().flatten().any(|manager| manager == SCALER) {
                format!("{deleted}. `{SCALER}` still owns these fields; `--force-conflicts` takes them: {paths}")
            } else {
                format!("{deleted}. The next apply sets these fields: {paths}")
            }
        };
        of_deleted.map(warning).collect::<Vec<_>>()
    })
}

/// Returns true if an object cannot be applied as it is: then members of the apply set are not pruned.
fn prevents_pruning(object: &ObjectReport, replaces: bool) -> bool {
    match object.diff.action {
        Action::Unknown => true,
        Action::Replace => !replaces,
        _ => !object.diff.conflicts.is_empty(),
    }
}

impl Objects {
    /// Folds an event into the report of its object. Returns the place of the report, if the event is about an object that has one.
    fn fold(&mut self, event: Event<'_>) -> Option<usize> {
        match event {
            Event::Compared(target, decision) => Some(self.put(ObjectReport::new(target, decision))),
            Event::HandedOver(target, decision, handover) => {
                let mut report = ObjectReport::handed_over(target, decision, handover);
                report.run.changed_during_run = self.place(&target.key).is_some();
                Some(self.put(report))
            }
            Event::Judged(Judgement { key, diff, deletion, refusal }) => {
                Some(self.put(ObjectReport::unwanted(key, diff.clone()).with_deletion(deletion, refusal)))
            }
            Event::Written(key, result)
            | Event::Skipped(key, result)
            | Event::Pruned(key, result)
            | Event::Revised(key, result) => {
                let place = self.place(key)?;
                self.reports.get_mut(place)?.settle(result);
                Some(place)
            }
            Event::WillBeSkipped(key, warning) => {
                let place = self.place(key)?;
                self.reports.get_mut(place)?.will_be_skipped(warning);
                Some(place)
            }
            Event::Ready(key, readiness) => {
                let place = self.place(key)?;
                self.reports.get_mut(place)?.run.readiness = Some(Box::new(readiness.clone()));
                Some(place)
            }
            // A list that grows is copied, and takes up to three times its memory.
            Event::Began(Stage::Compare, objects) => {
                self.reports.reserve_exact(objects);
                None
            }
            Event::Began(..)
            | Event::Advanced(..)
            | Event::Ended(_)
            | Event::ReadinessChanged(..)
            | Event::Deleting(..)
            | Event::TimedOut { .. } => None,
        }
    }

    fn place(&self, key: &ObjectKey) -> Option<usize> {
        let first = *self.places.get(&self.places.hasher().hash_one(key))?;
        let is_it = |report: &ObjectReport| report.key == *key;
        if self.reports.get(first).is_some_and(is_it) { Some(first) } else { self.reports.iter().position(is_it) }
    }

    /// Adds the report of an object, or replaces the former one. Returns its place.
    fn put(&mut self, report: ObjectReport) -> usize {
        let place = self.place(&report.key).unwrap_or(self.reports.len());
        let hash = self.places.hasher().hash_one(&report.key);
        self.places.entry(hash).or_insert(place);
        match self.reports.get_mut(place) {
            Some(former) => {
                // Only the first comparison has seen all objects.
                let effects = std::mem::take(&mut former.diff.effects);
                *former = report;
                if former.diff.effects.is_empty() && former.diff.action != Action::None {
                    former.diff.effects = effects;
                }
            }
            None => self.reports.push(report),
        }
        place
    }
}
