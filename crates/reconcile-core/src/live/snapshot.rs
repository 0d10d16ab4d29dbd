//! Captured objects that replace a cluster: written by `snapshot`, or by `kubectl get -o yaml --show-managed-fields`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, ObjectKey};

use super::resolve::LiveState;
use super::resolve::Target;
use crate::diagnostic::{Code, Diagnostic};
use crate::manifest::Input;
use crate::manifest::yaml::{self, Validation};
use crate::object::is_dns_label;
use crate::text::yaml as as_yaml;

/// Types of the documents that are not objects: the header, and the records of unreadable objects.
const API_VERSION: &str = "kubectl-reconcile/v1";
const KIND: &str = "Snapshot";
const KIND_OF_UNREADABLE: &str = "Unreadable";

/// Captured objects, by their key without the version: an object may be served in several versions.
#[derive(Debug, Default)]
pub struct Snapshot {
    objects: BTreeMap<Key, Value>,
    unreadable: BTreeMap<Key, Diagnostic>,
    namespace: Option<String>,
}

type Key = (String, String, Option<String>, String);

fn key(gvk: &GroupVersionKind, namespace: Option<&str>, name: &str) -> Key {
    (gvk.group.clone(), gvk.kind.clone(), namespace.map(ToOwned::to_owned), name.to_owned())
}

impl Snapshot {
    /// Reads a `List`, several documents, or an empty input. Duplicate and unknown fields are no errors here: no person wrote
    /// the snapshot.
    pub fn read(inputs: &[Input]) -> Result<Self, Vec<Diagnostic>> {
        let mut snapshot = Self::default();
        let mut diagnostics = Vec::new();
        for input in inputs {
            let stream = yaml::read(input.text.bytes(), Validation::Ignore);
            for diagnostic in stream.diagnostics {
                diagnostics.push(Diagnostic::of_syntax(&input.name, &diagnostic));
            }
            for document in stream.documents {
                if !snapshot.add(document.value) {
                    let message = "an object with apiVersion, kind and metadata.name was expected here";
                    diagnostics.push(Diagnostic::at_line(&input.name, document.start.line, message));
                }
            }
        }
        if diagnostics.is_empty() { Ok(snapshot) } else { Err(diagnostics) }
    }

    /// Adds an object or a list of objects. Returns false if the value is neither.
    fn add(&mut self, mut value: Value) -> bool {
        if let Some(items) = value.get_mut("items").and_then(Value::as_array_mut) {
            return std::mem::take(items).into_iter().all(|item| self.add(item));
        }
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(ToOwned::to_owned);
        let (Some(api_version), Some(kind)) = (text("/apiVersion"), text("/kind")) else { return false };
        if api_version == API_VERSION && kind == KIND_OF_UNREADABLE {
            return self.add_unreadable(&value);
        }
        if api_version == API_VERSION && kind == KIND {
            self.namespace = text("/namespace").filter(|namespace| is_dns_label(namespace));
            return true;
        }
        if kind == "List" {
            return true;
        }
        let Some(name) = text("/metadata/name") else { return false };
        let gvk = GroupVersionKind::new(&api_version, &kind);
        self.objects.insert(key(&gvk, text("/metadata/namespace").as_deref(), &name), value);
        true
    }

    fn add_unreadable(&mut self, record: &Value) -> bool {
        let text = |pointer: &str| record.pointer(pointer).and_then(Value::as_str);
        let (Some(api_version), Some(kind), Some(name)) =
            (text("/object/apiVersion"), text("/object/kind"), text("/object/name"))
        else {
            return false;
        };
        let gvk = GroupVersionKind::new(api_version, kind);
        let diagnostic = Diagnostic::new(
            Code::named(text("/reason").unwrap_or_default()),
            text("/message").unwrap_or("it could not be captured"),
        );
        self.unreadable.insert(key(&gvk, text("/object/namespace"), name), diagnostic);
        true
    }

    /// The default namespace at the time of the capture, for manifests that name none.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The namespace that objects with the names of these were captured in, if none was in the namespace of these: it was most likely the
    /// default one of the command that wrote the capture.
    pub fn namespace_instead_of(&self, default: &str, objects: &[&ObjectKey]) -> Option<&str> {
        let named = |key: &ObjectKey| (key.gvk.group.clone(), key.gvk.kind.clone(), key.name.clone());
        let wanted = objects.iter().filter(|key| key.namespace.as_deref() == Some(default));
        let wanted: BTreeSet<_> = wanted.map(|key| named(key)).collect();
        let mut found = BTreeSet::new();
        for (group, kind, namespace, name) in self.objects.keys() {
            match namespace.as_deref() {
                Some(namespace) if namespace == default => return None,
                Some(namespace) if wanted.contains(&(group.clone(), kind.clone(), name.clone())) => {
                    found.insert(namespace);
                }
                _ => {}
            }
        }
        // Somebody may have written the file: it becomes a part of a command.
        if found.len() == 1 { found.pop_first().filter(|namespace| is_dns_label(namespace)) } else { None }
    }

