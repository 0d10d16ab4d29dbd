//! Groups objects with the same message, which is printed once.

use reconcile_core::compare::Action;
use reconcile_core::text::width;

use crate::model::equal_changes::{ChangeGroup, name};
use crate::words::label::sign;
use crate::words::number::grouped;
use crate::words::shared_diagnostic::SharedDiagnostic;
use crate::{ObjectReport, Role, Sort, Styled, View};

use super::notes;
use super::object::{self, object_text};
use super::sheet::{Sheet, wrapped};

/// Largest number of locations of a group that are named.
const PLACES: usize = 3;
/// Largest number of objects of a group that are named.
const NAMED: usize = 5;
/// The indentation of the lines about a group.
const MARGIN: &str = "    ";

/// The texts of objects, in their order; a group has the position of its first object.
pub(super) fn texts(objects: &[&ObjectReport], view: &View) -> Styled {
    let mut text = Styled::new();
    let groups = alike(objects, view, |object| said(object, view));
    let alone: Vec<&ObjectReport> = groups.iter().filter_map(|group| sole(group)).collect();
    let equal = view.equal_changes(&alone, |_, change| notes::is_wanted(change, view));
    let mut at = 0_usize;
    for group in &groups {
        match group.as_slice() {
            [] => {}
            [object] => {
                equal.beginning_at(at).iter().for_each(|group| text.append(changes_text(group, view)));
                match equal.rest_of(at, object) {
                    None => text.append(object_text(object, view)),
                    Some(rest) if is_told(&rest, view) => {}
                    Some(rest) => text.append(object_text(&rest, view)),
                }
                at = at.saturating_add(1);
            }
            [first, ..] => text.append(group_text(first, group, view)),
        }
    }
    text
}

fn sole<'r>(group: &[&'r ObjectReport]) -> Option<&'r ObjectReport> {
    match group {
        [object] => Some(object),
        _ => None,
    }
}

/// Returns true if groups tell everything about an object.
fn is_told(rest: &ObjectReport, view: &View) -> bool {
    notes::shown(rest, view).is_empty() && notes::warnings(rest, view).is_empty() && rest.diff.conflicts.is_empty()
}

/// Changes that several objects have in common, with the names of the objects below.
fn changes_text(group: &ChangeGroup<'_>, view: &View) -> Styled {
    let mut sheet = Sheet::new(view);
    let ChangeGroup { common, objects } = group;
    object::head(&mut sheet, sign(common), &name(objects), "", &places(objects, view));
    object::changes(&mut sheet, &common.diff.changes.iter().collect::<Vec<_>>());
    object::conflicts(&mut sheet, common);
    names(&mut sheet, objects);
    object::hint_on_conflicts(&mut sheet, common);
    sheet.text
}

/// The message about an object that several can share, without its name: a diagnostic and warnings.
fn said(object: &ObjectReport, view: &View) -> Option<(Option<SharedDiagnostic>, Vec<String>)> {
    let warnings = || notes::warnings(object, view).into_iter().map(|warning| format!("warning: {warning}"));
    if let Some(diagnostic) = SharedDiagnostic::of(object) {
        return Some((Some(diagnostic), warnings().collect()));
    }
    let is_quiet = object.messages.error.is_none() && object.diff.action == Action::None && !object.is_kept();
    let warnings: Vec<String> = warnings().collect();
    (is_quiet && notes::shown(object, view).is_empty() && !warnings.is_empty()).then_some((None, warnings))
}

/// Objects in groups of those with the same key, in the order of the first of each; those without a key are alone.
pub(crate) fn alike<'o, K: Ord>(
    objects: &[&'o ObjectReport],
    view: &View,
    key: impl Fn(&ObjectReport) -> Option<K>,
) -> Vec<Vec<&'o ObjectReport>> {
    let mut groups: Vec<Vec<&ObjectReport>> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for object in objects {
        let key = key(object).filter(|_| view.sort != Sort::Object);
        match key.map(|key| *places.entry(key).or_insert(groups.len())) {
            Some(at) if at < groups.len() => groups.get_mut(at).into_iter().for_each(|group| group.push(object)),
            _ => groups.push(vec![object]),
        }
    }
    groups
}

