//! Rules for kinds that run Pods, from their own status.

use jiff::Timestamp;
use serde_json::Value;

use super::conditions::{Condition, condition, holds};
use super::fields::{count, int, text};
use super::readiness::Readiness;

/// `spec.replicas`; the server's default is 1.
fn wanted(object: &Value) -> i64 {
    int(object, "/spec/replicas").unwrap_or(1)
}

/// Reports the first count that is too low: `1 of 3 replicas are available`.
fn short(counts: &[(i64, i64, &str)]) -> Option<Readiness> {
    let (has, wants, what) = counts.iter().find(|(has, wants, _)| has < wants)?;
    let noun = if *wants == 1 { "replica is" } else { "replicas are" };
    Some(Readiness::in_progress(format!("{has} of {wants} {noun} {what}")))
}

fn surplus(replicas: i64, wanted: i64, what: &str) -> Option<Readiness> {
    let extra = replicas.saturating_sub(wanted);
    let noun = if extra == 1 { "replica is" } else { "replicas are" };
    (extra > 0).then(|| Readiness::in_progress(format!("{extra} {what} {noun} still terminating")))
}

fn all_ready(wanted: i64) -> Readiness {
    Readiness::current(match wanted {
        0 => "it is scaled to 0 replicas".to_owned(),
        1 => "its replica is ready".to_owned(),
        _ => format!("all {wanted} replicas are ready"),
    })
}

pub(super) fn deployment(deployment: &Value, _: Timestamp) -> Readiness {
    let wanted = wanted(deployment);
    let status = |field: &str| count(deployment, &format!("/status/{field}"));
    let replicas = status("replicas");
    let updated = status("updatedReplicas");
    let available = status("availableReplicas");
    let progressing = condition(deployment, "Progressing");
    if let Some(late) = progressing.as_ref().filter(|progressing| progressing.reason == "ProgressDeadlineExceeded") {
        return Readiness::failing(late.why());
    }
    let is_paused = deployment.pointer("/spec/paused") == Some(&Value::Bool(true));
    let unfinished = short(&[(replicas, wanted, "created"), (updated, wanted, "updated")])
        .or_else(|| surplus(replicas, wanted, "old"))
        .or_else(|| short(&[(available, updated, "available"), (status("readyReplicas"), wanted, "ready")]));
    if let Some(unfinished) = unfinished {
        let refused = condition(deployment, "ReplicaFailure").filter(Condition::is_true);
        return match refused {
            Some(failure) => Readiness::in_progress(format!("{}: {}", unfinished.message, failure.why())),
            None if is_paused => Readiness::in_progress(format!("{}, and its rollout is paused", unfinished.message)),
            None => unfinished,
        };
    }
    // Without a deadline, the controller does not report progress.
    let no_deadline = matches!(int(deployment, "/spec/progressDeadlineSeconds"), None | Some(2_147_483_647));
    let is_complete =
        progressing.is_some_and(|progressing| progressing.is_true() && progressing.reason == "NewReplicaSetAvailable");
    // A rollout that is paused after its completion reports no progress either.
    if !is_complete && !no_deadline && !is_paused {
        Readiness::in_progress("its new ReplicaSet is not complete yet")
    } else if !holds(deployment, "Available") {
        Readiness::in_progress("it is not available yet")
    } else {
        all_ready(wanted)
    }
}

pub(super) fn replica_set(set: &Value, _: Timestamp) -> Readiness {
    let wanted = wanted(set);
    let status = |field: &str| count(set, &format!("/status/{field}"));
    if let Some(failure) = condition(set, "ReplicaFailure").filter(Condition::is_true) {
        return Readiness::in_progress(failure.why());
    }
    let unfinished = short(&[
        (status("fullyLabeledReplicas"), wanted, "labelled"),
        (status("availableReplicas"), wanted, "available"),
        (status("readyReplicas"), wanted, "ready"),
    ]);
    unfinished.or_else(|| surplus(status("replicas"), wanted, "extra")).unwrap_or_else(|| all_ready(wanted))
}

/// Beyond kstatus: with `OnDelete`, the Pods have to exist and be ready, in any revision.
pub(super) fn stateful_set(set: &Value, _: Timestamp) -> Readiness {
    let wanted = wanted(set);
    let status = |field: &str| count(set, &format!("/status/{field}"));
    let unfinished = short(&[(status("replicas"), wanted, "created"), (status("readyReplicas"), wanted, "ready")])
        .or_else(|| surplus(status("replicas"), wanted, "extra"));
    if let Some(unfinished) = unfinished {
        return unfinished;
    }
    if text(set, "/spec/updateStrategy/type") == Some("OnDelete") {
        return all_ready(wanted);
    }
    if let Some(partition) = int(set, "/spec/updateStrategy/rollingUpdate/partition") {
        let unfinished = short(&[(status("updatedReplicas"), wanted.saturating_sub(partition), "updated")]);
        return unfinished.unwrap_or_else(|| all_ready(wanted));
    }
    if let Some(unfinished) = short(&[(status("currentReplicas"), wanted, "current")]) {
        return unfinished;
    }
    let is_old = text(set, "/status/currentRevision") != text(set, "/status/updateRevision");
    if is_old { Readiness::in_progress("its rollout is not complete yet") } else { all_ready(wanted) }
}

/// Beyond kstatus: with `OnDelete`, Pods are updated only when somebody deletes them, so there is no rollout to wait
/// for.
pub(super) fn daemon_set(set: &Value, _: Timestamp) -> Readiness {
    if int(set, "/metadata/generation").is_none() || int(set, "/status/observedGeneration").is_none() {
        return Readiness::in_progress("its controller has not seen it yet");
    }
    let Some(wanted) = int(set, "/status/desiredNumberScheduled") else {
        return Readiness::in_progress("the number of its nodes is not known yet");
    };
    if wanted == 0 {
        return Readiness::current("no node runs it");
    }
    let status = |field: &str| count(set, &format!("/status/{field}"));
    let manual = text(set, "/spec/updateStrategy/type") == Some("OnDelete");
    let updated = if manual { wanted } else { status("updatedNumberScheduled") };
    let unfinished = short(&[
        (status("currentNumberScheduled"), wanted, "scheduled"),
        (updated, wanted, "updated"),
        (status("numberAvailable"), wanted, "available"),
        (status("numberReady"), wanted, "ready"),
    ]);
    unfinished.unwrap_or_else(|| all_ready(wanted))
}

/// Beyond kstatus: a running Job is in progress.
pub(super) fn job(job: &Value, _: Timestamp) -> Readiness {
    if let Some(failed) = condition(job, "Failed").filter(Condition::is_true) {
        return Readiness::failed(failed.why());
    }
    let is_suspended = job.pointer("/spec/suspend") == Some(&Value::Bool(true));
    let status = |field: &str| count(job, &format!("/status/{field}"));
    if holds(job, "Complete") {
        Readiness::current("it is complete")
    } else if is_suspended && holds(job, "Suspended") {
        Readiness::current("it is suspended")
    } else if int(job, "/spec/parallelism") == Some(0) {
        Readiness::current("it runs nothing, as its `parallelism` is 0")
    } else if text(job, "/status/startTime").is_none() {
        Readiness::in_progress("it has not started yet")
    } else {
        let wanted = int(job, "/spec/completions").or_else(|| int(job, "/spec/parallelism")).unwrap_or(1);
        let done = status("succeeded");
        let failed = status("failed");
        let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        Readiness::in_progress(format!("{} running, {done} of {wanted} succeeded{failures}", status("active")))
    }
}
