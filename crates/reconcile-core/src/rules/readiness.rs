//! Readiness rules: conditions for the readiness of some kinds, in the form of Flux's `healthCheckExprs`.

use std::sync::Arc;

use bounded_cel::{Condition, MAX_LENGTH};
use kstatus::Readiness;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use structured_merge::ObjectKey;

use super::rule::ObjectPattern;

/// Most readiness rules of one configuration.
pub const MAX_READINESS_RULES: usize = 100;

/// A readiness rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadinessRule {
    /// The objects of the rule, which have a kind.
    pub target: ObjectPattern,
    /// True for an object that is ready.
    #[schemars(with = "String", length(min = 1, max = MAX_LENGTH))]
    pub current: Condition,
    /// True for an object in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(min = 1, max = MAX_LENGTH))]
    pub in_progress: Option<Condition>,
    /// True for an object that has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", length(min = 1, max = MAX_LENGTH))]
    pub failed: Option<Condition>,
}

impl ReadinessRule {
    /// Evaluates the readiness of an object. The first expression that is true counts, in the order of Flux: `inProgress`, `failed`,
    /// `current`. If one can be neither true nor false, the next ones are not evaluated, and the object is in progress: its controller
    /// may not have written the fields yet. The object has no secret values: an error would quote them, and a condition tells them bit by
    /// bit.
    pub(crate) fn readiness(&self, object: &Value) -> Readiness {
        type Meaning = fn(String) -> Readiness;
        let expressions: [(&str, Option<&Condition>, Meaning); 3] = [
            ("inProgress", self.in_progress.as_ref(), Readiness::in_progress),
            // A controller that has failed may still succeed.
            ("failed", self.failed.as_ref(), Readiness::failing),
            ("current", Some(&self.current), Readiness::current),
        ];
        for (name, expression, meaning) in expressions {
            match expression.map_or(Ok(false), |expression| expression.holds(object)) {
                Ok(true) => return meaning(format!("`{name}` of its readiness rule is true")),
                Ok(false) => {}
                Err(error) => {
                    let message = format!("`{name}` of its readiness rule cannot be evaluated: {error}");
                    return Readiness::in_progress(message);
                }
            }
        }
        Readiness::in_progress("`current` of its readiness rule is not true yet")
    }
}

/// The rules of a configuration, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadinessRules {
    /// The rules.
    pub rules: Vec<Arc<ReadinessRule>>,
}

impl ReadinessRules {
    /// The first rule for an object.
    pub fn of(&self, key: &ObjectKey, manifest: &Value) -> Option<Arc<ReadinessRule>> {
        self.rules.iter().find(|rule| rule.target.matches(key, Some(manifest))).cloned()
    }
}

impl From<Vec<ReadinessRule>> for ReadinessRules {
    fn from(rules: Vec<ReadinessRule>) -> Self {
        Self { rules: rules.into_iter().map(Arc::new).collect() }
    }
}

#[cfg(test)]
mod tests {
    use kstatus::ReadinessState;
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;
    use crate::rules::Glob;

    fn rule(in_progress: &str, failed: &str, current: &str) -> ReadinessRule {
        let condition = |text: &str| (!text.is_empty()).then(|| Condition::parse(text).unwrap());
        let in_progress = condition(in_progress);
        let failed = condition(failed);
        ReadinessRule { target: ObjectPattern::default(), current: condition(current).unwrap(), in_progress, failed }
    }

    #[track_caller]
    fn is(rule: &ReadinessRule, object: &Value, state: ReadinessState, message: &str) {
        let readiness = rule.readiness(object);
        assert_eq!((readiness.state, readiness.message.as_str()), (state, message));
    }

    #[test]
    fn the_first_that_is_true_holds_in_the_order_of_flux() {
        let all = rule("data.inProgress", "data.failed", "data.current");
        let object = |in_progress: bool, failed: bool, current: bool| json!({"data": {"inProgress": in_progress, "failed": failed, "current": current}});
        is(&all, &object(true, true, true), ReadinessState::InProgress, "`inProgress` of its readiness rule is true");
        is(&all, &object(false, true, true), ReadinessState::Failed, "`failed` of its readiness rule is true");
        is(&all, &object(false, false, true), ReadinessState::Current, "`current` of its readiness rule is true");
        is(
            &all,
            &object(false, false, false),
            ReadinessState::InProgress,
            "`current` of its readiness rule is not true yet",
        );
        is(&rule("", "", "true"), &json!({}), ReadinessState::Current, "`current` of its readiness rule is true");
    }

    #[test]
    fn what_cannot_be_evaluated_is_not_ready_yet_whatever_comes_after_it() {
        let all = rule("data.inProgress", "data.failed", "data.current");
        let cannot = |name: &str, why: &str| format!("`{name}` of its readiness rule cannot be evaluated: {why}");
        for (object, name, why) in [
            (json!({}), "inProgress", "there is no `data`"),
            (json!({"data": {"failed": true, "current": true}}), "inProgress", "there is no `inProgress`"),
            (json!({"data": {"inProgress": false, "current": true}}), "failed", "there is no `failed`"),
            (json!({"data": {"inProgress": false, "failed": "hunter2"}}), "failed", "it is neither true nor false"),
            (json!({"data": {"inProgress": false, "failed": false}}), "current", "there is no `current`"),
        ] {
            is(&all, &object, ReadinessState::InProgress, &cannot(name, why));
        }
        // Without any condition, `all` is true: also in Flux.
        let ready =
            |status: &str| format!("status.conditions.filter(e, e.type == 'Ready').all(e, e.status == '{status}')");
        let empty = rule("", &ready("False"), &ready("True"));
        is(
            &empty,
            &json!({"status": {"conditions": []}}),
            ReadinessState::Failed,
            "`failed` of its readiness rule is true",
        );
    }

    #[test]
    fn the_first_rule_for_an_object_counts() {
        let of_kind = |kind: &str, current: &str| {
            let target = ObjectPattern { kind: Some(Glob::new(kind)), ..ObjectPattern::default() };
            ReadinessRule { target, ..rule("", "", current) }
        };
        let rules: ReadinessRules =
            vec![of_kind("Database", "false"), of_kind("Data*", "true"), of_kind("Cache", "true")].into();
        let current = |kind: &str| {
            let gvk = GroupVersionKind::new("example.com/v1", kind);
            let key = ObjectKey { gvk, namespace: None, name: "it".to_owned() };
            rules.of(&key, &json!({})).map(|rule| rule.current.text().to_owned())
        };
        assert_eq!(current("Database").as_deref(), Some("false"));
        assert_eq!(current("Dataset").as_deref(), Some("true"));
        assert_eq!(current("Widget"), None);
    }
}
