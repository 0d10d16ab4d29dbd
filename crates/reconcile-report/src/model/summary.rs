use std::collections::BTreeMap;

use reconcile_core::compare::{Action, Evidence, Side};
use reconcile_core::live::readiness::ReadinessState;
use reconcile_core::rare::is_zero;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity::Command;
use super::object::ObjectReport;
use super::object::disposition::Disposition;

/// Counts of objects. `status` compares nothing, so that the counts of a comparison are absent from its reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Summary {
    /// All of them.
    pub objects: usize,
    /// Nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_sync: Option<usize>,
    /// To be created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<usize>,
    /// To be updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<usize>,
    /// To be replaced, also those that need the flag or are protected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<usize>,
    /// To be replaced, if `--replace=immutable` allowed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_replace: Option<usize>,
    /// To be replaced, and protected against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected: Option<usize>,
    /// To be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete: Option<usize>,
    /// Not compared.
    pub unknown: usize,
    /// Those that differ, by the side that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<SideCounts>,
    /// In sync, proven without asking the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<usize>,
    /// With fields in conflict with other managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<usize>,
    /// In sync, but with fields that are not yet owned by our field manager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<usize>,
    /// Items that manual changes added to lists of the manifests, and that stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_items: Option<usize>,
    /// Fields that other managers added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmanaged: Option<usize>,
    /// Those of them that were added by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmanaged_manual: Option<usize>,
    /// Differences that a rule ignores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<usize>,
    /// Differences that the baseline has as well; absent without a baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<usize>,
    /// Differences of the baseline that are gone; absent without a baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<usize>,
    /// Objects that are in the base and no longer in the manifests, and that stay.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: usize,
    /// Objects that were not compared, because their manifests are those of the base; absent without `--changed-only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<usize>,
    /// Differences that the run leaves: each field, and each object to create or to delete; absent without `--only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<usize>,
    /// Warnings of the server, about the objects and about the versions that they were read in; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warnings: usize,
    /// Hooks that the run left out.
    #[serde(default)]
    pub hooks: usize,
    /// Releases of Helm that have no deployed revision, with `--from helm`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_deployed: usize,
    /// Members of the apply set that are no longer in the manifests and stay; absent without an apply set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<usize>,
    /// Readiness of the objects, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness: Option<ReadinessCounts>,
}

/// Counts of objects by readiness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadinessCounts {
    /// Ready.
    pub current: usize,
    /// In progress.
    pub in_progress: usize,
    /// Failed.
    pub failed: usize,
    /// Being deleted.
    pub terminating: usize,
    /// Not found.
    pub not_found: usize,
    /// Could not be read.
    pub unknown: usize,
}

