//! Conditions as the controller of a `HorizontalPodAutoscaler` writes them.

use super::*;

/// Two hours before the time of the tests.
const LONG_AGO: &str = "2026-11-20T08:00:00Z";
/// Half a minute before the time of the tests.
const JUST_NOW: &str = "2026-11-20T09:59:30Z";

fn since(time: &str, kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": time})
}

fn able() -> Value {
    since(
        LONG_AGO,
        "AbleToScale",
        "True",
        "SucceededGetScale",
        "the HPA controller was able to get the target's current scale",
    )
}

fn without_metrics(time: &str, reason: &str) -> Value {
    let message = "the HPA was unable to compute the replica count: failed to get cpu utilization: no metrics returned";
    since(time, "ScalingActive", "False", reason, message)
}

fn autoscaler(conditions: &Value) -> Readiness {
    let object = json!({"status": {"currentReplicas": 1, "desiredReplicas": 1, "conditions": conditions}});
    readiness_of("autoscaling/v2", "HorizontalPodAutoscaler", &object)
}

#[test]
fn a_new_autoscaler_waits_for_its_controller() {
    let message = "its controller has not checked its target yet";
    is(&autoscaler(&json!(null)), ReadinessState::InProgress, message);
    is(&autoscaler(&json!([])), ReadinessState::InProgress, message);
}

#[test]
fn one_that_can_scale_is_ready() {
    let message = "the HPA controller was able to get the target's current scale (SucceededGetScale)";
    is(&autoscaler(&json!([able()])), ReadinessState::Current, message);
    let active = since(LONG_AGO, "ScalingActive", "True", "ValidMetricFound", "a metric was found");
    let limited = since(LONG_AGO, "ScalingLimited", "True", "TooFewReplicas", "at the minimum");
    assert_eq!(autoscaler(&json!([limited, active])).state, ReadinessState::Current);
    let disabled =
        since(LONG_AGO, "ScalingActive", "False", "ScalingDisabled", "the replica count of the target is zero");
    assert_eq!(
        autoscaler(&json!([able(), disabled])).state,
        ReadinessState::Current,
        "somebody scaled the target to zero"
    );
}

#[test]
fn one_without_metrics_or_target_fails_after_a_while() {
    for reason in ["FailedGetResourceMetric", "FailedGetObjectMetric", "FailedGetContainerResourceMetric"] {
        let failed = autoscaler(&json!([able(), without_metrics(LONG_AGO, reason)]));
        assert_eq!(
            (failed.state, failed.outlook),
            (ReadinessState::Failed, Outlook::Open),
            "{reason}: it is asked again"
        );
        assert!(failed.message.ends_with(&format!("no metrics returned ({reason})")), "{}", failed.message);
        let young = autoscaler(&json!([able(), without_metrics(JUST_NOW, reason)]));
        assert_eq!(young.state, ReadinessState::InProgress, "a new Pod has no metrics yet");
    }
    for reason in ["FailedGetScale", "FailedUpdateScale"] {
        let unable =
            |time: &str| autoscaler(&json!([since(time, "AbleToScale", "False", reason, "no matches for kind")]));
        assert_eq!(unable(LONG_AGO).state, ReadinessState::Failed, "{reason}");
        assert_eq!(unable(JUST_NOW).state, ReadinessState::InProgress, "{reason}: its target may come");
    }
    let invalid =
        since(JUST_NOW, "ScalingActive", "False", "InvalidSelector", "the target's scale is missing a selector");
    assert_eq!(autoscaler(&json!([able(), invalid])).state, ReadinessState::Failed, "time does not help");
    let timeless = condition("ScalingActive", "False", "FailedGetPodsMetric", "");
    assert_eq!(autoscaler(&json!([able(), timeless])).state, ReadinessState::Failed);
}

#[test]
fn the_first_version_keeps_its_conditions_in_an_annotation() {
    let annotated = |conditions: &str| {
        let annotations = json!({"autoscaling.alpha.kubernetes.io/conditions": conditions});
        let object = json!({"metadata": {"annotations": annotations}, "status": {"currentReplicas": 1}});
        readiness_of("autoscaling/v1", "HorizontalPodAutoscaler", &object).state
    };
    assert_eq!(annotated(&json!([able()]).to_string()), ReadinessState::Current);
    let failing = json!([able(), without_metrics(LONG_AGO, "FailedGetResourceMetric")]);
    assert_eq!(annotated(&failing.to_string()), ReadinessState::Failed);
    for odd in ["", "[]", "{", "{}", "[1]", "[{\"type\": 3}]"] {
        assert_eq!(annotated(odd), ReadinessState::InProgress, "{odd}");
    }
}
