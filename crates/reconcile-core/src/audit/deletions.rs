use jiff::Timestamp;

use super::event::AuditEvent;
use super::user_list::UserList;
use crate::owners::AuditAnswer;

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
