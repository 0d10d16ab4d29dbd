//! The comparison of two builds.

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Validation, read};
use manifest_edit::Step;
use serde_json::{Map, Value};

use crate::object::generated::stem;
use crate::pull::place::value_at;

/// The most differences that are looked at.
const MOST: usize = 1_000;

/// The objects of a build by their apiVersion, kind, namespace and name. Content hashes are left out of names and of references to them.
pub(super) struct Build(BTreeMap<String, Vec<Value>>);

/// A difference between a build and the expected one.
#[derive(Clone)]
pub(super) struct Difference {
    /// The object.
    pub object: String,
    /// The place in it.
    pub path: Vec<Step>,
    /// The value that was expected there.
    pub expected: Option<Value>,
    /// The value there.
    pub found: Option<Value>,
}

/// A value in which two builds differ.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildChange {
    /// The kind, and the namespace where it is written, and the name of the object.
    pub object: String,
    /// The place in it, as `spec.template.spec.containers[name=web].image`.
    pub path: String,
    /// The former value; `None` if there was none, or if it is secret.
    pub before: Option<Value>,
    /// The new value; `None` if there is none, or if it is secret.
    pub after: Option<Value>,
}

/// The values in which two builds differ. Content hashes of names do not count.
pub fn build_changes(before: &[u8], after: &[u8]) -> Vec<BuildChange> {
    let former = Build::of(before);
    let change = |Difference { object, path, expected, found }: Difference| {
        let value = former.0.get(&object).and_then(|values| values.first());
        let is_secret = value.is_none_or(|value| value.get("kind").and_then(Value::as_str) == Some("Secret"));
        let shown = |value: Option<Value>| value.filter(|_| !is_secret);
        BuildChange {
            path: readable(&path, value),
            object: name_of(&object),
            before: shown(expected),
            after: shown(found),
        }
    };
    former.differences(&Build::of(after)).into_iter().map(change).collect()
}

/// The kind and the name of an object that [`identity`] names.
pub(super) fn name_of(identity: &str) -> String {
    let mut parts = identity.split('\0').skip(1);
    let [kind, namespace, name] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let name = name.strip_suffix('-').unwrap_or(name);
    if namespace.is_empty() { format!("{kind} {name}") } else { format!("{kind} {namespace}/{name}") }
}

/// A path as people write it, with the names of items of lists.
pub(super) fn readable(path: &[Step], object: Option<&Value>) -> String {
    let mut text = String::new();
    let mut at = object;
    for step in path {
        match step {
            Step::Key(key) if key.contains(['.', '/', '[']) => text.extend(["[\"", key.as_str(), "\"]"]),
            Step::Key(key) => {
                let dot = if text.is_empty() { "" } else { "." };
                text.extend([dot, key.as_str()]);
            }
            Step::Index(index) => {
                let name = at.and_then(|list| list.get(*index)?.get("name")?.as_str());
                text.push_str(&name.map_or_else(|| format!("[{index}]"), |name| format!("[name={name}]")));
            }
        }
        at = at.and_then(|value| value_at(value, std::slice::from_ref(step)));
    }
    text
}

/// Removes the empty maps of a ConfigMap, which say what a missing one says: kustomize builds none where nothing is left of a generator.
fn without_empty_data(value: &mut Value) {
    if value.get("kind").and_then(Value::as_str) != Some("ConfigMap") {
        return;
    }
    if let Some(object) = value.as_object_mut() {
        let is_empty = |name: &str, value: &Value| {
            ["data", "binaryData"].contains(&name) && (value.is_null() || value.as_object().is_some_and(Map::is_empty))
        };
        object.retain(|name, value| !is_empty(name, value));
    }
}

impl Build {
    pub fn of(text: &[u8]) -> Self {
        let mut values: Vec<Value> =
            read(text, Validation::Warn).documents.into_iter().map(|document| document.value).collect();
        let generated: BTreeSet<String> = values.iter().filter_map(generated_name).map(ToOwned::to_owned).collect();
        for value in &mut values {
            without_empty_data(value);
            without_hashes(value, &generated);
        }
        let mut objects: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for value in values {
            objects.entry(identity(&value)).or_default().push(value);
        }
        Self(objects)
    }

    /// The differences of a build from this one.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        for object in self.0.keys().chain(other.0.keys().filter(|key| !self.0.contains_key(*key))) {
            let list = |build: &Self| build.0.get(object).map(Vec::as_slice).unwrap_or_default().to_vec();
            let expected = list(self);
            let there = list(other);
            if let ([expected], [there]) = (expected.as_slice(), there.as_slice()) {
                differ(object, &mut Vec::new(), expected, there, &mut found);
            } else if expected != there {
                found.push(Difference { object: object.clone(), path: Vec::new(), expected: None, found: None });
            }
            if found.len() >= MOST {
                break;
            }
        }
        found
    }
}

/// The name of an object in a build, without the hash of its content.
pub(super) fn identity_of(object: &Value) -> String {
    let mut value = object.clone();
    let generated: BTreeSet<String> = generated_name(object).map(ToOwned::to_owned).into_iter().collect();
    without_hashes(&mut value, &generated);
    identity(&value)
}

fn identity(value: &Value) -> String {
    let text = |pointer| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"].map(text).join("\0")
}

fn generated_name(value: &Value) -> Option<&str> {
    let kind = value.get("kind").and_then(Value::as_str)?;
    let name = value.pointer("/metadata/name").and_then(Value::as_str)?;
    (["ConfigMap", "Secret"].contains(&kind) && stem(name).is_some()).then_some(name)
}

fn without_hashes(value: &mut Value, generated: &BTreeSet<String>) {
    match value {
        Value::String(text) if generated.contains(text) => {
            if let Some(stem) = stem(text) {
                *text = format!("{stem}-");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_hashes(item, generated)),
        Value::Object(map) => map.values_mut().for_each(|value| without_hashes(value, generated)),
        _ => {}
    }
}

fn differ(object: &str, path: &mut Vec<Step>, expected: &Value, there: &Value, found: &mut Vec<Difference>) {
    if expected == there || found.len() >= MOST {
        return;
    }
    let difference = |path: &[Step], expected: Option<&Value>, there: Option<&Value>| Difference {
        object: object.to_owned(),
        path: path.to_vec(),
        expected: expected.cloned(),
        found: there.cloned(),
    };
    match (expected, there) {
        (Value::Object(expected), Value::Object(there)) => {
            let keys: BTreeSet<&String> = expected.keys().chain(there.keys()).collect();
            for key in keys {
                path.push(Step::Key(key.clone()));
                match (expected.get(key), there.get(key)) {
                    (Some(expected), Some(there)) => differ(object, path, expected, there, found),
                    (expected, there) => found.push(difference(path, expected, there)),
                }
                path.pop();
            }
        }
        (Value::Array(expected), Value::Array(there)) if expected.len() == there.len() => {
            for (index, (expected, there)) in expected.iter().zip(there).enumerate() {
                path.push(Step::Index(index));
                differ(object, path, expected, there, found);
                path.pop();
            }
        }
        _ => found.push(difference(path, Some(expected), Some(there))),
    }
}
