//! One pass brings the cluster to what the manifests say, and a second one has nothing to do.

use serde_json::json;

use crate::control_plane::{Request, Workspace};

const SHOP: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: banner}
data: {text: hello}
---
apiVersion: v1
kind: Secret
metadata: {name: account}
stringData: {password: swordfish-trombones}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1.2', resources: {limits: {cpu: 1000m, memory: 1024Mi}}}]}
";

#[test]
fn a_second_pass_sends_no_write() {
    let ws = Workspace::new();
    ws.secret("swordfish-trombones");
    ws.write("shop.yaml", SHOP);

    let empty = ws.all_resource_versions();
    let (diff, requests) = ws.requests_during(|| ws.reconcile(["diff", "-f", "."]));
    assert_eq!(diff.exits_with(1).report()["summary"]["create"], 4);
    assert!(!requests.iter().any(Request::is_write), "{requests:#?}");
    assert_eq!(ws.all_resource_versions(), empty);

    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "created");
    assert_eq!(apply.report()["requests"]["write"], 4);

    let applied = ws.all_resource_versions();
    let (again, requests) = ws.requests_during(|| {
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
        ws.reconcile(["apply", "-f", "."]).exits_with(0)
    });
    assert_eq!(again.report()["requests"]["write"], 0);
    assert_eq!(again.report()["summary"]["inSync"], 4);
    assert!(!requests.iter().any(Request::is_write), "{requests:#?}");
    assert_eq!(ws.all_resource_versions(), applied);
}

#[test]
fn requests_are_counted_as_the_api_server_counts_them() {
    let ws = Workspace::new();
    ws.write("shop.yaml", SHOP);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 3);
    for command in ["diff", "apply"] {
        let (run, requests) = ws.requests_during(|| ws.reconcile([command, "-f", "."]));
        let count = |counted: &dyn Fn(&Request) -> bool| requests.iter().filter(|request| counted(request)).count();
        // The audit log says `get` for paths that are no objects, such as those of discovery.
        let is_object = |request: &Request| request.uri.contains(ws.namespace());
        let seen = json!({
            "get": count(&|request| request.verb == "get" && is_object(request)),
            "list": count(&|request| request.verb == "list"),
            "dryRun": count(&Request::is_dry_run),
            "write": count(&Request::is_write),
            "other": count(&|request| request.verb == "get" && !is_object(request)),
        });
        assert_eq!(run.report()["requests"], seen, "{command}: {requests:#?}");
    }
}
