//! The third state: the decisions which members are deleted. Only this state writes: the parent before the pass, the deletions, and
//! the parent after them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use apply_set::{ApplySet, DesiredMembers, Inventory, PART_OF, PruneDecision, Reason};
use structured_merge::{GroupVersionKind, ObjectKey};

use super::delete::{INTERRUPTED, PruneEntry, delete_step};
use super::limits::hold_back;
use super::parent::{Parent, ParentChange, Recorded};
use super::search::{Coverage, ListedMember, MemberSearch, Scope, created_at, find};
use crate::client::Cluster;
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use crate::engine::item::unplanned;
use crate::engine::write::DEFAULT_DELETE_TIMEOUT;
use reconcile_core::compare::{ObjectDiff, ROUNDS, Redactor};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::{Resource, Target};
use reconcile_core::object::Shard;
use reconcile_core::object::generated::Generated;
use reconcile_core::pass::{Outcome, TurnResult};

/// The objects that do not match their manifests after the pass.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unapplied<'a> {
    /// The number of objects of the run.
    pub own: usize,
    /// The objects of other shards that are not yet members of the set.
    pub other_shards: &'a [&'a ObjectKey],
    /// The objects that are not ready, with `--wait`.
    pub unready: &'a [ObjectKey],
}

impl Unapplied<'_> {
    fn is_none(&self) -> bool {
        self.own == 0 && self.other_shards.is_empty()
    }
}

/// The reason why nothing is deleted while objects are not ready.
fn unready(unready: &[ObjectKey]) -> Option<String> {
    Some(match unready {
        [] => return None,
        [only] => format!("not pruned: {only} is not ready"),
        [first, rest @ ..] => {
            let objects = if rest.len() == 1 { "object" } else { "objects" };
            format!("not pruned: {first} and {} more {objects} are not ready", rest.len())
        }
    })
}

/// Warnings and errors about the set as a whole.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub warnings: Vec<String>,
    pub errors: Vec<Diagnostic>,
}

/// An apply set whose members are judged.
pub(crate) struct Judged {
    pub(super) parent: Parent,
    pub(super) coverage: Coverage,
    pub(super) desired: DesiredMembers,
    pub(super) entries: Vec<PruneEntry>,
    /// The members with generated names that go because the same objects come under new names.
    pub renamed: BTreeSet<Generated>,
    /// The change that the parent needs before the pass.
    pub parent_change: ParentChange,
    pub(super) notes: Notes,
    /// True if the parent could not be written, so that nothing else may be.
    pub(super) is_held: bool,
    /// The namespaces of the manifests' objects.
    pub(super) namespaces: BTreeSet<String>,
    /// The other shard whose run prunes: here, members are only recorded.
    pub pruned_by: Option<Shard>,
}

impl Judged {
    /// Returns true if there is anything to write: members to delete, or the parent's list.
    pub fn has_work(&self) -> bool {
        self.parent_change != ParentChange::None || self.deletes()
    }

    /// Returns true if there are members to delete.
    pub fn deletes(&self) -> bool {
        self.entries.iter().any(|entry| entry.decision.is_prune() && entry.result.is_none())
    }

    /// Allows the deletions, because somebody agreed to them.
    pub fn allow_all(&mut self, redactor: &Redactor, events: &dyn EventSink) {
        for entry in self.entries.iter_mut().filter(|entry| entry.result.is_none()) {
            if let Some(deletion) = entry.deletion.as_mut().filter(|deletion| !deletion.allowed) {
                deletion.allowed = true;
                entry.announce(redactor, events);
            }
        }
    }

    /// Keeps members whose deletion was not planned. What is being deleted already goes in any case, and its version is another one since the
    /// plan.
    pub fn keep_to_plan(
        &mut self,
        redactor: &Redactor,
        events: &dyn EventSink,
        is_planned: &dyn Fn(&ObjectKey, &ObjectDiff) -> bool,
    ) {
        for entry in self.entries.iter_mut().filter(|entry| entry.decision.is_prune()) {
            if !entry.member.member.is_terminating() && !is_planned(entry.key(), &entry.diff(redactor)) {
                self.desired.keep(entry.key());
                let result = entry.result.insert(unplanned());
                events.receive(Event::Revised(&entry.member.member.key, result));
            }
        }
    }

