//! The questions of `resolve`: the differences of a report one after the other, those that several objects have in common once.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use reconcile_core::compare::{Action, Class, Conflict, DiffNotes, FieldChange, ObjectDiff};
use reconcile_core::resolve::{Choice, Decisions, Difference};
use structured_merge::{FieldPath, ObjectKey};

use crate::formats::text;
use crate::groups::EqualChanges;
use crate::model::object::Details;
use crate::model::{Command, FailOn, ObjectFields, ObjectMessages, ObjectReport, Report};
use crate::view::View;
use crate::words::label::planned;
use crate::words::styled::{Role, Styled};
use crate::words::value::number::counted;

/// Differences that one answer decides about: a field, in one or in several objects.
#[derive(Debug)]
pub struct Question {
    /// The objects, each with these differences alone.
    objects: Vec<ObjectReport>,
}

/// The questions about a report, in the order of its objects. Objects that could not be compared are no question.
pub fn questions(report: &Report) -> Vec<Question> {
    let is_open =
        |object: &&ObjectReport| matches!(object.diff.action, Action::Create | Action::Update | Action::Replace);
    let objects: Vec<&ObjectReport> = report.objects.iter().filter(is_open).collect();
    let equal = EqualChanges::of(&objects, FieldChange::is_drift);
    let mut questions = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        for group in equal.beginning_at(at) {
            for change in &group.common.diff.changes {
                let objects = group.objects.iter().filter_map(|member| about_same(member, change)).collect();
                questions.push(Question { objects });
            }
        }
        let rest = equal.rest_of(at, object);
        let drift = rest.as_ref().unwrap_or(object).diff.changes.iter().filter(|change| change.is_drift());
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

/// The report of an object with some of its changes alone: everything else of it is left out, as there may be many questions about it.
fn about(object: &ObjectReport, changes: Vec<FieldChange>) -> ObjectReport {
    let ObjectFields { diff, messages, .. } = &**object;
    let own = |conflict: &&Conflict| changes.iter().any(|change| conflict.path.overlaps(&change.path));
    let conflicts = diff.conflicts.iter().filter(own).cloned().collect();
    let line = |change: &FieldChange| Some((change.path.clone(), object.line_of(&change.path)?));
    let lines = changes.iter().filter_map(line).collect();
    ObjectReport::from(ObjectFields {
        key: object.key.clone(),
        renamed_from: object.renamed_from.clone(),
        release: object.release.clone(),
        source: object.source.clone(),
        resource_version: object.resource_version.clone(),
        position: object.position,
        diff: ObjectDiff {
            base: diff.base,
            side: diff.side,
            replacement: diff.replacement,
            changes,
            conflicts,
            notes: DiffNotes { versions: diff.notes.versions.clone(), ..DiffNotes::default() }.into(),
            ..ObjectDiff::new(diff.action, diff.evidence)
        },
        messages: ObjectMessages { warnings: Vec::new(), server_warnings: 0, ..ObjectMessages::clone(messages) }.into(),
        run: object.run.clone(),
        details: Details { lines, ..Details::default() }.into(),
    })
}

impl Question {
    /// The differences, as text.
    pub fn text(&self, view: &View) -> Styled {
        text::differences(&Report::compared(Command::Diff, self.objects.clone(), &FailOn::default()), view)
    }

    /// The kind of the differences: their class.
    pub fn kind(&self) -> Option<Class> {
        self.objects.first()?.diff.changes.first().map(|change| change.class)
    }

    /// The differences.
    pub fn differences(&self) -> impl Iterator<Item = Difference> {
        self.objects.iter().flat_map(|object| {
            let difference = |change: &FieldChange| Difference {
                key: object.key.clone(),
                // Under a new name, the object is created.
                action: if object.renamed_from.is_some() { Action::Create } else { object.diff.action },
                replacement: object.diff.replacement,
                change: change.clone(),
            };
            object.diff.changes.iter().map(difference)
        })
    }

    /// The object or value that is written as a whole with these differences, so that none of them is applied without the others of it.
    fn whole(&self) -> Vec<Whole<'_>> {
        let mut whole = Vec::new();
        for object in &self.objects {
            let key = &object.key;
            if object.renamed_from.is_some() || object.diff.action == Action::Replace {
                let written = if object.renamed_from.is_some() { "created" } else { "replaced" };
                whole.push(Whole { key, value: None, written });
            } else {
                let values = object.diff.changes.iter().filter_map(|change| change.part_of.as_deref());
                whole.extend(values.map(|value| Whole { key, value: Some(value), written: "written" }));
            }
        }
        whole
    }

    /// The answers that those to earlier questions about the same objects leave.
    pub fn bound<'q>(&self, answers: impl Iterator<Item = (&'q Self, &'q Choice)>) -> Bound {
        let mut bound = Bound::default();
        let own = self.whole();
        if own.is_empty() && self.follows().next().is_none() {
            return bound;
        }
        for (earlier, choice) in answers {
            let applies = *choice == Choice::Apply;
            for whole in earlier.whole() {
                let key = whole.key;
                let reason = |answer: &str| format!("{whole} as a whole, and another difference of it is {answer}");
                if own.contains(&whole) && applies {
                    bound.others.get_or_insert_with(|| reason("applied"));
                } else if own.contains(&whole) {
                    bound.apply.get_or_insert_with(|| reason("not applied"));
                } else if whole.value.is_none()
                    && !applies
                    && self.follows().any(|followed| followed == key.to_string())
                {
                    bound.apply.get_or_insert(format!("it follows {key}, which is not created"));
                }
            }
        }
        bound
    }

    /// The objects from whose changes these follow.
    fn follows(&self) -> impl Iterator<Item = &str> {
        let changes = self.objects.iter().flat_map(|object| &object.diff.changes);
        changes.flat_map(|change| &change.follows).map(String::as_str)
    }

    /// The reason why no rule can ignore all of the changes and nothing else.
    pub fn refusal_to_ignore(&self) -> Option<String> {
        let of_object = || self.objects.iter().find_map(ObjectReport::why_no_rule_hides);
        self.refusal(Difference::refusal_to_ignore).or_else(|| of_object().map(ToOwned::to_owned))
    }

    /// The reason why an apply would not make all of the changes.
    pub fn refusal_to_apply(&self) -> Option<String> {
        let conflicts = || self.objects.iter().flat_map(|object| &object.diff.conflicts);
        let refusal = |difference: &Difference| {
            let is_blocked = conflicts().any(|conflict| conflict.path.overlaps(&difference.change.path));
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

/// A unit that is written as a whole: an object, or a value of it.
#[derive(PartialEq, Eq)]
struct Whole<'q> {
    key: &'q ObjectKey,
    /// The value; `None` for all of the object.
    value: Option<&'q FieldPath>,
    /// The verb.
    written: &'static str,
}

impl Display for Whole<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { key, value, written } = self;
        match value {
            Some(value) => write!(f, "{value} of {key} is {written}"),
            None => write!(f, "{key} is {written}"),
        }
    }
}

