//! Objects of others, as many and as large as the server takes: they cost little, and stop nobody.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Fault, Proxy, Replaced, Workspace};
use crate::manifests::WEB;

/// Annotations of many bytes: some objects have short ones, which need much memory, and others one that is long and can be compressed
/// beyond measure.
fn annotations(number: usize) -> Value {
    if number % 10 >= 5 {
        return json!({"a": "x".repeat(250_000)});
    }
    (0..14_000).map(|number| (format!("a{number:05}"), json!(""))).collect()
}

fn autoscaler(number: usize) -> Value {
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": format!("crowd-{number}"), "annotations": annotations(number)},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": format!("crowd-{number}")}, "maxReplicas": 9},
    })
}

fn create(ws: &Workspace, collection: &str, objects: impl Iterator<Item = Value>) {
    let path = ws.fill_in(collection);
    objects.for_each(|object| drop(ws.plane().api().create(&path, &object)));
}

#[test]
fn autoscalers_of_others_cost_little() {
    let plane = ControlPlane::private();
    let [ws, other, third, fourth, tenant] = [(); 5].map(|()| Workspace::on(&plane));
    for namespace in [&ws, &other, &third, &fourth].map(Workspace::namespace) {
        let web = WEB.replaced("  name: web\n  labels", &format!("  name: web\n  namespace: {namespace}\n  labels"));
        ws.write(format!("{namespace}.yaml"), &web);
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    // Two that count, in a namespace of the manifests, beside a crowd elsewhere.
    let own = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: NAME}, \
               spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 9}}";
    for name in ["one", "two"] {
        other.apply_as("platform", &own.replaced("NAME", name));
    }
    other.scale("deployment/web", 7);
    let autoscalers = "/apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers";
    create(&tenant, autoscalers, (0..100).map(autoscaler));
    let compare = || {
        let (diff, memory) = ws.start_reconcile(["diff", "-f", "."]).finish_measured();
        assert_eq!(diff.code, 0, "{diff}");
        let left_alone = diff.report()["objects"].to_string().contains("HorizontalPodAutoscaler");
        assert!(left_alone, "{}", diff.report());
        assert!(memory < 200, "{memory} MiB");
    };
    compare();
    // The same crowd in a namespace of the manifests.
    create(&third, autoscalers, (0..100).map(autoscaler));
    compare();
}

fn config_map(number: usize, labels: &Value) -> Value {
    let name = format!("crowd-{number}");
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "annotations": annotations(number), "labels": labels}})
}

#[test]
fn unmanaged_objects_and_strange_members_cost_little() {
    let plane = ControlPlane::private();
    let ws = Workspace::on(&plane);
    let config_maps = "/api/v1/namespaces/$NS/configmaps";
    let apply = ["apply", "-f", ".", "--prune", "--applyset=set"];
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}");
    ws.write("gone.yaml", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: gone}}");
    ws.reconcile(apply).exits_with(0);
    let set = ws.get("ConfigMap", "it")["metadata"]["labels"].clone();
    create(&ws, config_maps, (0..100).map(|number| config_map(number, &json!({}))));
    let unmanaged = ["diff", "-f", ".", "--report-unmanaged"];
    let (diff, memory) = ws.start_reconcile(unmanaged).finish_measured();
    assert!(memory < 200, "{memory} MiB");
    assert_eq!(diff.report()["unmanaged"].as_array().map(Vec::len), Some(100), "{diff}");

    // More members of one kind than fit: none of that kind is deleted, and the others are.
    let data: Value = (0..30_000).map(|number| (format!("a{number:05}"), json!(""))).collect();
    let member = |number: usize| {
        let metadata = json!({"name": format!("crowd-{number}"), "labels": set});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    };
    create(&ws, config_maps, (100..170).map(member));
    std::fs::remove_file(ws.folder().join("gone.yaml")).unwrap();
    let (pruned, memory) = ws.start_reconcile(apply).finish_measured();
    assert_eq!(pruned.code, 4, "{pruned}");
    assert!(memory < 900, "{memory} MiB");
    let message = "members of kind `ConfigMap` in namespace `$NS` cannot be listed: the answer is larger than 256 MiB";
    assert!(pruned.stderr.contains(&ws.fill_in(message)), "{pruned}");
    assert!(ws.find("ServiceAccount", "gone").is_none(), "{pruned}");
    assert!(ws.find("ConfigMap", "crowd-100").is_some(), "{pruned}");
}

/// A stream of Pods without end, each with another name.
fn pods(ws: &Workspace, metadata: &Value, status: &Value) -> Fault {
    let namespace = ws.namespace().to_owned();
    let metadata = metadata.clone();
    let status = status.clone();
    Fault::Stream(Arc::new(move |number| {
        let mut metadata = metadata.clone();
        metadata["name"] = json!(format!("pod-{number}"));
        metadata["namespace"] = json!(namespace);
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": status});
        format!("{}\n", json!({"type": "ADDED", "object": pod})).into_bytes()
    }))
}

#[test]
fn a_flood_of_pods_stays_within_bounds_and_is_named() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let long = "x".repeat(20_000);
    let owned = json!([{"uid": "1", "controller": true, "apiVersion": "v1", "kind": "ReplicaSet", "name": "web"}]);
    let strange = json!({"app": "other"});
    let own = json!({"app": "web"});
    for (metadata, status, message) in [
        (
            json!({"labels": strange, "ownerReferences": owned, "annotations": {"a": long}}),
            json!({}),
            "its Pods cannot be read: the server sends objects that the label selector of the request excludes",
        ),
        (
            json!({"labels": own, "ownerReferences": owned}),
            json!({"message": annotations(0)}),
            "its Pods cannot be read: there are more of them than fit into 64 MiB",
        ),
        (json!({"labels": own, "annotations": {"a": long}}), json!({}), "0 of 2 replicas are created"),
    ] {
        // A busy machine takes a while to read as much.
        let is_named = [5, 25, 120].into_iter().any(|seconds| {
            let proxy = Proxy::new(&ws);
            proxy.inject(99, "GET", "/pods watch=true", pods(&ws, &metadata, &status));
            let timeout = format!("--timeout={seconds}s");
            let status = ["status", "-f", ".", "--wait", &timeout];
            let (run, memory) = ws.through(&proxy.url()).start_reconcile(status).finish_measured();
            assert_eq!(run.code, 5, "{run}");
            assert!(memory < 300, "{memory} MiB: {message}");
            run.object("Deployment", "web")["readiness"]["message"].as_str().is_some_and(|said| said.ends_with(message))
        });
        assert!(is_named, "{message}");
    }
}
