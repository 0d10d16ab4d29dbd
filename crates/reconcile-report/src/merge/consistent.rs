//! Decides the result of a report that was read, from what it holds and as a run decides it. No report counts as better than that.

use std::mem::take;

use crate::{Command, FailOn, ObjectReport, Report, Summary, Verdict};

/// Returns the report with counts that follow from its objects. A report that claims a better result than it holds is an error, which
/// says why.
///
/// A worse result stays, as it hides nothing: a run has reasons that its report does not name, such as `--strict-ownership` or an
/// interruption.
pub(super) fn consistent(mut report: Report) -> Result<Report, String> {
    let (verdict, code) = (report.verdict, report.exit_code);
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
    let Summary { unmanaged, unmanaged_manual, hooks, .. } = report.summary;
    let summary = Summary { unmanaged, unmanaged_manual, hooks, ..made.summary };
    let Report { apply_set, objects, unmanaged, errors, .. } = made;
    Ok(Report { apply_set, summary, objects, unmanaged, errors, ..report })
}

/// Makes the report from its parts as a run does, and takes the parts.
fn made_again(report: &mut Report, gate: &FailOn) -> Report {
    let command = report.command;
    let (objects, errors) = (take(&mut report.objects), take(&mut report.errors));
    let is_stopped = matches!(report.verdict, Verdict::Unreachable | Verdict::Invalid | Verdict::Interrupted);
    let mut made = match command {
        _ if objects.is_empty() && is_stopped => return Report::stopped(command, report.verdict, errors),
        Command::Status => Report::observed(command, objects),
        Command::Diff | Command::Apply => Report::compared(command, objects, gate),
    };
    if let Some(resolved) = report.summary.resolved {
        made = made.with_baseline(resolved);
    }
    if let Some(set) = report.apply_set.take() {
        made = made.with_apply_set(set);
    }
    if let Some(unmanaged) = report.unmanaged.take() {
        made = made.with_unmanaged(unmanaged, gate.fails_on_unmanaged_objects());
    }
    made.with_errors(errors)
}

/// The reason for the result of a report that was made again.
fn why(made: &Report, gate: &FailOn) -> String {
    let first = |test: &dyn Fn(&ObjectReport) -> bool| made.objects.iter().find(|object| test(object));
    match made.verdict {
        Verdict::Incomplete if let Some(object) = first(&ObjectReport::is_incomplete) => {
            format!("{} could not be compared or applied", object.key)
        }
        Verdict::Incomplete => "it has errors".to_owned(),
        Verdict::NotReady if let Some(object) = first(&ObjectReport::is_unready) => {
            format!("{} is not ready", object.key)
        }
        _ if let Some(object) = first(&|object| gate.fails(object)).or_else(|| first(&ObjectReport::differs)) => {
            format!("{} differs from its manifest", object.key)
        }
        _ => "it has unmanaged objects".to_owned(),
    }
}
