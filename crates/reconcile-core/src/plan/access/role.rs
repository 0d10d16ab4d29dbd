#![expect(clippy::indexing_slicing, reason = "the value was made with `json!` here: it is an object")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::purpose::Purpose;
use crate::object::Permission;

/// The order of verbs in a rule.
const VERBS: [&str; 8] = ["get", "list", "watch", "create", "patch", "delete", "bind", "escalate"];

/// A `Role` or a `ClusterRole` for one command.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleFor {
    /// The command.
    pub purpose: Purpose,
    /// The namespace; none for a `ClusterRole`.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// What it allows, in the order of its rules.
    pub rules: Vec<Rule>,
}

/// A rule: all of these verbs on all of these resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// The API group.
    pub group: String,
    /// The only objects that are meant, where not all are.
    pub names: BTreeSet<String>,
    /// The verbs, in the usual order.
    pub verbs: Vec<String>,
    /// The resources.
    pub resources: BTreeSet<String>,
}

/// One `Role` for each namespace, and one `ClusterRole` for what is cluster-scoped; `NAME-diff` and `NAME-apply`.
#[must_use]
pub fn roles(permissions: &BTreeSet<Permission>, purpose: Purpose, name: &str) -> Vec<RoleFor> {
    let mut places: BTreeMap<Option<&str>, Vec<&Permission>> = BTreeMap::new();
    for permission in permissions {
        places.entry(permission.namespace.as_deref()).or_default().push(permission);
    }
    let role = |(namespace, permissions): (Option<&str>, Vec<&Permission>)| RoleFor {
        purpose,
        namespace: namespace.map(ToOwned::to_owned),
        name: format!("{name}-{}", purpose.name()),
        rules: rules(&permissions),
    };
    places.into_iter().map(role).collect()
}

/// What is the same in all that a rule allows, but for its resources or its names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Common<'p, T> {
    group: &'p str,
    of: T,
    verbs: Vec<&'p str>,
}

/// As few rules as say it: resources with the same verbs share one, and so do the names of one resource.
fn rules(permissions: &[&Permission]) -> Vec<Rule> {
    let mut verbs: BTreeMap<(&str, &str, Option<&str>), BTreeSet<&str>> = BTreeMap::new();
    for Permission { group, resource, name, verb, .. } in permissions {
        verbs.entry((group, resource, name.as_deref())).or_default().insert(verb);
    }
    let mut by_name: BTreeMap<Common<'_, Option<&str>>, BTreeSet<&str>> = BTreeMap::new();
    for ((group, resource, name), verbs) in verbs {
        by_name.entry(Common { group, of: name, verbs: sorted(verbs) }).or_default().insert(resource);
    }
    let mut by_resources: BTreeMap<Common<'_, (BTreeSet<&str>, bool)>, BTreeSet<&str>> = BTreeMap::new();
    for (Common { group, of: name, verbs }, resources) in by_name {
        by_resources.entry(Common { group, of: (resources, name.is_some()), verbs }).or_default().extend(name);
    }
    let owned = |texts: BTreeSet<&str>| texts.into_iter().map(ToOwned::to_owned).collect();
    let rules = by_resources.into_iter().map(|(Common { group, of: (resources, _), verbs }, names)| Rule {
        group: group.to_owned(),
        names: names.into_iter().map(ToOwned::to_owned).collect(),
        verbs: verbs.into_iter().map(ToOwned::to_owned).collect(),
        resources: owned(resources),
    });
    rules.collect()
}

fn sorted(verbs: BTreeSet<&str>) -> Vec<&str> {
    let mut verbs: Vec<&str> = verbs.into_iter().collect();
    verbs.sort_by_key(|verb| VERBS.iter().position(|known| known == verb));
    verbs
}

impl RoleFor {
    /// `Role` or `ClusterRole`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.namespace.is_some() { "Role" } else { "ClusterRole" }
    }

    /// The object, ready to be applied.
    #[must_use]
    pub fn manifest(&self) -> Value {
        let rule = |Rule { group, names, verbs, resources }: &Rule| {
            let mut rule = json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
            if !names.is_empty() {
                rule["resourceNames"] = json!(names);
            }
            rule
        };
        let mut metadata = json!({"name": self.name});
        if let Some(namespace) = &self.namespace {
            metadata["namespace"] = namespace.as_str().into();
        }
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": self.kind(),
            "metadata": metadata,
            "rules": self.rules.iter().map(rule).collect::<Vec<_>>(),
        })
    }

    /// Returns true if a permission is one of those of the role.
    #[must_use]
    pub fn holds(&self, permission: &Permission) -> bool {
        self.namespace == permission.namespace
            && self.rules.iter().any(|rule| {
                rule.group == permission.group
                    && rule.resources.contains(&permission.resource)
                    && rule.verbs.contains(&permission.verb)
                    && permission.name.as_ref().map_or(rule.names.is_empty(), |name| rule.names.contains(name))
            })
    }
}
