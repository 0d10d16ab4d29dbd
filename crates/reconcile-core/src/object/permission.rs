//! Permissions, as RBAC grants them. The writer of a role or a binding must hold the permissions that it grants, or the permission to
//! grant them. The rules of a Role or a `ClusterRole` are taken apart into single permissions, and folded again.

use std::collections::{BTreeMap, BTreeSet};
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
/// Most grants of a list of rules that are compared.
const MOST: usize = 50_000;
/// The fields of a rule (`k8s.io/api/rbac/v1`, `PolicyRule`).
const FIELDS: [&str; 5] = ["apiGroups", "nonResourceURLs", "resourceNames", "resources", "verbs"];
/// Verbs that let somebody get more permissions than they have (Kubernetes, "RBAC good practices").
const ESCALATING: [&str; 3] = ["bind", "escalate", "impersonate"];
/// Resources of the core group that give access to credentials or to running programs.
const SENSITIVE: [&str; 2] = ["pods/exec", "secrets"];

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
    /// `the user cannot patch resource "deployments.apps" in the namespace "shop"`
    pub fn denial(&self) -> String {
        let place = self.namespace.as_ref().map(|namespace| format!(" in the namespace \"{namespace}\""));
        let resource = self.qualified_resource();
        format!("the user cannot {} resource \"{resource}\"{}", self.verb, place.unwrap_or_default())
    }

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

/// The permission that a role or a binding needs in addition to the write: `escalate` on the role itself, or `bind` on the role that
/// a binding refers to (`k8s.io/kubernetes` `pkg/registry/rbac/escalation_check.go`). A user who holds all granted permissions needs
/// neither.
pub fn granting(key: &ObjectKey, object: &Value) -> Option<Permission> {
    if key.gvk.group != RBAC {
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
        group: RBAC.to_owned(),
        resource: resource.to_owned(),
        name: Some(name.to_owned()),
        verb: verb.to_owned(),
    })
}

/// A permission: a verb on a resource, or on a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant<'r> {
    /// The API group; `None` for a URL.
    pub group: Option<&'r str>,
    /// The resource, or the URL.
    pub resource: &'r str,
    /// The only object that it is for; `None` for all.
    pub name: Option<&'r str>,
    /// The verb.
    pub verb: &'r str,
}

/// The permissions that a list of rules grants; `None` if it is no such list, or grants too many to compare them.
pub fn grants(rules: &Value) -> Option<BTreeSet<Grant<'_>>> {
    let mut grants = BTreeSet::new();
    let mut room = MOST;
    for rule in rules.as_array()? {
        let fields = rule.as_object()?;
        if !fields.keys().all(|name| FIELDS.contains(&name.as_str())) {
            return None;
        }
        let texts = |name: &str| fields.get(name).map_or(Some(Vec::new()), texts);
        let groups = texts("apiGroups")?;
        let resources = texts("resources")?;
        let names = texts("resourceNames")?;
        let urls = texts("nonResourceURLs")?;
        let verbs = texts("verbs").filter(|verbs| !verbs.is_empty())?;
        let names: Vec<Option<&str>> =
            if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
        let parts = [groups.len(), resources.len(), names.len(), verbs.len()];
        let count =
            parts.into_iter().fold(1, usize::saturating_mul).saturating_add(urls.len().saturating_mul(verbs.len()));
        room = room.checked_sub(count)?;
        for verb in verbs {
            grants.extend(urls.iter().map(|url| Grant { group: None, resource: url, name: None, verb }));
            for group in &groups {
                for resource in &resources {
                    grants.extend(names.iter().map(|name| Grant { group: Some(group), resource, name: *name, verb }));
                }
            }
        }
    }
    Some(grants)
}

/// A list of texts; nothing is an empty list.
fn texts(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// The grants that each of the groups, resources, names and verbs have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grants<'r> {
    /// The resources, or the URLs.
    pub resources: BTreeSet<&'r str>,
    /// The API groups; empty for URLs.
    pub groups: BTreeSet<&'r str>,
    /// The only objects that they are for; empty for all.
    pub names: BTreeSet<&'r str>,
    /// The verbs.
    pub verbs: BTreeSet<&'r str>,
}

impl<'r> Grants<'r> {
    /// Folds grants: none is lost, and none is added. Those that widen permissions most come first.
    pub fn folded(grants: &BTreeSet<Grant<'r>>) -> Vec<Self> {
        let mut by_object: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for grant in grants {
            by_object.entry((grant.group, grant.resource, grant.name)).or_default().insert(grant.verb);
        }
        let mut by_resource: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for ((group, resource, name), verbs) in by_object {
            by_resource.entry((group, resource, name.is_some(), verbs)).or_default().extend(name);
        }
        let mut by_group: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for ((group, resource, _, verbs), names) in by_resource {
            by_group.entry((group, names, verbs)).or_default().insert(resource);
        }
        let mut folded: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for ((group, names, verbs), resources) in by_group {
            folded.entry((group.is_some(), resources, names, verbs)).or_default().extend(group);
        }
        let lines = folded.into_iter();
        let mut lines: Vec<Self> =
            lines.map(|((_, resources, names, verbs), groups)| Self { resources, groups, names, verbs }).collect();
        lines.sort_by_cached_key(|line| (line.dangers().is_empty(), line.groups.is_empty(), line.clone()));
        lines
    }

    /// The parts for which somebody should look twice: everything (`*`), verbs that escalate, and resources with credentials.
    pub fn dangers(&self) -> BTreeSet<&'r str> {
        let is_everything = |text: &&str| text.contains('*');
        let all = self.resources.iter().chain(&self.groups).chain(&self.verbs).copied();
        let mut dangers: BTreeSet<&str> = all.filter(is_everything).collect();
        dangers.extend(self.verbs.iter().filter(|verb| ESCALATING.contains(verb)));
        if self.groups.contains("") || self.groups.contains("*") {
            dangers.extend(self.resources.iter().filter(|resource| SENSITIVE.contains(resource)));
        }
        dangers
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

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

