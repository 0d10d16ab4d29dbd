use std::collections::BTreeMap;

use serde_json::Value;

use super::graph::Strength;
use super::references::{Reference, subjects};
use super::wave::Wave;
use crate::compare::defines;
use crate::live::Target;
use crate::object::ObjectKey;

/// Finds targets by what refers to them.
pub(super) struct Index {
    by_name: BTreeMap<(String, String, Option<String>, String), usize>,
    crds: Vec<usize>,
    /// Bindings, by namespace and name of the service accounts that they give rights to.
    bindings: BTreeMap<(Option<String>, String), Vec<usize>>,
    /// Workloads with the labels of their pods, by namespace.
    workloads: BTreeMap<Option<String>, Vec<usize>>,
}

impl Index {
    pub fn of(targets: &[Target]) -> Self {
        let mut index =
            Self { by_name: BTreeMap::new(), crds: Vec::new(), bindings: BTreeMap::new(), workloads: BTreeMap::new() };
        for (at, target) in targets.iter().enumerate() {
            let ObjectKey { gvk, namespace, name } = &target.key;
            index.by_name.insert((gvk.group.clone(), gvk.kind.clone(), namespace.clone(), name.clone()), at);
            if gvk.is_crd() {
                index.crds.push(at);
            }
            if gvk.group == "rbac.authorization.k8s.io" && gvk.kind.ends_with("Binding") {
                for (of, name) in subjects(&target.manifest.value) {
                    let account = (of.map(ToOwned::to_owned).or_else(|| namespace.clone()), name.to_owned());
                    index.bindings.entry(account).or_default().push(at);
                }
            }
            if pod_labels(&target.manifest.value).is_some() {
                index.workloads.entry(namespace.clone()).or_default().push(at);
            }
        }
        index
    }

    pub fn find(&self, reference: &Reference) -> Option<usize> {
        let Reference { group, kind, namespace, name, .. } = reference.clone();
        self.by_name.get(&(group, kind, namespace, name)).copied()
    }

    /// The CustomResourceDefinition of a target's kind.
    pub fn definitions(&self, targets: &[Target], target: &Target) -> impl Iterator<Item = usize> {
        self.crds.iter().copied().filter(|at| defines(&targets[*at], target))
    }

    /// What stands behind a thing that is referred to: the rights of a service account, the pods of a service that gets the
    /// API server's own requests.
    pub fn behind(&self, targets: &[Target], reference: &Reference, by: &ObjectKey) -> impl Iterator<Item = usize> {
        let mut behind = Vec::new();
        if Wave::of(&by.gvk) == Wave::Admission && reference.kind == "Service" {
            let service = self.find(reference).map(|at| &targets[at].manifest.value);
            let selector = service.and_then(|service| service.pointer("/spec/selector")).and_then(Value::as_object);
            let workloads = self.workloads.get(&reference.namespace).into_iter().flatten();
            if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
                let is_selected = |at: &&usize| {
                    let labels = pod_labels(&targets[**at].manifest.value);
                    labels.is_some_and(|labels| selector.iter().all(|(key, value)| labels.get(key) == Some(value)))
                };
                behind.extend(workloads.filter(is_selected).copied());
            }
        } else if reference.kind == "ServiceAccount" && reference.strength == Strength::Success {
            let account = (reference.namespace.clone(), reference.name.clone());
            behind.extend(self.bindings.get(&account).into_iter().flatten().copied());
        }
        behind.into_iter()
    }
}

fn pod_labels(manifest: &Value) -> Option<&Value> {
    manifest.pointer("/spec/template/metadata/labels")
}
