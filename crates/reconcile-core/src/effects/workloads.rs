//! Pods that restart, stop or start, because their workload changes.
//!
//! The rules are those of the controllers: `pkg/controller/deployment` (a changed template makes a new `ReplicaSet`),
//! `pkg/controller/statefulset` (`updateStatefulSet`: Pods below the partition stay) and `pkg/controller/daemon` of Kubernetes.

use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey};

use super::compared::{Compared, Kind};
use crate::compare::{Action, Class, Effect, EffectKind, FieldChange, holds_redacted};

/// The effects of writing one object on its own Pods.
pub(super) fn of_write(object: &Compared<'_>) -> Vec<Effect> {
    let Some(before) = object.before else { return Vec::new() };
    match object.action {
        Action::Replace => of_deletion(object.key, before).into_iter().collect(),
        Action::Update => rollout(object, before).into_iter().chain(scale(object, before)).collect(),
        _ => Vec::new(),
    }
}

/// The effect of the deletion of a live object on its Pods; `None` if it has none.
pub fn of_deletion(key: &ObjectKey, live: &Value) -> Option<Effect> {
    let kind = Kind::of(key);
    let (pods, finished) = match kind {
        Kind::CronJob | Kind::Service | Kind::ConfigMap | Kind::Secret | Kind::Other => return None,
        Kind::Pod if has_ended(live) => (Some(0), 1),
        Kind::Pod => (Some(1), 0),
        // The number of a workload whose values are not shown is one of them.
        _ if live.get("spec").is_some_and(holds_redacted) => (None, 0),
        Kind::Job => (Some(number(live, "/status/active").unwrap_or(0)), finished_pods(live)),
        _ => (running(kind, live), 0),
    };
    let message = match (pods, finished) {
        (Some(0), 0) => return None,
        (Some(0), finished) => gone_when_finished(finished),
        (Some(pods), 0) => deleted(pods),
        (Some(pods), finished) => format!("{}, {}", deleted(pods), gone_when_finished(finished)),
        (None, _) => "its Pods are deleted".to_owned(),
    };
    Some(Effect::new(EffectKind::Delete, pods, message))
}

/// The finished Pods of a Job, which stay as long as it does.
fn finished_pods(job: &Value) -> u64 {
    let counts = ["/status/succeeded", "/status/failed"];
    counts.iter().filter_map(|pointer| number(job, pointer)).fold(0, u64::saturating_add)
}

/// Returns true if the containers of a Pod have ended, and none is started again.
fn has_ended(pod: &Value) -> bool {
    matches!(pod.pointer("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"))
}

/// `2 Pods are deleted`
fn deleted(pods: u64) -> String {
    format!("{} {} deleted", counted_pods(pods), if pods == 1 { "is" } else { "are" })
}

/// `2 finished Pods go`
fn gone_when_finished(pods: u64) -> String {
    if pods == 1 { "1 finished Pod goes".to_owned() } else { format!("{pods} finished Pods go") }
}

/// The effect of a changed template, or of the end of a pause, on the Pods that remain.
fn rollout(object: &Compared<'_>, before: &Value) -> Option<Effect> {
    let after = object.after;
    let kind = object.kind();
    let is_changed = changes(object.changes, &["spec", "template"]);
    let strategy = match kind {
        Kind::Deployment => after.pointer("/spec/strategy"),
        Kind::StatefulSet | Kind::DaemonSet => after.pointer("/spec/updateStrategy"),
        _ => return None,
    };
    let type_of = |strategy: Option<&Value>| {
        strategy.and_then(|strategy| strategy.get("type")?.as_str()).unwrap_or("RollingUpdate").to_owned()
    };
    let none = |message: &str| is_changed.then(|| Effect::new(EffectKind::Rollout, Some(0), message));
    let is_paused = |object: &Value| object.pointer("/spec/paused").and_then(Value::as_bool) == Some(true);
    if kind == Kind::Deployment && is_paused(after) {
        return none("no rollout: paused");
    }
    if type_of(strategy) == "OnDelete" {
        return none("no rollout: each Pod takes the change when it is deleted (OnDelete)");
    }
    let remaining = match kind {
        Kind::DaemonSet => running(kind, before),
        _ => running(kind, before).map(|pods| pods.min(replicas(after))),
    };
    let partition = match kind {
        Kind::StatefulSet => number(after, "/spec/updateStrategy/rollingUpdate/partition").unwrap_or(0),
        _ => 0,
    };
    let concerned = remaining.map(|pods| pods.saturating_sub(partition));
    let pods = if is_changed {
        concerned
    } else {
        let goes_on = match kind {
            Kind::Deployment => is_paused(before),
            _ => changes(object.changes, &["spec", "updateStrategy"]),
        };
        let pending = pending(kind, before).filter(|_| goes_on).filter(|pods| *pods > 0)?;
        Some(concerned?.min(pending))
    };
    if pods == Some(0) {
        return match remaining {
            Some(0) => None,
            _ => none("no rollout: all Pods are below the partition"),
        };
    }
    let which = pods.map_or_else(|| "its Pods".to_owned(), counted_pods);
    if kind == Kind::Deployment && type_of(strategy) == "Recreate" {
        return Some(Effect::new(EffectKind::Recreate, pods, format!("restarts {which}: {}", stops_first(pods))));
    }
    let kept = match remaining {
        Some(remaining) if partition > 0 => format!("; {} below the partition stay", partition.min(remaining)),
        _ => String::new(),
    };
    let message = format!("restarts {which}: rolling update, {}{kept}", most_unavailable(kind, strategy));
    Some(Effect::new(EffectKind::Rollout, pods, message))
}

