//! Asks the API server what the user may do (`SelfSubjectAccessReview`).

use futures::StreamExt as _;
use k8s_openapi::Resource as _;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use serde_json::{Value, json};

use super::answer::{parse, unexpected};
use crate::client::{Address, Cluster, IN_FLIGHT, RequestError, Warnings, WriteRequest};
use reconcile_core::object::Permission;

/// Returns for each permission whether the user has it, in order; an error where that could not be found out.
pub async fn review(cluster: &Cluster, permissions: &[&Permission]) -> Vec<Result<bool, RequestError>> {
    let reviews = permissions.iter().map(|permission| is_allowed(cluster, permission));
    futures::stream::iter(reviews).buffered(IN_FLIGHT).collect().await
}

/// Sends one review. A review is created but never stored, so it is sent as a dry run.
async fn is_allowed(cluster: &Cluster, permission: &Permission) -> Result<bool, RequestError> {
    let Permission { namespace, group, resource, name, verb } = permission;
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let attributes = ResourceAttributes {
        namespace: Some(namespace.clone().unwrap_or_default()),
        verb: Some(verb.clone()),
        group: Some(group.clone()),
        resource: Some(resource.to_owned()),
        subresource: Some(subresource.to_owned()),
        name: Some(name.clone().unwrap_or_default()),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), non_resource_attributes: None };
    let api_version = SelfSubjectAccessReview::API_VERSION;
    let kind = SelfSubjectAccessReview::KIND;
    let question = json!({"apiVersion": api_version, "kind": kind, "spec": spec});
    let collection = Address::from("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    let review = WriteRequest::create(collection, "kubectl-reconcile", &question).dry_run();
    // A review is no object of the user, so that a warning would be about this program alone.
    let reply = cluster.change(review, &Warnings::default()).await?;
    let answer: Value = parse(cluster, &reply.body)?;
    let is_review = answer.get("kind").is_some_and(|kind| kind == SelfSubjectAccessReview::KIND);
    match answer.pointer("/status/allowed").and_then(Value::as_bool).filter(|_| is_review) {
        Some(is_allowed) => Ok(is_allowed),
        None => Err(unexpected(cluster, "it is not an access review")),
    }
}
