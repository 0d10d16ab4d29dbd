//! `-o name`: the names of objects that differ or were changed, as `kubectl get -o name` prints them.

use std::collections::BTreeSet;

use reconcile_core::compare::Action;
use reconcile_core::text::visible_line;

use crate::model::{Command, ObjectReport, Reports};
use crate::view::View;

/// A line for each object, and one for those of several contexts that have the same name.
pub fn render(reports: &Reports, view: &View) -> String {
    let mut seen = BTreeSet::new();
    let is_only = reports.only().is_some();
    let objects = reports.contexts.iter().flat_map(|one| {
        view.sorted(&one.report).into_iter().filter(|object| is_meant(object, one.report.command, view))
    });
    let names = objects.map(name).filter(|name| is_only || seen.insert(name.clone()));
    names.fold(String::new(), |lines, name| lines + &name + "\n")
}

/// Returns true for objects that differ, were changed, are not ready, or fail the run because our field manager does not own their fields. Objects that could not be compared are left out.
fn is_meant(object: &ObjectReport, command: Command, view: &View) -> bool {
    match command {
        Command::Status => object.is_unready(),
        Command::Own => object.has_transfers() && (object.run.outcome.is_none() || object.is_changed()),
        Command::Apply => object.is_changed(),
        Command::Diff => !matches!(object.diff.action, Action::None | Action::Unknown) || view.is_unowned(object),
    }
}

/// `deployment.apps/web`
fn name(object: &ObjectReport) -> String {
    let group = object.key.gvk.group.as_str();
    let dot = if group.is_empty() { "" } else { "." };
    visible_line(&format!("{}{dot}{group}/{}", object.key.gvk.kind.to_lowercase(), object.key.name)).into_owned()
}

#[cfg(test)]
mod tests {
    use structured_merge::{GroupVersionKind, ObjectKey};

    use super::*;
    use crate::model::{ContextReport, FailOn, Report};
    use reconcile_core::compare::{ObjectDiff, Side};
    use reconcile_core::diagnostic::{Code, Diagnostic};
    use reconcile_core::pass::Outcome;

    fn object(kind: (&str, &str), name: &str, verdict: ObjectDiff) -> ObjectReport {
        let gvk = GroupVersionKind::new(kind.0, kind.1);
        ObjectReport::unwanted(&ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() }, verdict)
    }

    fn deletion() -> ObjectDiff {
        ObjectDiff::delete(serde_json::json!({}), Side::Manifest, "gone".to_owned())
    }

    fn objects() -> Vec<ObjectReport> {
        vec![
            object(("apps/v1", "Deployment"), "web", deletion()),
            object(("v1", "ConfigMap"), "a\nb", deletion()),
            object(("v1", "ConfigMap"), "same", ObjectDiff::in_sync(reconcile_core::compare::Evidence::Proven)),
            object(("v1", "ConfigMap"), "odd", ObjectDiff::unknown(Diagnostic::new(Code::Forbidden, "no"))),
        ]
    }

    #[test]
    fn what_differs_has_a_line() {
        let report = Report::compared(Command::Diff, objects(), &FailOn::default());
        assert_eq!(render(&report.clone().into(), &View::default()), "deployment.apps/web\nconfigmap/a\\nb\n");
        let contexts = ["a", "b"].map(|context| ContextReport {
            context: Some(context.to_owned()),
            server: None,
            report: report.clone(),
        });
        let reports = Reports::of(Command::Diff, contexts.to_vec(), Vec::new());
        assert_eq!(render(&reports, &View::default()), "deployment.apps/web\nconfigmap/a\\nb\n");
    }

    #[test]
    fn of_an_apply_it_is_what_was_done() {
        let mut done = objects();
        for (object, outcome) in done.iter_mut().zip([Outcome::Deleted, Outcome::Failed, Outcome::Unchanged]) {
            object.run.outcome = Some(outcome);
        }
        let report = Report::compared(Command::Apply, done, &FailOn::default());
        assert_eq!(render(&report.clone().into(), &View::default()), "deployment.apps/web\n");
    }
}
