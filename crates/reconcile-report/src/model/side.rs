//! The side of a difference that changed: the manifests, or the cluster.

use reconcile_core::compare::FieldChange;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::ClassInfo;
use super::object::ObjectReport;

/// The side of a difference that changed, as far as the records of the cluster tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// The manifest.
    Manifest,
    /// The live object.
    Cluster,
    /// One of them: the records do not tell which.
    Either,
    /// Both of them, each in other fields.
    Both,
}

impl Side {
    /// The side of several changes: a known one counts before an unknown one. `None` if none of them is drift.
    pub(crate) fn of(changes: &[FieldChange]) -> Option<Self> {
        changes.iter().filter_map(|change| ClassInfo::of(change.class).side).fold(None, |known, side| {
            Some(match (known, side) {
                (None | Some(Self::Either), side) => side,
                (Some(known), Self::Either) => known,
                (Some(known), side) if known == side => known,
                _ => Self::Both,
            })
        })
    }
}

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
    pub(crate) fn of<'o>(objects: impl Iterator<Item = &'o ObjectReport>) -> Self {
        let mut counts = Self::default();
        for side in objects.filter_map(|object| object.diff.side) {
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
    #[must_use]
    pub fn has_cluster(&self) -> bool {
        self.cluster > 0 || self.both > 0
    }
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::Class;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_known_side_counts_before_an_unknown_one() {
        use Class::{Absent, ChangedByOther, Overridden, Pending, Pruned, Reordered};
        let side = |classes: &[Class]| {
            let change = |class: &Class| FieldChange { class: *class, ..FieldChange::missing(json!({})) };
            Side::of(&classes.iter().map(change).collect::<Vec<_>>())
        };
        assert_eq!(side(&[]), None);
        assert_eq!(side(&[Overridden]), None);
        assert_eq!(side(&[Absent]), Some(Side::Either));
        assert_eq!(side(&[Absent, Pending]), Some(Side::Manifest));
        assert_eq!(side(&[Reordered, Absent, Overridden]), Some(Side::Cluster));
        assert_eq!(side(&[Pruned, Pending]), Some(Side::Manifest));
        assert_eq!(side(&[Pruned, ChangedByOther, Pending, Absent]), Some(Side::Both));
    }
}
