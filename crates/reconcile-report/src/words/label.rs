//! An object in a sign and a word: what has to be done with it, what was done, and how far it is.

use reconcile_core::compare::Action;
use reconcile_core::live::readiness::State;

use crate::{ObjectReport, Outcome};

use super::styled::Role;

/// A word, and what it looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub word: &'static str,
    pub role: Role,
}

/// An action in words.
struct ActionWords {
    sign: &'static str,
    word: &'static str,
    to_do: &'static str,
    role: Role,
}

/// Fields that other managers own are in the way.
const CONFLICT: ActionWords = ActionWords { sign: "!", word: "conflict", to_do: "conflict", role: Role::Problem };

fn action(object: &ObjectReport) -> ActionWords {
    let of = |sign, word, to_do, role| ActionWords { sign, word, to_do, role };
    match object.action {
        Action::Update if !object.conflicts.is_empty() => CONFLICT,
        Action::Create => of("+", "create", "to create", Role::Add),
        Action::Update => of("~", "update", "to update", Role::Change),
        Action::Replace => of("-/+", "replace", "to replace", Role::Remove),
        Action::Delete => of("-", "delete", "to delete", Role::Remove),
        Action::Unknown => of("!", "not compared", "not compared", Role::Problem),
        Action::None if object.is_kept() => of("=", "kept", "kept", Role::Note),
        Action::None => of("=", "in sync", "in sync", Role::Note),
    }
}

/// Returns why an object has no fields that differ one by one, if it has none.
#[must_use]
pub fn why_without_fields(action: Action) -> Option<&'static str> {
    match action {
        Action::Create => Some("it does not exist"),
        Action::Delete => Some("it is no longer in the manifests"),
        Action::Unknown => Some("it could not be compared"),
        Action::None | Action::Update | Action::Replace => None,
    }
}

/// Returns the sign before the name of an object: what would be done.
pub(crate) fn sign(object: &ObjectReport) -> (&'static str, Role) {
    let words = action(object);
    (words.sign, words.role)
}

/// Returns what an object needs, or what was done with it.
pub(crate) fn label(object: &ObjectReport) -> Label {
    result(object).unwrap_or_else(|| {
        let words = action(object);
        Label { word: words.word, role: words.role }
    })
}

/// The same, in the words of the summary: `to update`.
pub(crate) fn summary_label(object: &ObjectReport) -> Label {
    result(object).unwrap_or_else(|| {
        let words = action(object);
        Label { word: words.to_do, role: words.role }
    })
}

/// What is known after the run: the readiness, if it was checked and says more than the outcome, or the outcome.
fn result(object: &ObjectReport) -> Option<Label> {
    if let Some(readiness) = object.readiness.as_ref().filter(|one| object.outcome.is_none() || !one.is_current()) {
        let Label { word, role } = readiness_label(readiness.state);
        return Some(Label { word, role: if readiness.is_current() { Role::Note } else { role } });
    }
    let is_unchanged = object.outcome == Some(Outcome::Unchanged) && !object.is_kept();
    let in_sync = is_unchanged.then_some(Label { word: "in sync", role: Role::Note });
    object.outcome.and_then(outcome_label).or(in_sync)
}

/// Returns the word for an outcome; none if there was nothing to do. Only a problem leaves the object as it was.
pub(crate) fn outcome_label(outcome: Outcome) -> Option<Label> {
    let (word, role) = match outcome {
        Outcome::Created => ("created", Role::Add),
        Outcome::Updated => ("updated", Role::Change),
        Outcome::Adopted => ("adopted", Role::Note),
        Outcome::Replaced => ("replaced", Role::Change),
        Outcome::Deleted => ("deleted", Role::Remove),
        Outcome::Conflict => ("conflict", Role::Problem),
        Outcome::Failed => ("failed", Role::Problem),
        Outcome::Skipped => ("skipped", Role::Problem),
        Outcome::Terminating => ("terminating", Role::Problem),
        Outcome::Unchanged => return None,
    };
    Some(Label { word, role })
}

/// Names an outcome, also that nothing was done.
pub(crate) fn outcome_name(outcome: Outcome) -> &'static str {
    outcome_label(outcome).map_or("unchanged", |label| label.word)
}

/// Returns the word for a readiness.
pub(crate) fn readiness_label(state: State) -> Label {
    let (word, role) = match state {
        State::Current => ("ready", Role::Add),
        State::InProgress => ("in progress", Role::Change),
        State::Failed => ("failed", Role::Problem),
        State::Terminating => ("terminating", Role::Remove),
        State::NotFound => ("not found", Role::Problem),
        State::Unknown => ("unknown", Role::Problem),
    };
    Label { word, role }
}
