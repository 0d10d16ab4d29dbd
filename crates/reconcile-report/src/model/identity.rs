//! The identity of a run: the program that made its report, its command, and the time at which it began; and the keys of its
//! objects, as a report names them.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use reconcile_core::text::listed;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use structured_merge::{GroupVersionKind, ObjectKey};

/// The program that made a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolInfo {
    /// Always `kubectl-reconcile`, unless another program wrote the report.
    pub name: Cow<'static, str>,
    /// Its version.
    pub version: Cow<'static, str>,
}

impl ToolInfo {
    /// This program.
    pub const fn own() -> Self {
        Self { name: Cow::Borrowed("kubectl-reconcile"), version: Cow::Borrowed(env!("CARGO_PKG_VERSION")) }
    }
}

/// The time at which a run began: RFC 3339, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StartTime(Timestamp);

impl StartTime {
    /// A time, without the parts of its second.
    pub fn of(time: Timestamp) -> Self {
        Self(Timestamp::from_second(time.as_second()).unwrap_or(time))
    }

    /// A time in seconds since 1970, as `SOURCE_DATE_EPOCH` has it; `None` if it is no such number, or after the year 9999.
    pub fn of_epoch(seconds: &str) -> Option<Self> {
        let seconds: u64 = seconds.parse().ok()?;
        Timestamp::from_second(i64::try_from(seconds).ok()?).ok().map(Self)
    }
}

/// `2026-11-23T21:00:00Z`
impl std::fmt::Display for StartTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for StartTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for StartTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self::of).map_err(|_| D::Error::custom("the time of a run is not a time of RFC 3339"))
    }
}

impl JsonSchema for StartTime {
    fn schema_name() -> Cow<'static, str> {
        "StartTime".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

/// The command that a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Command {
    /// Reports the differences, and the changes that an apply would make.
    Diff,
    /// Applies the manifests, and reports the outcomes.
    Apply,
    /// Reports the readiness of the objects.
    Status,
    /// Gives fields to a manager without changing a value.
    Own,
}

/// The key of an object.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyFields {
    /// As in the manifest.
    pub(crate) api_version: String,
    /// As in the manifest.
    pub(crate) kind: String,
    /// Absent for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    /// Its name.
    pub(crate) name: String,
}

impl From<&ObjectKey> for KeyFields {
    fn from(ObjectKey { gvk, namespace, name }: &ObjectKey) -> Self {
        let api_version = gvk.api_version();
        let kind = gvk.kind.clone();
        Self { api_version, kind, namespace: namespace.clone(), name: name.clone() }
    }
}

/// Writes a key as its fields.
pub(crate) fn as_fields<S: Serializer>(key: &ObjectKey, serializer: S) -> Result<S::Ok, S::Error> {
    KeyFields::from(key).serialize(serializer)
}

/// Puts together the key of an object, which the JSON of a report holds in fields.
pub(crate) fn key(api_version: &str, kind: &str, namespace: Option<String>, name: String) -> ObjectKey {
    ObjectKey { gvk: GroupVersionKind::new(api_version, kind), namespace, name }
}

/// The configuration of a run: named in every report, so that a change that hides drift with a rule is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfigurationInfo {
    /// The file; absent if only manifests name fields to ignore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Number of ignore rules of the file that are in force.
    pub rules: usize,
    /// Number of readiness rules of the file.
    #[serde(default)]
    pub readiness_rules: usize,
    /// Number of manifests that name fields to ignore in an annotation.
    pub annotated: usize,
    /// With `--shard`: the ignore rules that match nothing in this shard, if all of it was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmatched: Option<Vec<String>>,
}

impl ConfigurationInfo {
    /// Returns true if it has a rule, so that a difference or an object that is not ready may be missing from the report.
    pub fn has_rules(&self) -> bool {
        let Self { file: _, rules, readiness_rules, annotated, unmatched: _ } = self;
        [rules, readiness_rules, annotated].into_iter().any(|count| *count > 0)
    }

    /// The warning about ignore rules, given by their locations, that match nothing at all.
    pub fn unmatched_warning(places: &[String]) -> Option<String> {
        let count = match places.len() {
            0 => return None,
            1 => "an ignore rule matches".to_owned(),
            more => format!("{more} ignore rules match"),
        };
        let places = listed(places.iter().map(String::as_str), 5);
        Some(format!("{count} no field of the manifests or their live objects: {places}"))
    }
}

/// `2 ignore rules and 1 readiness rule of .kubectl-reconcile.yaml in force, 1 manifest with an ignore annotation`
impl fmt::Display for ConfigurationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let annotated = |f: &mut fmt::Formatter<'_>| {
            write!(f, "{} manifest{} with an ignore annotation", self.annotated, plural(self.annotated))
        };
        let Some(file) = &self.file else { return annotated(f) };
        let counts = [(self.rules, "ignore rule"), (self.readiness_rules, "readiness rule")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, noun)| format!("{count} {noun}{}", plural(*count))).collect();
        match counts.as_slice() {
            [] => write!(f, "configured by {file}, without ignore rules")?,
            rules => write!(f, "{} of {file} in force", rules.join(" and "))?,
        }
        if self.annotated > 0 {
            f.write_str(", ")?;
            annotated(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_reported_to_the_second() {
        let time = StartTime::of("2026-11-23T21:00:00.75Z".parse().unwrap());
        assert_eq!(serde_json::to_value(time).unwrap(), "2026-11-23T21:00:00Z");
        let read: StartTime = serde_json::from_value("2026-11-23T22:00:00+01:00".into()).unwrap();
        assert_eq!(read, time);
        for wrong in ["", "yesterday", "2026-11-23", "\u{1b}[2J"] {
            assert!(serde_json::from_value::<StartTime>(wrong.into()).is_err(), "{wrong:?}");
        }
    }

    /// The format: <https://reproducible-builds.org/specs/source-date-epoch/>.
    #[test]
    fn an_epoch_is_a_number_of_seconds() {
        assert_eq!(StartTime::of_epoch("1700000000").unwrap().to_string(), "2023-11-14T22:13:20Z");
        assert_eq!(StartTime::of_epoch("0").unwrap().to_string(), "1970-01-01T00:00:00Z");
        for wrong in ["", " ", "-1", "1.5", "now", "99999999999999999999", "9223372036854775807"] {
            assert_eq!(StartTime::of_epoch(wrong), None, "{wrong}");
        }
    }
}
