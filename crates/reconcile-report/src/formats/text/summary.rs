//! The last lines of the text: the number of objects in each state, remarks about the run, and its cluster.

use crate::words::cluster::cluster;
use crate::words::sentence::{not_to_do, to_do};
use crate::words::summary::SummaryLines;
use crate::{ClusterInfo, Report, Role, Styled, View};

/// The last lines: the summary, and the cluster.
pub fn summary(report: &Report, view: &View) -> Styled {
    let SummaryLines { done, not_done, left_alone, remarks } = SummaryLines::of(report, view);
    let mut text = line(Role::Plain, done);
    let asides = left_alone.into_iter().chain(remarks).map(|words| (Role::Note, words));
    for (role, words) in not_done.into_iter().map(|words| (Role::Plain, words)).chain(asides) {
        text.append(line(role, words));
    }
    if let Some(info) = report.cluster.as_ref().filter(|_| !view.is_headed) {
        text.append(named(info));
    }
    text
}

/// `context prod-eu (https://10.1.2.3:6443)`
pub fn named(info: &ClusterInfo) -> Styled {
    line(Role::Note, cluster(info, str::to_owned))
}

/// The changes that a pass makes, and those that it does not make.
pub fn plan(report: &Report, view: &View) -> Styled {
    let mut text = line(Role::Plain, to_do(report, view));
    let not_to_do = not_to_do(report);
    if !not_to_do.is_empty() {
        text.append(line(Role::Plain, format!("not done: {not_to_do}")));
    }
    text
}

fn line(role: Role, words: String) -> Styled {
    let mut text = Styled::new().with(role, words);
    text.line_end();
    text
}
