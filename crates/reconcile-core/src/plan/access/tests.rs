use std::collections::BTreeSet;

use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, ObjectKey};

use super::*;
use crate::live::Resource;
use crate::live::resolve::{Namespaces, resolve};
use crate::manifest::Input;
use crate::manifest::yaml::Validation;
use crate::manifest::{Hooks, ReadOptions, read};
use crate::object::Selector;

/// Manifests in a cluster that has these kinds.
fn targets(text: &str) -> Vec<Target> {
    let mut discovery = Discovery::default();
    let kinds = [
        ("v1", "ConfigMap", "configmaps", true),
        ("v1", "Secret", "secrets", true),
        ("v1", "Namespace", "namespaces", false),
        ("apps/v1", "Deployment", "deployments", true),
        ("rbac.authorization.k8s.io/v1", "Role", "roles", true),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", true),
    ];
    for (api_version, kind, plural, namespaced) in kinds {
        discovery.add(resource(api_version, kind, plural, namespaced));
    }
    let input = Input::new("input.yaml", text.as_bytes().to_vec());
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        hooks: Hooks::Include,
        allow_empty: true,
    };
    let manifests = read(&[input], &options).unwrap().manifests;
    resolve(manifests, &discovery, &Namespaces { required: None, default: "shop".to_owned() }).unwrap()
}

fn resource(api_version: &str, kind: &str, plural: &str, namespaced: bool) -> Resource {
    Resource {
        gvk: GroupVersionKind::new(api_version, kind),
        plural: plural.to_owned(),
        namespaced,
        verbs: ["get", "list", "watch", "create", "patch", "delete"].map(ToOwned::to_owned).into(),
        status: false,
        pending: false,
    }
}

const PLAIN: Needs = Needs {
    asks: true,
    replaces: false,
    by_name: false,
    waits: false,
    prunes: None,
    autoscalers: Vec::new(),
    unmanaged: (Vec::new(), BTreeSet::new()),
    stored: BTreeSet::new(),
    upgraded: BTreeSet::new(),
};

/// Returns true if a permission is one of those of a role.
fn holds(role: &RoleFor, permission: &Permission) -> bool {
    let contains = |texts: Option<&Vec<String>>, text| texts.is_some_and(|texts| texts.contains(text));
    role.namespace == permission.namespace
        && role.rules.iter().any(|rule| {
            let names = rule.resource_names.as_ref();
            contains(rule.api_groups.as_ref(), &permission.group)
                && contains(rule.resources.as_ref(), &permission.resource)
                && rule.verbs.contains(&permission.verb)
                && permission.name.as_ref().map_or(names.is_none(), |name| contains(names, name))
        })
}

/// The rules of each role, as `KIND NAMESPACE: RESOURCES.GROUP [NAMES] VERBS`.
fn rules(text: &str, purpose: Purpose, needs: &Needs) -> Vec<String> {
    let targets = targets(text);
    let targets: Vec<&Target> = targets.iter().collect();
    let access = Access::of(&targets, &BTreeSet::from([purpose]), needs, "it", &Discovery::default());
    access.roles.iter().flat_map(shown).collect()
}

fn shown(made: &RoleFor) -> Vec<String> {
    let texts = |value: &Value| {
        let texts: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        texts.join(",")
    };
    let manifest = serde_json::to_value(made).unwrap();
    let place = format!("{} {}", made.kind(), made.namespace.as_deref().unwrap_or("-"));
    let rule = |rule: &Value| {
        let group = texts(&rule["apiGroups"]);
        let names = texts(&rule["resourceNames"]);
        format!("{place}: {}.{group} [{names}] {}", texts(&rule["resources"]), texts(&rule["verbs"]))
    };
    manifest["rules"].as_array().unwrap().iter().map(rule).collect()
}

const SET: &str = "
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: Secret, metadata: {name: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: bank}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: bank}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}
";

