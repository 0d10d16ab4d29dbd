use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey, ObjectMeta as _, defined_kind};

use crate::decision::{Prunable, PruneDecision, Reason, Trust, set_by_another};
use crate::id::{ApplySet, part_of};
use crate::member::{Inventory, Member};

/// Rules for pruning, in addition to the manifests.
pub struct PruneRules {
    /// Field managers whose label makes a member.
    pub trust: Box<Trust>,
    /// Returns the annotation with its value that keeps an object from being pruned, as in `example.com/prune: keep`.
    pub keep: fn(&Value) -> Option<String>,
    /// True if members that the parent does not list are pruned as well.
    pub recover: bool,
    /// Kinds whose members could not be listed, with the namespace if it is only one. There may be unknown members of
    /// them.
    pub unseen: Vec<(GroupKind, Option<String>)>,
}

/// The members that the manifests name. Decides about all others.
pub struct DesiredMembers {
    set: ApplySet,
    rules: PruneRules,
    objects: BTreeSet<(GroupKind, Option<String>, String)>,
    /// Kinds and namespaces that have members after the pass.
    inventory: Inventory,
    /// The first object of each namespace that stays.
    in_namespace: BTreeMap<String, ObjectKey>,
    /// The first object of each kind that stays.
    of_kind: BTreeMap<GroupKind, ObjectKey>,
}

impl DesiredMembers {
    /// Creates the set without members. The parent stays.
    pub fn new(set: &ApplySet, rules: PruneRules) -> Self {
        let mut desired = Self {
            set: set.clone(),
            rules,
            objects: BTreeSet::new(),
            inventory: Inventory::default(),
            in_namespace: BTreeMap::new(),
            of_kind: BTreeMap::new(),
        };
        desired.stays(&set.parent);
        desired
    }

    /// Adds an object that a manifest names. The parent is not a member, and a kind that the server does not know has
    /// no members.
    pub fn add(&mut self, key: &ObjectKey, is_known: bool) {
        self.objects.insert(identity(key));
        if is_known && identity(key) != identity(&self.set.parent) {
            self.inventory.add(key);
        }
        self.stays(key);
    }

    /// Kinds and namespaces that have members after all decisions are carried out.
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Keeps a member, its namespace, and the definition of its kind.
    pub fn keep(&mut self, member: &ObjectKey) {
        self.inventory.add(member);
        self.stays(member);
    }

    /// Records a decision. If a member stays, so do its namespace and the definition of its kind.
    pub fn settle(&mut self, member: &ObjectKey, decision: &PruneDecision) {
        match decision {
            PruneDecision::Keep(_) => self.keep(member),
            PruneDecision::Spare(_) => self.stays(member),
            PruneDecision::Prune(_) | PruneDecision::NotAMember(_) => {}
        }
    }

    fn stays(&mut self, key: &ObjectKey) {
        if let Some(namespace) = &key.namespace {
            self.in_namespace.entry(namespace.clone()).or_insert_with(|| key.clone());
        }
        self.of_kind.entry(GroupKind::from(&key.gvk)).or_insert_with(|| key.clone());
    }

    /// The members that no manifest names, each once, sorted by kind, namespace and name. An object that is served
    /// under two groups is wanted if a manifest names it under one.
    pub fn unwanted<M: Borrow<Member>>(&self, mut members: Vec<M>) -> Vec<M> {
        let wanted = members.iter().map(Borrow::borrow).filter(|member| self.objects.contains(&identity(&member.key)));
        let mut seen: BTreeSet<String> = wanted.map(|member| member.uid().to_owned()).collect();
        members.sort_by_cached_key(|member| {
            let ObjectKey { gvk, namespace, name } = &member.borrow().key;
            (gvk.kind.clone(), namespace.clone(), name.clone(), gvk.group.clone())
        });
        members.retain(|member| seen.insert(member.borrow().uid().to_owned()));
        members
    }

    /// Decides about the members that no manifest names, one decision for each. If a member stays, so do its namespace
    /// and the definition of its kind.
    pub fn decide_all<M: Borrow<Member>>(&mut self, members: &[M]) -> Vec<PruneDecision> {
        let members = || members.iter().map(Borrow::borrow);
        let mut decisions: Vec<PruneDecision> = members().map(|member| self.alone(member)).collect();
        for (member, decision) in members().zip(&decisions) {
            self.settle(&member.key, decision);
        }
        for (member, decision) in members().zip(&mut decisions).filter(|(_, decision)| decision.is_prune()) {
            if let Some(reason) = self.inside(member) {
                *decision = PruneDecision::Keep(reason);
                self.inventory.add(&member.key);
            }
        }
        decisions
    }

