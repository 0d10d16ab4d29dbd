//! The questions of `resolve`: the differences of a report one after the other, those that several objects have in common once.

use std::collections::BTreeMap;

use reconcile_core::compare::{Action, FieldChange};
use reconcile_core::resolve::{Answer, Decisions, Difference};
use reconcile_core::text::one_line;
use structured_merge::ObjectKey;

use crate::formats::text;
use crate::groups::EqualChanges;
use crate::words::number::counted;
use crate::{Command, FailOn, ObjectReport, Report, Role, Styled, View};

/// The most objects that the plan names.
const OBJECTS: usize = 20;
/// Longest list of fields of one object in the plan, in characters.
const FIELDS: usize = 200;

/// Differences that one answer decides about: a field, in one or in several objects.
#[derive(Debug)]
pub struct Question {
    /// The objects, each with these differences alone.
    objects: Vec<ObjectReport>,
}

/// The questions about a report, in the order of its objects. Objects that could not be compared are no question.
#[must_use]
pub fn questions(report: &Report) -> Vec<Question> {
    let is_open =
        |object: &&ObjectReport| matches!(object.diff.action, Action::Create | Action::Update | Action::Replace);
    let objects: Vec<&ObjectReport> = report.objects.iter().filter(is_open).collect();
    let equal = EqualChanges::of(&objects, |_, change| change.class.is_drift());
    let mut questions = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        for group in equal.beginning_at(at) {
            for change in &group.common.diff.changes {
                let objects = group.objects.iter().filter_map(|member| about_same(member, change)).collect();
                questions.push(Question { objects });
            }
        }
        let rest = equal.rest_of(at, object);
        let drift = rest.as_ref().unwrap_or(object).diff.changes.iter().filter(|change| change.class.is_drift());
        if object.key.gvk.is_crd() {
            // A definition is shown by its versions, as a whole.
            let all: Vec<FieldChange> = drift.cloned().collect();
            questions.push(Question { objects: vec![about(object, all)] });
        } else {
            let one = |change: &FieldChange| Question { objects: vec![about(object, vec![change.clone()])] };
            questions.extend(drift.map(one));
        }
    }
    questions
}

/// The report of an object with its own change at the same path.
fn about_same(object: &ObjectReport, change: &FieldChange) -> Option<ObjectReport> {
    let is_it = |own: &&FieldChange| own.path == change.path && own.class == change.class;
    let own = object.diff.changes.iter().find(is_it)?;
    Some(about(object, vec![own.clone()]))
}

/// The report of an object with some of its changes alone.
fn about(object: &ObjectReport, changes: Vec<FieldChange>) -> ObjectReport {
    let mut alone = object.clone();
    alone.diff.conflicts.retain(|conflict| changes.iter().any(|change| is_at(&conflict.path, change)));
    alone.diff.changes = changes;
    (alone.diff.beside, alone.diff.ignored, alone.messages.warnings) = Default::default();
    alone
}

/// Returns true if a path is that of a change, or below it.
fn is_at(path: &structured_merge::FieldPath, change: &FieldChange) -> bool {
    path.elements().starts_with(change.path.elements())
}

impl Question {
    /// The differences, as text.
    #[must_use]
    pub fn text(&self, view: &View) -> Styled {
        text::differences(&Report::compared(Command::Diff, self.objects.clone(), &FailOn::default()), view)
    }

    /// The differences.
    pub fn differences(&self) -> impl Iterator<Item = Difference> {
        self.objects.iter().flat_map(|object| {
            let difference = |change: &FieldChange| Difference {
                key: object.key.clone(),
                action: object.diff.action,
                replacement: object.diff.replacement,
                change: change.clone(),
            };
            object.diff.changes.iter().map(difference)
        })
    }

    /// The reason for which an apply would not make all of the changes.
    #[must_use]
    pub fn refusal_to_apply(&self) -> Option<String> {
        let conflicts = || self.objects.iter().flat_map(|object| &object.diff.conflicts);
        let refusal = |difference: &Difference| {
            let is_blocked = conflicts().any(|conflict| is_at(&conflict.path, &difference.change));
            difference.refusal_to_apply(is_blocked)
        };
        self.refusal(refusal)
    }

    /// The first reason that a function gives for a difference, with its object if there are several.
    pub fn refusal(&self, refusal: impl Fn(&Difference) -> Option<String>) -> Option<String> {
        self.differences().find_map(|difference| {
            let reason = refusal(&difference)?;
            Some(if self.objects.len() == 1 { reason } else { format!("{}: {reason}", difference.key) })
        })
    }
}

/// The effect of the decisions on the cluster, and what stays as it is.
#[must_use]
pub fn plan(decisions: &Decisions) -> Styled {
    let mut objects: BTreeMap<&ObjectKey, Vec<&Difference>> = BTreeMap::new();
    for difference in decisions.applied() {
        objects.entry(&difference.key).or_default().push(difference);
    }
    let mut text = Styled::new();
    let mut line = |role: Role, words: String| {
        text.push(role, words);
        text.line_end();
    };
    for (key, differences) in objects.iter().take(OBJECTS) {
        let action = differences.first().map_or(Action::Update, |difference| difference.action);
        let fields: Vec<String> = differences.iter().map(|difference| difference.change.path.to_string()).collect();
        let fields = one_line(&fields.join(", "), FIELDS);
        match action {
            Action::Create => line(Role::Add, format!("+ create {key}")),
            Action::Replace => line(Role::Remove, format!("± delete and recreate {key}: {fields}")),
            _ => line(Role::Change, format!("~ update {key}: {fields}")),
        }
    }
    if let Some(more @ 1..) = objects.len().checked_sub(OBJECTS) {
        line(Role::Note, format!("and {}", counted(more, "more object", "more objects")));
    }
    let count = |wanted: fn(&Answer) -> bool| decisions.with(wanted).count();
    let skipped = count(|answer| *answer == Answer::Skip);
    if skipped > 0 {
        line(Role::Note, format!("{} as it is", counted(skipped, "difference stays", "differences stay")));
    }
    text
}
