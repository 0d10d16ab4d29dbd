//! The events of a run: the screen shows them, and a builder folds them into the report.

use std::time::Duration;

use reconcile_core::compare::{Decision, ObjectDiff};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::own::Handover;
use reconcile_core::pass::TurnResult;
use reconcile_core::plan::deletion::Deletion;
use structured_merge::ObjectKey;

use reconcile_core::live::Target;
use reconcile_core::live::readiness::ObjectReadiness;

/// A stage of a run whose progress is counted in objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Live objects are compared with the manifests.
    Compare,
    /// Objects are written.
    Apply,
    /// Objects become ready.
    Wait,
    /// Members of the apply set are deleted.
    Prune,
}

/// The decision about a member of the apply set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judgement<'e> {
    pub key: &'e ObjectKey,
    pub diff: &'e ObjectDiff,
    /// The kinds that have to be allowed before it is deleted.
    pub deletion: Option<&'e Deletion>,
    /// The reason why it cannot be deleted, if it is known before.
    pub refusal: Option<&'e Diagnostic>,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<'e> {
    /// A stage begins, with this many objects.
    Began(Stage, usize),
    /// This many objects of a stage are done.
    Advanced(Stage, usize),
    /// A stage is over.
    Ended(Stage),
    /// The decision about one object, in the order of the plan; a second one replaces the first, which was provisional.
    Compared(&'e Target, &'e Decision),
    /// The change of the owners of one object, or the reason why there is none, in the order of the plan.
    HandedOver(&'e Target, &'e Decision, &'e Result<Handover, Diagnostic>),
    /// The decision about one member of the apply set that is in no manifest; a second one replaces the first.
    Judged(Judgement<'e>),
    /// The turn of one object is over: it was written, could not be, or needed no write.
    Written(&'e ObjectKey, &'e TurnResult),
    /// The turn of one object is over: it was not tried.
    Skipped(&'e ObjectKey, &'e TurnResult),
    /// Members of the apply set are being deleted, and the run waits until they are gone; none once that wait is over.
    Deleting(&'e [ObjectKey]),
    /// One member of the apply set is deleted.
    Pruned(&'e ObjectKey, &'e TurnResult),
    /// A pass will skip one object, for the reason in this warning.
    WillBeSkipped(&'e ObjectKey, &'e str),
    /// The result of one object changed outside of its turn: it is held back, or what followed its write failed.
    Revised(&'e ObjectKey, &'e TurnResult),
    /// The readiness of one object is known, or has changed.
    ReadinessChanged(&'e ObjectKey, &'e ObjectReadiness),
    /// The final readiness of one object, after the wait.
    Ready(&'e ObjectKey, &'e ObjectReadiness),
    /// The wait timed out, and objects are not ready.
    TimedOut {
        /// The number of objects that are not ready.
        unready: usize,
        /// The duration of the wait.
        after: Duration,
    },
}

/// Receives the events of a run, in their order.
pub(crate) trait EventSink {
    /// Receives one event.
    fn receive(&self, event: Event<'_>);
}
