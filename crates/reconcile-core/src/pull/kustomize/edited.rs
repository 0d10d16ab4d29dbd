//! The files of a tree with the edits of several candidates.

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Validation, read};
use manifest_edit::{Change, Edit, Refusal, Step};
use serde_json::Value;

use super::candidate::{Candidate, PatchPart, Write};
use super::joint::{Joint, Refused, add, made};
use super::patch_documents::{in_documents, repeats_items, with_documents};
use super::tree::Tree;
use crate::pull::place::value_at;

/// The new texts of files.
pub type Texts = BTreeMap<String, Vec<u8>>;

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

/// The writes to one file.
#[derive(Default)]
struct Writes<'w> {
    edits: Vec<Joint>,
    /// The edits of texts that are values of the file, by where these are.
    within: BTreeMap<&'w [Step], Vec<Joint>>,
    parts: Vec<(usize, &'w PatchPart)>,
    /// The parts of patches that are values of the file, by where these are.
    inner_parts: BTreeMap<&'w [Step], Vec<(usize, &'w PatchPart)>>,
    /// The new entries of lists, by the names of these.
    entries: BTreeMap<&'w str, Vec<(usize, &'w Value)>>,
    lines: Vec<(&'w String, Option<&'w String>)>,
    whole: Option<&'w Vec<u8>>,
    /// The candidates that cannot be written with the others.
    refused: BTreeSet<usize>,
}

impl<'w> Writes<'w> {
    fn of(writes: &[(usize, &'w Write)]) -> Self {
        let mut all = Self::default();
        for (index, write) in writes {
            all.add(*index, write);
        }
        all
    }

    fn add(&mut self, index: usize, write: &'w Write) {
        match write {
            Write::Patch(part) => self.parts.push((index, part)),
            Write::PatchWithin(at, part) => self.inner_parts.entry(at).or_default().push((index, part)),
            Write::At(placed) => self.refused.extend(add(&mut self.edits, placed, index)),
            Write::Within(at, placed) => {
                self.refused.extend(add(self.within.entry(at).or_default(), placed, index));
            }
            Write::Entry(list, value) => {
                let list = self.entries.entry(list).or_default();
                let name = value.get("name");
                let is_other =
                    |(_, other): &(usize, &Value)| name.is_some() && other.get("name") == name && *other != value;
                if list.iter().any(is_other) {
                    self.refused.insert(index);
                } else {
                    list.push((index, value));
                }
            }
            Write::Whole(text) if self.whole.is_none_or(|other| other == text) => self.whole = Some(text),
            Write::Whole(_) => self.refused.extend([index]),
            Write::Line(from, to) => self.lines.push((from, to.as_ref())),
        }
    }

    /// Turns the parts of patches into edits.
    fn place_parts(&mut self, before: &[u8], document: &Value) {
        for (at, parts) in std::mem::take(&mut self.inner_parts) {
            for one in in_documents(text_at(document, at).as_bytes(), &parts) {
                let edits = self.within.entry(at).or_default();
                self.refused.extend(one.of.iter().filter_map(|index| add(edits, &one.placed, *index)));
            }
        }
        for one in in_documents(before, &self.parts) {
            self.refused.extend(one.of.iter().filter_map(|index| add(&mut self.edits, &one.placed, *index)));
        }
    }

    /// Turns the edits inside of texts into edits of the file.
    fn place_texts(&mut self, document: &Value) -> Result<(), Refused> {
        for (at, inner) in std::mem::take(&mut self.within) {
            let of: Vec<usize> = inner.iter().flat_map(|joint| joint.of.clone()).collect();
            let text = text_at(document, at).as_bytes();
            let new = made(text, &inner)?;
            if repeats_items(text, &new) {
                return Err(of.into_iter().map(|index| (index, Some(Refusal::Meaning))).collect());
            }
            let change = Change::Set(String::from_utf8_lossy(&new).into_owned().into());
            self.edits.push(Joint::of(Edit { document: 1, path: at.to_vec(), change }, of));
        }
        Ok(())
    }
}

fn text_at<'v>(document: &'v Value, at: &[Step]) -> &'v str {
    value_at(document, at).and_then(Value::as_str).unwrap_or_default()
}

fn one_file(before: &[u8], writes: &[(usize, &Write)]) -> Result<Vec<u8>, Refused> {
    let mut writes = Writes::of(writes);
    let document = read(before, Validation::Warn).documents.into_iter().next().map(|document| document.value);
    let document = document.unwrap_or(Value::Null);
    writes.place_parts(before, &document);
    writes.place_texts(&document)?;
    let Writes { mut edits, parts, entries, lines, whole, refused, .. } = writes;
    for (list, new) in entries {
        edits.extend(with_entries(&document, list, &new));
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
    let text = with_documents(made(before, &edits)?, &parts);
    if parts.is_empty() || !repeats_items(before, &text) {
        return Ok(text);
    }
    Err(parts.into_iter().map(|(index, _)| (index, Some(Refusal::Meaning))).collect())
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
