//! `-o text`: for people. Live on the left, desired on the right: what `apply` would do.

use std::collections::BTreeMap;

use similar::ChangeTag;
use structured_merge::{FieldPath, Op, PathElement};

use super::excerpt;
use super::lines::groups;
use super::styled::{Role, Styled};
use super::value::{block, inline, is_long};
use super::{
    ApplySetInfo, Command, ObjectReport, ParentAction, Report, View, outcomes, readiness, summary_line, unmanaged,
};
use crate::compare::{Action, Class, FieldChange, Owner};

/// Column of the source behind an object's name, and of the values behind a path.
const SOURCE_COLUMN: usize = 66;
const VALUE_COLUMN: usize = 36;
const NOTE_COLUMN: usize = 24;
/// How many changes, conflicts or warnings of one object are shown; whoever may write the live object decides how many there are.
const SHOWN: usize = 100;

/// Everything at once.
#[must_use]
pub fn whole(report: &Report, view: &View) -> Styled {
    if report.command == Command::Status {
        return readiness::whole(report, view);
    }
    let mut text = findings(report, view);
    text.append(summary_line::summary(report));
    text
}

/// Everything but the last line.
#[must_use]
pub fn findings(report: &Report, view: &View) -> Styled {
    if view.summary {
        return Styled::new();
    }
    let mut text = differences(report, view);
    report.objects.iter().for_each(|object| text.append(outcomes::outcome(object)));
    text.append(outcomes::left(report, view));
    text.append(readiness::left(report));
    text
}

/// The differences of all objects.
#[must_use]
pub fn differences(report: &Report, view: &View) -> Styled {
    let mut text = Styled::new();
    if view.summary {
        return text;
    }
    for object in view.sorted(report) {
        text.append(object_text(object, view));
    }
    if let Some(set) = &report.apply_set {
        text.append(parent_text(set));
    }
    text.append(unmanaged::lines(report));
    text
}

/// The parent of an apply set, where it has to be written: no drift, and yet a write of `apply`.
pub(super) fn parent_text(set: &ApplySetInfo) -> Styled {
    let mut text = Styled::new();
    let (mark, role) = match set.parent.action {
        ParentAction::None => return text,
        ParentAction::Create => ("+", Role::Add),
        ParentAction::Update => ("~", Role::Change),
    };
    head(
        &mut text,
        (mark, role),
        &set.parent.key.to_string(),
        "the parent of the apply set, which lists where its members are",
    );
    text
}

/// The line that an object's differences stand under: what it is, and beside it where it comes from.
fn head(text: &mut Styled, (mark, role): (&str, Role), name: &str, beside: &str) {
    let padding = SOURCE_COLUMN.saturating_sub(mark.len() + 1 + name.chars().count()).max(2);
    text.push(role, format!("{mark} "));
    text.push(Role::Name, name);
    text.push(Role::Note, format!("{}{beside}", " ".repeat(padding)));
    text.line_end();
}

/// What an object is, and what differs in it.
pub(super) fn object_text(object: &ObjectReport, view: &View) -> Styled {
    let mut text = Styled::new();
    let shown: Vec<&FieldChange> = object.changes.iter().filter(|change| is_shown(change)).collect();
    let (mark, role) = match object.action {
        Action::Create => ("+", Role::Add),
        Action::Update if !object.conflicts.is_empty() => ("!", Role::Problem),
        Action::Update => ("~", Role::Change),
        Action::Replace => ("-/+", Role::Remove),
        Action::Delete => ("-", Role::Remove),
        Action::Unknown => ("!", Role::Problem),
        Action::None if shown.is_empty() && object.warnings.is_empty() && !object.is_kept() => return text,
        Action::None => ("=", Role::Note),
    };
    let beside = object.source.as_ref().map(|source| view.place(source)).or_else(|| object.reason.clone());
    head(&mut text, (mark, role), &object.key.to_string(), &beside.unwrap_or_default());
    if let (Some(_), Some(reason)) = (&object.source, &object.reason) {
        line(&mut text, Role::Problem, &format!("    {reason}"));
        hint(&mut text, object);
    }
    if object.action == Action::Unknown {
        problem(&mut text, "cannot compare", object);
    }
    let most = if view.full { usize::MAX } else { SHOWN };
    let (added, differing): (Vec<_>, Vec<_>) =
        foremost(&shown, most).into_iter().partition(|change| change.class == Class::Unmanaged);
    fields(&mut text, &differing);
    additions(&mut text, &added);
    rest(&mut text, shown.len(), most, "change");
    for conflict in object.conflicts.iter().take(most) {
        let owner = owner_text(&conflict.owner);
        line(&mut text, Role::Problem, &format!("    conflict: {} is owned by {owner}", conflict.path));
    }
    rest(&mut text, object.conflicts.len(), most, "conflict");
    if !object.conflicts.is_empty() && object.hint.is_none() {
        line(&mut text, Role::Hint, &format!("    hint: {}", conflict_hint(object)));
    }
    for warning in object.warnings.iter().take(most) {
        line(&mut text, Role::Note, &format!("    warning: {warning}"));
    }
    rest(&mut text, object.warnings.len(), most, "warning");
    text
}

