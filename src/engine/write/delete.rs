//! Deletes one object, if it is still the one that was judged, and waits until it is gone.

#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use std::pin::pin;
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::{Value, json};
use structured_merge::{ObjectKey, ObjectMeta as _};
use tokio::time::Instant;

use super::lost::{is_open, may_be_done, unknown_end};
use crate::client::{Cluster, Retry, Warnings, WriteRequest};
use crate::engine::backoff::Backoff;
use crate::live::answer::unexpected;
use crate::live::fetch::find;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::{LiveState, Resource};

/// The time that the finalizers and the grace period of a deleted object may take, unless `--timeout` is given.
pub const DEFAULT_DELETE_TIMEOUT: Duration = Duration::from_mins(1);

/// The first wait between two reads of an object that is being deleted.
const FIRST_LOOK: Duration = Duration::from_millis(50);

/// The longest wait between two reads.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// The end of a wait. It is computed before anything is deleted, so that no error of the clock can come between a deletion and the
/// steps after it.
#[derive(Clone, Copy, Debug)]
pub struct DeletionDeadline {
    /// `None` if the clock cannot represent it: then there is no end.
    at: Option<Instant>,
}

impl DeletionDeadline {
    /// The deadline after this time from now.
    pub fn after(timeout: Duration) -> Self {
        Self { at: Instant::now().checked_add(timeout) }
    }

    /// The remaining time.
    fn left(self) -> Duration {
        self.at.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()))
    }
}

/// The outcome of a deletion.
#[derive(Clone, Debug, PartialEq)]
pub enum Deleted {
    /// The object does not exist any more.
    Gone,
    /// The server deletes it, once its dependents, its grace period or its finalizers allow it.
    Terminating,
    /// The object changed after it was judged, and was left alone; this is its new state.
    Moved(Box<Value>),
}

/// The object to delete.
#[derive(Clone, Copy, Debug)]
pub struct Deletion<'a> {
    /// Its identity.
    pub key: &'a ObjectKey,
    /// Its last known version.
    pub object: &'a Value,
    /// True if its manifest is encrypted, so that no text of the server about it is shown.
    pub is_encrypted: bool,
    /// The uid: another object of the same name is not deleted.
    pub uid: &'a str,
    /// The only version in which it is deleted, if there is one.
    pub resource_version: Option<&'a str>,
}

/// Deletes an object. Its dependents are deleted in the background (`propagationPolicy: Background`, kubectl's default). A missing object
/// counts as deleted. If the response is lost, the object is read to learn the outcome.
pub async fn delete(
    cluster: &Cluster,
    resource: &Resource,
    Deletion { key, object, is_encrypted, uid, resource_version }: Deletion<'_>,
    warnings: &Warnings,
) -> Result<Deleted, Diagnostic> {
    // A deletion that was begun is finished, even if the run is interrupted.
    let cluster = &cluster.until_done();
    let mut preconditions = json!({ "uid": uid });
    if let Some(version) = resource_version {
        preconditions["resourceVersion"] = version.into();
    }
    let options = json!({
        "apiVersion": "v1", "kind": "DeleteOptions",
        "propagationPolicy": "Background", "preconditions": preconditions,
    });
    let path = resource.object_path(key.namespace.as_deref(), &key.name);
    // The uid makes repetitions safe: an object that somebody created in the meantime has another uid.
    let error = match cluster.change(WriteRequest::delete(path, &options).write(Retry::Safe), warnings).await {
        Ok(reply) => match answered(reply.body(), uid) {
            Some(deleted) => return Ok(deleted),
            None => unexpected(cluster, "it is not the answer to a deletion"),
        },
        Err(error) => error,
    };
    let code = error.status().map(|status| status.code);
    let failed = || Diagnostic::about_object(&key.gvk, &[object], is_encrypted, &error);
    match code {
        Some(404) if error.is_not_found() => return Ok(Deleted::Gone),
        // An error page of a proxy: only the API server knows whether the object exists.
        Some(404 | 409) => {}
        Some(refused) if refused < 500 => return Err(failed()),
        _ => {}
    }
    match find(cluster, resource, key).await {
        LiveState::Absent => Ok(Deleted::Gone),
        LiveState::Present(now) if uid_of(&now) == uid && now.is_terminating() => Ok(Deleted::Terminating),
        LiveState::Present(now) if code == Some(409) && !is_version(&now, uid, resource_version) => {
            Ok(Deleted::Moved(Box::new(now)))
        }
        LiveState::Present(_) if may_be_done(&error) => Err(unknown_end(failed(), "deleted")),
        LiveState::Unreadable(_) if is_open(&error) => Err(unknown_end(failed(), "deleted")),
        LiveState::Present(_) | LiveState::Unreadable(_) => Err(failed()),
    }
}

