//! A file with its documents, and its text with edits.

use std::collections::BTreeMap;

use kube_yaml::{Document, Validation};
use serde_json::Value;

use super::change::Edit;
use super::change::Refusal;
use super::rewrite::{Rewriter, Writing, refused_by_nodes};
use super::values::applied;

const MARK: &str = "\u{FEFF}";

/// A file that was read.
pub(crate) struct File<'t> {
    /// The byte order mark, if there is one.
    mark: &'t str,
    /// The text behind it.
    text: &'t str,
    /// The number of the first document, less one.
    before: usize,
    documents: Vec<Document>,
}

impl<'t> File<'t> {
    /// Reads a file; `None` if it is not UTF-8.
    pub fn read(text: &'t [u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (mark, text) = match text.strip_prefix(MARK) {
            Some(rest) => (MARK, rest),
            None => ("", text),
        };
        Some(Self { mark, text, before: 0, documents: kube_yaml::read(text.as_bytes(), Validation::Warn).documents })
    }

    /// Length of the text in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// The document with a number.
    pub fn document(&self, number: usize) -> Option<&Document> {
        self.documents.iter().find(|document| document.number == number)
    }

    /// A document as a file of its own; `None` if it would be read otherwise there.
    pub fn alone(&self, document: &Document) -> Option<Self> {
        let text = self.text.get(document.text.clone())?;
        let mut documents = kube_yaml::read(text.as_bytes(), Validation::Warn).documents;
        let [own] = documents.as_mut_slice() else { return None };
        let is_same = own.value == document.value && own.syntax == document.syntax;
        let before = document.number.saturating_sub(own.number);
        own.number = document.number;
        is_same.then_some(Self { mark: "", text, before, documents })
    }

    /// The edits, by their indices, that a node of the file refuses, whatever the others are.
    pub fn refused_by_nodes(&self, edits: &[(usize, &Edit)]) -> BTreeMap<usize, Refusal> {
        let mut of_document: BTreeMap<usize, Vec<(usize, &Edit)>> = BTreeMap::new();
        for (index, edit) in edits {
            of_document.entry(edit.document).or_default().push((*index, *edit));
        }
        let mut refused = BTreeMap::new();
        for document in &self.documents {
            let own = of_document.remove(&document.number);
            let text = self.text.get(document.text.clone());
            if let (Some(own), Some(text)) = (own, text) {
                refused.extend(refused_by_nodes(text, document, &own));
            }
        }
        refused
    }

    /// The whole text with edits, which is read as it is meant.
    pub fn with(&self, edits: &[&Edit]) -> Result<String, Refusal> {
        let values = self.values(edits)?;
        for writing in [Writing::Styled, Writing::Quoted] {
            let text = self.written(&values, writing)?;
            if self.reads_as(&text, &values) {
                return Ok([self.mark, text.as_str()].concat());
            }
        }
        Err(Refusal::Meaning)
    }

    /// The whole text with new texts of documents, each of which was read as it is meant alone; `None` if they are read otherwise
    /// together.
    pub fn joined(&self, texts: &BTreeMap<usize, String>) -> Option<String> {
        let mut new = self.mark.to_owned();
        let mut at = 0;
        let mut meant = Vec::with_capacity(self.documents.len());
        for document in &self.documents {
            let text = texts.get(&document.number);
            let own = text.map(|text| kube_yaml::read(text.as_bytes(), Validation::Warn).documents);
            meant.push(own.map(|own| own.into_iter().next().map(|own| own.value)));
            if let Some(text) = text {
                new.push_str(self.text.get(at..document.text.start)?);
                new.push_str(text);
                at = document.text.end;
            }
        }
        new.push_str(self.text.get(at..)?);
        let values: Vec<Option<Value>> = meant.into_iter().map(Option::flatten).collect();
        let content = new.get(self.mark.len()..)?;
        self.reads_as(content, &values).then_some(new)
    }

    /// The values of the documents after the edits; `None` for a document without any.
    fn values(&self, edits: &[&Edit]) -> Result<Vec<Option<Value>>, Refusal> {
        if edits.iter().any(|edit| self.documents.iter().all(|document| document.number != edit.document)) {
            return Err(Refusal::Unreadable);
        }
        let value = |document: &Document| {
            let own: Vec<&Edit> = edits.iter().filter(|edit| edit.document == document.number).copied().collect();
            if own.is_empty() { Ok(None) } else { applied(&document.value, &own).map(Some) }
        };
        self.documents.iter().map(value).collect()
    }

    fn written(&self, values: &[Option<Value>], writing: Writing) -> Result<String, Refusal> {
        let mut new = String::with_capacity(self.text.len());
        let mut at = 0;
        for (document, value) in self.documents.iter().zip(values) {
            let Some(value) = value else { continue };
            let text = self.text.get(document.text.clone()).ok_or(Refusal::Unreadable)?;
            new.push_str(self.text.get(at..document.text.start).ok_or(Refusal::Unreadable)?);
            new.push_str(&Rewriter::rewrite(text, document, value, writing)?);
            at = document.text.end;
        }
        new.push_str(self.text.get(at..).ok_or(Refusal::Unreadable)?);
        Ok(new)
    }

    fn reads_as(&self, text: &str, values: &[Option<Value>]) -> bool {
        let read = kube_yaml::read(text.as_bytes(), Validation::Warn).documents;
        let is_same = |(new, (old, value)): (&Document, (&Document, &Option<Value>))| {
            new.number.saturating_add(self.before) == old.number && new.value == *value.as_ref().unwrap_or(&old.value)
        };
        read.len() == self.documents.len() && read.iter().zip(self.documents.iter().zip(values)).all(is_same)
    }
}
