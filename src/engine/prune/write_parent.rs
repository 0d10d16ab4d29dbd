//! Writes the list of the parent by server-side apply, with the version that was read as the lock.

#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use apply_set::{ApplySet, ParentAnnotations, ParentState};
use serde_json::Value;

use crate::client::{Change, Cluster, Retry};
use crate::diagnostic::Diagnostic;
use crate::live::Resource;
use crate::live::answer::Asked;

/// A version that no object has: etcd begins to count behind it. An object that is there already refuses it, and where there
/// is none, the server does not look at it.
const NONE: &str = "1";

/// The result of a write of the parent.
#[derive(Clone, Debug)]
pub(super) enum Recorded {
    /// It is written; this is the parent now.
    Written(Value),
    /// Somebody else changed the parent since it was read.
    Moved,
    /// It could not be written.
    Failed(Diagnostic),
}

/// Writes the annotations of the parent, which is created where there is none. The annotations are the set's own, so another
/// manager that owns them is overruled; the version that was read is the lock.
pub(super) async fn record(
    cluster: &Cluster,
    resource: &Resource,
    set: &ApplySet,
    state: Option<&ParentState>,
    annotations: &ParentAnnotations,
) -> Recorded {
    let mut body = annotations.manifest(set);
    if let Some(state) = state {
        body["metadata"]["uid"] = state.uid.as_str().into();
        body["metadata"]["resourceVersion"] = state.resource_version.as_str().into();
    } else {
        // What somebody creates meanwhile does not become a parent.
        body["metadata"]["resourceVersion"] = NONE.into();
    }
    // What is begun is finished, also when the run is interrupted.
    let cluster = &cluster.until_done();
    let path = resource.object_path(set.parent.namespace.as_deref(), &set.parent.name);
    let change = Change::apply(path, &annotations.manager(), true, &body);
    let answer = cluster.send(change.write(Retry::Safe)).await;
    let answer = answer.and_then(|reply| Asked::key(&set.parent).sent(&body).read(cluster, &reply.body));
    match answer {
        Ok(parent) => Recorded::Written(parent),
        Err(error) if error.status().is_some_and(|status| status.code == 409) => Recorded::Moved,
        Err(error) => Recorded::Failed(Diagnostic::about(&set.parent.gvk, &error)),
    }
}
