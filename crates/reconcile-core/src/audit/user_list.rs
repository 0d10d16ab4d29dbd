use jiff::Timestamp;
use ring::digest::{SHA256, digest};

use super::event::{AuditEvent, Identity, Text};
use crate::owners::{MOST_USERS, User};
use crate::text::one_line;

/// The last users of a stream of events, each once with the latest event.
#[derive(Clone, Debug, Default)]
pub(super) struct UserList {
    latest: Vec<Latest>,
}

#[derive(Clone, Debug)]
struct Latest {
    /// A hash of the names in the log: those that are shown are shortened and on one line.
    names: [u8; 32],
    received: Timestamp,
    /// The time at which the last request of the user was done.
    done: Timestamp,
    user: User,
}

impl UserList {
    /// Adds the user of an event. Of more users than are kept, the one whose last event is the earliest is left out: it returns with a
    /// later event.
    pub fn add(&mut self, event: &AuditEvent<'_>, verb: Option<&str>) {
        let names = hash_of_names(event);
        let received = event.received;
        let known = self.latest.iter_mut().find(|known| known.names == names);
        let mut done = event.done;
        if let Some(known) = known {
            done = done.max(known.done);
            known.done = done;
            if received <= known.received {
                return;
            }
            self.latest.retain(|known| known.names != names);
        }
        self.latest.push(Latest { names, received, done, user: shown_user(event, verb) });
        self.sort();
    }

    /// The users with a request that was done at this time or later.
    pub fn since(&self, time: Option<Timestamp>) -> Self {
        let counts = |one: &&Latest| time.is_none_or(|time| one.done >= time);
        Self { latest: self.latest.iter().filter(counts).cloned().collect() }
    }

    /// Adds the users of another list that are not in this one.
    pub fn and(mut self, other: Self) -> Self {
        let is_new = |one: &Latest| self.latest.iter().all(|known| known.names != one.names);
        let new: Vec<Latest> = other.latest.into_iter().filter(is_new).collect();
        let room = MOST_USERS.saturating_sub(self.latest.len());
        self.latest.extend(new.into_iter().take(room));
        self.sort();
        self
    }

    /// Returns true if it has at most one user.
    pub fn is_one(&self) -> bool {
        self.latest.len() <= 1
    }

    /// The time at which the server received the last event.
    pub fn last_received(&self) -> Option<Timestamp> {
        self.latest.first().map(|one| one.received)
    }

    /// The users, the latest first.
    pub fn users(&self) -> Vec<User> {
        self.latest.iter().map(|one| one.user.clone()).collect()
    }

    fn sort(&mut self) {
        self.latest.sort_by(|a, b| (b.received, &a.user, a.names).cmp(&(a.received, &b.user, b.names)));
        self.latest.truncate(MOST_USERS);
    }
}

/// The hash of the name of an event's user and, with impersonation, of the one who impersonated.
fn hash_of_names(event: &AuditEvent<'_>) -> [u8; 32] {
    let own = &*event.user.username;
    let meant = event.impersonated_user.as_ref().map(|user| &*user.username);
    // No user has a name with this byte: it separates the two.
    let text = [own, meant.unwrap_or_default(), if meant.is_some() { "impersonated" } else { "" }].join("\0");
    let mut names = [0; 32];
    names.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    names
}

/// Longest text about a user, in characters.
const TEXT: usize = 256;

/// The user of an event, as reports show it.
pub(super) fn shown_user(event: &AuditEvent<'_>, verb: Option<&str>) -> User {
    let own = |identity: &Identity<'_>| bounded(&identity.username);
    let meant = event.impersonated_user.as_ref();
    let subject = meant.unwrap_or(&event.user);
    User {
        name: own(subject),
        groups: all(&subject.groups),
        source_ips: all(&event.source_ips),
        user_agent: bounded(&event.user_agent),
        audit_id: bounded(&event.audit_id),
        time: event.received.to_string(),
        impersonated_by: meant.map(|_| own(&event.user)),
        verb: verb.map(ToOwned::to_owned),
    }
}

fn all(texts: &[Text<'_>]) -> Vec<String> {
    texts.iter().map(|text| bounded(text)).collect()
}

/// A text of the log: on one line, visible, and not too long.
fn bounded(text: &str) -> String {
    let shown = one_line(text, TEXT.saturating_sub(1));
    // Characters that are made visible are longer than they were.
    match shown.char_indices().nth(TEXT) {
        None => shown,
        Some(_) => shown.chars().take(TEXT.saturating_sub(1)).chain(['…']).collect(),
    }
}
