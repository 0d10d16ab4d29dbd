//! One object in the pass: decides whether it is written, and records the outcome.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::sync::Arc;
use std::time::Duration;

use reconcile_report::{ObjectReport, Outcome};

use crate::client::Cluster;
use crate::engine::interrupt::Interrupt;
use crate::engine::wait::{WaitOptions, Watched, observe};
use crate::engine::write::Written;
use crate::live::Target;
use reconcile_core::compare::{Action, ComparisonResult, Decision, Evidence, ObjectVerdict};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::object::Shard;
use reconcile_core::plan::{DependencyKind, PlanItem};
use reconcile_core::rules::ReadinessRules;

/// One object of the run. The plan and the decision are shared with the write that is under way.
pub(crate) struct Item {
    /// The object, its wave and its dependencies.
    pub planned: Arc<PlanItem>,
    /// The result of the comparison.
    pub decision: Arc<Decision>,
    /// The report, with the outcome.
    pub report: ObjectReport,
}

impl Item {
    /// A compared object.
    pub fn new(planned: PlanItem, decision: Decision) -> Self {
        let report = ObjectReport::new(&planned.target, &decision);
        Self { planned: Arc::new(planned), decision: Arc::new(decision), report }
    }

    /// The object.
    pub fn target(&self) -> &Target {
        &self.planned.target
    }

    /// Replaces the decision, after the object was compared again.
    pub fn decide(&mut self, decision: Decision) {
        self.report = ObjectReport::new(&self.planned.target, &decision);
        self.decision = Arc::new(decision);
    }

    /// Returns true if it belongs to another shard: it is read, and neither reported nor written.
    pub fn is_in_other_shard(&self) -> bool {
        self.target().other_shard().is_some()
    }

    /// Returns true if another shard still has to write it.
    pub fn is_awaited(&self) -> bool {
        self.is_in_other_shard() && !matches!(self.decision.verdict.action(), Action::None | Action::Unknown)
    }

    /// Records whether another shard has written it, after the wait for it.
    pub fn looked_at(&mut self, is_there: bool) {
        self.report.outcome = Some(match self.decision.verdict.action() {
            Action::None | Action::Unknown => Outcome::Unchanged,
            Action::Create if is_there => Outcome::Created,
            _ if is_there => Outcome::Updated,
            _ => Outcome::Skipped,
        });
    }

    /// Returns true if the server could not be asked yet, because other objects of this input have to exist first.
    pub fn is_provisional(&self) -> bool {
        let verdict = &self.decision.verdict;
        match &self.decision.finding {
            ComparisonResult::Missing(evidence) => *evidence == Evidence::Local,
            ComparisonResult::Refused { .. } => {
                verdict.evidence() == Some(Evidence::Local) && verdict.action() != Action::Replace
            }
            ComparisonResult::Proven(_) | ComparisonResult::Predicted { .. } | ComparisonResult::Unknown(_) => false,
        }
    }

    /// Returns true if it is a Namespace or a CustomResourceDefinition and was written.
    pub fn is_new_foundation(&self) -> bool {
        let gvk = &self.target().key.gvk;
        let is_written = matches!(self.report.outcome, Some(Outcome::Created | Outcome::Updated | Outcome::Replaced));
        is_written && (gvk.is_namespace() || gvk.is_crd())
    }

    /// Returns true if it exists in the cluster and nothing about it failed: it was written, was in sync, or has conflicts.
    pub fn exists(&self) -> bool {
        use Outcome::{Adopted, Conflict, Created, Replaced, Unchanged, Updated};
        matches!(self.report.outcome, Some(Created | Updated | Adopted | Replaced | Unchanged | Conflict))
    }
}

