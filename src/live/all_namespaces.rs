//! Reads the objects of one resource in many namespaces with one LIST over all namespaces, if that is cheaper and allowed.
//!
//! A request for each namespace costs a round trip and some work of the server, but reads nothing in vain. A LIST over all
//! namespaces also reads unwanted objects. So its first page is no longer than the number of wanted objects. That page says how many
//! objects there are, and the list goes on only if at most every second one is unwanted, in number and in size. At most twice the
//! wanted amount is read, and one page.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use structured_merge::ObjectMeta as _;

use super::list::Pages;
use super::page::Page;
use crate::client::Cluster;
use reconcile_core::live::{LiveState, Resource, Target};

/// The results for the states that were read, by the indices of their targets.
pub(super) type StatesRead<T> = Vec<(usize, T)>;

/// A list may be this many times as large as its wanted objects.
const DENSE: usize = 2;
/// Unwanted bytes, up to which reading always goes on.
const NEGLIGIBLE: usize = 256 << 10;

/// The result of a LIST over all namespaces.
pub(super) struct AllNamespaces<T> {
    /// The results for the states that it shows.
    pub found: StatesRead<T>,
    /// The targets that still have to be read.
    pub rest: Vec<usize>,
}

/// Reads the wanted objects of a resource, wherever they are.
pub(super) async fn read_all_namespaces<T>(
    cluster: &Cluster,
    targets: &[&Target],
    resource: &Resource,
    wanted: Vec<usize>,
    take: &impl AsyncFn(usize, LiveState) -> T,
) -> AllNamespaces<T> {
    let mut sizes = Sizes { wanted: wanted.len(), ..Sizes::default() };
    let mut names: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
    for index in &wanted {
        let key = &targets[*index].key;
        names.entry(key.namespace.as_deref().unwrap_or_default()).or_default().insert(&key.name, *index);
    }
    let wants = |namespace: &str, name: &str| names.get(namespace).is_some_and(|names| names.contains_key(name));
    let mut missing: BTreeSet<usize> = wanted.iter().copied().collect();
    let mut found = Vec::with_capacity(wanted.len());
    let mut pages = Pages::new(cluster, resource, None).wanting(&wants).starting_with(wanted.len());
    let is_sure = loop {
        // Forbidden or broken: a LIST by namespace may be possible.
        let Ok(page) = pages.next().await else { break false };
        let Some(page) = page else { break true };
        sizes.add(&page);
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
        if !is_whole || !sizes.are_dense() {
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

/// The size of a list, as far as it is known.
#[derive(Debug, Default)]
struct Sizes {
    wanted: usize,
    seen: usize,
    left: usize,
    bytes: usize,
    unwanted_bytes: usize,
}

impl Sizes {
    fn add(&mut self, page: &Page) {
        self.seen = self.seen.saturating_add(page.objects.len()).saturating_add(page.unwanted);
        self.left = usize::try_from(page.left.unwrap_or(0)).unwrap_or(usize::MAX);
        self.bytes = self.bytes.saturating_add(page.bytes);
        if page.unwanted > 0 {
            let wanted = page.objects.iter().map(size).fold(0, usize::saturating_add);
            self.unwanted_bytes = self.unwanted_bytes.saturating_add(page.bytes.saturating_sub(wanted));
        }
    }

    /// Returns true if the rest of the list has few unwanted objects.
    fn are_dense(&self) -> bool {
        let is_few = self.seen.saturating_add(self.left) <= self.wanted.saturating_mul(DENSE);
        let is_light = self.unwanted_bytes <= NEGLIGIBLE || self.unwanted_bytes <= self.bytes / DENSE;
        is_few && is_light
    }
}

/// Approximate size of a value as JSON, in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len().saturating_add(2),
        Value::Array(items) => items.iter().flat_map(|item| [size(item), 1]).fold(2, usize::saturating_add),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [name.len(), size(value), 4]).fold(2, usize::saturating_add)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_goes_on_while_little_is_read_in_vain() {
        let sizes = |seen, left, bytes, unwanted_bytes| Sizes { wanted: 100, seen, left, bytes, unwanted_bytes };
        for (sizes, goes_on) in [
            (sizes(100, 0, 1000, 0), true),
            (sizes(100, 100, 1000, 0), true),
            (sizes(100, 101, 1000, 0), false),
            // A server that does not count the remaining objects.
            (sizes(201, 0, 1000, 0), false),
            // Few unwanted objects, but large ones: releases of Helm next to small Secrets.
            (sizes(100, 50, 10 << 20, 6 << 20), false),
            (sizes(100, 50, 10 << 20, 5 << 20), true),
            (sizes(100, 50, 300 << 10, 250 << 10), true),
        ] {
            assert_eq!(sizes.are_dense(), goes_on, "{sizes:?}");
        }
    }

    #[test]
    fn the_size_of_a_value_is_that_of_its_json() {
        let value = serde_json::json!({"metadata": {"name": "web", "labels": {"app": "web"}}, "data": ["x".repeat(1000), true, null]});
        let exact = value.to_string().len();
        assert!(size(&value).abs_diff(exact) * 20 < exact, "{} and {exact}", size(&value));
    }
}
