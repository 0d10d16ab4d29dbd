//! Reads the live objects: one LIST for each resource and namespace, or a GET for each object if that is cheaper or if only
//! that is allowed. For a resource in many namespaces, one LIST over all of them may suffice (`all_namespaces`).

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::StreamExt as _;
use reconcile_core::live::{
    LiveState, ObjectsElsewhere, PartOfList, Resource, Target, failed_request, is_read_by_name, is_spread,
};
use structured_merge::{ObjectKey, ObjectMeta as _};

use super::all_namespaces::{AllNamespaces, Reader, StatesRead, read_all_namespaces, take_page};
use super::answer::Asked;
use super::list::Pages;
use crate::client::{Cluster, IN_FLIGHT, MOST_IN_FLIGHT, Request, RequestError, StatusError};
use reconcile_core::diagnostic::Diagnostic;

/// The wanted objects of one resource: the indices of the targets, by namespace.
type ByNamespace<'t> = BTreeMap<Option<&'t str>, Vec<usize>>;

/// Reads every target that has a resource. The result has one state for each target, in order; a target without a
/// resource is unreadable for that reason.
pub async fn fetch(cluster: &Cluster, targets: &[&Target]) -> Vec<LiveState> {
    fetch_into(cluster, targets, &ObjectsElsewhere::default(), &async |_| (), &async |_, state| state).await
}

/// Reads every target that has a resource, and passes each state to `take` with the index of its target. An object is passed as soon as its page is read, so
/// that only the results stay in memory; no page is parsed before `take` is `ready` for its resource. `elsewhere` counts objects that
/// are not wanted here, and that a list returns as well.
pub async fn fetch_into<T: Send>(
    cluster: &Cluster,
    targets: &[&Target],
    elsewhere: &ObjectsElsewhere,
    ready: &impl AsyncFn(&Resource),
    take: &(impl AsyncFn(usize, LiveState) -> T + Sync),
) -> Vec<T> {
    let take = &async |index: usize, state: LiveState| {
        let state = match targets.get(index) {
            Some(target) => target.admitting(state),
            None => state,
        };
        take(index, state).await
    };
    let mut states: Vec<Option<T>> = targets.iter().map(|_| None).collect();
    // The resources by which objects are read whose own is not served yet.
    let meanwhile: HashMap<_, _> =
        targets.iter().filter_map(|target| Some((&target.key.gvk, target.served_meanwhile()?))).collect();
    let mut resources: BTreeMap<_, (&Resource, ByNamespace<'_>)> = BTreeMap::new();
    for (index, target) in targets.iter().enumerate() {
        match &target.resource {
            Ok(resource) => {
                let own = (!resource.pending).then_some(&**resource);
                let Some(resource) = own.or_else(|| meanwhile.get(&target.key.gvk)) else { continue };
                let (_, wanted) = resources.entry(&resource.gvk).or_insert_with(|| (resource, BTreeMap::new()));
                wanted.entry(target.key.namespace.as_deref()).or_default().push(index);
            }
            Err(diagnostic) => {
                states[index] = Some(take(index, LiveState::Unreadable(Diagnostic::clone(diagnostic))).await);
            }
        }
    }
    let (many, few): (Vec<_>, Vec<_>) =
        resources.into_values().partition(|(resource, wanted)| is_spread(resource, wanted.values().map(Vec::len)));
    let few =
        few.into_iter().flat_map(|(resource, wanted)| wanted.into_values().map(move |indices| (resource, indices)));
    let reader = Reader { cluster, targets, elsewhere, ready, take };
    let (at_once, found) = futures::join!(reader.in_all_namespaces(many), reader.collections(few));
    let rest = at_once.iter().flat_map(|(resource, read)| by_namespace(targets, resource, &read.rest));
    let rest = reader.collections(rest).await;
    let found = found.into_iter().chain(rest).chain(at_once.into_iter().flat_map(|(_, read)| read.found));
    for (index, state) in found {
        states[index] = Some(state);
    }
    let mut all = Vec::with_capacity(states.len());
    for (index, state) in states.into_iter().enumerate() {
        all.push(match state {
            Some(state) => state,
            None => take(index, LiveState::Absent).await,
        });
    }
    all
}

fn by_namespace<'t>(targets: &[&'t Target], resource: &'t Resource, rest: &[usize]) -> Vec<(&'t Resource, Vec<usize>)> {
    let mut by_namespace = ByNamespace::new();
    for index in rest {
        by_namespace.entry(targets[*index].key.namespace.as_deref()).or_default().push(*index);
    }
    by_namespace.into_values().map(|indices| (resource, indices)).collect()
}

