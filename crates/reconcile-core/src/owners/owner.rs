use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use structured_merge::Operation;

use super::audit_answer::AuditAnswer;
use super::user::User;

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

impl Owner {
    /// The same without times, and with nothing but the names of users.
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
