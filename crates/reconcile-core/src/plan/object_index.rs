#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::HashMap;

use serde_json::Value;
use structured_merge::{ObjectKey, builtin_kind, defined_kind};

use super::dependency::{DependencyKind, PlannedObject};
use super::references::{Reference, at, subjects};
use super::wave::Wave;

/// An index that finds the nodes of references.
#[derive(Default)]
pub(super) struct ObjectIndex<'t> {
    /// By group, kind, namespace and name.
    by_name: HashMap<(&'t str, &'t str, Option<&'t str>, &'t str), usize>,
    /// CustomResourceDefinitions, by the group and kind that they define.
    definitions: HashMap<(&'t str, &'t str), Vec<usize>>,
    /// Bindings, by namespace and name of the service accounts that they give rights to.
    bindings: HashMap<(Option<&'t str>, &'t str), Vec<usize>>,
    /// Workloads with the labels of their pods, by namespace.
    workloads: HashMap<Option<&'t str>, Vec<usize>>,
}

impl<'t> ObjectIndex<'t> {
    pub fn of(nodes: &[PlannedObject<'t>]) -> Self {
        let mut index = Self::default();
        for (at, node) in nodes.iter().enumerate() {
            let ObjectKey { gvk, namespace, name } = node.key;
            let namespace = namespace.as_deref();
            index.by_name.insert((&gvk.group, &gvk.kind, namespace, name), at);
            if gvk.is_crd()
                && let Some(kind) = defined_kind(node.object.get())
            {
                index.definitions.entry(kind).or_default().push(at);
            }
            if gvk.group == "rbac.authorization.k8s.io" && gvk.kind.ends_with("Binding") {
                for (account_namespace, name) in subjects(node.object.get()) {
                    index.bindings.entry((account_namespace.or(namespace), name)).or_default().push(at);
                }
            }
            if node.object.with(|object| pod_labels(object).is_some()) {
                index.workloads.entry(namespace).or_default().push(at);
            }
        }
        index
    }

    pub fn find(&self, reference: &Reference<'_>) -> Option<usize> {
        let Reference { group, kind, namespace, name, .. } = *reference;
        self.by_name.get(&(group, kind, namespace, name)).copied()
    }

    /// The CustomResourceDefinition of a node's kind; several if the input has several of that kind.
    pub fn definitions(&self, PlannedObject { key, .. }: &PlannedObject<'t>) -> &[usize] {
        let found = self.definitions.get(&(&key.gvk.group, &key.gvk.kind));
        found.filter(|_| builtin_kind(&key.gvk).is_none()).map_or(&[], Vec::as_slice)
    }

    /// The nodes behind a referenced object: the bindings of a service account, and the workloads of a service that gets the
    /// API server's own requests.
    pub fn behind(
        &self,
        nodes: &[PlannedObject<'_>],
        reference: &Reference<'_>,
        by: &ObjectKey,
    ) -> impl Iterator<Item = usize> {
        let mut behind = Vec::new();
        if Wave::of(&by.gvk) == Wave::Admission && reference.kind == "Service" {
            let service = self.find(reference).map(|at| nodes[at].object.get());
            let selector = service.and_then(|service| service.pointer("/spec/selector")).and_then(Value::as_object);
            let workloads = self.workloads.get(&reference.namespace).into_iter().flatten();
            if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
                let is_selected = |at: &&usize| {
                    let labels = pod_labels(nodes[**at].object.get());
                    labels.is_some_and(|labels| selector.iter().all(|(key, value)| labels.get(key) == Some(value)))
                };
                behind.extend(workloads.filter(is_selected).copied());
            }
        } else if reference.kind == "ServiceAccount" && reference.strength == DependencyKind::Success {
            let account = (reference.namespace, reference.name);
            behind.extend(self.bindings.get(&account).into_iter().flatten().copied());
        }
        behind.into_iter()
    }
}

fn pod_labels(manifest: &Value) -> Option<&Value> {
    at(manifest, "/spec/template/metadata/labels")
}
