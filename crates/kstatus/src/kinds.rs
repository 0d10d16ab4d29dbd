//! Rules for kinds that run no Pods.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::conditions::{Condition, condition, conditions, conditions_in, holds};
use super::fields::{list, text};
use super::readiness::Readiness;

/// Annotation in which `autoscaling/v1`, which has no conditions, keeps those of an autoscaler.
const AUTOSCALER_CONDITIONS: &str = "/metadata/annotations/autoscaling.alpha.kubernetes.io~1conditions";

/// Time for which a failure of an autoscaler may pass by itself: the usage of a new Pod is known only after the kubelet and the
/// metrics server have measured it twice, and a target that is created after its autoscaler is found 15 seconds later.
const SETTLING: SignedDuration = SignedDuration::from_mins(2);

/// Objects of these kinds have no status to wait for.
pub(super) fn always(_: &Value, _: Timestamp) -> Readiness {
    Readiness::current("it exists, and nothing else is needed")
}

/// A load balancer needs its cluster IP and, beyond kstatus, its external address.
pub(super) fn service(service: &Value, _: Timestamp) -> Readiness {
    let is_balanced = text(service, "/spec/type") == Some("LoadBalancer");
    if !is_balanced {
        Readiness::current("it exists, and nothing else is needed")
    } else if text(service, "/spec/clusterIP").is_none() {
        Readiness::in_progress("it has no cluster IP yet")
    } else if list(service, "/status/loadBalancer/ingress").is_empty() {
        Readiness::in_progress("its load balancer has no address yet")
    } else {
        Readiness::current("its load balancer has an address")
    }
}

/// Beyond kstatus: an Ingress needs its address, which its controller writes once it serves it.
pub(super) fn ingress(ingress: &Value, _: Timestamp) -> Readiness {
    if list(ingress, "/status/loadBalancer/ingress").is_empty() {
        Readiness::in_progress("its controller has not given it an address yet")
    } else {
        Readiness::current("it has an address")
    }
}

pub(super) fn persistent_volume_claim(claim: &Value, _: Timestamp) -> Readiness {
    match text(claim, "/status/phase") {
        Some("Bound") => Readiness::current("it is bound to its volume"),
        Some("Lost") => Readiness::failed("the volume that it was bound to is gone"),
        _ => Readiness::in_progress("it is not bound to a volume yet"),
    }
}

pub(super) fn custom_resource_definition(definition: &Value, _: Timestamp) -> Readiness {
    if let Some(names) = condition(definition, "NamesAccepted").filter(Condition::is_false) {
        return Readiness::failed(names.why());
    }
    match condition(definition, "Established") {
        Some(established) if established.is_true() => Readiness::current("its kind is served"),
        Some(established) if established.is_false() && established.reason != "Installing" => {
            Readiness::failed(established.why())
        }
        _ => Readiness::in_progress("its kind is not served yet"),
    }
}

/// Beyond kstatus: the server behind it has to answer, as objects of its kinds cannot be read before.
pub(super) fn api_service(service: &Value, _: Timestamp) -> Readiness {
    if holds(service, "Available") {
        Readiness::current("the server behind it answers")
    } else {
        let why = condition(service, "Available").map(|available| available.why());
        Readiness::in_progress(why.unwrap_or_else(|| "it is not known yet whether the server behind it answers".into()))
    }
}

/// Beyond kstatus, as in Argo CD's gitops-engine: an autoscaler has to be able to scale, but a failure counts only once metrics can
/// exist. It takes precedence over a success, in any order of the conditions.
pub(super) fn horizontal_pod_autoscaler(autoscaler: &Value, now: Timestamp) -> Readiness {
    let annotated = text(autoscaler, AUTOSCALER_CONDITIONS).and_then(|json| serde_json::from_str::<Value>(json).ok());
    let annotated = annotated.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let conditions: Vec<Condition<'_>> = conditions(autoscaler).chain(conditions_in(annotated)).collect();
    if let Some((failed, can_pass)) = conditions.iter().find_map(|one| Some((one, autoscaler_failure(one)?))) {
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

/// The failure of an autoscaler that a condition reports, if any: true if it may pass by itself. A target without replicas is not a
/// failure: somebody scaled it to zero.
fn autoscaler_failure(condition: &Condition<'_>) -> Option<bool> {
    let is_metric = |reason: &str| reason.starts_with("FailedGet") && reason.ends_with("Metric");
    match (condition.kind, condition.reason) {
        _ if !condition.is_false() => None,
        ("AbleToScale", "FailedGetScale" | "FailedUpdateScale") => Some(true),
        ("ScalingActive", reason) if is_metric(reason) => Some(true),
        ("ScalingActive", "InvalidSelector" | "InvalidMetricSourceType") => Some(false),
        _ => None,
    }
}
