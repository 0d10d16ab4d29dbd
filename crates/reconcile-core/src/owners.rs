//! The owners of fields: the field managers that the API records and, from an audit log, the users behind them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use structured_merge::{FieldPath, ManagedFieldsEntry, Operation};

/// Longest name of a field manager, in bytes (apimachinery `pkg/apis/meta/v1/validation`, `FieldManagerMaxLength`).
pub const MAX_MANAGER: usize = 128;

/// The owner of a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenOwner")]
pub struct Owner {
    /// The name of the field manager.
    pub manager: String,
    /// The operation that wrote the field.
    pub operation: Operation,
    /// The subresource that was written; empty for the object itself.
    pub subresource: String,
    /// The time of the write (RFC 3339), if the API records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// True for a manual change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub manual: bool,
    /// The users who wrote, or may have (`--audit-log`).
    #[serde(flatten)]
    pub users: AuditAnswer,
}

/// The owner of an entry, not marked as a manual change.
impl From<&ManagedFieldsEntry> for Owner {
    fn from(entry: &ManagedFieldsEntry) -> Self {
        Self {
            manager: entry.manager.clone(),
            operation: entry.operation,
            subresource: entry.subresource.clone(),
            time: entry.time.clone(),
            manual: false,
            users: AuditAnswer::default(),
        }
    }
}

impl Owner {
    /// Leaves out the times, and everything about users but their names.
    pub fn without_times(&self) -> Self {
        Self {
            time: None,
            users: self.users.named(),
            manager: self.manager.clone(),
            subresource: self.subresource.clone(),
            ..*self
        }
    }
}

/// An owner as reports write it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenOwner {
    manager: String,
    operation: Operation,
    subresource: String,
    time: Option<String>,
    #[serde(default)]
    manual: bool,
    user: Option<Box<User>>,
    #[serde(default)]
    users: Vec<User>,
}

impl From<WrittenOwner> for Owner {
    fn from(written: WrittenOwner) -> Self {
        let WrittenOwner { manager, operation, subresource, time, manual, user, users } = written;
        Self { manager, operation, subresource, time, manual, users: AuditAnswer { user, users } }
    }
}

/// Most users who may have done something that are kept: a log may have more.
pub const MOST_USERS: usize = 10;

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
    pub fn of(mut users: Vec<User>) -> Self {
        match (users.pop(), users.as_slice()) {
            (Some(only), []) => Self { user: Some(Box::new(only)), users },
            (last, _) => {
                users.extend(last);
                Self::possible(users)
            }
        }
    }

    /// The answer in which the users may have done it, even if it is one alone.
    pub fn possible(users: Vec<User>) -> Self {
        Self { user: None, users }
    }

    /// Returns true if the log names nobody.
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.users.is_empty()
    }

    /// Leaves out everything about the users but their names.
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
    /// The verb of the request, which is `create` for an eviction; in `removedBy` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verb: Option<String>,
}

impl User {
    /// Leaves out everything but the names.
    pub fn named(&self) -> Self {
        Self { name: self.name.clone(), impersonated_by: self.impersonated_by.clone(), ..Self::default() }
    }
}

/// A field whose owners change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// The field.
    pub path: FieldPath,
    /// The managers that lose it, each once; empty if the new owner only joins the present ones.
    pub from: Vec<String>,
    /// The manager that owns it afterwards.
    pub to: String,
    /// The owners that lose it, with the users behind them (`--audit-log`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<Owner>,
}

/// The times of a live object that bound the writes of others, in seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectTimes {
    created: Option<i64>,
    applied: Option<i64>,
}

/// The first write that may have made a field what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The creation of the object: nobody knows since when the field is as it is.
    Creation,
    /// Our own last apply, which made the field ours.
    LastApply,
}

impl ObjectTimes {
    /// The times of an object; `applied` is that of our own entry in `managedFields`.
    pub fn of(live: &Value, applied: Option<&str>) -> Self {
        let created = live.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
        Self { created: created.and_then(second), applied: applied.and_then(second) }
    }

    /// The second of the first write that counts for an entry with this time. An entry that is older than our last apply was
    /// written before it.
    pub fn since(self, reach: Reach, entry: Option<i64>) -> Option<i64> {
        let is_later = |applied: &i64| entry.is_none_or(|entry| entry >= *applied);
        let applied = self.applied.filter(|applied| reach == Reach::LastApply && is_later(applied));
        applied.or(self.created)
    }
}

/// The second of a time (RFC 3339), since 1970.
pub fn second(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_second)
}
