use kube_yaml::{Mark, Positions, Step};

use super::source::{Source, SourceText};
use crate::diagnostic::Diagnostic;

/// The origin of an object: its file, and the position of every field.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The location of its first line.
    pub source: Source,
    /// The positions of its fields.
    pub positions: Positions,
    /// The text that it was read from.
    pub(super) text: SourceText,
    /// True if its lines may be those of a Secret, so that none of them is shown.
    pub(super) is_secret: bool,
    /// True if the input has a second definition of the object, which is the same.
    pub is_repeated: bool,
}

impl Origin {
    /// The text of its input.
    pub fn text(&self) -> &SourceText {
        &self.text
    }

    /// Returns true if its lines may be those of a Secret, so that none of them may be shown.
    pub fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// A diagnostic at the key that a path leads to, or at the nearest key that exists.
    pub fn diagnostic_at_key(&self, path: &[Step<'_>], message: impl Into<String>) -> Diagnostic {
        self.diagnostic_at(self.positions.nearest(path), None, message)
    }

    /// A diagnostic at the value that a path leads to, or at its key if the value begins on a later line.
    pub fn diagnostic_at_value(&self, path: &[Step<'_>], message: impl Into<String>) -> Diagnostic {
        let key = self.positions.nearest(path);
        let value = self.positions.value_at(path).filter(|value| value.line == key.line);
        self.diagnostic_at(value.unwrap_or(key), None, message)
    }

    /// A diagnostic at a mark, with its lines unless they may be those of a Secret. `also` is a second mark.
    pub fn diagnostic_at(&self, mark: Mark, also: Option<Mark>, message: impl Into<String>) -> Diagnostic {
        let diagnostic = Diagnostic::at(&self.source.file, mark, self.source.explained(message.into()));
        if self.is_secret { diagnostic } else { diagnostic.shown_in(&self.text, also) }
    }
}
