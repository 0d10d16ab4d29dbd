//! Asks the server which resources it has.

use futures::StreamExt as _;
use kube::core::discovery::v2::ACCEPT_AGGREGATED_DISCOVERY_V2 as AGGREGATED;
use reconcile_core::live::Discovery;
use serde_json::Value;

use super::answer::{json, unexpected};
use crate::client::{Address, Cluster, IN_FLIGHT, Request, RequestError};

/// Asks the server: two requests where it knows aggregated discovery (since 1.26), else one more for each group-version.
pub async fn discover(cluster: &Cluster) -> Result<Discovery, RequestError> {
    let (core, groups) =
        futures::try_join!(fetch(cluster, "/api".into(), AGGREGATED), fetch(cluster, "/apis".into(), AGGREGATED))?;
    let Some((mut discovery, legacy)) = Discovery::read(&core, &groups) else {
        return Err(unexpected(cluster, "it does not list API groups"));
    };
    let documents = legacy.into_iter().map(|(group, version)| async move {
        let root = if group.is_empty() { Address::from("/api") } else { Address::from("/apis").join(group.clone()) };
        let document = fetch(cluster, root.join(version.clone()), "application/json").await;
        (group, version, document)
    });
    let documents: Vec<_> = futures::stream::iter(documents).buffered(IN_FLIGHT).collect().await;
    for (group, version, document) in documents {
        match document {
            Err(error) if error.is_whole_run() => return Err(error),
            document => discovery.add_group_version(group, version, document.ok().as_ref()),
        }
    }
    Ok(discovery)
}

async fn fetch(cluster: &Cluster, path: Address, accept: &'static str) -> Result<Value, RequestError> {
    json(cluster, Request::read(path).with_accept(accept)).await
}
