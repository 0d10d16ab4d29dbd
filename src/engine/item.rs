//! One object in the pass: decides whether it is written, and records the outcome.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::sync::Arc;
use std::time::Duration;

use crate::client::Cluster;
use crate::engine::event::{Event, EventSink};
use crate::engine::interrupt::Interrupt;
use crate::engine::wait::{Watched, observe};
use crate::engine::write::Written;
use apply_set::{ApplySet, part_of};
use reconcile_core::compare::{Action, Decision, FieldChange, ObjectDiff, Replacement};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::Target;
use reconcile_core::object::Shard;
use reconcile_core::pass::{Outcome, TurnResult};
use reconcile_core::plan::{DependencyKind, PlanItem};
use reconcile_core::resolve::Consent;
use reconcile_core::rules::ReadinessRules;
use serde_json::Value;
use structured_merge::ObjectKey;

/// One object of the run. The plan and the decision are shared with the write that is under way.
pub(crate) struct Item {
    /// The object, its wave and its dependencies.
    pub planned: Arc<PlanItem>,
    /// The result of the comparison.
    pub decision: Arc<Decision>,
    /// The outcome, once its turn is over.
    pub outcome: Option<Outcome>,
    /// True if somebody chose to leave it as it is.
    is_left: bool,
    /// True if another object was skipped because this one did not become ready.
    pub was_unready: bool,
}

impl Item {
    /// A compared object.
    pub fn new(planned: Arc<PlanItem>, decision: Arc<Decision>) -> Self {
        Self { planned, decision, outcome: None, is_left: false, was_unready: false }
    }

    /// The object.
    pub fn target(&self) -> &Target {
        &self.planned.target
    }

    /// The action that it needs, and its differences.
    pub fn diff(&self) -> &ObjectDiff {
        &self.decision.diff
    }

    /// Gives it other differences. The effects were found together with those of all other objects, and stay.
    pub fn compared_again(&mut self, diff: ObjectDiff) {
        let decision = Arc::make_mut(&mut self.decision);
        let effects = std::mem::take(&mut decision.diff.effects);
        decision.diff = ObjectDiff { effects, ..diff };
    }

    /// Returns true if it has changes to write.
    pub fn is_change(&self) -> bool {
        self.diff().is_change()
    }

    /// Returns true if it has changes that the flags allow to write.
    pub fn is_to_write(&self) -> bool {
        self.diff().is_to_write()
    }

    /// Returns true if its turn is over and it now matches its manifest.
    pub fn is_done(&self) -> bool {
        self.outcome.is_some_and(Outcome::is_done)
    }

    /// Ends its turn. Returns the result.
    pub fn settle(&mut self, end: Result<Option<Written>, Skip>) -> TurnResult {
        self.end(turn_result(self.diff(), end))
    }

    /// Ends its turn before it began, for a reason that concerns all objects. Returns the result.
    pub fn hold(&mut self, reason: &str) -> TurnResult {
        let result = left_alone(self.diff());
        let is_held = match result.outcome {
            Outcome::Unchanged => self.diff().is_ownership_only(),
            Outcome::Skipped => self.diff().action != Action::Unknown,
            _ => false,
        };
        self.end(if is_held { TurnResult::skipped(reason) } else { result })
    }

    /// Records that what followed its write failed. Returns the result.
    pub fn fail(&mut self, diagnostic: Diagnostic) -> TurnResult {
        self.end(TurnResult::failed(diagnostic))
    }

