//! The files of a tree with the edits of several candidates.

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Document, Validation, read};
use manifest_edit::{Change, Edit, Refusal, Step, edit};
use serde_json::Value;
use structured_merge::{GroupVersionKind, builtin};

use super::candidate::{Candidate, PatchDocument, PatchHead, PatchPart, Placed, Write};
use super::new_patch::set;
use super::tree::Tree;
use crate::pull::emptied::with_emptied;
use crate::pull::place::value_at;
use crate::pull::proposal::has_duplicates;
use crate::text::yaml_by_name;

/// The new texts of files.
pub type Texts = BTreeMap<String, Vec<u8>>;

/// The positions of candidates that cannot be written, or not with the others, with what is in the way in the text of a file.
pub(super) type Refused = BTreeMap<usize, Option<Refusal>>;

/// Edits the files.
pub(super) fn edited(tree: &Tree, candidates: &[&Candidate]) -> Result<Texts, Refused> {
    let mut of_file: BTreeMap<&str, Vec<(usize, &Write)>> = BTreeMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        for (file, write) in &candidate.writes {
            of_file.entry(file).or_default().push((index, write));
        }
    }
    let mut texts = Texts::new();
    let mut refused = Refused::new();
    for (file, writes) in of_file {
        let before = tree.files.get(file).map(AsRef::as_ref).unwrap_or_default();
        match one_file(before, &writes) {
            Ok(text) => drop(texts.insert(file.to_owned(), text)),
            Err(own) => refused.extend(own),
        }
    }
    if refused.is_empty() { Ok(texts) } else { Err(refused) }
}

/// An edit, and the candidates that it is made for.
struct Joint {
    placed: Placed,
    of: Vec<usize>,
}

impl Joint {
    fn of(edit: Edit, of: Vec<usize>) -> Self {
        Self { placed: Placed { edit, around: 0 }, of }
    }
}

fn one_file(before: &[u8], writes: &[(usize, &Write)]) -> Result<Vec<u8>, Refused> {
    let mut joint: Vec<Joint> = Vec::new();
    let mut within: BTreeMap<&[Step], Vec<Joint>> = BTreeMap::new();
    let mut entries: BTreeMap<&str, Vec<(usize, &Value)>> = BTreeMap::new();
    let mut whole: Option<&Vec<u8>> = None;
    let mut lines: Vec<(&String, Option<&String>)> = Vec::new();
    let mut refused = BTreeSet::new();
    let mut parts: Vec<(usize, &PatchPart)> = Vec::new();
    let mut inner_parts: BTreeMap<&[Step], Vec<(usize, &PatchPart)>> = BTreeMap::new();
    for (index, write) in writes {
        match write {
            Write::Patch(part) => parts.push((*index, part)),
            Write::PatchWithin(at, part) => inner_parts.entry(at).or_default().push((*index, part)),
            Write::At(placed) => refused.extend(add(&mut joint, placed, *index)),
            Write::Within(at, placed) => refused.extend(add(within.entry(at).or_default(), placed, *index)),
            Write::Entry(list, value) => {
                let list = entries.entry(list).or_default();
                let name = value.get("name");
                let is_other =
                    |(_, other): &(usize, &Value)| name.is_some() && other.get("name") == name && *other != value;
                if list.iter().any(is_other) {
                    refused.insert(*index);
                } else {
                    list.push((*index, value));
                }
            }
            Write::Whole(text) if whole.is_none_or(|other| other == text) => whole = Some(text),
            Write::Whole(_) => refused.extend([*index]),
            Write::Line(from, to) => lines.push((from, to.as_ref())),
        }
    }
    let document = read(before, Validation::Warn).documents.into_iter().next().map(|document| document.value);
    let document = document.unwrap_or(Value::Null);
    for (at, parts) in inner_parts {
        let text = value_at(&document, at).and_then(Value::as_str).unwrap_or_default();
        for one in in_documents(text.as_bytes(), &parts) {
            refused.extend(one.of.iter().filter_map(|index| add(within.entry(at).or_default(), &one.placed, *index)));
        }
    }
    for one in in_documents(before, &parts) {
        refused.extend(one.of.iter().filter_map(|index| add(&mut joint, &one.placed, *index)));
    }
    for (at, inner) in within {
        let of: Vec<usize> = inner.iter().flat_map(|joint| joint.of.clone()).collect();
        let text = value_at(&document, at).and_then(Value::as_str).unwrap_or_default();
        let new = made(text.as_bytes(), &inner)?;
        if repeats_items(text.as_bytes(), &new) {
            return Err(of.into_iter().map(|index| (index, Some(Refusal::Meaning))).collect());
        }
        let change = Change::Set(String::from_utf8_lossy(&new).into_owned().into());
        joint.push(Joint::of(Edit { document: 1, path: at.to_vec(), change }, of));
    }
    for (list, new) in entries {
        joint.extend(with_entries(&document, list, &new));
    }
    if !refused.is_empty() {
        return Err(refused.into_iter().map(|index| (index, None)).collect());
    }
    if let Some(text) = whole {
        return Ok(text.clone());
    }
    if !lines.is_empty() {
        return Ok(with_lines(before, &lines));
    }
    let text = with_documents(made(before, &joint)?, &parts);
    if parts.is_empty() || !repeats_items(before, &text) {
        return Ok(text);
    }
    Err(parts.into_iter().map(|(index, _)| (index, Some(Refusal::Meaning))).collect())
}

