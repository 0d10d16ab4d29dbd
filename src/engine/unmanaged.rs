//! `--report-unmanaged`: lists the metadata of all objects in some namespaces, and leaves out those that something explains.

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::{Discovery, LiveState, Resolution, Resource};
use reconcile_core::object::names::path_segment_refused;
use reconcile_core::plan::{
    EXPLAINING_FIELDS, Explanations, NamedOwner, TOKEN_TYPE, UnexplainedObject, is_transient, may_be_token, unexplained,
};
use reconcile_core::text::listed;
use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, ObjectKey, ObjectMeta as _};

use super::prune::searchable;
use crate::client::{IN_FLIGHT, RequestError};
use crate::live::discovery::Server;
use crate::live::fetch::find;
use crate::live::list::{Budget, Pages};

/// The largest number of kinds that a warning names.
const NAMED: usize = 5;
/// The largest number of owners that are read one by one. An object that names another one is reported.
const MOST_OWNERS: usize = 100;
/// The largest number of times that owners of owners are read.
const ROUNDS: usize = 4;
/// Helm's records of its releases, which it keeps in Secrets of this type.
const NO_RELEASES: &str = "type!=helm.sh/release.v1";
/// The most memory, in bytes, of the metadata of all objects.
const MEMORY: usize = 256 << 20;

/// The objects that nothing explains, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct Unmanaged {
    /// The objects, sorted.
    pub objects: Vec<UnexplainedObject>,
    /// The kinds that could not be listed, by namespace and reason.
    pub unlisted: Vec<Diagnostic>,
    /// Warnings about namespaces that do not exist, and owners that could not be read.
    pub warnings: Vec<String>,
}

/// The resources whose objects are listed.
pub(crate) fn searched(discovery: &Discovery) -> Vec<Resource> {
    searchable(discovery).into_iter().filter(|resource| resource.namespaced && !is_transient(&resource.gvk)).collect()
}

impl Unmanaged {
    /// Lists all kinds in the namespaces, and returns the objects that are not `wanted`, not in the apply set of this run, and not
    /// explained otherwise.
    pub async fn search(
        server: &Server,
        namespaces: &BTreeSet<String>,
        wanted: &[&ObjectKey],
        set: Option<&str>,
    ) -> Self {
        let resources = searched(&server.discovery);
        let collections =
            namespaces.iter().flat_map(|namespace| resources.iter().map(move |resource| (namespace, resource)));
        let lists = collections.map(|(namespace, resource)| async move {
            (namespace, &resource.gvk, list(server, namespace, resource).await)
        });
        let mut lists = futures::stream::iter(lists).buffered(IN_FLIGHT);
        let mut found: Vec<(GroupVersionKind, Value)> = Vec::new();
        let mut inhabited: BTreeSet<&String> = BTreeSet::new();
        let mut unlisted: BTreeMap<(&str, Code), Vec<&str>> = BTreeMap::new();
        let mut budget = Budget::of(MEMORY);
        while let Some((namespace, gvk, list)) = lists.next().await {
            match list.and_then(|objects| budget.admit(objects)) {
                Ok(objects) => {
                    if !objects.is_empty() {
                        inhabited.insert(namespace);
                    }
                    found.extend(objects.into_iter().map(|object| (gvk.clone(), object)));
                }
                // The kind was removed since discovery, and its objects with it.
                Err(error) if error.is_not_found() || error.status().is_some_and(|status| status.code == 405) => {}
                Err(error) => {
                    let code = Diagnostic::about(gvk, &error).code;
                    unlisted.entry((namespace, code)).or_default().push(&gvk.kind);
                }
            }
        }
        // For a namespace of the manifests, the reports on its objects say already that it does not exist.
        let own: BTreeSet<&str> = wanted.iter().filter_map(|key| key.own_namespace()).collect();
        let empty = namespaces.iter().filter(|name| !inhabited.contains(name) && !own.contains(name.as_str()));
        let missing = missing(server, empty).await;
        let missing = missing.into_iter().map(|namespace| format!("namespace `{namespace}` does not exist"));
        let unlisted = unlisted.iter().map(|((namespace, code), kinds)| {
            let kinds = listed(kinds.iter().copied(), NAMED);
            let message =
                format!("unmanaged objects of these kinds could not be looked for in namespace `{namespace}`: {kinds}");
            Diagnostic::new(*code, message)
        });
        let explanations = Explanations { wanted, set, unreadable: BTreeSet::new() };
        let (objects, unread) = explained_by_owners(server, found, explanations).await;
        Self { objects, unlisted: unlisted.collect(), warnings: missing.chain(unread).collect() }
    }
}