/// The changes that are shown where there are too many: drift before anything else, so that nobody can hide it behind what is
/// none.
pub(super) fn foremost<'c>(changes: &[&'c FieldChange], most: usize) -> Vec<&'c FieldChange> {
    let drift = changes.iter().filter(|change| change.class.is_drift()).count().min(most);
    let (mut drift, mut others) = (drift, most - drift);
    let mut fits = |change: &&&FieldChange| {
        let room = if change.class.is_drift() { &mut drift } else { &mut others };
        let fits = *room > 0;
        *room = room.saturating_sub(1);
        fits
    };
    changes.iter().filter(|change| fits(change)).copied().collect()
}

/// How many more there are than are shown.
fn rest(text: &mut Styled, all: usize, most: usize, noun: &str) {
    let more = match all.saturating_sub(most) {
        0 => return,
        1 => format!("1 more {noun}: --full"),
        more => format!("{} more {noun}s: --full", grouped(more)),
    };
    line(text, Role::Note, &format!("    … {more}"));
}

/// `19,900`
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn is_shown(change: &FieldChange) -> bool {
    !change.path.elements().is_empty() && !matches!(change.class, Class::Missing | Class::Adopted)
}

fn line(text: &mut Styled, role: Role, content: &str) {
    text.push(role, content);
    text.line_end();
}

pub(super) fn hint(text: &mut Styled, object: &ObjectReport) {
    if let Some(hint) = &object.hint {
        line(text, Role::Hint, &format!("    hint: {hint}"));
    }
}

pub(super) fn problem(text: &mut Styled, what: &str, object: &ObjectReport) {
    if let Some(error) = &object.error {
        if !error.details.is_empty() {
            let count = error.details.len();
            let mistakes = if count == 1 { "a mistake".to_owned() } else { format!("{count} mistakes") };
            line(text, Role::Problem, &format!("    {what}: {mistakes} in the manifest"));
            error.details.iter().for_each(|mistake| text.append(excerpt::problem(mistake, "    ", "")));
            return;
        }
        line(text, Role::Problem, &format!("    {what}: {} ({})", error.message, error.code));
        if let Some(hint) = &error.hint {
            line(text, Role::Hint, &format!("    hint: {hint}"));
        }
    }
}

pub(super) fn conflict_hint(object: &ObjectReport) -> &'static str {
    let by_controller = object.conflicts.iter().any(|conflict| conflict.owner.operation == "Update");
    if by_controller {
        "leave the field out of the manifest if its owner should keep it, or take it with `--force-conflicts`"
    } else {
        "another tool applies this field: agree on one owner, or take it with `--force-conflicts`"
    }
}

/// Fields that others added, by their managers: manual changes first.
fn additions(text: &mut Styled, added: &[&FieldChange]) {
    let mut groups: BTreeMap<(bool, String), Vec<&FieldChange>> = BTreeMap::new();
    for change in added {
        let by = change.managers.iter().map(owner_text).collect::<Vec<_>>().join(", ");
        groups.entry((!change.is_manual(), by)).or_default().push(change);
    }
    for ((is_controller, by), changes) in &groups {
        let how = if *is_controller { "added by" } else { "added by hand:" };
        line(text, Role::Note, &format!("    {how} {by}"));
        fields(text, changes);
    }
}

/// Changes inside one list item stand under the item's path.
fn fields(text: &mut Styled, changes: &[&FieldChange]) {
    let mut group: Option<FieldPath> = None;
    for change in changes {
        let (item, rest) = split_at_item(&change.path);
        let indent = if item.is_some() { 6 } else { 4 };
        if item.is_some() && item != group {
            line(text, Role::Plain, &format!("    {}", item.clone().unwrap_or_default()));
        }
        group = item;
        field(text, change, &rest.to_string(), indent);
    }
}

/// The outermost list item around a path (a container, a port), and the path inside it.
fn split_at_item(path: &FieldPath) -> (Option<FieldPath>, FieldPath) {
    let elements = path.elements();
    let parents = elements.split_last().map_or(elements, |(_, parents)| parents);
    match parents.iter().position(|element| matches!(element, PathElement::Key(_))) {
        Some(at) => {
            let (item, inside) = elements.split_at(at + 1);
            (Some(FieldPath::from(item.to_vec())), FieldPath::from(inside.to_vec()))
        }
        None => (None, path.clone()),
    }
}