    /// The captured CustomResourceDefinitions.
    pub fn definitions(&self) -> impl Iterator<Item = &Value> {
        self.objects().filter(|object| GroupVersionKind::of(object).is_crd())
    }

    /// The captured objects.
    pub fn objects(&self) -> impl Iterator<Item = &Value> {
        self.objects.values()
    }

    /// The captured objects as manifests with nothing but their names: all of them, or those of a namespace and those of none.
    pub fn names(&self, namespace: Option<&str>) -> Vec<Value> {
        let is_wanted = |(_, _, own, _): &Key| own.is_none() || namespace.is_none() || own.as_deref() == namespace;
        let name = |((_, _, namespace, name), object): (&Key, &Value)| {
            let mut metadata = json!({ "name": name });
            if let (Some(namespace), Some(metadata)) = (namespace, metadata.as_object_mut()) {
                metadata.insert("namespace".into(), namespace.as_str().into());
            }
            json!({"apiVersion": object.get("apiVersion"), "kind": object.get("kind"), "metadata": metadata})
        };
        self.objects.iter().filter(|(key, _)| is_wanted(key)).map(name).collect()
    }

    /// The captured state of an object. An object that the snapshot does not have did not exist.
    pub fn state(&self, object: &ObjectKey) -> LiveState {
        let key = key(&object.gvk, object.namespace.as_deref(), &object.name);
        match (self.objects.get(&key), self.unreadable.get(&key)) {
            (Some(live), _) if live.get("apiVersion") != Some(&object.gvk.api_version().into()) => {
                let version = live.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
                let message =
                    format!("the snapshot has it as `{version}`, the manifest as `{}`", object.gvk.api_version());
                LiveState::Unreadable(Diagnostic::new(Code::OtherVersion, message))
            }
            (Some(live), _) => LiveState::Present(live.clone()),
            (None, Some(diagnostic)) => LiveState::Unreadable(diagnostic.clone()),
            (None, None) => LiveState::Absent,
        }
    }
}

/// The header document: it records the default namespace for manifests that name none.
pub fn heading(namespace: &str) -> Value {
    json!({"apiVersion": API_VERSION, "kind": KIND, "namespace": namespace})
}

/// The record of an object that could not be read.
pub fn unreadable(target: &Target, diagnostic: &Diagnostic) -> Value {
    let mut object = json!({
        "apiVersion": target.key.gvk.api_version(),
        "kind": target.key.gvk.kind,
        "name": target.key.name,
    });
    if let (Some(namespace), Some(fields)) = (&target.key.namespace, object.as_object_mut()) {
        fields.insert("namespace".into(), namespace.as_str().into());
    }
    json!({
        "apiVersion": API_VERSION,
        "kind": KIND_OF_UNREADABLE,
        "object": object,
        "reason": diagnostic.code.as_str(),
        "message": diagnostic.message,
    })
}

/// The text of a snapshot, which [`Snapshot::read`] reads back as the same documents.
pub fn written(documents: &[Value]) -> String {
    documents.iter().flat_map(|document| ["---\n".to_owned(), as_yaml(document)]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::any_yaml::{text, value};

    proptest! {
        #[test]
        fn what_is_written_is_read_back(values in prop::collection::vec((text(), value()), 0..4)) {
            let object = |(at, (namespace, data)): (usize, &(String, Value))| {
                let metadata = json!({"name": at.to_string(), "namespace": namespace});
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
            };
            let objects: Vec<Value> = values.iter().enumerate().map(object).collect();
            let mut documents = vec![heading("shop")];
            documents.extend(objects.iter().cloned());
            let text = written(&documents);
            let input = Input::new("snapshot", text.clone().into_bytes());
            let read = Snapshot::read(&[input]).unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics:?}"));
            prop_assert_eq!(read.namespace(), Some("shop"));
            let mut read: Vec<&Value> = read.objects().collect();
            read.sort_by_key(|object| object["metadata"]["name"].as_str());
            prop_assert_eq!(read, objects.iter().collect::<Vec<_>>(), "{}", text);
        }
    }
}
