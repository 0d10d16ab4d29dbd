use std::collections::HashMap;

use jiff::Timestamp;
use structured_merge::{FieldPath, ObjectKey, Operation, PathElement};

use super::event::AuditEvent;
use super::user_list::UserList;
use crate::owners::{AuditAnswer, Owner, second};

/// Questions to an audit log, and the users that answer them so far.
#[derive(Debug, Default)]
pub struct AuditSearch {
    asked: Vec<Asked>,
    /// The questions that requests for an object of the log concern.
    of_object: HashMap<String, Vec<(usize, Relation)>>,
    /// True if a part of the log was not read.
    has_gaps: bool,
}

#[derive(Debug)]
struct Asked {
    question: AuditQuestion,
    since: FirstWrite,
    users: UserList,
    /// All others who wrote to the object: everybody who may do that may write another manager's name next to a field.
    others: UserList,
    /// Those who wrote under our own name. An apply of ours removes nothing that the manifest has.
    ours: UserList,
    deletions: Deletions,
    /// True if the last write of the entry is in the log.
    has_last_write: bool,
    /// True if our last apply is in the log.
    has_our_apply: bool,
}

/// The first write that counts for a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstWrite {
    /// Its second.
    pub second: Option<i64>,
    /// If that is the time of our last apply in `managedFields`, which others may change, the second in which the object was created. It counts
    /// unless the log has the apply.
    pub created: Option<i64>,
}

impl FirstWrite {
    /// The second that counts in any case.
    fn earliest(self) -> Option<i64> {
        self.created.or(self.second)
    }
}

/// The object of a request, as one text: a collection has no name.
fn place(group: &str, plural: &str, namespace: &str, name: &str) -> String {
    // The server names the namespace of a Namespace in some requests and not in others.
    let namespace = if group.is_empty() && plural == "namespaces" { "" } else { namespace };
    [group, plural, namespace, name].join("\0")
}

impl AuditSearch {
    /// Adds a question about an object. Writes before `since` do not count. Returns the number for its answer; none if the
    /// plural name of the object's resource is not known.
    pub fn ask(&mut self, object: AuditedObject<'_>, question: AuditQuestion, since: FirstWrite) -> Option<usize> {
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
        self.asked.push(Asked {
            question,
            since,
            users: UserList::default(),
            others: UserList::default(),
            ours: UserList::default(),
            deletions: Deletions::default(),
            has_last_write: false,
            has_our_apply: false,
        });
        Some(number)
    }

    /// Notes that a part of the log was not read: anybody may have written there.
    pub fn has_gaps(&mut self) {
        self.has_gaps = true;
    }

    /// The second of the first write that is asked about, if the time of one is known.
    pub fn reach(&self) -> Option<i64> {
        self.asked.iter().filter_map(|asked| asked.since.second).min()
    }

    /// Takes an event into account.
    pub fn take(&mut self, event: &AuditEvent<'_>) {
        let object = &event.object;
        let own = place(&object.api_group, &object.resource, &object.namespace, &object.name);
        for (number, relation) in self.of_object.get(&own).into_iter().flatten() {
            if let Some(asked) = self.asked.get_mut(*number) {
                asked.take(event, *relation);
            }
        }
    }

    /// The answer to the question with this number. One user is named for sure only if nobody else can have done it.
    pub fn answer(&self, number: usize) -> AuditAnswer {
        let Some(asked) = self.asked.get(number) else { return AuditAnswer::default() };
        let answer = match &asked.question {
            // Without the last write, others than the users of the log may have done it.
            AuditQuestion::Written(..) if !asked.has_last_write => return AuditAnswer::default(),
            AuditQuestion::Written(..) => AuditAnswer::of(asked.writers().users()),
            AuditQuestion::FieldRemoved(_) => return AuditAnswer::possible(asked.writers().users()),
            AuditQuestion::ObjectDeleted => asked.deletions.answer(),
        };
        if self.has_gaps { AuditAnswer::possible(answer.all().cloned().collect()) } else { answer }
    }
}

impl Asked {
    /// The second of the first write that counts, once the log was read.
    fn first(&self) -> Option<i64> {
        if self.has_our_apply { self.since.second } else { self.since.earliest() }
    }

