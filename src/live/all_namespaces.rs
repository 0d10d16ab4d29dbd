//! Reads the objects of one resource in many namespaces with one LIST over all namespaces, if that is cheaper and allowed.
//!
//! A request for each namespace costs a round trip and some work of the server, but reads nothing in vain. A LIST over all
//! namespaces also reads unwanted objects. So its first page is no longer than the number of wanted objects. That page says how many
//! objects there are, and the list goes on only while its rest costs less than the missing objects cost by themselves. If all wanted
//! objects have the same name, the server may leave out the others ([`PartOfList::cheapest_rest`]).

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::list::Pages;
use crate::client::{Cluster, Request};
use reconcile_core::live::{LiveState, MissingObjects, PartOfList, Resource, Rest, Target, only_name};

/// The results for the states that were read, by the indices of their targets.
pub(super) type StatesRead<T> = Vec<(usize, T)>;

/// The objects to read, and the receiver of their states.
pub(super) struct Reader<'r, 't, R, F> {
    pub cluster: &'r Cluster,
    pub targets: &'r [&'t Target],
    /// Waits until states of a resource can be taken.
    pub ready: &'r R,
    /// Takes the state of the target with this index.
    pub take: &'r F,
}

/// The result of a LIST over all namespaces.
pub(super) struct AllNamespaces<T> {
    /// The results for the states that it shows.
    pub found: StatesRead<T>,
    /// The targets that still have to be read.
    pub rest: Vec<usize>,
}

/// The request of the first page for this number of objects.
pub(super) fn first_request(cluster: &Cluster, resource: &Resource, wanted: usize) -> Request {
    Pages::new(cluster, resource, None).starting_with(wanted).first_request()
}

/// Reads the wanted objects of a resource, wherever they are.
pub(super) async fn read_all_namespaces<T, R: AsyncFn(&Resource), F: AsyncFn(usize, LiveState) -> T>(
    Reader { cluster, targets, ready, take }: &Reader<'_, '_, R, F>,
    resource: &Resource,
    wanted: Vec<usize>,
) -> AllNamespaces<T> {
    let mut list = PartOfList::default();
    let names = by_name(targets, &wanted);
    let name = only_name(wanted.iter().map(|index| targets[*index].key.name.as_str()));
    let wants = |namespace: &str, name: &str| names.get(namespace).is_some_and(|names| names.contains_key(name));
    let mut missing: BTreeSet<usize> = wanted.iter().copied().collect();
    let mut others: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::with_capacity(wanted.len());
    let mut pages = Pages::new(cluster, resource, None).starting_with(wanted.len()).wanting(&wants);
    let mut is_selected = false;
    let is_sure = loop {
        // Forbidden or broken: a LIST by namespace may be possible.
        let Ok(page) = pages.next_after(ready(resource)).await else { break false };
        let Some(page) = page else { break true };
        list = page.after(list);
        let is_whole = page.spoilt.is_empty();
        add(&mut others, page.unwanted_in);
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
        if is_selected && is_whole {
            continue;
        }
        let missing = missing_objects(targets, &wanted, &missing, &others);
        match (list.cheapest_rest(missing, name.is_some(), cluster.round_trip()), name) {
            _ if !is_whole => break false,
            (Rest::Listed, _) => {}
            (Rest::Selected, Some(name)) => {
                let selector = format!("metadata.name={name}");
                pages = Pages::new(cluster, resource, None).with("fieldSelector", selector).wanting(&wants);
                is_selected = true;
            }
            _ => break false,
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

/// These targets by their namespaces and names.
fn by_name<'t>(targets: &[&'t Target], wanted: &[usize]) -> HashMap<&'t str, HashMap<&'t str, usize>> {
    let mut names: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
    for index in wanted {
        let key = &targets[*index].key;
        names.entry(key.namespace.as_deref().unwrap_or_default()).or_default().insert(&key.name, *index);
    }
    names
}

fn add(counts: &mut HashMap<String, usize>, more: HashMap<String, usize>) {
    for (namespace, count) in more {
        let known = counts.entry(namespace).or_default();
        *known = known.saturating_add(count);
    }
}

/// The missing objects of each namespace, and what is known of the others there.
fn missing_objects(
    targets: &[&Target],
    wanted: &[usize],
    missing: &BTreeSet<usize>,
    others: &HashMap<String, usize>,
) -> impl Iterator<Item = MissingObjects> {
    let mut counts: HashMap<&str, MissingObjects> = HashMap::new();
    for index in wanted {
        let namespace = targets[*index].key.namespace.as_deref().unwrap_or_default();
        let known = MissingObjects { wanted: 0, others: others.get(namespace).copied().unwrap_or_default() };
        let objects = counts.entry(namespace).or_insert(known);
        let count = if missing.contains(index) { &mut objects.wanted } else { &mut objects.others };
        *count = count.saturating_add(1);
    }
    counts.into_values().filter(|objects| objects.wanted > 0)
}
