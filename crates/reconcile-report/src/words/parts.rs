//! The parts of a comparison with a base, as a reviewer needs them: what a change overwrites, what it does, and what differs anyway.

use std::collections::BTreeSet;

use reconcile_core::compare::{Conflict, Effect, EffectKind, FieldChange, Side};
use reconcile_core::rare::Rare;
use structured_merge::FieldPath;

use crate::model::{ObjectReport, Report};

/// A part, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The manifests and the cluster changed the same: an apply undoes what somebody did.
    Overwritten,
    /// Only the manifests changed.
    Changed,
    /// No base tells: the object is of no release, or its record cannot be read.
    Unknown,
    /// Only the cluster changed, with or without the change of the manifests.
    Drifted,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Overwritten, Self::Changed, Self::Unknown, Self::Drifted];

    /// The part of a difference of an object; `None` if it is no drift. Without a base, the owner of a field tells that the cluster changed it,
    /// but not that the manifests did not.
    pub fn of(change: &FieldChange, object: &ObjectReport) -> Option<Self> {
        Some(match change.side? {
            Side::Both => Self::Overwritten,
            Side::Manifest => Self::Changed,
            Side::Cluster if object.diff.base.is_some() => Self::Drifted,
            Side::Either if change.joins_set() => Self::Changed,
            Side::Either | Side::Cluster => Self::Unknown,
        })
    }

    /// The foremost part of an object; `None` if nothing of it is drift.
    pub fn of_object(object: &ObjectReport) -> Option<Self> {
        all_of(object).min()
    }

    /// The part of an object in which it is told what is told once; `None` if nothing of it is drift.
    fn main(object: &ObjectReport) -> Option<Self> {
        foremost(all_of(object))
    }

    /// The part of an object whose differences have an effect; `None` if nothing of it is drift.
    pub fn of_effect(effect: &Effect, object: &ObjectReport) -> Option<Self> {
        let causes = object.diff.changes.iter().filter(|change| is_cause(change, effect));
        foremost(causes.filter_map(|change| Self::of(change, object))).or_else(|| Self::main(object))
    }

    /// The words above the part.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Overwritten => "⚠ this change overwrites changes in the cluster",
            Self::Changed => "this change",
            Self::Unknown => "compared without a base",
            Self::Drifted => "already differs in the cluster, and this change leaves it alone",
        }
    }

    /// The words before a difference on one line.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Overwritten => "⚠ ",
            Self::Changed | Self::Unknown => "",
            Self::Drifted => "already differs in the cluster: ",
        }
    }
}

/// The words above the objects without differences, such as those that could not be compared, below the parts.
pub(crate) const EVERYTHING_ELSE: &str = "everything else";

/// The parts of the differences of an object.
fn all_of(object: &ObjectReport) -> impl Iterator<Item = Part> {
    object.diff.changes.iter().filter_map(|change| Part::of(change, object))
}

/// The first one in the order in which an apply is about them.
fn foremost(parts: impl Iterator<Item = Part>) -> Option<Part> {
    let order = [Part::Changed, Part::Overwritten, Part::Unknown, Part::Drifted];
    parts.min_by_key(|part| order.iter().position(|one| one == part))
}

/// Returns true if an effect may follow from a difference.
fn is_cause(change: &FieldChange, effect: &Effect) -> bool {
    let is_at = |fields: &[&[&str]]| fields.iter().any(|field| change.path.overlaps(&FieldPath::of(field)));
    match effect.kind {
        EffectKind::Scale => is_at(&[&["spec", "replicas"]]),
        EffectKind::Rollout | EffectKind::Recreate => {
            is_at(&[&["spec", "template"], &["spec", "paused"], &["spec", "updateStrategy"]])
        }
        EffectKind::Delete | EffectKind::Stale | EffectKind::Refresh | EffectKind::Unselected => true,
    }
}

/// Returns true if these parts have to be told apart.
pub(crate) fn is_divided(parts: impl IntoIterator<Item = Option<Part>>) -> bool {
    let named: BTreeSet<Part> = parts.into_iter().flatten().collect();
    named.contains(&Part::Overwritten) || named.contains(&Part::Drifted) || named.len() > 1
}

/// Returns true if the differences of a report are shown in parts: a base tells what changed. The manifests of `--from` are their own
/// base, and change nothing.
pub(crate) fn has_parts(report: &Report) -> bool {
    let is_of_from = report.release.is_some() || !report.releases.is_empty();
    report.base.as_ref().is_some_and(|base| !is_of_from && base.from != "last-applied")
}

/// The parts of a report that are not empty, without known differences. `None` if it is not shown in parts.
pub(crate) fn of_report(report: &Report) -> Option<BTreeSet<Part>> {
    has_parts(report).then(|| {
        let new = |object: &ObjectReport| {
            let changes = object.diff.changes.iter().filter(|change| !change.known);
            changes.filter_map(|change| Part::of(change, object)).collect::<Vec<_>>()
        };
        let dropped = (!report.dropped.is_empty()).then_some(Part::Changed);
        report.objects.iter().flat_map(new).chain(dropped).collect()
    })
}

/// The objects of a part, each with the differences of this part. What is told of an object once is in the part that an apply is about.
pub(crate) fn split(objects: &[&ObjectReport]) -> Vec<(Option<Part>, Vec<ObjectReport>)> {
    let mut split: Vec<(Option<Part>, Vec<ObjectReport>)> = Vec::new();
    for part in Part::ALL {
        let of_part = objects.iter().filter_map(|object| part_of(object, part)).collect::<Vec<_>>();
        split.extend((!of_part.is_empty()).then_some((Some(part), of_part)));
    }
    let others: Vec<ObjectReport> =
        objects.iter().filter(|object| Part::of_object(object).is_none()).map(|object| (*object).clone()).collect();
    split.extend((!others.is_empty()).then_some((None, others)));
    split
}

/// An object with the differences of one part; `None` if it has none.
fn part_of(object: &ObjectReport, part: Part) -> Option<ObjectReport> {
    let main = Part::main(object)?;
    if !all_of(object).any(|own| own == part) {
        return None;
    }
    let is_main = part == main;
    let mut shown = object.clone();
    shown.diff.changes.retain(|change| Part::of(change, object).map_or(is_main, |own| own == part));
    shown.diff.effects.retain(|effect| Part::of_effect(effect, object) == Some(part));
    if !is_main {
        let changes = &shown.diff.changes;
        let is_here = |conflict: &&Conflict| changes.iter().any(|change| conflict.path.is_prefix_of(&change.path));
        let conflicts = shown.diff.conflicts.iter().filter(is_here).cloned().collect();
        shown.diff.conflicts = conflicts;
        shown.details.is_conflict_shown = !object.diff.conflicts.is_empty();
        shown.diff.added_items.clear();
        shown.messages = Rare::default();
    }
    Some(shown)
}
