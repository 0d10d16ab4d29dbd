//! The text about the readiness of objects.

use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use reconcile_core::text::width;

use crate::model::{ObjectReport, Report};
use crate::view::View;
use crate::words::describe::left_alone;
use crate::words::label::{Label, readiness_label};
use crate::words::sentence::wrapped::{hint_lines, wrapped};
use crate::words::sentence::{of_run, ready};
use crate::words::styled::{Role, Styled};

/// Width of the longest name of a state.
const STATE_WIDTH: usize = 11;
/// The gap behind it, and the indentation of the second line of a message.
const GAP: usize = 2;

/// The text of `status`: a line for each object, and the summary.
pub fn whole(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    let shown = if view.summary { Vec::new() } else { view.sorted(report) };
    for object in shown {
        text.append(line(object, view));
    }
    let mut sentence = ready(report);
    if let Some(left_alone) = left_alone(report) {
        sentence = format!("{sentence}; {left_alone}");
    }
    text.line(Role::Plain, of_run(report, &sentence));
    text
}

/// The objects that are not ready after `apply --wait`, each with the reason.
pub fn left(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    for object in report.objects.iter().filter(|object| object.is_unready()) {
        text.append(line(object, view));
    }
    text
}

fn line(object: &ObjectReport, view: &View) -> Styled {
    let mut text = Styled::new();
    let Some(readiness) = &object.run.readiness else { return text };
    let Label { word, role } = readiness_label(readiness.state);
    text.push(role, format!("{word:STATE_WIDTH$}{:GAP$}", ""));
    // The name is no part of a sentence that could be broken.
    let name = object.key.to_string();
    let margin = STATE_WIDTH + GAP;
    let beside = view.width.saturating_sub(margin).saturating_sub(width(&name)).saturating_sub(GAP);
    let below = view.width.saturating_sub(margin).saturating_sub(GAP);
    text.push(Role::Name, name);
    let mut sentence = wrapped(&readiness.message, beside).into_iter();
    let first = sentence.next().filter(|first| width(first) <= beside || below <= beside);
    let rest = match &first {
        Some(first) => readiness.message.get(first.len()..).unwrap_or_default().trim_start(),
        None => readiness.message.as_str(),
    };
    text.line(Role::Plain, first.map_or_else(|| ":".to_owned(), |first| format!(": {first}")));
    for line in wrapped(rest, below).iter().filter(|line| !line.is_empty()) {
        text.line(Role::Plain, format!("{}{line}", " ".repeat(margin + GAP)));
    }
    let hint =
        object.messages.error.as_ref().and_then(|error| error.hint.as_ref()).filter(|_| object.run.outcome.is_none());
    for line in hint.into_iter().flat_map(|hint| hint_lines(hint, margin, view.hint_columns())) {
        text.line(Role::Hint, line);
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
