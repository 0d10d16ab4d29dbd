//! What is said of a problem, whichever stage meets it: one type from the YAML reader's complaint to the server's refusal.
//!
//! ```text
//! desired: a mistake in a file ────────────┐
//! live: RequestError, StatusError ─about──▶ Diagnostic{reason, message, hint, place, mistakes} ─▶ report
//! compare, plan, engine: what they decide ─┘
//! ```
//! Pure, and below all stages: each adds the constructors that need its own types.

mod excerpt;

use std::fmt;
use std::sync::Arc;

use kube_yaml::Mark;

pub(crate) use excerpt::Mark as Marked;
pub use excerpt::{Excerpt, Line, Underline};

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Severity {
    /// Something is not done because of it.
    #[default]
    Error,
    /// The run goes on.
    Warning,
}

/// A problem of the input, of an object or of the run, with its place where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// A short name in the API's style: `Forbidden`, `Invalid`, `UnknownKind`, `Terminating`.
    pub reason: String,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The file, where there is one.
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// The lines of the place, where they may be shown.
    pub excerpt: Option<Box<Excerpt>>,
    /// What is wrong in the manifest, each at its place.
    pub mistakes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// An error without a place.
    #[must_use]
    pub fn new(reason: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            reason: reason.to_owned(),
            message: message.into(),
            hint: None,
            file: None,
            line: None,
            column: None,
            excerpt: None,
            mistakes: Vec::new(),
        }
    }

    /// A problem of the input, the command line or the configuration, without a place.
    #[must_use]
    pub fn general(message: impl Into<String>) -> Self {
        Self::new("Invalid", message)
    }

    /// A problem of a whole file.
    #[must_use]
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..Self::general(message) }
    }

    /// A problem at a place.
    #[must_use]
    pub fn at(file: &Arc<str>, mark: Mark, message: impl Into<String>) -> Self {
        Self { file: Some(file.clone()), line: Some(mark.line), column: Some(mark.column), ..Self::general(message) }
    }

    /// The same, with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, as a warning.
    #[must_use]
    pub fn as_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// The key or the scalar at its place, as it is written, where it may be shown.
    #[must_use]
    pub fn written(&self) -> Option<String> {
        self.excerpt.as_ref().and_then(|excerpt| excerpt.marked())
    }
}

/// `web.yaml:12:5: message`
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
