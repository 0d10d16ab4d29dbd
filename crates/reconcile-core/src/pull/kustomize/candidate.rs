//! One place that may set a value, and what is written there.

use manifest_edit::{Edit, Step};
use serde_json::Value;
use structured_merge::ObjectKey;

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
    /// The live object, if an item of one of its lists is new.
    pub live: Option<Value>,
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
}

/// A text to write.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Write {
    /// An edit of a document.
    At(Edit),
    /// An edit of the document that is a text in the first document of the file.
    Within(Vec<Step>, Edit),
    /// A new entry of a list of the kustomization.
    Entry(&'static str, Value),
    /// Another text of the whole file.
    Whole(String),
    /// Another line.
    Line(String, String),
}

/// A place that may set a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The part of the kustomization.
    pub how: How,
    /// The file.
    pub file: String,
    pub(super) writes: Vec<Write>,
}

impl Candidate {
    pub(super) fn new(how: How, file: &str, write: Write) -> Self {
        Self { how, file: file.to_owned(), writes: vec![write] }
    }
}

/// The items of a list of a kustomization.
pub(super) fn items<'v>(value: &'v Value, field: &str) -> impl DoubleEndedIterator<Item = &'v Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}
