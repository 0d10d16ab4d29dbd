//! One place that may set a value, and what is written there.

use std::sync::Arc;

use manifest_edit::{Edit, Step};
use serde_json::Value;
use structured_merge::{ObjectKey, PathElement};

use crate::compare::FieldChange;

/// A change of a built object that was accepted.
#[derive(Clone, Debug)]
pub struct AcceptedChange {
    /// The object.
    pub key: ObjectKey,
    /// The difference.
    pub change: FieldChange,
    /// The edit of the build.
    pub edit: Edit,
    /// The live object, if an item of one of its lists is new or a value of it is gone.
    pub live: Option<Arc<Value>>,
    /// The only place to try, if one was found before.
    pub place: Option<Candidate>,
}

/// The part of a kustomization that sets a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// An entry of `images`.
    Images,
    /// An entry of `replicas`.
    Replicas,
    /// `labels` or `commonLabels`.
    Labels,
    /// `commonAnnotations`.
    Annotations,
    /// A literal of a generator.
    Literal,
    /// A file of a generator.
    File,
    /// A patch.
    Patch,
    /// A resource.
    Resource,
    /// An entry that did not exist.
    NewEntry,
    /// A patch that did not exist.
    NewPatch,
}

/// The places that may be written beside those in the overlay that set a value now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// New patches in the overlay.
    pub new_patches: bool,
    /// Files outside of the folder of the overlay.
    pub bases: bool,
}

/// An edit at its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub edit: Edit,
    /// The number of maps and lists around it that go if it empties them.
    pub around: usize,
}

/// A text to write.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Write {
    /// An edit of a document.
    At(Placed),
    /// An edit of the document that is a text in the first document of the file.
    Within(Vec<Step>, Placed),
    /// A new entry of a list of the kustomization.
    Entry(&'static str, Value),
    /// Another content of the whole file.
    Whole(Vec<u8>),
    /// Another line, or none.
    Line(String, Option<String>),
    /// A part of a strategic patch.
    Patch(PatchPart),
    /// A part of the strategic patch that is a text in the first document of the file.
    PatchWithin(Vec<Step>, PatchPart),
}

/// One value of a strategic patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PatchPart {
    /// The document.
    pub document: PatchDocument,
    /// The items before those of the place, in their lists. A patch that names them keeps the order, as those it names come first in a
    /// build.
    pub before: Vec<Vec<PathElement>>,
    /// The place in the object.
    pub path: Vec<PathElement>,
    /// The value; `None` removes it.
    pub value: Option<Value>,
}

/// The document of a patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PatchDocument {
    /// One of the file, by its number.
    Existing(usize),
    /// A new one at the end of the file, with the type and the name of its object.
    New(PatchHead),
}

/// The type and the name of the object of a patch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PatchHead {
    pub api_version: String,
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
}

/// A place that may set a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The part of the kustomization.
    pub how: How,
    /// The file that sets the value.
    pub file: String,
    /// All writes for it, each into its file.
    pub(super) writes: Vec<(String, Write)>,
}

impl Candidate {
    pub(super) fn new(how: How, file: &str, write: Write) -> Self {
        Self::of_writes(how, file, vec![write])
    }

    /// A place of several values of one file.
    pub(super) fn of_writes(how: How, file: &str, writes: Vec<Write>) -> Self {
        let writes = writes.into_iter().map(|write| (file.to_owned(), write)).collect();
        Self { how, file: file.to_owned(), writes }
    }

    /// Adds what another file needs for it.
    pub(super) fn with(mut self, file: &str, write: Write) -> Self {
        self.writes.push((file.to_owned(), write));
        self
    }

    /// All files that are edited for it.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.writes.iter().map(|(file, _)| file.as_str())
    }
}

/// The items of a list of a kustomization.
pub(super) fn items<'v>(value: &'v Value, field: &str) -> impl DoubleEndedIterator<Item = &'v Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}
