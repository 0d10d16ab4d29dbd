use std::collections::HashMap;

use jiff::Timestamp;
use structured_merge::{ObjectKey, Operation};

use super::event::AuditEvent;
use super::user_list::UserList;
use crate::owners::{AuditAnswer, Owner, second};

/// Questions to an audit log, and the users that answer them so far.
#[derive(Debug, Default)]
pub struct AuditSearch {
    asked: Vec<Asked>,
    /// The questions that requests for an object of the log concern.
    of_object: HashMap<String, Vec<(usize, Relation)>>,
}

#[derive(Debug)]
struct Asked {
    question: AuditQuestion,
    /// The second of the first write that counts.
    since: Option<i64>,
    users: UserList,
    deletions: Deletions,
    /// True if the last write of the entry is in the log.
    has_last_write: bool,
}

/// The object of a request, as one text: a collection has no name.
fn place(group: &str, plural: &str, namespace: &str, name: &str) -> String {
    // The server names the namespace of a Namespace in some requests and not in others.
    let namespace = if group.is_empty() && plural == "namespaces" { "" } else { namespace };
    [group, plural, namespace, name].join("\0")
}

impl AuditSearch {
    /// Adds a question about an object. Writes before the second `since` do not count. Returns the number for its answer; none if the
    /// plural name of the object's resource is not known.
    pub fn ask(&mut self, object: AuditedObject<'_>, question: AuditQuestion, since: Option<i64>) -> Option<usize> {
        let AuditedObject { key, plurals } = object;
        if plurals.is_empty() {
            return None;
        }
        let namespace = key.namespace.as_deref().unwrap_or_default();
        let number = self.asked.len();
        let mut concerns = |place, relation| self.of_object.entry(place).or_default().push((number, relation));
        for plural in plurals {
            concerns(place(&key.gvk.group, plural, namespace, &key.name), Relation::Itself);
            if question == AuditQuestion::ObjectDeleted {
                concerns(place(&key.gvk.group, plural, namespace, ""), Relation::Collection);
            }
        }
        if let (AuditQuestion::ObjectDeleted, Some(namespace)) = (&question, &key.namespace) {
            concerns(place("", "namespaces", "", namespace), Relation::Namespace);
        }
        let (users, deletions) = Default::default();
        self.asked.push(Asked { question, since, users, deletions, has_last_write: false });
        Some(number)
    }

    /// The second of the first write that an answer depends on, if one does.
    pub fn reach(&self) -> Option<i64> {
        let depends = |number: &usize| !self.answer(*number).is_empty();
        let asked = self.asked.iter().enumerate().filter(|(number, _)| depends(number));
        asked.filter_map(|(_, asked)| asked.since).min()
    }

    /// Takes an event into account.
    pub fn take(&mut self, event: &AuditEvent<'_>) {
        let object = &event.object;
        let own = place(object.group(), object.resource(), object.namespace(), object.name());
        for (number, relation) in self.of_object.get(&own).into_iter().flatten() {
            if let Some(asked) = self.asked.get_mut(*number) {
                asked.take(event, *relation);
            }
        }
    }

    /// The answer to the question with this number.
    pub fn answer(&self, number: usize) -> AuditAnswer {
        let Some(asked) = self.asked.get(number) else { return AuditAnswer::default() };
        match asked.question {
            // Without the last write, others than the users of the log may have done it.
            AuditQuestion::Written(_) if !asked.has_last_write => AuditAnswer::default(),
            AuditQuestion::Written(_) => AuditAnswer::of(asked.users.users()),
            AuditQuestion::FieldRemoved(_) => AuditAnswer::possible(asked.users.users()),
            AuditQuestion::ObjectDeleted => asked.deletions.answer(),
        }
    }
}

impl Asked {
    fn take(&mut self, event: &AuditEvent<'_>, relation: Relation) {
        if self.since.is_some_and(|since| event.done.as_second() < since) {
            return;
        }
        match &self.question {
            AuditQuestion::Written(entry) if entry.may_be_of(event) => {
                self.has_last_write |= entry.may_be_ended_by(event);
                self.users.add(event, None);
            }
            AuditQuestion::FieldRemoved(ours) if removes(event, ours) => self.users.add(event, Some(&event.verb)),
            AuditQuestion::ObjectDeleted => self.deletions.take(event, relation),
            AuditQuestion::Written(_) | AuditQuestion::FieldRemoved(_) => {}
        }
    }
}

