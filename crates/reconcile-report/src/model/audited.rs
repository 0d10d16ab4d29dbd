//! The users of an audit log, in reports: the questions about the objects, and their answers.

use reconcile_core::audit::{AuditQuestion, AuditSearch, AuditedObject, FirstWrite};
use reconcile_core::compare::{Class, FieldChange};
use reconcile_core::owners::Transfer;
use reconcile_core::owners::{ObjectTimes, Owner, Reach};
use structured_merge::{FieldPath, ObjectKey};

use super::object::ObjectReport;

/// Something in whose owners an audit log may name users.
pub trait Audited {
    /// Calls `visit` with everything that an audit log can say more about, in the same order each time.
    fn visit(&mut self, visit: &mut dyn FnMut(AuditedItem<'_>));
    /// The identity of the live object.
    fn live_key(&self) -> ObjectKey;
    /// The times of the live object.
    fn times(&self) -> ObjectTimes;
}

/// A part of a report about which an audit log is asked.
pub enum AuditedItem<'f> {
    /// An owner of the field at a path, and the first write that counts.
    Owner(&'f mut Owner, &'f FieldPath, Reach),
    /// A change whose object or field may have been removed.
    Removal(&'f mut FieldChange),
}

/// The questions about the objects of a report: their numbers in the search, in the order in which the objects are visited.
#[derive(Debug)]
pub struct AuditQuestions {
    numbers: Vec<Option<usize>>,
}

impl AuditQuestions {
    /// Asks about all objects. `plurals` returns the plural names that an object's resource may have; objects without one are left out.
    /// `ours` is the name of our own manager. The search has to see the log before it can answer.
    pub fn of<'p, A: Audited>(
        objects: &mut [A],
        plurals: impl Fn(&ObjectKey) -> &'p [String],
        ours: &str,
    ) -> (Self, AuditSearch) {
        let mut search = AuditSearch::default();
        let mut numbers = Vec::new();
        for object in objects {
            let key = object.live_key();
            let times = object.times();
            let audited = AuditedObject { key: &key, plurals: plurals(&key) };
            let mut asked: Vec<(AuditQuestion, FirstWrite, usize)> = Vec::new();
            object.visit(&mut |item| {
                let (question, since) = question(&item, times, ours);
                let known = asked.iter().find(|(other, from, _)| (other, from) == (&question, &since));
                let known = known.map(|(.., number)| *number);
                let number = known.or_else(|| {
                    let number = search.ask(audited, question.clone(), since)?;
                    asked.push((question, since, number));
                    Some(number)
                });
                numbers.push(number);
            });
        }
        (Self { numbers }, search)
    }

    /// Fills the answers in, for the same objects.
    pub fn answer<A: Audited>(self, search: &AuditSearch, objects: &mut [A]) {
        let mut numbers = self.numbers.into_iter();
        for object in objects {
            object.visit(&mut |item| {
                let answer = numbers.next().flatten().map(|number| search.answer(number)).unwrap_or_default();
                match item {
                    AuditedItem::Owner(owner, ..) => owner.users = answer,
                    AuditedItem::Removal(change) => {
                        change.removed_by = Some(answer).filter(|answer| !answer.is_empty()).map(Box::new);
                    }
                }
            });
        }
    }
}

/// The question about an item, and the first write that counts.
fn question(item: &AuditedItem<'_>, times: ObjectTimes, ours: &str) -> (AuditQuestion, FirstWrite) {
    let (question, second) = match item {
        AuditedItem::Owner(owner, path, reach) => {
            let (question, time) = AuditQuestion::written(owner, path, ours);
            (question, times.since(*reach, time))
        }
        AuditedItem::Removal(change) if change.class == Class::Missing => (AuditQuestion::ObjectDeleted, None),
        AuditedItem::Removal(_) => (AuditQuestion::FieldRemoved(ours.to_owned()), times.since(Reach::LastApply, None)),
    };
    let created = times.since(Reach::Creation, None).filter(|created| second.is_some_and(|second| second != *created));
    (question, FirstWrite { second, created })
}

/// The owners and the removals of one object. A field whose owner took it from us was ours at our last apply; one that is no longer or was
/// never in the manifest may be older.
impl Audited for ObjectReport {
    fn visit(&mut self, visit: &mut dyn FnMut(AuditedItem<'_>)) {
        for change in &mut self.diff.changes {
            let is_taken = matches!(change.class, Class::ChangedByOther | Class::Conflict);
            let reach = if is_taken { Reach::LastApply } else { Reach::Creation };
            let FieldChange { managers, path, .. } = change;
            for owner in managers {
                visit(AuditedItem::Owner(owner, path, reach));
            }
            if matches!(change.class, Class::Missing | Class::Absent) {
                visit(AuditedItem::Removal(change));
            }
        }
        for conflict in &mut self.diff.conflicts {
            visit(AuditedItem::Owner(&mut conflict.owner, &conflict.path, Reach::LastApply));
        }
        // Somebody may have set a field beside its owner at any time.
        for Transfer { path, owners, .. } in self.diff.transfers.iter_mut().flatten() {
            for owner in owners {
                visit(AuditedItem::Owner(owner, path, Reach::Creation));
            }
        }
    }

    fn live_key(&self) -> ObjectKey {
        self.former().unwrap_or_else(|| self.key.clone())
    }

    fn times(&self) -> ObjectTimes {
        self.details.times
    }
}
