//! Diagnostics as JSON: in `errors` and in `mistakes` with the location, in the `error` of an object with the reason.

use std::borrow::Cow;

use reconcile_core::diagnostic::{Code, Diagnostic, Location};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An entry of `errors` or of `mistakes`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename = "DiagnosticEntry", deny_unknown_fields)]
#[schemars(rename = "WrittenDiagnostic")]
pub(crate) struct DiagnosticEntry<'a> {
    /// The file as it was named, `stdin` for standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Cow<'a, str>>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The column, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    column: Option<u32>,
    /// One sentence; its wording may change in any version.
    message: Cow<'a, str>,
    /// The action to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<Cow<'a, str>>,
}

/// The `error` of an object.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObjectError<'a> {
    /// The stable code for scripts.
    #[schemars(extend("enum" = Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>()))]
    reason: Cow<'a, str>,
    /// One sentence; its wording may change in any version.
    message: Cow<'a, str>,
    /// The action to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<Cow<'a, str>>,
    // The location of the first mistake, unless the error has one itself.
    /// The file as it was named, `stdin` for standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Cow<'a, str>>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// The column, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    column: Option<u32>,
    /// All mistakes in the manifest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<DiagnosticEntry<'a>>,
}

impl<'a> From<&'a Diagnostic> for DiagnosticEntry<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        let location = diagnostic.location.as_ref();
        Self {
            file: location.map(|location| Cow::Borrowed(&*location.file)),
            line: location.and_then(|location| location.line),
            column: location.and_then(|location| location.column),
            message: Cow::Borrowed(&diagnostic.message),
            hint: diagnostic.hint.as_deref().map(Cow::Borrowed),
        }
    }
}

impl From<DiagnosticEntry<'_>> for Diagnostic {
    fn from(DiagnosticEntry { file, line, column, message, hint }: DiagnosticEntry<'_>) -> Self {
        let location = file.map(|file| Location { file: (*file).into(), line, column });
        Self { hint: hint.map(Cow::into_owned), location, ..Self::general(message) }
    }
}

impl<'a> From<&'a Diagnostic> for ObjectError<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        let mistakes: Vec<DiagnosticEntry<'a>> = diagnostic.details.iter().map(DiagnosticEntry::from).collect();
        let placed =
            if diagnostic.location.is_some() { diagnostic } else { diagnostic.details.first().unwrap_or(diagnostic) };
        let DiagnosticEntry { file, line, column, .. } = placed.into();
        let DiagnosticEntry { message, hint, .. } = diagnostic.into();
        Self { reason: Cow::Borrowed(diagnostic.code.as_str()), message, hint, file, line, column, mistakes }
    }
}

/// Writes the `errors` of a run.
pub(crate) fn of_run<S: Serializer>(errors: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(DiagnosticEntry::from))
}

/// Reads the `errors` of a run.
pub(crate) fn read_of_run<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Diagnostic>, D::Error> {
    Ok(Vec::<DiagnosticEntry<'_>>::deserialize(deserializer)?.into_iter().map(Diagnostic::from).collect())
}

/// Writes the `error` of an object.
#[expect(clippy::ref_option, reason = "serde passes references")]
pub(crate) fn of_object<S: Serializer>(error: &Option<Box<Diagnostic>>, serializer: S) -> Result<S::Ok, S::Error> {
    error.as_deref().map(ObjectError::from).serialize(serializer)
}

/// Reads the `error` of an object.
pub(crate) fn read_of_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Diagnostic>, D::Error> {
    let ObjectError { reason, message, hint, file, line, column, mistakes } = ObjectError::deserialize(deserializer)?;
    let code = Code::ALL.iter().copied().find(|code| code.as_str() == reason);
    let code = code.ok_or_else(|| D::Error::custom(format!("`{reason}` is not a reason of an error")))?;
    let details = mistakes.into_iter().map(Diagnostic::from).collect();
    let whole = Diagnostic::from(DiagnosticEntry { file, line, column, message, hint });
    Ok(Some(Diagnostic { code, ..whole }.with_details(details)))
}
