//! Reads a report that was written as JSON. It is read like any other input, and nothing in it is guessed.

use std::fmt;

use reconcile_core::exact;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, IntoDeserializer as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::model::report::{Fixed, api_version};
use crate::model::{Report, Verdict};
use reconcile_core::bounded_value::begin_document;

/// The reports of a file.
#[derive(Debug)]
pub enum Parsed {
    /// The report of one cluster.
    One(Box<Report>),
    /// The reports of several contexts.
    Several(ParsedContexts),
}

/// The reports of several contexts, with the result that their document has. Its counts are computed again.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParsedContexts {
    #[serde(rename = "apiVersion", deserialize_with = "api_version")]
    _api_version: Fixed,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    #[serde(rename = "tool", default)]
    _tool: IgnoredAny,
    #[serde(rename = "time", default)]
    _time: IgnoredAny,
    #[serde(rename = "command")]
    _command: IgnoredAny,
    #[serde(rename = "summary")]
    _summary: IgnoredAny,
    #[serde(rename = "warnings", default)]
    _warnings: IgnoredAny,
    /// The worst result of all contexts.
    pub verdict: Verdict,
    /// Its exit code.
    pub exit_code: u8,
    /// The report of each context.
    pub contexts: Vec<ParsedContext>,
}

/// The report of one of several contexts.
#[derive(Debug)]
pub struct ParsedContext {
    /// The context.
    pub context: String,
    /// The URL of its server, if it is known.
    pub server: Option<String>,
    /// The report.
    pub report: Report,
}

/// Reads the reports in a text: one, or those of several contexts. The error has its position.
pub fn parsed(text: &[u8]) -> Result<Parsed, serde_json::Error> {
    begin_document();
    // Any other kind is an error of the report.
    if exact::from_slice(text).is_ok_and(|Kind { kind }: Kind| kind == "Reports") {
        return exact::from_slice(text).map(Parsed::Several);
    }
    exact::from_slice(text).map(|report| Parsed::One(Box::new(report)))
}

/// The field that distinguishes the kinds of documents.
#[derive(Deserialize)]
struct Kind {
    kind: String,
}

/// Reads the fields of a report, and the name of its context among them, without a copy of them all.
impl<'de> Deserialize<'de> for ParsedContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ContextVisitor)
    }
}

struct ContextVisitor;

impl<'de> Visitor<'de> for ContextVisitor {
    type Value = ParsedContext;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the report of a context")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<ParsedContext, M::Error> {
        let mut fields = ReportFields { map, context: None, server: None };
        let report = Report::deserialize(MapAccessDeserializer::new(&mut fields))?;
        let context = fields.context.ok_or_else(|| M::Error::missing_field("context"))?;
        Ok(ParsedContext { context, server: fields.server, report })
    }
}

/// The fields of a report, without those that name its context, which are kept apart.
struct ReportFields<M> {
    map: M,
    context: Option<String>,
    server: Option<String>,
}

impl<'de, M: MapAccess<'de>> MapAccess<'de> for ReportFields<M> {
    type Error = M::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, M::Error> {
        while let Some(name) = self.map.next_key::<String>()? {
            let (field, place) = match name.as_str() {
                "context" => ("context", &mut self.context),
                "server" => ("server", &mut self.server),
                _ => return seed.deserialize(name.into_deserializer()).map(Some),
            };
            if place.replace(self.map.next_value()?).is_some() {
                return Err(M::Error::duplicate_field(field));
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, M::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests;
