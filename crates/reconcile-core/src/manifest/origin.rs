use kube_yaml::{Mark, Positions, Step};

use super::source::{Source, SourceText};
use crate::diagnostic::Diagnostic;

/// Where an object of the input is written, down to its fields.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Where it begins.
    pub source: Source,
    /// Where its fields are.
    pub positions: Positions,
    /// The text that it was read from.
    pub(super) text: SourceText,
    /// Whether its lines may be those of a Secret, so that none of them is shown.
    pub(super) is_secret: bool,
}

impl Origin {
    /// A problem of the key that a path leads to, or of what is nearest to it.
    #[must_use]
    pub fn diagnostic_at_key(&self, path: &[Step<'_>], message: impl Into<String>) -> Diagnostic {
        self.diagnostic_at(self.positions.nearest(path), None, message)
    }

    /// A problem of the value that a path leads to: of its key where the value begins on a later line.
    #[must_use]
    pub fn diagnostic_at_value(&self, path: &[Step<'_>], message: impl Into<String>) -> Diagnostic {
        let key = self.positions.nearest(path);
        let value = self.positions.value_at(path).filter(|value| value.line == key.line);
        self.diagnostic_at(value.unwrap_or(key), None, message)
    }

    /// A problem at a place, with its lines unless they may be those of a Secret; `also` is a second place.
    #[must_use]
    pub fn diagnostic_at(&self, mark: Mark, also: Option<Mark>, message: impl Into<String>) -> Diagnostic {
        let problem = Diagnostic::at(&self.source.file, mark, message);
        if self.is_secret { problem } else { problem.shown_in(&self.text, also) }
    }
}
