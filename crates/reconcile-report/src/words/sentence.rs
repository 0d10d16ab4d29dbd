//! Counts in words, for sentences about a run.

use reconcile_core::live::readiness::ReadinessState;
use reconcile_core::pass::Outcome;

use super::label::readiness_label;
use super::number::grouped;
use crate::{ReadinessCounts, Report, SideCounts, Summary, View};

/// `shard 0/4: …`, in a run of a shard.
pub(crate) fn of_shard(report: &Report, sentence: &str) -> String {
    report.shard.map_or_else(|| sentence.to_owned(), |shard| format!("shard {shard}: {sentence}"))
}

/// The changes that a pass would make, counted, and the side that changed.
pub(crate) fn to_do(counts: &Summary, view: &View) -> String {
    let update = match counts.conflict.min(counts.update) {
        0 => "to update".to_owned(),
        conflicts => format!("to update ({} in conflict)", grouped(conflicts)),
    };
    let changed = counted(&[(counts.update, &update), (counts.replace, "to replace")]);
    let sides = sides(counts);
    // The sides have commas of their own.
    let separator = if sides.is_some() { "; " } else { ", " };
    let count = |count: usize, words: &str| counted(&[(count, words)]);
    let clauses = [
        count(counts.create, "to create"),
        changed + &sides.unwrap_or_default(),
        count(counts.delete, "to delete"),
        count(counts.kept.unwrap_or_default(), "kept"),
        count(counts.unknown, "not compared"),
    ];
    let mut sentence = clauses.into_iter().filter(|clause| !clause.is_empty()).collect::<Vec<_>>().join(separator);
    if !sentence.is_empty() {
        sentence.push_str("; ");
    }
    sentence + &in_sync(counts, view)
}

/// `: 2 changed in the manifests, 1 in the cluster, 1 in both`: the objects to update and to replace, by the side that changed. `None`
/// if no side is known.
fn sides(counts: &Summary) -> Option<String> {
    let SideCounts { manifest, cluster, either, both } = counts.sides;
    // An object that is deleted is no longer in the manifests, and one that is created has no known side.
    let (manifest, either) = (manifest.saturating_sub(counts.delete), either.saturating_sub(counts.create));
    let known = [(manifest, "in the manifests"), (cluster, "in the cluster"), (both, "in both")];
    if known.iter().all(|(count, _)| *count == 0) {
        return None;
    }
    let sides = known.into_iter().chain([(either, "in one of them")]).filter(|(count, _)| *count > 0);
    Some(match sides.collect::<Vec<_>>().as_slice() {
        [(1, side)] => format!(": changed {side}"),
        [(_, side)] => format!(": all changed {side}"),
        [(count, side), rest @ ..] => {
            let first = format!(": {} changed {side}", grouped(*count));
            rest.iter().fold(first, |all, (count, side)| format!("{all}, {} {side}", grouped(*count)))
        }
        [] => return None,
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

/// The outcomes of an apply, counted.
pub(crate) fn done(report: &Report) -> String {
    // Somebody said no, or nothing was begun for another reason.
    if !report.objects.is_empty() && report.objects.iter().all(|object| object.run.outcome.is_none()) {
        return format!("nothing was applied: {}", to_do(&report.summary, &View::default()));
    }
    let count = |outcome: Outcome| {
        report.objects.iter().filter(|object| object.run.outcome == Some(outcome) && !object.is_kept()).count()
    };
    let sentence = counted(&[
        (count(Outcome::Created), "created"),
        (count(Outcome::Updated), "updated"),
        (count(Outcome::Adopted), "adopted"),
        (count(Outcome::Replaced), "replaced"),
        (count(Outcome::Deleted), "deleted"),
        (count(Outcome::Unchanged), "unchanged"),
        (report.summary.kept.unwrap_or_default(), "kept"),
        (count(Outcome::Conflict), "left unchanged because of conflicts"),
        (count(Outcome::Failed), "failed"),
        (count(Outcome::Skipped), "skipped"),
        (count(Outcome::Terminating), "still being deleted"),
    ]);
    if sentence.is_empty() { "nothing to do".to_owned() } else { sentence }
}

fn in_sync(counts: &Summary, view: &View) -> String {
    let mut notes = Vec::new();
    if counts.proven > 0 && view.verbosity > 0 {
        notes.push(format!("{} of them proven without asking the server", grouped(counts.proven)));
    }
    if counts.adopted > 0 {
        notes.push(format!("{} not yet owned by our field manager", grouped(counts.adopted)));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    format!("{} in sync{notes}", grouped(counts.in_sync))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_to_update_are_told_by_the_side_that_changed() {
        let sides = |manifest, cluster, either, both| SideCounts { manifest, cluster, either, both };
        let words = |counts: Summary| to_do(&counts, &View::default());
        let update = |count, sides| Summary { update: count, sides, ..Summary::default() };
        assert_eq!(
            words(update(4, sides(2, 1, 0, 1))),
            "4 to update: 2 changed in the manifests, 1 in the cluster, 1 in both; 0 in sync"
        );
        assert_eq!(words(update(2, sides(0, 2, 0, 0))), "2 to update: all changed in the cluster; 0 in sync");
        assert_eq!(words(update(1, sides(1, 0, 0, 0))), "1 to update: changed in the manifests; 0 in sync");
        assert_eq!(
            words(update(2, sides(1, 0, 1, 0))),
            "2 to update: 1 changed in the manifests, 1 in one of them; 0 in sync"
        );
        assert_eq!(words(update(2, sides(0, 0, 2, 0))), "2 to update; 0 in sync");
        let all = Summary { create: 2, delete: 1, unknown: 1, ..update(1, sides(1, 1, 2, 0)) };
        let replace = Summary { replace: 1, ..update(1, sides(1, 1, 0, 0)) };
        assert_eq!(
            words(replace),
            "1 to update, 1 to replace: 1 changed in the manifests, 1 in the cluster; 0 in sync"
        );
        assert_eq!(
            words(all),
            "2 to create; 1 to update: changed in the cluster; 1 to delete; 1 not compared; 0 in sync"
        );
    }

    #[test]
    fn counts_of_a_report_that_was_read_may_be_of_any_size() {
        let counts =
            readiness_counts(&ReadinessCounts { current: usize::MAX, failed: 1, ..ReadinessCounts::default() });
        let most = grouped(usize::MAX);
        assert_eq!(counts, format!("1 failed, {most} of {most} ready"));
    }
}
