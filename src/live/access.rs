//! Asks the API server what the user may do (`SelfSubjectAccessReview`).

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::answer::{parse, unexpected};
use crate::client::{Address, Change, Cluster, IN_FLIGHT, RequestError};
use crate::object::Permission;

const API_VERSION: &str = "authorization.k8s.io/v1";
const KIND: &str = "SelfSubjectAccessReview";

/// Returns for each permission whether the user has it, in order; an error where that could not be found out.
pub async fn review(cluster: &Cluster, permissions: &[&Permission]) -> Vec<Result<bool, RequestError>> {
    let reviews = permissions.iter().map(|permission| is_allowed(cluster, permission));
    futures::stream::iter(reviews).buffered(IN_FLIGHT).collect().await
}

/// A review is a question, though it is put as a creation: nothing is stored, and it is sent as a dry run.
async fn is_allowed(cluster: &Cluster, permission: &Permission) -> Result<bool, RequestError> {
    let Permission { namespace, group, resource, name, verb } = permission;
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let attributes = json!({
        "namespace": namespace.as_deref().unwrap_or_default(), "verb": verb, "group": group,
        "resource": resource, "subresource": subresource, "name": name.as_deref().unwrap_or_default(),
    });
    let question = json!({"apiVersion": API_VERSION, "kind": KIND, "spec": {"resourceAttributes": attributes}});
    let collection = Address::from("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    let reply = cluster.send(Change::create(collection, "kubectl-reconcile", &question).dry_run()).await?;
    let answer: Value = parse(cluster, &reply.body)?;
    let is_review = answer.get("kind").is_some_and(|kind| kind == KIND);
    match answer.pointer("/status/allowed").and_then(Value::as_bool).filter(|_| is_review) {
        Some(is_allowed) => Ok(is_allowed),
        None => Err(unexpected(cluster, "it is no access review")),
    }
}
