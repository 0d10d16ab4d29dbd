use std::fmt;
use std::sync::{Arc, LazyLock};

use kube_yaml::{Mark, Positions, Step};
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectMeta as _};

use super::built::{Built, Elsewhere, Written};
use super::packed::Packed;
use super::release::{Record, ReleaseMark};
use super::source::{COMMAND_LINE, Source, SourceText};
use crate::diagnostic::Diagnostic;
use crate::object::holds_secrets;
use crate::rare::{MayBeEmpty, Rare};
use crate::rules::FieldPattern;

/// One desired object as it was written. It is not resolved to a resource yet, so it cannot be fetched. Its
/// object never changes: what is sent for it is a [`DesiredObject`](super::DesiredObject).
#[derive(Clone, Debug)]
pub struct Manifest {
    pub(super) gvk: GroupVersionKind,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) object: Packed,
    /// True if it is a hook of Helm or Argo CD.
    pub(super) is_hook: bool,
    /// True if nothing of it is left out or filled in once its kind and its namespace are known, unless the namespace is another one.
    pub(super) is_plain: bool,
    pub(super) origin: Arc<Origin>,
    pub(super) remarks: Rare<Remarks>,
    pub(super) is_anonymous: bool,
}

/// Remarks about the content of a manifest. Few have any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Remarks {
    /// The fields that are not sent.
    pub left_out: Vec<String>,
    /// Warnings for its author.
    pub warnings: Vec<String>,
    /// Names, labels and annotations that the API refuses.
    pub refused: Vec<Diagnostic>,
    /// The fields that its annotation `kubectl-reconcile/ignore` names.
    pub ignored: Vec<FieldPattern>,
    /// The marks of its release that it does not have.
    pub release_marks: Vec<ReleaseMark>,
}

impl MayBeEmpty for Remarks {
    fn empty() -> &'static Self {
        static EMPTY: LazyLock<Remarks> = LazyLock::new(Remarks::default);
        &EMPTY
    }
}

impl Manifest {
    /// Takes an object that was read. Only its identity is known yet.
    pub(super) fn read(value: Value, positions: Positions, source: Source, written: Written) -> Self {
        let gvk = GroupVersionKind::of(&value);
        let namespace = value.metadata("namespace").and_then(Value::as_str).filter(|namespace| !namespace.is_empty());
        Self {
            namespace: namespace.map(ToOwned::to_owned),
            name: value.name().unwrap_or_default().to_owned(),
            origin: Arc::new(Origin {
                source,
                positions,
                text: written.text,
                elsewhere: written.elsewhere,
                built: None,
                is_secret: holds_secrets(&gvk, &value),
                is_encrypted: false,
                is_repeated: false,
                record: None,
            }),
            gvk,
            object: Packed::tree(value),
            is_hook: false,
            is_plain: false,
            remarks: Rare::default(),
            is_anonymous: false,
        }
    }

    /// Its type.
    pub fn gvk(&self) -> &GroupVersionKind {
        &self.gvk
    }

    /// `metadata.namespace` as written.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole object, without the fields that only a server writes.
    pub fn object(&self) -> &Value {
        self.object.get()
    }

    /// Looks at the object, of which no tree is kept.
    pub fn with_object<T>(&self, look: impl FnOnce(&Value) -> T) -> T {
        self.object.with(look)
    }

    /// The location in the input.
    pub fn origin(&self) -> &Arc<Origin> {
        &self.origin
    }

    /// True if its type, its name or its namespace is encrypted, so that nobody knows which object it is.
    pub fn is_anonymous(&self) -> bool {
        self.is_anonymous
    }

    /// Names, labels and annotations that the API refuses: the object can be neither compared nor written.
    pub fn refused(&self) -> &[Diagnostic] {
        &self.remarks.refused
    }

    /// Sets the reason why nothing but its identity is known: it can be neither compared nor written.
    pub fn refuse(&mut self, reason: &str) {
        let Origin { source, .. } = &*self.origin;
        self.remarks.refused.push(Diagnostic::of_source(source, reason));
    }

