//! Computes the readiness of a live Kubernetes object as kstatus defines it (cli-utils `pkg/kstatus/status`), with a
//! few additional rules.
//!
//! Pure: it takes an object and the time, and returns a [`Readiness`]. The caller reads or watches the objects.
//!
//! ```
//! use kstatus::{ReadinessState, readiness};
//! use serde_json::json;
//! use structured_merge::GroupVersionKind;
//!
//! let deployment = json!({
//!     "metadata": {"generation": 2},
//!     "spec": {"replicas": 3},
//!     "status": {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 1, "readyReplicas": 3, "availableReplicas": 3},
//! });
//! let now = "2026-11-20T10:00:00Z".parse()?;
//! let readiness = readiness(&GroupVersionKind::new("apps/v1", "Deployment"), &deployment, now);
//! assert_eq!(readiness.state, ReadinessState::InProgress);
//! assert_eq!(readiness.message, "1 of 3 replicas are updated");
//! # Ok::<(), jiff::Error>(())
//! ```
//!
//! The first rule that applies decides:
//!
//! 1. `metadata.deletionTimestamp` is set: terminating
//! 2. `status.observedGeneration` is not `metadata.generation`: in progress
//! 3. condition `Reconciling`: in progress; condition `Stalled`: failed
//! 4. the rule of the kind
//! 5. condition `Ready`: current when true; failed when false for a terminal reason; in progress otherwise
//! 6. current
//!
//! [`readiness_with_pods`] adds the failures of the Pods of a workload's current revision ([`Owned`]): an image that
//! cannot be pulled or a container that crashes fails the workload long before its controller gives up.
//!
//! # Differences from kstatus
//!
//! Users of kstatus requested each of them: a running Job is in progress, a failed Pod has failed, a `LoadBalancer`
//! Service needs its address, a lost PersistentVolumeClaim has failed, `Ready=False` with a terminal reason has failed,
//! the age of a condition is its own `observedGeneration`, `OnDelete` concerns revisions only, a Job with
//! `parallelism: 0` runs nothing, an `APIService` has to be available, and workloads report the failures of their Pods.
//!
//! As in Argo CD's gitops-engine, an Ingress needs its address, which some controllers never write, and a
//! `HorizontalPodAutoscaler` has to be able to scale. It has failed if its target cannot be read or written or its
//! metrics are missing. Unlike in gitops-engine, this counts only after two minutes, as a new Pod has no metrics at
//! first, and it counts for all kinds of metrics, independent of other conditions. An autoscaler that `ScalingDisabled`
//! turned off is ready: its target was scaled to zero.

// What others wrote is read here: a wrong index or sum must not end the program.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

mod conditions;
mod fields;
mod pod;
mod pods;
mod readiness;
mod rules;
#[cfg(test)]
mod tests;
mod workloads;

pub use self::pods::{Owned, has_pods, readiness_with_pods, selector_of};
pub use self::readiness::{Outlook, Readiness, ReadinessState};
pub use self::rules::{before_rules, readiness};
