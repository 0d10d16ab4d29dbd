//! Gives fields to a manager: compares all objects, and rewrites the record of owners of those whose owners change. Each write is
//! tried as a dry run first, and is not sent if any value would change.
//!
//! ```text
//! Decision ─Recipient─▶ Handover ─▶ dry run ─▶ write ─409─▶ read and compare again
//! ```

use std::sync::Arc;

use futures::StreamExt as _;
use reconcile_core::compare::{Action, ComparisonMachine, Decision, ROUNDS};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::discreet::shown_warning_about;
use reconcile_core::live::{LiveState, Resource, Target, failed_request};
use reconcile_core::own::{Handover, Recipient};
use reconcile_core::pass::{Outcome, TurnResult};
use reconcile_core::plan::Plan;
use reconcile_core::rules::Glob;
use serde_json::Value;
use structured_merge::{ObjectMeta as _, Ownership, TypeRef};

use crate::client::{Change, Cluster, IN_FLIGHT, RequestError, Retry, Warnings, WriteRequest};
use crate::engine::comparison::dry_run::drive;
use crate::engine::comparison::{Comparison, LiveSource as _};
use crate::engine::event::{Event, Stage};
use crate::engine::write::{is_open, owners_patch};
use crate::live::answer::Asked;
use crate::live::fetch;

/// The objects of a run, with the change of their owners.
pub(crate) struct OwnRun<'a> {
    comparison: Comparison<'a>,
    items: Vec<OwnItem>,
}

/// One object.
struct OwnItem {
    target: Target,
    decision: Decision,
    handover: Result<Handover, Diagnostic>,
}

impl<'a> OwnRun<'a> {
    /// Compares the objects of a plan. With `tries`, each write is tried as a dry run.
    pub async fn compare(
        mut comparison: Comparison<'a>,
        mut plan: Plan,
        recipient: &Recipient<'_>,
        tries: bool,
    ) -> Self {
        let events = comparison.events;
        events.receive(Event::Began(Stage::Compare, plan.items.len()));
        comparison.leave_out_nulls(&mut plan).await;
        let targets: Vec<&Target> = plan.targets().collect();
        let decisions = comparison.compare(&targets).await;
        let recipient = Recipient { policy: &comparison.policy, ..*recipient };
        let found = plan.items.into_iter().map(|item| Arc::unwrap_or_clone(item).target).zip(decisions).map(
            |(target, decision)| {
                let schema = comparison.types.of(&target.key.gvk);
                let handover = handover(&target, &decision, schema, &recipient, &comparison);
                OwnItem { target, decision, handover }
            },
        );
        let mut items: Vec<OwnItem> = found.collect();
        if tries {
            try_all(&mut items, &comparison, &recipient).await;
        }
        for OwnItem { target, decision, handover } in &items {
            events.receive(Event::HandedOver(target, decision, handover));
        }
        events.receive(Event::Ended(Stage::Compare));
        Self { comparison, items }
    }

    /// Writes the owners that change.
    pub async fn act(&self, recipient: &Recipient<'_>) {
        let Self { comparison, items } = self;
        let Comparison { events, interrupt, .. } = comparison;
        let recipient = Recipient { policy: &comparison.policy, ..*recipient };
        let turns: Vec<(&OwnItem, &Handover)> =
            items.iter().filter_map(|item| Some((item, item.handover.as_ref().ok()?))).collect();
        events.receive(Event::Began(Stage::Apply, turns.len()));
        let writes = turns.into_iter().map(async |(OwnItem { target, decision, .. }, handover)| {
            let result = if handover.owners.is_none() {
                Outcome::Unchanged.into()
            } else if interrupt.is_set() {
                TurnResult::skipped("the run was interrupted")
            } else {
                match Giver::of(comparison, &recipient, target) {
                    Ok(giver) => {
                        let (result, again) = giver.give(decision, handover).await;
                        if let Some((decision, handover)) = again {
                            events.receive(Event::HandedOver(target, &decision, &Ok(handover)));
                        }
                        result
                    }
                    Err(unresolved) => TurnResult::failed(unresolved.clone()),
                }
            };
            match result.outcome {
                Outcome::Skipped => events.receive(Event::Skipped(&target.key, &result)),
                _ => events.receive(Event::Written(&target.key, &result)),
            }
        });
        let mut writes = futures::stream::iter(writes).buffer_unordered(IN_FLIGHT);
        while writes.next().await.is_some() {}
        events.receive(Event::Ended(Stage::Apply));
    }

