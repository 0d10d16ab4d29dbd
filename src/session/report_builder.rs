//! Makes the report of a run: of its events, and of what is known about the run as a whole.

use std::cell::RefCell;
use std::collections::HashMap;

use reconcile_report::{ApplySetInfo, Command, FailOn, ObjectReport, ParentAction, Report};
use structured_merge::ObjectKey;

use crate::engine::event::{Event, EventSink};
use crate::engine::prune::ParentChange;
use crate::engine::reconciliation::Reconciliation;
use reconcile_core::compare::Action;

/// The objects of a run as its last events report them, in the order in which they were compared.
#[derive(Default)]
pub(crate) struct ReportBuilder {
    objects: RefCell<Objects>,
}

#[derive(Default)]
struct Objects {
    reports: Vec<ObjectReport>,
    places: HashMap<ObjectKey, usize>,
}

impl ReportBuilder {
    /// The report as it is now.
    pub fn report(&self, command: Command, gate: &FailOn, pass: &Reconciliation<'_>) -> Report {
        complete(Report::compared(command, self.objects.borrow().reports.clone(), gate), pass)
    }

    /// The report at the end, which takes the objects along.
    pub fn last_report(&self, command: Command, gate: &FailOn, pass: &Reconciliation<'_>) -> Report {
        complete(Report::compared(command, self.objects.take().reports, gate), pass)
    }
}

/// Adds the warnings of the comparison, and the apply set with its warnings and errors.
fn complete(mut report: Report, pass: &Reconciliation<'_>) -> Report {
    report.warnings.extend(pass.warnings().iter().cloned());
    let Some(set) = pass.apply_set() else { return report };
    let action = match set.parent_change() {
        ParentChange::None => ParentAction::None,
        ParentChange::Create => ParentAction::Create,
        ParentChange::Update => ParentAction::Update,
    };
    let info = ApplySetInfo::new(&set.set().id, &set.set().parent, action);
    let info = info.deleting_in(set.deletion_only_namespaces().into_iter().collect());
    let mut report = report.with_apply_set(ApplySetInfo { pruned_by: set.pruned_by(), ..info });
    report.warnings.extend(set.warnings().iter().cloned());
    if report.command == Command::Diff && report.summary.delete > 0 {
        let blocking = report.objects.iter().find(|object| prevents_pruning(object, pass.replaces()));
        let warning =
            blocking.map(|object| format!("`apply` would prune nothing until {} can be applied", object.key()));
        report.warnings.extend(warning);
    }
    report.with_errors(set.errors().to_vec())
}

/// Returns true if an object cannot be applied as it is: then members of the apply set are not pruned.
fn prevents_pruning(object: &ObjectReport, replaces: bool) -> bool {
    match object.action {
        Action::Unknown => true,
        Action::Replace => !replaces,
        _ => !object.conflicts.is_empty(),
    }
}

impl EventSink for ReportBuilder {
    fn receive(&self, event: Event<'_>) {
        let mut objects = self.objects.borrow_mut();
        match event {
            Event::Compared(object)
            | Event::Written(object)
            | Event::Skipped(object)
            | Event::Pruned(object)
            | Event::Revised(object) => objects.put(object),
            Event::Ready(key, readiness) => {
                if let Some(report) = objects.get(key) {
                    report.readiness = Some(readiness.clone());
                }
            }
            Event::Began(..)
            | Event::Advanced(..)
            | Event::Ended(_)
            | Event::ReadinessChanged(..)
            | Event::TimedOut { .. } => {}
        }
    }
}

impl Objects {
    fn get(&mut self, key: &ObjectKey) -> Option<&mut ObjectReport> {
        self.places.get(key).and_then(|place| self.reports.get_mut(*place))
    }

    fn put(&mut self, object: &ObjectReport) {
        if let Some(report) = self.get(&object.key()) {
            *report = object.clone();
        } else {
            self.places.insert(object.key(), self.reports.len());
            self.reports.push(object.clone());
        }
    }
}