/// The reasons why answers are left out, if they are, as earlier ones have decided.
#[derive(Debug, Default)]
pub struct Bound {
    /// The reason why the changes cannot be applied.
    pub apply: Option<String>,
    /// The reason why they can be nothing but applied.
    pub others: Option<String>,
}

/// The effect of the decisions on the cluster, and what stays as it is.
pub fn plan(decisions: &Decisions) -> Styled {
    let mut objects: BTreeMap<&ObjectKey, Vec<&Difference>> = BTreeMap::new();
    for difference in decisions.applied() {
        objects.entry(&difference.key).or_default().push(difference);
    }
    let mut text = Styled::new();
    for (key, differences) in objects {
        let action = differences.first().map_or(Action::Update, |difference| difference.action);
        let (words, role) = planned(action);
        let fields = differences.iter().filter(|difference| !difference.is_whole_object());
        let fields: Vec<String> = fields.map(|difference| difference.change.path.to_string()).collect();
        let fields = if fields.is_empty() { String::new() } else { format!(": {}", fields.join(", ")) };
        text.line(role, format!("{words} {key}{fields}"));
    }
    let skipped = decisions.with(|choice| *choice == Choice::Skip).count();
    if skipped > 0 {
        text.line(Role::Note, counted(skipped, "difference stays as it is", "differences stay as they are"));
    }
    text
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::Replacement;
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;
    use crate::theme::plain;

    fn difference(name: &str, action: Action, fields: usize) -> Vec<Difference> {
        let gvk = GroupVersionKind::new("v1", "ConfigMap");
        let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() };
        let path = |number: usize| match action {
            Action::Create => FieldPath::root(),
            _ => FieldPath::of(&["data", &format!("a-long-name-{number:03}")]),
        };
        let change = |number| {
            let missing = FieldChange::missing(json!(number));
            FieldChange { path: path(number), class: Class::ChangedByOther, ..missing }
        };
        let replacement = (action == Action::Replace).then_some(Replacement::Allowed);
        let difference = |number| Difference { key: key.clone(), action, replacement, change: change(number) };
        (0..fields).map(difference).collect()
    }

    #[test]
    fn the_plan_names_everything_that_is_written() {
        let mut decisions = Decisions::default();
        let mut decide = |differences: Vec<Difference>, choice: &Choice| {
            for difference in differences {
                decisions.decide(difference, choice.clone());
            }
        };
        decide(difference("new", Action::Create, 1), &Choice::Apply);
        decide(difference("other", Action::Replace, 1), &Choice::Apply);
        for number in 0..30 {
            decide(difference(&format!("many-{number:02}"), Action::Update, 20), &Choice::Apply);
        }
        decide(difference("one", Action::Update, 2), &Choice::Skip);
        let text = plain(&plan(&decisions));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 33, "{text}");
        assert!(lines.contains(&"+ create ConfigMap shop/new"), "{text}");
        assert!(lines.contains(&"-/+ replace ConfigMap shop/other: data.a-long-name-000"), "{text}");
        let of_many = lines.iter().filter(|line| line.starts_with("~ update ConfigMap shop/many-"));
        assert_eq!(of_many.filter(|line| line.matches("data.a-long-name").count() == 20).count(), 30, "{text}");
        assert_eq!(lines.last(), Some(&"2 differences stay as they are"), "{text}");
    }
}
