//! The summary of a run in lines: what is done, what is not, what is left alone and by which flag it is seen.

use reconcile_core::compare::Class;

use super::added_items;
use super::describe::{baseline, hooks_left_out, ignored_clauses};
use super::number::grouped;
use super::sentence::{done, not_done, not_to_do, of_shard, readiness_counts, ready, to_do};
use super::verdict::verdict;
use crate::model::ChangeReport;
use crate::{ApplySetInfo, Command, Report, Summary, Verdict, View};

/// The summary of a run.
pub(crate) struct SummaryLines {
    /// The objects that are changed, and those that need nothing.
    pub done: String,
    /// `not done: 36 not compared, 1 needs --replace=immutable`
    pub not_done: Option<String>,
    /// `left alone: 3 fields added by others (--show-unmanaged)`
    pub left_alone: Option<String>,
    /// Remarks about the run: hooks that are left out, known differences, the configuration in force, and the differences that make it fail.
    pub remarks: Vec<String>,
}

impl SummaryLines {
    /// The lines of a `diff` or an `apply`.
    pub fn of(report: &Report, view: &View) -> Self {
        let is_apply = report.command == Command::Apply;
        let not_done = if is_apply { not_done(report) } else { not_to_do(report) };
        let fails_on = (!report.fail_on.is_empty()).then(|| format!("fails only on {}", report.fail_on.join(", ")));
        let configuration = report.configuration.as_ref().map(ToString::to_string);
        Self {
            done: first(report, if is_apply { done(report) } else { to_do(report, view) }),
            not_done: (!not_done.is_empty()).then(|| format!("not done: {not_done}")),
            left_alone: left_alone(report).map(|clauses| format!("left alone: {clauses}")),
            remarks: [hooks_left_out(report.summary.hooks), baseline(&report.summary), configuration, fails_on]
                .into_iter()
                .flatten()
                .collect(),
        }
    }
}

/// The result of a run in sentences, as the summary of the text has it, and the remarks about the run.
pub(crate) fn result(report: &Report, view: &View) -> (Vec<String>, Vec<String>) {
    let alone = |sentence: String| (vec![sentence], Vec::new());
    match report.command {
        _ if report.objects.is_empty() && !report.errors.is_empty() => {
            alone(verdict(report.verdict, &report.summary).sentence.to_owned())
        }
        Command::Status if report.verdict == Verdict::Interrupted => alone(format!("interrupted: {}", ready(report))),
        Command::Status => alone(ready(report)),
        Command::Diff | Command::Apply => {
            let SummaryLines { done, not_done, left_alone, remarks } = SummaryLines::of(report, view);
            ([Some(done), not_done, left_alone].into_iter().flatten().collect(), remarks)
        }
    }
}

/// The first line, with what belongs to what is done.
fn first(report: &Report, mut sentence: String) -> String {
    let pruned_by = report.apply_set.as_ref().and_then(|set| set.pruned_by);
    let namespaces = report.apply_set.as_ref().and_then(ApplySetInfo::unnamed_namespaces);
    let readiness = report.summary.readiness.as_ref().filter(|_| report.command == Command::Apply);
    let clauses = [
        pruned_by.map(|shard| format!("shard {shard} prunes")),
        namespaces.map(|namespaces| format!("deletions in {namespaces}")),
        readiness.map(readiness_counts),
        unmanaged_objects(report),
    ];
    for clause in clauses.into_iter().flatten() {
        sentence = format!("{sentence}; {clause}");
    }
    if report.verdict == Verdict::Interrupted {
        sentence = format!("interrupted: {sentence}");
    }
    of_shard(report, &sentence)
}

/// The differences that a pass leaves alone, each with the flag that shows it.
fn left_alone(report: &Report) -> Option<String> {
    let is_unmanaged = |change: &ChangeReport| change.class == Class::Unmanaged;
    let is_shown = report.objects.iter().flat_map(|object| &object.diff.changes).any(is_unmanaged);
    let added: Vec<String> = added_fields(&report.summary).into_iter().chain(added_items::clause(report)).collect();
    let clauses = [
        seen_by(&added, if is_shown { "" } else { "--show-unmanaged" }),
        seen_by(&ignored_clauses(report), "--explain-ignores"),
    ];
    let clauses: Vec<String> = clauses.into_iter().flatten().collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// Clauses with the flag that shows what they are about: `2 differences ignored by rules (--explain-ignores)`.
fn seen_by(clauses: &[String], flag: &str) -> Option<String> {
    let clauses = clauses.join("; ");
    match clauses.strip_suffix(')') {
        _ if clauses.is_empty() => None,
        _ if flag.is_empty() => Some(clauses),
        Some(start) => Some(format!("{start}; {flag})")),
        None => Some(format!("{clauses} ({flag})")),
    }
}

/// `3 fields added by others, 1 of them by hand`; without the list items, which have a clause of their own.
fn added_fields(counts: &Summary) -> Option<String> {
    let but_items = |fields: usize| fields.saturating_sub(counts.added_items);
    let (added, manual) = (but_items(counts.unmanaged), but_items(counts.unmanaged_manual));
    let fields = match added {
        0 => return None,
        1 => "1 field added".to_owned(),
        more => format!("{} fields added", grouped(more)),
    };
    Some(match manual {
        0 => format!("{fields} by others"),
        manual if manual == added => format!("{fields} by hand"),
        manual => format!("{fields} by others, {} of them by hand", grouped(manual)),
    })
}

/// `2 unmanaged objects`; `None` if they were not searched for.
fn unmanaged_objects(report: &Report) -> Option<String> {
    match report.unmanaged.as_ref()?.len() {
        0 => Some("no unmanaged objects".to_owned()),
        1 => Some("1 unmanaged object".to_owned()),
        more => Some(format!("{} unmanaged objects", grouped(more))),
    }
}
