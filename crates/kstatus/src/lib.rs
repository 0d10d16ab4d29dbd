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
mod generation;
mod group_kind;
mod kinds;
mod pod;
mod pods;
mod readiness;
mod rules;
#[cfg(test)]
mod tests;
mod workloads;

pub use self::group_kind::GroupKind;
pub use self::pods::{Owned, has_pods, readiness_with_pods, selector_of};
pub use self::readiness::{Outlook, Readiness, State};
pub use self::rules::{before_rules, readiness};
