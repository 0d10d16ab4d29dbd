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
use permissions::{listed, optional, permissions};
use role::roles;
pub use role::{BindingFor, RoleFor, Subject, verbs_in_order};

/// The permissions that some commands need.
#[derive(Debug, Default)]
pub struct Access {
    /// Roles for each command.
    pub roles: Vec<RoleFor>,
    /// Roles that only the list of the apply set's parent asks for. Everybody who may write the parent may write its list, so that it gives
    /// nobody any rights.
    pub listed: Vec<RoleFor>,
    /// The permissions, with the commands that need them. Those that the list asks for are among them.
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
            let listed: BTreeSet<Permission> = listed(targets, *purpose, needs).difference(&needed).cloned().collect();
            access.listed.extend(roles(&listed, *purpose, &format!("{name}-listed")));
            access.optional.extend(optional(targets, *purpose, needs, discovery));
            for permission in needed.into_iter().chain(listed) {
                access.permissions.entry(permission).or_default().push(*purpose);
            }
        }
        access
    }
}
