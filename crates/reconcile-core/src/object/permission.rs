//! Permissions, as RBAC grants them. The writer of a role or a binding must hold the permissions that it grants, or the permission to
//! grant them.

use std::fmt;

use serde_json::Value;
use structured_merge::ObjectKey;

/// The API group of RBAC. Its objects grant permissions.
pub const RBAC: &str = "rbac.authorization.k8s.io";

/// The resources of RBAC, by kind.
const RBAC_RESOURCES: [(&str, &str); 4] = [
    ("ClusterRole", "clusterroles"),
    ("ClusterRoleBinding", "clusterrolebindings"),
    ("Role", "roles"),
    ("RoleBinding", "rolebindings"),
];

/// Returns true if a resource in the group of RBAC is the one that has this kind.
pub fn is_rbac_resource(kind: &str, plural: &str) -> bool {
    RBAC_RESOURCES.contains(&(kind, plural))
}

/// A permission of RBAC: a verb on a resource, in a namespace or in the whole cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// The namespace; `None` for a cluster-scoped resource, or for all namespaces.
    pub namespace: Option<String>,
    /// The API group, empty for the core group.
    pub group: String,
    /// The resource, with its subresource if there is one: `deployments/scale`.
    pub resource: String,
    /// The only object that it is for; `None` for all.
    pub name: Option<String>,
    /// The verb, such as `patch`.
    pub verb: String,
}

/// The advice on a missing permission, before and after its name.
const ADVICE: [&str; 2] = ["the user needs ", ": `kubectl reconcile access` shows all that is needed"];

impl Permission {
    /// Advice on this permission, for a user who does not have it.
    pub fn advice(&self) -> String {
        let [start, end] = ADVICE;
        format!("{start}{self}{end}")
    }

    /// The permission that an advice names, as a verb, a resource and where: `get`, `configmaps` and ``in the namespace `shop` ``.
    pub fn advised_in(advice: &str) -> Option<(&str, &str, &str)> {
        let [start, end] = ADVICE;
        let (verb, rest) = advice.strip_prefix(start)?.strip_suffix(end)?.strip_prefix('`')?.split_once("` on `")?;
        let (resource, place) = rest.split_once("` ")?;
        Some((verb, resource, place))
    }

    /// Returns true if it is for everything: RBAC reads `*` as every group, resource or verb.
    pub fn is_wildcard(&self) -> bool {
        [&self.group, &self.resource, &self.verb].into_iter().any(|text| text.contains('*'))
    }

    /// The resource as kubectl names it: `deployments.apps`, or `deployments.apps/scale`.
    pub fn qualified_resource(&self) -> String {
        let (resource, subresource) = match self.resource.split_once('/') {
            Some((resource, subresource)) => (resource, format!("/{subresource}")),
            None => (self.resource.as_str(), String::new()),
        };
        if self.group.is_empty() {
            return self.resource.clone();
        }
        format!("{resource}.{}{subresource}", self.group)
    }

    /// Reads the permission that an authorizer of the API server refused from its message, which has one form for all authorizers
    /// (`apiserver/pkg/endpoints/handlers/responsewriters/errors.go`, `ForbiddenMessage`). The message of a webhook begins
    /// differently.
    pub fn refused_in(message: &str) -> Option<Self> {
        let (_, rest) = message.split_once(" is forbidden: User ")?;
        let rest = after_quoted(rest)?.strip_prefix(" cannot ")?;
        let (verb, rest) = rest.split_once(" resource \"")?;
        let (resource, rest) = rest.split_once("\" in API group \"")?;
        let (group, rest) = rest.split_once('"')?;
        let namespace = match rest.strip_prefix(" in the namespace \"") {
            Some(rest) => Some(rest.split_once('"')?.0.to_owned()),
            None if rest.starts_with(" at the cluster scope") => None,
            None => return None,
        };
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-./*:_".contains(&byte));
        let verb = verb.to_owned();
        let group = group.to_owned();
        let resource = resource.to_owned();
        let is_name = [&verb, &group, &resource].into_iter().chain(&namespace).all(|text| is_plain(text));
        is_name.then_some(Self { namespace, group, resource, name: None, verb })
    }
}

/// The rest after a text that Go has quoted (`%q`).
fn after_quoted(text: &str) -> Option<&str> {
    let mut characters = text.strip_prefix('"')?.chars();
    loop {
        match characters.next()? {
            '\\' => _ = characters.next(),
            '"' => return Some(characters.as_str()),
            _ => {}
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` on `{}`", self.verb, self.qualified_resource())?;
        if let Some(name) = &self.name {
            write!(f, " named `{name}`")?;
        }
        match &self.namespace {
            Some(namespace) => write!(f, " in the namespace `{namespace}`"),
            None => f.write_str(" in the cluster"),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> Option<String> {
        Permission::refused_in(message).map(|permission| permission.to_string())
    }

    #[test]
    fn a_refusal_of_the_authorizer_names_what_is_missing() {
        let said = |user: &str, rest: &str| format!("configmaps \"it\" is forbidden: User {user} cannot {rest}");
        for (rest, expected) in [
            (
                r#"get resource "configmaps" in API group "" in the namespace "shop""#,
                "`get` on `configmaps` in the namespace `shop`",
            ),
            (
                r#"patch resource "deployments/scale" in API group "apps" in the namespace "shop": RBAC: clusterrole not found"#,
                "`patch` on `deployments.apps/scale` in the namespace `shop`",
            ),
            (r#"list resource "nodes" in API group "" at the cluster scope"#, "`list` on `nodes` in the cluster"),
        ] {
            for user in [r#""jane""#, r#""a \" cannot get resource \"b\" \\""#] {
                assert_eq!(refused(&said(user, rest)).as_deref(), Some(expected), "{rest}");
            }
        }
    }

    #[test]
    fn the_advice_on_a_permission_names_it() {
        for (namespace, place) in [(Some("shop".to_owned()), "in the namespace `shop`"), (None, "in the cluster")] {
            let group = "apps".to_owned();
            let resource = "deployments/scale".to_owned();
            let permission = Permission { namespace, group, resource, name: None, verb: "get".to_owned() };
            assert_eq!(Permission::advised_in(&permission.advice()), Some(("get", "deployments.apps/scale", place)));
        }
        for other in ["", "the user needs `get` on `a`", "log in again", "the user needs : `kubectl reconcile access`"]
        {
            assert_eq!(Permission::advised_in(other), None, "{other}");
        }
    }

    #[test]
    fn what_others_say_is_no_refusal_of_the_authorizer() {
        for message in [
            r#"admission webhook "a.b" denied the request: User "jane" cannot get resource "x" in API group "" at the cluster scope"#,
            r#"pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"#,
            r#"pods "a" is forbidden: User "jane" cannot get path "/x""#,
            r#"pods "a" is forbidden: User "jane cannot get resource "x" in API group "" at the cluster scope"#,
            "pods \"a\" is forbidden: User \"jane\" cannot get resource \"x\u{1b}[2J\" in API group \"\" at the cluster scope",
            "",
        ] {
            assert_eq!(refused(message), None, "{message}");
        }
    }
}
