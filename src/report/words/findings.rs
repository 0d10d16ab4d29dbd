//! What a run found, one by one: a rule, how much it matters, a sentence and a place. The formats for code review, tests and
//! annotations show these.

use super::describe;
use crate::compare::{Action, Class, FieldChange};
use crate::diagnostic::{Diagnostic, Severity};
use crate::report::formats::text::outcomes;
use crate::report::{Command, ObjectReport, Report, Section};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Worth knowing; nothing has to be done.
    Note,
    /// A difference that `apply` resolves.
    Warning,
    /// Somebody has to act first.
    Error,
}

/// What can be found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its name; for a class of changes that of the report.
    pub id: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// How much it matters as long as nothing was done about it.
    pub level: Level,
}

const fn rule(id: &'static str, level: Level, help: &'static str) -> Rule {
    Rule { id, help, level }
}

/// All rules.
pub(crate) static RULES: [Rule; 18] = [
    rule("missing", Level::Warning, "The object does not exist in the cluster"),
    rule("pending", Level::Warning, "The field changed in the manifest"),
    rule("changedByOther", Level::Warning, "Another manager changed the field"),
    rule(
        "absent",
        Level::Warning,
        "The field is not in the cluster: it is new in the manifest or was removed there",
    ),
    rule("pruned", Level::Warning, "The field or the object is no longer in the manifests"),
    rule("reordered", Level::Warning, "The list has another order"),
    rule("conflict", Level::Error, "Another applier or a controller owns the field"),
    rule("overridden", Level::Note, "The cluster keeps its own value of the field"),
    rule("released", Level::Note, "The field is no longer in the manifest, and a co-owner keeps it"),
    rule("unmanaged", Level::Note, "Another manager added the field"),
    rule("adopted", Level::Note, "Values are as wanted, and not yet recorded as those of our field manager"),
    rule("replace", Level::Warning, "A field that cannot be changed differs: the object would have to be replaced"),
    rule("notCompared", Level::Error, "The object could not be compared"),
    rule("notApplied", Level::Error, "The object could not be applied"),
    rule("notReady", Level::Error, "The object is not ready"),
    rule("warning", Level::Note, "What the author of the manifest should know"),
    rule("unmanagedObject", Level::Note, "Not in the manifests, not owned, and not in an apply set"),
    rule("run", Level::Error, "A problem of the input or of the run as a whole"),
];

/// A rule by its name.
fn named(id: &str) -> &'static Rule {
    let [.., run] = &RULES;
    RULES.iter().find(|rule| rule.id == id).unwrap_or(run)
}

/// The rule of a class of changes.
fn of_class(class: Class) -> &'static Rule {
    named(match class {
        Class::Overridden => "overridden",
        Class::Conflict => "conflict",
        Class::Reordered => "reordered",
        Class::ChangedByOther => "changedByOther",
        Class::Absent => "absent",
        Class::Pruned => "pruned",
        Class::Released => "released",
        Class::Pending => "pending",
        Class::Missing => "missing",
        Class::Unmanaged => "unmanaged",
        Class::Adopted => "adopted",
    })
}

/// A place in a file of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location<'r> {
    /// The file as it was named, `stdin` for standard input.
    pub file: &'r str,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
}

/// One thing that was found.
#[derive(Clone, Debug)]
pub(crate) struct Finding<'r> {
    /// What it is.
    pub rule: &'static Rule,
    /// How much it matters now.
    pub level: Level,
    /// The context, where there are several.
    pub context: Option<&'r str>,
    /// The object; `None` if it concerns the run.
    pub object: Option<&'r ObjectReport>,
    /// The field; empty if it concerns the whole object.
    pub path: String,
    /// Whether it is one of the changes of the object.
    pub is_change: bool,
    /// One sentence, on one line, with everything visible.
    pub message: String,
    /// Where.
    pub location: Option<Location<'r>>,
}

/// Everything that was found in a cluster: problems of the run, then the objects in the order of the plan.
pub(crate) fn findings<'r>(section: &Section<'r>) -> Vec<Finding<'r>> {
    let mut found = of_run(section);
    for object in &section.report.objects {
        found.extend(of_object(section.context, object, section.report.command));
    }
    found
}