impl Summary {
    /// Adds the counts of another report.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self {
            objects,
            in_sync,
            create,
            update,
            replace,
            needs_replace,
            protected,
            delete,
            unknown,
            sides,
            proven,
            conflict,
            adopted,
            added_items,
            unmanaged,
            unmanaged_manual,
            ignored,
            known,
            resolved,
            dropped,
            unchanged,
            left,
            warnings,
            hooks,
            not_deployed,
            kept,
            readiness,
        } = other;
        self.objects = self.objects.saturating_add(*objects);
        self.unknown = self.unknown.saturating_add(*unknown);
        self.warnings = self.warnings.saturating_add(*warnings);
        if let Some(sides) = sides {
            self.sides.get_or_insert_default().add(*sides);
        }
        // Each shard counts all of them.
        self.hooks = self.hooks.max(*hooks);
        self.not_deployed = self.not_deployed.max(*not_deployed);
        self.dropped = self.dropped.saturating_add(*dropped);
        let optional = [
            (&mut self.in_sync, in_sync),
            (&mut self.create, create),
            (&mut self.update, update),
            (&mut self.replace, replace),
            (&mut self.needs_replace, needs_replace),
            (&mut self.protected, protected),
            (&mut self.delete, delete),
            (&mut self.proven, proven),
            (&mut self.conflict, conflict),
            (&mut self.adopted, adopted),
            (&mut self.added_items, added_items),
            (&mut self.unmanaged, unmanaged),
            (&mut self.unmanaged_manual, unmanaged_manual),
            (&mut self.ignored, ignored),
            (&mut self.known, known),
            (&mut self.resolved, resolved),
            (&mut self.unchanged, unchanged),
            (&mut self.left, left),
            (&mut self.kept, kept),
        ];
        for (sum, count) in optional {
            if let Some(count) = count {
                *sum = Some(sum.unwrap_or_default().saturating_add(*count));
            }
        }
        if let Some(counts) = readiness {
            self.readiness.get_or_insert_default().add(*counts);
        }
    }

    pub(crate) fn of(objects: &[ObjectReport]) -> Self {
        let count = |test: &dyn Fn(&ObjectReport) -> bool| objects.iter().filter(|object| test(object)).count();
        let with = |action: Action| count(&|object| object.diff.action == action);
        Self {
            objects: objects.len(),
            in_sync: Some(count(&|object| object.disposition() == Disposition::InSync && !object.stays_different())),
            create: Some(with(Action::Create)),
            update: Some(with(Action::Update)),
            replace: Some(with(Action::Replace)),
            needs_replace: Some(count(&|object| object.disposition() == Disposition::NeedsReplace)),
            protected: Some(count(&|object| object.disposition() == Disposition::Protected)),
            delete: Some(with(Action::Delete)),
            unknown: with(Action::Unknown),
            sides: Some(SideCounts::of(objects.iter().filter_map(|object| object.diff.side))),
            proven: Some(count(&|object| object.diff.evidence == Some(Evidence::Proven))),
            conflict: Some(count(&|object| !object.diff.conflicts.is_empty())),
            adopted: Some(count(&ObjectReport::is_ownership_only)),
            added_items: Some(objects.iter().map(|object| object.diff.added_items.len()).sum()),
            unmanaged: Some(objects.iter().map(|object| object.diff.notes.unmanaged.fields).sum()),
            unmanaged_manual: Some(objects.iter().map(|object| object.diff.notes.unmanaged.manual).sum()),
            ignored: Some(
                objects.iter().flat_map(|object| &object.diff.ignored).map(|ignored| ignored.paths.len()).sum(),
            ),
            warnings: objects.iter().map(|object| object.messages.server_warnings).sum(),
            readiness: ReadinessCounts::of(objects),
            ..Self::default()
        }
    }

    /// Counts objects again, of which some have become one. What the objects do not have stays.
    pub(crate) fn count_again(&mut self, objects: &[ObjectReport]) {
        let Self { unmanaged, unmanaged_manual, resolved, dropped, unchanged, warnings, hooks, not_deployed, .. } =
            *self;
        let changes = objects.iter().flat_map(|object| &object.diff.changes);
        *self = Self {
            known: self.known.map(|_| changes.filter(|change| change.known && change.is_drift()).count()),
            left: self.left.map(|_| objects.iter().map(|object| object.diff.left.len()).sum()),
            kept: self.kept.map(|_| objects.iter().filter(|object| object.is_kept()).count()),
            unmanaged,
            unmanaged_manual,
            resolved,
            dropped,
            unchanged,
            warnings,
            hooks,
            not_deployed,
            ..Self::of(objects)
        };
    }

    /// The counts of a run that ended before it compared anything.
    pub(crate) fn of_stopped(command: Command) -> Self {
        match command {
            Command::Status => Self::default(),
            Command::Diff | Command::Apply | Command::Own => Self { in_sync: None, ..Self::of(&[]) },
        }
    }

    /// The counts of objects that were not compared, but looked at.
    pub(crate) fn of_observed(objects: &[ObjectReport]) -> Self {
        let Self { objects: all, unknown, readiness, .. } = Self::of(objects);
        Self { objects: all, unknown, readiness, ..Self::default() }
    }
}

impl ReadinessCounts {
    fn add(&mut self, other: Self) {
        let Self { current, in_progress, failed, terminating, not_found, unknown } = other;
        self.current = self.current.saturating_add(current);
        self.in_progress = self.in_progress.saturating_add(in_progress);
        self.failed = self.failed.saturating_add(failed);
        self.terminating = self.terminating.saturating_add(terminating);
        self.not_found = self.not_found.saturating_add(not_found);
        self.unknown = self.unknown.saturating_add(unknown);
    }

    /// Returns `None` if readiness was not requested.
    fn of(objects: &[ObjectReport]) -> Option<Self> {
        let states = objects.iter().filter_map(|object| object.run.readiness.as_ref()).map(|readiness| readiness.state);
        states.fold(None, |counts, state| {
            let mut counts: Self = counts.unwrap_or_default();
            let count = match state {
                ReadinessState::Current => &mut counts.current,
                ReadinessState::InProgress => &mut counts.in_progress,
                ReadinessState::Failed => &mut counts.failed,
                ReadinessState::Terminating => &mut counts.terminating,
                ReadinessState::NotFound => &mut counts.not_found,
                ReadinessState::Unknown => &mut counts.unknown,
            };
            *count = count.saturating_add(1);
            Some(counts)
        })
    }
}

/// Counts how often each of these occurs.
pub(crate) fn tally<K: Ord>(items: impl IntoIterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        let count: &mut usize = counts.entry(item).or_default();
        *count = count.saturating_add(1);
    }
    counts
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