    /// Sets the reason why its encrypted values are not known.
    pub(super) fn close(&mut self, reason: Diagnostic) {
        self.remarks.refused = vec![reason];
        self.encrypted();
    }

    /// Makes all of its values secret, as its text has them encrypted.
    pub(super) fn encrypted(&mut self) {
        Arc::make_mut(&mut self.origin).encrypted();
    }

    /// Disregards its annotation `kubectl-reconcile/ignore`.
    pub(super) fn compare_all_fields(&mut self) {
        self.remarks.ignored.clear();
        self.remarks.shrink();
    }

    /// The fields that its annotation `kubectl-reconcile/ignore` names.
    pub fn ignored(&self) -> &[FieldPattern] {
        &self.remarks.ignored
    }
}

/// `Deployment web`, with the namespace where one is written.
impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.gvk.kind, self.name),
            None => write!(f, "{} {}", self.gvk.kind, self.name),
        }
    }
}

/// The origin of an object: its file, and the position of every field.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The location of its first line.
    pub source: Source,
    /// The positions of its fields.
    pub positions: Positions,
    /// The text that its positions are in.
    pub text: SourceText,
    /// The fields that are not in that text.
    pub(super) elsewhere: Option<Arc<Elsewhere>>,
    /// The build that it was read from.
    pub built: Option<Built>,
    /// True if its lines may be those of a Secret, so that none of them is shown.
    pub(super) is_secret: bool,
    /// True if its text is encrypted: all of its values are secret, whatever its kind.
    pub is_encrypted: bool,
    /// True if the input has a second definition of the object, which is the same.
    pub is_repeated: bool,
    /// The record that the cluster keeps of it, if it was taken from one.
    pub record: Option<Arc<Record>>,
}

impl Origin {
    /// Makes all values of the object secret: its text has them encrypted, or that of its base has.
    pub(crate) fn encrypted(&mut self) {
        self.is_encrypted = true;
        self.is_secret = true;
    }

    /// The text that it was read from: the output of a build, or that of its positions.
    pub fn read_text(&self) -> &SourceText {
        self.built.as_ref().map_or(&self.text, |built| &built.text)
    }

    /// A diagnostic at the key that a path leads to, or at the nearest key that exists.
    pub fn diagnostic_at_key(&self, path: &[Step<'_>], message: impl Into<String>) -> Diagnostic {
        match self.elsewhere(path) {
            Some(file) => Diagnostic::of_file(file, message),
            None => self.diagnostic_at(self.positions.nearest(path), None, message),
        }
    }

    /// A diagnostic at the value that a path leads to, or at its key if the value begins on a later line.
    pub fn diagnostic_at_value(&self, path: &[Step<'_>], message: impl Into<String>) -> Diagnostic {
        if let Some(file) = self.elsewhere(path) {
            return Diagnostic::of_file(file, message);
        }
        let key = self.positions.nearest(path);
        let value = self.positions.value_at(path).filter(|value| value.line == key.line);
        self.diagnostic_at(value.unwrap_or(key), None, message)
    }

    /// The kustomization that sets the value at a path, if its text does not have it.
    fn elsewhere(&self, path: &[Step<'_>]) -> Option<&Arc<str>> {
        self.elsewhere.as_ref()?.of_path(path)
    }

    /// A diagnostic at a mark, with its lines unless they may be those of a Secret. `also` is a second mark. An object that the command line
    /// names has no lines.
    pub fn diagnostic_at(&self, mark: Mark, also: Option<Mark>, message: impl Into<String>) -> Diagnostic {
        if *self.source.file == *COMMAND_LINE {
            return Diagnostic::of_file(&self.source.file, message);
        }
        let diagnostic = Diagnostic::at(&self.source.file, mark, self.source.explained(message.into()));
        if self.is_secret { diagnostic } else { diagnostic.shown_in(&self.text, also) }
    }
}