    /// The members that another shard deletes because these objects come under new names: for each, the newest.
    pub async fn deleted_elsewhere(&self, cluster: &Cluster, new: &[&Target]) -> BTreeMap<ObjectKey, ObjectKey> {
        if self.pruned_by.is_none() {
            return BTreeMap::new();
        }
        let mut collections: BTreeMap<&GroupVersionKind, (&Resource, BTreeSet<String>)> = BTreeMap::new();
        for target in new {
            if let (Ok(resource), Some(namespace)) = (target.resource.as_deref(), &target.key.namespace) {
                let (_, namespaces) = collections.entry(&target.key.gvk).or_insert((resource, BTreeSet::new()));
                namespaces.insert(namespace.clone());
            }
        }
        let searches = collections.into_values().map(|(resource, namespaces)| MemberSearch {
            resource: resource.clone(),
            scope: Scope::Namespaces(namespaces.into_iter().collect()),
        });
        let found = find(cluster, searches.collect(), &format!("{PART_OF}={}", self.set().id)).await;
        let members = found.objects.into_iter();
        let members =
            members.map(|(resource, object)| ListedMember::new(resource, object, &self.parent, &self.coverage));
        let mut going = self.desired.unwanted(members.collect::<Vec<_>>());
        going.retain(|listed| self.desired.decide(&listed.member).is_prune());
        going.sort_by(|one, other| created_at(&one.member).cmp(created_at(&other.member)));
        let newest: BTreeMap<Generated, ObjectKey> = going
            .into_iter()
            .filter_map(|listed| Some((Generated::of(&listed.member.key)?, listed.member.key)))
            .collect();
        let former = |key: &ObjectKey| newest.get(&Generated::of(key)?).cloned();
        new.iter().filter_map(|new| Some((new.key.clone(), former(&new.key)?))).collect()
    }

    /// Keeps the former objects of new ones that are left.
    pub fn keep_formers(&mut self, new: &[ObjectKey], redactor: &Redactor, events: &dyn EventSink) {
        let left: BTreeSet<Generated> = new.iter().filter_map(Generated::of).collect();
        for entry in self.entries.iter_mut().filter(|entry| entry.decision.is_prune()) {
            if Generated::of(entry.key()).is_some_and(|generated| left.contains(&generated)) {
                entry.decision = PruneDecision::Keep(Reason::NotChosen);
                self.desired.settle(&entry.member.member.key, &entry.decision);
                entry.announce(redactor, events);
            }
        }
    }

    /// The set.
    pub fn set(&self) -> &ApplySet {
        &self.parent.set
    }

    /// The namespaces in which members are deleted, and to which no manifest belongs.
    pub fn deletion_only_namespaces(&self) -> BTreeSet<String> {
        let deleted = self.entries.iter().filter(|entry| entry.is_deletion());
        let namespaces = deleted.filter_map(|entry| entry.key().own_namespace());
        namespaces.filter(|name| !self.namespaces.contains(*name)).map(ToOwned::to_owned).collect()
    }

    /// Warnings about the set as a whole.
    pub fn warnings(&self) -> &[String] {
        &self.notes.warnings
    }

