use super::*;
use serde_json::json;

type Object<'o> = (&'o str, &'o str, Value);

fn search(
    objects: &[Object<'_>],
    wanted: &[(&str, &str, &str)],
    set: Option<&str>,
    unreadable: &[NamedOwner],
) -> Unexplained {
    let found: Vec<_> = objects
        .iter()
        .map(|(api_version, kind, metadata)| {
            let token = metadata.pointer("/labels/token").map(|_| TOKEN_TYPE);
            let object = json!({"metadata": metadata, "spec": {"a": "b"}, "type": token});
            let kept = EXPLAINING_FIELDS.read(object.to_string().as_bytes()).unwrap();
            (GroupVersionKind::new(api_version, kind), kept)
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
    let wanted: Vec<&ObjectKey> = wanted.iter().collect();
    let unreadable = unreadable.iter().cloned().collect();
    unexplained(&found, &Explanations { wanted: &wanted, set, unreadable })
}

fn lines(unexplained: &Unexplained) -> Vec<String> {
    let claim = |claim: Option<FalseClaim>| claim.map(|claim| format!(" {claim:?}")).unwrap_or_default();
    unexplained.objects.iter().map(|object| format!("{}{}", object.key, claim(object.claim))).collect()
}

fn unexplained_of(objects: &[Object<'_>], wanted: &[(&str, &str, &str)]) -> Vec<String> {
    lines(&search(objects, wanted, None, &[]))
}

fn named(name: &str) -> Value {
    json!({"namespace": "shop", "name": name, "uid": format!("uid-of-{name}")})
}

fn with(name: &str, part: &str, value: Value) -> Value {
    let mut metadata = named(name);
    metadata[part] = value;
    metadata
}

fn owned(name: &str, (api_version, kind): (&str, &str), by: &str) -> Value {
    let uid = format!("uid-of-{by}");
    let owner = json!([{"apiVersion": api_version, "kind": kind, "name": by, "uid": uid, "controller": true}]);
    with(name, "ownerReferences", owner)
}

const DEPLOYMENT: (&str, &str) = ("apps/v1", "Deployment");
const REPLICA_SET: (&str, &str) = ("apps/v1", "ReplicaSet");

/// The parent of an apply set, and the id of the set.
fn parent(name: &str) -> (Value, String) {
    let gvk = GroupVersionKind::new("v1", "ConfigMap");
    let id = ApplySet::of(ObjectKey { gvk, namespace: Some("shop".into()), name: name.to_owned() }).id;
    let mut metadata = with(name, "labels", json!({ID: id}));
    metadata["annotations"] = json!({TOOLING: "kubectl/v1.36"});
    (metadata, id)
}

#[test]
fn what_a_manifest_explains_or_the_cluster_makes_is_not_reported() {
    let account = |name: &str| json!({"kubernetes.io/service-account.name": name});
    let token = |name: &str, of: &str| {
        let mut token = with(name, "annotations", account(of));
        token["labels"] = json!({"token": ""});
        token
    };
    let objects = [
        ("v1", "ConfigMap", named("stray")),
        ("v1", "ConfigMap", named("wanted")),
        ("v1", "ConfigMap", named("kube-root-ca.crt")),
        ("v1", "ServiceAccount", named("default")),
        ("v1", "Secret", with("default", "uid", json!("another"))),
        ("v1", "Secret", token("token", "default")),
        ("v1", "Secret", token("stale", "gone")),
        ("v1", "Secret", with("forged", "annotations", account("default"))),
        ("v1", "Secret", named("sh.helm.release.v1.shop.v3")),
        ("v1", "Pod", with("alone", "ownerReferences", json!([]))),
        ("discovery.k8s.io/v1", "EndpointSlice", named("web-x")),
        ("apps/v1", "StatefulSet", named("redis")),
        ("apps/v1", "StatefulSet", named("mongo")),
        ("apps/v1", "StatefulSet", named("other-redis")),
        ("v1", "PersistentVolumeClaim", named("data-other-redis-0")),
        ("v1", "PersistentVolumeClaim", named("data-redis-0")),
        ("v1", "PersistentVolumeClaim", named("data-redis-x")),
        ("v1", "PersistentVolumeClaim", named("data-mongo-0")),
        ("v1", "PersistentVolumeClaim", named("data-mysql-0")),
        ("v1", "PersistentVolumeClaim", named("redis-0")),
    ];
    assert_eq!(
        unexplained_of(&objects, &[("v1", "ConfigMap", "wanted"), ("apps/v1beta1", "StatefulSet", "redis")]),
        [
            "ConfigMap shop/stray",
            "PersistentVolumeClaim shop/data-mongo-0",
            "PersistentVolumeClaim shop/data-mysql-0",
            "PersistentVolumeClaim shop/data-redis-x",
            "PersistentVolumeClaim shop/redis-0",
            "Pod shop/alone",
            "Secret shop/default",
            "Secret shop/forged",
            "Secret shop/sh.helm.release.v1.shop.v3",
            "Secret shop/stale OwnerMissing",
            "StatefulSet shop/mongo",
            "StatefulSet shop/other-redis",
        ]
    );
}

#[test]
fn an_owner_explains_what_it_owns_if_it_exists_and_is_explained() {
    let mut far = owned("far", DEPLOYMENT, "web");
    far["namespace"] = json!("other");
    let objects = [
        ("apps/v1", "Deployment", named("web")),
        ("apps/v1", "ReplicaSet", owned("web-1", DEPLOYMENT, "web")),
        ("v1", "Pod", owned("web-1-a", REPLICA_SET, "web-1")),
        ("v1", "Pod", owned("forged", REPLICA_SET, "nothing")),
        ("v1", "Pod", far),
        ("apps/v1", "ReplicaSet", named("rogue")),
        ("v1", "Pod", owned("rogue-a", REPLICA_SET, "rogue")),
        ("example.com/v1", "Bird", owned("egg", ("example.com/v1", "Bird"), "hen")),
        ("example.com/v1", "Bird", owned("hen", ("example.com/v1", "Bird"), "egg")),
    ];
    let found = search(&objects, &[("apps/v1", "Deployment", "web")], None, &[]);
    assert_eq!(
        lines(&found),
        [
            "Pod other/far OwnerMissing",
            "Pod shop/forged OwnerMissing",
            "Pod shop/rogue-a OwnerUnmanaged",
            "ReplicaSet shop/rogue",
            "Bird shop/egg OwnerUnmanaged",
            "Bird shop/hen OwnerUnmanaged",
        ]
    );
    let missing: Vec<&str> = found.missing.iter().map(|owner| owner.name.as_str()).collect();
    assert_eq!(missing, ["web", "nothing"]);
}

/// Everybody can write any owner into an object.
#[test]
fn an_owner_explains_only_what_its_kind_makes() {
    let account = ("v1", "ServiceAccount");
    let mut follower = owned("follower", REPLICA_SET, "web-1");
    follower["ownerReferences"][0]["controller"] = json!(false);
    let mut claim = owned("claim", ("apps/v1", "StatefulSet"), "db");
    claim["ownerReferences"][0].as_object_mut().unwrap().remove("controller");
    let objects = [
        ("apps/v1", "Deployment", named("web")),
        ("apps/v1", "StatefulSet", named("db")),
        ("v1", "ConfigMap", named("settings")),
        ("v1", "ServiceAccount", named("default")),
        ("networking.k8s.io/v1", "Ingress", named("front")),
        ("example.com/v1", "Widget", named("widget")),
        ("apps/v1", "ReplicaSet", owned("web-1", DEPLOYMENT, "web")),
        // What controllers make.
        ("v1", "Pod", owned("web-1-a", REPLICA_SET, "web-1")),
        ("v1", "Pod", owned("db-0", ("apps/v1", "StatefulSet"), "db")),
        ("v1", "PersistentVolumeClaim", claim),
        ("cert-manager.io/v1", "Certificate", owned("front-tls", ("networking.k8s.io/v1", "Ingress"), "front")),
        ("v1", "Pod", owned("made", ("example.com/v1", "Widget"), "widget")),
        ("apps/v1", "Deployment", owned("too", ("example.com/v1", "Widget"), "widget")),
        // What they do not make.
        ("v1", "Pod", owned("of-map", ("v1", "ConfigMap"), "settings")),
        ("v1", "Pod", owned("of-account", account, "default")),
        ("v1", "Pod", owned("of-deployment", DEPLOYMENT, "web")),
        ("apps/v1", "Deployment", owned("second", DEPLOYMENT, "web")),
        ("v1", "ConfigMap", owned("map", DEPLOYMENT, "web")),
        ("v1", "Secret", owned("of-pod", ("v1", "Pod"), "web-1-a")),
        ("example.com/v1", "Widget", owned("gadget", ("v1", "Pod"), "web-1-a")),
        ("v1", "Pod", follower),
        // The kind that is named is another one than that of the object with the uid.
        ("v1", "Pod", owned("liar", REPLICA_SET, "settings")),
    ];
    let wanted = [
        ("apps/v1", "Deployment", "web"),
        ("apps/v1", "StatefulSet", "db"),
        ("v1", "ConfigMap", "settings"),
        ("networking.k8s.io/v1", "Ingress", "front"),
        ("example.com/v1", "Widget", "widget"),
    ];
    assert_eq!(
        unexplained_of(&objects, &wanted),
        [
            "ConfigMap shop/map OwnerOfOtherKind",
            "Pod shop/follower OwnerOfOtherKind",
            "Pod shop/liar OwnerMissing",
            "Pod shop/of-account OwnerOfOtherKind",
            "Pod shop/of-deployment OwnerOfOtherKind",
            "Pod shop/of-map OwnerOfOtherKind",
            "Secret shop/of-pod OwnerOfOtherKind",
            "Deployment shop/second OwnerOfOtherKind",
            "Widget shop/gadget OwnerOfOtherKind",
        ]
    );
}

#[test]
fn owners_in_no_namespace_and_owners_that_cannot_be_read_explain() {
    let node = json!({"name": "worker", "uid": "uid-of-worker"});
    let objects = [
        ("v1", "Node", node),
        ("v1", "Pod", owned("mirror", ("v1", "Node"), "worker")),
        ("v1", "Pod", owned("other", ("v1", "Node"), "hidden")),
    ];
    let found = search(&objects, &[], None, &[]);
    assert_eq!(lines(&found), ["Pod shop/other OwnerMissing"]);
    let unreadable: Vec<NamedOwner> = found.missing.into_iter().collect();
    assert_eq!(lines(&search(&objects, &[], None, &unreadable)), [""; 0]);
}

#[test]
fn the_label_of_an_apply_set_counts_if_the_set_has_a_parent() {
    let (set, id) = parent("set");
    let (renamed, _) = parent("set");
    let mut renamed = renamed;
    renamed["name"] = json!("renamed");
    renamed["uid"] = json!("another");
    let mut no_tool = parent("no-tool").0;
    no_tool["annotations"] = json!({});
    let member = |name: &str, id: &str| with(name, "labels", json!({"applyset.kubernetes.io/part-of": id}));
    let objects = [
        ("v1", "ConfigMap", set),
        ("v1", "ConfigMap", renamed),
        ("v1", "ConfigMap", no_tool),
        ("v1", "Pod", member("member", &id)),
        ("v1", "Pod", member("own", "applyset-own-v1")),
        ("v1", "Pod", member("forged", "x")),
        ("v1", "Pod", member("empty", "")),
    ];
    assert_eq!(
        lines(&search(&objects, &[], Some("applyset-own-v1"), &[])),
        ["ConfigMap shop/no-tool", "ConfigMap shop/renamed", "Pod shop/empty", "Pod shop/forged SetWithoutParent"]
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
