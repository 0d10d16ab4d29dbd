//! `--report-unmanaged` before real controllers, and before people who would like their objects to be overlooked.

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Run, Workspace, wait_until};

const SEARCH: [&str; 5] = ["diff", "-f", "shop.yaml", "--report-unmanaged", "-o"];

const WORKLOADS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: &template
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1'}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: 'shop/agent:1'}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: 'shop/db:1'}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec:
  schedule: '* * * * *'
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: report, image: 'shop/report:1'}]}}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Secret
metadata: {name: token, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
";

/// The unmanaged objects as `Kind name: claim`.
fn unmanaged(run: &Run) -> Vec<String> {
    let objects = run.report()["unmanaged"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line =
        |object: &Value| format!("{} {}: {}", text(&object["kind"]), text(&object["name"]), text(&object["claim"]));
    objects.iter().map(line).collect()
}

#[test]
fn nothing_that_controllers_make_is_reported() {
    let ws = Workspace::on(&ControlPlane::full());
    ws.write("shop.yaml", &WORKLOADS.replace(" &template", ""));
    ws.reconcile(["apply", "-f", "shop.yaml"]).exits_with(0);
    ws.kubectl(["create", "job", "now", "--from=cronjob/report"]).exits_with(0);
    // A Pod of the kubelet, which belongs to the node.
    let node =
        ws.kubectl(["get", "nodes", "-o", "jsonpath={.items[0].metadata.name} {.items[0].metadata.uid}"]).exits_with(0);
    let (node, uid) = node.stdout.split_once(' ').unwrap();
    let mirror = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "mirror", "namespace": ws.namespace(),
            "annotations": {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid, "controller": true}],
        },
        "spec": {"nodeName": node, "containers": [{"name": "it", "image": "shop/it:1"}]},
    });
    ws.apply_as("kubelet", &mirror.to_string());
    let namespace = ws.namespace().to_owned();
    let count = |kind: &str| {
        let list = ws.kubectl(["get", kind, "-n", &namespace, "-o", "name"]).exits_with(0);
        list.stdout.lines().count()
    };
    wait_until("the controllers have made their objects", || {
        count("pods") >= 5 && count("pvc") == 1 && count("endpointslices") == 1 && count("configmaps") == 1
    });
    let (run, requests) = ws.requests_during(|| ws.reconcile(SEARCH.iter().chain(&["json"])));
    // The Job was made by hand; its Pods belong to it.
    let expected = ["Job now: ", "Pod now-"];
    let found = unmanaged(&run);
    assert!(found.iter().all(|line| expected.iter().any(|known| line.starts_with(known))), "{found:#?}");
    assert!(!found.contains(&"Pod mirror: ".to_owned()));
    let reads: Vec<&str> =
        requests.iter().map(|request| request.uri.as_str()).filter(|uri| uri.contains("/nodes/")).collect();
    assert_eq!(reads.len(), 1, "the one owner that no list has: {reads:?}");
}