    /// Errors that concern the set as a whole; with any of them, the run is incomplete.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.notes.errors
    }

    /// The namespace of a parent that does not exist yet.
    pub fn new_namespace(&self) -> Option<&str> {
        let parent = Some(&self.parent).filter(|parent| parent.state.is_none())?;
        parent.set.parent.namespace.as_deref()
    }

    /// Writes the parent before the pass: it lists the kinds and namespaces of present and future members, so that no member is lost
    /// whatever happens. The error says why the pass cannot begin.
    pub async fn begin(&mut self, cluster: &Cluster, interrupt: &Interrupt) -> Result<(), String> {
        if interrupt.is_set() {
            return Ok(());
        }
        let listed = self.list_superset(cluster).await;
        self.notes.warnings.extend(self.parent.take_warnings());
        let Err(Diagnostic { code, message, hint, .. }) = listed else { return Ok(()) };
        self.is_held = true;
        let message = format!("{}, the parent of the apply set, cannot be written: {message}", self.parent.set.parent);
        let hint = hint.as_deref().unwrap_or("nothing was applied, because new members could not be recorded");
        self.notes.errors.push(Diagnostic::new(code, message).with_hint(hint));
        Err("the parent of the apply set could not be written".to_owned())
    }

    async fn list_superset(&mut self, cluster: &Cluster) -> Result<(), Diagnostic> {
        let mut members = self.coverage.listed.union(self.desired.inventory());
        let are_members =
            |entry: &&PruneEntry| matches!(entry.decision, PruneDecision::Prune(_) | PruneDecision::Keep(_));
        self.entries.iter().filter(are_members).for_each(|entry| members.add(entry.key()));
        for _ in 0..ROUNDS {
            match self.parent.write(cluster, &members).await {
                Recorded::Written(_) => return Ok(()),
                Recorded::Failed(diagnostic) => return Err(diagnostic),
                Recorded::Moved => {
                    self.parent.read_again(cluster).await?;
                    let now = self.parent.state.as_ref().map(|state| state.inventory(&self.coverage.mentioned));
                    members = members.union(&now.unwrap_or_default());
                }
            }
        }
        Err(Diagnostic::new(Code::Conflict, "the parent of the apply set keeps changing").with_hint("run again"))
    }

    /// Deletes members step by step after the pass, and waits until they are gone, for at most `timeout` in each step. Then the parent
    /// lists the other members. Nothing is deleted if objects of the pass are `unapplied`, or if a deletion is not allowed.
    pub async fn act(
        &mut self,
        cluster: &Cluster,
        unapplied: Unapplied<'_>,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
        events: &dyn EventSink,
    ) {
        for entry in self.entries.iter_mut().filter(|entry| !entry.decision.is_prune()) {
            entry.result = Some(Outcome::Unchanged.into());
        }
        let timeout = timeout.unwrap_or(DEFAULT_DELETE_TIMEOUT);
        let open = self.entries.iter().filter(|entry| entry.result.is_none()).count();
        if open > 0 {
            events.receive(Event::Began(Stage::Prune, open));
        }
        let held = self.held(unapplied, interrupt).map(TurnResult::skipped);
        let held = held.or_else(|| hold_back(&mut self.entries, &mut self.desired).map(TurnResult::skipped));
        let held = held.or_else(|| unready(unapplied.unready).map(TurnResult::postponed));
        self.delete(cluster, held, timeout, interrupt, events).await;
        if open > 0 {
            events.receive(Event::Ended(Stage::Prune));
        }
        for entry in self.entries.iter().filter(|entry| entry.outcome() != Some(Outcome::Deleted)) {
            if let Some(result) = &entry.result {
                events.receive(Event::Revised(entry.key(), result));
            }
        }
        let is_done = |entry: &PruneEntry| entry.outcome().is_some_and(Outcome::is_done);
        let is_complete = self.pruned_by.is_none() && unapplied.is_none() && self.entries.iter().all(is_done);
        if is_complete && self.notes.errors.is_empty() && !interrupt.is_set() {
            self.end(cluster).await;
            let again = self.parent.take_warnings().into_iter().filter(|text| !self.notes.warnings.contains(text));
            self.notes.warnings.extend(again.collect::<Vec<_>>());
        }
    }

    /// The reason why nothing is deleted; `None` if members may be deleted.
    fn held(&self, unapplied: Unapplied<'_>, interrupt: &Interrupt) -> Option<String> {
        match unapplied {
            _ if interrupt.is_set() => Some(INTERRUPTED.to_owned()),
            Unapplied { own: 1, .. } => Some("nothing is pruned, because an object was not applied".to_owned()),
            Unapplied { own: left @ 2.., .. } => {
                Some(format!("nothing is pruned, because {left} objects were not applied"))
            }
            _ if self.is_held => Some("the parent of the apply set could not be written".to_owned()),
            Unapplied { other_shards: [], .. } => None,
            Unapplied { other_shards: [only], .. } => {
                Some(format!("nothing is pruned, because another shard has not applied {only} yet"))
            }
            Unapplied { other_shards: [first, rest @ ..], .. } => {
                let more = rest.len();
                Some(format!("nothing is pruned, because other shards have not applied {first} and {more} more yet"))
            }
        }
    }

    async fn delete(
        &mut self,
        cluster: &Cluster,
        mut held: Option<TurnResult>,
        timeout: Duration,
        interrupt: &Interrupt,
        events: &dyn EventSink,
    ) {
        for step in self.entries.chunk_by_mut(|a, b| a.step == b.step) {
            let members: Vec<&mut PruneEntry> =
                step.iter_mut().filter(|entry| entry.decision.is_prune() && entry.result.is_none()).collect();
            held = match held {
                None => {
                    let left = delete_step(cluster, members, &mut self.desired, timeout, interrupt, events).await;
                    left.map(TurnResult::skipped)
                }
                Some(result) => {
                    for entry in members {
                        entry.result = Some(result.clone());
                    }
                    Some(result)
                }
            };
        }
    }

    /// Writes the parent so that it lists exactly the remaining members. If somebody else has changed the list, it is not written.
    async fn end(&mut self, cluster: &Cluster) {
        let members: &Inventory = self.desired.inventory();
        for _ in 0..ROUNDS {
            let before = self.parent.state.clone();
            let Diagnostic { code, message, hint, .. } = match self.parent.write(cluster, members).await {
                Recorded::Written(_) => return,
                Recorded::Failed(diagnostic) => diagnostic,
                Recorded::Moved => match (self.parent.read_again(cluster).await, &before) {
                    (Err(diagnostic), _) => diagnostic,
                    // The list is unchanged, or the answer to our own write was lost.
                    (Ok(()), Some(before)) if self.parent.is_undisturbed(before, members) => continue,
                    _ => break,
                },
            };
            let message = format!("{} cannot be updated: {message}", self.parent.set.parent);
            let hint = hint.as_deref().unwrap_or("the list of the set may have kinds or namespaces without members");
            self.notes.errors.push(Diagnostic::new(code, message).with_hint(hint));
            return;
        }
        let message = "somebody else changed the apply set in the meantime: its list may have kinds or namespaces without members";
        self.notes.warnings.push(message.to_owned());
    }
}
