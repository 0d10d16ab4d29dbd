//! Every row of kstatus' table (cli-utils `pkg/kstatus/status`), and every deviation from it.

mod autoscaler;
mod kinds;
mod pods;
mod workloads;

use jiff::Timestamp;
use serde_json::{Value, json};
use structured_merge::GroupVersionKind;

use super::*;

/// The current time of all tests.
const NOW: &str = "2026-11-20T10:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// The readiness of an object without Pods.
fn readiness_of(api_version: &str, kind: &str, object: &Value) -> Readiness {
    readiness(&GroupVersionKind::new(api_version, kind), object, now())
}

/// Checks state and message.
#[track_caller]
fn is(readiness: &Readiness, state: ReadinessState, message: &str) {
    assert_eq!((readiness.state, readiness.message.as_str()), (state, message));
}

/// A condition.
fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

/// An object of a kind without a rule, with these conditions.
fn custom(conditions: &Value) -> Readiness {
    readiness_of(
        "example.com/v1",
        "Widget",
        &json!({"metadata": {"generation": 2}, "status": {"conditions": conditions}}),
    )
}

#[test]
fn what_is_being_deleted_is_terminating_whatever_else_it_says() {
    let object = |finalizers: Value| {
        json!({"metadata": {"deletionTimestamp": NOW, "finalizers": finalizers, "generation": 2},
            "status": {"observedGeneration": 1, "conditions": [condition("Stalled", "True", "", "")]}})
    };
    is(&readiness_of("v1", "ConfigMap", &object(json!([]))), ReadinessState::Terminating, "it is being deleted");
    let held = readiness_of("v1", "ConfigMap", &object(json!(["example.com/a", "b"])));
    is(&held, ReadinessState::Terminating, "it is being deleted, and waits for its finalizers `example.com/a`, `b`");
}

