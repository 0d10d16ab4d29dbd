//! Objects that nothing explains: no manifest, no owner, no apply set, and not made by the cluster itself.

use std::collections::{BTreeSet, HashSet};

use apply_set::{GroupKind, ID, PART_OF};
use serde_json::Value;
use structured_merge::{GroupVersionKind, ObjectKey};

/// Kinds whose objects are created and deleted along with other objects.
const TRANSIENT: [(&str, &str); 8] = [
    ("", "Endpoints"),
    ("", "Event"),
    ("apps", "ControllerRevision"),
    ("coordination.k8s.io", "Lease"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("events.k8s.io", "Event"),
    ("metrics.k8s.io", "PodMetrics"),
    ("resource.k8s.io", "ResourceClaim"),
];

/// Objects that every namespace has.
const GENERATED: [(&str, &str); 3] =
    [("ConfigMap", "kube-root-ca.crt"), ("ConfigMap", "openshift-service-ca.crt"), ("ServiceAccount", "default")];

/// Returns true for a kind whose objects are never reported.
#[must_use]
pub fn is_transient(gvk: &GroupVersionKind) -> bool {
    TRANSIENT.contains(&(gvk.group.as_str(), gvk.kind.as_str()))
}

/// The objects that nothing explains, sorted. Each one is given with its kind in the server's preferred version; its metadata is
/// enough. An object that two groups serve is reported once.
#[must_use]
pub fn unexplained(found: &[(GroupVersionKind, Value)], wanted: &[&ObjectKey]) -> Vec<ObjectKey> {
    let identity = |key: &ObjectKey| (GroupKind::from(&key.gvk), key.namespace.clone(), key.name.clone());
    let wanted: HashSet<_> = wanted.iter().map(|key| identity(key)).collect();
    let claimants: BTreeSet<(&str, &str)> = stateful_sets(found).collect();
    let mut seen = HashSet::new();
    let mut unexplained: Vec<ObjectKey> = Vec::new();
    let explained_by_uid: HashSet<&str> = found
        .iter()
        .filter(|(gvk, object)| wanted.contains(&identity(&key_of(gvk, object))))
        .filter_map(|(_, object)| uid(object))
        .collect();
    for (gvk, object) in found {
        let key = key_of(gvk, object);
        let is_wanted =
            wanted.contains(&identity(&key)) || uid(object).is_some_and(|uid| explained_by_uid.contains(uid));
        let is_new = uid(object).is_none_or(|uid| seen.insert(uid.to_owned()));
        if !is_wanted && is_new && !is_explained(&key, object) && !is_claimed(&key, &claimants) {
            unexplained.push(key);
        }
    }
    unexplained.sort();
    unexplained
}

fn key_of(gvk: &GroupVersionKind, object: &Value) -> ObjectKey {
    let text = |name: &str| object.pointer(&format!("/metadata/{name}")).and_then(Value::as_str);
    ObjectKey {
        gvk: gvk.clone(),
        namespace: text("namespace").filter(|namespace| !namespace.is_empty()).map(ToOwned::to_owned),
        name: text("name").unwrap_or_default().to_owned(),
    }
}

fn uid(object: &Value) -> Option<&str> {
    object.pointer("/metadata/uid").and_then(Value::as_str)
}

/// Returns true for an object that belongs to another object, to an apply set or to Helm, or that every namespace has.
fn is_explained(key: &ObjectKey, object: &Value) -> bool {
    let metadata = object.get("metadata");
    let has = |part: &str, name: &str| metadata.and_then(|metadata| metadata.get(part)?.get(name)).is_some();
    let owners = metadata.and_then(|metadata| metadata.get("ownerReferences")).and_then(Value::as_array);
    let is_core = |kind: &str| key.gvk.group.is_empty() && key.gvk.kind == kind;
    is_transient(&key.gvk)
        || owners.is_some_and(|owners| !owners.is_empty())
        || has("labels", PART_OF)
        || has("labels", ID)
        || key.gvk.group.is_empty() && GENERATED.contains(&(key.gvk.kind.as_str(), key.name.as_str()))
        || is_core("Secret") && has("annotations", "kubernetes.io/service-account.name")
        || (is_core("Secret") || is_core("ConfigMap")) && key.name.starts_with("sh.helm.release.v1.")
        || is_core("Pod") && has("annotations", "kubernetes.io/config.mirror")
}

/// The namespaces and names of all stateful sets.
fn stateful_sets(found: &[(GroupVersionKind, Value)]) -> impl Iterator<Item = (&str, &str)> {
    let sets = found.iter().filter(|(gvk, _)| gvk.group == "apps" && gvk.kind == "StatefulSet");
    sets.filter_map(|(_, object)| {
        let text = |name: &str| object.pointer(&format!("/metadata/{name}")).and_then(Value::as_str);
        Some((text("namespace")?, text("name")?))
    })
}

/// Returns true for a claim that a stateful set made from a template: `TEMPLATE-SET-NUMBER`. Such claims have no owner by default.
fn is_claimed(key: &ObjectKey, sets: &BTreeSet<(&str, &str)>) -> bool {
    if !(key.gvk.group.is_empty() && key.gvk.kind == "PersistentVolumeClaim") {
        return false;
    }
    let Some((name, number)) = key.name.rsplit_once('-') else { return false };
    let is_number = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
    let namespace = key.namespace.as_deref().unwrap_or_default();
    is_number
        && name
            .match_indices('-')
            .any(|(at, _)| at > 0 && name.get(at + 1..).is_some_and(|set| sets.contains(&(namespace, set))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn unexplained_of(objects: &[(&str, &str, Value)], wanted: &[(&str, &str, &str)]) -> Vec<String> {
        let found: Vec<_> = objects
            .iter()
            .map(|(api_version, kind, metadata)| {
                (GroupVersionKind::new(api_version, kind), json!({"metadata": metadata}))
            })
            .collect();
        let wanted: Vec<ObjectKey> = wanted
            .iter()
            .map(|(api_version, kind, name)| ObjectKey {
                gvk: GroupVersionKind::new(api_version, kind),
                namespace: Some("shop".into()),
                name: (*name).to_owned(),
            })
            .collect();
        unexplained(&found, &wanted.iter().collect::<Vec<_>>()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_manifest_an_owner_or_a_set_explains_is_not_reported() {
        let named = |name: &str| json!({"namespace": "shop", "name": name});
        let with = |name: &str, part: &str, value: Value| {
            let mut metadata = named(name);
            metadata[part] = value;
            metadata
        };
        let objects = [
            ("v1", "ConfigMap", named("stray")),
            ("v1", "ConfigMap", named("wanted")),
            ("v1", "ConfigMap", named("kube-root-ca.crt")),
            ("v1", "ServiceAccount", named("default")),
            ("v1", "Secret", named("default")),
            ("v1", "Secret", with("token", "annotations", json!({"kubernetes.io/service-account.name": "default"}))),
            ("v1", "Secret", named("sh.helm.release.v1.shop.v3")),
            ("v1", "Pod", with("owned", "ownerReferences", json!([{"kind": "ReplicaSet", "name": "web"}]))),
            ("v1", "Pod", with("alone", "ownerReferences", json!([]))),
            ("v1", "Secret", with("member", "labels", json!({"applyset.kubernetes.io/part-of": "x"}))),
            ("v1", "Secret", with("parent", "labels", json!({"applyset.kubernetes.io/id": "x"}))),
            ("discovery.k8s.io/v1", "EndpointSlice", named("web-x")),
            ("apps/v1", "StatefulSet", named("redis")),
            ("v1", "PersistentVolumeClaim", named("data-redis-0")),
            ("v1", "PersistentVolumeClaim", named("data-redis-x")),
            ("v1", "PersistentVolumeClaim", named("data-mysql-0")),
            ("v1", "PersistentVolumeClaim", named("redis-0")),
        ];
        assert_eq!(
            unexplained_of(&objects, &[("v1", "ConfigMap", "wanted"), ("apps/v1beta1", "StatefulSet", "redis")]),
            [
                "ConfigMap shop/stray",
                "PersistentVolumeClaim shop/data-mysql-0",
                "PersistentVolumeClaim shop/data-redis-x",
                "PersistentVolumeClaim shop/redis-0",
                "Pod shop/alone",
                "Secret shop/default",
            ]
        );
    }

    #[test]
    fn an_object_that_two_groups_serve_is_one_object() {
        let twice = |name: &str, uid: &str| json!({"namespace": "shop", "name": name, "uid": uid});
        let objects = [
            ("a.example.com/v1", "Thing", twice("x", "1")),
            ("b.example.com/v1", "Thing", twice("x", "1")),
            ("a.example.com/v1", "Thing", twice("y", "2")),
            ("b.example.com/v1", "Thing", twice("y", "2")),
        ];
        assert_eq!(unexplained_of(&objects, &[("b.example.com/v1", "Thing", "x")]), ["Thing shop/y"]);
    }
}
