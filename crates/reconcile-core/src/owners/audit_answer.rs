use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::user::User;

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

    /// The same with nothing but the names of the users.
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