    fn shown(rules: &Value) -> Vec<String> {
        let lines = Grants::folded(&grants(rules).unwrap());
        let joined = |texts: &BTreeSet<&str>| texts.iter().copied().collect::<Vec<_>>().join(",");
        let line = |line: &Grants<'_>| {
            [&line.resources, &line.groups, &line.names, &line.verbs, &line.dangers()].map(joined).join(" | ")
        };
        lines.iter().map(line).collect()
    }

    #[test]
    fn rules_are_folded_by_resource() {
        let rules = json!([
            {"apiGroups": [""], "resources": ["services", "secrets"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["secrets", "services"], "verbs": ["list", "get"]},
            {"apiGroups": ["apps", "extensions"], "resources": ["deployments"], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["b", "a"], "verbs": ["get"]},
            {"nonResourceURLs": ["/healthz"], "verbs": ["get"]},
            {"apiGroups": ["example.com"], "resources": ["secrets"], "verbs": ["impersonate", "*"]},
            {"apiGroups": [], "resources": ["nothing"], "verbs": ["get"]},
        ]);
        let expected = [
            "secrets | example.com |  | *,impersonate | *,impersonate",
            "secrets,services |  |  | get,list | secrets",
            "configmaps |  | a,b | get | ",
            "deployments | apps,extensions |  | get | ",
            "/healthz |  |  | get | ",
        ];
        assert_eq!(shown(&rules), expected);
    }

    #[test]
    fn other_lists_are_no_rules_and_too_many_grants_are_none() {
        for other in [
            json!({}),
            json!([1]),
            json!([{"verbs": "get"}]),
            json!([{"verbs": ["get"], "host": "a"}]),
            json!([{"apiGroups": [""], "resources": ["a"]}]),
            json!([{"verbs": ["get", 1]}]),
        ] {
            assert_eq!(grants(&other), None, "{other}");
        }
        let many: Vec<String> = (0..1_000).map(|at| format!("r{at}")).collect();
        assert_eq!(
            grants(&json!([{"apiGroups": many, "resources": many, "resourceNames": many, "verbs": many}])),
            None
        );
    }

    fn any_rules() -> impl Strategy<Value = Value> {
        let some = |texts: &'static [&'static str]| proptest::sample::subsequence(texts, 0..=texts.len());
        let groups = some(&["", "apps", "*"]);
        let names = some(&["x", "y"]);
        let resources = some(&["pods", "secrets", "pods/exec", "*"]);
        let urls = some(&["/a", "/b"]);
        let verbs = proptest::sample::subsequence(&["get", "list", "*"], 1..=3);
        let rule = (groups, resources, names, urls, verbs).prop_map(|(groups, resources, names, urls, verbs)| {
            json!({"apiGroups": groups, "resources": resources, "resourceNames": names, "nonResourceURLs": urls, "verbs": verbs})
        });
        proptest::collection::vec(rule, 0..6).prop_map(Value::from)
    }

    /// All grants of folded ones.
    fn unfolded<'r>(lines: &[Grants<'r>]) -> Vec<Grant<'r>> {
        let mut all = Vec::new();
        for Grants { resources, groups, names, verbs } in lines {
            let or_none = |texts: &BTreeSet<&'r str>| -> Vec<Option<&'r str>> {
                if texts.is_empty() { vec![None] } else { texts.iter().copied().map(Some).collect() }
            };
            for (group, resource) in
                or_none(groups).iter().flat_map(|group| resources.iter().map(move |one| (group, one)))
            {
                for (name, verb) in or_none(names).iter().flat_map(|name| verbs.iter().map(move |verb| (name, verb))) {
                    all.push(Grant { group: *group, resource, name: *name, verb });
                }
            }
        }
        all
    }

    /// The grants of rules, rule by rule as the authorizer reads them (`pkg/registry/rbac/validation`, `RuleAllows`).
    fn is_granted(rules: &Value, grant: &Grant<'_>) -> bool {
        let has = |rule: &Value, field: &str, text: &str| {
            rule[field].as_array().unwrap().iter().any(|item| item.as_str() == Some(text))
        };
        rules.as_array().unwrap().iter().any(|rule| {
            let is_name = match grant.name {
                Some(name) => has(rule, "resourceNames", name),
                None => rule["resourceNames"].as_array().unwrap().is_empty(),
            };
            has(rule, "verbs", grant.verb)
                && match grant.group {
                    Some(group) => has(rule, "apiGroups", group) && has(rule, "resources", grant.resource) && is_name,
                    None => has(rule, "nonResourceURLs", grant.resource),
                }
        })
    }

    proptest! {
        #[test]
        fn the_folded_difference_is_exactly_the_difference(live in any_rules(), desired in any_rules()) {
            let old = grants(&live).unwrap();
            let new = grants(&desired).unwrap();
            for (from, to, (rules, others)) in [(&old, &new, (&desired, &live)), (&new, &old, (&live, &desired))] {
                let difference: BTreeSet<Grant<'_>> = to.difference(from).copied().collect();
                let shown = unfolded(&Grants::folded(&difference));
                let unique: BTreeSet<Grant<'_>> = shown.iter().copied().collect();
                prop_assert_eq!(unique.len(), shown.len(), "none is shown twice");
                prop_assert_eq!(&unique, &difference);
                prop_assert!(unique.iter().all(|grant| is_granted(rules, grant) && !is_granted(others, grant)));
                prop_assert!(from.iter().all(|grant| is_granted(others, grant)));
            }
        }
    }
}
