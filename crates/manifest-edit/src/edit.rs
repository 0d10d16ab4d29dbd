//! Edits of a file, and which of them can be made.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Document, Validation};
use serde_json::Value;

use super::change::{Change, Edit, Refusal};
use crate::rewrite::{Rewriter, refused_by_nodes};
use crate::values::applied;

/// Bytes that are read at most to find the edits that can be made together: a few seconds.
const EFFORT: usize = 64 << 20;
const MARK: &str = "\u{FEFF}";

/// An edit that is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Its index among the edits.
    pub edit: usize,
    /// The reason.
    pub refusal: Refusal,
}

/// A file after the edits that could be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: Vec<u8>,
    /// The edits that were not made, in order.
    pub refused: Vec<Refused>,
}

/// Edits the text of a file: as many of the edits as can be made together. The others are refused, each with its reason.
pub fn edit(text: &[u8], edits: &[Edit]) -> Edited {
    edit_within(text, edits, EFFORT)
}

fn edit_within(text: &[u8], edits: &[Edit], mut effort: usize) -> Edited {
    let Some(file) = File::read(text) else {
        let refused = (0..edits.len()).map(|edit| Refused { edit, refusal: Refusal::Unreadable });
        return Edited { text: text.to_vec(), refused: refused.collect() };
    };
    let mut all: Vec<(usize, &Edit)> = edits.iter().enumerate().collect();
    // What a node refuses is known without a search, in which each of them would cost several attempts.
    let by_nodes = file.refused_by_nodes(&all);
    all.retain(|(index, _)| !by_nodes.contains_key(index));
    let found = by_document(&file, &all, &mut effort).unwrap_or_else(|| {
        let mut search = Search::of(|edits: &[&Edit]| file.with(edits), file.text.len(), &mut effort);
        search.accept(&all);
        (search.new, search.refused)
    });
    let (new, mut refused) = found;
    refused.extend(by_nodes.into_iter().map(|(edit, refusal)| Refused { edit, refusal }));
    refused.sort_unstable_by_key(|refused| refused.edit);
    Edited { text: new.map_or_else(|| text.to_vec(), String::into_bytes), refused }
}

/// The new text, if an edit can be made, and the edits that cannot.
type Found = (Option<String>, Vec<Refused>);

/// Edits the documents one after the other, as they do not depend on each other. `None` if they do: then the file is searched as a whole.
fn by_document(file: &File<'_>, edits: &[(usize, &Edit)], effort: &mut usize) -> Option<Found> {
    let mut texts = BTreeMap::new();
    let mut refused = Vec::new();
    for (number, edits) in by_number(edits) {
        let Some(document) = file.documents.iter().find(|document| document.number == number) else {
            refused.extend(edits.iter().map(|(edit, _)| Refused { edit: *edit, refusal: Refusal::Unreadable }));
            continue;
        };
        let alone = file.alone(document)?;
        let mut search = Search::of(|edits: &[&Edit]| alone.with(edits), alone.text.len(), effort);
        search.accept(&edits);
        refused.extend(search.refused);
        texts.extend(search.new.map(|text| (number, text)));
    }
    let new = if texts.is_empty() { None } else { Some(file.joined(&texts)?) };
    Some((new, refused))
}

/// The edits of each document, by its number.
fn by_number<'e>(edits: &[(usize, &'e Edit)]) -> BTreeMap<usize, Vec<(usize, &'e Edit)>> {
    let mut of_document: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (index, edit) in edits {
        of_document.entry(edit.document).or_default().push((*index, *edit));
    }
    of_document
}

/// Finds the edits that can be made together: all of them, or those of one half and then of the other.
struct Search<'e, 's, F> {
    make: F,
    /// The bytes that are read for an attempt.
    cost: usize,
    effort: &'s mut usize,
    accepted: Vec<&'e Edit>,
    new: Option<String>,
    refused: Vec<Refused>,
}

