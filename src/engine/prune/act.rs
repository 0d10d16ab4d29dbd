//! The writes: the parent before the pass, the deletions, and the parent after them.

use std::time::Duration;

use super::{Entry, Pruning};
use crate::client::Cluster;
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::event::{Event, EventSink};
use crate::engine::interrupt::Interrupt;
use crate::engine::write::{Recorded, record};
use crate::live::LiveState;
use crate::live::fetch::find;
use crate::plan::apply_set::{Inventory, ParentAnnotations, ParentState, PruneDecision, Refusal};
use crate::report::Outcome;

/// How often what changes meanwhile is read again.
const ROUNDS: usize = 5;

impl Pruning {
    /// Before the pass: the parent lists where members are and where they will be, so that none is lost whatever happens.
    pub(super) async fn begin(&mut self, cluster: &Cluster) -> Result<(), String> {
        let Err(trouble) = self.list_superset(cluster).await else { return Ok(()) };
        self.is_held = true;
        let message =
            format!("{}, the parent of the apply set, cannot be written: {}", self.set.parent, trouble.message);
        let hint = trouble.hint.as_deref().unwrap_or("nothing was applied, because new members could not be recorded");
        self.errors.push(Diagnostic::general(message).with_hint(hint));
        Err("the parent of the apply set could not be written".to_owned())
    }

    async fn list_superset(&mut self, cluster: &Cluster) -> Result<(), Diagnostic> {
        let mut contents = self.listed.clone();
        let members =
            self.members.iter().filter(|entry| matches!(entry.fate, PruneDecision::Pruned | PruneDecision::Kept(_)));
        members.for_each(|entry| contents.add(&entry.member.key));
        if let Some(wanted) = &self.wanted {
            contents = contents.union(&wanted.contents);
        }
        for _ in 0..ROUNDS {
            match self.record(cluster, &contents).await {
                Recorded::Written(_) => return Ok(()),
                Recorded::Failed(trouble) => return Err(trouble),
                Recorded::Moved => {
                    self.read_again(cluster).await?;
                    let now = self.standing.as_ref().map(|standing| standing.contents(&self.mentioned));
                    contents = contents.union(&now.unwrap_or_default());
                }
            }
        }
        Err(Diagnostic::new(Code::Conflict, "the parent of the apply set keeps changing").with_hint("run again"))
    }

    /// After the pass: deletes what is not wanted, turn by turn, and waits until it is gone, for at most `timeout` in
    /// each turn; then the parent lists what is left. Nothing is deleted while objects of the pass are `left`.
    pub(super) async fn act(
        &mut self,
        cluster: &Cluster,
        left: usize,
        (timeout, interrupt): (Duration, &Interrupt),
        events: &dyn EventSink,
    ) {
        let Some(mut wanted) = self.wanted.take() else { return };
        for entry in self.members.iter_mut().filter(|entry| entry.fate != PruneDecision::Pruned) {
            entry.report.outcome = Some(Outcome::Unchanged);
        }
        let mut held = match left {
            _ if interrupt.is_set() => Some("the run was interrupted".to_owned()),
            0 if self.is_held => Some("the parent of the apply set could not be written".to_owned()),
            0 => None,
            1 => Some("nothing is pruned, because an object was not applied".to_owned()),
            left => Some(format!("nothing is pruned, because {left} objects were not applied")),
        };
        let mut start = 0;
        while let Some(turn) = self.members.get(start).map(|entry| entry.turn) {
            let same = self.members[start..].iter().take_while(|entry| entry.turn == turn).count();
            let of_turn =
                self.members[start..start + same].iter_mut().filter(|entry| entry.fate == PruneDecision::Pruned);
            let of_turn: Vec<&mut Entry> = of_turn.collect();
            held = match held {
                None => super::delete::turn(cluster, of_turn, &mut wanted, (timeout, interrupt), events).await,
                Some(reason) => {
                    for entry in of_turn {
                        entry.skip(&reason);
                    }
                    Some(reason)
                }
            };
            start += same;
        }
        let staying = self.members.iter().filter(|entry| entry.report.outcome != Some(Outcome::Deleted));
        staying.for_each(|entry| events.receive(Event::Revised(&entry.report)));
        let is_complete = left == 0 && self.members.iter().all(|entry| entry.report.is_done());
        if is_complete && self.errors.is_empty() && !interrupt.is_set() {
            self.end(cluster, &wanted.contents).await;
        }
    }

    /// The parent lists exactly what is left. Where somebody else wrote another list meanwhile, that stays.
    async fn end(&mut self, cluster: &Cluster, contents: &Inventory) {
        for _ in 0..ROUNDS {
            let before = self.standing.clone();
            let trouble = match self.record(cluster, contents).await {
                Recorded::Written(_) => return,
                Recorded::Failed(trouble) => trouble,
                Recorded::Moved => match (self.read_again(cluster).await, &before, &self.standing) {
                    (Err(trouble), _, _) => trouble,
                    // Nobody touched the list, or it was our own answer that got lost.
                    (Ok(()), Some(before), Some(now))
                        if before.same_record(now)
                            || now.says(&ParentAnnotations::of(&self.set, Some(now), contents)) =>
                    {
                        continue;
                    }
                    _ => break,
                },
            };
            let message = format!("{} cannot be brought up to date: {}", self.set.parent, trouble.message);
            let hint = trouble.hint.as_deref().unwrap_or("the set still lists more than it has");
            self.errors.push(Diagnostic::general(message).with_hint(hint));
            return;
        }
        let message = "somebody else changed the apply set meanwhile: it goes on listing more than it has";
        self.warnings.push(message.to_owned());
    }

    /// Writes a record, unless the parent says the same.
    async fn record(&mut self, cluster: &Cluster, contents: &Inventory) -> Recorded {
        let wanted = ParentAnnotations::of(&self.set, self.standing.as_ref(), contents);
        if self.standing.as_ref().is_some_and(|standing| standing.says(&wanted)) {
            return Recorded::Written(serde_json::Value::Null);
        }
        let recorded = record(cluster, &self.resource, &self.set, self.standing.as_ref(), &wanted).await;
        if let Recorded::Written(parent) = &recorded {
            match ParentState::of(&self.set, parent, &self.adopt) {
                Ok(standing) => self.standing = Some(standing),
                Err(refusal) => return Recorded::Failed(trouble(refusal)),
            }
        }
        recorded
    }

    async fn read_again(&mut self, cluster: &Cluster) -> Result<(), Diagnostic> {
        self.standing = match find(cluster, &self.resource, &self.set.parent).await {
            LiveState::Absent => None,
            LiveState::Unreadable(trouble) => return Err(trouble),
            LiveState::Present(parent) => Some(ParentState::of(&self.set, &parent, &self.adopt).map_err(trouble)?),
        };
        Ok(())
    }
}

fn trouble(refusal: Refusal) -> Diagnostic {
    Diagnostic::new(Code::Conflict, refusal.message).with_hint(refusal.hint)
}