    /// Ends its turn as the consent says, if it is not to be written. Returns the result.
    pub fn keep_to(&mut self, consent: Consent) -> Option<TurnResult> {
        let result = match consent {
            Consent::Write => return None,
            Consent::LeaveAlone if self.diff().action == Action::None => Outcome::Unchanged.into(),
            Consent::LeaveAlone => {
                self.is_left = true;
                TurnResult::skipped("you chose to apply none of its differences")
            }
            Consent::Changed => TurnResult::failed(changed_since_shown()),
            Consent::Inseparable => {
                let message = "the chosen differences cannot be applied without the others: not written";
                let hint = "apply all differences of the object, or none";
                TurnResult::failed(Diagnostic::new(Code::Conflict, message).with_hint(hint))
            }
            Consent::NotPlanned => unplanned(),
            Consent::NotCovered => {
                let message = "the plan does not cover its hidden values: left unchanged";
                let hint = "set `KUBECTL_RECONCILE_PLAN_KEY` for `diff --save-plan` and for `apply --plan`";
                let diagnostic = Diagnostic::new(Code::Conflict, message).with_hint(hint);
                TurnResult { reason: Some("not covered by the plan".to_owned()), ..TurnResult::failed(diagnostic) }
            }
        };
        Some(self.end(result))
    }

    fn end(&mut self, result: TurnResult) -> TurnResult {
        self.outcome = Some(result.outcome);
        if let Some(diff) = &result.new_diff {
            Arc::make_mut(&mut self.decision).diff = (**diff).clone();
        }
        result
    }

    /// Returns true if it belongs to another shard: it is read, and neither reported nor written.
    pub fn is_in_other_shard(&self) -> bool {
        self.target().other_shard().is_some()
    }

    /// Returns true if another shard still has to write it.
    pub fn is_awaited(&self) -> bool {
        self.is_in_other_shard() && !matches!(self.diff().action, Action::None | Action::Unknown)
    }

    /// Records whether another shard has written it, after the wait for it.
    pub fn looked_at(&mut self, is_there: bool) {
        self.outcome = Some(match self.diff().action {
            Action::None | Action::Unknown => Outcome::Unchanged,
            Action::Create if is_there => Outcome::Created,
            _ if is_there => Outcome::Updated,
            _ => Outcome::Skipped,
        });
    }

    /// Returns true if the server could not be asked yet, because other objects of this input have to exist first.
    pub fn is_provisional(&self) -> bool {
        self.decision.is_provisional()
    }

    /// Returns true if it is a Namespace or a CustomResourceDefinition and was written.
    pub fn is_new_foundation(&self) -> bool {
        let gvk = &self.target().key.gvk;
        let is_written = matches!(self.outcome, Some(Outcome::Created | Outcome::Updated | Outcome::Replaced));
        is_written && (gvk.is_namespace() || gvk.is_crd())
    }

    /// Returns true if its write made it a member of an apply set.
    pub fn has_joined(&self, set: &ApplySet) -> bool {
        use Outcome::{Adopted, Created, Replaced, Updated};
        let is_written = matches!(self.outcome, Some(Created | Updated | Adopted | Replaced));
        is_written && self.decision.live().and_then(part_of) != Some(set.id.as_str())
    }

    /// Returns true if it has the name of another object after its write.
    fn will_name(&self, other: &Target) -> bool {
        let name = &other.key.name;
        let diff = self.diff();
        let has_name = |change: &FieldChange| change.desired.as_ref().is_some_and(|value| names(value, name));
        diff.action != Action::Update
            || self.decision.live().is_none_or(|live| names(live, name))
            || diff.drift().any(has_name)
    }

    /// Returns true if it exists in the cluster and nothing about it failed: it was written, was in sync, or has conflicts.
    pub fn exists(&self) -> bool {
        use Outcome::{Adopted, Conflict, Created, Replaced, Unchanged, Updated};
        let is_there = matches!(self.outcome, Some(Created | Updated | Adopted | Replaced | Unchanged | Conflict));
        is_there && !self.diff().leaves_missing()
    }
}

/// Returns true if a value, or one in it, is a name.
fn names(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(items) => items.iter().any(|item| names(item, name)),
        Value::Object(map) => map.values().any(|value| names(value, name)),
        _ => false,
    }
}

/// The diagnostic for an object whose differences are not those that were shown.
pub(super) fn changed_since_shown() -> Diagnostic {
    Diagnostic::new(Code::Conflict, "it changed after it was shown: not written").with_hint("run again")
}