impl<'e, 's, F: Fn(&[&'e Edit]) -> Result<String, Refusal>> Search<'e, 's, F> {
    fn of(make: F, cost: usize, effort: &'s mut usize) -> Self {
        Self { make, cost, effort, accepted: Vec::new(), new: None, refused: Vec::new() }
    }

    fn accept(&mut self, edits: &[(usize, &'e Edit)]) {
        if edits.is_empty() {
            return;
        }
        let accepted = self.accepted.len();
        self.accepted.extend(edits.iter().map(|(_, edit)| *edit));
        let result = match self.effort.checked_sub(self.cost) {
            Some(left) => {
                *self.effort = left;
                (self.make)(&self.accepted)
            }
            None => Err(Refusal::Effort),
        };
        let refusal = match result {
            Ok(text) => return self.new = Some(text),
            Err(refusal) => refusal,
        };
        self.accepted.truncate(accepted);
        if edits.len() == 1 || *self.effort < self.cost {
            // Only the reason of a single edit is its own.
            let refusal = if edits.len() == 1 { refusal } else { Refusal::Effort };
            self.refused.extend(edits.iter().map(|(edit, _)| Refused { edit: *edit, refusal }));
            return;
        }
        let (first, second) = edits.split_at(edits.len().div_ceil(2));
        self.accept(first);
        self.accept(second);
    }
}

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
        let mut of_document = by_number(edits);
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
        for is_quoted in [false, true] {
            let texts = self.written(edits, &values, is_quoted)?;
            let text = self.spliced(&texts).ok_or(Refusal::Unreadable)?;
            if self.reads_as(&text, &values) {
                return Ok([self.mark, text.as_str()].concat());
            }
        }
        Err(Refusal::Meaning)
    }

    /// The whole text with new texts of documents, each of which was read as it is meant alone; `None` if they are read otherwise
    /// together.
    pub fn joined(&self, texts: &BTreeMap<usize, String>) -> Option<String> {
        let meant = |document: &Document| {
            let own = kube_yaml::read(texts.get(&document.number)?.as_bytes(), Validation::Warn).documents;
            own.into_iter().next().map(|own| own.value)
        };
        let values: Vec<Option<Value>> = self.documents.iter().map(meant).collect();
        let text = self.spliced(texts)?;
        self.reads_as(&text, &values).then(|| [self.mark, text.as_str()].concat())
    }

    /// The text behind the byte order mark with new texts of documents.
    fn spliced(&self, texts: &BTreeMap<usize, String>) -> Option<String> {
        let mut new = String::with_capacity(self.text.len());
        let mut at = 0;
        for document in &self.documents {
            if let Some(text) = texts.get(&document.number) {
                new.push_str(self.text.get(at..document.text.start)?);
                new.push_str(text);
                at = document.text.end;
            }
        }
        new.push_str(self.text.get(at..)?);
        Some(new)
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

    /// The new texts of the documents that get another value, by their numbers.
    fn written(
        &self,
        edits: &[&Edit],
        values: &[Option<Value>],
        is_quoted: bool,
    ) -> Result<BTreeMap<usize, String>, Refusal> {
        let mut texts = BTreeMap::new();
        for (document, value) in self.documents.iter().zip(values) {
            let Some(value) = value else { continue };
            let text = self.text.get(document.text.clone()).ok_or(Refusal::Unreadable)?;
            // Items move with their lines first, those of inner lists before those around them, and are changed where they are then.
            let orders = orders(document, edits)?;
            let mut text = Cow::Borrowed(text);
            let mut old = &document.value;
            for new in orders.iter().chain([value]) {
                text = Cow::Owned(Rewriter::rewrite(&text, document.syntax, (old, new), is_quoted)?);
                old = new;
            }
            texts.insert(document.number, text.into_owned());
        }
        Ok(texts)
    }

    fn reads_as(&self, text: &str, values: &[Option<Value>]) -> bool {
        let read = kube_yaml::read(text.as_bytes(), Validation::Warn).documents;
        let is_same = |(new, (old, value)): (&Document, (&Document, &Option<Value>))| {
            new.number.saturating_add(self.before) == old.number && new.value == *value.as_ref().unwrap_or(&old.value)
        };
        read.len() == self.documents.len() && read.iter().zip(self.documents.iter().zip(values)).all(is_same)
    }
}

/// The values of a document while its lists get another order, from the innermost lists to the outermost ones.
fn orders(document: &Document, edits: &[&Edit]) -> Result<Vec<Value>, Refusal> {
    let is_order = |edit: &&&Edit| edit.document == document.number && matches!(edit.change, Change::Reorder(_));
    let orders: Vec<&Edit> = edits.iter().filter(is_order).copied().collect();
    let depths: BTreeSet<usize> = orders.iter().map(|edit| edit.path.len()).collect();
    let from_depth = |depth: usize| {
        let inner: Vec<&Edit> = orders.iter().filter(|edit| edit.path.len() >= depth).copied().collect();
        applied(&document.value, &inner)
    };
    depths.into_iter().rev().map(from_depth).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Step;

    fn set(document: usize, key: &str) -> Edit {
        Edit { document, path: vec![Step::Key(key.into())], change: Change::Set(json!(2)) }
    }

    #[test]
    fn refused_edits_of_one_document_cost_the_others_nothing() {
        let one = "a: &x 1\nb: *x\nc: 1\n";
        let text = [one; 20].join("---\n");
        let edits: Vec<Edit> = (1..=20).flat_map(|document| ["a", "c"].map(|key| set(document, key))).collect();
        // Three attempts for each document, and none for the file as a whole.
        let Edited { text: new, refused } = edit_within(text.as_bytes(), &edits, text.len() * 3);
        assert_eq!(String::from_utf8(new).unwrap(), text.replace("c: 1", "c: 2"));
        let expected: Vec<_> = (0..20).map(|number| Refused { edit: number * 2, refusal: Refusal::Anchor }).collect();
        assert_eq!(refused, expected);
    }

    #[test]
    fn a_search_that_ends_early_says_so() {
        let text = "a: &x 1\nb: *x\nc: 1\nd: 1\n";
        let edits = ["a", "b", "c", "d"].map(|key| set(1, key));
        let edited = edit_within(text.as_bytes(), &edits, 0);
        let refused: Vec<_> = edited.refused.iter().map(|refused| (refused.edit, refused.refusal)).collect();
        assert_eq!(refused, [(0, Refusal::Anchor), (1, Refusal::Alias), (2, Refusal::Effort), (3, Refusal::Effort)]);
        assert_eq!(edited.text, text.as_bytes());
    }

    /// One attempt is enough for those that remain.
    #[test]
    fn edits_that_a_node_refuses_cost_no_attempts() {
        let lines = |number: usize| {
            format!("t{number}: !!str 1\nx{number}: &x{number} {{y: 1}}\na{number}: *x{number}\ng{number}: 1\n")
        };
        let text: String = (0..500).map(lines).collect();
        let of = |path: &[&str]| {
            let path = path.iter().map(|key| Step::Key((*key).into())).collect();
            Edit { document: 1, path, change: Change::Set(json!(2)) }
        };
        let edits: Vec<Edit> = (0..500)
            .flat_map(|number| {
                let [tag, anchor, alias, good] = ["t", "x", "a", "g"].map(|key| format!("{key}{number}"));
                [of(&[&tag]), of(&[&anchor, "y"]), of(&[&alias]), of(&[&good])]
            })
            .collect();
        let edited = edit_within(text.as_bytes(), &edits, text.len());
        let count = |refusal| edited.refused.iter().filter(|refused| refused.refusal == refusal).count();
        assert_eq!([Refusal::Tag, Refusal::Anchor, Refusal::Alias].map(count), [500; 3]);
        assert_eq!(edited.refused.len(), 1_500);
        let expected: String =
            (0..500).map(|number| lines(number).replace(&format!("g{number}: 1"), &format!("g{number}: 2"))).collect();
        assert_eq!(String::from_utf8(edited.text).unwrap(), expected);
    }
}
