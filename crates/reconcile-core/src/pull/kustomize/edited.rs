//! The files of a tree with the edits of several candidates.

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Validation, read};
use manifest_edit::{Change, Edit, Step, edit};
use serde_json::Value;

use super::candidate::{Candidate, Write};
use super::tree::Tree;
use crate::pull::place::value_at;

/// The new texts of files.
pub(super) type Texts = BTreeMap<String, Vec<u8>>;

/// Edits the files. The error has the positions of candidates that cannot be written, or not with the others.
pub(super) fn edited(tree: &Tree, candidates: &[&Candidate]) -> Result<Texts, BTreeSet<usize>> {
    let mut of_file: BTreeMap<&str, Vec<(usize, &Write)>> = BTreeMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        of_file.entry(&candidate.file).or_default().extend(candidate.writes.iter().map(|write| (index, write)));
    }
    let mut texts = Texts::new();
    let mut refused = BTreeSet::new();
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
    edit: Edit,
    of: Vec<usize>,
}

fn one_file(before: &[u8], writes: &[(usize, &Write)]) -> Result<Vec<u8>, BTreeSet<usize>> {
    let mut joint: Vec<Joint> = Vec::new();
    let mut within: BTreeMap<&[Step], Vec<Joint>> = BTreeMap::new();
    let mut entries: BTreeMap<&str, Vec<(usize, &Value)>> = BTreeMap::new();
    let mut whole: Option<(&String, usize)> = None;
    let mut lines: Vec<(usize, &String, &String)> = Vec::new();
    let mut refused = BTreeSet::new();
    for (index, write) in writes {
        match write {
            Write::At(edit) => refused.extend(add(&mut joint, edit, *index)),
            Write::Within(at, edit) => refused.extend(add(within.entry(at).or_default(), edit, *index)),
            Write::Entry(list, value) => entries.entry(list).or_default().push((*index, value)),
            Write::Whole(text) if whole.is_none_or(|(other, _)| other == text) => whole = Some((text, *index)),
            Write::Whole(_) => refused.extend([*index]),
            Write::Line(from, to) => lines.push((*index, from, to)),
        }
    }
    let document = read(before, Validation::Warn).documents.into_iter().next().map(|document| document.value);
    let document = document.unwrap_or(Value::Null);
    for (at, inner) in within {
        let of: Vec<usize> = inner.iter().flat_map(|joint| joint.of.clone()).collect();
        let text = value_at(&document, at).and_then(Value::as_str).unwrap_or_default();
        let text = made(text.as_bytes(), &inner)?;
        let change = Change::Set(String::from_utf8_lossy(&text).into_owned().into());
        joint.push(Joint { edit: Edit { document: 1, path: at.to_vec(), change }, of });
    }
    for (list, new) in entries {
        joint.extend(with_entries(&document, list, &new));
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    if let Some((text, _)) = whole {
        return Ok(text.clone().into_bytes());
    }
    if !lines.is_empty() {
        return Ok(with_lines(before, &lines));
    }
    made(before, &joint)
}

/// Adds an edit; the error is its candidate, if another one sets the same place to another value.
fn add(joint: &mut Vec<Joint>, edit: &Edit, index: usize) -> Option<usize> {
    let same = joint.iter_mut().find(|other| other.edit.path == edit.path && other.edit.document == edit.document);
    match same {
        Some(same) if same.edit == *edit => same.of.push(index),
        Some(same) if !matches!(same.edit.change, Change::Insert { .. }) => return Some(index),
        _ => joint.push(Joint { edit: edit.clone(), of: vec![index] }),
    }
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
        return vec![Joint { edit: Edit { document: 1, path, change }, of }];
    };
    let path = [path, vec![Step::Index(former.len())]].concat();
    let insert = |(rank, value): (usize, &Value)| Joint {
        edit: Edit { document: 1, path: path.clone(), change: Change::Insert { value: value.clone(), rank } },
        of: of.clone(),
    };
    values.into_iter().enumerate().map(insert).collect()
}

fn with_lines(before: &[u8], lines: &[(usize, &String, &String)]) -> Vec<u8> {
    let text = String::from_utf8_lossy(before);
    let line = |line: &str| {
        let content = line.trim_end_matches(['\n', '\r']);
        let end = line.get(content.len()..).unwrap_or_default();
        let new = lines.iter().find(|(_, from, _)| from.as_str() == content).map_or(content, |(_, _, to)| to.as_str());
        format!("{new}{end}")
    };
    text.split_inclusive('\n').map(line).collect::<String>().into_bytes()
}

fn made(before: &[u8], joint: &[Joint]) -> Result<Vec<u8>, BTreeSet<usize>> {
    let edits: Vec<Edit> = joint.iter().map(|joint| joint.edit.clone()).collect();
    let result = edit(before, &edits);
    if result.refused.is_empty() {
        return Ok(result.text);
    }
    Err(result
        .refused
        .iter()
        .filter_map(|refused| joint.get(refused.edit))
        .flat_map(|joint| joint.of.clone())
        .collect())
}