#[test]
fn a_namespace_that_is_being_deleted_says_what_is_left_in_it() {
    let conditions = json!([
        condition("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "fine"),
        condition("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", "a in 2 resource instances"),
    ]);
    let namespace = json!({"metadata": {"deletionTimestamp": NOW}, "status": {"conditions": conditions}});
    let message = "it is being deleted: a in 2 resource instances (SomeFinalizersRemain)";
    is(&readiness_of("v1", "Namespace", &namespace), ReadinessState::Terminating, message);
}

#[test]
fn a_generation_that_was_not_observed_is_in_progress() {
    let object = |generation: Value, observed: Value| {
        json!({"metadata": {"generation": generation}, "status": {"observedGeneration": observed,
            "conditions": [condition("Stalled", "True", "", "")]}})
    };
    let late = readiness_of("example.com/v1", "Widget", &object(json!(2), json!(1)));
    is(&late, ReadinessState::InProgress, "its controller has not seen generation 2 yet, only 1");
    for (generation, observed) in [(json!(2), json!(2)), (json!(null), json!(1)), (json!(2), json!(null))] {
        assert_eq!(
            readiness_of("example.com/v1", "Widget", &object(generation, observed)).state,
            ReadinessState::Failed
        );
    }
}

#[test]
fn the_first_of_reconciling_and_stalled_counts() {
    let reconciling = condition("Reconciling", "True", "Progressing", "it is rolled out.");
    let stalled = condition("Stalled", "True", "BadChart", "no such chart");
    is(&custom(&json!([reconciling, stalled])), ReadinessState::InProgress, "it is rolled out (Progressing)");
    let failed = custom(&json!([stalled, reconciling]));
    is(&failed, ReadinessState::Failed, "no such chart (BadChart)");
    assert_eq!(failed.outlook, Outlook::Final, "a stalled object waits for its author");
    let not = [condition("Reconciling", "False", "", ""), condition("Stalled", "Unknown", "", "")];
    assert_eq!(custom(&json!(not)).state, ReadinessState::Current);
    let mut old = condition("Stalled", "True", "BadSpec", "of the spec before");
    old["observedGeneration"] = json!(1);
    let object = json!({"metadata": {"generation": 2}, "status": {"conditions": [old]}});
    assert_eq!(readiness_of("example.com/v1", "Widget", &object).state, ReadinessState::Current);
}

#[test]
fn a_kind_without_a_rule_is_as_ready_as_its_condition_says() {
    is(
        &readiness_of("example.com/v1", "Widget", &json!({})),
        ReadinessState::Current,
        "it exists, and nothing else is needed",
    );
    is(&custom(&json!([])), ReadinessState::Current, "it exists, and nothing else is needed");
    is(&custom(&json!([condition("Ready", "True", "", "")])), ReadinessState::Current, "it is ready");
    is(&custom(&json!([condition("Ready", "True", "Up", "all is up")])), ReadinessState::Current, "all is up (Up)");
    is(
        &custom(&json!([condition("Ready", "False", "Waiting", "")])),
        ReadinessState::InProgress,
        "condition Ready is False (Waiting)",
    );
    is(
        &custom(&json!([condition("Ready", "Unknown", "", "")])),
        ReadinessState::InProgress,
        "condition Ready is Unknown",
    );
}

#[test]
fn not_ready_for_a_terminal_reason_is_failed_and_may_pass() {
    for reason in ["Failed", "Denied", "InvalidSpec", "ValidationFailed", "TerminalError"] {
        let failed = custom(&json!([condition("Ready", "False", reason, "no")]));
        is(&failed, ReadinessState::Failed, &format!("no ({reason})"));
        assert_eq!(failed.outlook, Outlook::Open, "{reason}");
    }
    for reason in ["Progressing", "DependencyNotReady", "NotFailed", "ReconciliationFailed", "Unvalidated"] {
        assert_eq!(
            custom(&json!([condition("Ready", "False", reason, "no")])).state,
            ReadinessState::InProgress,
            "{reason}"
        );
    }
    let severe = json!({"type": "Ready", "status": "False", "reason": "NoQuota", "message": "no", "severity": "Error"});
    assert_eq!(custom(&json!([severe])).state, ReadinessState::Failed);
    assert_eq!(custom(&json!([condition("Ready", "True", "Failed", "no")])).state, ReadinessState::Current);
}

#[test]
fn a_condition_of_an_older_generation_says_nothing() {
    let ready = |observed: u64, status: &str, reason: &str| json!([{"type": "Ready", "status": status, "reason": reason, "observedGeneration": observed}]);
    for (status, reason) in [("True", "Up"), ("False", "Failed")] {
        let old = custom(&ready(1, status, reason));
        is(&old, ReadinessState::InProgress, "its condition Ready is from an older generation");
    }
    assert_eq!(custom(&ready(2, "True", "Up")).state, ReadinessState::Current);
}

#[test]
fn what_is_not_what_it_should_be_is_read_without_harm() {
    for status in [json!("odd"), json!({"conditions": "odd"}), json!({"conditions": [1, null, {"type": 3}]}), json!([])]
    {
        assert_eq!(readiness_of("example.com/v1", "Widget", &json!({"status": status})).state, ReadinessState::Current);
        for (api_version, kind) in [
            ("apps/v1", "Deployment"),
            ("apps/v1", "DaemonSet"),
            ("batch/v1", "Job"),
            ("v1", "Pod"),
            ("v1", "PersistentVolumeClaim"),
            ("networking.k8s.io/v1", "Ingress"),
            ("autoscaling/v2", "HorizontalPodAutoscaler"),
        ] {
            assert_eq!(
                readiness_of(api_version, kind, &json!({"status": status})).state,
                ReadinessState::InProgress,
                "{kind} {status}"
            );
        }
    }
}

#[test]
fn a_long_message_of_many_lines_becomes_a_short_one() {
    let message = custom(&json!([condition("Ready", "False", "", &"many\n words ".repeat(500))])).message;
    assert!(message.starts_with("many words many") && message.ends_with('…'), "{message}");
    assert!(message.chars().count() < 450);
}
