//! The rules, in the order in which they apply.

use jiff::Timestamp;
use serde_json::Value;
use structured_merge::GroupVersionKind;

use super::conditions::{self, conditions};
use super::fields::{int, list, name_list, text};
use super::readiness::{Readiness, ReadinessState};
use super::{kinds, pod, workloads};

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
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => kinds::always,
        ("", "Service") => kinds::service,
        ("", "PersistentVolumeClaim") => kinds::persistent_volume_claim,
        ("", "Pod") => pod::pod,
        ("apps" | "extensions", "Deployment") => workloads::deployment,
        ("apps" | "extensions", "ReplicaSet") | ("", "ReplicationController") => workloads::replica_set,
        ("apps", "StatefulSet") => workloads::stateful_set,
        ("apps" | "extensions", "DaemonSet") => workloads::daemon_set,
        ("batch", "Job") => workloads::job,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => kinds::custom_resource_definition,
        ("apiregistration.k8s.io", "APIService") => kinds::api_service,
        ("networking.k8s.io" | "extensions", "Ingress") => kinds::ingress,
        ("autoscaling", "HorizontalPodAutoscaler") => kinds::horizontal_pod_autoscaler,
        _ => return None,
    })
}

/// Rule 1, with the reason why the deletion takes time: finalizers, or the conditions of a Namespace.
fn terminating(object: &Value) -> Option<Readiness> {
    text(object, "/metadata/deletionTimestamp")?;
    let finalizers = name_list(list(object, "/metadata/finalizers"));
    let left = conditions(object).filter(|condition| condition.is_true() && condition.kind.starts_with("Namespace"));
    let left: Vec<String> = left.map(|condition| condition.why()).collect();
    Some(Readiness::new(
        ReadinessState::Terminating,
        match (left.is_empty(), finalizers.is_empty()) {
            (false, _) => format!("it is being deleted: {}", left.join("; ")),
            (true, false) => format!("it is being deleted, and waits for its finalizers {finalizers}"),
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
