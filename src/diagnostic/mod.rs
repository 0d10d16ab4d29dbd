use std::sync::Arc;

use serde::Serialize;

use super::excerpt::Excerpt;
use super::source::{Source, SourceText};
use super::yaml::Mark;

/// A problem of the input, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputProblem {
    /// The file, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The lines of the place, where they may be shown.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
}

impl InputProblem {
    /// A problem without a place.
    #[must_use]
    pub fn general(message: impl Into<String>) -> Self {
        Self { file: None, line: None, column: None, message: message.into(), hint: None, excerpt: None }
    }

    /// A problem of a whole file.
    #[must_use]
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..Self::general(message) }
    }

    /// A problem of an object.
    #[must_use]
    pub fn of_source(source: &Source, message: impl Into<String>) -> Self {
        Self { file: Some(source.file.clone()), line: Some(source.line), ..Self::general(message) }
    }

    /// A problem at a place.
    #[must_use]
    pub fn at(file: &Arc<str>, mark: Mark, message: impl Into<String>) -> Self {
        Self { file: Some(file.clone()), line: Some(mark.line), column: Some(mark.column), ..Self::general(message) }
    }

    /// The same problem, with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The key or the scalar at its place, as it is written, where it may be shown.
    #[must_use]
    pub fn written(&self) -> Option<String> {
        self.excerpt.as_ref().and_then(Excerpt::marked)
    }

    /// The same problem, with the lines of its place, and of a second place that is involved.
    #[must_use]
    pub fn shown_in(mut self, text: &SourceText, also: Option<Mark>) -> Self {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            self.excerpt = text.excerpt(Mark { line, column }, also);
        }
        self
    }
}

/// `web.yaml:12:5: message`
impl std::fmt::Display for InputProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}")?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}
