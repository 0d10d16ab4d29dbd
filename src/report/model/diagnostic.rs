//! How a diagnostic is written in JSON: in `errors` and in `mistakes` by its place, in the `error` of an object by its reason.

use serde::{Serialize, Serializer};

use crate::diagnostic::Diagnostic;

/// An entry of `errors` or of `mistakes`.
#[derive(Serialize)]
struct Problem<'a> {
    #[serde(flatten)]
    location: Location<'a>,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// The `error` of an object.
#[derive(Serialize)]
struct ObjectError<'a> {
    reason: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    /// That of the first mistake, unless it has one itself.
    #[serde(flatten)]
    location: Location<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<Problem<'a>>,
}

#[derive(Serialize)]
struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

impl<'a> From<&'a Diagnostic> for Location<'a> {
    fn from(of: &'a Diagnostic) -> Self {
        let location = of.location.as_ref();
        Self {
            file: location.map(|location| &*location.file),
            line: location.and_then(|location| location.line),
            column: location.and_then(|location| location.column),
        }
    }
}

impl<'a> From<&'a Diagnostic> for Problem<'a> {
    fn from(of: &'a Diagnostic) -> Self {
        Self { location: of.into(), message: &of.message, hint: of.hint.as_deref() }
    }
}

impl<'a> From<&'a Diagnostic> for ObjectError<'a> {
    fn from(of: &'a Diagnostic) -> Self {
        let placed = if of.location.is_some() { of } else { of.details.first().unwrap_or(of) };
        Self {
            reason: of.code.as_str(),
            message: &of.message,
            hint: of.hint.as_deref(),
            location: placed.into(),
            mistakes: of.details.iter().map(Problem::from).collect(),
        }
    }
}

/// Writes the `errors` of a run.
pub(crate) fn of_run<S: Serializer>(errors: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(Problem::from))
}

/// Writes the `error` of an object.
#[expect(clippy::ref_option, reason = "serde passes references")]
pub(crate) fn of_object<S: Serializer>(error: &Option<Diagnostic>, serializer: S) -> Result<S::Ok, S::Error> {
    error.as_ref().map(ObjectError::from).serialize(serializer)
}