impl ManagerEntry {
    /// Returns true if the write may have been recorded in the entry.
    fn may_be_of(&self, event: &AuditEvent<'_>) -> bool {
        let is_its_verb = match (self.operation, &*event.verb) {
            (_, "patch") => true,
            (operation, verb) => operation == Operation::Update && matches!(verb, "create" | "update"),
        };
        // A write that began after the second of the last one has changed nothing.
        let is_in_time = self.time.is_none_or(|time| event.received.as_second() <= time);
        is_its_verb && is_in_time && event.object.subresource() == self.subresource && event.manager() == self.manager
    }

    /// Returns true if the write may be the last one: the time of the entry is the second in which it was stored.
    fn may_be_ended_by(&self, event: &AuditEvent<'_>) -> bool {
        self.time.is_none_or(|time| (event.received.as_second()..=event.done.as_second()).contains(&time))
    }
}

/// Returns true if the write may have removed a field of an object that exists. Our own apply removes nothing that the manifest has.
fn removes(event: &AuditEvent<'_>, ours: &str) -> bool {
    let is_ours = &*event.verb == "patch" && event.manager() == ours;
    matches!(&*event.verb, "update" | "patch") && event.object.subresource().is_empty() && !is_ours
}

/// The object of a request, in relation to the object of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// It is the same.
    Itself,
    /// It is all objects of its resource in its namespace.
    Collection,
    /// It is its namespace, whose deletion deletes all objects in it.
    Namespace,
}

/// The users who may have deleted an object.
#[derive(Debug, Default)]
pub(super) struct Deletions {
    /// Those who deleted it by its name.
    by_name: UserList,
    /// Those who deleted its collection or its namespace.
    with_others: UserList,
    /// Those who changed it: an object with finalizers is gone only when somebody has removed them.
    changed: UserList,
    /// The time at which the server received the last creation.
    created: Option<Timestamp>,
}

impl Deletions {
    pub fn take(&mut self, event: &AuditEvent<'_>, relation: Relation) {
        let verb = &*event.verb;
        let is_whole = event.object.subresource().is_empty();
        match (relation, verb) {
            (Relation::Itself, "delete") if is_whole => self.by_name.add(event, Some(verb)),
            (Relation::Itself, "create") if event.is_eviction() => self.by_name.add(event, Some(verb)),
            (Relation::Namespace, "delete") | (Relation::Itself | Relation::Collection, "deletecollection")
                if is_whole =>
            {
                self.with_others.add(event, Some(verb));
            }
            (Relation::Itself, _) if is_whole && event.code == 201 => {
                self.created = self.created.max(Some(event.received));
            }
            (Relation::Itself, "update" | "patch") => self.changed.add(event, Some(verb)),
            _ => {}
        }
    }

    /// The user who deleted the object: the only one who did so by its name since it was created last, if nothing after that may have
    /// deleted it or shows that it still existed. Otherwise the users who may have.
    pub fn answer(&self) -> AuditAnswer {
        let by_name = self.by_name.since(self.created);
        let Some(deleted) = by_name.last_received() else {
            return AuditAnswer::possible(self.with_others.since(self.created).users());
        };
        let later = |list: &UserList| list.since(self.created.max(Some(deleted)));
        AuditAnswer::of(by_name.and(later(&self.with_others)).and(later(&self.changed)).users())
    }
}

/// An object as an audit log names it.
#[derive(Clone, Copy, Debug)]
pub struct AuditedObject<'a> {
    /// Its identity.
    pub key: &'a ObjectKey,
    /// The plural name of its resource, or those that it may have.
    pub plurals: &'a [String],
}

/// A question to an audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditQuestion {
    /// The users who wrote under the name of a manager.
    Written(ManagerEntry),
    /// The users who may have removed a field; the manager is our own, whose applies remove nothing that the manifest has.
    FieldRemoved(String),
    /// The users who deleted the object.
    ObjectDeleted,
}

/// An entry of `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerEntry {
    pub(super) manager: String,
    pub(super) operation: Operation,
    pub(super) subresource: String,
    /// The second of its last write; none for `scale`.
    pub(super) time: Option<i64>,
}

impl AuditQuestion {
    /// The question about the entry of an owner. Also returns the second of its last write, if it is recorded.
    pub fn written(owner: &Owner) -> (Self, Option<i64>) {
        let time = owner.time.as_deref().and_then(second);
        let Owner { manager, operation, subresource, .. } = owner;
        let entry =
            ManagerEntry { manager: manager.clone(), operation: *operation, subresource: subresource.clone(), time };
        (Self::Written(entry), time)
    }
}
