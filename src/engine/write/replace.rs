//! Replaces one object: deletes and recreates it, and restores the former object if that fails.
//!
//! ```text
//! trial (dry-run creation of what exists) ─▶ delete (uid, resourceVersion) ─▶ gone ─▶ POST ─failed─▶ put back
//! ```
//! A quota counts a deleted object until a controller has counted again: what it refuses meanwhile is tried again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use reconcile_core::compare::{Action, Decision, ObjectDiff, ROUNDS, is_in_its_own_way, probe_object, replace_guard};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::LiveState;
use serde_json::Value;
use structured_merge::{ObjectMeta as _, Quantity, without_system_fields};
use tokio::time::sleep;

use super::create::Creation;
use super::delete::{Deleted, Deletion, DeletionDeadline, delete, wait_until_gone};
use super::replacements::Replacements;
use super::{Writer, Written, recorded_owners};
use crate::client::{RequestError, Retry, StatusError, WriteRequest};
use crate::engine::backoff::Backoff;
use crate::live::answer::Asked;
use crate::live::fetch::find;

/// The time in which a quota is expected to no longer count a deleted object: its controller sees the deletion at once
/// (kube-controller-manager, `pkg/controller/resourcequota`).
const RECOUNT: Duration = Duration::from_secs(10);

impl Writer<'_> {
    /// Replaces the object. Nothing is deleted before the server has accepted the new object in a dry run.
    pub(super) async fn replace(&self, live: &Value, shown: &ObjectDiff) -> Written {
        if let Some(reason) = replace_guard(self.target, live) {
            return Written::Failed(Diagnostic::new(Code::Protected, reason));
        }
        if let Err(error) = self.try_creation(live).await {
            // Nothing of the live object stands beside what is created.
            return self.failed(&error, None);
        }
        let deadline = DeletionDeadline::after(self.deletion);
        let _under_way = self.replacements.begin(&self.target.key);
        let mut again: Option<Decision> = None;
        for _ in 0..ROUNDS {
            let live = match again.as_ref().map(|now| (now, now.live())) {
                None => live,
                Some((now, Some(live))) if now.diff.action == Action::Replace => live,
                Some((now, _)) => return Written::Moved(Box::new(now.shown_diff(self.target))),
            };
            if self.replacements.is_interrupted() {
                return Written::Failed(Diagnostic::new(
                    Code::Interrupted,
                    "the run was interrupted: it was not replaced",
                ));
            }
            let uid = live.uid().unwrap_or_default().to_owned();
            let version = live.resource_version().unwrap_or_default().to_owned();
            let deletion = Deletion {
                key: &self.target.key,
                object: live,
                is_encrypted: self.target.desired.origin.is_encrypted,
                uid: &uid,
                resource_version: Some(&version),
            };
            match delete(self.cluster, self.resource, deletion, self.warnings).await {
                Ok(Deleted::Gone) => return self.create_again(live).await,
                Ok(Deleted::Terminating) => return self.once_gone(live, &uid, deadline).await,
                Ok(Deleted::Moved(_)) => {}
                Err(diagnostic) => return Written::Failed(diagnostic),
            }
            match self.judge_again().await {
                Some(now) if now.diff.same_difference(shown) => again = Some(now),
                Some(now) => return Written::Moved(Box::new(now.shown_diff(self.target))),
                None => break,
            }
        }
        Written::Failed(
            Diagnostic::new(Code::Conflict, "it keeps changing: it was not replaced").with_hint("run again"),
        )
    }

    /// Tries the creation as a dry run, in which only the live object may be in the way. A quota that only the object itself exceeds is
    /// ignored.
    async fn try_creation(&self, live: &Value) -> Result<(), RequestError> {
        let Some(body) = probe_object(&self.target.key.gvk, self.target.desired.object(), live) else { return Ok(()) };
        let answer = self.send(self.creation(&body).dry_run()).await;
        let asked = Asked::key(&self.target.key).created(&body);
        let would_succeed = |status: &StatusError| is_in_its_own_way(status) || may_fit(&status.message);
        match answer.and_then(|reply| asked.read(self.cluster, reply.body())) {
            Err(error) if !error.status().is_some_and(would_succeed) => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn creation(&self, body: &Value) -> WriteRequest {
        let collection = self.resource.collection_path(self.target.key.namespace.as_deref());
        WriteRequest::create(collection, &self.policy.manager, body)
    }

    async fn once_gone(&self, live: &Value, uid: &str, deadline: DeletionDeadline) -> Written {
        // An interrupted run still finishes the replacement if that is possible soon.
        let stop = self.replacements.grace_over();
        match wait_until_gone(self.cluster, self.resource, &self.target.key, uid, deadline, stop).await {
            LiveState::Absent => self.create_again(live).await,
            LiveState::Present(now) => {
                let still = if self.replacements.is_grace_over(Instant::now()) {
                    "it is still being deleted, and was not recreated because the run was interrupted".to_owned()
                } else {
                    format!("it is still being deleted after {} seconds", self.deletion.as_secs())
                };
                let message = still + &waits_for(&now);
                let hint = "run again with the same manifests when it is gone: it is created then";
                Written::Failed(Diagnostic::new(Code::Terminating, message).with_hint(hint))
            }
            LiveState::Unreadable(diagnostic) => {
                let message = format!("it is being deleted, and cannot be read any more: {}", diagnostic.message);
                Written::Failed(
                    Diagnostic::new(diagnostic.code, message).with_hint("run again: it is created when it is gone"),
                )
            }
        }
    }

    async fn create_again(&self, former: &Value) -> Written {
        let mut quota = QuotaWait::new();
        let created = loop {
            match self.create_new().await {
                Creation::Refused(error) if quota.counts_again(&error, self.replacements).await => {}
                created => break created,
            }
        };
        let (error, is_known) = match created {
            Creation::Done(warning) => return Written::Replaced.noting(warning),
            Creation::Taken => return self.taken().await,
            Creation::Refused(error) => (error, true),
            Creation::Unknown(error) => (error, false),
        };
        let failed = self.failed(&error, None);
        let Written::Failed(diagnostic) = failed else { return failed };
        if !is_known {
            let message = format!("it was deleted, and whether it was recreated is not known: {}", diagnostic.message);
            return Written::Failed(Diagnostic { message, ..diagnostic }.with_hint("run again"));
        }
        let put_back = self.put_back(former).await;
        let hint = match &put_back {
            Err(_) => diagnostic.hint.or_else(|| Some("run again with the same manifests to create it".to_owned())),
            Ok(_) => diagnostic.hint,
        };
        let fate = match put_back {
            Ok(true) => "the former object was put back".to_owned(),
            Ok(false) => "the former object had finished and is not put back, as it would run again".to_owned(),
            Err(error) => match self.failure(&error, Some(former)).message {
                same if same == diagnostic.message => "the former object could not be put back either".to_owned(),
                other => format!("the former object could not be put back either: {other}"),
            },
        };
        let message = format!("it was deleted and could not be recreated, and {fate}: {}", diagnostic.message);
        // The message includes all details.
        Written::Failed(Diagnostic { message, details: Vec::new(), hint, ..diagnostic })
    }

    /// The outcome if somebody else created the object after it was deleted.
    async fn taken(&self) -> Written {
        match self.judge_again().await {
            // Another run of this program created it.
            Some(now) if now.diff.is_done() => Written::Replaced,
            _ => {
                let message =
                    "it was deleted, and somebody else has created it in the meantime: that object was left unchanged";
                let hint = "run `diff` to see how it differs from the manifest, then run again";
                Written::Failed(Diagnostic::new(Code::Conflict, message).with_hint(hint))
            }
        }
    }

    /// Recreates the former object, with the owners of its fields. Returns false if it had finished, so that it must not run again.
    async fn put_back(&self, former: &Value) -> Result<bool, RequestError> {
        if has_finished(former) {
            return Ok(false);
        }
        let mut quota = QuotaWait::new();
        let reply = loop {
            match self.send(self.creation(&without_system_fields(former)).write(Retry::Never)).await {
                Err(error) if quota.counts_again(&error, self.replacements).await => {}
                reply => break reply,
            }
        };
        let created: Value = match reply {
            Ok(reply) => Asked::key(&self.target.key).read(self.cluster, reply.body())?,
            Err(error) => match find(self.cluster, self.resource, &self.target.key).await {
                // It was created, and the answer was lost.
                LiveState::Present(created) if error.status().is_none() => created,
                _ => return Err(error),
            },
        };
        let version = created.metadata("resourceVersion").cloned().unwrap_or_default();
        // The object exists. Restoring the owners of its fields is worth an attempt, but not an error.
        let _ = self.record_owners(recorded_owners(former), &version).await;
        Ok(true)
    }
}

/// The wait for a quota that still counts a deleted object.
struct QuotaWait {
    began: Instant,
    backoff: Backoff,
}

impl QuotaWait {
    fn new() -> Self {
        let backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(1));
        Self { began: Instant::now(), backoff }
    }

    /// Waits a moment. Returns false if the creation was refused for another reason, or if the wait is over.
    async fn counts_again(&mut self, error: &RequestError, replacements: &Replacements) -> bool {
        let is_full = error.status().is_some_and(|status| may_fit(&status.message));
        if !is_full || self.began.elapsed() >= RECOUNT {
            return false;
        }
        tokio::select! {
            () = sleep(self.backoff.pause()) => true,
            () = replacements.grace_over() => false,
        }
    }
}

