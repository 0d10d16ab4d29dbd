use jiff::Timestamp;

use super::event::AuditEvent;
use super::user::User;

/// Most users of an answer.
const MOST: usize = 10;

/// The last users of a stream of events, each once with the latest event.
#[derive(Debug, Default)]
pub(super) struct UserList {
    latest: Vec<Latest>,
}

#[derive(Debug)]
struct Latest {
    received: Timestamp,
    /// The second at which the request was done.
    done: i64,
    user: User,
}

impl UserList {
    /// Adds the user of an event. Of more users than are kept, the one whose last event is the earliest is left out: it returns with a
    /// later event.
    pub fn add(&mut self, event: &AuditEvent<'_>, verb: Option<&str>) {
        let user = User { verb: verb.map(ToOwned::to_owned), ..User::of(event) };
        let one = Latest { received: event.received, done: event.done.as_second(), user };
        match self.latest.iter_mut().find(|known| known.user.is_same(&one.user)) {
            Some(known) if known.received < one.received => *known = one,
            Some(_) => return,
            None => self.latest.push(one),
        }
        self.latest.sort_by(|a, b| (b.received, &a.user).cmp(&(a.received, &b.user)));
        self.latest.truncate(MOST);
    }

    /// The users whose last event was done in this second or later, the latest first.
    pub fn since(&self, second: Option<i64>) -> Vec<User> {
        let counts = |one: &&Latest| second.is_none_or(|second| one.done >= second);
        self.latest.iter().filter(counts).map(|one| one.user.clone()).collect()
    }
}
