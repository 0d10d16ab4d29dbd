//! The summary of a run in lines: what is done, what is not, what is left alone and by which flag it is seen; and the words for its
//! result and its cluster.

use std::collections::BTreeSet;

use super::deletions;
use super::describe::{
    baseline, hooks_left_out, ignored_clauses, last_name, left_by_only, rest_of_base, server_warnings,
};
use super::effects;
use super::owned;
use super::parts::{self, Part};
use super::sentence::{done, not_done, not_to_do, of_run, readiness_counts, ready, to_do};
use super::value::number::{grouped, some};
use crate::model::summary::tally;
use crate::model::{ApplySetInfo, ClusterInfo, Command, ContextReport, FailClass, Report, Reports, Summary, Verdict};
use crate::view::View;
use reconcile_core::compare::FieldChange;

/// The summary of a run.
pub(crate) struct SummaryLines {
    /// The objects that are changed, and those that need nothing.
    pub done: String,
    /// `not done: 36 not compared, 1 needs --replace=immutable`
    pub not_done: Option<String>,
    /// `an apply restarts 14 Pods of 3 workloads`
    pub effects: Option<String>,
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
        let not_done = [not_done].into_iter().filter(|counts| !counts.is_empty()).chain(deletions::clause(report));
        let not_done = not_done.collect::<Vec<_>>().join(", ");
        let is_strict = view.shows_ownership && !report.fail_on.contains(&"adopted");
        let strictly = if is_strict { " and --strict-ownership" } else { "" };
        let fails_on = report.fail_on.join(", ");
        let fails_on = (!fails_on.is_empty()).then(|| format!("fails only on {fails_on}{strictly}"));
        let configuration = report.configuration.as_ref().map(ToString::to_string);
        Self {
            done: first(report, if is_apply { done(report) } else { to_do(report, view) }),
            not_done: (!not_done.is_empty()).then(|| format!("not done: {not_done}")),
            effects: effects::summary(report),
            left_alone: left_alone(report).map(|clauses| format!("left alone: {clauses}")),
            remarks: [
                server_warnings(&report.summary),
                left_by_only(&report.summary),
                rest_of_base(&report.summary),
                hooks_left_out(report.summary.hooks),
                baseline(&report.summary, view.show_known),
                configuration,
                fails_on,
            ]
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
        _ if report.objects.is_empty() && !report.errors.is_empty() => alone(verdict_of(report).sentence.to_owned()),
        Command::Status if report.verdict == Verdict::Interrupted => alone(format!("interrupted: {}", ready(report))),
        Command::Status => alone(ready(report)),
        Command::Own => owned::result(report),
        Command::Diff | Command::Apply => {
            let SummaryLines { done, not_done, effects, left_alone, remarks } = SummaryLines::of(report, view);
            ([Some(done), not_done, effects, left_alone].into_iter().flatten().collect(), remarks)
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
    of_run(report, &sentence)
}

/// The differences that a pass leaves alone, each with the flag that shows it.
fn left_alone(report: &Report) -> Option<String> {
    let is_unmanaged = |change: &FieldChange| change.is_addition();
    let is_shown = report.objects.iter().flat_map(|object| &object.diff.changes).any(is_unmanaged);
    let added: Vec<String> = added_fields(&report.summary, is_shown).into_iter().chain(clause(report)).collect();
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

/// `3 fields added by others, 1 of them by hand`; without the list items, which have a clause of their own. Controllers and defaults add
/// fields to nearly every object, and their number says nothing: without any by hand, it is said only beside the fields (`is_shown`).
fn added_fields(counts: &Summary, is_shown: bool) -> Option<String> {
    let but_items =
        |fields: Option<usize>| fields.unwrap_or_default().saturating_sub(counts.added_items.unwrap_or_default());
    let added = but_items(counts.unmanaged);
    let manual = but_items(counts.unmanaged_manual);
    let fields = some(added, "field added", "fields added")?;
    Some(match manual {
        0 if !is_shown => return None,
        0 => format!("{fields} by others"),
        manual if manual == added => format!("{fields} by hand"),
        manual => format!("{fields} by others, {} of them by hand", grouped(manual)),
    })
}

/// `2 unmanaged objects`; `None` if they were not searched for.
fn unmanaged_objects(report: &Report) -> Option<String> {
    let objects = some(report.unmanaged.as_ref()?.len(), "unmanaged object", "unmanaged objects");
    objects.or_else(|| Some("no unmanaged objects found".to_owned()))
}

/// `context prod-eu (https://10.1.2.3:6443)`, or `server https://10.1.2.3:6443` without a context; each name in the marks of a format.
pub fn cluster(cluster: &ClusterInfo, marked: impl Fn(&str) -> String) -> String {
    let server = marked(&cluster.server);
    match &cluster.context {
        Some(context) => format!("context {} ({server})", marked(context)),
        None => format!("server {server}"),
    }
}

/// `1 container added by hand`; `None` if there are none.
fn clause(report: &Report) -> Option<String> {
    let list = |path| last_name(path).unwrap_or("items");
    let counts = tally(report.objects.iter().flat_map(|object| &object.diff.added_items).map(list));
    let items: Vec<String> = counts.iter().map(|(list, count)| named(list, *count)).collect();
    (!items.is_empty()).then(|| format!("{} added by hand", items.join(", ")))
}

/// `2 containers`, from the name of the list.
fn named(list: &str, count: usize) -> String {
    let singular = match list {
        "env" => return format!("{count} environment variable{}", if count == 1 { "" } else { "s" }),
        "hostAliases" => "hostAlias",
        _ => list.strip_suffix('s').unwrap_or(list),
    };
    format!("{count} {}", if count == 1 { singular } else { list })
}

/// A verdict in words.
pub(crate) struct VerdictWords {
    /// As a heading, and where there is room for one word or two.
    pub heading: &'static str,
    /// In a sentence.
    pub sentence: &'static str,
    /// Of one of several contexts: `2 with drift`.
    pub of_context: &'static str,
}

/// The words for a result whose differences are all in the baseline.
const NO_NEW_DIFFERENCES: VerdictWords = VerdictWords {
    heading: "No new differences",
    sentence: "no new differences",
    of_context: "without new differences",
};

/// Returns the words for the result of a report. With a base, they say what a change does, and call drift only what differs anyway.
pub(crate) fn verdict_of(report: &Report) -> VerdictWords {
    if let Some(class) = report.fails_without_differences() {
        return without_differences(class);
    }
    if report.has_only_known() {
        return NO_NEW_DIFFERENCES;
    }
    verdict(report.verdict, &parts::of_report(report).unwrap_or_default(), &report.summary)
}

/// Returns the words for the result of all contexts.
pub(crate) fn verdict_of_all(reports: &Reports) -> VerdictWords {
    let mut failing = reports.contexts.iter().map(|one| &one.report).filter(|report| report.verdict == Verdict::Drift);
    if reports.verdict == Verdict::Drift
        && let Some(class) = failing.next().and_then(Report::fails_without_differences)
        && failing.all(|report| report.fails_without_differences() == Some(class))
    {
        return without_differences(class);
    }
    let mut drifted = reports.contexts.iter().map(|one| &one.report).filter(|report| report.verdict == Verdict::Drift);
    if reports.verdict == Verdict::Drift && drifted.all(Report::has_only_known) {
        return NO_NEW_DIFFERENCES;
    }
    if reports.verdict == Verdict::Unreachable && reports.only().is_none() {
        return unreachable_of_several(reports);
    }
    let found: Option<Vec<BTreeSet<Part>>> = reports.contexts.iter().map(|one| parts::of_report(&one.report)).collect();
    let parts = found.into_iter().flatten().flatten().collect();
    verdict(reports.verdict, &parts, &reports.summary.objects)
}

/// Returns the words for a result of several contexts, of which one at least is unreachable.
fn unreachable_of_several(reports: &Reports) -> VerdictWords {
    let is_reached = |one: &&ContextReport| one.report.verdict != Verdict::Unreachable;
    let reached = reports.contexts.iter().filter(is_reached).count();
    let (heading, sentence) = match (reached, reports.contexts.len().saturating_sub(reached)) {
        (0, _) => ("Unreachable", "the clusters cannot be reached"),
        (_, 1) => ("One cluster unreachable", "one cluster cannot be reached"),
        _ => ("Some clusters unreachable", "some clusters cannot be reached"),
    };
    VerdictWords { heading, sentence, of_context: "unreachable" }
}

/// Returns the words for a result with a reason that is no difference.
fn without_differences(class: FailClass) -> VerdictWords {
    match class {
        FailClass::UnmanagedObjects => VerdictWords {
            heading: "Unmanaged objects",
            sentence: "unmanaged objects",
            of_context: "with unmanaged objects",
        },
        _ => VerdictWords { heading: "Warnings", sentence: "warnings of the server", of_context: "with warnings" },
    }
}

/// Returns the words for a result with these parts and counts. Without parts, differences are drift if something changed in the cluster;
/// changes of the manifests alone, as in a pull request, are changes.
fn verdict(verdict: Verdict, parts: &BTreeSet<Part>, counts: &Summary) -> VerdictWords {
    let words = |heading, sentence, of_context| VerdictWords { heading, sentence, of_context };
    let has = |part: Part| verdict == Verdict::Drift && parts.contains(&part);
    match verdict {
        _ if has(Part::Overwritten) => {
            words("Changes that overwrite", "changes that overwrite", "with changes that overwrite")
        }
        _ if has(Part::Changed) => words("Changes", "changes", "with changes"),
        _ if has(Part::Drifted) && !has(Part::Unknown) => words("No changes; drift", "no changes; drift", "with drift"),
        Verdict::Ready => words("Ready", "ready", "ready"),
        Verdict::InSync => words("In sync", "in sync", "without differences"),
        Verdict::Applied => words("Applied", "applied", "applied"),
        Verdict::Drift if counts.sides.is_some_and(|sides| sides.has_cluster()) => {
            words("Drift", "drift", "with drift")
        }
        Verdict::Drift => words("Changes", "changes", "with changes"),
        Verdict::NotReady => words("Not ready", "not ready", "not ready"),
        Verdict::Unreachable => words("Unreachable", "the cluster cannot be reached", "unreachable"),
        Verdict::Incomplete => words("Incomplete", "incomplete", "incomplete"),
        Verdict::Invalid => words("Invalid", "the input, the configuration or the command line is invalid", "invalid"),
        Verdict::Interrupted => words("Interrupted", "interrupted", "interrupted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cluster that does not answer says nothing about the others.
    #[test]
    fn clusters_that_cannot_be_reached_are_counted() {
        let down = || Report::stopped(Command::Diff, Verdict::Unreachable, Vec::new());
        let quiet = || Report::stopped(Command::Diff, Verdict::InSync, Vec::new());
        let sentence = |reports: Vec<Report>| {
            let one = |report| ContextReport { context: None, server: None, report };
            verdict_of_all(&Reports::of(Command::Diff, reports.into_iter().map(one).collect(), Vec::new())).sentence
        };
        assert_eq!(sentence(vec![quiet(), down()]), "one cluster cannot be reached");
        assert_eq!(sentence(vec![down(), quiet(), down()]), "some clusters cannot be reached");
        assert_eq!(sentence(vec![down(), down()]), "the clusters cannot be reached");
    }

    #[test]
    fn items_are_named_after_their_list() {
        assert_eq!(named("containers", 1), "1 container");
        assert_eq!(named("volumeMounts", 2), "2 volumeMounts");
        assert_eq!(named("env", 1), "1 environment variable");
        assert_eq!(named("webhooks", 1), "1 webhook");
    }
}