/// The finalizers that keep an object which is being deleted, as the end of a sentence.
fn waits_for(object: &Value) -> String {
    match object.finalizers().collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [one] => format!(": it waits for the finalizer `{one}`"),
        several => format!(": it waits for the finalizers `{}`", several.join("`, `")),
    }
}

/// Returns true if, by its message, a quota refuses an object only because of the usage so far: `exceeded quota: cpu,
/// requested: pods=1,requests.cpu=2, used: …, limited: pods=9,requests.cpu=4` (`pkg/quota/v1` and the admission plugin).
fn may_fit(message: &str) -> bool {
    let part = |name: &str| {
        let (_, rest) = message.split_once(&format!("{name}: "))?;
        let list = rest.split(", ").next()?;
        let entries = list.split(',').filter_map(|entry| entry.split_once('='));
        Some(entries.filter_map(|(name, amount)| Some((name, Quantity::parse(amount)?))).collect::<HashMap<_, _>>())
    };
    let (Some(requested), Some(limited)) = (part("requested"), part("limited")) else { return false };
    let fits = |(name, amount): (&&str, &Quantity)| limited.get(*name).is_some_and(|limit| amount <= limit);
    message.contains("exceeded quota") && requested.iter().all(fits)
}

/// Returns true for a Job or a Pod that has finished: it would run again if it were recreated.
fn has_finished(object: &Value) -> bool {
    let phase = object.pointer("/status/phase").and_then(Value::as_str);
    match object.get("kind").and_then(Value::as_str) {
        Some("Job") => object.has_condition("Complete", "True") || object.has_condition("Failed", "True"),
        Some("Pod") => matches!(phase, Some("Succeeded" | "Failed")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_that_the_object_alone_exceeds_is_an_obstacle() {
        let message = |requested: &str| {
            format!(
                "pods \"a\" is forbidden: exceeded quota: q, requested: {requested}, used: pods=1,requests.cpu=1, limited: pods=1,requests.cpu=1500m"
            )
        };
        assert!(may_fit(&message("pods=1,requests.cpu=1")));
        assert!(!may_fit(&message("pods=1,requests.cpu=5")));
        assert!(!may_fit("exceeded quota: in a form of its own"));
    }
}
