//! Counts in words, for sentences about a run.

pub mod excerpt;
pub(crate) mod location;
pub(crate) mod shared_diagnostic;
pub(crate) mod wrapped;

use std::collections::BTreeMap;

use reconcile_core::compare::Action;
use reconcile_core::diagnostic::Code;
use reconcile_core::live::readiness::ReadinessState;
use reconcile_core::pass::Outcome;

use crate::model::object::Counted;
use crate::model::object::disposition::Disposition;
use crate::model::summary::tally;
use crate::model::{ObjectReport, ReadinessCounts, Report, SideCounts, Summary, Verdict};
use crate::view::View;
use crate::words::label::readiness_label;
use crate::words::value::number::{self, grouped};

/// The result of a run: `shard 0/4: interrupted: …`, as far as it is one of a shard, and was interrupted.
pub(crate) fn of_run(report: &Report, sentence: &str) -> String {
    let interrupted = if report.verdict == Verdict::Interrupted { "interrupted: " } else { "" };
    let shard = report.shard.map(|shard| format!("shard {shard}: ")).unwrap_or_default();
    format!("{shard}{interrupted}{sentence}")
}

/// The objects of a report, counted by what a pass does with them.
struct Counts {
    by: BTreeMap<Disposition, usize>,
    /// Those to update and to replace, by the side that changed.
    sides: SideCounts,
    /// Those of them that overwrite what changed in the cluster.
    overwriting: usize,
}

impl Counts {
    fn of(report: &Report) -> Self {
        let counted = || report.objects.iter().map(ObjectReport::counted);
        let is_written = |one: &Counted| matches!(one.disposition, Disposition::Update | Disposition::Replace);
        let changed: Vec<Counted> = counted().filter(is_written).collect();
        Self {
            by: tally(counted().map(|one| one.disposition)),
            sides: SideCounts::of(changed.iter().filter_map(|one| one.side)),
            overwriting: changed.iter().filter(|one| one.overwrites).count(),
        }
    }

    fn get(&self, disposition: Disposition) -> usize {
        self.by.get(&disposition).copied().unwrap_or_default()
    }
}

/// The changes that a pass makes, counted, and the side that changed; and the objects in sync.
pub(crate) fn to_do(report: &Report, view: &View) -> String {
    let counts = Counts::of(report);
    let count = |disposition, words: &str| counted(&[(counts.get(disposition), words)]);
    let changed = [(counts.get(Disposition::Update), "to update"), (counts.get(Disposition::Replace), "to replace")];
    let sides = sides(counts.sides, counts.overwriting);
    // The sides have commas of their own.
    let separator = if sides.is_some() { "; " } else { ", " };
    let clauses = [
        count(Disposition::Create, "to create"),
        counted(&changed) + &sides.unwrap_or_default(),
        count(Disposition::Delete, "to delete"),
        count(Disposition::Kept, "kept"),
    ];
    let mut sentence = clauses.into_iter().filter(|clause| !clause.is_empty()).collect::<Vec<_>>().join(separator);
    if !sentence.is_empty() {
        sentence.push_str("; ");
    }
    sentence + &in_sync(counts.get(Disposition::InSync), &report.summary, view)
}

/// The objects that a pass leaves as they are although they differ or may differ: `36 not compared, 1 needs --replace=immutable`.
pub(crate) fn not_to_do(report: &Report) -> String {
    let counts = Counts::of(report);
    let needs = if counts.get(Disposition::NeedsReplace) == 1 { "needs" } else { "need" };
    counted(&[
        (counts.get(Disposition::NotCompared), "not compared"),
        (counts.get(Disposition::Conflict), "in conflict"),
        (counts.get(Disposition::NeedsReplace), &format!("{needs} --replace=immutable")),
        (counts.get(Disposition::Protected), "protected against replacement"),
    ])
}

/// `: 2 changed in the manifests, 1 in the cluster, 1 in both, 1 overwrites a change in the cluster`. `None` if nothing was changed.
fn sides(SideCounts { manifest, cluster, either, both }: SideCounts, overwriting: usize) -> Option<String> {
    let both = both.saturating_sub(overwriting);
    let sides = [
        (manifest, "in the manifests"),
        (cluster, "in the cluster"),
        (both, "in both"),
        (either, "on an unknown side"),
    ];
    let sides: Vec<(usize, &str)> = sides.into_iter().filter(|(count, _)| *count > 0).collect();
    let overwrites =
        number::some(overwriting, "overwrites a change in the cluster", "overwrite changes in the cluster");
    Some(match (sides.as_slice(), overwriting) {
        ([], 0) => return None,
        ([], 1) => ": overwrites a change in the cluster".to_owned(),
        ([], _) => ": all overwrite changes in the cluster".to_owned(),
        ([(1, side)], 0) => format!(": changed {side}"),
        ([(_, side)], 0) => format!(": all changed {side}"),
        ([(count, side), rest @ ..], _) => {
            let begin = format!(": {} changed {side}", grouped(*count));
            let others = rest.iter().map(|(count, side)| format!("{} {side}", grouped(*count)));
            std::iter::once(begin).chain(others).chain(overwrites).collect::<Vec<_>>().join(", ")
        }
    })
}

/// `3 to create, 1 to update`, without counts of zero.
pub(crate) fn counted(parts: &[(usize, &str)]) -> String {
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, words)| format!("{} {words}", grouped(*count))).collect::<Vec<_>>().join(", ")
}

