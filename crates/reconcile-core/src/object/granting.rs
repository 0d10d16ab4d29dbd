//! Roles and bindings: who writes them must hold what they grant, or the permission to grant it.

use serde_json::Value;
use structured_merge::ObjectKey;

use super::permission::Permission;

const GROUP: &str = "rbac.authorization.k8s.io";

/// What the API server demands for a role or a binding beside the write: `escalate` on the very role, or `bind` on the role that a
/// binding refers to (`k8s.io/kubernetes` `pkg/registry/rbac/escalation_check.go`). Who holds all that is granted needs neither.
#[must_use]
pub fn granting(key: &ObjectKey, object: &Value) -> Option<Permission> {
    if key.gvk.group != GROUP {
        return None;
    }
    let (verb, resource, name) = match key.gvk.kind.as_str() {
        "Role" => ("escalate", "roles", key.name.as_str()),
        "ClusterRole" => ("escalate", "clusterroles", key.name.as_str()),
        "RoleBinding" | "ClusterRoleBinding" => {
            let referred = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
            let resource = if referred("/roleRef/kind") == Some("Role") { "roles" } else { "clusterroles" };
            ("bind", resource, referred("/roleRef/name")?)
        }
        _ => return None,
    };
    Some(Permission {
        namespace: key.namespace.clone(),
        group: GROUP.to_owned(),
        resource: resource.to_owned(),
        name: Some(name.to_owned()),
        verb: verb.to_owned(),
    })
}