/// The result of an object whose differences are not those of the plan.
pub(super) fn unplanned() -> TurnResult {
    let diagnostic = Diagnostic::new(Code::Conflict, "changed since the plan: left unchanged");
    let diagnostic = diagnostic.with_hint("run `diff --save-plan` again, and review the new plan");
    TurnResult { reason: Some("changed since the plan".to_owned()), ..TurnResult::failed(diagnostic) }
}

/// The reason why an object is not written.
pub(crate) enum Skip {
    Interrupted,
    Needs { what: String, state: Unmet },
    InOtherShard { what: String, shard: Shard, is_missing: bool },
    Unready { what: ObjectKey, message: String },
}

/// The state of an object that another one needs and does not get.
#[derive(Clone, Copy)]
pub(crate) enum Unmet {
    NotCreated,
    NotWritten,
    LeftAlone,
    NotCompared,
    Skipped,
    /// It does not exist, and `--only` leaves it.
    Left,
}

impl Unmet {
    /// Returns the state of an object after its turn; `None` if others may go on.
    fn of(item: &Item) -> Option<Self> {
        let action = item.diff().action;
        match item.outcome? {
            // It exists.
            Outcome::Skipped if item.is_left && action != Action::Create => None,
            Outcome::Failed if action == Action::Create => Some(Self::NotCreated),
            Outcome::Failed => Some(Self::NotWritten),
            Outcome::Conflict => Some(Self::LeftAlone),
            Outcome::Skipped if action == Action::Unknown => Some(Self::NotCompared),
            Outcome::Skipped => Some(Self::Skipped),
            Outcome::Unchanged if item.diff().leaves_missing() => Some(Self::Left),
            _ => None,
        }
    }
}

/// Returns the reason why an object with changes is not written, if there is one.
pub(crate) fn skipped(items: &[Item], item: &Item, interrupted: bool) -> Option<Skip> {
    if interrupted {
        return Some(Skip::Interrupted);
    }
    item.is_change().then(|| blocked(items, item)).flatten()
}

/// Warns of the objects that a pass skips because they need one that `--only` leaves.
pub(crate) fn warn_of_skips(compared: impl Iterator<Item = (Arc<PlanItem>, Arc<Decision>)>, events: &dyn EventSink) {
    let mut items: Vec<Item> = compared.map(|(planned, decision)| Item::new(planned, decision)).collect();
    for index in 0..items.len() {
        let item = &items[index];
        if item.diff().leaves_missing() {
            items[index].outcome = Some(Outcome::Unchanged);
        } else if item.is_to_write()
            && let Some(skip) = blocked(&items, item)
        {
            let TurnResult { outcome, reason, .. } = skip.into();
            if !item.is_in_other_shard() {
                let warning = format!("`apply` skips it: {}", reason.unwrap_or_default());
                events.receive(Event::WillBeSkipped(&item.target().key, &warning));
            }
            items[index].outcome = Some(outcome);
        }
    }
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
    let seen = observe(cluster, first, timeout, interrupt.token(), |_, _| {}).await;
    let mut both = first.iter().zip(seen.readiness);
    match both.find(|(_, readiness)| !readiness.is_current()) {
        Some(_) if interrupt.is_set() => Some(Skip::Interrupted),
        Some((one, readiness)) => Some(Skip::Unready { what: one.key.clone(), message: readiness.message }),
        None => None,
    }
}

/// Returns the dependency that the object lacks, if there is one.
pub(crate) fn blocked(items: &[Item], item: &Item) -> Option<Skip> {
    item.planned.needs.iter().find_map(|need| {
        let other = &items[need.on];
        let target = other.target();
        let action = other.diff().action;
        let state = Unmet::of(other)?;
        let is_missed = match need.strength {
            DependencyKind::Order => false,
            // An object that the API refuses is not created, and may not exist.
            DependencyKind::Existence | DependencyKind::Inside => {
                action == Action::Create || other.diff().leaves_missing() || target.desired.is_refused()
            }
            // A choice holds nothing back that still needs another object.
            DependencyKind::Success if other.is_left || matches!(state, Unmet::Left) => item.will_name(target),
            DependencyKind::Success | DependencyKind::Explicit => true,
        };
        let what = target.key.to_string();
        is_missed.then(|| match target.other_shard() {
            Some(shard) => Skip::InOtherShard { what, shard, is_missing: action == Action::Create },
            None => Skip::Needs { what, state },
        })
    })
}

