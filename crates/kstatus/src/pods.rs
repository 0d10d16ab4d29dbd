//! Readiness of a workload from its Pods.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use structured_merge::GroupVersionKind;

use super::fields::{counted, list, text};
use super::pod::{PodFailure, PodIssue, issue};
use super::readiness::{Readiness, ReadinessState};
use super::rules::{not_observed, readiness};

/// Annotation of a Deployment with the revision that is rolled out. Its ReplicaSets have it as well.
const REVISION: &str = "/metadata/annotations/deployment.kubernetes.io~1revision";

/// Pods and ReplicaSets of one namespace, by the uid of their controller.
#[derive(Clone, Debug, Default)]
pub struct Owned<'a> {
    pods: BTreeMap<&'a str, Vec<&'a Value>>,
    replica_sets: BTreeMap<&'a str, Vec<&'a Value>>,
}

impl<'a> Owned<'a> {
    /// Adds a Pod. A Pod without a controller belongs to no workload.
    pub fn add_pod(&mut self, pod: &'a Value) {
        if let Some(owner) = controller(pod) {
            self.pods.entry(owner).or_default().push(pod);
        }
    }

    /// Adds a ReplicaSet. A Deployment owns its Pods through ReplicaSets.
    pub fn add_replica_set(&mut self, set: &'a Value) {
        if let Some(owner) = controller(set) {
            self.replica_sets.entry(owner).or_default().push(set);
        }
    }

    fn pods_of(&self, owner: &str) -> &[&'a Value] {
        self.pods.get(owner).map_or(&[], Vec::as_slice)
    }
}

/// The label selector of a workload in the form of a query parameter.
pub fn selector_of(kind: &GroupVersionKind, object: &Value) -> Option<String> {
    let pointer = if kind.group.is_empty() { "/spec/selector" } else { "/spec/selector/matchLabels" };
    let labels = object.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
    let mut terms: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", text(value, "").unwrap_or(""))).collect();
    for expression in list(object, "/spec/selector/matchExpressions") {
        let key = text(expression, "/key")?;
        let values: Vec<&str> = list(expression, "/values").iter().filter_map(Value::as_str).collect();
        let values = values.join(",");
        terms.push(match text(expression, "/operator")? {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        });
    }
    (!terms.is_empty()).then(|| terms.join(","))
}

/// The readiness of a live object. For a workload that is not ready, it includes the failures of the Pods of its current revision. A
/// container that cannot be started or crashes fails the workload, long before its controller gives up; a Job's containers may crash as
/// often as the Job allows. A Pod that fits on no node does not fail it: autoscalers take minutes to add a node.
pub fn readiness_with_pods(kind: &GroupVersionKind, object: &Value, owned: &Owned<'_>, now: Timestamp) -> Readiness {
    let own = readiness(kind, object, now);
    let is_open = matches!(own.state, ReadinessState::InProgress | ReadinessState::Failed);
    if !has_pods(kind) || !is_open || not_observed(object).is_some() {
        return own;
    }
    let Some((severity, description)) = worst(&of_current_revision(kind, object, owned), now) else { return own };
    let message = format!("{}: {description}", own.message);
    let is_job = kind.kind == "Job";
    let fails = severity == PodFailure::Stuck || severity == PodFailure::Crashing && !is_job;
    match own.state {
        ReadinessState::InProgress if fails => Readiness::failing(message),
        _ => Readiness { message, ..own },
    }
}

/// Returns true if objects of this kind run Pods of their own.
pub fn has_pods(kind: &GroupVersionKind) -> bool {
    matches!(
        (kind.group.as_str(), kind.kind.as_str()),
        ("apps" | "extensions", "Deployment" | "ReplicaSet" | "DaemonSet")
            | ("apps", "StatefulSet")
            | ("batch", "Job")
            | ("", "ReplicationController")
    )
}

/// The most severe failure of these Pods, and its description.
fn worst(pods: &[&Value], now: Timestamp) -> Option<(PodFailure, String)> {
    let pod_kind = GroupVersionKind::new("v1", "Pod");
    let mut issues: Vec<(&str, PodIssue)> = Vec::new();
    for pod in pods.iter().filter(|pod| text(pod, "/metadata/deletionTimestamp").is_none()) {
        if let Some(issue) = issue(pod).filter(|_| !readiness(&pod_kind, pod, now).is_current()) {
            issues.push((text(pod, "/metadata/name").unwrap_or_default(), issue));
        }
    }
    issues.sort_by(|(a, one), (b, other)| other.severity.cmp(&one.severity).then(a.cmp(b)));
    let (name, first) = issues.first()?;
    let others = issues.iter().skip(1).filter(|(_, issue)| issue.reason == first.reason).count();
    let more = if others > 0 { format!("; the same for {}", counted(others, "more Pod")) } else { String::new() };
    Some((first.severity, format!("Pod `{name}`: {}{more}", first.description)))
}

/// The Pods of the current revision of a workload. Those of old revisions are being replaced.
fn of_current_revision<'a>(kind: &GroupVersionKind, object: &Value, owned: &Owned<'a>) -> Vec<&'a Value> {
    let Some(uid) = text(object, "/metadata/uid") else { return Vec::new() };
    let with_label = |label: &str, wanted: Option<&str>| -> Vec<&'a Value> {
        let is_current = |pod: &&&Value| {
            let has = pod.pointer("/metadata/labels").and_then(|labels| labels.get(label)).and_then(Value::as_str);
            wanted.is_none() || has == wanted
        };
        owned.pods_of(uid).iter().filter(is_current).copied().collect()
    };
    match kind.kind.as_str() {
        "Deployment" => {
            let revision = text(object, REVISION);
            let sets = owned.replica_sets.get(uid).into_iter().flatten();
            let current = sets.filter(|set| revision.is_some() && text(set, REVISION) == revision);
            let uids = current.filter_map(|set| text(set, "/metadata/uid"));
            uids.flat_map(|uid| owned.pods_of(uid)).copied().collect()
        }
        "StatefulSet" => with_label("controller-revision-hash", text(object, "/status/updateRevision")),
        "DaemonSet" => {
            let generation = "/metadata/annotations/deprecated.daemonset.template.generation";
            with_label("pod-template-generation", text(object, generation))
        }
        _ => owned.pods_of(uid).to_vec(),
    }
}

/// The uid of the controller that owns an object.
fn controller(object: &Value) -> Option<&str> {
    let owners = list(object, "/metadata/ownerReferences");
    let owner = owners.iter().find(|owner| owner.get("controller") == Some(&Value::Bool(true)))?;
    text(owner, "/uid")
}
