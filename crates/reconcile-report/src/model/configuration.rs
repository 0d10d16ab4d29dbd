use std::fmt;

use reconcile_core::text::listed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