    /// Warnings about the comparison as a whole, and about each of these patterns for managers that matches none. Where an object could not
    /// be compared, its managers are not known.
    pub fn warnings(&self, released: &[Glob]) -> impl Iterator<Item = String> {
        let is_complete = self.items.iter().all(|item| item.decision.diff.action != Action::Unknown);
        let has_manager = |glob: &Glob| {
            let owners = self.items.iter().filter_map(|item| Some(&item.decision.live_object()?.current.owners));
            owners.flat_map(|owners| &owners.others).any(|entry| glob.matches(&entry.manager))
        };
        let unmatched = released.iter().filter(|glob| is_complete && !has_manager(glob));
        let unmatched =
            unmatched.map(|glob| format!("`--release {glob}`: no field manager of these objects has this name"));
        self.comparison.warnings.iter().cloned().chain(unmatched.collect::<Vec<_>>())
    }
}

/// The reason why a write was refused as a dry run, and what the server warned of.
type Tried = (Option<Diagnostic>, Vec<String>);

/// Tries each write as a dry run. One that is refused, or would change a value, cannot be handed over.
async fn try_all(items: &mut [OwnItem], comparison: &Comparison<'_>, recipient: &Recipient<'_>) {
    let tries = items.iter().map(async |OwnItem { target, decision, handover }| {
        let owners = handover.as_ref().ok()?.owners.as_ref()?;
        let live = decision.live_object()?;
        let giver = Giver::of(comparison, recipient, target).ok().filter(|_| !comparison.interrupt.is_set())?;
        let refused = match giver.attempt(&live.current.object, owners).await {
            Ok(()) => None,
            // Somebody changed it meanwhile: the write compares it again.
            Err(Failed::Refused(error)) if error.is_conflict() => None,
            Err(failed) => Some(giver.diagnostic(failed, &live.current.object)),
        };
        Some((refused, giver.new_warnings(decision)))
    });
    let results: Vec<Option<Tried>> = futures::stream::iter(tries).buffered(IN_FLIGHT).collect().await;
    for (item, (refused, warnings)) in items.iter_mut().zip(results).filter_map(|(item, tried)| Some((item, tried?))) {
        if let Some(refused) = refused {
            item.handover = Err(refused);
        }
        item.decision.warnings.extend(warnings);
    }
}

/// The change of owners that follows from a comparison, or the reason why there can be none.
fn handover(
    target: &Target,
    decision: &Decision,
    schema: TypeRef<'_>,
    recipient: &Recipient<'_>,
    comparison: &Comparison<'_>,
) -> Result<Handover, Diagnostic> {
    let diff = &decision.diff;
    match (diff.action, decision.live_object()) {
        (Action::Unknown, _) => Err(diff.error()),
        (Action::Create, _) => {
            let diagnostic = Diagnostic::new(Code::NotFound, "it does not exist");
            Err(diagnostic.with_hint("`own` creates nothing: `kubectl reconcile apply` does"))
        }
        (_, Some(live)) => recipient.receive(target, live, &diff.changes, schema, &comparison.redactor),
        // Everything is recorded as that of the manager, and nobody else owns a part of it.
        (_, None) => Ok(Handover::default()),
    }
}

/// Writes the owners of one object.
struct Giver<'a> {
    comparison: &'a Comparison<'a>,
    recipient: &'a Recipient<'a>,
    cluster: Cluster,
    target: &'a Target,
    resource: &'a Resource,
    schema: TypeRef<'a>,
    warnings: Warnings,
}

/// The last comparison of an object that was compared again, with the fields that were or are to be given.
type Again = (Decision, Handover);

/// The reason why owners could not be written.
enum Failed {
    /// The request failed.
    Refused(RequestError),
    /// A value would change.
    Changes,
}