#[test]
fn resources_with_the_same_verbs_share_a_rule() {
    assert_eq!(Purpose::listed(&[Purpose::Diff, Purpose::Apply, Purpose::Blame]), "diff, apply and blame");
    let same = [
        "ClusterRole -: namespaces. [] get,create,patch",
        "Role bank: configmaps. [] get,create,patch",
        "Role shop: configmaps,secrets. [] get,create,patch",
        "Role shop: deployments.apps [] get,create,patch",
    ];
    assert_eq!(rules(SET, Purpose::Apply, &PLAIN), same);
    assert_eq!(rules(SET, Purpose::Diff, &PLAIN), same);
    let reading = rules(SET, Purpose::Diff, &Needs { asks: false, ..PLAIN });
    assert!(reading.iter().all(|rule| rule.ends_with("] get")), "{reading:?}");
    let blaming = rules(SET, Purpose::Blame, &PLAIN);
    assert_eq!(blaming.len(), same.len());
    assert!(blaming.iter().all(|rule| rule.ends_with("] get")), "{blaming:?}");
    let applying = rules(SET, Purpose::Apply, &Needs { asks: false, ..PLAIN });
    assert_eq!(applying, same, "an apply always writes");
}

#[test]
fn many_objects_are_listed_unless_names_restrict_what_is_read() {
    let many: Vec<String> =
        (0..5).map(|number| format!("{{apiVersion: v1, kind: Secret, metadata: {{name: s{number}}}}}")).collect();
    let many = many.join("\n---\n");
    assert_eq!(rules(&many, Purpose::Diff, &PLAIN), ["Role shop: secrets. [] get,list,create,patch"]);
    assert_eq!(
        rules(&many, Purpose::Apply, &Needs { by_name: true, replaces: true, ..PLAIN }),
        ["Role shop: secrets. [] create", "Role shop: secrets. [s0,s1,s2,s3,s4] get,patch,delete"]
    );
}

#[test]
fn waiting_follows_what_reports_a_status_and_the_pods_behind_it() {
    let waiting = Needs { waits: true, ..PLAIN };
    let set = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}";
    assert_eq!(
        rules(set, Purpose::Apply, &waiting),
        [
            "Role shop: configmaps. [] get,list,create,patch",
            "Role shop: pods. [] list,watch",
            "Role shop: deployments.apps [] get,list,watch,create,patch",
            "Role shop: replicasets.apps [] list,watch",
        ]
    );
    assert_eq!(rules(set, Purpose::Diff, &waiting), rules(set, Purpose::Diff, &PLAIN), "nothing waits");
}

#[test]
fn roles_need_the_permission_to_grant_and_only_of_what_writes_them() {
    let set = "
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: look}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: look}, roleRef: {kind: ClusterRole, name: view}}";
    let group = "rbac.authorization.k8s.io";
    assert_eq!(
        rules(set, Purpose::Apply, &PLAIN),
        [
            format!("Role shop: clusterroles.{group} [view] bind"),
            format!("Role shop: rolebindings,roles.{group} [] get,create,patch"),
            format!("Role shop: roles.{group} [look] escalate"),
        ]
    );
    assert_eq!(
        rules(set, Purpose::Diff, &PLAIN),
        [format!("Role shop: rolebindings,roles.{group} [] get,create,patch")]
    );
}

