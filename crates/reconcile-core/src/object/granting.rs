//! Roles and bindings: their writer must hold the permissions that they grant, or the permission to grant them.

use serde_json::Value;
use structured_merge::ObjectKey;

use super::permission::Permission;

const GROUP: &str = "rbac.authorization.k8s.io";

/// The permission that a role or a binding needs in addition to the write: `escalate` on the role itself, or `bind` on the role that
/// a binding refers to (`k8s.io/kubernetes` `pkg/registry/rbac/escalation_check.go`). A user who holds all granted permissions needs
/// neither.
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
