//! The third state: the decisions which members are deleted. Only this state writes: the parent before the pass, the deletions, and
//! the parent after them (in `record`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use apply_set::{ApplySet, DesiredMembers, Inventory, PART_OF, PruneDecision, Reason};
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey};

use super::delete::{INTERRUPTED, PruneEntry, delete_step};
use super::limits::hold_back;
use super::parent::{Parent, ParentChange};
use super::search::{Coverage, ListedMember, MemberSearch, Scope, created_at, find};
use crate::client::Cluster;
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use crate::engine::item::unplanned;
use crate::engine::write::DEFAULT_DELETE_TIMEOUT;
use reconcile_core::compare::{ObjectDiff, Redactor};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::{Resource, Target};
use reconcile_core::object::Shard;
use reconcile_core::object::generated::Generated;
use reconcile_core::pass::{Outcome, TurnResult};

/// The state of the manifests' objects after the pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AfterPass<'a> {
    /// The number of objects of the run that do not match their manifests.
    pub unapplied: usize,
    /// The objects of other shards that are not yet members of the set.
    pub other_shards: &'a [&'a ObjectKey],
    /// The objects that are not ready, with `--wait`.
    pub unready: &'a [ObjectKey],
    /// True if objects have joined the set.
    pub has_joined: bool,
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
    /// The resources of the kinds that were searched, and of those of the manifests.
    pub(super) resources: BTreeMap<GroupKind, Resource>,
    pub(super) desired: DesiredMembers,
    pub(super) entries: Vec<PruneEntry>,
    /// The members with generated names that go because the same objects come under new names.
    pub renamed: BTreeSet<Generated>,
    /// The change that the parent needs before the pass.
    pub parent_change: ParentChange,
    pub(super) notes: Notes,
    /// True if the parent could not be written, so that nothing else may be.
    pub(super) is_held: bool,
    /// The kinds and namespaces that the parent listed, and those that this run listed before the pass.
    pub(super) known: Inventory,
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

    /// Deletes members step by step after the pass, and waits until they are gone, for at most `timeout` in each step. Then the parent
    /// lists the other members. Nothing is deleted if objects are unapplied, or if a deletion is not allowed.
    pub async fn act(
        &mut self,
        cluster: &Cluster,
        after: AfterPass<'_>,
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
        let held = self.held(after, interrupt).map(TurnResult::skipped);
        let held = held.or_else(|| hold_back(&mut self.entries, &mut self.desired).map(TurnResult::skipped));
        let held = held.or_else(|| unready(after.unready).map(TurnResult::postponed));
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
        let is_applied = after.unapplied == 0 && after.other_shards.is_empty();
        let is_complete = self.pruned_by.is_none() && is_applied && self.entries.iter().all(is_done);
        if !interrupt.is_set() && !self.is_held {
            self.end(cluster, is_complete && self.notes.errors.is_empty(), after.has_joined).await;
        }
    }

    /// The reason why nothing is deleted; `None` if members may be deleted.
    fn held(&self, after: AfterPass<'_>, interrupt: &Interrupt) -> Option<String> {
        match after {
            _ if interrupt.is_set() => Some(INTERRUPTED.to_owned()),
            AfterPass { unapplied: 1, .. } => Some("nothing is pruned, because an object was not applied".to_owned()),
            AfterPass { unapplied: left @ 2.., .. } => {
                Some(format!("nothing is pruned, because {left} objects were not applied"))
            }
            _ if self.is_held => Some("the parent of the apply set could not be written".to_owned()),
            AfterPass { other_shards: [], .. } => None,
            AfterPass { other_shards: [only], .. } => {
                Some(format!("nothing is pruned, because another shard has not applied {only} yet"))
            }
            AfterPass { other_shards: [first, rest @ ..], .. } => {
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
}