impl<T: Send, R: AsyncFn(&Resource), F: AsyncFn(usize, LiveState) -> T + Sync> Reader<'_, '_, R, F> {
    /// Reads resources over all namespaces, as far as that is cheaper.
    async fn in_all_namespaces<'w>(
        &self,
        many: Vec<(&'w Resource, ByNamespace<'_>)>,
    ) -> Vec<(&'w Resource, AllNamespaces<T>)> {
        let tasks = many.into_iter().map(async |(resource, wanted)| {
            (resource, read_all_namespaces(self, resource, wanted.into_values().flatten().collect()).await)
        });
        futures::stream::iter(tasks).buffer_unordered(IN_FLIGHT).collect().await
    }

    /// Reads the wanted objects of collections, each of one resource in one namespace.
    async fn collections<'w>(&self, work: impl Iterator<Item = (&'w Resource, Vec<usize>)>) -> StatesRead<T> {
        let tasks = work.map(|(resource, wanted)| self.collection(resource, wanted));
        let results: Vec<StatesRead<T>> = futures::stream::iter(tasks).buffer_unordered(IN_FLIGHT).collect().await;
        results.into_iter().flatten().collect()
    }

    /// Reads the wanted objects of one collection.
    async fn collection(&self, resource: &Resource, wanted: Vec<usize>) -> StatesRead<T> {
        let Self { cluster, targets, ready, take, .. } = self;
        if is_read_by_name(resource, wanted.len()) {
            return self.one_by_one(resource, wanted).await;
        }
        let by_name: HashMap<&str, usize> =
            wanted.iter().map(|index| (targets[*index].key.name.as_str(), *index)).collect();
        let wants = |_: &str, name: &str| by_name.contains_key(name);
        let mut missing: BTreeSet<usize> = by_name.values().copied().collect();
        let mut found = Vec::with_capacity(wanted.len());
        let namespace = wanted.first().and_then(|index| targets[*index].key.namespace.as_deref());
        let mut pages = Pages::new(cluster, resource, namespace).wanting(&wants);
        // A wanted object that is missing at the end is absent, unless the list failed, stopped early or had an unreadable item. Then
        // it may be readable by name.
        let mut is_sure = true;
        let mut list = PartOfList::default();
        while !missing.is_empty() {
            let Ok(page) = pages.next_after(ready(resource)).await else {
                is_sure = false;
                break;
            };
            let Some(page) = page else { break };
            list = page.after(list);
            is_sure &= page.spoilt.is_empty();
            let wanted = page.objects.into_iter().filter_map(|item| {
                let index = by_name.get(item.name().unwrap_or_default());
                Some((*index.filter(|index| missing.remove(*index))?, item))
            });
            let (taken, left) = take_page(*take, wanted.collect());
            is_sure &= left.is_empty();
            found.extend(taken);
            missing.extend(left);
            if list.left.is_some() && !list.is_worth_its_rest(missing.len(), cluster.round_trip()) {
                is_sure = false;
                break;
            }
        }
        if is_sure {
            for index in missing {
                found.push((index, take(index, LiveState::Absent).await));
            }
        } else {
            found.extend(self.one_by_one(resource, missing.into_iter().collect()).await);
        }
        found
    }

    async fn one_by_one(&self, resource: &Resource, wanted: Vec<usize>) -> StatesRead<T> {
        let Self { cluster, targets, take, .. } = self;
        let reads = wanted.into_iter().map(|index| async move {
            let state = get(cluster, targets[index], resource).await;
            (index, take(index, state).await)
        });
        futures::stream::iter(reads).buffer_unordered(MOST_IN_FLIGHT).collect().await
    }
}

/// Reads the object of a target. A refusal that quotes a secret value of its manifest is not repeated.
pub async fn get(cluster: &Cluster, target: &Target, resource: &Resource) -> LiveState {
    let read = read(cluster, resource, &target.key).await;
    target.admitting(read.unwrap_or_else(|error| LiveState::Unreadable(failed_request(target, None, &error))))
}

/// Reads the object with this key, in the version of the resource.
pub async fn find(cluster: &Cluster, resource: &Resource, key: &ObjectKey) -> LiveState {
    let read = read(cluster, resource, key).await;
    read.unwrap_or_else(|error| LiveState::Unreadable(Diagnostic::about(&key.gvk, &error)))
}

async fn read(cluster: &Cluster, resource: &Resource, key: &ObjectKey) -> Result<LiveState, RequestError> {
    let path = resource.object_path(key.namespace.as_deref(), &key.name);
    let answer = cluster.send(Request::get(path)).await;
    match answer.and_then(|reply| Asked::by(resource, key).read(cluster, reply.body())) {
        Ok(object) => Ok(LiveState::Present(object)),
        Err(RequestError::Status(status)) if status.is_not_found() && is_about(&status, &key.name) => {
            Ok(LiveState::Absent)
        }
        Err(error) => Err(error),
    }
}

/// Returns true if a refusal names no other object.
fn is_about(status: &StatusError, name: &str) -> bool {
    status.details_name.as_deref().is_none_or(|about| about == name)
}
