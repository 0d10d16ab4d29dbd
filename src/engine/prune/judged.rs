//! The third state: what happens to each member is decided. Only here anything is written: the parent before the pass, the
//! deletions, and the parent after them.

use std::collections::BTreeSet;
use std::time::Duration;

use apply_set::{DesiredMembers, Inventory, PruneDecision};
use structured_merge::ObjectKey;

use super::coverage::Coverage;
use super::delete::delete_step;
use super::entry::{Entry, INTERRUPTED};
use super::parent::Parent;
use super::write_parent::Recorded;
use crate::client::Cluster;
use crate::compare::{Action, Policy, ROUNDS, Replace};
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::event::{Event, EventSink};
use crate::engine::interrupt::Interrupt;
use crate::engine::write::DEFAULT_DELETE_TIMEOUT;
use crate::live::Target;
use crate::object::Shard;
use crate::report::{ApplySetInfo, Command, ObjectReport, Outcome, ParentAction, Report};

/// What is not as its manifest says after the pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left<'a> {
    /// How many objects of the run.
    pub own: usize,
    /// The objects of other parts that are no members of the set.
    pub elsewhere: &'a [&'a ObjectKey],
}

impl Left<'_> {
    fn is_none(&self) -> bool {
        self.own == 0 && self.elsewhere.is_empty()
    }
}

/// What the report says of the set as a whole.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub warnings: Vec<String>,
    pub errors: Vec<Diagnostic>,
}

/// An apply set whose members are judged.
pub(crate) struct Judged {
    parent: Parent,
    coverage: Coverage,
    desired: DesiredMembers,
    entries: Vec<Entry>,
    parent_action: ParentAction,
    notes: Notes,
    /// Whether nothing may be written, as the parent cannot be.
    is_held: bool,
    /// Whether what cannot be changed is replaced.
    replaces: bool,
    /// The namespaces that manifests name.
    named_namespaces: BTreeSet<String>,
    /// The other part of the objects whose run prunes: here, members are only recorded.
    pruned_by: Option<Shard>,
}

impl Judged {
    pub(super) fn new(
        (parent, coverage, notes): (Parent, Coverage, Notes),
        desired: DesiredMembers,
        entries: Vec<Entry>,
        (targets, policy): (&[&Target], &Policy),
    ) -> Self {
        let parent_action = parent.action(desired.inventory());
        let named_namespaces =
            targets.iter().filter_map(|target| target.key.own_namespace().map(ToOwned::to_owned)).collect();
        let replaces = policy.replace == Replace::Immutable;
        let (is_held, pruned_by) = (false, None);
        Self {
            parent,
            coverage,
            desired,
            entries,
            parent_action,
            notes,
            is_held,
            replaces,
            named_namespaces,
            pruned_by,
        }
    }

    /// The same, where another part of the objects prunes.
    pub(super) fn pruned_by(self, pruned_by: Option<Shard>) -> Self {
        Self { pruned_by, ..self }
    }

    /// How many members there are that no manifest names.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there is anything to write: members to delete, or the parent's list.
    pub fn has_work(&self) -> bool {
        self.parent_action != ParentAction::None || self.deletes()
    }

    /// Returns true if there are members to delete.
    pub fn deletes(&self) -> bool {
        self.entries.iter().any(|entry| entry.decision.is_prune())
    }

    /// The id of the set.
    pub fn id(&self) -> &str {
        &self.parent.set.id
    }

    /// The namespace of a parent that does not exist yet.
    pub fn new_namespace(&self) -> Option<&str> {
        let parent = Some(&self.parent).filter(|parent| parent.state.is_none())?;
        parent.set.parent.namespace.as_deref()
    }

    /// Before the pass: the parent lists where members are and where they will be, so that none is lost whatever happens. The
    /// error says why the pass cannot begin.
    pub async fn begin(&mut self, cluster: &Cluster, interrupt: &Interrupt) -> Result<(), String> {
        if interrupt.is_set() {
            return Ok(());
        }
        let Err(problem) = self.list_superset(cluster).await else { return Ok(()) };
        self.is_held = true;
        let message =
            format!("{}, the parent of the apply set, cannot be written: {}", self.parent.set.parent, problem.message);
        let hint = problem.hint.as_deref().unwrap_or("nothing was applied, because new members could not be recorded");
        self.notes.errors.push(Diagnostic::general(message).with_hint(hint));
        Err("the parent of the apply set could not be written".to_owned())
    }

    async fn list_superset(&mut self, cluster: &Cluster) -> Result<(), Diagnostic> {
        let mut members = self.coverage.listed.union(self.desired.inventory());
        let are_members = |entry: &&Entry| matches!(entry.decision, PruneDecision::Prune(_) | PruneDecision::Keep(_));
        self.entries.iter().filter(are_members).for_each(|entry| members.add(entry.key()));
        for _ in 0..ROUNDS {
            match self.parent.write(cluster, &members).await {
                Recorded::Written(_) => return Ok(()),
                Recorded::Failed(problem) => return Err(problem),
                Recorded::Moved => {
                    self.parent.read_again(cluster).await?;
                    let now = self.parent.state.as_ref().map(|state| state.inventory(&self.coverage.mentioned));
                    members = members.union(&now.unwrap_or_default());
                }
            }
        }
        Err(Diagnostic::new(Code::Conflict, "the parent of the apply set keeps changing").with_hint("run again"))
    }

