//! Deletes the members of one step at once, and waits until they are gone.

use std::time::Duration;

use apply_set::{DesiredMembers, Member, PruneDecision};
use futures::StreamExt as _;

use super::entry::{End, INTERRUPTED, PruneEntry};
use super::listed_member::ListedMember;
use crate::client::{Cluster, IN_FLIGHT};
use crate::engine::event::{Event, EventSink};
use crate::engine::interrupt::Interrupt;
use crate::engine::write::{Deleted, DeletionDeadline, delete, wait_until_gone};
use reconcile_core::compare::ROUNDS;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::LiveState;
use reconcile_core::pass::Outcome;

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
    let deletions = members.iter_mut().map(|entry| delete_member(cluster, &mut entry.member, judge, interrupt));
    let ends: Vec<End> = futures::stream::iter(deletions).buffered(IN_FLIGHT).collect().await;
    let waits = members.iter().zip(ends).map(|(entry, end)| wait(cluster, &entry.member, end, deadline, interrupt));
    let ends: Vec<End> = futures::stream::iter(waits).buffered(IN_FLIGHT).collect().await;
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
    ListedMember { member, resource }: &mut ListedMember,
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
        let (uid, version) = (prunable.uid(), Some(prunable.resource_version()));
        match delete(cluster, resource, &member.key, &member.object, uid, version).await {
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
    match wait_until_gone(cluster, resource, &member.key, member.uid(), deadline, || interrupt.is_set()).await {
        LiveState::Absent => End::Gone,
        left => End::Terminating(left),
    }
}
