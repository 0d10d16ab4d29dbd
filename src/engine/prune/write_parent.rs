//! Writes the list of the parent by server-side apply, with the version that was read as the lock.

use apply_set::{ApplySet, ID, ParentAnnotations, ParentState};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use crate::client::{Cluster, Retry, WriteRequest};
use crate::live::answer::Asked;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::Resource;

/// A version that no object has, because etcd starts to count after it. An existing object refuses it with a conflict. If there is no
/// object, the server ignores it.
const NONE: &str = "1";

/// The result of a write of the parent.
#[derive(Clone, Debug)]
pub(super) enum Recorded {
    /// It was written; this is the new state of the parent.
    Written(Value),
    /// Somebody else changed the parent since it was read.
    Moved,
    /// It could not be written.
    Failed(Diagnostic),
}

/// Writes the annotations of the parent, which is created if it does not exist. The apply is forced, because the annotations belong to
/// the set, no matter who owns them; the version that was read is the lock.
pub(super) async fn record(
    cluster: &Cluster,
    resource: &Resource,
    set: &ApplySet,
    state: Option<&ParentState>,
    annotations: &ParentAnnotations,
) -> Recorded {
    let ApplySet { parent, id } = set;
    let metadata = ObjectMeta {
        name: Some(parent.name.clone()),
        namespace: parent.namespace.clone(),
        labels: Some([(ID.to_owned(), id.clone())].into()),
        annotations: Some(annotations.to_map()),
        uid: state.map(|state| state.uid.clone()),
        // An object that somebody creates in the meantime does not become a parent.
        resource_version: Some(state.map_or_else(|| NONE.to_owned(), |state| state.resource_version.clone())),
        ..ObjectMeta::default()
    };
    let body = json!({"apiVersion": parent.gvk.api_version(), "kind": parent.gvk.kind, "metadata": metadata});
    // A write that was begun is finished, even if the run is interrupted.
    let cluster = &cluster.until_done();
    let path = resource.object_path(parent.namespace.as_deref(), &parent.name);
    let change = WriteRequest::apply(path, &annotations.manager(), true, &body);
    let answer = cluster.send(change.write(Retry::Safe)).await;
    let answer = answer.and_then(|reply| Asked::key(parent).sent(&body).read(cluster, &reply.body));
    match answer {
        Ok(live) => Recorded::Written(live),
        Err(error) if error.status().is_some_and(|status| status.code == 409) => Recorded::Moved,
        Err(error) => Recorded::Failed(Diagnostic::about(&parent.gvk, &error)),
    }
}
