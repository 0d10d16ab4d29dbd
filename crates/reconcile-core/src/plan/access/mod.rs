//! The permissions that a command needs for some manifests.
//!
//! ```text
//! Target… ─permissions─▶ Permission… ─roles─▶ Role and ClusterRole
//! ```
//! They are the permissions of the requests that `live` and `engine` send. Discovery, the version and the OpenAPI documents are left
//! out: every authenticated user may read them (`system:discovery`).

mod permissions;
mod role;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::live::{Discovery, Target};
use crate::object::Permission;
pub use permissions::{Needs, Pruned, Purpose};
use permissions::{optional, permissions};
use role::roles;
pub use role::{BindingFor, RoleFor, Subject, verbs_in_order};

/// The permissions that some commands need.
#[derive(Debug, Default)]
pub struct Access {
    /// Roles for each command.
    pub roles: Vec<RoleFor>,
    /// The permissions, with the commands that need them.
    pub permissions: BTreeMap<Permission, Vec<Purpose>>,
    /// Permissions that are useful but not needed.
    pub optional: BTreeSet<Permission>,
}

impl Access {
    /// Computes the permissions of these commands for these targets. The names of the roles begin with `name`.
    pub fn of(
        targets: &[&Target],
        purposes: &BTreeSet<Purpose>,
        needs: &Needs,
        name: &str,
        discovery: &Discovery,
    ) -> Self {
        let mut access = Self::default();
        for purpose in purposes {
            let needed = permissions(targets, *purpose, needs);
            access.roles.extend(roles(&needed, *purpose, name));
            access.optional.extend(optional(discovery, *purpose));
            for permission in needed {
                access.permissions.entry(permission).or_default().push(*purpose);
            }
        }
        access
    }
}
