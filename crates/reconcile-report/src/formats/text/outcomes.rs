//! The text about the outcome of `apply` for each object.

use std::collections::BTreeSet;

use reconcile_core::compare::Action;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::pass::Outcome;
use structured_merge::FieldPath;

use super::sheet::{MARGIN, Sheet};
use super::{object_error, object_text};
use crate::groups::alike;
use crate::model::{ObjectReport, Report};
use crate::view::View;
use crate::words::label::{Label, outcome_label};
use crate::words::sentence::shared_diagnostic::{SharedDiagnostic, coded};
use crate::words::styled::{Role, Styled};
use crate::words::value::number::{first_of, grouped};

/// Largest number of fields that are named on one line.
const NAMED: usize = 10;

/// The line about one object that was written.
pub fn outcome(object: &ObjectReport) -> Styled {
    match object.run.outcome.and_then(outcome_label) {
        None if object.is_left_by_server() => {
            let mut text = line(object, "unchanged", Role::Note, String::new());
            text.append(noted(&object.details.notes));
            text
        }
        None | Some(Label { role: Role::Error, .. }) => Styled::new(),
        Some(Label { word, role }) => {
            let mut text = line(object, word, role, String::new());
            text.append(noted(&object.details.notes));
            text
        }
    }
}

/// The lines with what was noted during the turn of an object.
fn noted(notes: &[String]) -> Styled {
    let mut text = Styled::new();
    for note in notes {
        text.line(Role::Note, format!("{MARGIN}warning: {note}"));
    }
    text
}

/// The progress line about one object that is done, with the time; `None` if there was nothing to do.
pub fn progress(object: &ObjectReport, time: &str) -> Option<Styled> {
    let Label { word, role } = object.run.outcome.and_then(outcome_label)?;
    let mut text = Styled::new().with(Role::Note, format!("{time} "));
    let why = match &object.messages.error {
        _ if role != Role::Error => String::new(),
        Some(error) => format!(": {}", error.message),
        None => cause(object),
    };
    text.append(line(object, word, role, why));
    Some(text)
}

fn line(object: &ObjectReport, word: &str, role: Role, why: String) -> Styled {
    let mut text = Styled::new().with(role, format!("{word} ")).with(Role::Name, object.key.to_string());
    text.line(Role::Plain, why);
    text
}

/// The objects that `apply` did not change, with the reason, and those that were to be deleted and are kept.
pub fn left(report: &Report, view: &View) -> Styled {
    let objects: Vec<&ObjectReport> = report.objects.iter().collect();
    let mut text = Styled::new();
    for positions in alike(&objects, view.sort, said) {
        let group: Vec<&ObjectReport> = positions.iter().filter_map(|at| objects.get(*at).copied()).collect();
        match group.as_slice() {
            [] => {}
            [object] => text.append(one_left(object, view)),
            [first, ..] => text.append(group_left(first, &group, view)),
        }
    }
    text
}

fn one_left(object: &ObjectReport, view: &View) -> Styled {
    let mut text = Styled::new();
    if object.is_kept() && object.run.changed_during_run {
        text.append(object_text(object, view));
    }
    let Some(Label { word, role: Role::Error }) = object.run.outcome.and_then(outcome_label) else { return text };
    text.append(line(object, word, Role::Error, cause(object)));
    let mut sheet = Sheet::new(view);
    sheet.hints(hint(object), MARGIN.len());
    if object.diff.action != Action::Unknown {
        match repeated_error(object) {
            Some(error) => sheet.hints(&error.hint, MARGIN.len()),
            None => sheet.text.append(object_error(object, view)),
        }
    }
    text.append(sheet.text);
    if object.run.changed_during_run {
        text.append(object_text(object, view));
    } else {
        text.append(noted(&object.details.notes));
    }
    text
}

/// The error of an object, if it says nothing but the reason, which its line has already.
fn repeated_error(object: &ObjectReport) -> Option<&Diagnostic> {
    let reason = object.messages.reason.as_deref()?;
    object.messages.error.as_deref().filter(|error| error.details.is_empty() && error.message.starts_with(reason))
}

/// The hint about an object, unless it is the error itself, as that of an object which is protected against replacement.
fn hint(object: &ObjectReport) -> Option<&String> {
    let is_error = |hint: &&String| object.messages.error.as_ref().is_some_and(|error| error.message == **hint);
    object.messages.hint.as_ref().filter(|hint| !is_error(hint))
}

/// The words, the reason, the hint and the warnings about an object that was not changed.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    word: &'static str,
    cause: String,
    hint: Option<String>,
    notes: Vec<String>,
}

/// Returns what is said about an object that was not changed, if several objects can share it.
fn said(object: &ObjectReport) -> Option<Said> {
    let Label { word, role: Role::Error } = object.run.outcome.and_then(outcome_label)? else { return None };
    if object.run.changed_during_run {
        return None;
    }
    let said = |cause, hint| Some(Said { word, cause, hint, notes: object.details.notes.clone() });
    if let Some(SharedDiagnostic::Refused) = SharedDiagnostic::of(object) {
        return said(": the user needs more permissions".to_owned(), None);
    }
    match object.messages.error.as_ref().filter(|_| object.diff.action != Action::Unknown) {
        None => said(cause(object), hint(object).cloned()),
        Some(error) if repeated_error(object).is_some() && hint(object).is_none() => {
            said(cause(object), error.hint.clone())
        }
        Some(error) if error.details.is_empty() && hint(object).is_none() => {
            said(format!("{}: {}", cause(object), coded(error)), error.hint.clone())
        }
        Some(_) => None,
    }
}

/// `skipped 34 objects: namespace …`
fn group_left(first: &ObjectReport, group: &[&ObjectReport], view: &View) -> Styled {
    let Some(Said { word, cause, hint, notes }) = said(first) else { return Styled::new() };
    let mut left = Styled::new().with(Role::Error, format!("{word} "));
    left.push(Role::Name, format!("{} objects", grouped(group.len())));
    left.push(Role::Plain, of_several(&cause));
    let mut sheet = Sheet::new(view);
    sheet.row_with_places(left, group, MARGIN.len());
    sheet.hints(hint, MARGIN.len());
    sheet.text.append(noted(&notes));
    sheet.text
}

/// The reason why several objects were not changed: `: they need Namespace shop, which does not exist`.
fn of_several(cause: &str) -> String {
    let plurals = [(": it needs ", ": they need "), (": it could ", ": they could ")];
    let plural = plurals.iter().find_map(|(one, all)| Some(format!("{all}{}", cause.strip_prefix(one)?)));
    plural.unwrap_or_else(|| cause.to_owned())
}

/// The reason why an object was not changed, as the end of a line about it.
fn cause(object: &ObjectReport) -> String {
    reason(object).map_or_else(String::new, |reason| format!(": {reason}"))
}

/// The reason why an object was not changed, in a few words.
pub fn reason(object: &ObjectReport) -> Option<String> {
    match (&object.messages.reason, object.run.outcome) {
        // The reason is that of a replacement, which the conflict stands in the way of.
        (_, Some(Outcome::Conflict)) if !object.diff.conflicts.is_empty() => {
            // A field may have several owners.
            let paths: BTreeSet<&FieldPath> = object.diff.conflicts.iter().map(|conflict| &conflict.path).collect();
            Some(format!("other managers own {}", first_of(paths.iter().map(ToString::to_string), NAMED).join(", ")))
        }
        (reason, _) => reason.clone(),
    }
}
