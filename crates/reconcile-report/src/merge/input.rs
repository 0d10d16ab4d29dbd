//! One report of those that are merged. Its result follows from what it holds, as a run decides it: no report counts as better.

use std::mem::take;
use std::sync::Arc;

use reconcile_core::diagnostic::{Diagnostic, Location};
use structured_merge::SharedTypes;

use super::parsed::{Parsed, ParsedContext, ParsedContexts, parsed};
use crate::model::contexts::worst;
use crate::model::{Command, FailOn, ObjectReport, Report, Summary, Verdict};

/// A context and a server.
pub(super) type Cluster = (Option<String>, Option<String>);

/// One report, and its file.
#[derive(Debug)]
pub struct MergeInput {
    pub(super) file: String,
    /// Its context, in a document with several.
    context: Option<String>,
    /// The URL of the server of its context, if it is known.
    server: Option<String>,
    pub(crate) report: Report,
}

impl MergeInput {
    /// Reads the reports of a file. The error has its location.
    pub fn read(file: &str, text: &[u8]) -> Result<Vec<Self>, Diagnostic> {
        match parsed(text).map_err(|error| no_report(file, &error))? {
            Parsed::One(report) => Ok(vec![Self::new(file, None, None, *report)?]),
            Parsed::Several(ParsedContexts { verdict, exit_code, contexts, .. }) => {
                let of_context = |one: ParsedContext| Self::new(file, Some(one.context), one.server, one.report);
                let reports = contexts.into_iter().map(of_context).collect::<Result<Vec<_>, _>>()?;
                let worst = worst(reports.iter().map(|one| &one.report));
                if worst != (verdict, exit_code) {
                    let claimed = verdict.name();
                    let worst = worst.0.name();
                    let reason =
                        format!("it says `{claimed}` with exit code {exit_code}, but the worst context `{worst}`");
                    return Err(contradiction(file, &reason));
                }
                Ok(reports)
            }
        }
    }

    fn new(file: &str, context: Option<String>, server: Option<String>, report: Report) -> Result<Self, Diagnostic> {
        let mut report = consistent(report).map_err(|reason| match &context {
            Some(context) => contradiction(file, &format!("in the context `{context}`, {reason}")),
            None => contradiction(file, &reason),
        })?;
        share_names(&mut report);
        Ok(Self { file: file.to_owned(), context, server, report })
    }

    /// The context of the report, if it names one.
    pub(crate) fn context(&self) -> Option<&str> {
        let cluster = self.report.cluster.as_ref();
        self.context.as_deref().or(cluster.and_then(|cluster| cluster.context.as_deref()))
    }

    /// The cluster of the report, if it names one: its context and the server.
    pub(super) fn cluster(&self) -> Option<Cluster> {
        let context = self.context().map(ToOwned::to_owned);
        let server = self.report.cluster.as_ref().map(|cluster| cluster.server.clone()).or_else(|| self.server.clone());
        (context.is_some() || server.is_some()).then_some((context, server))
    }
}

/// Keeps the names of a type once for all of its objects, and the name of a file for all objects that come from it one after the other.
fn share_names(report: &mut Report) {
    let mut last: Option<Arc<str>> = None;
    let mut types = SharedTypes::default();
    for object in &mut report.objects {
        types.share(&mut object.key.gvk);
        let Some(source) = &mut object.source else { continue };
        match &last {
            Some(file) if *file == source.file => source.file = Arc::clone(file),
            _ => last = Some(Arc::clone(&source.file)),
        }
    }
}

/// The error for a text that is no report, with its location.
fn no_report(file: &str, error: &serde_json::Error) -> Diagnostic {
    let number = |number: usize| u32::try_from(number).ok().filter(|number| *number > 0);
    let location = Location { file: file.into(), line: number(error.line()), column: number(error.column()) };
    // The text of the error ends with its location as well.
    let reason = error.to_string();
    let at = format!(" at line {} column {}", error.line(), error.column());
    let reason = reason.strip_suffix(&at).unwrap_or(&reason);
    let message = format!("not a report of `kubectl reconcile -o json`: {reason}");
    Diagnostic { location: Some(location), ..Diagnostic::general(message) }
}

/// The error for a report that cannot be what a run wrote.
fn contradiction(file: &str, reason: &str) -> Diagnostic {
    let message = format!("the report contradicts itself: {reason}");
    Diagnostic::of_file(file, message).with_hint("pass reports as `kubectl reconcile -o json` wrote them")
}

