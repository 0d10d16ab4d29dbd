//! Diagnostics: the one type for everything that goes wrong, from a YAML error to a refusal of the server.
//!
//! ```text
//! desired: a mistake in a file ─────────────┐
//! client: kubeconfig, flags, credentials ───┤
//! live: RequestError, StatusError ─about───▶ Diagnostic{severity, code, message, hint, location, excerpt, details} ─▶ report
//! compare, plan, engine: what they decide ──┘
//! ```
//! It is below all stages: each adds the constructors that need its own types.

mod code;
mod excerpt;

use std::fmt;
use std::sync::Arc;

use kube_yaml::{Mark, SyntaxDiagnostic};

pub use code::Code;
pub(crate) use excerpt::Mark as Marked;
pub use excerpt::{Excerpt, Line, Underline};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something was not done because of it.
    Error,
    /// The run goes on.
    Warning,
}

/// The word before the message.
impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// An error or a warning about the input, an object or the run, with its location if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The kind: the `reason` in the JSON.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// Advice on what to do.
    pub hint: Option<String>,
    /// The location, if it is about a file.
    pub location: Option<Location>,
    /// The lines of the location, if they may be shown.
    pub excerpt: Option<Box<Excerpt>>,
    /// The single mistakes that it consists of, each with its location in the manifest.
    pub details: Vec<Diagnostic>,
}

impl Diagnostic {
    /// Makes an error without a location.
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code: code.into(),
            message: message.into(),
            hint: None,
            location: None,
            excerpt: None,
            details: Vec::new(),
        }
    }

    /// Makes an error about the input, the command line or the configuration, without a location.
    pub fn general(message: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message)
    }

    /// Makes an error about a whole file.
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { location: Some(Location { file: file.into(), line: None, column: None }), ..Self::general(message) }
    }

    /// Makes an error at a line of a file.
    pub fn at_line(file: &Arc<str>, line: u32, message: impl Into<String>) -> Self {
        Self {
            location: Some(Location { file: file.clone(), line: Some(line), column: None }),
            ..Self::general(message)
        }
    }

    /// Makes an error at a line and a column of a file.
    pub fn at(file: &Arc<str>, mark: Mark, message: impl Into<String>) -> Self {
        let location = Location { file: file.clone(), line: Some(mark.line), column: Some(mark.column) };
        Self { location: Some(location), ..Self::general(message) }
    }

    /// Makes an error from a complaint of the YAML reader.
    pub fn of_syntax(file: &Arc<str>, syntax: &SyntaxDiagnostic) -> Self {
        Self { hint: syntax.hint.clone(), ..Self::at(file, syntax.mark, &syntax.message) }
    }

    /// Sets the advice.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the single mistakes that it consists of.
    pub fn with_details(self, details: Vec<Self>) -> Self {
        Self { details, ..self }
    }

    /// Makes it a warning.
    pub fn as_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// The key or the scalar at its location, as it is written, if it may be shown.
    pub fn written(&self) -> Option<String> {
        self.excerpt.as_ref().and_then(|excerpt| excerpt.marked())
    }
}

/// `web.yaml:12:5: message`
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// A location in a file: the whole file, a line, or a column of a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file as it was named, `stdin` for standard input.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
}

impl Location {
    /// The line and the column, if it has both.
    pub fn mark(&self) -> Option<Mark> {
        Some(Mark { line: self.line?, column: self.column? })
    }
}

/// Returns true for the name of a kustomization. It stands for the manifests that are built from it, whose lines are in no file.
pub fn is_kustomization(file: &str) -> bool {
    file.rsplit(['/', std::path::MAIN_SEPARATOR]).next().is_some_and(|name| KUSTOMIZATIONS.contains(&name))
}

/// The names that kustomize looks for in a directory (kustomize `api/konfig`, `RecognizedKustomizationFileNames`).
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// `web.yaml:12:5`; `k/kustomization.yaml` for everything that is built from it
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if is_kustomization(&self.file) {
            return Ok(());
        }
        [self.line, self.column].into_iter().flatten().try_for_each(|number| write!(f, ":{number}"))
    }
}
