//! `config view`: the configuration in force, as a configuration.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use super::written::{WrittenConfiguration, WrittenRule};
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
struct Located {
    #[serde(flatten)]
    configuration: WrittenConfiguration,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expired: Vec<WrittenRule>,
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
        let rules = self.rules(false).map(WrittenRule::of).collect();
        let configuration = WrittenConfiguration::of(self.configuration, rules);
        text + &yaml_in_order(&configuration)
    }

    /// The configuration as JSON, with the file, and the location of each rule.
    pub fn json(&self) -> String {
        let placed = |rule: &IgnoreRule| WrittenRule::of(rule).at(&rule.location);
        let source = self.configuration.source.as_ref();
        let located = Located {
            configuration: WrittenConfiguration::of(self.configuration, self.rules(false).map(placed).collect()),
            file: source.map(|source| source.file.to_string()),
            origin: source.map(|source| how(source.origin)),
            expired: self.rules(true).map(placed).collect(),
        };
        document(&located)
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
