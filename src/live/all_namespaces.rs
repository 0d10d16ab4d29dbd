//! Reads the objects of one resource in many namespaces with one LIST over all namespaces, if that is cheaper and allowed.
//!
//! A request for each namespace costs a round trip and some work of the server, but reads nothing in vain. A LIST over all
//! namespaces also reads unwanted objects. So its first page is no longer than the number of wanted objects. That page says how many
//! objects there are, and the list goes on only while its rest costs less than the missing objects cost by themselves
//! ([`PartOfList`]). If all wanted objects have the same name, the server leaves out the others.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::list::Pages;
use crate::client::{Cluster, Request};
use reconcile_core::live::{LiveState, PartOfList, Resource, Target, only_name};

/// The results for the states that were read, by the indices of their targets.
pub(super) type StatesRead<T> = Vec<(usize, T)>;

/// The result of a LIST over all namespaces.
pub(super) struct AllNamespaces<T> {
    /// The results for the states that it shows.
    pub found: StatesRead<T>,
    /// The targets that still have to be read.
    pub rest: Vec<usize>,
}

/// The request of the first page with objects of these names.
pub(super) fn first_request<'n>(
    cluster: &Cluster,
    resource: &Resource,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Request {
    pages(cluster, resource, names).first_request()
}

/// A LIST that reads objects of these names in all namespaces.
fn pages<'c, 'n>(
    cluster: &'c Cluster,
    resource: &'c Resource,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Pages<'c> {
    let pages = Pages::new(cluster, resource, None).starting_with(names.clone().count());
    match only_name(names) {
        Some(name) => pages.with("fieldSelector", format!("metadata.name={name}")),
        None => pages,
    }
}

/// Reads the wanted objects of a resource, wherever they are.
pub(super) async fn read_all_namespaces<T>(
    cluster: &Cluster,
    targets: &[&Target],
    resource: &Resource,
    wanted: Vec<usize>,
    take: &impl AsyncFn(usize, LiveState) -> T,
) -> AllNamespaces<T> {
    let mut list = PartOfList::default();
    let mut names: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
    for index in &wanted {
        let key = &targets[*index].key;
        names.entry(key.namespace.as_deref().unwrap_or_default()).or_default().insert(&key.name, *index);
    }
    let wants = |namespace: &str, name: &str| names.get(namespace).is_some_and(|names| names.contains_key(name));
    let mut missing: BTreeSet<usize> = wanted.iter().copied().collect();
    let mut found = Vec::with_capacity(wanted.len());
    let all = wanted.iter().map(|index| targets[*index].key.name.as_str());
    let mut pages = pages(cluster, resource, all).wanting(&wants);
    let is_sure = loop {
        // Forbidden or broken: a LIST by namespace may be possible.
        let Ok(page) = pages.next().await else { break false };
        let Some(page) = page else { break true };
        list = page.after(list);
        let is_whole = page.spoilt.is_empty();
        for item in page.objects {
            let namespace = item.metadata("namespace").and_then(Value::as_str).unwrap_or_default();
            let index = names.get(namespace).and_then(|names| names.get(item.name().unwrap_or_default()));
            if let Some(index) = index.filter(|index| missing.remove(*index)) {
                found.push((*index, take(*index, LiveState::Present(item)).await));
            }
        }
        if found.len() == wanted.len() {
            break true;
        }
        if !is_whole || !list.is_worth_its_rest(by_namespace(targets, &missing)) {
            break false;
        }
    };
    let rest: Vec<usize> = missing.into_iter().collect();
    if is_sure {
        for index in rest {
            found.push((index, take(index, LiveState::Absent).await));
        }
        return AllNamespaces { found, rest: Vec::new() };
    }
    AllNamespaces { found, rest }
}

/// The number of these targets in each namespace.
fn by_namespace(targets: &[&Target], indices: &BTreeSet<usize>) -> impl Iterator<Item = usize> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for index in indices {
        let count = counts.entry(targets[*index].key.namespace.as_deref().unwrap_or_default()).or_default();
        *count = count.saturating_add(1);
    }
    counts.into_values()
}
