//! Reads the live objects: one LIST for each resource and namespace, or a GET for each object where that is cheaper or
//! the only thing allowed.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use serde_json::Value;

use super::catalog::Resource;
use super::resolve::Target;
use super::{LiveState, Trouble, json};
use crate::cluster::{Cluster, Request, RequestError};
use crate::object::ObjectKey;

/// Requests under way at once. HTTP/1.1 needs a connection for each; the server's own work grows beyond this.
pub const IN_FLIGHT: usize = 16;

/// Up to this many wanted objects of one collection are read one by one: a GET costs the server a third of a
/// millisecond, and a LIST encodes the whole collection.
const FEW: usize = 4;

/// Objects in one page of a LIST.
pub(super) const PAGE: usize = 500;

/// A collection that holds this many times more than what is still wanted of it is left, and the rest read one by one.
const SPARSE: u64 = 20;

/// Reads every target that has a resource. The result has one state for each target, in order; a target without a
/// resource is unreadable for that reason.
pub async fn fetch(cluster: &Cluster, targets: &[&Target]) -> Vec<LiveState> {
    let mut states: Vec<Option<LiveState>> = vec![None; targets.len()];
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, target) in targets.iter().enumerate() {
        match &target.resource {
            Ok(resource) if resource.pending => states[index] = Some(LiveState::Absent),
            Ok(_) => groups.entry((&target.key.gvk, &target.key.namespace)).or_default().push(index),
            Err(trouble) => states[index] = Some(LiveState::Unreadable(trouble.clone())),
        }
    }
    let mut work: Vec<(&Resource, Vec<usize>)> = Vec::new();
    for wanted in groups.into_values() {
        if let Some(Ok(resource)) = wanted.first().map(|index| &targets[*index].resource) {
            work.push((resource, wanted));
        }
    }
    let tasks = work.into_iter().map(|(resource, wanted)| collection(cluster, targets, resource, wanted));
    let results: Vec<_> = futures::stream::iter(tasks).buffer_unordered(IN_FLIGHT).collect().await;
    for (index, state) in results.into_iter().flatten() {
        states[index] = Some(state);
    }
    states.into_iter().map(|state| state.unwrap_or(LiveState::Absent)).collect()
}

/// Reads the wanted objects of one collection.
async fn collection(
    cluster: &Cluster,
    targets: &[&Target],
    resource: &Resource,
    wanted: Vec<usize>,
) -> Vec<(usize, LiveState)> {
    if wanted.len() <= FEW || !resource.verbs.contains("list") {
        return one_by_one(cluster, targets, resource, wanted).await;
    }
    let mut missing: BTreeMap<&str, usize> =
        wanted.iter().map(|index| (targets[*index].key.name.as_str(), *index)).collect();
    let mut found = Vec::with_capacity(wanted.len());
    let namespace = wanted.first().and_then(|index| targets[*index].key.namespace.as_deref());
    let path = resource.collection_path(namespace);
    let mut token = String::new();
    loop {
        let page = path.clone().with("limit", PAGE.to_string());
        let page = if token.is_empty() { page } else { page.with("continue", token.as_str()) };
        let page = json(cluster, Request::list(page)).await;
        let Ok(mut page) = page else {
            // Not allowed to list, or the list expired half-way: what is still wanted may be readable by name.
            found.extend(one_by_one(cluster, targets, resource, missing.into_values().collect()).await);
            return found;
        };
        for mut item in items(&mut page) {
            let name = item.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
            if let Some(index) = missing.remove(name) {
                name_type(&mut item, resource);
                found.push((index, LiveState::Present(item)));
            }
        }
        let left = page.pointer("/metadata/remainingItemCount").and_then(Value::as_u64).unwrap_or(0);
        match page.pointer("/metadata/continue").and_then(Value::as_str) {
            Some(next) if !next.is_empty() && !missing.is_empty() => {
                if left > SPARSE * missing.len() as u64 {
                    found.extend(one_by_one(cluster, targets, resource, missing.into_values().collect()).await);
                    return found;
                }
                next.clone_into(&mut token);
            }
            _ => break,
        }
    }
    found.extend(missing.into_values().map(|index| (index, LiveState::Absent)));
    found
}

async fn one_by_one(
    cluster: &Cluster,
    targets: &[&Target],
    resource: &Resource,
    wanted: Vec<usize>,
) -> Vec<(usize, LiveState)> {
    let reads = wanted.into_iter().map(|index| async move { (index, get(cluster, targets[index], resource).await) });
    futures::stream::iter(reads).buffer_unordered(IN_FLIGHT).collect().await
}

/// Reads one object.
pub async fn get(cluster: &Cluster, target: &Target, resource: &Resource) -> LiveState {
    find(cluster, resource, &target.key).await
}

/// Reads the object with this key.
pub async fn find(cluster: &Cluster, resource: &Resource, key: &ObjectKey) -> LiveState {
    let path = resource.object_path(key.namespace.as_deref(), &key.name);
    match json(cluster, Request::get(path)).await {
        Ok(object) => LiveState::Present(object),
        Err(RequestError::Status(status)) if status.code == 404 => LiveState::Absent,
        Err(error) => LiveState::Unreadable(Trouble::about(&key.gvk, &error)),
    }
}

pub(super) fn items(page: &mut Value) -> Vec<Value> {
    match page.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Items of a built-in list leave their type out.
pub(super) fn name_type(item: &mut Value, resource: &Resource) {
    if let Value::Object(item) = item {
        item.entry("apiVersion").or_insert_with(|| resource.gvk.api_version().into());
        item.entry("kind").or_insert_with(|| resource.gvk.kind.as_str().into());
    }
}
