//! Reads a report that was written as JSON. It is checked like any other input, and nothing in it is guessed.

use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use serde_json::Value;

use crate::Report;
use crate::model::report::{Fixed, api_version};

/// A report of a file.
#[derive(Debug)]
pub struct Parsed {
    /// Its context, in a report of several contexts.
    pub context: Option<String>,
    /// The URL of the server of its context, if it is known.
    pub server: Option<String>,
    /// The report.
    pub report: Report,
}

/// Reads the reports in a text: one, or those of several contexts. The error has its position.
pub fn parsed(text: &[u8]) -> Result<Vec<Parsed>, serde_json::Error> {
    let Kind { kind } = serde_json::from_slice(text)?;
    if kind.as_str() != Some("Reports") {
        let report = serde_json::from_slice::<Report>(text)?.checked()?;
        return Ok(vec![Parsed { context: None, server: None, report }]);
    }
    let Several { contexts, .. } = serde_json::from_slice(text)?;
    contexts.into_iter().map(one_of_several).collect()
}

/// The fields that distinguish the kinds of documents.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    kind: Value,
}

/// The reports of several contexts. Their counts are computed again.
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
    /// The same; an error if it contradicts itself.
    fn checked(self) -> Result<Self, serde_json::Error> {
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

#[cfg(test)]
mod tests;
