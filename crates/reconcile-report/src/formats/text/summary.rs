//! The last lines of the text: the number of objects in each state, remarks about the run, and its cluster.

use super::{added_items, unmanaged};
use crate::words::cluster::cluster;
use crate::words::describe::left_alone;
use crate::words::number::grouped;
use crate::words::sentence::{done, of_shard, readiness_counts, to_do};
use crate::{ApplySetInfo, ClusterInfo, Command, Report, Role, Styled, Summary, Verdict, View};

/// The last lines: the counts, and the cluster.
#[must_use]
pub fn summary(report: &Report, view: &View) -> Styled {
    let mut sentence = if report.command == Command::Apply { done(report) } else { to_do(&report.summary, view) };
    if let Some(pruned_by) = report.apply_set.as_ref().and_then(|set| set.pruned_by) {
        sentence = format!("{sentence}; shard {pruned_by} prunes");
    }
    if let Some(namespaces) = report.apply_set.as_ref().and_then(ApplySetInfo::unnamed_namespaces) {
        sentence = format!("{sentence}; deletions in {namespaces}");
    }
    if report.command == Command::Apply
        && let Some(counts) = &report.summary.readiness
    {
        sentence = format!("{sentence}; {}", readiness_counts(counts));
    }
    if let Some(added) = added(&report.summary) {
        sentence = format!("{sentence}; {added}");
    }
    if let Some(beside) = added_items::clause(report) {
        sentence = format!("{sentence}; {beside}");
    }
    if let Some(unmanaged) = unmanaged::clause(report) {
        sentence = format!("{sentence}; {unmanaged}");
    }
    if !report.fail_on.is_empty() {
        sentence = format!("{sentence}; fails only on {}", report.fail_on.join(", "));
    }
    if let Some(left_alone) = left_alone(report) {
        sentence = format!("{sentence}; {left_alone}");
    }
    if report.verdict == Verdict::Interrupted {
        sentence = format!("interrupted: {sentence}");
    }
    let mut text = sentence_line(of_shard(report, &sentence));
    if let Some(info) = report.cluster.as_ref().filter(|_| !view.is_headed) {
        text.append(named(info));
    }
    text
}

/// `context prod-eu (https://10.1.2.3:6443)`
#[must_use]
pub fn named(info: &ClusterInfo) -> Styled {
    let mut text = Styled::new().with(Role::Note, cluster(info, str::to_owned));
    text.line_end();
    text
}

/// The changes that a pass would make, in one line.
#[must_use]
pub fn plan(report: &Report, view: &View) -> Styled {
    sentence_line(to_do(&report.summary, view))
}

fn sentence_line(sentence: String) -> Styled {
    let mut text = Styled::new().with(Role::Plain, sentence);
    text.line_end();
    text
}

/// `3 fields added by others, 1 of them by hand`
fn added(counts: &Summary) -> Option<String> {
    let fields = match counts.unmanaged {
        0 => return None,
        1 => "1 field added".to_owned(),
        more => format!("{} fields added", grouped(more)),
    };
    Some(match counts.unmanaged_manual {
        0 => format!("{fields} by others"),
        manual if manual == counts.unmanaged => format!("{fields} by hand"),
        manual => format!("{fields} by others, {} of them by hand", grouped(manual)),
    })
}