/// Lists the metadata of the objects of a resource, with the type of those that are tokens of service accounts.
async fn list(server: &Server, namespace: &str, resource: &Resource) -> Result<Vec<Value>, RequestError> {
    let pages = || Pages::new(&server.cluster, resource, Some(namespace)).metadata_only().keeping(EXPLAINING_FIELDS);
    let pages_of = |selector: String| pages().with("fieldSelector", selector).all();
    if !resource.gvk.is_secret() {
        return Ok(pages().all().await?.0);
    }
    let (mut secrets, _) = pages_of(NO_RELEASES.to_owned()).await?;
    if secrets.iter().any(|secret| may_be_token(&resource.gvk, secret)) {
        // The type of a Secret is no part of its metadata, and with all of a Secret, its values would be read.
        let (tokens, _) = pages_of(format!("type={TOKEN_TYPE}")).await?;
        let tokens: BTreeSet<Option<&str>> = tokens.iter().map(|token| token.uid()).collect();
        for secret in &mut secrets {
            if secret.uid().is_some() && tokens.contains(&secret.uid()) {
                secret["type"] = TOKEN_TYPE.into();
            }
        }
    }
    Ok(secrets)
}

/// Leaves out the objects whose owners explain them. Owners that no LIST returned are read one by one: they are in no namespace, or
/// newer than their list, or of a kind that may not be listed. Also returns a warning about those that could not be read.
async fn explained_by_owners(
    server: &Server,
    mut found: Vec<(GroupVersionKind, Value)>,
    mut explanations: Explanations<'_>,
) -> (Vec<UnexplainedObject>, Option<String>) {
    let mut asked: BTreeSet<NamedOwner> = BTreeSet::new();
    let mut result = unexplained(&found, &explanations);
    for _ in 0..ROUNDS {
        let left = MOST_OWNERS.saturating_sub(asked.len());
        let next: Vec<NamedOwner> = result.missing.difference(&asked).take(left).cloned().collect();
        if next.is_empty() {
            break;
        }
        let reads = next.iter().map(async |owner| (owner, read_owner(server, owner).await));
        let read: Vec<_> = futures::stream::iter(reads).buffered(IN_FLIGHT).collect().await;
        for (owner, state) in read {
            match state {
                OwnerState::Present(object) => found.push(*object),
                OwnerState::Absent => {}
                OwnerState::Unreadable => drop(explanations.unreadable.insert(owner.clone())),
            }
        }
        asked.extend(next);
        result = unexplained(&found, &explanations);
    }
    let unread: Vec<String> =
        explanations.unreadable.iter().map(|owner| format!("{} {}", owner.kind.kind, owner.name)).collect();
    let warning = (!unread.is_empty()).then(|| {
        let owners = listed(unread.iter().map(String::as_str), NAMED);
        format!("these owners could not be read, and the objects that name them count as owned: {owners}")
    });
    (result.objects, warning)
}

/// The owner that an object names, as the server has it.
enum OwnerState {
    Present(Box<(GroupVersionKind, Value)>),
    Absent,
    Unreadable,
}

async fn read_owner(Server { cluster, discovery, .. }: &Server, owner: &NamedOwner) -> OwnerState {
    let is_name = !owner.name.is_empty() && path_segment_refused(&owner.name).is_none();
    let resource = match discovery.resolve_kind(&owner.kind) {
        // Kinds that cannot be read have no objects: they are questions to the server.
        Resolution::Known(resource) if is_name && resource.verbs.contains("get") => resource,
        Resolution::Known(_) | Resolution::Unknown => return OwnerState::Absent,
        Resolution::Unavailable | Resolution::Oversized => return OwnerState::Unreadable,
    };
    let namespace = owner.namespace.clone().filter(|_| resource.namespaced);
    let key = ObjectKey { gvk: resource.gvk.clone(), namespace, name: owner.name.clone() };
    match find(cluster, resource, &key).await {
        LiveState::Present(object) => {
            let metadata = json!({ "metadata": object.get("metadata") });
            OwnerState::Present(Box::new((key.gvk, metadata)))
        }
        LiveState::Absent => OwnerState::Absent,
        LiveState::Unreadable(_) => OwnerState::Unreadable,
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