    /// Decides about a member that may have changed after the decisions about the others.
    pub fn decide(&self, member: &Member) -> PruneDecision {
        let decision = self.alone(member);
        let inside = if decision.is_prune() { self.inside(member) } else { None };
        inside.map_or(decision, PruneDecision::Keep)
    }

    /// Decides about a member without regard to other objects.
    fn alone(&self, member: &Member) -> PruneDecision {
        let object = &member.object;
        if part_of(object) != Some(self.set.id.as_str()) {
            return PruneDecision::NotAMember(Reason::LeftTheSet);
        }
        if identity(&member.key) == identity(&self.set.parent) {
            return PruneDecision::Keep(Reason::IsParent);
        }
        if let Some(decision) = set_by_another(member, &*self.rules.trust) {
            return decision;
        }
        if let Some(reason) = self.unlisted(member) {
            return PruneDecision::Spare(reason);
        }
        // It is already being deleted, which cannot be undone.
        if member.is_terminating() {
            return PruneDecision::Prune(Prunable::of(member));
        }
        if let Some(annotation) = (self.rules.keep)(object) {
            return PruneDecision::Keep(Reason::Annotated(annotation));
        }
        match owner(object) {
            Some(owner) => PruneDecision::Keep(Reason::OwnedBy(owner)),
            None => PruneDecision::Prune(Prunable::of(member)),
        }
    }

    /// Reason to keep a member that the parent does not list: nobody asked for its deletion. An object whose deletion
    /// deletes others is never deleted because of a label alone.
    fn unlisted(&self, member: &Member) -> Option<Reason> {
        let why = member.unlisted.clone()?;
        let ObjectKey { gvk, namespace, .. } = &member.key;
        if gvk.is_namespace() || gvk.is_crd() {
            return Some(Reason::UnlistedContainer { why, gvk: gvk.clone() });
        }
        let is_next = self.inventory.covers(&GroupKind::from(gvk), namespace.as_deref());
        (!self.rules.recover).then_some(Reason::Unlisted { why, is_next })
    }

    /// Reason to keep a Namespace or a CustomResourceDefinition: an object that stays, or could not be listed, would be
    /// deleted with it.
    fn inside(&self, member: &Member) -> Option<Reason> {
        if member.key.gvk.is_namespace() {
            let name = &member.key.name;
            if let Some(object) = self.in_namespace.get(name) {
                return Some(Reason::NamespaceOf(object.clone()));
            }
            let mut unseen = self.rules.unseen.iter();
            let (kind, _) = unseen.find(|(_, namespace)| namespace.as_ref().is_none_or(|one| one == name))?;
            return Some(Reason::NamespaceOfUnseen(kind.clone()));
        }
        if member.key.gvk.is_crd() {
            let (group, kind) = defined_kind(&member.object)?;
            let kind = GroupKind { kind: kind.to_owned(), group: group.to_owned() };
            if let Some(object) = self.of_kind.get(&kind) {
                return Some(Reason::Defines(object.clone()));
            }
            return self.rules.unseen.iter().any(|(unseen, _)| *unseen == kind).then_some(Reason::DefinesUnseen);
        }
        None
    }
}

fn identity(key: &ObjectKey) -> (GroupKind, Option<String>, String) {
    (GroupKind::from(&key.gvk), key.namespace.clone(), key.name.clone())
}

/// The controller of an object, or otherwise its first owner.
fn owner(object: &Value) -> Option<ObjectKey> {
    let owners = object.owner_references();
    let controls = |owner: &&Value| owner.get("controller") == Some(&Value::Bool(true));
    let owner = owners.iter().find(controls).or_else(|| owners.first())?;
    let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
    let gvk = GroupVersionKind::new(text("apiVersion"), text("kind"));
    Some(ObjectKey { gvk, namespace: None, name: text("name").to_owned() })
}

#[cfg(test)]
#[path = "tests/desired.rs"]
mod tests;
