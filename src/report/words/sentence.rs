//! What the sentences about a run are made of: counts in words.

use super::number::grouped;
use crate::report::{Report, Summary, View};

/// `shard 0/4: …`, in a run over a part of the objects.
pub(crate) fn of_shard(report: &Report, sentence: &str) -> String {
    report.shard.map_or_else(|| sentence.to_owned(), |shard| format!("shard {shard}: {sentence}"))
}

/// What a pass would do.
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

/// `3 to create, 1 to update`, without what there is none of.
pub(crate) fn counted(parts: &[(usize, &str)]) -> String {
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, what)| format!("{} {what}", grouped(*count))).collect::<Vec<_>>().join(", ")
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
