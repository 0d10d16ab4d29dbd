//! The order in which the items of a list have their keys: a new item has them in the same order.

use std::collections::BTreeMap;

use kube_yaml::{Key, Kind, Node};
use serde_json::{Map, Value};

/// Most keys of a mapping that have an order.
const MAX_KEYS: usize = 200;

/// The order of the keys of values that are alike, and of those below.
#[derive(Debug, Default)]
pub(crate) struct KeyOrder {
    keys: Vec<String>,
    entries: BTreeMap<String, KeyOrder>,
    items: Option<Box<KeyOrder>>,
}

/// No order is known: keys are sorted, as in `kubectl get -o yaml`.
pub(crate) static SORTED: KeyOrder = KeyOrder { keys: Vec::new(), entries: BTreeMap::new(), items: None };

impl KeyOrder {
    /// The order in values that are alike, such as the items of one list.
    pub fn of<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> Self {
        let mut order = Self::default();
        nodes.into_iter().for_each(|node| order.learn(node));
        order
    }

    fn learn(&mut self, node: &Node) {
        match &node.kind {
            Kind::Mapping(_, entries) => {
                let mut next = 0_usize;
                for entry in entries {
                    let Key::Text(name) = &entry.name else { continue };
                    let place = match self.keys.iter().position(|key| key == name) {
                        Some(place) => place,
                        None if self.keys.len() >= MAX_KEYS => continue,
                        None => {
                            // It comes behind the key that is above it here.
                            self.keys.insert(next, name.clone());
                            next
                        }
                    };
                    next = place.saturating_add(1);
                    self.entries.entry(name.clone()).or_default().learn(&entry.value);
                }
            }
            Kind::Sequence(_, items) => {
                let order = self.items.get_or_insert_default();
                for item in items {
                    order.learn(&item.node);
                }
            }
            Kind::Scalar(_) | Kind::Alias(_) => {}
        }
    }

    /// The entries of a mapping in this order; those that it does not have are the last ones.
    pub fn entries<'v>(&self, map: &'v Map<String, Value>) -> Vec<(&'v String, &'v Value)> {
        let mut entries: Vec<_> = map.iter().collect();
        if !self.keys.is_empty() {
            let place = |name: &String| self.keys.iter().position(|key| key == name).unwrap_or(MAX_KEYS);
            entries.sort_by_cached_key(|(name, _)| place(name));
        }
        entries
    }

    /// The order in the value of a key.
    pub fn of_entry(&self, key: &str) -> &Self {
        self.entries.get(key).unwrap_or(&SORTED)
    }

    /// The order in the items of a list.
    pub fn of_items(&self) -> &Self {
        self.items.as_deref().unwrap_or(&SORTED)
    }
}
