//! A member that no manifest names, from the decision about it to its outcome, and the deletion of the members of one step.

use std::time::Duration;

use apply_set::{DesiredMembers, Member, PruneDecision, Reason};
use futures::StreamExt as _;
use reconcile_core::compare::{Evidence, FieldChange, ObjectDiff, ROUNDS, Redactor, Secrecy, Side};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::LiveState;
use reconcile_core::live::discreet::shown_warning;
use reconcile_core::pass::{Outcome, TurnResult};
use reconcile_core::plan::deletion;
use reconcile_core::plan::deletion::PruneStep;
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, ObjectMeta as _};

use super::search::ListedMember;
use crate::client::{Cluster, IN_FLIGHT, Warnings};
use crate::engine::event::{Event, EventSink, Judgement};
use crate::engine::interrupt::Interrupt;
use crate::engine::write::{Deleted, Deletion, DeletionDeadline, delete, wait_until_gone};

/// The reason for members that were not deleted because the run was interrupted.
pub(super) const INTERRUPTED: &str = "the run was interrupted";

/// A member that no manifest names.
pub(super) struct PruneEntry {
    pub step: PruneStep,
    pub member: ListedMember,
    pub decision: PruneDecision,
    /// The sides that changed: the manifests no longer name it, and the cluster may have changed it as well.
    pub side: Side,
    /// True if its manifest in the base is encrypted, so that its values are secret whatever its kind.
    pub is_encrypted: bool,
    /// The kinds that have to be allowed before it is deleted.
    pub deletion: Option<deletion::Deletion>,
    /// The reason why it may not be deleted.
    pub refusal: Option<Diagnostic>,
    /// Its result, once its turn is over.
    pub result: Option<TurnResult>,
    /// The server's warnings about its deletion.
    pub warnings: Warnings,
}

impl PruneEntry {
    pub fn new(
        (step, member): (PruneStep, ListedMember),
        decision: PruneDecision,
        side: Side,
        is_encrypted: bool,
    ) -> Self {
        let (deletion, refusal, result) = (None, None, None);
        Self { step, member, decision, side, is_encrypted, deletion, refusal, result, warnings: Warnings::default() }
    }

    /// The action that it needs, as if it had been compared.
    pub fn diff(&self, redactor: &Redactor) -> ObjectDiff {
        match self.decision.reason() {
            None => {
                let reason = match self.side {
                    _ if self.member.member.is_terminating() => "no longer in the manifests, and being deleted already",
                    Side::Both => "no longer in the manifests, and changed in the cluster",
                    Side::Manifest | Side::Cluster | Side::Either => "no longer in the manifests",
                };
                ObjectDiff::delete(self.shown(redactor), self.side, reason.to_owned())
            }
            Some(Reason::NotChosen) => {
                ObjectDiff::leaving(Some(Evidence::Server), &FieldChange::pruned(Value::Null).on(self.side))
            }
            Some(reason) => ObjectDiff::kept(kept_because(reason)),
        }
    }

    /// The live object without `managedFields`, and without secret values.
    fn shown(&self, redactor: &Redactor) -> Value {
        let Member { key, object, .. } = &self.member.member;
        let mut object = object.clone();
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        let secrecy = Secrecy::of(&key.gvk, None, Some(&object)).of_encrypted(self.is_encrypted);
        redactor.value(&secrecy, &FieldPath::root(), &object)
    }

    /// Sends the decision about it.
    pub fn announce(&self, redactor: &Redactor, events: &dyn EventSink) {
        let deletion = self.deletion.as_ref();
        let refusal = self.refusal.as_ref();
        let diff = &self.diff(redactor);
        events.receive(Event::Judged(Judgement { key: self.key(), diff, deletion, refusal }));
    }

    pub fn key(&self) -> &ObjectKey {
        &self.member.member.key
    }

    /// The outcome, once its turn is over.
    pub fn outcome(&self) -> Option<Outcome> {
        self.result.as_ref().map(|result| result.outcome)
    }

