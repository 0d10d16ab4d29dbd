use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject as RbacSubject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Serialize, Serializer};
use structured_merge::GroupVersionKind;

use super::permissions::Purpose;
use crate::object::names::name_refused;
use crate::object::{Permission, RBAC, is_dns_label};
use crate::text::{is_hidden, one_line};

/// The order of verbs in a rule.
const VERBS: [&str; 8] = ["get", "list", "watch", "create", "patch", "delete", "bind", "escalate"];

/// A `Role` or a `ClusterRole` for one command. It is serialized as the object, ready to be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleFor {
    /// The command.
    pub purpose: Purpose,
    /// The namespace; none for a `ClusterRole`.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its rules, in order.
    pub rules: Vec<PolicyRule>,
}

/// One `Role` for each namespace, and one `ClusterRole` for cluster-scoped resources, named `NAME-diff` and `NAME-apply`. No rule has a
/// `*`, wherever a permission comes from.
pub fn roles(permissions: &BTreeSet<Permission>, purpose: Purpose, name: &str) -> Vec<RoleFor> {
    let mut scopes: BTreeMap<Option<&str>, Vec<&Permission>> = BTreeMap::new();
    for permission in permissions.iter().filter(|permission| !permission.is_wildcard()) {
        scopes.entry(permission.namespace.as_deref()).or_default().push(permission);
    }
    let role = |(namespace, permissions): (Option<&str>, Vec<&Permission>)| RoleFor {
        purpose,
        namespace: namespace.map(ToOwned::to_owned),
        name: format!("{name}-{}", purpose.name()),
        rules: rules(&permissions),
    };
    scopes.into_iter().map(role).collect()
}

/// The smallest set of rules: resources with the same verbs share a rule, and so do the names of one resource.
fn rules(permissions: &[&Permission]) -> Vec<PolicyRule> {
    let mut verbs: BTreeMap<(&str, &str, Option<&str>), BTreeSet<&str>> = BTreeMap::new();
    for Permission { group, resource, name, verb, .. } in permissions {
        verbs.entry((group, resource, name.as_deref())).or_default().insert(verb);
    }
    let mut by_name: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for ((group, resource, name), verbs) in verbs {
        by_name.entry((group, name, verbs_in_order(verbs))).or_default().insert(resource);
    }
    let mut by_resources: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for ((group, name, verbs), resources) in by_name {
        by_resources.entry((group, resources, name.is_some(), verbs)).or_default().extend(name);
    }
    let rules = by_resources.into_iter().map(|((group, resources, _, verbs), names)| PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resource_names: (!names.is_empty()).then(|| owned(names)),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        non_resource_urls: None,
    });
    rules.collect()
}

fn owned<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    texts.into_iter().map(ToOwned::to_owned).collect()
}

/// Verbs in the order in which rules have them.
pub fn verbs_in_order(verbs: BTreeSet<&str>) -> Vec<&str> {
    let mut verbs: Vec<&str> = verbs.into_iter().collect();
    verbs.sort_by_key(|verb| VERBS.iter().position(|known| known == verb));
    verbs
}

impl RoleFor {
    /// `Role` or `ClusterRole`.
    pub fn kind(&self) -> &'static str {
        if self.namespace.is_some() { "Role" } else { "ClusterRole" }
    }

    /// Returns true if a rule has this verb.
    pub fn has_verb(&self, verb: &str) -> bool {
        self.rules.iter().flat_map(|rule| &rule.verbs).any(|own| own == verb)
    }
}

impl Serialize for RoleFor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { namespace, name, rules, .. } = self;
        let metadata = ObjectMeta { name: Some(name.clone()), namespace: namespace.clone(), ..ObjectMeta::default() };
        let rules = Some(rules.clone());
        match namespace {
            Some(_) => Role { metadata, rules }.serialize(serializer),
            None => ClusterRole { metadata, rules, aggregation_rule: None }.serialize(serializer),
        }
    }
}

/// Somebody to whom roles are granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A user, by the name that the server authenticates.
    User(String),
    /// A group of users.
    Group(String),
    /// A service account.
    ServiceAccount {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
}

impl FromStr for Subject {
    type Err = String;

