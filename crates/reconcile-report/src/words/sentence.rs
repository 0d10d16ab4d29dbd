//! Counts in words, for sentences about a run.

use reconcile_core::live::readiness::ReadinessState;
use reconcile_core::pass::Outcome;

use super::label::readiness_label;
use super::number::grouped;
use crate::{ReadinessCounts, Report, Summary, View};

/// `shard 0/4: …`, in a run of a shard.
pub(crate) fn of_shard(report: &Report, sentence: &str) -> String {
    report.shard.map_or_else(|| sentence.to_owned(), |shard| format!("shard {shard}: {sentence}"))
}

/// The changes that a pass would make, counted.
pub(crate) fn to_do(counts: &Summary, view: &View) -> String {
    let update = match counts.conflict.min(counts.update) {
        0 => "to update".to_owned(),
        conflicts => format!("to update ({} in conflict)", grouped(conflicts)),
    };
    let sentence = counted(&[
        (counts.create, "to create"),
        (counts.update, &update),
        (counts.replace, "to replace"),
        (counts.delete, "to delete"),
        (counts.kept.unwrap_or_default(), "kept"),
        (counts.unknown, "not compared"),
    ]);
    let separator = if sentence.is_empty() { "" } else { "; " };
    format!("{sentence}{separator}{}", in_sync(counts, view))
}

/// `3 to create, 1 to update`, without counts of zero.
pub(crate) fn counted(parts: &[(usize, &str)]) -> String {
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, what)| format!("{} {what}", grouped(*count))).collect::<Vec<_>>().join(", ")
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
    fn counts_of_a_report_that_was_read_may_be_of_any_size() {
        let counts =
            readiness_counts(&ReadinessCounts { current: usize::MAX, failed: 1, ..ReadinessCounts::default() });
        let most = grouped(usize::MAX);
        assert_eq!(counts, format!("1 failed, {most} of {most} ready"));
    }
}