    /// Returns true if it is or will be deleted.
    pub fn is_deletion(&self) -> bool {
        self.decision.is_prune() && matches!(self.outcome(), None | Some(Outcome::Deleted | Outcome::Terminating))
    }

    /// Records how its deletion ended, after a wait of this time that was not interrupted.
    fn settle(&mut self, end: End, desired: &mut DesiredMembers, waited: Option<Duration>) {
        let Member { key, object, .. } = &self.member.member;
        let shown = |text| shown_warning(&key.gvk, &[object], self.is_encrypted, text);
        let notes = self.warnings.take().into_iter().map(shown).collect();
        let result = match end {
            End::Gone => Outcome::Deleted.into(),
            End::Failed(diagnostic) => {
                desired.keep(self.key());
                TurnResult::failed(diagnostic)
            }
            End::Terminating(left) => {
                TurnResult { outcome: Outcome::Terminating, ..TurnResult::failed(terminating(&left, waited)) }
            }
            End::Interrupted => TurnResult::skipped(INTERRUPTED),
            End::Spared(decision) => {
                desired.settle(self.key(), &decision);
                let reason = decision.reason().map(kept_because);
                let new_diff = reason.clone().map(|reason| Box::new(ObjectDiff::kept(reason)));
                self.decision = decision;
                TurnResult { reason, new_diff, ..Outcome::Unchanged.into() }
            }
        };
        self.result = Some(TurnResult { notes, ..result });
    }
}

/// The end of a deletion.
enum End {
    /// The member is gone.
    Gone,
    /// The server is deleting it; this is its state.
    Terminating(LiveState),
    /// It changed, and is kept.
    Spared(PruneDecision),
    /// It could not be deleted.
    Failed(Diagnostic),
    /// It was not tried.
    Interrupted,
}

/// The reason why a member is kept, with the flag that would delete it.
fn kept_because(reason: &Reason) -> String {
    match reason {
        Reason::Unlisted { is_next, .. } => {
            format!("kept because {reason} (`--applyset-recover` deletes it{})", if *is_next { " now" } else { "" })
        }
        _ => format!("kept because {reason}"),
    }
}

/// An error for an object that is not gone after a wait of this time, or after one that was interrupted (`None`), with the finalizers
/// that hold it.
fn terminating(left: &LiveState, waited: Option<Duration>) -> Diagnostic {
    let names: Vec<&str> = match left {
        LiveState::Present(object) => object.finalizers().collect(),
        LiveState::Unreadable(diagnostic) => return diagnostic.clone(),
        LiveState::Absent => Vec::new(),
    };
    let holds = match names.as_slice() {
        [] => String::new(),
        [one] => format!(": the finalizer `{one}` holds it"),
        several => format!(": the finalizers `{}` hold it", several.join("`, `")),
    };
    let waited = waited.map(|time| format!(", and was not gone after {} s", time.as_secs())).unwrap_or_default();
    let message = format!("it is being deleted{waited}{holds}");
    Diagnostic::new(Code::Terminating, message)
        .with_hint("run again when it is gone, or give it longer with `--wait --timeout`")
}

