//! The side of a difference that changed: the manifests, or the cluster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The side of several changes, each of its own side: a known one counts before an unknown one. `None` if there are none.
    pub(crate) fn of(sides: impl Iterator<Item = Self>) -> Option<Self> {
        sides.fold(None, |known, side| {
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

#[cfg(test)]
mod tests {
    use super::Side::{Both, Cluster, Either, Manifest};
    use super::*;

    #[test]
    fn a_known_side_counts_before_an_unknown_one() {
        let side = |sides: &[Side]| Side::of(sides.iter().copied());
        assert_eq!(side(&[]), None);
        assert_eq!(side(&[Either]), Some(Either));
        assert_eq!(side(&[Either, Manifest]), Some(Manifest));
        assert_eq!(side(&[Cluster, Either]), Some(Cluster));
        assert_eq!(side(&[Manifest, Manifest]), Some(Manifest));
        assert_eq!(side(&[Manifest, Cluster, Manifest, Either]), Some(Both));
    }
}
