//! The readiness of live objects by rules of the configuration, which see no secret values.

use kstatus::{Readiness, ReadinessState};
use serde_json::Value;

use super::Secrecy;
use super::redact::{Redactor, holds_redacted, withheld};
use crate::rules::ReadinessRule;

/// The readiness of a live object by a rule. Its expressions see no secret values: a proposed rule could tell them bit by bit. The message
/// says so while the object is not ready, as a rule that needs such a value waits for ever.
pub fn readiness_by(rule: &ReadinessRule, secrecy: &Secrecy<'_>, object: &Value) -> Readiness {
    let seen = visible(secrecy, object);
    let mut readiness = rule.readiness(&seen);
    if readiness.state == ReadinessState::InProgress && holds_redacted(&seen) {
        readiness.message.push_str(" (readiness rules do not see secret values)");
    }
    readiness
}

/// The parts of a condition that are words of its controller, and no values.
const OF_CONDITION: [&str; 5] = ["lastTransitionTime", "observedGeneration", "reason", "status", "type"];

/// A live object as readiness rules see it: without its secret values. Of a status that may repeat them, the conditions stay, without
/// their messages, and the generation that its controller has seen.
fn visible(secrecy: &Secrecy<'_>, object: &Value) -> Value {
    let mut seen = withheld(secrecy, object, &Redactor::default());
    let Some(Value::Object(status)) = seen.get_mut("status").filter(|status| holds_redacted(status)) else {
        return seen;
    };
    if let Some(generation) = object.pointer("/status/observedGeneration").filter(|generation| generation.is_number()) {
        status.insert("observedGeneration".to_owned(), generation.clone());
    }
    if let Some(conditions) = object.pointer("/status/conditions").and_then(Value::as_array) {
        let part = |condition: &Value, name: &str| Some((name.to_owned(), condition.get(name)?.clone()));
        let open =
            |condition: &Value| -> Value { OF_CONDITION.iter().filter_map(|name| part(condition, name)).collect() };
        status.insert("conditions".to_owned(), conditions.iter().map(open).collect());
    }
    seen
}

#[cfg(test)]
mod tests {
    use bounded_cel::Condition;
    use serde_json::json;
    use structured_merge::{GroupVersionKind, LAST_APPLIED};

    use super::*;
    use crate::rules::ObjectPattern;

    fn rule(current: &str) -> ReadinessRule {
        let current = Condition::parse(current).unwrap();
        ReadinessRule { target: ObjectPattern::default(), current, in_progress: None, failed: None }
    }

    #[test]
    fn rules_see_no_value_of_a_secret() {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"password": "aHVudGVyMg=="},
            "metadata": {
                "name": "db", "labels": {"tier": "db"},
                "annotations": {"example.com/note": "uses hunter2", LAST_APPLIED: "{\"stringData\":{\"password\":\"hunter2\"}}"},
            },
        });
        let gvk = GroupVersionKind::new("v1", "Secret");
        let said = |current: &str| readiness_by(&rule(current), &Secrecy::of(&gvk, None, Some(&secret)), &secret);
        let says = |current: &str| (said(current).state, said(current).message);
        for guess in [
            "data.password.startsWith('%')",
            "data.password == '%'",
            "string(data.password).startsWith('%')",
            "metadata.annotations.exists(name, metadata.annotations[name].contains('%'))",
        ] {
            let [right, wrong] = ["aHVu", "bHVu"].map(|text| guess.replace('%', text));
            assert_eq!(says(&right), says(&wrong), "{guess}");
            let [right, wrong] = ["aHVudGVyMg==", "bHVudGVyMg=="].map(|text| guess.replace('%', text));
            assert_eq!(says(&right), says(&wrong), "{guess}");
            let [right, wrong] = ["hunter2", "bunter2"].map(|text| guess.replace('%', text));
            assert_eq!(says(&right), says(&wrong), "{guess}");
        }
        for quoting in
            ["{'': true}[data.password]", "data.password", "data[data.password] == ''", "int(data.password) == 1"]
        {
            let message = said(quoting).message;
            assert!(!message.contains("aHVu") && !message.contains("hunter2"), "{message}");
            assert!(message.ends_with(" (readiness rules do not see secret values)"), "{message}");
        }
        for open in [
            "has(data.password) && !has(data.user)",
            "type == 'Opaque' && metadata.labels.tier == 'db'",
            "size(data) == 1",
        ] {
            assert_eq!(said(open).state, ReadinessState::Current, "{open}: {}", said(open).message);
        }
    }

    #[test]
    fn of_an_encrypted_object_rules_see_the_conditions() {
        let object = json!({
            "metadata": {"name": "it", "labels": {"pin": "hunter2"}, "generation": 3},
            "spec": {"pin": "hunter2", "list": [{"name": "hunter2"}]},
            "status": {
                "observedGeneration": 3, "pin": "hunter2",
                "conditions": [{"type": "Ready", "status": "True", "reason": "Done", "message": "hunter2 is set"}],
            },
        });
        let gvk = GroupVersionKind::new("example.com/v1", "Widget");
        let state = |current: &str| {
            let secrecy = Secrecy::of(&gvk, None, Some(&object)).of_encrypted(true);
            readiness_by(&rule(current), &secrecy, &object).state
        };
        let ready = "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True' && c.reason == 'Done')";
        assert_eq!(state(ready), ReadinessState::Current);
        assert_eq!(state("status.observedGeneration == metadata.generation"), ReadinessState::Current);
        for hidden in [
            "spec.pin == 'hunter2'",
            "metadata.labels.pin == 'hunter2'",
            "spec.list.exists(e, e.name == 'hunter2')",
            "status.pin == 'hunter2'",
            "status.conditions.exists(c, c.message.contains('hunter2'))",
        ] {
            assert_eq!(state(hidden), ReadinessState::InProgress, "{hidden}");
        }
    }
}
