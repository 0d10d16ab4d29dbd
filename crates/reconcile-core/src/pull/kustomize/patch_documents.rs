//! The documents of a file of patches, with the parts that candidates put into them.

use std::collections::BTreeMap;

use kube_yaml::{Document, Validation, read};
use manifest_edit::{Change, Edit, Step};
use serde_json::Value;
use structured_merge::{GroupVersionKind, builtin};

use super::candidate::{PatchDocument, PatchHead, PatchPart};
use super::joint::Joint;
use super::new_patch::set;
use crate::pull::proposal::has_duplicates;
use crate::text::yaml_by_name;

/// Returns true if a list of an edited patch has an item twice that was in it once at most. A build merges both, so that it does not show.
pub(super) fn repeats_items(before: &[u8], after: &[u8]) -> bool {
    let former = read(before, Validation::Warn).documents;
    let has_duplicates = |document: &Document| {
        let gvk = GroupVersionKind::of(&document.value);
        builtin().object(&gvk).is_some_and(|schema| has_duplicates(&document.value, schema))
    };
    read(after, Validation::Warn).documents.iter().any(|document| {
        let is_former = |former: &&Document| former.number == document.number;
        has_duplicates(document) && !former.iter().find(is_former).is_some_and(has_duplicates)
    })
}

/// The edits that set values in documents with patches.
pub(super) fn in_documents(before: &[u8], parts: &[(usize, &PatchPart)]) -> Vec<Joint> {
    let mut joint = Vec::new();
    for document in read(before, Validation::Warn).documents {
        let is_here = |(_, part): &&(usize, &PatchPart)| part.document == PatchDocument::Existing(document.number);
        let here: Vec<&(usize, &PatchPart)> = parts.iter().filter(is_here).collect();
        let mut after = document.value.clone();
        for (_, part) in &here {
            set(&mut after, part);
        }
        let of: Vec<usize> = here.iter().map(|(index, _)| *index).collect();
        let mut edits = Vec::new();
        between(&document.value, &after, &mut Vec::new(), &mut edits);
        let edit = |(path, change)| Joint::of(Edit { document: document.number, path, change }, of.clone());
        joint.extend(edits.into_iter().map(edit));
    }
    joint
}

/// The edits that make one value of another, of which nothing is removed.
fn between(old: &Value, new: &Value, path: &mut Vec<Step>, edits: &mut Vec<(Vec<Step>, Change)>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                path.push(Step::Key(key.clone()));
                match old.get(key) {
                    Some(former) => between(former, value, path, edits),
                    None => edits.push((path.clone(), Change::Set(value.clone()))),
                }
                path.pop();
            }
        }
        (Value::Array(old), Value::Array(new)) if !old.is_empty() && old.len() <= new.len() => {
            let mut added = new.len().saturating_sub(old.len());
            let mut former = old.iter().enumerate().peekable();
            for (rank, value) in new.iter().enumerate() {
                if let Some((index, former)) = former.next_if(|(_, former)| added == 0 || is_alike(former, value)) {
                    path.push(Step::Index(index));
                    between(former, value, path, edits);
                } else {
                    added = added.saturating_sub(1);
                    path.push(Step::Index(former.peek().map_or(old.len(), |(index, _)| *index)));
                    edits.push((path.clone(), Change::Insert { value: value.clone(), rank }));
                }
                path.pop();
            }
        }
        _ if old == new => {}
        _ => edits.push((path.clone(), Change::Set(new.clone()))),
    }
}

/// Returns true if two items may be the same one: they are equal, or have an entry in common.
fn is_alike(old: &Value, new: &Value) -> bool {
    let has = |(key, value): (&String, &Value)| new.get(key) == Some(value);
    old == new || old.as_object().is_some_and(|old| old.iter().any(has))
}

/// A text with new documents at its end, one for each object.
pub(super) fn with_documents(text: Vec<u8>, parts: &[(usize, &PatchPart)]) -> Vec<u8> {
    let mut documents: BTreeMap<&PatchHead, Value> = BTreeMap::new();
    for (_, part) in parts {
        if let PatchDocument::New(head) = &part.document {
            let document = documents.entry(head).or_insert_with(|| head.document());
            set(document, part);
        }
    }
    let mut text = text;
    for document in documents.into_values() {
        if !text.is_empty() {
            let end: &[u8] = if text.ends_with(b"\n") { b"" } else { b"\n" };
            text.extend_from_slice(end);
            text.extend_from_slice(b"---\n");
        }
        text.extend_from_slice(yaml_by_name(&document).as_bytes());
    }
    text
}