fn field(text: &mut Styled, change: &FieldChange, path: &str, indent: usize) {
    let name = format!("{}{path}", " ".repeat(indent));
    let width = name.chars().count();
    let note = note(change);
    let values = [&change.live, &change.desired];
    if values.into_iter().flatten().any(is_long) {
        text.push(Role::Plain, name);
        if !note.is_empty() {
            text.push(Role::Note, format!("  {note}"));
        }
        text.line_end();
        lines(text, change, indent + 2);
        return;
    }
    text.push(Role::Plain, format!("{name}{}", " ".repeat(VALUE_COLUMN.saturating_sub(width).max(1))));
    let shown = values_on_line(text, change);
    if !note.is_empty() {
        text.push(Role::Note, format!("{}{note}", " ".repeat(NOTE_COLUMN.saturating_sub(shown).max(2))));
    }
    text.line_end();
}

/// `2 → 3`, `+ x` or `- x`; returns its width.
fn values_on_line(text: &mut Styled, change: &FieldChange) -> usize {
    let live = change.live.as_ref().map(inline);
    let desired = change.desired.as_ref().map(inline);
    let (parts, width): (Vec<(Role, String)>, usize) = match (change.class, change.op, live, desired) {
        (Class::Unmanaged | Class::Released, _, Some(live), _) => {
            (vec![(Role::Plain, live.clone())], live.chars().count())
        }
        (_, Op::Remove, Some(live), _) => (vec![(Role::Remove, format!("- {live}"))], live.chars().count() + 2),
        (_, Op::Add, _, Some(desired)) => (vec![(Role::Add, format!("+ {desired}"))], desired.chars().count() + 2),
        (_, _, live, desired) => {
            let (live, desired) = (live.unwrap_or_default(), desired.unwrap_or_default());
            let width = live.chars().count() + desired.chars().count() + 3;
            (vec![(Role::Remove, live), (Role::Plain, " → ".to_owned()), (Role::Add, desired)], width)
        }
    };
    for (role, part) in parts {
        text.push(role, part);
    }
    width
}

/// Long values as a comparison of their lines.
fn lines(text: &mut Styled, change: &FieldChange, indent: usize) {
    let margin = " ".repeat(indent);
    let live = change.live.as_ref().map(block).unwrap_or_default();
    let desired = change.desired.as_ref().map(block).unwrap_or_default();
    if matches!(change.class, Class::Unmanaged | Class::Released) {
        live.lines().for_each(|content| line(text, Role::Plain, &format!("{margin}  {content}")));
        return;
    }
    for (index, group) in groups(&live, &desired).iter().enumerate() {
        if index > 0 {
            line(text, Role::Note, &format!("{margin}…"));
        }
        for (tag, content) in group {
            let (role, mark) = match tag {
                ChangeTag::Delete => (Role::Remove, '-'),
                ChangeTag::Insert => (Role::Add, '+'),
                ChangeTag::Equal => (Role::Note, ' '),
            };
            let content = format!("{margin}{mark} {content}");
            line(text, role, if mark == ' ' { content.trim_end() } else { &content });
        }
    }
}

/// Why a field differs.
pub(super) fn note(change: &FieldChange) -> String {
    let by = || change.managers.iter().map(owner_text).collect::<Vec<_>>().join(", ");
    match change.class {
        Class::ChangedByOther => format!("changed by {}", by()),
        Class::Conflict => "conflict".to_owned(),
        Class::RemovedByOther => "not in the cluster: new in the manifest or removed there".to_owned(),
        Class::Pruned => "no longer in the manifest".to_owned(),
        Class::Released => format!("no longer in the manifest, kept by {}", by()),
        Class::Reordered => "order only".to_owned(),
        Class::Overridden => "the cluster keeps its own value".to_owned(),
        // The line above says who added it.
        Class::Unmanaged | Class::Pending | Class::Missing | Class::Adopted => String::new(),
    }
}

/// `kubectl (scale) 2026-11-20T10:00:00Z`, `helm (Apply) …`
pub(super) fn owner_text(owner: &Owner) -> String {
    let way = match (owner.subresource.as_str(), owner.operation.as_str()) {
        ("", "Apply") => " (Apply)".to_owned(),
        ("", _) => String::new(),
        (subresource, _) => format!(" ({subresource})"),
    };
    let time = owner.time.as_ref().map(|time| format!(" {time}")).unwrap_or_default();
    format!("{}{way}{time}", owner.manager)
}