/// The result of a turn: of a write, or without one, or the reason why it was not tried.
fn turn_result(diff: &ObjectDiff, end: Result<Option<Written>, Skip>) -> TurnResult {
    match end {
        Err(skip) => skip.into(),
        Ok(None) => left_alone(diff),
        Ok(Some(Written::Created)) => Outcome::Created.into(),
        Ok(Some(Written::Updated)) => Outcome::Updated.into(),
        Ok(Some(Written::Adopted)) => Outcome::Adopted.into(),
        Ok(Some(Written::Replaced)) => Outcome::Replaced.into(),
        Ok(Some(Written::WithoutEffect)) => Outcome::Unchanged.into(),
        Ok(Some(Written::Failed(diagnostic))) => TurnResult::failed(diagnostic),
        Ok(Some(Written::Noted(done, warning))) => {
            let mut result = turn_result(diff, Ok(Some(*done)));
            result.notes.insert(0, warning);
            result
        }
        Ok(Some(Written::Moved(new_diff))) => {
            let message = if diff.action == Action::Create {
                "somebody else created it in the meantime: left unchanged"
            } else {
                "it changed while it was applied, and now differs in another way: left unchanged"
            };
            let diagnostic = Diagnostic::new(Code::Conflict, message).with_hint("run again");
            TurnResult { new_diff: Some(new_diff), ..TurnResult::failed(diagnostic) }
        }
    }
}

impl From<Skip> for TurnResult {
    fn from(skip: Skip) -> Self {
        match skip {
            Skip::Interrupted => Self::skipped("the run was interrupted"),
            Skip::Needs { what, state } => {
                let end = match state {
                    Unmet::NotCreated => "could not be created",
                    Unmet::NotWritten => "could not be written",
                    Unmet::LeftAlone => "was left alone",
                    Unmet::NotCompared => "could not be compared",
                    Unmet::Skipped => "was skipped",
                    Unmet::Left => "does not exist, and `--only` does not create it",
                };
                Self::skipped(format!("it needs {what}, which {end}"))
            }
            Skip::InOtherShard { what, shard, is_missing } => {
                let which = if is_missing { "is not in the cluster" } else { "is not as its manifest says" };
                let hint = Some(format!("run again after shard {shard} was applied"));
                Self { hint, ..Self::skipped(format!("it needs {what}, which {which} yet: shard {shard} has it")) }
            }
            Skip::Unready { what, message } => Self::skipped(format!("it needs {what}, which is not ready: {message}")),
        }
    }
}

/// The result for an object that is not written.
fn left_alone(diff: &ObjectDiff) -> TurnResult {
    let notes = &diff.notes;
    let is_refused = diff.action == Action::Replace && diff.replacement != Some(Replacement::Allowed);
    match diff.action {
        _ if !diff.conflicts.is_empty() && !is_refused => Outcome::Conflict.into(),
        Action::None => Outcome::Unchanged.into(),
        Action::Replace => {
            let because = notes.reason.as_ref().map(|reason| reason.text.as_str()).unwrap_or_default();
            let reason = format!("{because}: it has to be deleted and recreated");
            TurnResult { reason: Some(reason), ..Outcome::Failed.into() }
        }
        Action::Unknown if let Some(error) = &notes.error => {
            TurnResult::skipped(format!("it could not be compared: {}", error.message))
        }
        Action::Unknown | Action::Create | Action::Update | Action::Delete => {
            TurnResult::skipped("it could not be compared")
        }
    }
}
