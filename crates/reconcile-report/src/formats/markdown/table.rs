//! The table: a row for what several objects have in common, and one for each object with what is its own.

use reconcile_core::text::one_line;

use super::comment::{Comment, in_cell};
use crate::groups::Entry;
use crate::model::{ChangeReport, Command, ContextReport, ObjectReport};
use crate::view::View;
use crate::words::findings::{EFFECT, of_object, own_location};
use crate::words::sentence::location::{self, places};
use crate::words::value::number::counted_objects;
use crate::words::{describe, label};

/// Longest finding that is not a change, in characters.
const CELL: usize = 100;
/// Most locations of a group that are named.
const PLACES: usize = 3;

/// Writes the table, unless it has no rows.
pub(super) fn table(comment: &mut Comment, one: &ContextReport, entries: &[Entry<'_>], view: &View) {
    if entries.is_empty() {
        return;
    }
    comment.push("\n| | object | state | findings | location |\n| --- | --- | --- | --- | --- |\n");
    let command = one.report.command;
    for entry in entries {
        match entry {
            Entry::Changes(group) => {
                let found = in_brief(&group.common, command);
                comment.add(
                    &row(&group.common, &group_name(&group.objects), &found, &locations(&group.objects, view)),
                    GROUP,
                );
            }
            Entry::Messages(messages, objects) => {
                let (sentences, _) = messages.sentences(objects, false);
                let found = sentences.first().map(|first| in_cell(&one_line(first, CELL))).unwrap_or_default();
                let Some(first) = objects.first() else { continue };
                comment.add(&row(first, &group_name(objects), &found, &locations(objects, view)), GROUP);
            }
            Entry::Object(object, rest) => {
                let found = in_brief(rest, command);
                comment.add(&row(object, &object.key.to_string(), &found, &locations(&[object], view)), "object");
            }
            Entry::Grouped(_) => {}
        }
    }
}

/// The name of a row in the count of what is left out.
const GROUP: &str = "group of objects";

fn row(object: &ObjectReport, name: &str, findings: &str, place: &str) -> String {
    let sign = if object.messages.error.is_some() { "!" } else { label::sign(object).0 };
    let place = if place.is_empty() { String::new() } else { in_cell(place) };
    format!("| `{sign}` | {} | {} | {findings} | {place} |\n", in_cell(name), describe::state(object))
}

fn group_name(objects: &[&ObjectReport]) -> String {
    counted_objects(objects.iter().map(|object| &object.key))
}

fn locations(objects: &[&ObjectReport], view: &View) -> String {
    places(objects, PLACES, |source| {
        let at = own_location(source);
        Some((location::path(at.file, view)?, at.line))
    })
}

/// The most important finding of an object in a few words, and the number of the others.
fn in_brief(object: &ObjectReport, command: Command) -> String {
    let found: Vec<_> = of_object(None, object, command).filter(|found| found.rule != EFFECT).collect();
    let conflicts = object.other_conflicts();
    let count = found.len().saturating_add(conflicts.len());
    let first = found.first().map(|first| {
        let is_it =
            |change: &&ChangeReport| first.is_change && !first.path.is_empty() && change.path.to_string() == first.path;
        let change = object.diff.changes.iter().find(is_it);
        change.map_or_else(|| one_line(&first.message, CELL), describe::brief)
    });
    let first = first.or_else(|| conflicts.first().map(|conflict| one_line(&describe::conflict(conflict), CELL)));
    match (first, count) {
        (None, _) => String::new(),
        (Some(first), 0 | 1) => in_cell(&first),
        (Some(first), count) => format!("{} and {} more", in_cell(&first), count.saturating_sub(1)),
    }
}