/// The readiness of the objects, counted.
pub(crate) fn ready(report: &Report) -> String {
    report.summary.readiness.as_ref().map_or_else(|| "no objects".to_owned(), readiness_counts)
}

/// `2 failed, 1 in progress, 5 of 8 ready`
pub(crate) fn readiness_counts(counts: &ReadinessCounts) -> String {
    let ReadinessCounts { current, in_progress, failed, terminating, not_found, unknown } = *counts;
    let others = [
        (failed, ReadinessState::Failed),
        (in_progress, ReadinessState::InProgress),
        (terminating, ReadinessState::Terminating),
        (not_found, ReadinessState::NotFound),
        (unknown, ReadinessState::Unknown),
    ];
    let all = others.iter().fold(current, |all, (count, _)| all.saturating_add(*count));
    let others = others.iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> =
        others.map(|(count, state)| format!("{} {}", grouped(*count), readiness_label(*state).word)).collect();
    parts.push(if parts.is_empty() {
        format!("{} ready", grouped(current))
    } else {
        format!("{} of {} ready", grouped(current), grouped(all))
    });
    parts.join(", ")
}

/// Returns true if an apply has not begun: somebody said no, or nothing was tried for another reason.
pub(crate) fn is_untried(report: &Report) -> bool {
    !report.objects.is_empty() && report.objects.iter().all(|object| object.run.outcome.is_none())
}

/// The outcomes of an apply, counted, as far as something was done or nothing had to be.
pub(crate) fn done(report: &Report) -> String {
    if is_untried(report) {
        return format!("nothing was applied: {}", to_do(report, &View::default()));
    }
    let count = outcome_counts(report);
    let sentence = counted(&[
        (count(Outcome::Created), "created"),
        (count(Outcome::Updated), "updated"),
        (count(Outcome::Adopted), "adopted"),
        (count(Outcome::Replaced), "replaced"),
        (count(Outcome::Deleted), "deleted"),
        (count(Outcome::Unchanged), "unchanged"),
        (report.summary.kept.unwrap_or_default(), "kept"),
    ]);
    match sentence.as_str() {
        "" if report.objects.is_empty() => "nothing to do".to_owned(),
        "" if report.objects.iter().any(is_being_deleted) => "nothing was completed".to_owned(),
        "" => "nothing was applied".to_owned(),
        _ => sentence,
    }
}

/// Returns true if the run deleted the object, also in order to replace it, and it was not gone in time.
fn is_being_deleted(object: &ObjectReport) -> bool {
    let is_held = || object.messages.error.as_ref().is_some_and(|error| error.code == Code::Terminating);
    match object.run.outcome {
        Some(Outcome::Terminating) => true,
        Some(Outcome::Failed) => object.diff.action == Action::Replace && is_held(),
        _ => false,
    }
}

/// The outcomes of an apply that left something undone, counted.
pub(crate) fn not_done(report: &Report) -> String {
    if is_untried(report) {
        return not_to_do(report);
    }
    let count = outcome_counts(report);
    counted(&[
        (count(Outcome::Conflict), "left unchanged because of conflicts"),
        (count(Outcome::Failed), "failed"),
        (count(Outcome::Skipped), "skipped"),
        (count(Outcome::Terminating), "still being deleted"),
    ])
}

fn outcome_counts(report: &Report) -> impl Fn(Outcome) -> usize {
    |outcome| {
        let counts = |object: &&ObjectReport| !object.is_kept() && !object.is_left_whole();
        report.objects.iter().filter(counts).filter(|object| object.run.outcome == Some(outcome)).count()
    }
}

fn in_sync(count: usize, counts: &Summary, view: &View) -> String {
    let mut notes = Vec::new();
    if let Some(proven @ 1..) = counts.proven
        && view.verbosity > 0
    {
        notes.push(format!("{} of them proven without asking the server", grouped(proven)));
    }
    if let Some(adopted @ 1..) = counts.adopted {
        notes.push(format!("{} not yet owned by our field manager", grouped(adopted)));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    format!("{} in sync{notes}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_to_update_are_counted_by_the_side_that_changed() {
        let words = |manifest, cluster, either, both| sides(SideCounts { manifest, cluster, either, both }, 0);
        let is = |words: Option<String>, expected: &str| assert_eq!(words.as_deref(), Some(expected));
        is(words(2, 1, 0, 1), ": 2 changed in the manifests, 1 in the cluster, 1 in both");
        is(words(0, 2, 0, 0), ": all changed in the cluster");
        is(words(1, 0, 0, 0), ": changed in the manifests");
        is(words(1, 0, 1, 0), ": 1 changed in the manifests, 1 on an unknown side");
        is(words(0, 0, 2, 0), ": all changed on an unknown side");
        assert_eq!(words(0, 0, 0, 0), None);
        let overwriting =
            |manifest, both, overwriting| sides(SideCounts { manifest, cluster: 0, either: 0, both }, overwriting);
        is(overwriting(2, 1, 1), ": 2 changed in the manifests, 1 overwrites a change in the cluster");
        is(overwriting(1, 3, 2), ": 1 changed in the manifests, 1 in both, 2 overwrite changes in the cluster");
        is(overwriting(0, 1, 1), ": overwrites a change in the cluster");
    }

    #[test]
    fn counts_of_a_report_that_was_read_may_be_of_any_size() {
        let counts =
            readiness_counts(&ReadinessCounts { current: usize::MAX, failed: 1, ..ReadinessCounts::default() });
        let most = grouped(usize::MAX);
        assert_eq!(counts, format!("1 failed, {most} of {most} ready"));
    }
}