/// `all 3 Pods stop first`
fn stops_first(pods: Option<u64>) -> String {
    match pods {
        Some(1) => "it stops first".to_owned(),
        Some(pods) => format!("all {} stop first", counted_pods(pods)),
        None => "all stop first".to_owned(),
    }
}

/// `at most 25 % unavailable`
fn most_unavailable(kind: Kind, strategy: Option<&Value>) -> String {
    let written = strategy.and_then(|strategy| strategy.pointer("/rollingUpdate/maxUnavailable"));
    match written {
        Some(Value::String(percent)) => match percent.strip_suffix('%') {
            Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("at most {number} % unavailable")
            }
            _ => "at most 25 % unavailable".to_owned(),
        },
        Some(Value::Number(number)) if number.as_u64() == Some(0) => "none unavailable".to_owned(),
        Some(Value::Number(number)) => format!("at most {number} unavailable"),
        _ if kind == Kind::Deployment => "at most 25 % unavailable".to_owned(),
        _ => "at most 1 unavailable".to_owned(),
    }
}

/// The effect of another number of replicas.
fn scale(object: &Compared<'_>, before: &Value) -> Option<Effect> {
    let kind = object.kind();
    if !matches!(kind, Kind::Deployment | Kind::StatefulSet | Kind::ReplicaSet | Kind::ReplicationController) {
        return None;
    }
    let former = replicas(before);
    let wanted = replicas(object.after);
    if wanted > former {
        let pods = wanted.saturating_sub(former);
        let start = if pods == 1 { "starts" } else { "start" };
        return Some(Effect::new(EffectKind::Scale, Some(pods), format!("{} {start}", counted_pods(pods))));
    }
    // Pods that a controller has not started yet count as well, unless it has none at all.
    let pods = if running(kind, before)? == 0 { 0 } else { former.saturating_sub(wanted) };
    let stop = if pods == 1 { "stops" } else { "stop" };
    (pods > 0).then(|| Effect::new(EffectKind::Scale, Some(pods), format!("{} {stop}", counted_pods(pods))))
}

/// The number of Pods that a live workload has; `None` for a `DaemonSet` that no controller has seen.
fn running(kind: Kind, live: &Value) -> Option<u64> {
    let generation = |pointer: &str| live.pointer(pointer).and_then(Value::as_u64);
    let observed = generation("/status/observedGeneration");
    let is_seen = observed.is_some();
    // A status of an earlier specification has other numbers.
    let is_current = is_seen && generation("/metadata/generation").is_none_or(|newest| observed == Some(newest));
    match kind {
        Kind::DaemonSet => is_seen.then(|| number(live, "/status/desiredNumberScheduled").unwrap_or(0)),
        // In the middle of a rollout, there are more than it needs.
        _ if is_current => Some(number(live, "/status/replicas").unwrap_or(0).min(replicas(live))),
        _ => Some(replicas(live)),
    }
}

/// The number of running Pods whose template is not the newest one.
fn pending(kind: Kind, live: &Value) -> Option<u64> {
    live.pointer("/status/observedGeneration")?;
    let updated = match kind {
        Kind::DaemonSet => "/status/updatedNumberScheduled",
        _ => "/status/updatedReplicas",
    };
    Some(running(kind, live)?.saturating_sub(number(live, updated).unwrap_or(0)))
}

fn replicas(object: &Value) -> u64 {
    number(object, "/spec/replicas").unwrap_or(1)
}

fn number(object: &Value, pointer: &str) -> Option<u64> {
    object.pointer(pointer).and_then(Value::as_u64)
}

/// Returns true if the apply changes something in this field.
fn changes(changes: &[FieldChange], field: &[&str]) -> bool {
    let field = FieldPath::of(field);
    let counts = |change: &&FieldChange| change.is_drift() || change.class == Class::Consequence;
    // A change of a parent changes the field as well.
    changes.iter().filter(counts).any(|change| change.path.overlaps(&field))
}

/// `1 Pod`, `2 Pods`
fn counted_pods(count: u64) -> String {
    if count == 1 { "1 Pod".to_owned() } else { format!("{count} Pods") }
}
