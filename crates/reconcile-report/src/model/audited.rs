//! The users of an audit log, in reports: the questions about the objects, and their answers.

use reconcile_core::audit::{AuditAnswer, AuditSearch, AuditedObject, ObjectTimes, Question, Reach};
use reconcile_core::compare::{Class, FieldChange, Owner};
use structured_merge::ObjectKey;

use super::object::ObjectReport;

/// Something in whose owners an audit log may name users.
pub trait Audited {
    /// Calls `visit` with everything that an audit log can say more about, in the same order each time.
    fn visit(&mut self, visit: &mut dyn FnMut(Finding<'_>));
    /// Its identity.
    fn key(&self) -> &ObjectKey;
    /// The times of the live object.
    fn times(&self) -> ObjectTimes;
}

/// A finding about which an audit log is asked.
pub enum Finding<'f> {
    /// An owner, and the first write that counts.
    Owner(&'f mut Owner, Reach),
    /// A change whose object or field may have been removed.
    Removal(&'f mut FieldChange),
}

/// The questions about the objects of a report, and the search for their answers.
#[derive(Debug, Default)]
pub struct AuditQuestions {
    /// The search, which has to see the log before the answers are filled in.
    pub search: AuditSearch,
    /// The numbers of the answers, in the order in which the objects are visited.
    numbers: Vec<Option<usize>>,
}

impl AuditQuestions {
    /// Asks about all objects. `plural` returns the plural name of an object's resource; objects without one are left out. `ours` is the
    /// name of our own manager.
    pub fn of<'p, A: Audited>(objects: &mut [A], plural: impl Fn(&ObjectKey) -> Option<&'p str>, ours: &str) -> Self {
        let mut questions = Self::default();
        for object in objects {
            let (key, times) = (object.key().clone(), object.times());
            let audited = plural(&key).map(|plural| AuditedObject { key: &key, plural });
            let mut asked: Vec<(Question, Option<i64>, usize)> = Vec::new();
            object.visit(&mut |finding| {
                let (question, since) = match finding {
                    Finding::Owner(owner, reach) => {
                        let (question, time) = Question::written(owner);
                        (question, times.since(reach, time))
                    }
                    Finding::Removal(change) if change.class == Class::Missing => (Question::ObjectDeleted, None),
                    Finding::Removal(_) => {
                        (Question::FieldRemoved(ours.to_owned()), times.since(Reach::LastApply, None))
                    }
                };
                let number = audited.map(|audited| {
                    let same = asked.iter().find(|(other, from, _)| (other, from) == (&question, &since));
                    if let Some((.., number)) = same {
                        return *number;
                    }
                    let number = questions.search.ask(audited, question.clone(), since);
                    asked.push((question, since, number));
                    number
                });
                questions.numbers.push(number);
            });
        }
        questions
    }

    /// Fills the answers in, for the same objects.
    pub fn answer<A: Audited>(self, objects: &mut [A]) {
        let Self { search, numbers } = self;
        let mut numbers = numbers.into_iter();
        for object in objects {
            object.visit(&mut |finding| {
                let answer = numbers.next().flatten().map(|number| search.answer(number));
                let answer = answer.filter(|answer: &AuditAnswer| !answer.is_empty());
                match finding {
                    Finding::Owner(owner, _) => {
                        let AuditAnswer { user, users } = answer.unwrap_or_default();
                        (owner.user, owner.users) = (user, users);
                    }
                    Finding::Removal(change) => change.removed_by = answer.map(Box::new),
                }
            });
        }
    }
}

/// The owners and the removals of one object. A field whose owner took it from us was ours at our last apply; one that is no longer or was
/// never in the manifest may be older.
impl Audited for ObjectReport {
    fn visit(&mut self, visit: &mut dyn FnMut(Finding<'_>)) {
        for change in &mut self.diff.changes {
            let is_taken = matches!(change.class, Class::ChangedByOther | Class::Conflict);
            let reach = if is_taken { Reach::LastApply } else { Reach::Creation };
            change.managers.iter_mut().for_each(|owner| visit(Finding::Owner(owner, reach)));
            if matches!(change.class, Class::Missing | Class::Absent) {
                visit(Finding::Removal(change));
            }
        }
        for conflict in &mut self.diff.conflicts {
            visit(Finding::Owner(&mut conflict.owner, Reach::LastApply));
        }
    }

    fn key(&self) -> &ObjectKey {
        &self.key
    }

    fn times(&self) -> ObjectTimes {
        self.details.times
    }
}
