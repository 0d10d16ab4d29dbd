//! Asks the server which resources it has. Its documents are parsed while they arrive: anybody who may define kinds decides how large
//! they are.

use std::io::BufReader;

use futures::StreamExt as _;
use kube::core::discovery::v2::ACCEPT_AGGREGATED_DISCOVERY_V2 as AGGREGATED;
use reconcile_core::exact;
use reconcile_core::live::resolve::Namespaces;
use reconcile_core::live::{Discovery, GroupDocument, LEGACY_FIELDS, Resolution, Resource};
use serde_json::Value;
use structured_merge::GroupKind;

use super::answer::unexpected;
use crate::client::{Address, Cluster, IN_FLIGHT, Request, RequestError};

/// The largest document, in bytes.
const LARGEST: usize = 256 << 20;
/// The media type of the legacy documents.
const LEGACY: &str = "application/json";
/// The most group-versions whose documents are requested one by one, in the order of the server, which begins with its own groups.
const MOST: usize = 5000;

/// A connected API server: the connection, its resources, and the namespace of manifests without one.
pub(crate) struct Server {
    /// The connection.
    pub cluster: Cluster,
    /// The resources that it serves.
    pub discovery: Discovery,
    /// The namespaces for manifests.
    pub namespaces: Namespaces,
}

/// The resource of a kind that the server serves, in its preferred version. One that only manifests define is not served yet.
pub(crate) fn served<'d>(discovery: &'d Discovery, kind: &GroupKind) -> Option<&'d Resource> {
    match discovery.resolve_kind(kind) {
        Resolution::Known(resource) if !resource.pending => Some(resource),
        _ => None,
    }
}

/// Asks the server: two requests where it knows aggregated discovery (since 1.26), else one more for each group-version. The same is
/// done if the aggregated documents are too large.
pub async fn discover(cluster: &Cluster) -> Result<Discovery, RequestError> {
    discover_within(cluster, LARGEST).await
}

async fn discover_within(cluster: &Cluster, limit: usize) -> Result<Discovery, RequestError> {
    let (core, groups) = futures::try_join!(groups(cluster, "/api", limit), groups(cluster, "/apis", limit))?;
    let Some((mut discovery, legacy)) = Discovery::read(core, groups) else {
        return Err(unexpected(cluster, "it does not list API groups"));
    };
    let documents = legacy.into_iter().enumerate().map(|(index, (group, version))| async move {
        let document = if index < MOST { Some(resources(cluster, &group, &version).await) } else { None };
        (group, version, document)
    });
    let mut documents = futures::stream::iter(documents).buffered(IN_FLIGHT);
    while let Some((group, version, document)) = documents.next().await {
        match document {
            Some(Err(error)) if error.is_whole_run() => return Err(error),
            document => discovery.add_group_version(group, version, document.and_then(Result::ok).as_ref()),
        }
    }
    Ok(discovery)
}

async fn groups(cluster: &Cluster, path: &'static str, limit: usize) -> Result<GroupDocument, RequestError> {
    let document = async |accept| {
        let request = Request::read(path).with_accept(accept);
        cluster.read(request, limit, |body| exact::from_reader(BufReader::new(body))).await
    };
    match document(AGGREGATED).await {
        Err(RequestError::TooLarge { .. }) => document(LEGACY).await,
        answer => answer,
    }
}

async fn resources(cluster: &Cluster, group: &str, version: &str) -> Result<Value, RequestError> {
    let root = if group.is_empty() { Address::from("/api") } else { Address::from("/apis").join(group.to_owned()) };
    let request = Request::read(root.join(version.to_owned())).with_accept(LEGACY);
    cluster.read(request, LARGEST, |body| LEGACY_FIELDS.read_from(body)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ConnectOptions, Environment, connect};
    use reconcile_core::live::Resolution;
    use structured_merge::GroupVersionKind;
    use test_control_plane::scripted::{Act, Server, answer, ok};

    #[tokio::test]
    async fn documents_that_are_too_large_are_requested_by_group() {
        let server = Server::start(|_, seen| {
            let json = |body: &str| answer("200 OK", &["content-type: application/json"], body);
            let is_aggregated = seen.header("accept").concat().contains("APIGroupDiscoveryList");
            match seen.line.split(' ').nth(1) {
                Some("/apis") if is_aggregated => {
                    Act::Flood(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{".to_vec())
                }
                Some("/api") => json(r#"{"kind":"APIVersions","versions":[]}"#),
                Some("/apis") => json(
                    r#"{"kind":"APIGroupList","groups":[{"versions":[{"groupVersion":"a.com/v1"}]},{"versions":[{"groupVersion":"b.com/v1"}]}]}"#,
                ),
                Some("/apis/a.com/v1") => json(
                    r#"{"kind":"APIResourceList","resources":[{"name":"widgets","kind":"Widget","verbs":["get"],"shortNames":["w"]}]}"#,
                ),
                _ => ok(),
            }
        })
        .await;
        let options =
            ConnectOptions { server: Some(format!("http://{}", server.address())), ..ConnectOptions::default() };
        let cluster = connect(&options, &Environment::default()).await.unwrap();
        let discovery = discover_within(&cluster, 1 << 20).await.unwrap();
        let resolve = |api_version, kind| discovery.resolve(&GroupVersionKind::new(api_version, kind));
        assert!(matches!(resolve("a.com/v1", "Widget"), Resolution::Known(_)));
        assert_eq!(resolve("b.com/v1", "Widget"), Resolution::Unavailable, "its own document is none");
    }
}
