//! The graph of a plan: objects, the dependencies between them, and which objects are ready because theirs are done.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey};

use crate::manifest::DesiredObject;

/// The strength of a dependency on an object that comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependencyKind {
    /// The other only comes first.
    Order,
    /// The object cannot be written unless the other exists.
    Existence,
    /// The object would not work unless the other is as its manifest says.
    Success,
    /// The object lives in the other (a Namespace), or is of the kind that the other defines.
    Inside,
    /// The author declares the dependency (`config.kubernetes.io/depends-on`).
    Explicit,
}

/// A dependency on another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The index of the other object in the plan.
    pub on: usize,
    /// The strength.
    pub strength: DependencyKind,
}

/// An object to plan: a manifest or a live object.
#[derive(Clone, Copy)]
pub(super) struct PlannedObject<'a> {
    pub key: &'a ObjectKey,
    pub object: PlannedTree<'a>,
    /// True if the dependencies that its author declares count.
    pub is_bound: bool,
}

/// The content of an object to plan.
#[derive(Clone, Copy)]
pub(super) enum PlannedTree<'a> {
    /// A manifest, of which no tree is kept.
    Desired(&'a DesiredObject),
    /// A live object.
    Live(&'a Value),
}

impl<'a> PlannedTree<'a> {
    /// The object, of which a tree is kept.
    pub fn get(self) -> &'a Value {
        match self {
            Self::Desired(desired) => desired.object(),
            Self::Live(object) => object,
        }
    }

    /// Returns true if the object is encrypted in its manifest, so that no message quotes it.
    pub fn is_encrypted(self) -> bool {
        matches!(self, Self::Desired(desired) if desired.origin.is_encrypted)
    }

    /// Looks at the object, of which no tree is kept.
    pub fn with<T>(self, look: impl FnOnce(&Value) -> T) -> T {
        match self {
            Self::Desired(desired) => desired.with_object(look),
            Self::Live(object) => look(object),
        }
    }
}

/// Hands out the objects of a range of a plan, each one once its dependencies in that range are done.
#[derive(Clone, Debug)]
pub struct ReadySet {
    /// Number of open dependencies, by object.
    open: BTreeMap<usize, usize>,
    dependents: BTreeMap<usize, Vec<usize>>,
    ready: BTreeSet<usize>,
}

impl ReadySet {
    /// Takes the objects of a range of the plan, with their dependencies. Objects before the range count as done.
    pub fn of<'n>(needs: impl Fn(usize) -> &'n [Dependency], stretch: Range<usize>) -> Self {
        let mut open = BTreeMap::new();
        let mut dependents = BTreeMap::<usize, Vec<usize>>::new();
        for index in stretch.clone() {
            let needs: Vec<_> = needs(index).iter().filter(|need| need.on >= stretch.start).collect();
            for need in &needs {
                dependents.entry(need.on).or_default().push(index);
            }
            open.insert(index, needs.len());
        }
        let ready = open.iter().filter(|(_, open)| **open == 0).map(|(index, _)| *index).collect();
        Self { open, dependents, ready }
    }

    /// The next object that is ready, in the order of the plan.
    pub fn take(&mut self) -> Option<usize> {
        self.ready.pop_first()
    }

    /// Marks an object as done, successfully or not.
    pub fn done(&mut self, index: usize) {
        for dependent in self.dependents.get(&index).into_iter().flatten() {
            let Some(open) = self.open.get_mut(dependent) else { continue };
            *open -= 1;
            if *open == 0 {
                self.ready.insert(*dependent);
            }
        }
    }
}

/// A wave of the pass. Waves follow one another; the objects of one wave are written in parallel, as far as their dependencies allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wave {
    /// Namespaces and CustomResourceDefinitions: without them, other objects have no path.
    Foundations,
    /// Objects that are only referred to: classes, quotas, accounts, roles, configuration, volumes.
    Configuration,
    /// Objects that refer to the former: bindings, claims, policies, services.
    Bindings,
    /// Workloads, and every other built-in kind.
    Workloads,
    /// Custom resources, which may need anything of the above.
    Custom,
    /// Objects that can block every request: webhooks and API services.
    Admission,
}

/// Kinds that are not workloads, by the order that Helm (`kind_sorter.go`) and cli-utils (`ordering/sort.go`) agree on.
const CONFIGURATION: [&str; 12] = [
    "ClusterRole",
    "ConfigMap",
    "IngressClass",
    "LimitRange",
    "PersistentVolume",
    "PriorityClass",
    "ResourceQuota",
    "Role",
    "RuntimeClass",
    "Secret",
    "ServiceAccount",
    "StorageClass",
];
const BINDINGS: [&str; 6] =
    ["ClusterRoleBinding", "NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget", "RoleBinding", "Service"];
const ADMISSION: [&str; 7] = [
    "APIService",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
];

impl Wave {
    /// The wave of a kind.
    pub fn of(gvk: &GroupVersionKind) -> Self {
        let is_in = |kinds: &[&str]| kinds.contains(&gvk.kind.as_str());
        if gvk.is_namespace() || gvk.is_crd() {
            Self::Foundations
        } else if structured_merge::builtin_kind(gvk).is_none() {
            Self::Custom
        } else if is_in(&CONFIGURATION) {
            Self::Configuration
        } else if is_in(&BINDINGS) {
            Self::Bindings
        } else if is_in(&ADMISSION) {
            Self::Admission
        } else {
            Self::Workloads
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_need_comes_first() {
        let wave = |api_version, kind| Wave::of(&GroupVersionKind::new(api_version, kind));
        assert!(wave("v1", "Namespace") < wave("v1", "Secret"));
        assert!(wave("v1", "Secret") < wave("apps/v1", "Deployment"));
        assert!(wave("rbac.authorization.k8s.io/v1", "Role") < wave("rbac.authorization.k8s.io/v1", "RoleBinding"));
        assert!(wave("apiextensions.k8s.io/v1", "CustomResourceDefinition") < wave("example.com/v1", "Widget"));
        let webhooks = wave("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration");
        assert!(wave("example.com/v1", "Widget") < webhooks);
        assert_eq!(wave("example.com/v1", "Service"), Wave::Custom);
    }
}