/// Returns the report with counts that follow from its objects. A report that claims a better result than it holds is an error, which
/// says why.
///
/// A worse result stays, as it hides nothing: a run has reasons that its report does not name, such as `--strict-ownership` or an
/// interruption.
fn consistent(mut report: Report) -> Result<Report, String> {
    let verdict = report.verdict;
    let code = report.exit_code;
    if ![verdict.exit_code(false), verdict.exit_code(true)].contains(&code) {
        return Err(format!("the exit code {code} does not belong to its verdict"));
    }
    if report.summary.objects != report.objects.len() {
        return Err(format!("it counts {} objects and has {}", report.summary.objects, report.objects.len()));
    }
    if let Some(shard) = report.shard.filter(|shard| !shard.is_valid()) {
        return Err(format!("there is no shard {shard}"));
    }
    if report.command == Command::Status
        && let Some(object) = report.objects.iter().find(|object| object.run.readiness.is_none())
    {
        return Err(format!("it does not say whether {} is ready", object.key));
    }
    let gate = FailOn::reported(&report.fail_on);
    let made = made_again(&mut report, &gate);
    // Without chosen classes, `--exit-zero` may be the reason for the exit code 0, and the verdict still says what was found.
    let hides_by_code = verdict == made.verdict && code < made.exit_code && !gate.classes.is_empty();
    if made.verdict >= Verdict::Drift && (verdict < made.verdict || hides_by_code) {
        return Err(format!("it says `{}` with exit code {code}, but {}", verdict.name(), why(&made, &gate)));
    }
    // The objects do not have the fields that others added, unless they were to be shown, and no hooks that were left out.
    let Summary { unmanaged, unmanaged_manual, hooks, warnings, .. } = report.summary;
    // Warnings about the run as a whole are counted with those about objects.
    let warnings = warnings.max(made.summary.warnings);
    let summary = Summary { unmanaged, unmanaged_manual, warnings, hooks, ..made.summary };
    let Report { apply_set, objects, dropped, unmanaged, errors, .. } = made;
    Ok(Report { apply_set, summary, objects, dropped, unmanaged, errors, ..report })
}

/// Makes the report from its parts as a run does, and takes the parts.
fn made_again(report: &mut Report, gate: &FailOn) -> Report {
    let command = report.command;
    let objects = take(&mut report.objects);
    let errors = take(&mut report.errors);
    let is_stopped = matches!(report.verdict, Verdict::Unreachable | Verdict::Invalid | Verdict::Interrupted);
    let mut made = match command {
        _ if objects.is_empty() && is_stopped => return Report::stopped(command, report.verdict, errors),
        Command::Status => Report::observed(command, objects),
        Command::Own => {
            let has_written = objects.iter().all(|object| !object.has_transfers() || object.run.outcome.is_some());
            Report::handed_over(objects, has_written)
        }
        Command::Diff | Command::Apply => Report::compared(command, objects, gate),
    };
    if let Some(resolved) = report.summary.resolved {
        made = made.with_baseline(resolved);
    }
    made = made.with_only(report.only.clone(), report.remove_added.clone());
    if let Some(set) = report.apply_set.take() {
        made = made.with_apply_set(set);
    }
    if let Some(unmanaged) = report.unmanaged.take() {
        made = made.with_unmanaged(unmanaged, gate.fails_on_unmanaged_objects());
    }
    made.with_rest_of_base(take(&mut report.dropped), report.summary.unchanged).with_errors(errors)
}

/// The reason for the result of a report that was made again.
fn why(made: &Report, gate: &FailOn) -> String {
    let first = |test: &dyn Fn(&ObjectReport) -> bool| made.objects.iter().find(|object| test(object));
    match made.verdict {
        Verdict::Incomplete if let Some(object) = first(&ObjectReport::is_incomplete) => {
            format!("{} could not be compared or applied", object.key)
        }
        Verdict::Incomplete => "it has errors".to_owned(),
        Verdict::NotReady if let Some(object) = first(&ObjectReport::waits) => {
            format!("{} is not ready", object.key)
        }
        _ if let Some(object) = first(&|object| gate.fails(object)).or_else(|| first(&ObjectReport::differs)) => {
            format!("{} differs from its manifest", object.key)
        }
        _ => "it has unmanaged objects".to_owned(),
    }
}
