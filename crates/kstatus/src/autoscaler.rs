//! The rule for `HorizontalPodAutoscaler`s, beyond kstatus: as in Argo CD's gitops-engine, but a failure counts only
//! once metrics can exist.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::conditions::{Condition, conditions, conditions_in};
use super::fields::text;
use super::readiness::Readiness;

/// Annotation in which `autoscaling/v1`, which has no conditions, keeps them.
const ANNOTATION: &str = "/metadata/annotations/autoscaling.alpha.kubernetes.io~1conditions";

/// Time for which such a failure may pass by itself: the usage of a new Pod is known only after the kubelet and the
/// metrics server have measured it twice, and a target that is created after its autoscaler is found 15 seconds later.
const SETTLING: SignedDuration = SignedDuration::from_mins(2);

/// Readiness of an autoscaler. A failure takes precedence over a success, in any order of the conditions.
pub(super) fn horizontal_pod_autoscaler(autoscaler: &Value, now: Timestamp) -> Readiness {
    let annotated: Option<Value> = text(autoscaler, ANNOTATION).and_then(|json| serde_json::from_str(json).ok());
    let annotated = annotated.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let conditions: Vec<Condition<'_>> = conditions(autoscaler).chain(conditions_in(annotated)).collect();
    if let Some((failed, can_pass)) = conditions.iter().find_map(|one| Some((one, failure(one)?))) {
        let is_new = failed.age(now).is_some_and(|age| age < SETTLING);
        return if can_pass && is_new {
            Readiness::in_progress(failed.why())
        } else {
            Readiness::failing(failed.why())
        };
    }
    match conditions.iter().find(|one| matches!(one.kind, "AbleToScale" | "ScalingLimited") && one.is_true()) {
        Some(healthy) => Readiness::current(healthy.why()),
        None => Readiness::in_progress("its controller has not checked its target yet"),
    }
}

/// The failure that a condition reports, if any: true if it may pass by itself. A target without replicas is not a
/// failure: somebody scaled it to zero.
fn failure(condition: &Condition<'_>) -> Option<bool> {
    let is_metric = |reason: &str| reason.starts_with("FailedGet") && reason.ends_with("Metric");
    match (condition.kind, condition.reason) {
        _ if !condition.is_false() => None,
        ("AbleToScale", "FailedGetScale" | "FailedUpdateScale") => Some(true),
        ("ScalingActive", reason) if is_metric(reason) => Some(true),
        ("ScalingActive", "InvalidSelector" | "InvalidMetricSourceType") => Some(false),
        _ => None,
    }
}
