//! The text about the readiness of objects.

use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};

use crate::model::{ObjectReport, Report, Verdict};
use crate::view::View;
use crate::words::describe::left_alone;
use crate::words::label::{Label, readiness_label};
use crate::words::sentence::{of_shard, ready};
use crate::words::styled::{Role, Styled};

/// Width of the longest name of a state.
const STATE_WIDTH: usize = 11;

/// The text of `status`: a line for each object, and the summary.
pub fn whole(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    let shown = if view.summary { Vec::new() } else { view.sorted(report) };
    for object in shown {
        text.append(line(object));
    }
    let mut sentence = ready(report);
    if let Some(left_alone) = left_alone(report) {
        sentence = format!("{sentence}; {left_alone}");
    }
    if report.verdict == Verdict::Interrupted {
        sentence = format!("interrupted: {sentence}");
    }
    text.push(Role::Plain, of_shard(report, &sentence));
    text.line_end();
    text
}

/// The objects that are not ready after `apply --wait`, each with the reason.
pub fn left(report: &Report) -> Styled {
    let mut text = Styled::new();
    for object in report.objects.iter().filter(|object| object.is_unready()) {
        text.append(line(object));
    }
    text
}

fn line(object: &ObjectReport) -> Styled {
    let mut text = Styled::new();
    let Some(readiness) = &object.run.readiness else { return text };
    let Label { word, role } = readiness_label(readiness.state);
    text.push(role, format!("{word:STATE_WIDTH$}  "));
    text.push(Role::Name, object.key.to_string());
    text.push(Role::Plain, format!(": {}", readiness.message));
    text.line_end();
    let hint =
        object.messages.error.as_ref().and_then(|error| error.hint.as_ref()).filter(|_| object.run.outcome.is_none());
    if let Some(hint) = hint {
        text.push(Role::Hint, format!("{:STATE_WIDTH$}  hint: {hint}", ""));
        text.line_end();
    }
    text
}

/// The line about an object that became ready or failed during the wait; with the reason, unless the end of the text has it.
pub fn change(name: &str, readiness: &ObjectReadiness, time: &str, says_why: bool) -> Option<Styled> {
    let Label { word, role } = readiness_label(readiness.state);
    let mut text = Styled::new().with(Role::Note, format!("{time} ")).with(role, format!("{word} "));
    text.push(Role::Name, name);
    match readiness.state {
        ReadinessState::Failed if says_why => text.push(Role::Plain, format!(": {}", readiness.message)),
        ReadinessState::Current | ReadinessState::Failed => {}
        _ => return None,
    }
    text.line_end();
    Some(text)
}
