use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule, Role};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Serialize, Serializer};

use super::purpose::Purpose;
use crate::object::Permission;

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

/// The key by which permissions are grouped to a rule: equal but for resources or names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RuleKey<'p, T> {
    group: &'p str,
    scope: T,
    verbs: Vec<&'p str>,
}

/// The smallest set of rules: resources with the same verbs share a rule, and so do the names of one resource.
fn rules(permissions: &[&Permission]) -> Vec<PolicyRule> {
    let mut verbs: BTreeMap<(&str, &str, Option<&str>), BTreeSet<&str>> = BTreeMap::new();
    for Permission { group, resource, name, verb, .. } in permissions {
        verbs.entry((group, resource, name.as_deref())).or_default().insert(verb);
    }
    let mut by_name: BTreeMap<RuleKey<'_, Option<&str>>, BTreeSet<&str>> = BTreeMap::new();
    for ((group, resource, name), verbs) in verbs {
        by_name.entry(RuleKey { group, scope: name, verbs: verbs_in_order(verbs) }).or_default().insert(resource);
    }
    let mut by_resources: BTreeMap<RuleKey<'_, (BTreeSet<&str>, bool)>, BTreeSet<&str>> = BTreeMap::new();
    for (RuleKey { group, scope: name, verbs }, resources) in by_name {
        by_resources.entry(RuleKey { group, scope: (resources, name.is_some()), verbs }).or_default().extend(name);
    }
    let rules = by_resources.into_iter().map(|(RuleKey { group, scope: (resources, _), verbs }, names)| PolicyRule {
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