/// Returns true if a list of an edited patch has an item twice that was in it once at most. A build merges both, so that it does not show.
fn repeats_items(before: &[u8], after: &[u8]) -> bool {
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
fn in_documents(before: &[u8], parts: &[(usize, &PatchPart)]) -> Vec<Joint> {
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
fn with_documents(text: Vec<u8>, parts: &[(usize, &PatchPart)]) -> Vec<u8> {
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

/// Adds an edit; the error is its candidate, if another one sets the same place to another value.
fn add(joint: &mut Vec<Joint>, placed: &Placed, index: usize) -> Option<usize> {
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

/// New entries of a list, at its end.
fn with_entries(document: &Value, list: &str, new: &[(usize, &Value)]) -> Vec<Joint> {
    let mut values: Vec<&Value> = Vec::new();
    for (_, value) in new {
        if !values.contains(value) {
            values.push(value);
        }
    }
    let of: Vec<usize> = new.iter().map(|(index, _)| *index).collect();
    let path = vec![Step::Key(list.to_owned())];
    let Some(former) = document.get(list).and_then(Value::as_array).filter(|former| !former.is_empty()) else {
        let change = Change::Set(values.into_iter().cloned().collect());
        return vec![Joint::of(Edit { document: 1, path, change }, of)];
    };
    let path = [path, vec![Step::Index(former.len())]].concat();
    let insert = |(rank, value): (usize, &Value)| {
        let change = Change::Insert { value: value.clone(), rank };
        Joint::of(Edit { document: 1, path: path.clone(), change }, of.clone())
    };
    values.into_iter().enumerate().map(insert).collect()
}

/// A text with other lines, or without them.
fn with_lines(before: &[u8], lines: &[(&String, Option<&String>)]) -> Vec<u8> {
    let text = String::from_utf8_lossy(before);
    let line = |line: &str| {
        let content = line.trim_end_matches(['\n', '\r']);
        let end = line.get(content.len()..).unwrap_or_default();
        match lines.iter().find(|(from, _)| from.as_str() == content) {
            Some((_, to)) => to.map_or_else(String::new, |to| format!("{to}{end}")),
            None => line.to_owned(),
        }
    };
    text.split_inclusive('\n').map(line).collect::<String>().into_bytes()
}

/// The files with one candidate alone; `None` if it cannot be written.
pub fn alone(tree: &Tree, candidate: &Candidate) -> Option<Texts> {
    edited(tree, &[candidate]).ok()
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

fn made(before: &[u8], joint: &[Joint]) -> Result<Vec<u8>, Refused> {
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
