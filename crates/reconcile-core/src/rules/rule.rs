use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde_json::Value;
use structured_merge::ObjectKey;

use super::glob::Glob;
use super::pattern::FieldPattern;
use crate::diagnostic::{Diagnostic, Location};
use crate::object::Selector;

/// Most rules of one configuration.
pub const MAX_RULES: usize = 500;
/// Most fields and most managers of one rule, and most fields of one annotation.
pub const MAX_FIELDS: usize = 50;

/// A rule that ignores fields of some objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreRule {
    /// The objects.
    pub target: ObjectPattern,
    /// The fields; if empty, all fields that the managers own.
    pub fields: Vec<FieldPattern>,
    /// The managers that must own the fields; if empty, the owner does not matter.
    pub managers: Vec<Glob>,
    /// The reason that users give.
    pub reason: Option<String>,
    /// The last day of the rule, in UTC.
    pub expires: Option<Date>,
    /// The location in the input.
    pub location: Location,
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
    rules: Vec<IgnoreRule>,
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

    /// Returns true if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// The rules; the numbers of [`super::RuleRef::Configured`] are their positions.
    pub fn iter(&self) -> impl Iterator<Item = &IgnoreRule> {
        self.rules.iter()
    }

    /// The rule at a position.
    pub fn get(&self, index: usize) -> Option<&IgnoreRule> {
        self.rules.get(index)
    }
}

/// The objects that a rule is for. A criterion that is left out matches every object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectPattern {
    /// API group; the empty glob is the core group alone.
    pub group: Option<Glob>,
    /// Kind.
    pub kind: Option<Glob>,
    /// Namespace; matches no cluster-scoped object.
    pub namespace: Option<Glob>,
    /// Name.
    pub name: Option<Glob>,
    /// Labels.
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
        assert_eq!(at("2027-01-31T23:59:59Z").0.len(), 1);
        let (rules, warnings) = at("2027-02-01T00:00:00Z");
        assert!(rules.is_empty());
        assert_eq!(
            warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["c.yaml:7:3: this ignore rule expired on 2027-01-31 and is no longer applied"]
        );
    }
}