/// Deletes the members of one step. Returns the reason why later steps are skipped, if there is one: the finalizers of members that are
/// still being deleted may need the later members.
pub(super) async fn delete_step(
    cluster: &Cluster,
    mut members: Vec<&mut PruneEntry>,
    desired: &mut DesiredMembers,
    timeout: Duration,
    interrupt: &Interrupt,
    events: &dyn EventSink,
) -> Option<String> {
    let deadline = DeletionDeadline::after(timeout);
    let judge: &DesiredMembers = desired;
    let deletions = members.iter_mut().map(|entry| delete_member(cluster, entry, judge, interrupt));
    let ends: Vec<End> = futures::stream::iter(deletions).buffered(IN_FLIGHT).collect().await;
    let are_left = members.iter().zip(&ends).filter(|(_, end)| matches!(end, End::Terminating(_)));
    let left: Vec<ObjectKey> = are_left.map(|(entry, _)| entry.key().clone()).collect();
    if !left.is_empty() {
        events.receive(Event::Deleting(&left));
    }
    let waits = members.iter().zip(ends).map(|(entry, end)| wait(cluster, &entry.member, end, deadline, interrupt));
    let ends: Vec<End> = futures::stream::iter(waits).buffered(IN_FLIGHT).collect().await;
    if !left.is_empty() {
        events.receive(Event::Deleting(&[]));
    }
    let mut still_there = None;
    for (entry, end) in members.into_iter().zip(ends) {
        entry.settle(end, desired, Some(timeout).filter(|_| !interrupt.is_set()));
        match &entry.result {
            Some(result) if result.outcome == Outcome::Deleted => events.receive(Event::Pruned(entry.key(), result)),
            Some(result) if result.outcome == Outcome::Terminating => {
                still_there = Some(format!("{} is still being deleted", entry.key()));
            }
            _ => {}
        }
    }
    if interrupt.is_set() { Some(INTERRUPTED.to_owned()) } else { still_there }
}

/// Deletes a member in the version that was judged. If it has changed, it is judged again.
async fn delete_member(
    cluster: &Cluster,
    PruneEntry { member: ListedMember { member, resource }, is_encrypted, warnings, .. }: &mut PruneEntry,
    desired: &DesiredMembers,
    interrupt: &Interrupt,
) -> End {
    if interrupt.is_set() {
        return End::Interrupted;
    }
    for _ in 0..ROUNDS {
        if member.is_terminating() {
            return End::Terminating(LiveState::Present(member.object.clone()));
        }
        // A result of an earlier step may be a reason to keep it.
        let prunable = match desired.decide(member) {
            PruneDecision::Prune(prunable) => prunable,
            spared => return End::Spared(spared),
        };
        let deletion = Deletion {
            key: &member.key,
            object: &member.object,
            is_encrypted: *is_encrypted,
            uid: prunable.uid(),
            resource_version: Some(prunable.resource_version()),
        };
        match delete(cluster, resource, deletion, warnings).await {
            Ok(Deleted::Gone) => return End::Gone,
            Ok(Deleted::Terminating) => return End::Terminating(LiveState::Absent),
            Ok(Deleted::Moved(now)) => *member = Member { object: *now, ..member.clone() },
            Err(diagnostic) => return End::Failed(diagnostic),
        }
    }
    let diagnostic = Diagnostic::new(Code::Conflict, "it keeps changing while it is to be deleted");
    End::Failed(diagnostic.with_hint("run again"))
}

/// Waits until a member that is being deleted is gone.
async fn wait(
    cluster: &Cluster,
    ListedMember { member, resource }: &ListedMember,
    end: End,
    deadline: DeletionDeadline,
    interrupt: &Interrupt,
) -> End {
    if !matches!(end, End::Terminating(_)) {
        return end;
    }
    match wait_until_gone(cluster, resource, &member.key, member.uid(), deadline, interrupt.token().cancelled()).await {
        LiveState::Absent => End::Gone,
        left => End::Terminating(left),
    }
}

#[cfg(test)]
mod tests {
    use apply_set::Unlisted;

    use super::*;

    #[test]
    fn a_member_that_is_not_listed_names_the_flag_that_deletes_it() {
        let kept = |is_next| kept_because(&Reason::Unlisted { why: Unlisted::NoParent, is_next });
        let why = "kept because no parent of the apply set lists it";
        assert_eq!(kept(false), format!("{why} (`--applyset-recover` deletes it)"));
        assert_eq!(kept(true), format!("{why} yet (`--applyset-recover` deletes it now)"));
        assert_eq!(kept_because(&Reason::LeftTheSet), "kept because it is no longer in the apply set");
    }
}
