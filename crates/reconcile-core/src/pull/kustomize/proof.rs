//! The comparison of two builds.

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Validation, read};
use manifest_edit::Step;
use serde_json::Value;

use crate::object::generated::stem;

/// The most differences that are looked at.
const MOST: usize = 1_000;

/// The objects of a build by their apiVersion, kind, namespace and name. Content hashes are left out of names and of references to them.
pub(super) struct Build(BTreeMap<String, Vec<Value>>);

/// A difference between a build and the expected one.
pub(super) struct Difference {
    /// The object.
    pub object: String,
    /// The place in it.
    pub path: Vec<Step>,
    /// The value there.
    pub found: Option<Value>,
}

impl Build {
    pub fn of(text: &[u8]) -> Self {
        let mut values: Vec<Value> =
            read(text, Validation::Warn).documents.into_iter().map(|document| document.value).collect();
        let generated: BTreeSet<String> = values.iter().filter_map(generated_name).map(ToOwned::to_owned).collect();
        for value in &mut values {
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
                found.push(Difference { object: object.clone(), path: Vec::new(), found: None });
            }
            if found.len() >= MOST {
                break;
            }
        }
        found
    }
}

/// The object in a build that a document of it is.
pub(super) fn identity_of(text: &[u8], document: usize) -> Option<String> {
    let documents = read(text, Validation::Warn).documents;
    let mut value = documents.iter().find(|one| one.number == document)?.value.clone();
    let generated: BTreeSet<String> = generated_name(&value).map(ToOwned::to_owned).into_iter().collect();
    without_hashes(&mut value, &generated);
    Some(identity(&value))
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
    let difference = |path: &[Step], there: Option<&Value>| Difference {
        object: object.to_owned(),
        path: path.to_vec(),
        found: there.cloned(),
    };
    match (expected, there) {
        (Value::Object(expected), Value::Object(there)) => {
            let keys: BTreeSet<&String> = expected.keys().chain(there.keys()).collect();
            for key in keys {
                path.push(Step::Key(key.clone()));
                match (expected.get(key), there.get(key)) {
                    (Some(expected), Some(there)) => differ(object, path, expected, there, found),
                    (_, there) => found.push(difference(path, there)),
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
        _ => found.push(difference(path, Some(there))),
    }
}
