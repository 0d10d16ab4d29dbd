//! The names that kustomize generates for ConfigMaps and Secrets: they end in a hash of the content.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::ObjectKey;

/// The length of the hash.
const LENGTH: usize = 10;
/// The characters of the hash: hexadecimal digits, without those that could make up words (kustomize `api/hasher`, `encode`).
const ALPHABET: &str = "2456789bcdfghkmt";

/// The name without the hash of the content; `None` if it has none.
pub fn stem(name: &str) -> Option<&str> {
    let (stem, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == LENGTH && hash.chars().all(|c| ALPHABET.contains(c));
    (is_hash && !stem.is_empty()).then_some(stem)
}

/// The texts in values that may be generated names: references to objects, in any field of a kind.
pub fn generated_names<'v>(values: impl IntoIterator<Item = &'v Value>) -> BTreeSet<&'v str> {
    let mut open: Vec<&Value> = values.into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(value) = open.pop() {
        match value {
            Value::String(name) if stem(name).is_some() => {
                found.insert(name.as_str());
            }
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    found
}

/// The generated names that come in the place of others, from these values to those: each new name with the former ones, which have the
/// same stem.
pub fn names_in_place_of_others<'v>(
    before: impl IntoIterator<Item = &'v Value>,
    after: impl IntoIterator<Item = &'v Value>,
) -> BTreeMap<&'v str, Vec<&'v str>> {
    let before = generated_names(before);
    let after = generated_names(after);
    let former = |name: &str| before.difference(&after).filter(|other| stem(other) == stem(name)).copied().collect();
    let new = after.difference(&before).map(|name| (*name, former(name)));
    new.filter(|(_, former): &(&str, Vec<&str>)| !former.is_empty()).collect()
}

/// Returns true if two values differ, and in nothing but the hashes of generated names.
pub fn differ_by_hashes(one: &Value, other: &Value) -> bool {
    one != other && are_equal_but_for_hashes(one, other)
}

fn are_equal_but_for_hashes(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one == other || stem(one).is_some() && stem(one) == stem(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_equal_but_for_hashes(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_equal = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| are_equal_but_for_hashes(value, other))
            };
            one.len() == other.len() && one.iter().all(is_equal)
        }
        _ => one == other,
    }
}

/// All that stays the same when an object with a generated name gets another content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generated {
    kind: String,
    namespace: Option<String>,
    stem: String,
}

impl Generated {
    /// The part of an object's key that stays; `None` if its name is none that kustomize generates.
    pub fn of(key: &ObjectKey) -> Option<Self> {
        let is_generated_kind = key.gvk.group.is_empty() && ["ConfigMap", "Secret"].contains(&key.gvk.kind.as_str());
        let stem = stem(&key.name).filter(|_| is_generated_kind)?;
        Some(Self { kind: key.gvk.kind.clone(), namespace: key.namespace.clone(), stem: stem.to_owned() })
    }
}
