//! `--report-unmanaged`: lists the metadata of all objects in some namespaces, and leaves out those that something explains.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey};

use super::prune::searchable;
use super::server::Server;
use crate::client::IN_FLIGHT;
use crate::live::fetch::find;
use crate::live::list::Pages;
use crate::live::{Discovery, LiveState, Resolution, Resource};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::plan::{is_transient, unexplained};
use reconcile_core::text::listed;

/// The largest number of kinds that a warning names.
const NAMED: usize = 5;

/// The objects that nothing explains, and the collections that could not be listed.
#[derive(Debug, Default)]
pub(crate) struct Unmanaged {
    /// The objects, sorted.
    pub objects: Vec<ObjectKey>,
    /// Warnings about collections that could not be listed.
    pub warnings: Vec<String>,
}

/// The resources whose objects are listed.
pub(crate) fn searched(discovery: &Discovery) -> Vec<Resource> {
    searchable(discovery).into_iter().filter(|resource| resource.namespaced && !is_transient(&resource.gvk)).collect()
}

impl Unmanaged {
    /// Lists all kinds in the namespaces, and returns the objects that are not `wanted` and not explained otherwise.
    pub async fn search(server: &Server, namespaces: &BTreeSet<String>, wanted: &[&ObjectKey]) -> Self {
        let resources = searched(&server.discovery);
        let collections =
            namespaces.iter().flat_map(|namespace| resources.iter().map(move |resource| (namespace, resource)));
        let lists = collections.map(|(namespace, resource)| async move {
            let pages = Pages::new(&server.cluster, resource, Some(namespace)).metadata_only();
            (namespace, &resource.gvk, pages.all().await)
        });
        let lists: Vec<_> = futures::stream::iter(lists).buffered(IN_FLIGHT).collect().await;
        let mut found: Vec<(GroupVersionKind, Value)> = Vec::new();
        let mut inhabited: BTreeSet<&String> = BTreeSet::new();
        let mut unlisted: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
        for (namespace, gvk, list) in lists {
            match list {
                Ok((objects, _)) => {
                    if !objects.is_empty() {
                        inhabited.insert(namespace);
                    }
                    found.extend(objects.into_iter().map(|object| (gvk.clone(), object)));
                }
                // The kind was removed since discovery, and its objects with it.
                Err(error) if error.is_not_found() || error.status().is_some_and(|status| status.code == 405) => {}
                Err(error) => {
                    let code = Diagnostic::about(gvk, &error).code.to_string();
                    unlisted.entry((namespace, code)).or_default().push(&gvk.kind);
                }
            }
        }
        // For a namespace of the manifests, the reports on its objects say already that it does not exist.
        let own: BTreeSet<&str> = wanted.iter().filter_map(|key| key.own_namespace()).collect();
        let empty = namespaces.iter().filter(|name| !inhabited.contains(name) && !own.contains(name.as_str()));
        let missing = missing(server, empty).await;
        let missing = missing.into_iter().map(|namespace| format!("namespace `{namespace}` does not exist"));
        let warnings = unlisted.iter().map(|((namespace, code), kinds)| {
            let kinds = listed(kinds.iter().copied(), NAMED);
            format!(
                "unmanaged objects of these kinds could not be looked for in namespace `{namespace}`: {kinds} ({code})"
            )
        });
        Self { objects: unexplained(&found, wanted), warnings: missing.chain(warnings).collect() }
    }
}

/// The namespaces that the server does not have.
async fn missing<'n>(
    Server { cluster, discovery, .. }: &Server,
    namespaces: impl Iterator<Item = &'n String>,
) -> Vec<&'n String> {
    let Resolution::Known(resource) = discovery.resolve(&GroupVersionKind::new("v1", "Namespace")) else {
        return Vec::new();
    };
    let reads = namespaces.map(async |name| {
        let key = ObjectKey { gvk: resource.gvk.clone(), namespace: None, name: name.clone() };
        (name, find(cluster, resource, &key).await)
    });
    let read: Vec<_> = futures::stream::iter(reads).buffered(IN_FLIGHT).collect().await;
    read.into_iter().filter(|(_, state)| matches!(state, LiveState::Absent)).map(|(name, _)| name).collect()
}
