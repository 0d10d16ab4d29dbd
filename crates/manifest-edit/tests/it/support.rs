use manifest_edit::{Change, Edit, Refusal, Step, edit};
use serde_json::Value;

/// The steps of a path such as `spec.ports.0`.
pub fn path(text: &str) -> Vec<Step> {
    let step = |step: &str| step.parse().map_or_else(|_| Step::Key(step.into()), Step::Index);
    text.split('.').map(step).collect()
}

pub fn set(place: &str, value: Value) -> Edit {
    Edit { document: 1, path: path(place), change: Change::Set(value) }
}

pub fn insert(place: &str, rank: usize, value: Value) -> Edit {
    Edit { document: 1, path: path(place), change: Change::Insert { value, rank } }
}

pub fn remove(place: &str) -> Edit {
    Edit { document: 1, path: path(place), change: Change::Remove }
}

pub fn reorder(place: &str, order: &[usize]) -> Edit {
    Edit { document: 1, path: path(place), change: Change::Reorder(order.to_vec()) }
}

/// The text after edits, all of which have to be made.
#[track_caller]
pub fn edited(text: &str, edits: &[Edit]) -> String {
    let edited = edit(text.as_bytes(), edits);
    assert_eq!(edited.refused, [], "{text}");
    String::from_utf8(edited.text).unwrap()
}

/// The reason why the only edit is refused. The text has to stay as it is.
#[track_caller]
pub fn refusal(text: &str, the_edit: Edit) -> Refusal {
    let edited = edit(text.as_bytes(), &[the_edit]);
    assert_eq!(edited.text, text.as_bytes());
    assert_eq!(edited.refused.len(), 1, "{text}");
    edited.refused[0].refusal
}
