//! Edits that several candidates have in common.

use std::collections::BTreeMap;

use manifest_edit::{Change, Edit, Refusal, Step, edit};

use super::candidate::Placed;
use crate::pull::emptied::with_emptied;

/// The positions of candidates that cannot be written, or not with the others, with what is in the way in the text of a file.
pub(super) type Refused = BTreeMap<usize, Option<Refusal>>;

/// An edit, and the candidates that it is made for.
pub(super) struct Joint {
    pub placed: Placed,
    pub of: Vec<usize>,
}

impl Joint {
    pub fn of(edit: Edit, of: Vec<usize>) -> Self {
        Self { placed: Placed { edit, around: 0 }, of }
    }
}

/// Adds an edit. Returns its candidate if another one sets the same place to another value, so that it cannot be added.
pub(super) fn add(joint: &mut Vec<Joint>, placed: &Placed, index: usize) -> Option<usize> {
    let edit = &placed.edit;
    if let Some(same) = joint.iter_mut().find(|other| other.placed.edit == *edit) {
        same.of.push(index);
        return None;
    }
    // Several items may be put at one place, each of them once, and beside one that goes or changes there.
    let is_insert = |edit: &Edit| matches!(edit.change, Change::Insert { .. });
    let is_there = |Joint { placed: Placed { edit: other, .. }, .. }: &Joint| {
        other.path == edit.path && other.document == edit.document && !is_insert(other)
    };
    if !is_insert(edit) && joint.iter().any(is_there) {
        return Some(index);
    }
    joint.push(Joint { placed: placed.clone(), of: vec![index] });
    None
}

/// The edit that takes the value of an operation of a JSON patch takes the operation.
fn without_operation(edit: Edit) -> Edit {
    match (edit.path.as_slice(), &edit.change) {
        ([operation @ Step::Index(_), Step::Key(value)], Change::Remove) if value == "value" => {
            Edit { path: vec![operation.clone()], ..edit }
        }
        _ => edit,
    }
}

pub(super) fn made(before: &[u8], joint: &[Joint]) -> Result<Vec<u8>, Refused> {
    let placed: Vec<(Edit, usize)> =
        joint.iter().map(|Joint { placed: Placed { edit, around }, .. }| (edit.clone(), *around)).collect();
    let edits: Vec<Edit> = with_emptied(before, &placed).into_iter().map(without_operation).collect();
    let result = edit(before, &edits);
    if result.refused.is_empty() {
        return Ok(result.text);
    }
    Err(result
        .refused
        .iter()
        .filter_map(|refused| Some((joint.get(refused.edit)?, refused.refusal)))
        .flat_map(|(joint, refusal)| joint.of.iter().map(move |index| (*index, Some(refusal))))
        .collect())
}