impl<'a> Giver<'a> {
    /// The error is the reason why the resource of the target is not known.
    fn of(
        comparison: &'a Comparison<'a>,
        recipient: &'a Recipient<'a>,
        target: &'a Target,
    ) -> Result<Self, &'a Diagnostic> {
        let resource = target.resource.as_ref().map_err(|reason| &**reason)?;
        let schema = comparison.types.of(&target.key.gvk);
        // A write that was begun is finished, even if the run is interrupted.
        let cluster = comparison.cluster.until_done();
        Ok(Self { comparison, recipient, cluster, target, resource, schema, warnings: Warnings::default() })
    }

    /// Writes the owners. If the object changed since it was read, or no answer came, it is read and compared again, which is returned as
    /// well.
    async fn give(&self, shown: &Decision, handover: &Handover) -> (TurnResult, Option<Again>) {
        let mut again = None;
        let result = self.written(shown, handover, &mut again).await;
        let notes = self.new_warnings(shown);
        let result = match result {
            Ok(outcome) => outcome.into(),
            Err(error) => TurnResult::failed(error),
        };
        (TurnResult { notes, ..result }, again)
    }

    /// Takes the warnings of the server, as far as they were not shown.
    fn new_warnings(&self, shown: &Decision) -> Vec<String> {
        let warnings = self.warnings.take().into_iter();
        let notes = warnings.map(|text| shown_warning_about(self.target, shown.live(), text));
        notes.filter(|text| !shown.warnings.contains(text)).collect()
    }

    /// Writes the owners until nothing is left to give. The last comparison after the one that was shown is left in `again`.
    async fn written(
        &self,
        shown: &Decision,
        handover: &Handover,
        again: &mut Option<Again>,
    ) -> Result<Outcome, Diagnostic> {
        let mut rounds = 0..ROUNDS;
        loop {
            let (decision, handover) =
                again.as_ref().map_or((shown, handover), |(decision, handover)| (decision, handover));
            let (Some(live), Some(owners)) = (decision.live_object(), &handover.owners) else {
                // The write was done, and its answer was lost; or somebody else did it, or has changed everything.
                return Ok(if handover.transfers.is_empty() { Outcome::Unchanged } else { Outcome::Adopted });
            };
            let live = &live.current.object;
            let tried = self.attempt(live, owners).await;
            let failed = match tried {
                Ok(()) => self.record(live, owners).await.map_err(Failed::Refused).err(),
                Err(failed) => Some(failed),
            };
            let error = match failed {
                None => return Ok(Outcome::Adopted),
                Some(Failed::Refused(error)) if error.is_conflict() && rounds.next().is_some() => error,
                Some(Failed::Refused(error)) if is_open(&error) => error,
                Some(failed) => return Err(self.diagnostic(failed, live)),
            };
            let is_over = is_open(&error) && !error.is_conflict();
            let Some(decision) = self.judge_again().await else {
                return Err(self.diagnostic(Failed::Refused(error), live));
            };
            let last = self::handover(self.target, &decision, self.schema, self.recipient, self.comparison)?;
            if is_over && last.owners.is_some() {
                return Err(self.diagnostic(Failed::Refused(error), live));
            }
            let handover = handover.after(last);
            *again = Some((decision, handover));
        }
    }

    /// Tries the write as a dry run.
    async fn attempt(&self, live: &Value, owners: &Ownership) -> Result<(), Failed> {
        let after = self.send(self.patch(live, owners).dry_run()).await.map_err(Failed::Refused)?;
        if without_owners(live) == without_owners(&after) { Ok(()) } else { Err(Failed::Changes) }
    }

    async fn record(&self, live: &Value, owners: &Ownership) -> Result<(), RequestError> {
        self.send(self.patch(live, owners).write(Retry::Safe)).await.map(drop)
    }

    async fn send(&self, change: impl Into<Change>) -> Result<Value, RequestError> {
        let reply = self.cluster.change(change, &self.warnings).await?;
        Asked::key(&self.target.key).read(&self.cluster, reply.body())
    }

    /// Replaces the record of owners of the version that was read.
    fn patch(&self, live: &Value, owners: &Ownership) -> WriteRequest {
        let version = live.metadata("resourceVersion").cloned().unwrap_or_default();
        let path = self.resource.object_path(self.target.key.namespace.as_deref(), &self.target.key.name);
        owners_patch(path, &self.recipient.policy.manager, &owners.to_json(live), &version)
    }

    /// Reads and compares the object again. Returns `None` if it cannot be read.
    async fn judge_again(&self) -> Option<Decision> {
        let live = fetch::get(&self.cluster, self.target, self.resource).await;
        if matches!(live, LiveState::Unreadable(_)) {
            return None;
        }
        let mut machine = ComparisonMachine::new(self.target, live, self.schema, self.recipient.policy);
        drive(&self.cluster, self.resource, &mut machine).await;
        Some(machine.decide(None, &self.comparison.redactor))
    }

    fn diagnostic(&self, failed: Failed, live: &Value) -> Diagnostic {
        match failed {
            Failed::Refused(error) => failed_request(self.target, Some(live), &error),
            Failed::Changes => {
                let message = "the server would change values of the object if its owners were written";
                let hint = "look for a mutating webhook of this kind, which changes objects whenever they are updated";
                Diagnostic::new(Code::Failed, message).with_hint(hint)
            }
        }
    }
}

/// An object without the record of its owners and without its version.
fn without_owners(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
        metadata.remove("resourceVersion");
    }
    object
}
