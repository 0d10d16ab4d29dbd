//! The rules, in the order in which they apply, and those of the kinds that run no Pods.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use structured_merge::GroupVersionKind;

use super::conditions::{self, Condition, condition, conditions, conditions_in, holds};
use super::fields::{int, list, name_list, text};
use super::readiness::{Readiness, ReadinessState};
use super::{pod, workloads};

/// Annotation in which `autoscaling/v1`, which has no conditions, keeps those of an autoscaler.
const AUTOSCALER_CONDITIONS: &str = "/metadata/annotations/autoscaling.alpha.kubernetes.io~1conditions";
/// Time for which a failure of an autoscaler may pass by itself: the usage of a new Pod is known only after the kubelet and the
/// metrics server have measured it twice, and a target that is created after its autoscaler is found 15 seconds later.
const SETTLING: SignedDuration = SignedDuration::from_mins(2);

/// The rule of a kind: a function of the object and the time.
type Rule = fn(&Value, Timestamp) -> Readiness;

/// The readiness of a live object, from the object alone. The version of its kind does not matter.
pub fn readiness(kind: &GroupVersionKind, object: &Value, now: Timestamp) -> Readiness {
    before_rules(object)
        .or_else(|| declared(object))
        .or_else(|| rule_of(kind).map(|rule| rule(object, now)))
        .or_else(|| conditions::ready(object))
        .unwrap_or_else(|| Readiness::current("it exists, and nothing else is needed"))
}

/// Rules 1 and 2, which precede every rule about fields that a controller writes: the rule of the kind, and a rule of
/// the caller.
pub fn before_rules(object: &Value) -> Option<Readiness> {
    terminating(object).or_else(|| not_observed(object))
}

/// The rule of a kind, if it has one.
fn rule_of(kind: &GroupVersionKind) -> Option<Rule> {
    Some(match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => always,
        ("", "Service") => service,
        ("", "PersistentVolumeClaim") => persistent_volume_claim,
        ("", "Pod") => pod::pod,
        ("apps" | "extensions", "Deployment") => workloads::deployment,
        ("apps" | "extensions", "ReplicaSet") | ("", "ReplicationController") => workloads::replica_set,
        ("apps", "StatefulSet") => workloads::stateful_set,
        ("apps" | "extensions", "DaemonSet") => workloads::daemon_set,
        ("batch", "Job") => workloads::job,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => custom_resource_definition,
        ("apiregistration.k8s.io", "APIService") => api_service,
        ("networking.k8s.io" | "extensions", "Ingress") => ingress,
        ("autoscaling", "HorizontalPodAutoscaler") => horizontal_pod_autoscaler,
        _ => return None,
    })
}

/// Rule 1, with the reason why the deletion takes time: finalizers, or the conditions of a Namespace.
fn terminating(object: &Value) -> Option<Readiness> {
    text(object, "/metadata/deletionTimestamp")?;
    let finalizers = list(object, "/metadata/finalizers");
    let noun = if finalizers.len() == 1 { "finalizer" } else { "finalizers" };
    let finalizers = name_list(finalizers);
    let left = conditions(object).filter(|condition| condition.is_true() && condition.kind.starts_with("Namespace"));
    let left: Vec<String> = left.map(|condition| condition.why()).collect();
    Some(Readiness::new(
        ReadinessState::Terminating,
        match (left.is_empty(), finalizers.is_empty()) {
            (false, _) => format!("it is being deleted: {}", left.join("; ")),
            (true, false) => format!("it is being deleted, and waits for its {noun} {finalizers}"),
            (true, true) => "it is being deleted".to_owned(),
        },
    ))
}

/// Rule 2: the status is for another generation of the object.
pub(super) fn not_observed(object: &Value) -> Option<Readiness> {
    let generation = int(object, "/metadata/generation")?;
    let observed = int(object, "/status/observedGeneration")?;
    (generation != observed).then(|| {
        let message = format!("its controller has not seen generation {generation} yet, only {observed}");
        Readiness::in_progress(message)
    })
}

/// Rule 3: the conditions that kstatus asks controllers to set. The first in the list decides.
fn declared(object: &Value) -> Option<Readiness> {
    let mut declared = conditions(object).filter(|condition| condition.is_true() && !condition.is_old(object));
    declared.find_map(|condition| match condition.kind {
        "Reconciling" => Some(Readiness::in_progress(condition.why())),
        "Stalled" => Some(Readiness::failed(condition.why())),
        _ => None,
    })
}

/// Objects of these kinds have no status to wait for.
fn always(_: &Value, _: Timestamp) -> Readiness {
    Readiness::current("it exists, and nothing else is needed")
}

/// A load balancer needs its cluster IP and, beyond kstatus, its external address.
fn service(service: &Value, _: Timestamp) -> Readiness {
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
fn ingress(ingress: &Value, _: Timestamp) -> Readiness {
    if list(ingress, "/status/loadBalancer/ingress").is_empty() {
        Readiness::in_progress("its controller has not given it an address yet")
    } else {
        Readiness::current("it has an address")
    }
}

fn persistent_volume_claim(claim: &Value, _: Timestamp) -> Readiness {
    match text(claim, "/status/phase") {
        Some("Bound") => Readiness::current("it is bound to its volume"),
        Some("Lost") => Readiness::failed("the volume that it was bound to is gone"),
        _ => Readiness::in_progress("it is not bound to a volume yet"),
    }
}

fn custom_resource_definition(definition: &Value, _: Timestamp) -> Readiness {
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
fn api_service(service: &Value, _: Timestamp) -> Readiness {
    if holds(service, "Available") {
        Readiness::current("the server behind it answers")
    } else {
        let why = condition(service, "Available").map(|available| available.why());
        Readiness::in_progress(why.unwrap_or_else(|| "it is not known yet whether the server behind it answers".into()))
    }
}

/// Beyond kstatus, as in Argo CD's gitops-engine: an autoscaler has to be able to scale, but a failure counts only once metrics can
/// exist. It takes precedence over a success, in any order of the conditions.
fn horizontal_pod_autoscaler(autoscaler: &Value, now: Timestamp) -> Readiness {
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
