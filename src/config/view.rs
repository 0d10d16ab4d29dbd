//! `config view`: the configuration in force, as a configuration.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use super::written::WrittenConfiguration;
use super::{ConfigOrigin, Configuration};
use reconcile_core::rules::IgnoreRule;
use reconcile_core::text::{visible, yaml_in_order};
use reconcile_report::formats::json::document;

/// A configuration, and the time at which it is looked at.
pub(crate) struct View<'a> {
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The current time: expired rules are not in force.
    pub now: Timestamp,
}

/// The configuration and where it comes from.
#[derive(Serialize)]
struct LocatedConfiguration<'a> {
    #[serde(flatten)]
    configuration: WrittenConfiguration<'a, LocatedRule<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expired: Vec<LocatedRule<'a>>,
}

/// A rule and where it comes from.
#[derive(Serialize)]
struct LocatedRule<'a> {
    #[serde(flatten)]
    rule: &'a IgnoreRule,
    place: String,
}

impl View<'_> {
    /// The configuration as YAML, which begins with a comment that says where it comes from.
    pub fn yaml(&self) -> String {
        let mut text = match &self.configuration.source {
            None => "# No configuration file is in force.\n".to_owned(),
            Some(source) => format!("# {}, {}\n", visible(&source.file), how(source.origin)),
        };
        for rule in self.rules(true) {
            let expires = rule.expires.map(|date| date.to_string()).unwrap_or_default();
            let location = rule.location.to_string();
            let _ =
                writeln!(text, "# The ignore rule at {} expired on {expires} and is not in force.", visible(&location));
        }
        text + &yaml_in_order(&WrittenConfiguration::of(self.configuration, self.rules(false).collect()))
    }

    /// The configuration as JSON, with the file, and the location of each rule.
    pub fn json(&self) -> String {
        let source = self.configuration.source.as_ref();
        document(&LocatedConfiguration {
            configuration: WrittenConfiguration::of(self.configuration, self.located_rules(false)),
            file: source.map(|source| &*source.file),
            origin: source.map(|source| how(source.origin)),
            expired: self.located_rules(true),
        })
    }

    fn located_rules(&self, expired: bool) -> Vec<LocatedRule<'_>> {
        self.rules(expired).map(|rule| LocatedRule { rule, place: rule.location.to_string() }).collect()
    }

    fn rules(&self, expired: bool) -> impl Iterator<Item = &IgnoreRule> {
        self.configuration.ignore.iter().filter(move |rule| rule.is_expired(self.now) == expired)
    }
}

fn how(origin: ConfigOrigin) -> &'static str {
    match origin {
        ConfigOrigin::Named => "named by `--config`",
        ConfigOrigin::NextToManifests => "found next to the manifests",
        ConfigOrigin::AboveManifests => "found above the manifests in their repository",
        ConfigOrigin::WorkingDirectory => "found from the working directory",
    }
}