    /// Reads `User:NAME`, `Group:NAME` or `ServiceAccount:NAMESPACE/NAME`. Names of users and groups may be anything that the server
    /// authenticates (apiserver `rbac/validation`), except for characters that cannot be seen.
    fn from_str(text: &str) -> Result<Self, String> {
        let shown = || one_line(text, 100);
        let forms = "use `User:NAME`, `Group:NAME` or `ServiceAccount:NAMESPACE/NAME`";
        let Some((kind, name)) = text.split_once(':') else {
            return Err(format!("`{}` has no kind: {forms}", shown()));
        };
        if name.trim() != name || name.is_empty() || name.chars().any(is_hidden) {
            return Err(format!(
                "`{}` has an empty name, or one with spaces around it or with hidden characters",
                shown()
            ));
        }
        match kind {
            "User" => Ok(Self::User(name.to_owned())),
            "Group" => Ok(Self::Group(name.to_owned())),
            "ServiceAccount" => account(name)
                .ok_or_else(|| format!("`{}` is not a ServiceAccount: write `ServiceAccount:NAMESPACE/NAME`", shown())),
            _ => Err(format!("`{}` is not a kind of subject: {forms}", one_line(kind, 100))),
        }
    }
}

fn account(text: &str) -> Option<Subject> {
    let (namespace, name) = text.split_once('/')?;
    let fits = is_dns_label(namespace) && name_refused(&GroupVersionKind::new("v1", "ServiceAccount"), name).is_none();
    fits.then(|| Subject::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() })
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "User:{name}"),
            Self::Group(name) => write!(f, "Group:{name}"),
            Self::ServiceAccount { namespace, name } => write!(f, "ServiceAccount:{namespace}/{name}"),
        }
    }
}

impl From<&Subject> for RbacSubject {
    fn from(subject: &Subject) -> Self {
        let (kind, name, namespace) = match subject {
            Subject::User(name) => ("User", name, None),
            Subject::Group(name) => ("Group", name, None),
            Subject::ServiceAccount { namespace, name } => ("ServiceAccount", name, Some(namespace.clone())),
        };
        let api_group = namespace.is_none().then(|| RBAC.to_owned());
        Self { api_group, kind: kind.to_owned(), name: name.clone(), namespace }
    }
}

/// A `RoleBinding` or a `ClusterRoleBinding`, named like its role. It is serialized as the object, ready to be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct BindingFor {
    /// The kind and the name of the role, and the namespace of both.
    role: (&'static str, String, Option<String>),
    /// The subjects that get the role.
    subjects: Vec<Subject>,
}

impl BindingFor {
    /// The binding of a role to these subjects.
    pub fn of(role: &RoleFor, subjects: &[Subject]) -> Self {
        Self { role: (role.kind(), role.name.clone(), role.namespace.clone()), subjects: subjects.to_vec() }
    }
}

impl Serialize for BindingFor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, name, namespace) = &self.role;
        let metadata = ObjectMeta { name: Some(name.clone()), namespace: namespace.clone(), ..ObjectMeta::default() };
        let role_ref = RoleRef { api_group: RBAC.to_owned(), kind: (*kind).to_owned(), name: name.clone() };
        let subjects = Some(self.subjects.iter().map(RbacSubject::from).collect());
        match namespace {
            Some(_) => RoleBinding { metadata, role_ref, subjects }.serialize(serializer),
            None => ClusterRoleBinding { metadata, role_ref, subjects }.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_and_others_are_refused() {
        for text in [
            "User:ci",
            "User:system:serviceaccount:shop:ci",
            "User:Jane Doe",
            "Group:devs",
            "ServiceAccount:shop/ci.bot",
        ] {
            assert_eq!(text.parse::<Subject>().unwrap().to_string(), text);
        }
        for text in [
            "ci",
            "User:",
            "User: ci",
            "user:ci",
            "Group:a\nb",
            "User:\u{202e}ci",
            "ServiceAccount:ci",
            "ServiceAccount:/ci",
            "ServiceAccount:Shop/ci",
            "ServiceAccount:shop/Ci",
            "ServiceAccount:shop/a/b",
            "ServiceAccount:shop/",
        ] {
            let refused = text.parse::<Subject>().unwrap_err();
            assert!(!refused.contains(['\n', '\u{202e}']), "{refused}");
        }
    }
}
