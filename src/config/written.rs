//! A configuration as it is written: its keys in the order in which people read them.

use std::collections::BTreeMap;

use bounded_cel::Condition;
use serde::Serialize;
use serde_json::Value;

use super::{API_VERSION, Configuration, KIND};
use crate::diagnostic::Place;
use crate::rules::{Glob, IgnoreRule, ObjectPattern, ReadinessRule};

/// A whole configuration.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WrittenConfiguration {
    api_version: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    manual_managers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignore: Vec<WrittenRule>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    readiness: Vec<WrittenReadiness>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    defaults: BTreeMap<String, Value>,
}

/// An ignore rule.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WrittenRule {
    target: WrittenTarget,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    json_pointers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    jq_path_expressions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    managers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenTarget {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_selector: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenReadiness {
    target: WrittenTarget,
    current: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_progress: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

impl WrittenConfiguration {
    /// A configuration with some of its rules, or with others.
    pub fn of(configuration: &Configuration, ignore: Vec<WrittenRule>) -> Self {
        let defaults = configuration.defaults.iter().map(|default| (default.flag.clone(), default.value.clone()));
        Self {
            api_version: API_VERSION,
            kind: KIND,
            manual_managers: configuration.manual_managers.iter().cloned().collect(),
            ignore,
            readiness: configuration.readiness.iter().map(WrittenReadiness::of).collect(),
            defaults: defaults.collect(),
        }
    }
}

impl WrittenRule {
    /// A rule with its fields in the spelling in which they were written.
    pub fn of(rule: &IgnoreRule) -> Self {
        let spelled = |is_it: fn(&str) -> bool| -> Vec<String> {
            rule.fields.iter().map(ToString::to_string).filter(|text| is_it(text)).collect()
        };
        Self {
            target: WrittenTarget::of(&rule.target),
            fields: spelled(|text| !text.starts_with(['/', '.'])),
            json_pointers: spelled(|text| text.starts_with('/')),
            jq_path_expressions: spelled(|text| text.starts_with('.')),
            managers: rule.managers.iter().map(ToString::to_string).collect(),
            reason: rule.reason.clone(),
            expires: rule.expires.map(|date| date.to_string()),
            place: None,
        }
    }

    /// The same, with its place.
    pub fn at(self, place: &Place) -> Self {
        Self { place: Some(place.to_string()), ..self }
    }
}

impl WrittenTarget {
    fn of(target: &ObjectPattern) -> Self {
        let text = |glob: &Option<Glob>| glob.as_ref().map(ToString::to_string);
        Self {
            group: text(&target.group),
            kind: text(&target.kind),
            namespace: text(&target.namespace),
            name: text(&target.name),
            label_selector: target.labels.as_ref().map(ToString::to_string),
        }
    }
}

impl WrittenReadiness {
    fn of(rule: &ReadinessRule) -> Self {
        let text = |expression: &Option<Condition>| expression.as_ref().map(|expression| expression.text().to_owned());
        Self {
            target: WrittenTarget::of(&rule.target),
            current: rule.current.text().to_owned(),
            in_progress: text(&rule.in_progress),
            failed: text(&rule.failed),
        }
    }
}
