//! Maps and lists of which everything goes. The live object does not have them any more, and in a custom resource an empty one is another
//! value than none, so that they go themselves.

use std::collections::BTreeSet;

use kube_yaml::{Validation, read};
use manifest_edit::{Change, Edit, Step};
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, PathElement, builtin};

use super::place::value_at;
use crate::compare::FieldChange;

/// The number of maps and lists around a field that a live custom resource no longer has; none of an object that is not known.
pub(super) fn gone_around(key: &ObjectKey, change: &FieldChange, live: Option<&Value>) -> usize {
    let Some(live) = live.filter(|_| builtin().object(&key.gvk).is_none()) else { return 0 };
    let mut elements = change.path.elements();
    let mut count = 0_usize;
    while let Some((_, above @ [_, .., PathElement::Field(_)])) = elements.split_last()
        && FieldPath::from(above.to_vec()).value_in(live).is_none()
    {
        count = count.saturating_add(1);
        elements = above;
    }
    count
}

/// The edits of a text, of which each that empties maps or lists takes them out instead. Beside each edit, the number of maps and lists
/// around its place that may go with it.
pub(super) fn with_emptied(text: &[u8], edits: &[(Edit, usize)]) -> Vec<Edit> {
    let may_empty = |(edit, around): &&(Edit, usize)| edit.change == Change::Remove && *around > 0;
    let read =
        if edits.iter().any(|one| may_empty(&one)) { read(text, Validation::Warn).documents } else { Vec::new() };
    let mut emptied: BTreeSet<(usize, &[Step])> = BTreeSet::new();
    for document in &read {
        let own = || edits.iter().filter(|(edit, _)| edit.document == document.number);
        let removed = own().filter(|(edit, _)| edit.change == Change::Remove).map(|(edit, _)| edit.path.as_slice());
        let mut removed: BTreeSet<&[Step]> = removed.collect();
        let mut around: Vec<&[Step]> =
            own().filter(may_empty).flat_map(|(edit, around)| above(&edit.path, *around)).collect();
        around.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        around.dedup();
        for place in around {
            if value_at(&document.value, place).is_some_and(|value| is_within(value, place, &removed)) {
                removed.insert(place);
                emptied.insert((document.number, place));
            }
        }
    }
    let made = |(edit, around): &(Edit, usize)| {
        let is_emptied = |place: &&[Step]| edit.change == Change::Remove && emptied.contains(&(edit.document, *place));
        let outermost = above(&edit.path, *around).take_while(is_emptied).last();
        outermost.map_or_else(|| edit.clone(), |place| Edit { path: place.to_vec(), ..edit.clone() })
    };
    edits.iter().map(made).collect()
}

/// The places around another one, the innermost first.
fn above(path: &[Step], count: usize) -> impl Iterator<Item = &[Step]> {
    (1..=count).map_while(|levels| path.get(..path.len().checked_sub(levels)?))
}

/// Returns true if all of a map or a list is removed.
fn is_within(value: &Value, place: &[Step], removed: &BTreeSet<&[Step]>) -> bool {
    let is_removed = |step: Step| removed.contains([place, &[step]].concat().as_slice());
    match value {
        Value::Object(map) => map.keys().all(|key| is_removed(Step::Key(key.clone()))),
        Value::Array(items) => (0..items.len()).all(|index| is_removed(Step::Index(index))),
        _ => false,
    }
}
