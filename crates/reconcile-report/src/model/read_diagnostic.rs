//! Reads diagnostics from the JSON that `diagnostic` writes.

use reconcile_core::diagnostic::{Code, Diagnostic, Location};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// An entry of `errors` or of `mistakes`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DiagnosticEntry {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    message: String,
    hint: Option<String>,
}

/// The `error` of an object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectError {
    reason: String,
    message: String,
    hint: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    #[serde(default)]
    mistakes: Vec<DiagnosticEntry>,
}

impl From<DiagnosticEntry> for Diagnostic {
    fn from(DiagnosticEntry { file, line, column, message, hint }: DiagnosticEntry) -> Self {
        let location = file.map(|file| Location { file: file.into(), line, column });
        Self { hint, location, ..Self::general(message) }
    }
}

/// Reads the `errors` of a run.
pub(crate) fn errors<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Diagnostic>, D::Error> {
    Ok(Vec::<DiagnosticEntry>::deserialize(deserializer)?.into_iter().map(Diagnostic::from).collect())
}

/// Reads the `error` of an object.
pub(crate) fn error<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Diagnostic>, D::Error> {
    let ObjectError { reason, message, hint, file, line, column, mistakes } = ObjectError::deserialize(deserializer)?;
    let code = Code::ALL.iter().copied().find(|code| code.as_str() == reason);
    let code = code.ok_or_else(|| D::Error::custom(format!("`{reason}` is not a reason of an error")))?;
    let details = mistakes.into_iter().map(Diagnostic::from).collect();
    let whole = Diagnostic::from(DiagnosticEntry { file, line, column, message, hint });
    Ok(Some(Diagnostic { code, ..whole }.with_details(details)))
}
