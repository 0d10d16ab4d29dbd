use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;
use structured_merge::ObjectKey;

use super::glob::{Glob, MAX_NAME, NAME_PATTERN};
use super::pattern::{FieldPattern, MAX_PATTERN};
use crate::diagnostic::{Diagnostic, Location};
use crate::object::Selector;
use crate::owners::MAX_MANAGER;

/// Most rules of one configuration.
pub const MAX_RULES: usize = 500;
/// Most fields and most managers of one rule, and most fields of one annotation.
pub const MAX_FIELDS: usize = 50;
/// Longest reason of a rule, in bytes.
pub const MAX_REASON: usize = 1000;

/// An ignore rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoreRule {
    /// The objects of the rule.
    #[schemars(with = "Option<ObjectPattern>")]
    pub target: ObjectPattern,
    /// The fields; if empty, all fields that the managers own.
    #[serde(flatten, serialize_with = "spelled")]
    #[schemars(with = "Spellings")]
    pub fields: Vec<FieldPattern>,
    /// Only fields that one of these field managers owns, with `*` for any characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>", length(min = 1, max = MAX_FIELDS), inner(length(min = 1, max = MAX_MANAGER)))]
    pub managers: Vec<Glob>,
    /// The reason why the differences are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_REASON))]
    pub reason: Option<String>,
    /// The last day of the rule, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub expires: Option<Date>,
    /// The location in the input.
    #[serde(skip)]
    pub location: Location,
}

/// The fields of a rule in the spellings in which they were read.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Spellings {
    /// Paths as reports print them, such as `spec.containers[name=app].image` or `metadata.annotations[*]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_FIELDS), inner(length(min = 1, max = MAX_PATTERN), regex(pattern = "^[^/.]")))]
    fields: Option<Vec<String>>,
    /// Fields as JSON pointers: `jsonPointers` in Argo CD, `paths` in Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_FIELDS), inner(length(min = 1, max = MAX_PATTERN), regex(pattern = "^/")))]
    json_pointers: Option<Vec<String>>,
    /// Fields as plain paths of jq, as in Argo CD.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_FIELDS), inner(length(min = 1, max = MAX_PATTERN), regex(pattern = r"^\.")))]
    jq_path_expressions: Option<Vec<String>>,
}

fn spelled<S: Serializer>(fields: &[FieldPattern], serializer: S) -> Result<S::Ok, S::Error> {
    let those = |is_it: fn(&str) -> bool| {
        let texts: Vec<String> = fields.iter().map(ToString::to_string).filter(|text| is_it(text)).collect();
        (!texts.is_empty()).then_some(texts)
    };
    let spellings = Spellings {
        fields: those(|text| !text.starts_with(['/', '.'])),
        json_pointers: those(|text| text.starts_with('/')),
        jq_path_expressions: those(|text| text.starts_with('.')),
    };
    spellings.serialize(serializer)
}

impl IgnoreRule {
    /// Returns true if its last day has passed.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|last| Offset::UTC.to_datetime(now).date() > last)
    }
}

/// The rules in force, in the order of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoreRules {
    /// The rules; the numbers of [`super::RuleRef::Configured`] are their positions.
    pub rules: Vec<IgnoreRule>,
}

impl IgnoreRules {
    /// The rules that are in force now, and a warning for each expired one.
    pub fn in_force(rules: Vec<IgnoreRule>, now: Timestamp) -> (Self, Vec<Diagnostic>) {
        let (expired, rules): (Vec<_>, Vec<_>) = rules.into_iter().partition(|rule| rule.is_expired(now));
        let warnings = expired.iter().filter_map(|rule| {
            let message = format!("this ignore rule expired on {} and is no longer applied", rule.expires?);
            let warning = Diagnostic { location: Some(rule.location.clone()), ..Diagnostic::general(message) };
            Some(warning.with_hint("remove the rule, or extend `expires`").as_warning())
        });
        let warnings = warnings.collect();
        (Self { rules }, warnings)
    }

    /// These rules, followed by others.
    pub fn followed_by(&self, others: impl IntoIterator<Item = IgnoreRule>) -> Self {
        Self { rules: self.rules.iter().cloned().chain(others).collect() }
    }
}

/// The objects of a rule; a key that is left out matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectPattern {
    /// API group, with `*` for any characters; empty for the core group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = MAX_NAME), regex(pattern = NAME_PATTERN))]
    pub group: Option<Glob>,
    /// Kind, with `*` for any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = MAX_NAME), regex(pattern = NAME_PATTERN))]
    pub kind: Option<Glob>,
    /// Namespace, with `*` for any characters.
    // It matches no cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = MAX_NAME), regex(pattern = NAME_PATTERN))]
    pub namespace: Option<Glob>,
    /// Name, with `*` for any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(max = MAX_NAME), regex(pattern = NAME_PATTERN))]
    pub name: Option<Glob>,
    /// Labels of the manifest, such as `app=web,tier!=test`.
    #[serde(rename = "labelSelector", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(min = 1))]
    pub labels: Option<Selector>,
}

impl ObjectPattern {
    /// Returns true if the rule is for the object. Its labels are those of the manifest: anybody may label the live object, and must
    /// not be able to hide it that way.
    pub fn matches(&self, key: &ObjectKey, manifest: Option<&Value>) -> bool {
        let fits = |glob: &Option<Glob>, text: &str| glob.as_ref().is_none_or(|glob| glob.matches(text));
        fits(&self.group, &key.gvk.group)
            && fits(&self.kind, &key.gvk.kind)
            && fits(&self.name, &key.name)
            && self.namespace.as_ref().is_none_or(|glob| key.namespace.as_ref().is_some_and(|name| glob.matches(name)))
            && self.labels.as_ref().is_none_or(|labels| labels.matches(manifest.unwrap_or(&Value::Null)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_holds_until_the_end_of_its_last_day_in_utc() {
        let location = Location { file: "c.yaml".into(), line: Some(7), column: Some(3) };
        let rule = IgnoreRule {
            target: ObjectPattern::default(),
            fields: Vec::new(),
            managers: Vec::new(),
            reason: None,
            expires: Some(jiff::civil::date(2027, 1, 31)),
            location,
        };
        let at = |time: &str| IgnoreRules::in_force(vec![rule.clone()], time.parse().unwrap());
        assert_eq!(at("2027-01-31T23:59:59Z").0.rules.len(), 1);
        let (rules, warnings) = at("2027-02-01T00:00:00Z");
        assert!(rules.rules.is_empty());
        assert_eq!(
            warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["c.yaml:7:3: this ignore rule expired on 2027-01-31 and is no longer applied"]
        );
    }
}
