//! `-o name`: the names of objects that differ, were changed or fail the run, as `kubectl get -o name` prints them.

use std::collections::BTreeSet;

use reconcile_core::compare::Action;
use reconcile_core::text::visible_line;
use structured_merge::ObjectKey;

use crate::model::{Command, FailOn, ObjectReport, Report, Reports};
use crate::view::View;

/// A line for each object, and one for those of several contexts that have the same name.
pub fn render(reports: &Reports, view: &View) -> String {
    let mut seen = BTreeSet::new();
    let is_only = reports.only().is_some();
    let names = reports.contexts.iter().flat_map(|one| names(&one.report, view));
    let names = names.filter(|name| is_only || seen.insert(name.clone()));
    names.fold(String::new(), |lines, name| lines + &name + "\n")
}

/// The names in one cluster, and those of unmanaged objects if they fail the run.
fn names(report: &Report, view: &View) -> Vec<String> {
    let gate = FailOn::reported(&report.fail_on);
    let objects = view.sorted(report).into_iter().filter(|object| is_meant(object, report.command, &gate, view));
    let unmanaged = report.unmanaged.iter().flatten().filter(|_| gate.fails_on_unmanaged_objects());
    objects.map(|object| name(&object.key)).chain(unmanaged.map(|object| name(&object.key()))).collect()
}

/// Returns true for objects that differ, were changed, are not ready, or fail the run because of their owners, a warning or what `--fail-on`
/// names. Objects that could not be compared are left out.
fn is_meant(object: &ObjectReport, command: Command, gate: &FailOn, view: &View) -> bool {
    match command {
        Command::Status => object.is_unready(),
        Command::Own => object.has_transfers() && (object.run.outcome.is_none() || object.is_changed()),
        Command::Apply => object.is_changed(),
        Command::Diff => match object.diff.action {
            Action::Unknown => false,
            Action::None => view.is_unowned(object) || gate.chooses(object),
            Action::Create | Action::Update | Action::Replace | Action::Delete => true,
        },
    }
}

/// `deployment.apps/web`
fn name(ObjectKey { gvk, name, .. }: &ObjectKey) -> String {
    let group = gvk.group.as_str();
    let dot = if group.is_empty() { "" } else { "." };
    visible_line(&format!("{}{dot}{group}/{}", gvk.kind.to_lowercase(), name)).into_owned()
}

#[cfg(test)]
mod tests {
    use structured_merge::{Change, FieldPath, GroupVersionKind, Op};

    use super::*;
    use crate::model::{ContextReport, FailClass};
    use reconcile_core::compare::{Class, Evidence, FieldChange, ObjectDiff, Side};
    use reconcile_core::diagnostic::{Code, Diagnostic};
    use reconcile_core::pass::Outcome;
    use reconcile_core::plan::UnexplainedObject;

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
    fn whatever_fails_the_run_is_named() {
        let of = |class: Class| {
            let path = FieldPath::of(&["data", "a"]);
            let change = Change { path, op: Op::Add, from: Some("b".into()), to: None };
            let changes = vec![FieldChange::new(change, class)];
            object(("v1", "ConfigMap"), "it", ObjectDiff { changes, ..ObjectDiff::in_sync(Evidence::Proven) })
        };
        for class in [Class::Unmanaged, Class::Released] {
            let gate = FailOn { classes: vec![FailClass::Of(class)], ..FailOn::default() };
            let report = Report::compared(Command::Diff, vec![of(class), of(Class::Overridden)], &gate);
            assert_eq!((report.exit_code, render(&report.into(), &View::default())), (1, "configmap/it\n".to_owned()));
        }
        let key = of(Class::Adopted).key.clone();
        for (classes, names) in [(vec![FailClass::UnmanagedObjects], "configmap/it\n"), (vec![FailClass::Drift], "")] {
            let gate = FailOn { classes, ..FailOn::default() };
            let found = UnexplainedObject { key: key.clone(), claim: None };
            let report = Report::compared(Command::Diff, Vec::new(), &gate);
            let report = report.with_unmanaged(vec![(&found).into()], gate.fails_on_unmanaged_objects());
            assert_eq!(render(&report.into(), &View::default()), names);
        }
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