#[test]
fn pruning_grants_nothing_for_what_only_the_parent_lists() {
    let pruned = Pruned {
        parent: resource("v1", "Secret", "secrets", true),
        namespace: Some("shop".to_owned()),
        name: "set".to_owned(),
        resources: vec![resource("apps/v1", "Deployment", "deployments", true)],
        namespaces: BTreeSet::from(["old".to_owned()]),
    };
    let needs = Needs { prunes: Some(pruned), ..PLAIN };
    let set = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
    assert_eq!(
        rules(set, Purpose::Apply, &needs),
        [
            "Role shop: configmaps. [] get,list,create,patch,delete",
            "Role shop: secrets. [] create",
            "Role shop: secrets. [set] get,patch",
        ]
    );
    assert_eq!(
        rules(set, Purpose::Diff, &needs),
        ["Role shop: configmaps. [] get,list,create,patch", "Role shop: secrets. [set] get"]
    );
    let targets = targets(set);
    let targets: Vec<&Target> = targets.iter().collect();
    let purposes = BTreeSet::from([Purpose::Apply, Purpose::Diff, Purpose::Blame]);
    let access = Access::of(&targets, &purposes, &needs, "it", &Discovery::default());
    let rules: Vec<String> = access.listed.iter().flat_map(shown).collect();
    assert_eq!(
        rules,
        [
            "Role old: configmaps. [] list",
            "Role old: deployments.apps [] list",
            "Role shop: deployments.apps [] list",
            "Role old: configmaps. [] get,list,delete",
            "Role old: deployments.apps [] get,list,delete",
            "Role shop: deployments.apps [] get,list,delete",
        ]
    );
    assert!(access.listed.iter().all(|role| role.name.starts_with("it-listed-")));
    for role in &access.listed {
        assert!(role.rules.iter().all(|rule| !access.roles.iter().any(|one| one.rules.contains(rule))), "{role:?}");
    }
}

#[test]
fn a_role_holds_what_it_was_made_of() {
    let targets = targets(SET);
    let targets: Vec<&Target> = targets.iter().collect();
    let needs = Needs { by_name: true, ..PLAIN };
    let purposes = BTreeSet::from([Purpose::Diff, Purpose::Apply]);
    let access = Access::of(&targets, &purposes, &needs, "it", &Discovery::default());
    for (permission, purposes) in &access.permissions {
        for purpose in purposes {
            let holders = access.roles.iter().filter(|role| role.purpose == *purpose && holds(role, permission));
            assert_eq!(holders.count(), 1, "{permission}");
        }
    }
    let other = Permission { verb: "delete".to_owned(), ..access.permissions.keys().next().unwrap().clone() };
    assert!(!access.roles.iter().any(|role| holds(role, &other)));
    let names: BTreeSet<&str> = access.roles.iter().map(|role| role.name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["it-apply", "it-diff"]));
}

#[test]
fn no_role_has_a_wildcard() {
    let plain = Permission {
        namespace: None,
        group: "example.com".to_owned(),
        resource: "widgets".to_owned(),
        name: None,
        verb: "get".to_owned(),
    };
    let all = || "*".to_owned();
    let wild = [
        Permission { group: all(), ..plain.clone() },
        Permission { resource: all(), ..plain.clone() },
        Permission { resource: "*/status".to_owned(), ..plain.clone() },
        Permission { verb: all(), ..plain.clone() },
    ];
    let permissions = wild.into_iter().chain([plain.clone()]).collect();
    let roles = roles(&permissions, Purpose::Apply, "it");
    assert_eq!(roles.len(), 1);
    assert!(holds(&roles[0], &plain) && roles[0].rules.len() == 1, "{roles:?}");
}

#[test]
fn granting_names_the_role() {
    let key = |kind: &str| ObjectKey {
        gvk: GroupVersionKind::new("rbac.authorization.k8s.io/v1", kind),
        namespace: None,
        name: "it".to_owned(),
    };
    let granting = |kind: &str, object: Value| crate::object::granting(&key(kind), &object).map(|one| one.to_string());
    let group = "rbac.authorization.k8s.io";
    assert_eq!(
        granting("ClusterRole", json!({})),
        Some(format!("`escalate` on `clusterroles.{group}` named `it` in the cluster"))
    );
    let role = json!({"roleRef": {"kind": "Role", "name": "view"}});
    assert_eq!(granting("RoleBinding", role), Some(format!("`bind` on `roles.{group}` named `view` in the cluster")));
    assert_eq!(granting("ClusterRoleBinding", json!({"roleRef": 3})), None);
}
