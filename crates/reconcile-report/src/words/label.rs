//! The sign and the word for an object: its action, its outcome, or its readiness.

use reconcile_core::compare::Action;
use reconcile_core::live::readiness::ReadinessState;
use reconcile_core::pass::Outcome;

use crate::model::ObjectReport;
use crate::model::object::disposition::Disposition;

use super::styled::Role;

/// An object that would have to be replaced, which is not allowed.
pub(crate) const NEEDS_REPLACEMENT: &str = "needs replacement";
/// The state of an object that `--only` leaves missing, or keeps although no manifest has it.
pub(crate) const LEFT: &str = "left by --only";

/// A word and its role.
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

fn action(object: &ObjectReport) -> ActionWords {
    if object.is_known_left_out() {
        return ActionWords { sign: "=", word: "known", to_do: "known", role: Role::Note };
    }
    words_of(object.disposition())
}

fn words_of(disposition: Disposition) -> ActionWords {
    let words = |sign, word, to_do, role| ActionWords { sign, word, to_do, role };
    match disposition {
        Disposition::Conflict => words("!", "conflict", "conflict", Role::Error),
        Disposition::NeedsReplace | Disposition::Protected => {
            words("!", NEEDS_REPLACEMENT, NEEDS_REPLACEMENT, Role::Error)
        }
        Disposition::Create => words("+", "create", "to create", Role::Add),
        Disposition::Update => words("~", "update", "to update", Role::Change),
        Disposition::Replace => words("-/+", "replace", "to replace", Role::Remove),
        Disposition::Delete => words("-", "delete", "to delete", Role::Remove),
        Disposition::NotCompared => words("!", "not compared", "not compared", Role::Error),
        Disposition::Kept => words("=", "kept", "kept", Role::Note),
        Disposition::InSync => words("=", "in sync", "in sync", Role::Note),
        Disposition::Left => words("=", "left", "left", Role::Note),
    }
}

/// Returns the reason why an object as a whole differs, and not single fields; `None` if fields differ.
pub fn why_without_fields(action: Action) -> Option<&'static str> {
    match action {
        Action::Create => Some("it does not exist"),
        Action::Delete => Some("it is no longer in the manifests"),
        Action::Unknown => Some("it could not be compared"),
        Action::None | Action::Update | Action::Replace => None,
    }
}

/// Returns the sign and the word for an action that will be taken: `-/+ replace`.
pub(crate) fn planned(action: Action) -> (String, Role) {
    let ActionWords { sign, word, role, .. } = words_of(Disposition::of(action, None));
    (format!("{sign} {word}"), role)
}

/// Returns the step that the error of an object stopped.
pub(crate) fn stopped_step(action: Action) -> &'static str {
    match action {
        Action::Unknown => "cannot compare",
        Action::Delete => "cannot delete",
        Action::None | Action::Create | Action::Update | Action::Replace => "cannot apply",
    }
}

/// Returns the sign before the name of an object, which shows its action, or that it was left as it is for a reason.
pub(crate) fn sign(object: &ObjectReport) -> (&'static str, Role) {
    let is_left = matches!(object.run.outcome, Some(Outcome::Failed | Outcome::Skipped));
    if is_left && object.messages.reason.is_some() {
        return ("!", Role::Error);
    }
    let words = action(object);
    (words.sign, words.role)
}

/// Returns the word for the action that an object needs, or for its outcome.
pub(crate) fn label(object: &ObjectReport) -> Label {
    result(object).unwrap_or_else(|| {
        let words = action(object);
        Label { word: words.word, role: words.role }
    })
}

/// Returns the label of an object in the words of the summary: `to update`.
pub(crate) fn summary_label(object: &ObjectReport) -> Label {
    result(object).unwrap_or_else(|| {
        let words = action(object);
        Label { word: words.to_do, role: words.role }
    })
}

/// Returns the word for the state after the run: the readiness, if it was checked and adds something to the outcome, or the
/// outcome.
fn result(object: &ObjectReport) -> Option<Label> {
    if let Some(readiness) =
        object.run.readiness.as_ref().filter(|one| object.run.outcome.is_none() || !one.is_current())
    {
        let Label { word, role } = readiness_label(readiness.state);
        return Some(Label { word, role: if readiness.is_current() { Role::Note } else { role } });
    }
    let is_in_sync = object.run.outcome == Some(Outcome::Unchanged)
        && !object.is_kept()
        && !object.is_left_whole()
        && !object.is_left_by_server();
    let in_sync = is_in_sync.then_some(Label { word: "in sync", role: Role::Note });
    object.run.outcome.and_then(outcome_label).or(in_sync)
}

/// Returns the word for an outcome; `None` if there was nothing to do. Outcomes that left the object as it was have the role of
/// an error.
pub(crate) fn outcome_label(outcome: Outcome) -> Option<Label> {
    let (word, role) = match outcome {
        Outcome::Created => ("created", Role::Add),
        Outcome::Updated => ("updated", Role::Change),
        Outcome::Adopted => ("adopted", Role::Note),
        Outcome::Replaced => ("replaced", Role::Change),
        Outcome::Deleted => ("deleted", Role::Remove),
        Outcome::Conflict => ("conflict", Role::Error),
        Outcome::Failed => ("failed", Role::Error),
        Outcome::Skipped => ("skipped", Role::Error),
        Outcome::Terminating => ("terminating", Role::Error),
        Outcome::Unchanged => return None,
    };
    Some(Label { word, role })
}

/// Returns the word for an outcome, `unchanged` included.
pub(crate) fn outcome_name(outcome: Outcome) -> &'static str {
    outcome_label(outcome).map_or("unchanged", |label| label.word)
}

/// Returns the word for a readiness.
pub(crate) fn readiness_label(state: ReadinessState) -> Label {
    let (word, role) = match state {
        ReadinessState::Current => ("ready", Role::Add),
        ReadinessState::InProgress => ("in progress", Role::Change),
        ReadinessState::Failed => ("failed", Role::Error),
        ReadinessState::Terminating => ("terminating", Role::Remove),
        ReadinessState::NotFound => ("not found", Role::Error),
        ReadinessState::Unknown => ("unknown", Role::Error),
    };
    Label { word, role }
}
