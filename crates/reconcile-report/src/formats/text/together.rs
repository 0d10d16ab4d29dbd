//! Objects with something in common, which is printed once, and the rest of each object.

use std::collections::BTreeMap;

use reconcile_core::compare::{Action, FieldChange};
use reconcile_core::text::width;
use structured_merge::ObjectKey;

use crate::groups::{self, ChangeGroup, Entry, Messages, Shows};
use crate::model::ObjectReport;
use crate::view::View;
use crate::words::effects;
use crate::words::label::sign;
use crate::words::sentence::wrapped::wrapped;
use crate::words::styled::{Role, Styled};
use crate::words::value::number::{counted_objects, grouped};

use super::object::object_text;
use super::sheet::{MARGIN, Sheet};
use super::{notes, object};

/// Largest number of objects of a group that are named.
const NAMED: usize = 5;

/// The parts of objects that the text shows.
struct InText<'v>(&'v View);

impl Shows for InText<'_> {
    fn change(&self, change: &FieldChange) -> bool {
        notes::is_wanted(change, self.0)
    }

    fn warnings<'o>(&self, object: &'o ObjectReport) -> Vec<&'o str> {
        notes::warnings(object, self.0)
    }

    fn more(&self, _: &ObjectReport) -> bool {
        false
    }
}

/// The texts of objects, in their order; a group has the position of its first object.
pub(super) fn texts(objects: &[&ObjectReport], view: &View) -> Styled {
    let mut text = Styled::new();
    let entries = groups::entries(objects, view.sort, &InText(view));
    // The effects of an object whose changes are all in groups are told with the first of these.
    let grouped =
        entries.iter().filter_map(|entry| if let Entry::Grouped(object) = entry { Some(*object) } else { None });
    let mut untold: BTreeMap<&ObjectKey, &ObjectReport> = grouped.map(|object| (&object.key, object)).collect();
    for entry in entries {
        match entry {
            Entry::Changes(group) => {
                let told = group.objects.iter().filter_map(|object| untold.remove(&object.key));
                let effects = effects::of_group(&told.collect::<Vec<_>>());
                text.append(changes_text(&group, &effects, view));
            }
            Entry::Messages(messages, objects) => text.append(messages_text(&messages, &objects, view)),
            Entry::Object(object, rest) => text.append(object_text(rest.as_deref().unwrap_or(object), view)),
            Entry::Grouped(_) => {}
        }
    }
    text
}

/// Changes that several objects have in common, with the names of the objects below.
fn changes_text(group: &ChangeGroup<'_>, effects: &[String], view: &View) -> Styled {
    let mut sheet = Sheet::new(view);
    let ChangeGroup { common, objects } = group;
    let (sign, role) = sign(common);
    let count = counted_objects(objects.iter().map(|object| &object.key));
    let left = Styled::new().with(role, format!("{sign} ")).with(Role::Name, count);
    sheet.row_with_places(left, objects, MARGIN.len());
    object::changes(&mut sheet, &common.diff.changes.iter().collect::<Vec<_>>());
    object::effects(&mut sheet, effects);
    object::conflicts(&mut sheet, common);
    names(&mut sheet, objects);
    object::hint_on_conflicts(&mut sheet, common, objects.len());
    sheet.text
}

/// `! 35 objects: namespace …`, with their locations and names.
fn messages_text(messages: &Messages, group: &[&ObjectReport], view: &View) -> Styled {
    let mut sheet = Sheet::new(view);
    let Some(first) = group.first() else { return sheet.text };
    let (sign, role) = sign(first);
    let (sentences, hint) = messages.sentences(group, view.full);
    let count = format!("{} objects", grouped(group.len()));
    let left = Styled::new().with(role, format!("{sign} ")).with(Role::Name, count);
    let said = if first.diff.action == Action::Unknown { Role::Error } else { Role::Note };
    let mut sentences = sentences.into_iter();
    let left = left.with(said, format!(": {}", sentences.next().unwrap_or_default()));
    sheet.row_with_places(left, group, MARGIN.len());
    for sentence in sentences {
        for line in wrapped(&sentence, view.width.saturating_sub(MARGIN.len())) {
            sheet.line(said, format!("{MARGIN}{line}"));
        }
    }
    names(&mut sheet, group);
    sheet.hints(hint, MARGIN.len());
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
