use crate::compare::Action;
use crate::report::formats::text::matrix::{Cell, cell};
use crate::report::{ObjectReport, Role};

/// What is to be done with an object, or what was: the words of the summary.
pub(super) fn state(object: &ObjectReport) -> Cell {
    let planned = object.outcome.is_none() && object.readiness.is_none();
    let of = |word, role| Cell { word, role };
    match object.action {
        _ if !planned => cell(object),
        Action::Create => of("to create", Role::Add),
        Action::Update if object.conflicts.is_empty() => of("to update", Role::Change),
        Action::Replace => of("to replace", Role::Remove),
        Action::Delete => of("to delete", Role::Remove),
        _ => cell(object),
    }
}

/// The sign before an object's name, as in the text.
pub(super) fn sign(object: &ObjectReport) -> &'static str {
    match object.action {
        Action::Create => "+",
        Action::Update if !object.conflicts.is_empty() => "!",
        Action::Update => "~",
        Action::Replace => "-/+",
        Action::Delete => "-",
        Action::Unknown => "!",
        Action::None => "=",
    }
}

/// The class of the style sheet for a role.
pub(super) fn tone(role: Role) -> &'static str {
    match role {
        Role::Add | Role::AddWord => "add",
        Role::Change => "change",
        Role::Remove | Role::RemoveWord => "remove",
        Role::Problem => "problem",
        Role::Hint => "hint",
        Role::Name => "name",
        Role::Note => "note",
        Role::Plain => "plain",
    }
}
