//! Counts of the sides that changed: the manifests, or the cluster.

use reconcile_core::compare::Side;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts of objects by the side that changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SideCounts {
    /// Changed in the manifests.
    pub manifest: usize,
    /// Changed in the cluster.
    pub cluster: usize,
    /// Changed in one of them: the records do not tell in which.
    pub either: usize,
    /// Changed in both.
    pub both: usize,
}

impl SideCounts {
    pub(crate) fn of(sides: impl Iterator<Item = Side>) -> Self {
        let mut counts = Self::default();
        for side in sides {
            let count = match side {
                Side::Manifest => &mut counts.manifest,
                Side::Cluster => &mut counts.cluster,
                Side::Either => &mut counts.either,
                Side::Both => &mut counts.both,
            };
            *count = count.saturating_add(1);
        }
        counts
    }

    pub(crate) fn add(&mut self, other: Self) {
        let Self { manifest, cluster, either, both } = other;
        self.manifest = self.manifest.saturating_add(manifest);
        self.cluster = self.cluster.saturating_add(cluster);
        self.either = self.either.saturating_add(either);
        self.both = self.both.saturating_add(both);
    }

    /// Returns true if something changed in the cluster.
    pub fn has_cluster(&self) -> bool {
        self.cluster > 0 || self.both > 0
    }
}