/// On a server without a garbage collector, which would delete some of them.
#[test]
fn no_label_owner_or_name_of_its_own_explains_an_object() {
    let ws = Workspace::new();
    ws.write("shop.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}");
    ws.reconcile(["apply", "-f", "shop.yaml"]).exits_with(0);
    let gated: Vec<&str> = SEARCH.iter().copied().chain(["json", "--fail-on=unmanagedObjects"]).collect();
    assert_eq!(unmanaged(&ws.reconcile(&gated).exits_with(0)), [""; 0]);
    let uid = |kind: &str, name: &str| ws.get(kind, name)["metadata"]["uid"].as_str().unwrap().to_owned();
    let create = |kind: &str, name: &str, metadata: &Value| {
        let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
        object["metadata"]["name"] = json!(name);
        object["metadata"]["namespace"] = json!(ws.namespace());
        ws.apply_as("tenant", &object.to_string());
    };
    let owner = |kind: &str, name: &str, uid: &str| json!({"ownerReferences": [{"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}]});
    create("ConfigMap", "owned", &owner("ConfigMap", "settings", &uid("ConfigMap", "settings")));
    let rogue = json!({
        "apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "it", "image": "it"}]},
        "metadata": {"name": "rogue", "namespace": ws.namespace(), "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "settings", "uid": uid("ConfigMap", "settings"), "controller": true},
        ]},
    });
    ws.apply_as("tenant", &rogue.to_string());
    create("ConfigMap", "member", &json!({"labels": {"applyset.kubernetes.io/part-of": "x"}}));
    create("ConfigMap", "parent", &json!({"labels": {"applyset.kubernetes.io/id": "x"}}));
    create("ConfigMap", "orphan", &owner("ConfigMap", "settings", "00000000-0000-0000-0000-000000000000"));
    create("ConfigMap", "noded", &owner("Node", "none", "00000000-0000-0000-0000-000000000000"));
    create("ConfigMap", "kindless", &owner("Nothing", "none", "00000000-0000-0000-0000-000000000000"));
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "name": "none", "uid": "1"});
    create("ConfigMap", "reviewed", &json!({"ownerReferences": [review]}));
    create("ConfigMap", "chained", &owner("ConfigMap", "orphan", &uid("ConfigMap", "orphan")));
    create("ConfigMap", "sh.helm.release.v1.shop.v1", &json!({}));
    create("Secret", "sh.helm.release.v1.shop.v2", &json!({}));
    create("ServiceAccount", "default", &json!({}));
    let account = |name: &str| json!({"annotations": {"kubernetes.io/service-account.name": name}});
    create("Secret", "forged", &account("default"));
    for (name, of) in [("token", "nobody"), ("genuine", "default")] {
        let mut token = json!({"apiVersion": "v1", "kind": "Secret", "metadata": account(of)});
        token["metadata"]["name"] = json!(name);
        token["metadata"]["namespace"] = json!(ws.namespace());
        token["type"] = json!("kubernetes.io/service-account-token");
        ws.apply_as("tenant", &token.to_string());
    }
    ws.kubectl(["create", "secret", "generic", "sh.helm.release.v1.shop.v3", "--type=helm.sh/release.v1"])
        .exits_with(0);
    let run = ws.reconcile(&gated).exits_with(1);
    assert_eq!(
        unmanaged(&run),
        [
            "ConfigMap chained: ownerUnmanaged",
            "ConfigMap kindless: ownerMissing",
            "ConfigMap member: setWithoutParent",
            "ConfigMap noded: ownerMissing",
            "ConfigMap orphan: ownerMissing",
            "ConfigMap owned: ownerOfOtherKind",
            "ConfigMap parent: ",
            "ConfigMap reviewed: ownerMissing",
            "ConfigMap sh.helm.release.v1.shop.v1: ",
            "Pod rogue: ownerOfOtherKind",
            "Secret forged: ",
            "Secret sh.helm.release.v1.shop.v2: ",
            "Secret token: ownerMissing",
        ]
    );
    let text = ws.reconcile(SEARCH.iter().chain(&["text"])).exits_with(0).stdout;
    for (name, why) in [
        ("ConfigMap $NS/member", "not in the manifests, and in an apply set without a parent"),
        ("ConfigMap $NS/orphan", "not in the manifests, and its owner does not exist"),
        ("ConfigMap $NS/chained", "not in the manifests, and its owner is unmanaged, too"),
        ("ConfigMap $NS/owned", "not in the manifests, and its owner makes no objects of its kind"),
        ("ConfigMap $NS/parent", "not in the manifests, not owned, and not in an apply set"),
    ] {
        let line = ws.fill_in(&format!("? {name}  {why}\n"));
        assert!(text.contains(&line), "{line}{text}");
    }
}

#[test]
fn a_set_of_kubectl_explains_its_members() {
    let ws = Workspace::new();
    ws.write("shop.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}");
    ws.write("other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}");
    ws.reconcile(["apply", "-f", "shop.yaml"]).exits_with(0);
    ws.env("KUBECTL_APPLYSET", "true")
        .kubectl(["apply", "-f", "other.yaml", "--prune", "--applyset=configmaps/theirs", "-n", "$NS"])
        .exits_with(0);
    let search = || unmanaged(&ws.reconcile(SEARCH.iter().chain(&["json"])).exits_with(0));
    assert_eq!(search(), [""; 0]);
    ws.delete("configmap/theirs");
    assert_eq!(search(), ["ConfigMap other: setWithoutParent"]);
    // A run over the set itself knows it, wherever its parent is.
    ws.reconcile(["apply", "-f", "shop.yaml", "--prune", "--applyset=own"]).exits_with(0);
    let keep = json!({"metadata": {"annotations": {"kubectl-reconcile/prune": "keep"}}});
    ws.patch_as("us", "configmap/settings", &keep);
    ws.write("shop.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}");
    let own = ws.reconcile(SEARCH.iter().chain(&["json", "--prune", "--applyset=own"]));
    assert_eq!(unmanaged(&own), ["ConfigMap other: setWithoutParent"], "{own}");
}

#[test]
fn an_owner_that_may_not_be_read_explains_with_a_warning() {
    let ws = Workspace::new();
    ws.write("shop.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}");
    ws.reconcile(["apply", "-f", "shop.yaml"]).exits_with(0);
    let reference = json!([{"apiVersion": "v1", "kind": "Node", "name": "worker", "uid": "1", "controller": true}]);
    let metadata = json!({
        "name": "noded", "namespace": ws.namespace(), "ownerReferences": reference,
        "annotations": {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file"},
    });
    let spec = json!({"nodeName": "worker", "containers": [{"name": "it", "image": "shop/it:1"}]});
    let mirror = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
    ws.apply_as("kubelet", &mirror.to_string());
    ws.allow("limited", "get,list,patch", "configmaps,pods");
    let run = ws.as_user("limited").reconcile(SEARCH.iter().chain(&["json"])).exits_with(0);
    assert_eq!(unmanaged(&run), [""; 0]);
    let warnings = run.report()["warnings"].to_string();
    let warning = "these owners could not be read, and the objects that name them count as owned: `Node worker`";
    assert!(warnings.contains(warning), "{warnings}");
}