/// Waits until the object with this uid is gone, until the deadline, or until `stop` is ready. Returns the last state of the
/// object.
pub async fn wait_until_gone(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    uid: &str,
    deadline: DeletionDeadline,
    stop: impl Future<Output = ()>,
) -> LiveState {
    let cluster = &cluster.until_done();
    let mut stop = pin!(stop.fuse());
    let mut backoff = Backoff::new(FIRST_LOOK, LAST_LOOK);
    let mut is_stopped = false;
    loop {
        let now = match find(cluster, resource, key).await {
            LiveState::Present(now) if uid_of(&now) == uid => LiveState::Present(now),
            LiveState::Absent | LiveState::Present(_) => return LiveState::Absent,
            LiveState::Unreadable(diagnostic) => return LiveState::Unreadable(diagnostic),
        };
        let left = deadline.left();
        is_stopped |= stop.as_mut().now_or_never().is_some();
        if is_stopped || left.is_zero() {
            return now;
        }
        // After a stop, the object is read for the last time.
        is_stopped = tokio::time::timeout(backoff.pause().min(left), stop.as_mut()).await.is_ok();
    }
}

/// Reads the answer to a deletion. A `Status` means that the object is gone, and the object itself that it still has finalizers or a
/// grace period (apiserver `registry/generic/registry/store.go`, `Delete`). Returns `None` for any other answer.
fn answered(body: &[u8], uid: &str) -> Option<Deleted> {
    let answer = serde_json::from_slice::<Value>(body).ok()?;
    let at = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
    if at("/kind") == Some("Status") {
        let is_it = at("/status") == Some("Success") && at("/details/uid").is_none_or(|about| about == uid);
        return is_it.then_some(Deleted::Gone);
    }
    (answer.uid() == Some(uid)).then_some(Deleted::Terminating)
}

fn uid_of(object: &Value) -> &str {
    object.uid().unwrap_or_default()
}

fn is_version(object: &Value, uid: &str, resource_version: Option<&str>) -> bool {
    uid_of(object) == uid && (resource_version.is_none() || resource_version == object.resource_version())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_about_the_object_says_what_became_of_it() {
        let status = |status: &str, uid: &str| json!({"kind": "Status", "apiVersion": "v1", "status": status, "details": {"name": "a", "uid": uid}});
        let object = |uid: &str| json!({"kind": "Job", "metadata": {"name": "a", "uid": uid}});
        for (answer, deleted) in [
            (status("Success", "1"), Some(Deleted::Gone)),
            (json!({"kind": "Status", "status": "Success"}), Some(Deleted::Gone)),
            (status("Success", "2"), None),
            (status("Failure", "1"), None),
            (object("1"), Some(Deleted::Terminating)),
            (object("2"), None),
            (json!({}), None),
            (json!(null), None),
        ] {
            assert_eq!(answered(answer.to_string().as_bytes(), "1"), deleted, "{answer}");
        }
        assert_eq!(answered(b"<html>", "1"), None);
        assert_eq!(answered(b"", "1"), None);
    }

    #[test]
    fn a_deadline_holds_any_timeout() {
        assert_eq!(DeletionDeadline::after(Duration::MAX).left(), Duration::MAX);
        assert_eq!(DeletionDeadline::after(Duration::ZERO).left(), Duration::ZERO);
        assert!(DeletionDeadline::after(crate::client::MAX_TIMEOUT).left() > Duration::from_hours(24));
    }
}
