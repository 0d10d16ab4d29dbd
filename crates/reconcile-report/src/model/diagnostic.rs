//! Writes diagnostics as JSON: in `errors` and in `mistakes` with the location, in the `error` of an object with the reason.

use reconcile_core::diagnostic::{Code, Diagnostic};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
/// An entry of `errors` or of `mistakes`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WrittenDiagnostic<'a> {
    #[serde(flatten)]
    location: WrittenLocation<'a>,
    /// One sentence; its wording may change in any version.
    message: &'a str,
    /// The action to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// The `error` of an object.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ObjectError<'a> {
    /// The stable code for scripts.
    #[schemars(extend("enum" = Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>()))]
    reason: &'a str,
    /// One sentence; its wording may change in any version.
    message: &'a str,
    /// The action to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    // The location of the first mistake, unless the error has one itself.
    #[serde(flatten)]
    location: WrittenLocation<'a>,
    /// All mistakes in the manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<WrittenDiagnostic<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct WrittenLocation<'a> {
    /// The file as it was named, `stdin` for standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The column, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    column: Option<u32>,
}

impl<'a> From<&'a Diagnostic> for WrittenLocation<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        let location = diagnostic.location.as_ref();
        Self {
            file: location.map(|location| &*location.file),
            line: location.and_then(|location| location.line),
            column: location.and_then(|location| location.column),
        }
    }
}

impl<'a> From<&'a Diagnostic> for WrittenDiagnostic<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        Self { location: diagnostic.into(), message: &diagnostic.message, hint: diagnostic.hint.as_deref() }
    }
}

impl<'a> From<&'a Diagnostic> for ObjectError<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        let placed =
            if diagnostic.location.is_some() { diagnostic } else { diagnostic.details.first().unwrap_or(diagnostic) };
        Self {
            reason: diagnostic.code.as_str(),
            message: &diagnostic.message,
            hint: diagnostic.hint.as_deref(),
            location: placed.into(),
            mistakes: diagnostic.details.iter().map(WrittenDiagnostic::from).collect(),
        }
    }
}

/// Writes the `errors` of a run.
pub(crate) fn of_run<S: Serializer>(errors: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(WrittenDiagnostic::from))
}

/// Writes the `error` of an object.
#[expect(clippy::ref_option, reason = "serde passes references")]
pub(crate) fn of_object<S: Serializer>(error: &Option<Diagnostic>, serializer: S) -> Result<S::Ok, S::Error> {
    error.as_ref().map(ObjectError::from).serialize(serializer)
}
