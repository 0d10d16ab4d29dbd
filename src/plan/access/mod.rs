//! What the API server has to allow for a command over some manifests.
//!
//! ```text
//! Target… ─permissions─▶ Permission… ─roles─▶ Role and ClusterRole
//! ```
//! The permissions are those of the requests that `live` and `engine` send. Discovery, the version and the OpenAPI documents are left
//! out: every authenticated user may read them (ClusterRole `system:discovery`).

mod permissions;
mod role;

pub use permissions::{Needs, Pruned, optional, permissions};
pub use role::{RoleFor, roles};

/// A command whose permissions are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// `diff`
    Diff,
    /// `apply`
    Apply,
}

impl Purpose {
    /// The name of the command.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Diff => "diff",
            Self::Apply => "apply",
        }
    }
}