    /// After the pass: deletes what is not wanted, step by step, and waits until it is gone, for at most `timeout` in
    /// each step; then the parent lists what is left. Nothing is deleted while objects of the pass are `left`.
    pub async fn act(
        &mut self,
        cluster: &Cluster,
        left: Left<'_>,
        (timeout, interrupt): (Option<Duration>, &Interrupt),
        events: &dyn EventSink,
    ) {
        for entry in self.entries.iter_mut().filter(|entry| !entry.decision.is_prune()) {
            entry.report.outcome = Some(Outcome::Unchanged);
        }
        let timeout = timeout.unwrap_or(DEFAULT_DELETE_TIMEOUT);
        self.delete(cluster, self.held(left, interrupt), (timeout, interrupt), events).await;
        let staying = self.entries.iter().filter(|entry| entry.report.outcome != Some(Outcome::Deleted));
        staying.for_each(|entry| events.receive(Event::Revised(&entry.report)));
        let is_complete =
            self.pruned_by.is_none() && left.is_none() && self.entries.iter().all(|entry| entry.report.is_done());
        if is_complete && self.notes.errors.is_empty() && !interrupt.is_set() {
            self.end(cluster).await;
        }
    }

    /// Why nothing is deleted, if so.
    fn held(&self, left: Left<'_>, interrupt: &Interrupt) -> Option<String> {
        match left {
            _ if interrupt.is_set() => Some(INTERRUPTED.to_owned()),
            Left { own: 1, .. } => Some("nothing is pruned, because an object was not applied".to_owned()),
            Left { own: left @ 2.., .. } => Some(format!("nothing is pruned, because {left} objects were not applied")),
            _ if self.is_held => Some("the parent of the apply set could not be written".to_owned()),
            Left { elsewhere: [], .. } => None,
            Left { elsewhere: [only], .. } => {
                Some(format!("nothing is pruned, because another shard has not applied {only} yet"))
            }
            Left { elsewhere: [first, rest @ ..], .. } => {
                let more = rest.len();
                Some(format!("nothing is pruned, because other shards have not applied {first} and {more} more yet"))
            }
        }
    }

    async fn delete(
        &mut self,
        cluster: &Cluster,
        mut held: Option<String>,
        patience: (Duration, &Interrupt),
        events: &dyn EventSink,
    ) {
        for step in self.entries.chunk_by_mut(|a, b| a.step == b.step) {
            let members: Vec<&mut Entry> = step.iter_mut().filter(|entry| entry.decision.is_prune()).collect();
            held = match held {
                None => delete_step(cluster, members, &mut self.desired, patience, events).await,
                Some(reason) => {
                    for entry in members {
                        entry.skip(&reason);
                    }
                    Some(reason)
                }
            };
        }
    }

    /// The parent lists exactly what is left. Where somebody else wrote another list meanwhile, that stays.
    async fn end(&mut self, cluster: &Cluster) {
        let members: &Inventory = self.desired.inventory();
        for _ in 0..ROUNDS {
            let before = self.parent.state.clone();
            let problem = match self.parent.write(cluster, members).await {
                Recorded::Written(_) => return,
                Recorded::Failed(problem) => problem,
                Recorded::Moved => match (self.parent.read_again(cluster).await, &before) {
                    (Err(problem), _) => problem,
                    // Nobody touched the list, or it was our own answer that got lost.
                    (Ok(()), Some(before)) if self.parent.is_undisturbed(before, members) => continue,
                    _ => break,
                },
            };
            let message = format!("{} cannot be brought up to date: {}", self.parent.set.parent, problem.message);
            let hint = problem.hint.as_deref().unwrap_or("the set still lists more than it has");
            self.notes.errors.push(Diagnostic::general(message).with_hint(hint));
            return;
        }
        let message = "somebody else changed the apply set meanwhile: it goes on listing more than it has";
        self.notes.warnings.push(message.to_owned());
    }

    /// Adds to a report what is to be said of the set as a whole.
    pub fn annotate(&self, report: Report) -> Report {
        let deleted = report.objects.iter().filter(|object| object.is_deletion());
        let elsewhere: BTreeSet<String> =
            deleted.filter_map(|object| object.key.own_namespace().map(ToOwned::to_owned)).collect();
        let elsewhere = elsewhere.difference(&self.named_namespaces).cloned().collect();
        let set = &self.parent.set;
        let set = ApplySetInfo::new(&set.id, &set.parent, self.parent_action).deleting_in(elsewhere);
        let set = ApplySetInfo { pruned_by: self.pruned_by, ..set };
        let mut report = report.with_apply_set(set);
        report.warnings.extend(self.notes.warnings.iter().cloned());
        let is_in_the_way = |object: &&ObjectReport| match object.action {
            Action::Unknown => true,
            Action::Replace => !self.replaces,
            _ => !object.conflicts.is_empty(),
        };
        if report.command == Command::Diff && report.summary.delete > 0 {
            let in_the_way = report.objects.iter().find(is_in_the_way).map(|object| object.key.to_string());
            report
                .warnings
                .extend(in_the_way.map(|key| format!("`apply` would prune nothing until {key} can be applied")));
        }
        report.with_errors(self.notes.errors.clone())
    }
}
