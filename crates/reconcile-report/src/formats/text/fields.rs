//! The changes of an object by their paths: the common start of several paths is printed once.

use reconcile_core::compare::FieldChange;
use reconcile_core::text::width;
use structured_merge::{FieldPath, PathElement};

use super::change::change;
use super::sheet::{GAP, Sheet, more};
use crate::words::styled::Role;

/// The part of a line that a path may take, in percent.
const LONG: usize = 45;

/// Appends changes in the order of their paths. Returns the number of changes that fit.
pub(super) fn fields(sheet: &mut Sheet<'_>, changes: &[&FieldChange], indent: usize) -> usize {
    let shown = level(sheet, changes, 0, indent);
    sheet.align();
    shown
}

fn level(sheet: &mut Sheet<'_>, changes: &[&FieldChange], from: usize, indent: usize) -> usize {
    let mut rest = changes;
    let mut shown = 0_usize;
    while let Some(first) = rest.first().filter(|_| !sheet.is_full()) {
        let (count, shared) = group(rest, from);
        let (run, others) = rest.split_at(count);
        if count > 1 {
            let parent = part_of(&first.path, from, shared);
            sheet.line(Role::Plain, format!("{}{parent}", " ".repeat(indent)));
            shown = shown.saturating_add(level(sheet, run, shared, indent + GAP));
        } else {
            let item = item_in_long(sheet, first, from, indent);
            if let Some(item) = item {
                let parent = part_of(&first.path, from, item);
                sheet.line(Role::Plain, format!("{}{parent}", " ".repeat(indent)));
            }
            let indent = if item.is_some() { indent + GAP } else { indent };
            let parts = change(sheet, first, item.unwrap_or(from), indent);
            below(sheet, &parts, indent + GAP);
            shown += 1;
        }
        rest = others;
    }
    shown
}

/// Appends the parts of a value, below its own line: they have no notes, and only as many are shown as a field may have lines.
fn below(sheet: &mut Sheet<'_>, parts: &[FieldChange], indent: usize) {
    let all: Vec<&FieldChange> = parts.iter().take(sheet.most()).collect();
    let shown = level(sheet, &all, 0, indent);
    more(sheet, parts.len().saturating_sub(shown), "change", indent);
}

/// The part of a path between two of its steps.
fn part_of(path: &FieldPath, from: usize, to: usize) -> FieldPath {
    FieldPath::from(path.elements().get(from..to).unwrap_or_default().to_vec())
}

/// The end of the outermost list item of a path that would leave little of the line to the values.
fn item_in_long(sheet: &Sheet<'_>, change: &FieldChange, from: usize, indent: usize) -> Option<usize> {
    let elements = change.path.elements().get(from..)?;
    let path = FieldPath::from(elements.to_vec()).to_string();
    let taken = indent.saturating_add(width(&path));
    let is_long = taken.saturating_mul(100) > sheet.view.width.saturating_mul(LONG);
    let ends = |pair: &[PathElement]| matches!(pair, [PathElement::Key(_), PathElement::Field(_)]);
    let item = elements.windows(2).position(ends).filter(|_| is_long)?;
    Some(from.saturating_add(item).saturating_add(1))
}

/// The number of changes, from the first on, with a common parent below `from` that is worth a line, and the end of that parent.
fn group(changes: &[&FieldChange], from: usize) -> (usize, usize) {
    let alone = (1, from);
    let Some(path) = changes.first().map(|change| change.path.elements()) else { return alone };
    let shares = |change: &&FieldChange, to: usize| {
        let elements = change.path.elements();
        elements.get(..to) == path.get(..to) && matches!(elements.get(to), Some(PathElement::Field(_)))
    };
    let run = |to: usize| changes.iter().take_while(|change| shares(change, to)).count();
    let is_item = |element: &PathElement| !matches!(element, PathElement::Field(_));
    let is_worth_it = |to: &usize| *to >= from + 2 || path.get(from..*to).unwrap_or_default().iter().any(is_item);
    let Some((count, shortest)) =
        (from..path.len()).skip(1).filter(is_worth_it).map(|to| (run(to), to)).find(|(count, _)| *count > 1)
    else {
        return alone;
    };
    // The longest parent that all of them have in common.
    let longest = (shortest..path.len()).rfind(|to| run(*to) == count);
    (count, longest.unwrap_or(shortest))
}
