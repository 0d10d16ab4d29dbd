//! Tells whether a live Kubernetes object is ready, as kstatus defines it (cli-utils `pkg/kstatus/status`), with a few rules more.
//!
//! Pure: an object and the time go in, a [`Readiness`] comes out. How objects are read or watched is up to the caller.
//!
//! ```
//! use kstatus::{GroupKind, State, readiness};
//! use serde_json::json;
//!
//! let deployment = json!({
//!     "metadata": {"generation": 2},
//!     "spec": {"replicas": 3},
//!     "status": {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 1, "readyReplicas": 3, "availableReplicas": 3},
//! });
//! let now = "2026-11-20T10:00:00Z".parse()?;
//! let readiness = readiness(GroupKind::new("apps", "Deployment"), &deployment, now);
//! assert_eq!(readiness.state, State::InProgress);
//! assert_eq!(readiness.message, "1 of 3 replicas are updated");
//! # Ok::<(), jiff::Error>(())
//! ```
//!
//! The first rule that says something holds:
//!
//! 1. `metadata.deletionTimestamp` is set: terminating
//! 2. `status.observedGeneration` is not `metadata.generation`: in progress
//! 3. condition `Reconciling`: in progress; condition `Stalled`: failed
//! 4. the rule of the kind
//! 5. condition `Ready`: current when true; failed when false for a terminal reason; in progress otherwise
//! 6. current
//!
//! [`readiness_with_pods`] adds what is wrong with the Pods of a workload's current revision ([`Owned`]): an image that cannot be
//! pulled or a container that crashes fails the workload long before its controller gives up.
//!
//! # Differences from kstatus
//!
//! Each because its users asked for it: a running Job is in progress, a failed Pod has failed, a `LoadBalancer` Service needs its
//! address, a lost PersistentVolumeClaim has failed, `Ready=False` with a terminal reason has failed, a condition is as old as its
//! own `observedGeneration`, `OnDelete` is about revisions alone, a Job without `parallelism` runs nothing, an `APIService` has to
//! be available, and workloads say what is wrong with their Pods.
//!
//! As in Argo CD's gitops-engine, an Ingress needs its address, which some controllers never write, and a `HorizontalPodAutoscaler`
//! has to be able to scale. It has failed if its target cannot be read or written or its metrics are missing: otherwise than in
//! gitops-engine only after two minutes, as a new Pod has no metrics at first, whatever the kind of the metric, and whatever its
//! other conditions say. An autoscaler that `ScalingDisabled` turned off is ready: its target was scaled to zero.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::arithmetic_side_effects
    )
)]

mod autoscaler;
mod conditions;
mod fields;
mod kinds;
mod pod;
mod pods;
mod readiness;
#[cfg(test)]
mod tests;
mod workloads;

use jiff::Timestamp;
use serde_json::Value;

use self::conditions::{condition, conditions};
use self::fields::{int, list, name_list, text};
pub use self::pods::{Owned, selector_of};
pub use self::readiness::{Outlook, Readiness, State};

/// The group and the kind of an object; versions do not matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupKind<'a> {
    /// The API group, empty for the core group.
    pub group: &'a str,
    /// The kind, as in `Deployment`.
    pub kind: &'a str,
}

impl<'a> GroupKind<'a> {
    /// A kind of a group.
    #[must_use]
    pub const fn new(group: &'a str, kind: &'a str) -> Self {
        Self { group, kind }
    }
}

/// The rule of one kind: the object and the time in.
type Rule = fn(&Value, Timestamp) -> Readiness;

/// The readiness of a live object, by what it says itself.
#[must_use]
pub fn readiness(kind: GroupKind<'_>, object: &Value, now: Timestamp) -> Readiness {
    before_rules(object)
        .or_else(|| declared(object))
        .or_else(|| rule_of(kind).map(|rule| rule(object, now)))
        .or_else(|| conditions::ready(object))
        .unwrap_or_else(|| Readiness::current("it exists"))
}

/// What precedes every rule about what a controller wrote, that of the kind and also one of the caller's own: rules 1 and 2.
#[must_use]
pub fn before_rules(object: &Value) -> Option<Readiness> {
    terminating(object).or_else(|| not_observed(object))
}

/// The readiness of a live object, with what is wrong with its Pods where it is a workload that is not ready.
#[must_use]
pub fn readiness_with_pods(kind: GroupKind<'_>, object: &Value, owned: &Owned<'_>, now: Timestamp) -> Readiness {
    let own = readiness(kind, object, now);
    if has_pods(kind) { pods::explain(own, kind, object, owned, now) } else { own }
}

/// Returns true if objects of this kind run Pods of their own.
#[must_use]
pub fn has_pods(kind: GroupKind<'_>) -> bool {
    matches!(
        (kind.group, kind.kind),
        ("apps" | "extensions", "Deployment" | "ReplicaSet" | "DaemonSet")
            | ("apps", "StatefulSet")
            | ("batch", "Job")
            | ("", "ReplicationController")
    )
}

/// The table of kinds.
fn rule_of(kind: GroupKind<'_>) -> Option<Rule> {
    Some(match (kind.group, kind.kind) {
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
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::horizontal_pod_autoscaler,
        _ => return None,
    })
}

/// Rule 1, with what holds the deletion up: finalizers, and of a Namespace what its conditions say.
fn terminating(object: &Value) -> Option<Readiness> {
    text(object, "/metadata/deletionTimestamp")?;
    let finalizers = name_list(list(object, "/metadata/finalizers"));
    let left = conditions(object).filter(|condition| condition.is_true() && condition.kind.starts_with("Namespace"));
    let left: Vec<String> = left.map(|condition| condition.why()).collect();
    Some(Readiness::new(
        State::Terminating,
        match (left.is_empty(), finalizers.is_empty()) {
            (false, _) => format!("it is being deleted: {}", left.join("; ")),
            (true, false) => format!("it is being deleted, and waits for its finalizers {finalizers}"),
            (true, true) => "it is being deleted".to_owned(),
        },
    ))
}

/// Rule 2.
fn not_observed(object: &Value) -> Option<Readiness> {
    let generation = int(object, "/metadata/generation")?;
    let observed = int(object, "/status/observedGeneration")?;
    (generation != observed).then(|| {
        let message = format!("its controller has not seen generation {generation} yet, but {observed}");
        Readiness::in_progress(message)
    })
}

/// Rule 3: the conditions that kstatus asks controllers to set. The first in the list wins.
fn declared(object: &Value) -> Option<Readiness> {
    let mut declared = conditions(object).filter(|condition| condition.is_true() && !condition.is_old(object));
    declared.find_map(|condition| match condition.kind {
        "Reconciling" => Some(Readiness::in_progress(condition.why())),
        "Stalled" => Some(Readiness::failed(condition.why())),
        _ => None,
    })
}

/// Returns true if a condition of this type is true.
fn holds(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| condition.is_true())
}
