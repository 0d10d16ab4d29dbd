//! Reads a report that was written as JSON. It is checked like any other input, and nothing in it is guessed.

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey};

use super::model::Fixed;
use super::{FailClass, Report};
use crate::diagnostic::{Code, Diagnostic, Place};

/// A report of a file.
#[derive(Debug)]
pub struct Parsed {
    /// Its context, in a report of several.
    pub context: Option<String>,
    /// The URL of the server of its context, as far as it is known.
    pub server: Option<String>,
    /// The report.
    pub report: Report,
}

/// The reports that a text holds: one, or those of several contexts. The error says what is wrong where.
pub fn parsed(text: &[u8]) -> Result<Vec<Parsed>, serde_json::Error> {
    let Kind { kind } = serde_json::from_slice(text)?;
    if kind.as_str() != Some("Reports") {
        let report = serde_json::from_slice::<Report>(text)?.checked()?;
        return Ok(vec![Parsed { context: None, server: None, report }]);
    }
    let Several { contexts, .. } = serde_json::from_slice(text)?;
    contexts.into_iter().map(one_of_several).collect()
}

/// What tells the kinds of documents apart.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    kind: Value,
}

/// The reports of several contexts. What they come to together is worked out again.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Several {
    #[serde(rename = "apiVersion", deserialize_with = "api_version")]
    _api_version: Fixed,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    #[serde(rename = "command")]
    _command: IgnoredAny,
    #[serde(rename = "verdict")]
    _verdict: IgnoredAny,
    #[serde(rename = "exitCode")]
    _exit_code: IgnoredAny,
    #[serde(rename = "summary")]
    _summary: IgnoredAny,
    #[serde(rename = "warnings", default)]
    _warnings: IgnoredAny,
    contexts: Vec<serde_json::Map<String, Value>>,
}

fn one_of_several(mut fields: serde_json::Map<String, Value>) -> Result<Parsed, serde_json::Error> {
    let text = |value: Option<Value>| value.map(serde_json::from_value::<String>).transpose();
    let context = text(fields.remove("context"))?;
    let server = text(fields.remove("server"))?;
    let context = Some(context.ok_or_else(|| serde_json::Error::missing_field("context"))?);
    let report = serde_json::from_value::<Report>(Value::Object(fields))?.checked()?;
    Ok(Parsed { context, server, report })
}

impl Report {
    /// The same, with the keys of its objects; an error where it contradicts itself.
    fn checked(mut self) -> Result<Self, serde_json::Error> {
        for object in &mut self.objects {
            object.key = ObjectKey {
                gvk: GroupVersionKind::new(&object.api_version, &object.kind),
                namespace: object.namespace.clone(),
                name: object.name.clone(),
            };
        }
        if let Some(set) = &mut self.apply_set {
            let parent = &set.parent;
            let gvk = GroupVersionKind::new(&parent.api_version, &parent.kind);
            set.parent.key = ObjectKey { gvk, namespace: parent.namespace.clone(), name: parent.name.clone() };
        }
        let refused = |message: String| Err(serde_json::Error::custom(message));
        let (verdict, code) = (self.verdict, self.exit_code);
        if ![verdict.exit_code(false), verdict.exit_code(true)].contains(&code) {
            return refused(format!("the exit code {code} does not belong to its verdict"));
        }
        if self.summary.objects != self.objects.len() {
            return refused(format!("it counts {} objects and has {}", self.summary.objects, self.objects.len()));
        }
        match self.shard {
            Some(shard) if !shard.is_valid() => refused(format!("there is no shard {shard}")),
            _ => Ok(self),
        }
    }
}

/// A key that is filled in later.
pub(super) fn no_key() -> ObjectKey {
    ObjectKey { gvk: GroupVersionKind::new("", ""), namespace: None, name: String::new() }
}

/// Reads a text that can only be this one.
fn exactly<'de, D: Deserializer<'de>>(deserializer: D, only: Fixed) -> Result<Fixed, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text == only { Ok(only) } else { Err(D::Error::custom(format!("`{text}` is not `{only}`"))) }
}

pub(super) fn api_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fixed, D::Error> {
    exactly(deserializer, "kubectl-reconcile/v1")
}

pub(super) fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fixed, D::Error> {
    exactly(deserializer, "Report")
}

/// Reads names of classes that make a run fail.
pub(super) fn classes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<&'static str>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let class = |name: &String| {
        let class = FailClass::named(name).map(|class| class.name);
        class.ok_or_else(|| D::Error::custom(format!("`{name}` is no class of differences")))
    };
    names.iter().map(class).collect()
}

/// An entry of `errors` or of `mistakes`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Problem {
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
    mistakes: Vec<Problem>,
}

impl From<Problem> for Diagnostic {
    fn from(Problem { file, line, column, message, hint }: Problem) -> Self {
        let place = file.map(|file| Place { file: file.into(), line, column });
        Self { hint, place, ..Self::general(message) }
    }
}

/// Reads the `errors` of a run.
pub(super) fn errors<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Diagnostic>, D::Error> {
    Ok(Vec::<Problem>::deserialize(deserializer)?.into_iter().map(Diagnostic::from).collect())
}

/// Reads the `error` of an object.
pub(super) fn error<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Diagnostic>, D::Error> {
    let ObjectError { reason, message, hint, file, line, column, mistakes } = ObjectError::deserialize(deserializer)?;
    let code = Code::ALL.iter().copied().find(|code| code.as_str() == reason);
    let code = code.ok_or_else(|| D::Error::custom(format!("`{reason}` is no reason of an error")))?;
    let details = mistakes.into_iter().map(Diagnostic::from).collect();
    let whole = Diagnostic::from(Problem { file, line, column, message, hint });
    Ok(Some(Diagnostic { code, ..whole }.with_details(details)))
}

#[cfg(test)]
#[path = "tests/parsed.rs"]
mod tests;