/// Problems of the run as a whole.
pub(crate) fn of_run<'r>(section: &Section<'r>) -> Vec<Finding<'r>> {
    let Report { errors, warnings, unmanaged, .. } = section.report;
    let general = |rule: &str, level, message, location| Finding {
        rule: named(rule),
        level,
        context: section.context,
        object: None,
        path: String::new(),
        is_change: false,
        message,
        location,
    };
    let level = |error: &Diagnostic| if error.severity == Severity::Error { Level::Error } else { Level::Note };
    let told = |error: &Diagnostic| describe::with_hint(&error.message, error.hint.as_deref());
    let errors = errors.iter().map(|error| general("run", level(error), told(error), location_of(error)));
    let warnings = warnings.iter().map(|text| general("warning", Level::Note, describe::message(text), None));
    let unmanaged = unmanaged.iter().flatten().map(|object| {
        let message = format!("{object}: not in the manifests, not owned, and not in an apply set");
        general("unmanagedObject", Level::Note, describe::message(&message), None)
    });
    errors.chain(warnings).chain(unmanaged).collect()
}

fn location_of(problem: &Diagnostic) -> Option<Location<'_>> {
    problem.place.as_ref().map(|place| Location { file: &place.file, line: place.line, column: place.column })
}

/// What was found of one object, the most important first: nothing for one that is in sync and about which there is nothing to
/// know.
pub(crate) fn of_object<'r>(
    context: Option<&'r str>,
    object: &'r ObjectReport,
    command: Command,
) -> impl Iterator<Item = Finding<'r>> {
    let own =
        object.source.as_ref().map(|source| Location { file: &source.file, line: Some(source.line), column: None });
    let finding = move |rule: &'static Rule, message: String, location: Option<Location<'r>>| Finding {
        rule,
        level: rule.level,
        context,
        object: Some(object),
        path: String::new(),
        is_change: false,
        message,
        location,
    };
    let mut found = Vec::new();
    for (rule, problem) in problems(object) {
        let told = describe::with_hint(&problem.message, problem.hint.as_deref());
        found.push(finding(rule, told, location_of(problem).or_else(|| own.clone())));
    }
    if object.action == Action::Replace {
        let reason = object.reason.as_deref().unwrap_or("a field that cannot be changed differs");
        let one = finding(named("replace"), describe::with_hint(reason, object.hint.as_deref()), own.clone());
        // What `apply` had to leave needs somebody to act.
        let level = if object.outcome.is_some() { Level::Error } else { one.level };
        found.push(Finding { level, ..one });
    } else if let Some(outcome) = stopped_by(object) {
        found.push(finding(named("notApplied"), outcome, own.clone()));
    }
    let place = |change: &FieldChange| {
        let line = object.line_of(&change.path);
        own.clone().map(|own| Location { line: line.or(own.line), ..own })
    };
    for change in &object.changes {
        let one = finding(of_class(change.class), describe::change(change), place(change));
        found.push(Finding { path: change.path.to_string(), is_change: true, ..one });
    }
    if let Some(readiness) = object.readiness.as_ref().filter(|readiness| !readiness.is_current()) {
        // A status that could not be read is told as an error above.
        if object.error.is_none() || command == Command::Apply {
            found.push(finding(named("notReady"), describe::message(&readiness.message), own.clone()));
        }
    }
    for warning in &object.warnings {
        found.push(finding(named("warning"), describe::message(warning), own.clone()));
    }
    if object.is_done() {
        found.iter_mut().filter(|one| !matches!(one.rule.id, "notReady" | "warning")).for_each(settle);
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.level));
    found.into_iter()
}

/// What was done is no difference any more: `updated: spec.replicas: 5 → 2`.
fn settle(found: &mut Finding<'_>) {
    let state = found.object.and_then(|object| object.outcome).map(outcomes::name).unwrap_or_default();
    found.level = Level::Note;
    found.message = match found.path.as_str() {
        "" => state.to_owned(),
        _ => format!("{state}: {}", found.message),
    };
}

/// Why an object could not be compared or applied: each mistake in the manifest at its place, or one problem.
fn problems(object: &ObjectReport) -> impl Iterator<Item = (&'static Rule, &Diagnostic)> {
    let rule = named(if object.action == Action::Unknown { "notCompared" } else { "notApplied" });
    let error = object.error.iter();
    error
        .flat_map(|error| if error.details.is_empty() { std::slice::from_ref(error) } else { &error.details[..] })
        .map(move |problem| (rule, problem))
}

/// Why an object was left as it is, where no error says so.
fn stopped_by(object: &ObjectReport) -> Option<String> {
    object.outcome?;
    let is_told = object.is_done() || object.error.is_some() || !object.conflicts.is_empty();
    let reason = object.reason.as_deref().unwrap_or_else(|| describe::state(object));
    (!is_told).then(|| describe::with_hint(reason, object.hint.as_deref()))
}

/// How much an object matters, by what was found of it.
pub(crate) fn worst(found: &[Finding<'_>]) -> Option<Level> {
    found.iter().map(|finding| finding.level).max()
}
