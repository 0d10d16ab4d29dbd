//! Asks the server what an apply would make of an object (`dryRun=All`): it runs the merge, the defaults and admission,
//! and writes nothing.

use serde_json::Value;

use super::catalog::Resource;
use super::{Target, parse};
use crate::cluster::{Cluster, Purpose, Request, RequestError};

/// What an apply would yield, with the warnings that the server sends along.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The whole object as it would be.
    pub object: Value,
    /// Texts of the `Warning` headers.
    pub warnings: Vec<String>,
}

/// Whether fields that others own are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// Conflicts are overruled: the answer shows everything that would change.
    Yes,
    /// Conflicts are refused with 409.
    No,
}

/// The query of a server-side apply.
#[must_use]
pub fn apply_query(manager: &str, force: Force) -> String {
    let manager: String = manager.bytes().map(super::catalog::escape).collect();
    // Duplicate keys can't occur in a body that we wrote, and unknown fields are refused whatever this says.
    format!("fieldManager={manager}&fieldValidation=Ignore&force={}", force == Force::Yes)
}

/// Dry-runs a server-side apply of `body`.
pub async fn apply(
    cluster: &Cluster,
    target: &Target,
    resource: &Resource,
    body: &Value,
    manager: &str,
) -> Result<Answer, RequestError> {
    let path = resource.object_path(target.key.namespace.as_deref(), &target.key.name);
    let path = format!("{path}?dryRun=All&{}", apply_query(manager, Force::Yes));
    send(cluster, Request::apply_patch(Purpose::DryRun, path, body.to_string())).await
}

/// Dry-runs a JSON patch, for what one apply can't foretell.
pub async fn json_patch(
    cluster: &Cluster,
    target: &Target,
    resource: &Resource,
    operations: &Value,
) -> Result<Answer, RequestError> {
    let path = resource.object_path(target.key.namespace.as_deref(), &target.key.name);
    let request = Request::new(Purpose::DryRun, http::Method::PATCH, format!("{path}?dryRun=All"))
        .with_body("application/json-patch+json", operations.to_string())
        .with_retry(crate::cluster::Retry::Safe);
    send(cluster, request).await
}

async fn send(cluster: &Cluster, request: Request) -> Result<Answer, RequestError> {
    let reply = cluster.send(request).await?;
    Ok(Answer { object: parse(cluster, &reply.body)?, warnings: reply.warnings })
}
