//! Reads the objects of one resource in many namespaces with one LIST over all namespaces, if that is cheaper and allowed.
//!
//! A request for each namespace costs a round trip and some work of the server, but reads nothing in vain. A LIST over all
//! namespaces also reads unwanted objects. So its first page is no longer than the number of wanted objects. That page says how many
//! objects there are, and the list goes on only while its rest costs less than the missing objects cost by themselves. If all wanted
//! objects have the same name, the server may leave out the others ([`PartOfList::cheapest_rest`]).

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeSet, HashMap};

use futures::FutureExt as _;
use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::list::Pages;
use super::parallel;
use crate::client::{Cluster, Request};
use reconcile_core::live::{
    LiveState, MissingObjects, ObjectsElsewhere, PartOfList, Resource, Rest, Target, only_name,
};

/// The results for the states that were read, by the indices of their targets.
pub(super) type StatesRead<T> = Vec<(usize, T)>;

/// The objects to read, and the receiver of their states.
pub(super) struct Reader<'r, 't, R, F> {
    pub cluster: &'r Cluster,
    pub targets: &'r [&'t Target],
    /// Objects of other shards.
    pub elsewhere: &'r ObjectsElsewhere,
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
pub(super) async fn read_all_namespaces<T: Send, R: AsyncFn(&Resource), F: AsyncFn(usize, LiveState) -> T + Sync>(
    Reader { cluster, targets, elsewhere, ready, take }: &Reader<'_, '_, R, F>,
    resource: &Resource,
    wanted: Vec<usize>,
) -> AllNamespaces<T> {
    let mut list = PartOfList::default();
    let names = by_name(targets, &wanted);
    let name = only_name(wanted.iter().map(|index| targets[*index].key.name.as_str()));
    let wants = |namespace: &str, name: &str| names.get(namespace).is_some_and(|names| names.contains_key(name));
    let mut missing = Missing::of(targets, &wanted, |namespace| elsewhere.count(&resource.gvk, namespace));
    let mut found = Vec::with_capacity(wanted.len());
    let mut pages = Pages::new(cluster, resource, None).starting_with(wanted.len()).wanting(&wants);
    let mut is_selected = false;
    let is_sure = loop {
        // Forbidden or broken: a LIST by namespace may be possible.
        let Ok(page) = pages.next_after(ready(resource)).await else { break false };
        let Some(page) = page else { break true };
        list = page.after(list);
        missing.count_unwanted(page.unwanted_in);
        let wanted_here = page.objects.into_iter().filter_map(|item| {
            let namespace = item.metadata("namespace").and_then(Value::as_str).unwrap_or_default();
            let index = *names.get(namespace)?.get(item.name().unwrap_or_default())?;
            missing.take(index, namespace).then_some((index, item))
        });
        let (taken, left) = take_page(*take, wanted_here.collect());
        let is_whole = page.spoilt.is_empty() && left.is_empty();
        found.extend(taken);
        missing.indices.extend(left);
        if found.len() == wanted.len() {
            break true;
        }
        if is_selected && is_whole {
            continue;
        }
        match (list.cheapest_rest(missing.objects(), name.is_some(), cluster.round_trip()), name) {
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
    let rest: Vec<usize> = missing.indices.into_iter().collect();
    if is_sure {
        for index in rest {
            found.push((index, take(index, LiveState::Absent).await));
        }
        return AllNamespaces { found, rest: Vec::new() };
    }
    AllNamespaces { found, rest }
}

/// Passes the objects of a page on, on several processors. Returns the results, and the indices of those that were not taken at once.
pub(super) fn take_page<T: Send>(
    take: &(impl AsyncFn(usize, LiveState) -> T + Sync),
    objects: Vec<(usize, Value)>,
) -> (StatesRead<T>, Vec<usize>) {
    let taken =
        parallel::map(objects, |(index, object)| (index, take(index, LiveState::Present(object)).now_or_never()));
    let (mut found, mut left) = (Vec::with_capacity(taken.len()), Vec::new());
    for (index, result) in taken {
        match result {
            Some(result) => found.push((index, result)),
            None => left.push(index),
        }
    }
    (found, left)
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

/// The wanted objects that no page has shown yet.
struct Missing<'t> {
    /// The indices of their targets.
    indices: BTreeSet<usize>,
    /// The objects of each of their namespaces.
    namespaces: HashMap<&'t str, InNamespace>,
}

/// The numbers of objects of one namespace, as far as they are known.
#[derive(Clone, Copy, Default)]
struct InNamespace {
    missing: usize,
    found: usize,
    /// Those that pages have shown, and that no manifest of this shard names.
    unwanted: usize,
    /// Those that other shards compare.
    elsewhere: usize,
}

impl InNamespace {
    fn objects(self) -> MissingObjects {
        // Pages may have shown those of other shards already.
        let others = self.unwanted.max(self.elsewhere);
        MissingObjects { wanted: self.missing, others: others.saturating_add(self.found) }
    }
}

impl<'t> Missing<'t> {
    /// All of them, before the first page; `elsewhere` counts the objects of a namespace that other shards compare.
    fn of(targets: &[&'t Target], wanted: &[usize], elsewhere: impl Fn(&str) -> usize) -> Self {
        let mut namespaces: HashMap<&str, InNamespace> = HashMap::new();
        for index in wanted {
            let namespace = targets[*index].key.namespace.as_deref().unwrap_or_default();
            let new = || InNamespace { elsewhere: elsewhere(namespace), ..InNamespace::default() };
            let known = namespaces.entry(namespace).or_insert_with(new);
            known.missing = known.missing.saturating_add(1);
        }
        Self { indices: wanted.iter().copied().collect(), namespaces }
    }

    /// The objects of the namespaces with missing ones.
    fn objects(&self) -> impl Iterator<Item = MissingObjects> {
        self.namespaces.values().filter(|known| known.missing > 0).map(|known| known.objects())
    }

    /// Counts unwanted objects of a page.
    fn count_unwanted(&mut self, unwanted: HashMap<String, usize>) {
        for (namespace, count) in unwanted {
            if let Some(known) = self.namespaces.get_mut(namespace.as_str()) {
                known.unwanted = known.unwanted.saturating_add(count);
            }
        }
    }

    /// Takes an object that a page shows. Returns false if an earlier one has shown it.
    fn take(&mut self, index: usize, namespace: &str) -> bool {
        let is_new = self.indices.remove(&index);
        if let Some(known) = self.namespaces.get_mut(namespace).filter(|_| is_new) {
            known.missing = known.missing.saturating_sub(1);
            known.found = known.found.saturating_add(1);
        }
        is_new
    }
}
