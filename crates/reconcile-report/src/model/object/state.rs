//! The state of an object in a report, for counts, verdicts and formats.

use std::collections::BTreeMap;

use reconcile_core::compare::{Action, Class, Conflict, Effect, FieldChange, ObjectDiff, Side};
use reconcile_core::live::readiness::ReadinessState;
use reconcile_core::pass::Outcome;
use structured_merge::{FieldPath, FieldSet};

use super::disposition::Disposition;
use super::{Counted, ObjectFields, ObjectReport};

impl ObjectReport {
    /// Returns true if some of its fields go to a manager.
    pub fn has_transfers(&self) -> bool {
        self.diff.transfers.as_ref().is_some_and(|transfers| !transfers.is_empty())
    }

    /// Returns true if `own` leaves fields with their owners, because their values differ.
    pub(crate) fn stays_different(&self) -> bool {
        self.diff.transfers.is_some() && self.diff.has_drift()
    }

    /// The part that it takes in a pass with the same flags.
    pub(crate) fn disposition(&self) -> Disposition {
        let ObjectDiff { action, replacement, conflicts, .. } = &self.diff;
        let is_blocked = !conflicts.is_empty() || self.details.is_conflict_shown;
        match Disposition::of(*action, *replacement) {
            Disposition::Update if is_blocked => Disposition::Conflict,
            Disposition::InSync if self.is_kept() => Disposition::Kept,
            Disposition::InSync if self.is_left_whole() => Disposition::Left,
            disposition => disposition,
        }
    }

    /// The part of a pass that it takes and the side that changed, for counts: also of differences that are not shown.
    pub(crate) fn counted(&self) -> Counted {
        self.details.counted.unwrap_or_else(|| Counted {
            disposition: self.disposition(),
            side: self.diff.side,
            overwrites: self.diff.changes.iter().any(|change| change.side == Some(Side::Both)),
        })
    }

    /// The conflicts that its changes do not name.
    pub(crate) fn other_conflicts(&self) -> Vec<&Conflict> {
        let changes = self.diff.changes.iter().filter(|change| change.class == Class::Conflict);
        let by_path: BTreeMap<&FieldPath, &FieldChange> = changes.map(|change| (&change.path, change)).collect();
        let is_named = |conflict: &&Conflict| {
            let mut below = by_path
                .range::<&FieldPath, _>(&conflict.path..)
                .take_while(|(path, _)| conflict.path.is_prefix_of(path));
            below.any(|(_, change)| change.names(conflict))
        };
        self.diff.conflicts.iter().filter(|conflict| !is_named(conflict)).collect()
    }

    /// Returns true if an apply ends running Pods of it.
    pub(crate) fn restarts(&self) -> bool {
        self.diff.effects.iter().any(Effect::is_restart)
    }

    /// Returns true if it is a member of an apply set that is no longer in the manifests and is kept.
    pub fn is_kept(&self) -> bool {
        self.source.is_none() && self.diff.action == Action::None
    }

    /// Returns true if it is missing or a member to delete, and the run leaves it so.
    pub(crate) fn is_left_whole(&self) -> bool {
        self.diff.left.iter().any(|left| left.path.elements().is_empty())
    }

    /// Returns true if it is to be deleted, and cannot be for a reason that was known before.
    pub(crate) fn is_refused_deletion(&self) -> bool {
        self.diff.action == Action::Delete && self.run.outcome.is_none() && self.messages.error.is_some()
    }

    /// Returns true if the server accepted an update of it, and left it as it was.
    pub(crate) fn is_left_by_server(&self) -> bool {
        self.diff.action == Action::Update && self.run.outcome == Some(Outcome::Unchanged)
    }

    /// Returns true if it now matches the manifest.
    pub fn is_done(&self) -> bool {
        self.run.outcome.is_some_and(Outcome::is_done)
    }

    /// Returns true if something was done to it.
    pub fn is_changed(&self) -> bool {
        self.is_done() && self.run.outcome != Some(Outcome::Unchanged)
    }

    /// Returns true if only the ownership of fields would change.
    pub fn is_ownership_only(&self) -> bool {
        self.diff.is_ownership_only()
    }

    /// Returns true if it does not match its manifest, or did not before it was written.
    pub(crate) fn differs(&self) -> bool {
        self.diff.action != Action::None || self.diff.has_drift()
    }

    /// Hides the differences that the baseline has. An object without other differences is shown as in sync, while the counts
    /// keep its action. The conflicts of one with other differences are shown: they keep an apply from making any of its changes.
    pub(crate) fn leave_out_known(&mut self) {
        self.details.counted = Some(self.counted());
        if self.is_known() {
            self.diff.action = Action::None;
            self.messages.reason = None;
            self.messages.hint = None;
        }
        let ObjectFields { diff, .. } = &mut **self;
        let (known, new): (Vec<&FieldChange>, Vec<&FieldChange>) = diff.changes.iter().partition(|change| change.known);
        let known: FieldSet = known.into_iter().map(|change| change.path.clone()).collect();
        // A value that its owner has as a whole may have parts whose differences are known, and others.
        let new = new.into_iter().filter(|change| change.class == Class::Conflict);
        let new: FieldSet = new.map(|change| change.path.clone()).collect();
        diff.conflicts.retain(|conflict| {
            diff.action != Action::None || !known.overlaps(&conflict.path) || new.overlaps(&conflict.path)
        });
        diff.changes.retain(|change| !change.known);
        diff.find_side();
    }

    /// Returns true if all of its differences are known, and were left out.
    pub(crate) fn is_known_left_out(&self) -> bool {
        self.details.counted.is_some_and(|counted| counted.side.is_some()) && self.diff.action == Action::None
    }

    /// Returns true if the baseline has all of its changes, where only the ownership of fields would change.
    pub(crate) fn is_known_ownership(&self) -> bool {
        self.diff.changes.iter().all(|change| change.known)
    }

    /// Returns true if it differs, and the baseline has all of its differences.
    pub fn is_known(&self) -> bool {
        let mut drift = self.diff.drift().peekable();
        drift.peek().is_some() && drift.all(|change| change.known)
    }

    /// Returns true if nothing was to be written, or if it is known what became of it.
    pub(crate) fn is_settled(&self) -> bool {
        !self.differs() || self.run.outcome.is_some()
    }

    /// Returns true if a pass has not done what it had to do with it.
    pub fn is_undone(&self) -> bool {
        self.run.outcome.is_some() && !self.is_done() && !self.run.postponed
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        self.diff.action == Action::Unknown
            || self.messages.error.is_some()
            || self.is_undone()
            || self.run.readiness.as_ref().is_some_and(|readiness| readiness.state == ReadinessState::Unknown)
    }

    /// Returns true if it is not ready, or waits until others are.
    pub(crate) fn waits(&self) -> bool {
        self.is_unready() || self.run.postponed
    }

    /// Returns true if its readiness was checked and it is not ready.
    pub fn is_unready(&self) -> bool {
        self.run.readiness.as_ref().is_some_and(|readiness| !readiness.is_current())
    }
}