/// `! 35 objects: namespace …`, with their locations and names.
fn group_text(first: &ObjectReport, group: &[&ObjectReport], view: &View) -> Styled {
    let mut sheet = Sheet::new(view);
    let (sign, role) = sign(first);
    let (diagnostic, warnings) = said(first, view).unwrap_or_default();
    let (sentences, hint) = diagnostic.map(|diagnostic| diagnostic.sentences(group, view.full)).unwrap_or_default();
    let count = format!("{} objects", grouped(group.len()));
    let left = Styled::new().with(role, format!("{sign} ")).with(Role::Name, count);
    let said = if first.diff.action == Action::Unknown { Role::Error } else { Role::Note };
    let mut sentences = sentences.into_iter().chain(warnings);
    let left = left.with(said, format!(": {}", sentences.next().unwrap_or_default()));
    sheet.row_to_edge(left, &places(group, view), MARGIN.len());
    for sentence in sentences {
        for line in wrapped(&sentence, view.width.saturating_sub(MARGIN.len())) {
            sheet.line(said, format!("{MARGIN}{line}"));
        }
    }
    names(&mut sheet, group);
    if let Some(hint) = hint {
        sheet.line(Role::Hint, format!("{MARGIN}hint: {hint}"));
    }
    sheet.text
}

/// Their names: as many as fit on a line, or all of them, each with its location.
fn names(sheet: &mut Sheet<'_>, group: &[&ObjectReport]) {
    let view = sheet.view;
    if view.full {
        for object in group {
            let left = Styled::new().with(Role::Plain, format!("{MARGIN}{}", object.key));
            let place = object.source.as_ref().map(|source| view.place(source));
            sheet.row_to_edge(left, &place.unwrap_or_default(), MARGIN.len().saturating_mul(2));
        }
        return;
    }
    let room = view.width.saturating_sub(MARGIN.len());
    let mut line = String::new();
    for (at, object) in group.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| group.get(before)).map(|before| &before.key.gvk.kind);
        let name =
            object.key.namespace.as_ref().map_or(object.key.name.clone(), |it| format!("{it}/{}", object.key.name));
        let next = match before {
            None => format!("{} {name}", object.key.gvk.kind),
            Some(kind) if *kind == object.key.gvk.kind => format!(", {name}"),
            Some(_) => format!("; {} {name}", object.key.gvk.kind),
        };
        let left = group.len().saturating_sub(at);
        let end = if left == 1 { String::new() } else { and_more(left.saturating_sub(1)) };
        if at >= NAMED || at > 0 && [&line, &next, &end].map(|text| width(text)).iter().sum::<usize>() > room {
            line.push_str(&and_more(left));
            break;
        }
        line.push_str(&next);
    }
    sheet.line(Role::Plain, format!("{MARGIN}{line}"));
}

/// ` … 32 more`
fn and_more(count: usize) -> String {
    format!(" … {} more", grouped(count))
}

/// `kyverno.yaml:70, 92, 118 … 32 more`
pub(crate) fn places(group: &[&ObjectReport], view: &View) -> String {
    let mut sources: Vec<_> = group.iter().filter_map(|object| object.source.as_ref()).collect();
    sources.sort_by_key(|source| (&source.file, source.line));
    let mut text = String::new();
    let mut file = None;
    for source in sources.iter().take(PLACES) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        match source.line_in_file().filter(|_| file == Some(&source.file)) {
            Some(line) => text.push_str(&line.to_string()),
            None => text.push_str(&view.place(source)),
        }
        file = Some(&source.file);
    }
    if let Some(more @ 1..) = sources.len().checked_sub(PLACES) {
        text.push_str(&and_more(more));
    }
    text
}
