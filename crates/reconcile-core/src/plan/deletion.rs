//! The deletions that somebody has to allow, because they may take away more than was meant.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use structured_merge::ObjectKey;

use super::dependency::{PlannedObject, PlannedTree, Wave};
use super::graph::Order;

/// Fewer deletions than these are never most of a set.
const MANY: usize = 10;

/// A kind of deletion that has to be allowed, as `--prune-allow` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeletionKind {
    /// A Namespace, which takes along everything in it.
    Namespaces,
    /// A CustomResourceDefinition, which takes along all objects of its kind.
    Definitions,
    /// An object in a namespace that neither a manifest nor `--namespace` names.
    OtherNamespaces,
    /// One of many deletions, which are more than half of the members of the set.
    Most,
}

impl DeletionKind {
    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Definitions => "definitions",
            Self::OtherNamespaces => "other-namespaces",
            Self::Most => "most",
        }
    }

    /// The reason why it has to be allowed.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Namespaces => "everything in the Namespace is deleted with it",
            Self::Definitions => "all objects of its kind are deleted with it",
            Self::OtherNamespaces => "neither a manifest nor `-n` names its namespace",
            Self::Most => "more than half of the members of the apply set would be deleted",
        }
    }
}

/// The conditions of one deletion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deletion {
    /// The kinds that have to be allowed for it.
    pub needs: BTreeSet<DeletionKind>,
    /// True if all of that is allowed: by `--prune-allow`, or by a yes to the question of `--confirm`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allowed: bool,
}

/// The facts about a run that decide which of its deletions have to be allowed.
#[derive(Clone, Debug)]
pub struct DeletionScope {
    /// The namespaces that a manifest or `--namespace` names.
    pub named: BTreeSet<String>,
    /// The number of live members of the set.
    pub members: usize,
    /// The number of members to delete.
    pub deletions: usize,
}

impl DeletionScope {
    /// Returns the kinds that have to be allowed before an object is deleted.
    pub fn needs(&self, key: &ObjectKey) -> BTreeSet<DeletionKind> {
        let is_most = self.deletions >= MANY && self.deletions > self.members.saturating_sub(self.deletions);
        let is_elsewhere = key.namespace.as_ref().is_some_and(|namespace| !self.named.contains(namespace));
        let kinds = [
            (key.gvk.is_namespace(), DeletionKind::Namespaces),
            (key.gvk.is_crd(), DeletionKind::Definitions),
            (is_elsewhere, DeletionKind::OtherNamespaces),
            (is_most, DeletionKind::Most),
        ];
        kinds.into_iter().filter(|(applies, _)| *applies).map(|(_, kind)| kind).collect()
    }
}

/// The flag that allows these kinds: `--prune-allow=namespaces,most`.
pub fn prune_allow(kinds: &BTreeSet<DeletionKind>) -> String {
    let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
    format!("--prune-allow={}", words.join(","))
}

/// The step in which an object is deleted, in the reverse of the order of creation: the last wave first, and within a wave each
/// object before its dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PruneStep {
    wave: Reverse<Wave>,
    /// Length of the longest chain of objects that have to be deleted before it.
    height: usize,
}

/// The step of each object. If the objects have no order, because an annotation in the cluster names nothing, for example, only
/// their kinds decide.
#[expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]
pub fn prune_order(objects: &[(&ObjectKey, &Value)]) -> Vec<PruneStep> {
    let nodes: Vec<PlannedObject<'_>> = objects
        .iter()
        .map(|(key, object)| PlannedObject { key, object: PlannedTree::Live(object), is_bound: true })
        .collect();
    let by_kind = objects.iter().map(|(key, _)| PruneStep { wave: Reverse(Wave::of(&key.gvk)), height: 0 });
    let mut steps: Vec<PruneStep> = by_kind.collect();
    if let Ok(order) = Order::of(&nodes) {
        let heights = heights(&order);
        for (step, height) in order.steps.iter().zip(heights) {
            steps[step.index] = PruneStep { wave: Reverse(step.wave), height };
        }
    }
    steps
}

/// For each step, the length of the longest chain of objects of its wave that depend on it.
#[expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]
fn heights(order: &Order) -> Vec<usize> {
    let steps = &order.steps;
    let mut heights = vec![0_usize; steps.len()];
    // An object comes after its dependencies, so that all its dependents have their height when it gets its own.
    for index in (0..steps.len()).rev() {
        for need in steps[index].needs.iter().filter(|need| steps[need.on].wave == steps[index].wave) {
            heights[need.on] = heights[need.on].max(heights[index] + 1);
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use structured_merge::GroupVersionKind;

    use super::*;

    fn needs(kind: (&str, &str), namespace: Option<&str>, deletions: usize, members: usize) -> Vec<&'static str> {
        let gvk = GroupVersionKind::new(kind.0, kind.1);
        let key = ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: "it".to_owned() };
        let scope = DeletionScope { named: ["shop".to_owned()].into(), members, deletions };
        scope.needs(&key).into_iter().map(DeletionKind::word).collect()
    }

    #[test]
    fn what_takes_others_along_or_is_elsewhere_has_to_be_allowed() {
        let config_map = ("v1", "ConfigMap");
        assert_eq!(needs(config_map, Some("shop"), 1, 1), [""; 0]);
        assert_eq!(needs(config_map, Some("stg"), 1, 9), ["other-namespaces"]);
        assert_eq!(needs(("v1", "Namespace"), None, 1, 9), ["namespaces"]);
        let crd = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        assert_eq!(needs(crd, None, 1, 9), ["definitions"]);
        assert_eq!(needs(("rbac.authorization.k8s.io/v1", "ClusterRole"), None, 1, 9), [""; 0]);
        assert_eq!(needs(config_map, Some("stg"), 10, 10), ["other-namespaces", "most"]);
    }

    #[test]
    fn most_is_more_than_half_and_at_least_ten() {
        let config_map = |deletions, members| needs(("v1", "ConfigMap"), Some("shop"), deletions, members);
        for (deletions, members, is_most) in
            [(9, 9, false), (10, 10, true), (10, 19, true), (10, 20, false), (11, 21, true), (200, 500, false)]
        {
            assert_eq!(config_map(deletions, members) == ["most"], is_most, "{deletions} of {members}");
        }
    }

    #[test]
    fn a_kind_is_written_as_it_is_typed() {
        for kind in
            [DeletionKind::Namespaces, DeletionKind::Definitions, DeletionKind::OtherNamespaces, DeletionKind::Most]
        {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
        }
        let kinds = [DeletionKind::Most, DeletionKind::Namespaces].into();
        assert_eq!(prune_allow(&kinds), "--prune-allow=namespaces,most");
    }
}
