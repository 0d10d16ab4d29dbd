//! CustomResourceDefinitions: their resource, and the live ones of the kinds of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey, builtin_kind, defined_kind};

use super::fetch::find;
use crate::client::{Cluster, IN_FLIGHT};
use reconcile_core::live::{LiveState, Resource, Target};

/// CustomResourceDefinitions by the kinds that they define. The first one of a kind counts, and none defines a built-in kind.
#[derive(Default)]
pub(crate) struct Definitions<'d>(HashMap<(&'d str, &'d str), &'d Value>);

impl<'d> Definitions<'d> {
    /// Collects the kinds of definitions.
    pub fn of(definitions: impl IntoIterator<Item = &'d Value>) -> Self {
        let mut by_kind = HashMap::new();
        for definition in definitions {
            if let Some(kind) = defined_kind(definition) {
                by_kind.entry(kind).or_insert(definition);
            }
        }
        Self(by_kind)
    }

    /// The definition of a kind.
    pub fn get(&self, gvk: &GroupVersionKind) -> Option<&'d Value> {
        let definition = self.0.get(&(gvk.group.as_str(), gvk.kind.as_str()))?;
        builtin_kind(gvk).is_none().then_some(*definition)
    }
}

/// The resource of CustomResourceDefinitions.
pub(crate) fn definitions() -> Resource {
    Resource {
        gvk: GroupVersionKind::new("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        plural: "customresourcedefinitions".to_owned(),
        namespaced: false,
        verbs: ["get", "list"].map(ToOwned::to_owned).into(),
        status: true,
        pending: false,
    }
}

/// The key of the definition of a custom resource.
pub(crate) fn definition_key(resource: &Resource) -> ObjectKey {
    let name = format!("{}.{}", resource.plural, resource.gvk.group);
    ObjectKey { gvk: definitions().gvk, namespace: None, name }
}

/// The live definitions of the targets' custom resources, without those that are targets themselves.
pub(crate) async fn definitions_beside(cluster: &Cluster, targets: &[&Target]) -> Vec<Value> {
    let own: BTreeSet<&str> =
        targets.iter().filter(|target| target.key.gvk.is_crd()).map(|target| target.key.name.as_str()).collect();
    let resources: BTreeMap<_, _> =
        targets.iter().filter_map(|target| target.resource.as_deref().ok()).map(|found| (&found.gvk, found)).collect();
    let custom = resources.into_values().filter(|found| builtin_kind(&found.gvk).is_none() && !found.pending);
    live_definitions(cluster, custom.filter(|found| !own.contains(definition_key(found).name.as_str()))).await
}

/// The live definitions of custom resources. One that cannot be read is left out.
pub(crate) async fn live_definitions(cluster: &Cluster, resources: impl IntoIterator<Item = &Resource>) -> Vec<Value> {
    let keys: BTreeMap<_, _> = resources.into_iter().map(definition_key).map(|key| (key.name.clone(), key)).collect();
    let resource = definitions();
    let reads = keys.into_values().map(async |key| find(cluster, &resource, &key).await);
    let found: Vec<LiveState> = futures::stream::iter(reads).buffered(IN_FLIGHT).collect().await;
    let present = |state| if let LiveState::Present(object) = state { Some(object) } else { None };
    found.into_iter().filter_map(present).collect()
}
