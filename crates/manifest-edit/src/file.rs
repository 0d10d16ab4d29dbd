//! A file with its documents, and its text with edits.

use kube_yaml::{Document, Validation};
use serde_json::Value;

use super::change::Edit;
use super::refusal::Refusal;
use super::rewrite::{Rewriter, Writing};
use super::values::applied;

const MARK: &str = "\u{FEFF}";

/// A file that was read.
pub(crate) struct File<'t> {
    /// The byte order mark, if there is one.
    mark: &'t str,
    /// The text behind it.
    text: &'t str,
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
        Some(Self { mark, text, documents: kube_yaml::read(text.as_bytes(), Validation::Warn).documents })
    }

    /// Length of the text in bytes.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// The whole text with edits, which is read as it is meant.
    pub fn with(&self, edits: &[&Edit]) -> Result<Vec<u8>, Refusal> {
        let values = self.values(edits)?;
        for writing in [Writing::Styled, Writing::Quoted] {
            let text = self.written(&values, writing)?;
            if self.reads_as(&text, &values) {
                return Ok([self.mark, text.as_str()].concat().into_bytes());
            }
        }
        Err(Refusal::Meaning)
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
            new.number == old.number && new.value == *value.as_ref().unwrap_or(&old.value)
        };
        read.len() == self.documents.len() && read.iter().zip(self.documents.iter().zip(values)).all(is_same)
    }
}
