//! The text about how far objects are on their way to being ready.

use crate::live::readiness::{Readiness, State};
use crate::report::words::number::grouped;
use crate::report::words::sentence::of_shard;
use crate::report::{ObjectReport, ReadinessCounts, Report, Role, Styled, Verdict, View};

/// Width of the longest name of a state.
const STATE_WIDTH: usize = 11;

/// What `status` shows: a line for each object, and the summary.
#[must_use]
pub fn whole(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    let shown = if view.summary { Vec::new() } else { view.sorted(report) };
    for object in shown {
        text.append(line(object));
    }
    let mut sentence = report.summary.readiness.as_ref().map_or_else(|| "nothing to look at".to_owned(), counts);
    if report.verdict == Verdict::Interrupted {
        sentence = format!("interrupted: {sentence}");
    }
    text.push(Role::Plain, of_shard(report, &sentence));
    text.line_end();
    text
}

/// What `apply --wait` left that is not ready, and why.
#[must_use]
pub fn left(report: &Report) -> Styled {
    let mut text = Styled::new();
    for object in report.objects.iter().filter(|object| object.is_unready()) {
        text.append(line(object));
    }
    text
}

/// `2 failed, 1 in progress, 5 of 8 ready`
#[must_use]
pub fn counts(counts: &ReadinessCounts) -> String {
    let ReadinessCounts { current, in_progress, failed, terminating, not_found, unknown } = *counts;
    let others = [
        (failed, State::Failed),
        (in_progress, State::InProgress),
        (terminating, State::Terminating),
        (not_found, State::NotFound),
        (unknown, State::Unknown),
    ];
    let all = others.iter().fold(current, |all, (count, _)| all.saturating_add(*count));
    let others = others.iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> =
        others.map(|(count, state)| format!("{} {}", grouped(*count), word(*state).0)).collect();
    parts.push(if parts.is_empty() {
        format!("{} ready", grouped(current))
    } else {
        format!("{} of {} ready", grouped(current), grouped(all))
    });
    parts.join(", ")
}

fn line(object: &ObjectReport) -> Styled {
    let mut text = Styled::new();
    let Some(readiness) = &object.readiness else { return text };
    let (word, role) = word(readiness.state);
    text.push(role, format!("{word:STATE_WIDTH$}  "));
    text.push(Role::Name, object.key.to_string());
    text.push(Role::Plain, format!(": {}", readiness.message));
    text.line_end();
    let hint = object.error.as_ref().and_then(|error| error.hint.as_ref()).filter(|_| object.outcome.is_none());
    if let Some(hint) = hint {
        text.push(Role::Hint, format!("{:STATE_WIDTH$}  hint: {hint}", ""));
        text.line_end();
    }
    text
}

/// How a state is called, and what it looks like.
pub(crate) fn word(state: State) -> (&'static str, Role) {
    match state {
        State::Current => ("ready", Role::Add),
        State::InProgress => ("in progress", Role::Change),
        State::Failed => ("failed", Role::Problem),
        State::Terminating => ("terminating", Role::Remove),
        State::NotFound => ("not found", Role::Problem),
        State::Unknown => ("unknown", Role::Problem),
    }
}

/// What is told while waiting: an object got ready, or failed, and why unless that is told in the end.
#[must_use]
pub fn news(name: &str, readiness: &Readiness, time: &str, says_why: bool) -> Option<Styled> {
    let (word, role) = word(readiness.state);
    let mut text = Styled::new().with(Role::Note, format!("{time} ")).with(role, format!("{word} "));
    text.push(Role::Name, name);
    match readiness.state {
        State::Failed if says_why => text.push(Role::Plain, format!(": {}", readiness.message)),
        State::Current | State::Failed => {}
        _ => return None,
    }
    text.line_end();
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_report_that_was_read_may_be_of_any_size() {
        let counts = counts(&ReadinessCounts { current: usize::MAX, failed: 1, ..ReadinessCounts::default() });
        let most = grouped(usize::MAX);
        assert_eq!(counts, format!("1 failed, {most} of {most} ready"));
    }
}
