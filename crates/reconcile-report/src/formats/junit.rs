//! `-o junit`: a test case for each object, for the test reports of Jenkins, GitLab and others.

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};
use reconcile_core::compare::Action;
use reconcile_core::pass::Outcome;
use reconcile_core::text::visible_line;

use crate::model::{ContextReport, EXIT_DRIFT, FailClass, Level, ObjectReport, Report, Reports};
use crate::view::View;
use crate::words::deletions::needs_consent;
use crate::words::describe;
use crate::words::findings::{Finding, UNMANAGED_OBJECT, WARNING, in_parts, of_object, of_run, own_location};
use crate::words::label::LEFT;
use crate::words::sentence::location;
use crate::words::summary::verdict_of;

/// The document.
pub fn render(reports: &Reports, view: &View) -> String {
    let mut document = Document::new("kubectl reconcile");
    for one in &reports.contexts {
        document.add_test_suite(suite(one, view));
    }
    // Writing to a string cannot fail.
    document.to_string().unwrap_or_default()
}

fn suite(one: &ContextReport, view: &View) -> TestSuite {
    let ContextReport { context, report, .. } = one;
    let command = describe::command(report.command);
    let mut suite = TestSuite::new(match context {
        Some(context) => text(&format!("kubectl reconcile {command} ({context})")),
        None => format!("kubectl reconcile {command}"),
    });
    if let Some(left_alone) = describe::left_alone(report) {
        suite.add_property(("ignored", text(&describe::message(&left_alone)).as_str()));
    }
    let of_run: Vec<Finding<'_>> = of_run(one);
    let errors: Vec<Finding<'_>> = of_run.iter().filter(|found| found.level == Level::Error).cloned().collect();
    let of_objects = report.objects.iter().map(|object| {
        let found = in_parts(report, of_object(context.as_deref(), object, report.command));
        case_of_object(report, object, &found, view)
    });
    let of_objects: Vec<TestCase> = of_objects.collect();
    let has_failed = |case: &TestCase| matches!(case.status, TestCaseStatus::NonSuccess { .. });
    if !errors.is_empty() {
        suite.add_test_case(case_of_run(report, NonSuccessKind::Error, &errors));
    } else if report.exit_code > 0 && !of_objects.iter().any(has_failed) {
        // A run fails for a reason that no object has, or because nothing was looked at or done.
        let kind = if report.exit_code == EXIT_DRIFT { NonSuccessKind::Failure } else { NonSuccessKind::Error };
        let is_reason = |found: &&Finding<'_>| [WARNING, UNMANAGED_OBJECT].contains(&found.rule);
        let reasons: Vec<Finding<'_>> = of_run.iter().filter(is_reason).cloned().collect();
        suite.add_test_case(case_of_run(report, kind, &reasons));
    }
    suite.add_test_cases(of_objects);
    suite
}

/// The case for what no object is the reason for.
fn case_of_run(report: &Report, kind: NonSuccessKind, found: &[Finding<'_>]) -> TestCase {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type("run").set_message(text(verdict_of(report).sentence)).set_description(lines(found));
    let mut case = TestCase::new("the run as a whole", status);
    case.set_classname("kubectl reconcile");
    case
}

fn case_of_object(report: &Report, object: &ObjectReport, found: &[Finding<'_>], view: &View) -> TestCase {
    let kind = match object.key.gvk.group.as_str() {
        "" => object.key.gvk.kind.clone(),
        group => format!("{}.{group}", object.key.gvk.kind),
    };
    let name = object
        .key
        .namespace
        .as_ref()
        .map_or_else(|| object.key.name.clone(), |space| format!("{space}/{}", object.key.name));
    let mut case = TestCase::new(text(&name), status(report, object, found, view));
    case.set_classname(text(&kind));
    if let Some(place) = object.source.as_ref().map(own_location)
        && let Some(file) = location::path(place.file, view)
    {
        case.extra.insert("file".into(), text(&file).into());
        case.extra.extend(place.line.map(|line| ("line".into(), line.to_string().into())));
    }
    if matches!(case.status, TestCaseStatus::Success { .. }) && !found.is_empty() {
        case.set_system_out(lines(found));
    }
    case
}

/// Writes an object that could not be compared or applied as an error, and what fails the run as a failure: drift that `apply` did not
/// resolve, ownership that fails the run, and warnings of the server.
fn status(report: &Report, object: &ObjectReport, found: &[Finding<'_>], view: &View) -> TestCaseStatus {
    let mut status = match kind(report, object, view) {
        None if object.is_left_whole() => {
            let mut left = TestCaseStatus::skipped();
            left.set_message(LEFT);
            return left;
        }
        None => return TestCaseStatus::success(),
        // Skipped because of others, not because of itself.
        Some(_)
            if object.run.outcome == Some(Outcome::Skipped)
                && object.messages.error.is_none()
                && !needs_consent(object) =>
        {
            TestCaseStatus::skipped()
        }
        Some(kind) => TestCaseStatus::non_success(kind),
    };
    let foremost = found.iter().rev().max_by_key(|one| one.level);
    let message = match found.len() {
        0 => describe::state(object).to_owned(),
        1 => found.iter().map(|one| one.message.as_str()).collect(),
        more => format!("{}: {more} findings", describe::state(object)),
    };
    status.set_message(text(&message)).set_description(lines(found));
    if let Some(foremost) = foremost {
        status.set_type(foremost.rule.id);
    }
    status
}

fn kind(report: &Report, object: &ObjectReport, view: &View) -> Option<NonSuccessKind> {
    let classes: Vec<FailClass> = report.fail_on.iter().filter_map(|name| FailClass::named(name)).collect();
    let fails = if classes.is_empty() {
        object.diff.action != Action::None
    } else {
        classes.iter().any(|class| class.is_in(object))
    };
    let fails = fails || view.is_unowned(object);
    let is_warned_of = classes.contains(&FailClass::Warnings) && FailClass::Warnings.is_in(object);
    if object.is_incomplete() {
        Some(NonSuccessKind::Error)
    } else if object.is_unready() || is_warned_of || fails && object.run.outcome.is_none() {
        Some(NonSuccessKind::Failure)
    } else {
        None
    }
}

/// A line for each finding.
fn lines(found: &[Finding<'_>]) -> String {
    found.iter().map(|one| text(&one.message)).collect::<Vec<_>>().join("\n")
}

/// A line in which everything that XML does not allow is made visible, non-characters included.
fn text(content: &str) -> String {
    visible_line(content).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}