    /// Those who wrote under the manager, and all others who wrote to the object in that time.
    fn writers(&self) -> UserList {
        let since = self.first().and_then(|second| Timestamp::from_second(second).ok());
        // If several write under our own name, one of them may be anybody.
        let ours = self.ours.since(since);
        let ours = if self.ours.is_one() { UserList::default() } else { ours };
        self.users.since(since).and(self.others.since(since)).and(ours)
    }

    fn take(&mut self, event: &AuditEvent<'_>, relation: Relation) {
        if self.since.earliest().is_some_and(|since| event.done.as_second() < since) {
            return;
        }
        let is_ours = |ours: &str| &*event.verb == "patch" && event.manager() == ours;
        if let AuditQuestion::Written(_, ours) | AuditQuestion::FieldRemoved(ours) = &self.question {
            let is_apply = |second: i64| is_ours(ours) && event.is_certain && happened_in(event, second);
            self.has_our_apply |= self.since.second.is_some_and(is_apply);
        }
        match &self.question {
            AuditQuestion::Written(entry, _) if event.is_certain && entry.may_be_of(event) => {
                self.has_last_write |= entry.may_be_ended_by(event);
                self.users.add(event, None);
            }
            AuditQuestion::Written(entry, ours) if entry.may_be_changed_by(event) => {
                let list = if is_ours(ours) { &mut self.ours } else { &mut self.others };
                list.add(event, None);
            }
            AuditQuestion::FieldRemoved(ours) if removes(event) => {
                let list = if is_ours(ours) { &mut self.ours } else { &mut self.users };
                list.add(event, Some(&event.verb));
            }
            AuditQuestion::ObjectDeleted => self.deletions.take(event, relation),
            AuditQuestion::Written(..) | AuditQuestion::FieldRemoved(_) => {}
        }
    }
}

/// Returns true if a request was under way in this second.
fn happened_in(event: &AuditEvent<'_>, second: i64) -> bool {
    (event.received.as_second()..=event.done.as_second()).contains(&second)
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
        is_its_verb && is_in_time && *event.object.subresource == *self.subresource && event.manager() == self.manager
    }

    /// Returns true if the write may be the last one: the time of the entry is the second in which it was stored.
    fn may_be_ended_by(&self, event: &AuditEvent<'_>) -> bool {
        self.time.is_none_or(|time| happened_in(event, time))
    }

    /// Returns true if the write may have changed the field, or its manager, in another way: everybody who writes an object may write its
    /// `managedFields`. A status that is written apart changes neither the other fields nor their values.
    fn may_be_changed_by(&self, event: &AuditEvent<'_>) -> bool {
        let is_apart = &*event.object.subresource == "status" && self.is_beside_status;
        matches!(&*event.verb, "create" | "update" | "patch") && !is_apart && !event.is_eviction()
    }
}

/// Returns true if the write may have removed a field of an object that exists.
fn removes(event: &AuditEvent<'_>) -> bool {
    matches!(&*event.verb, "update" | "patch") && event.object.subresource.is_empty()
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
        let is_whole = event.object.subresource.is_empty();
        match (relation, verb) {
            (Relation::Itself, _) if verb == "delete" && is_whole || event.is_eviction() => {
                let list = if event.is_certain { &mut self.by_name } else { &mut self.with_others };
                list.add(event, Some(verb));
            }
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
    /// The users who wrote under the name of a manager; the second name is that of our own manager.
    Written(ManagerEntry, String),
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
    /// True if the field is neither in the status nor in the metadata, which a write of the status may change.
    pub(super) is_beside_status: bool,
}

impl AuditQuestion {
    /// The question about the entry of an owner of a field; `ours` is the name of our own manager. Also returns the second of its last write,
    /// if it is recorded.
    pub fn written(owner: &Owner, path: &FieldPath, ours: &str) -> (Self, Option<i64>) {
        let time = owner.time.as_deref().and_then(second);
        let Owner { manager, operation, subresource, .. } = owner;
        let first = path.elements().first();
        let is_beside_status =
            matches!(first, Some(PathElement::Field(name)) if !matches!(&**name, "status" | "metadata"));
        let manager = manager.clone();
        let operation = *operation;
        let subresource = subresource.clone();
        let entry = ManagerEntry { manager, operation, subresource, time, is_beside_status };
        (Self::Written(entry, ours.to_owned()), time)
    }
}