/// The reason why an object is not written.
pub(crate) enum Skip {
    Interrupted,
    Needs { what: String, which: &'static str },
    InOtherShard { what: String, shard: Shard, is_missing: bool },
    Unready { what: String, message: String },
}

/// Returns the reason why an object with changes is not written, if there is one.
pub(crate) fn skipped(items: &[Item], item: &Item, interrupted: bool) -> Option<Skip> {
    match interrupted {
        true => Some(Skip::Interrupted),
        false if is_change(&item.report) => blocked(items, item),
        false => None,
    }
}

/// Returns true if the object has changes to write.
pub(crate) fn is_change(report: &ObjectReport) -> bool {
    let differs = !matches!(report.action, Action::None | Action::Unknown) || report.is_ownership_only();
    differs && report.conflicts.is_empty()
}

/// The targets of the object's `depends-on` annotation.
pub(crate) fn explicit(items: &[Item], item: &Item, rules: &ReadinessRules) -> Vec<Watched> {
    let explicit = item.planned.needs.iter().filter(|need| need.strength == DependencyKind::Explicit);
    explicit.map(|need| Watched::existing(items[need.on].target(), rules)).collect()
}

/// Waits until all of these are ready. Returns the first that does not become ready as the reason to skip the object.
pub(crate) async fn unready(
    cluster: &Cluster,
    first: &[Watched],
    timeout: Duration,
    interrupt: &Interrupt,
) -> Option<Skip> {
    if first.is_empty() {
        return None;
    }
    let stopped = || interrupt.is_set();
    let until = WaitOptions { timeout, stopped: &stopped };
    let seen = observe(cluster, first, &until, |_, _| {}).await;
    let mut both = first.iter().zip(seen.readiness);
    match both.find(|(_, readiness)| !readiness.is_current()) {
        Some(_) if interrupt.is_set() => Some(Skip::Interrupted),
        Some((one, readiness)) => Some(Skip::Unready { what: one.key.to_string(), message: readiness.message }),
        None => None,
    }
}

/// Returns the dependency that the object lacks, if there is one.
pub(crate) fn blocked(items: &[Item], item: &Item) -> Option<Skip> {
    item.planned.needs.iter().find_map(|need| {
        let Item { planned, report: other, .. } = &items[need.on];
        let which = match other.outcome {
            Some(Outcome::Failed) if other.action == Action::Create => "could not be created",
            Some(Outcome::Failed) => "could not be written",
            Some(Outcome::Conflict) => "was left alone",
            Some(Outcome::Skipped) if other.action == Action::Unknown => "could not be compared",
            Some(Outcome::Skipped) => "was skipped",
            _ => return None,
        };
        let is_missed = match need.strength {
            DependencyKind::Order => false,
            // An object that the API refuses is not created, and may not exist.
            DependencyKind::Existence | DependencyKind::Inside => {
                other.action == Action::Create || planned.target.desired.is_refused()
            }
            DependencyKind::Success | DependencyKind::Explicit => true,
        };
        let what = other.key().to_string();
        is_missed.then(|| match items[need.on].target().other_shard() {
            Some(shard) => Skip::InOtherShard { what, shard, is_missing: other.action == Action::Create },
            None => Skip::Needs { what, which },
        })
    })
}

pub(crate) fn settle(report: &mut ObjectReport, decision: &Decision, result: Result<Option<Written>, Skip>) {
    report.outcome = Some(match result {
        Err(Skip::Interrupted) => skip(report, "the run was interrupted".to_owned()),
        Err(Skip::Needs { what, which }) => skip(report, format!("it needs {what}, which {which}")),
        Err(Skip::InOtherShard { what, shard, is_missing }) => {
            report.hint = Some(format!("run again after shard {shard} was applied"));
            let which = if is_missing { "is not in the cluster" } else { "is not as its manifest says" };
            skip(report, format!("it needs {what}, which {which} yet: shard {shard} has it"))
        }
        Err(Skip::Unready { what, message }) => skip(report, format!("it needs {what}, which is not ready: {message}")),
        Ok(None) => left_alone(report, decision),
        Ok(Some(Written::Created)) => Outcome::Created,
        Ok(Some(Written::Updated)) => Outcome::Updated,
        Ok(Some(Written::Adopted)) => Outcome::Adopted,
        Ok(Some(Written::Replaced)) => Outcome::Replaced,
        Ok(Some(Written::Failed(diagnostic))) => return fail(report, diagnostic),
        Ok(Some(Written::Noted(done, warning))) => {
            report.note(warning);
            return settle(report, decision, Ok(Some(*done)));
        }
        Ok(Some(Written::Moved(verdict))) => {
            let was_missing = report.action == Action::Create;
            report.move_to(*verdict);
            let message = if was_missing {
                "somebody else created it in the meantime: left unchanged"
            } else {
                "it changed while it was applied, and now differs in another way: left unchanged"
            };
            return fail(report, Diagnostic::new(Code::Conflict, message).with_hint("run again"));
        }
    });
}

pub(crate) fn left_alone(report: &mut ObjectReport, decision: &Decision) -> Outcome {
    match &decision.verdict {
        verdict if !verdict.conflicts().is_empty() => Outcome::Conflict,
        ObjectVerdict::InSync(_) | ObjectVerdict::Kept { .. } => Outcome::Unchanged,
        ObjectVerdict::Replace { reason, .. } => {
            report.reason = Some(format!("{}: it has to be deleted and recreated", reason.text));
            Outcome::Failed
        }
        ObjectVerdict::Unknown(diagnostic) => skip(report, format!("it could not be compared: {}", diagnostic.message)),
        ObjectVerdict::Create { .. } | ObjectVerdict::Update(_) | ObjectVerdict::Delete { .. } => {
            skip(report, "it could not be compared".to_owned())
        }
    }
}

pub(crate) fn skip(report: &mut ObjectReport, reason: String) -> Outcome {
    report.reason = Some(reason);
    Outcome::Skipped
}

pub(crate) fn fail(report: &mut ObjectReport, diagnostic: Diagnostic) {
    report.error = Some(diagnostic);
    report.outcome = Some(Outcome::Failed);
}
