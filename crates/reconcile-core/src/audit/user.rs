use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{AuditEvent, Identity, Text};
use crate::text::one_line;

/// Longest text about a user, in characters.
const TEXT: usize = 256;
/// Most groups, and most addresses, of a user.
const NAMED: usize = 10;

/// A user who wrote something: a person or a program, as the audit log names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct User {
    /// The name; with impersonation, that of the impersonated user.
    pub name: String,
    /// The first ten groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The first ten addresses: that of the client, and those of proxies.
    #[serde(default, rename = "sourceIPs", skip_serializing_if = "Vec::is_empty")]
    pub source_ips: Vec<String>,
    /// The program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    /// The id of the event in the log.
    #[serde(rename = "auditID")]
    pub audit_id: String,
    /// The time at which the server received the request (RFC 3339).
    pub time: String,
    /// The name of the user who impersonated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impersonated_by: Option<String>,
    /// The verb of the request; in `removedBy` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verb: Option<String>,
}

impl User {
    /// The user of an event.
    pub(super) fn of(event: &AuditEvent<'_>) -> Self {
        let own = |identity: &Identity<'_>| bounded(identity.username());
        let meant = event.impersonated_user.as_ref();
        let subject = meant.unwrap_or(&event.user);
        Self {
            name: own(subject),
            groups: some(subject.groups.as_deref()),
            source_ips: some(event.source_ips.as_deref()),
            user_agent: event.user_agent.as_deref().map(bounded).unwrap_or_default(),
            audit_id: bounded(&event.audit_id),
            time: event.received.to_string(),
            impersonated_by: meant.map(|_| own(&event.user)),
            verb: None,
        }
    }

    /// The same with nothing but the names.
    #[must_use]
    pub fn named(&self) -> Self {
        Self { name: self.name.clone(), impersonated_by: self.impersonated_by.clone(), ..Self::default() }
    }

    /// Returns true if both are the same user, whatever they did.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.impersonated_by) == (&other.name, &other.impersonated_by)
    }
}

fn some(texts: Option<&[Text<'_>]>) -> Vec<String> {
    texts.unwrap_or_default().iter().take(NAMED).map(|text| bounded(text)).collect()
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

/// The users that a log has for a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditAnswer {
    /// The user who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Box<User>>,
    /// The users who may have done it, the latest first; at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<User>,
}

impl AuditAnswer {
    /// The answer in which one user did it, and several may have.
    pub(super) fn of(mut users: Vec<User>) -> Self {
        match (users.pop(), users.as_slice()) {
            (Some(only), []) => Self { user: Some(Box::new(only)), users },
            (last, _) => {
                users.extend(last);
                Self::possible(users)
            }
        }
    }

    /// The answer in which the users may have done it, even if it is one alone.
    pub(super) fn possible(users: Vec<User>) -> Self {
        Self { user: None, users }
    }

    /// Returns true if the log names nobody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.users.is_empty()
    }

    /// The same with nothing but the names of the users.
    #[must_use]
    pub fn named(&self) -> Self {
        Self {
            user: self.user.as_deref().map(|user| Box::new(user.named())),
            users: self.users.iter().map(User::named).collect(),
        }
    }

    /// The users, of whom one did it.
    pub fn all(&self) -> impl Iterator<Item = &User> {
        self.user.as_deref().into_iter().chain(&self.users)
    }
}
