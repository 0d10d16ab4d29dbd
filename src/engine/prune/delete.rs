//! The deletions of one turn: all at once, and then until they are gone.

use std::time::Duration;

use futures::StreamExt as _;
use structured_merge::ObjectMeta as _;

use super::Entry;
use crate::client::Cluster;
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::event::{Event, EventSink};
use crate::engine::interrupt::Interrupt;
use crate::engine::write::{Deadline, Deleted, delete, wait_until_gone};
use crate::live::LiveState;
use crate::live::fetch::IN_FLIGHT;
use crate::plan::apply_set::{DesiredMembers, Member, PruneDecision};
use crate::report::Outcome;

/// How often a member that changes while it is deleted is judged again.
const ROUNDS: usize = 5;

const INTERRUPTED: &str = "the run was interrupted";

/// What a deletion came to.
enum End {
    /// It is gone.
    Gone,
    /// The server deletes it; this is what is there.
    Terminating(LiveState),
    /// It changed, and has another fate now.
    Spared(PruneDecision),
    /// It could not be deleted.
    Failed(Diagnostic),
    /// It was not tried.
    Interrupted,
}

/// Deletes the members whose turn it is, and answers with why later ones have to wait: what is still being deleted may need
/// them for its finalizers.
pub(super) async fn turn(
    cluster: &Cluster,
    mut members: Vec<&mut Entry>,
    wanted: &mut DesiredMembers,
    (timeout, interrupt): (Duration, &Interrupt),
    events: &dyn EventSink,
) -> Option<String> {
    let deadline = Deadline::after(timeout);
    let judge: &DesiredMembers = wanted;
    let deletions = members.iter_mut().map(|entry| delete_member(cluster, &mut entry.member, judge, interrupt));
    let ends: Vec<End> = futures::stream::iter(deletions).buffered(IN_FLIGHT).collect().await;
    let waits = members.iter().zip(ends).map(|(entry, end)| wait(cluster, &entry.member, end, deadline, interrupt));
    let ends: Vec<End> = futures::stream::iter(waits).buffered(IN_FLIGHT).collect().await;
    let mut still_there = None;
    for (entry, end) in members.into_iter().zip(ends) {
        entry.settle(end, wanted, Some(timeout).filter(|_| !interrupt.is_set()));
        match entry.report.outcome {
            Some(Outcome::Deleted) => events.receive(Event::Pruned(&entry.report)),
            Some(Outcome::Terminating) => still_there = Some(format!("{} is still being deleted", entry.member.key)),
            _ => {}
        }
    }
    if interrupt.is_set() { Some(INTERRUPTED.to_owned()) } else { still_there }
}

/// Deletes a member as long as that is its fate, whatever happens to it meanwhile.
async fn delete_member(cluster: &Cluster, member: &mut Member, wanted: &DesiredMembers, interrupt: &Interrupt) -> End {
    if interrupt.is_set() {
        return End::Interrupted;
    }
    for _ in 0..ROUNDS {
        if member.is_terminating() {
            return End::Terminating(LiveState::Present(member.object.clone()));
        }
        // What was found out in an earlier turn may speak for it.
        match wanted.fate(member) {
            PruneDecision::Pruned => {}
            spared => return End::Spared(spared),
        }
        let Member { key, resource, .. } = &*member;
        match delete(cluster, resource, key, member.uid(), Some(member.resource_version())).await {
            Ok(Deleted::Gone) => return End::Gone,
            Ok(Deleted::Terminating) => return End::Terminating(LiveState::Absent),
            Ok(Deleted::Moved(now)) => *member = Member { object: *now, ..member.clone() },
            Err(trouble) => return End::Failed(trouble),
        }
    }
    let trouble = Diagnostic::new(Code::Conflict, "it keeps changing while it is to be deleted");
    End::Failed(trouble.with_hint("run again"))
}

/// Waits until what the server deletes is gone.
async fn wait(cluster: &Cluster, member: &Member, end: End, deadline: Deadline, interrupt: &Interrupt) -> End {
    if !matches!(end, End::Terminating(_)) {
        return end;
    }
    let Member { key, resource, .. } = member;
    match wait_until_gone(cluster, resource, key, member.uid(), deadline, || interrupt.is_set()).await {
        LiveState::Absent => End::Gone,
        left => End::Terminating(left),
    }
}

impl Entry {
    /// It is not tried, for this reason.
    pub(super) fn skip(&mut self, reason: &str) {
        self.report.reason = Some(reason.to_owned());
        self.report.outcome = Some(Outcome::Skipped);
    }

    fn fail(&mut self, trouble: Diagnostic, outcome: Outcome) {
        self.report.reason = None;
        self.report.error = Some(trouble);
        self.report.outcome = Some(outcome);
    }

    fn settle(&mut self, end: End, wanted: &mut DesiredMembers, after: Option<Duration>) {
        match end {
            End::Gone => self.report.outcome = Some(Outcome::Deleted),
            End::Failed(trouble) => {
                wanted.keep(&self.member.key);
                self.fail(trouble, Outcome::Failed);
            }
            End::Terminating(left) => self.fail(terminating(&left, after), Outcome::Terminating),
            End::Interrupted => self.skip(INTERRUPTED),
            End::Spared(fate) => {
                if let Some(reason) = fate.reason() {
                    self.report.spare(reason);
                }
                wanted.settle(&self.member.key, &fate);
                self.report.outcome = Some(Outcome::Unchanged);
                self.fate = fate;
            }
        }
    }
}

/// What holds an object that does not go, after a wait that went to its end or was interrupted.
fn terminating(left: &LiveState, waited: Option<Duration>) -> Diagnostic {
    let names: Vec<&str> = match left {
        LiveState::Present(object) => object.finalizers().collect(),
        LiveState::Unreadable(trouble) => return trouble.clone(),
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
