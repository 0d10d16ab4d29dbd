//! The text about how far objects are on their way to being ready.

use reconcile_core::live::readiness::{Readiness, State};

use crate::words::label::{Label, readiness_label};
use crate::words::sentence::{of_shard, ready};
use crate::{ObjectReport, Report, Role, Styled, Verdict, View};

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
    let mut sentence = ready(report);
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

fn line(object: &ObjectReport) -> Styled {
    let mut text = Styled::new();
    let Some(readiness) = &object.readiness else { return text };
    let Label { word, role } = readiness_label(readiness.state);
    text.push(role, format!("{word:STATE_WIDTH$}  "));
    text.push(Role::Name, object.key().to_string());
    text.push(Role::Plain, format!(": {}", readiness.message));
    text.line_end();
    let hint = object.error.as_ref().and_then(|error| error.hint.as_ref()).filter(|_| object.outcome.is_none());
    if let Some(hint) = hint {
        text.push(Role::Hint, format!("{:STATE_WIDTH$}  hint: {hint}", ""));
        text.line_end();
    }
    text
}

/// What is told while waiting: an object got ready, or failed, and why unless that is told in the end.
#[must_use]
pub fn news(name: &str, readiness: &Readiness, time: &str, says_why: bool) -> Option<Styled> {
    let Label { word, role } = readiness_label(readiness.state);
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
