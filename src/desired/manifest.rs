use std::fmt;

use serde_json::Value;
use structured_merge::GroupVersionKind;

use super::source::{Source, SourceText};
use super::yaml::{Mark, Positions, Step};
use crate::diagnostic::Diagnostic;
use crate::object::holds_secrets;
use crate::rules::FieldPattern;

/// One desired object as it was written: not yet resolved to a resource, so it cannot be fetched.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its type.
    pub gvk: GroupVersionKind,
    /// `metadata.namespace` as written.
    pub namespace: Option<String>,
    /// `metadata.name`.
    pub name: String,
    /// The whole object, without what only a server writes.
    pub value: Value,
    /// Where it stands.
    pub source: Source,
    /// Where its fields stand.
    pub positions: Positions,
    /// The text that it was read from.
    pub text: SourceText,
    /// What a server or kubectl had added, and was left out.
    pub left_out: Vec<String>,
    /// What its author should know.
    pub warnings: Vec<String>,
    /// Names, labels and annotations that the API refuses: the object can be neither compared nor written.
    pub refused: Vec<Diagnostic>,
    /// The fields that its annotation `kubectl-reconcile/ignore` names.
    pub ignored: Vec<FieldPattern>,
}

impl Manifest {
    /// A problem of the key that a path leads to, or of what is nearest to it.
    #[must_use]
    pub fn problem_of_key(&self, path: &[Step<'_>], message: impl Into<String>) -> Diagnostic {
        self.problem_at(self.positions.nearest(path), None, message)
    }

    /// A problem of the value that a path leads to: of its key where the value begins on a later line.
    #[must_use]
    pub fn problem_of_value(&self, path: &[Step<'_>], message: impl Into<String>) -> Diagnostic {
        let key = self.positions.nearest(path);
        let value = self.positions.value_at(path).filter(|value| value.line == key.line);
        self.problem_at(value.unwrap_or(key), None, message)
    }

    /// A problem at a place, with its lines unless they may be those of a Secret; `also` is a second place.
    #[must_use]
    pub fn problem_at(&self, mark: Mark, also: Option<Mark>, message: impl Into<String>) -> Diagnostic {
        let problem = Diagnostic::at(&self.source.file, mark, message);
        if holds_secrets(&self.gvk, &self.value) { problem } else { problem.shown_in(&self.text, also) }
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
