//! Input that the server or kubectl takes in another sense than its author: it is read as they read it, and its author is told.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};

fn warnings(run: &Run, kind: &str, name: &str) -> Vec<String> {
    let warnings = run.object(kind, name)["warnings"].as_array().unwrap();
    warnings.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

/// Nothing is left to do after an apply, and that is proven or known without a write.
#[track_caller]
fn settles(ws: &Workspace) {
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).report()["requests"]["write"], 0);
}

#[test]
fn keys_that_kubectl_turns_into_other_texts_are_named_as_they_are_written() {
    let ws = Workspace::new();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\ndata:\n  KEY: \"1\"\n";
    for (key, becomes) in [
        ("n", "false"),
        ("yes", "true"),
        ("on", "true"),
        ("OFF", "false"),
        ("True", "true"),
        ("0644", "420"),
        ("1.10", "1.1"),
        ("1_000", "1000"),
    ] {
        ws.write("it.yaml", &map.replaced("KEY", key));
        let strict = ws.reconcile(["diff", "-f", "."]).exits_with(2);
        let error = &strict.report()["errors"][0];
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{key}`")) && message.contains(&format!("`{becomes}`")), "{strict}");
        assert_eq!((&error["line"], &error["column"]), (&json!(5), &json!(3)), "{strict}");
        assert_eq!(error["hint"], format!("quote it to use its text: `\"{key}\"`"), "{strict}");
        // kubectl's own reading.
        let read = ws.kubectl(["create", "--dry-run=client", "-o", "json", "-f", "it.yaml"]).exits_with(0);
        assert!(read.stdout.contains(&format!("\"{becomes}\": \"1\"")), "{read}");
        let warned = ws.reconcile(["diff", "-f", ".", "--validate=warn"]).exits_with(1);
        assert!(warned.stderr.contains(&format!("warning: ./it.yaml:5:3: {message}")), "{warned}");
        let ignored = ws.reconcile(["diff", "-f", ".", "--validate=ignore"]).exits_with(1);
        assert!(!ignored.stderr.contains("becomes"), "{ignored}");
    }
    for key in ["true", "1", "'n'", "\"yes\"", "12.5", "no-such", "2001-01-01"] {
        ws.write("it.yaml", &map.replaced("KEY", key));
        ws.reconcile(["diff", "-f", "."]).exits_with(1);
    }
}

#[test]
fn an_empty_protocol_is_that_which_the_server_stores() {
    let ws = Workspace::new();
    let service = "
apiVersion: v1
kind: Service
metadata: {name: it}
spec:
  selector: {app: it}
  ports:
  - port: 80
    protocol: \"\"
";
    let deployment = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: it}
spec:
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}}
    spec: {containers: [{name: web, image: 'web:1', ports: [{containerPort: 80, protocol: ''}, {containerPort: 81, protocol: null}]}]}
";
    ws.write("it.yaml", &format!("{service}---{deployment}"));
    settles(&ws);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let expected = "./it.yaml:9: `spec.ports[0].protocol` is empty and read as `TCP`: write `TCP` or delete it";
    assert_eq!(warnings(&diff, "Service", "it"), [expected], "{diff}");
    assert_eq!(warnings(&diff, "Deployment", "it").len(), 2, "{diff}");
    // What the author meant stays comparable.
    ws.write("it.yaml", &format!("{}---{deployment}", service.replaced("port: 80", "port: 80\n    targetPort: 8080")));
    assert_eq!(ws.reconcile(["diff", "-f", "."]).exits_with(1).object("Service", "it")["action"], "update");
    settles(&ws);
}

#[test]
fn the_books_of_controllers_in_an_export_are_left_out() {
    let ws = Workspace::new();
    let deployment = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: it, annotations: {deployment.kubernetes.io/revision: '1', team: shop}}
spec:
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}}
    spec: {containers: [{name: web, image: 'web:1'}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: it, annotations: {pv.kubernetes.io/bind-completed: 'yes', pv.kubernetes.io/bound-by-controller: 'yes'}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";
    ws.write("it.yaml", deployment);
    settles(&ws);
    assert_eq!(ws.get("Deployment", "it")["metadata"]["annotations"], json!({"team": "shop"}));
    // As the controller does after a rollout.
    let revision = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "2"}}});
    ws.patch_as("kube-controller-manager", "deployment/it", &revision);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let found = warnings(&diff, "Deployment", "it");
    assert_eq!(found.len(), 1, "{diff}");
    assert!(found[0].ends_with("the annotation `deployment.kubernetes.io/revision`"), "{diff}");
    assert_eq!(warnings(&diff, "PersistentVolumeClaim", "it").len(), 1, "{diff}");
    ws.write("it.yaml", &deployment.replaced("web:1", "web:2"));
    settles(&ws);
    assert_eq!(ws.get("Deployment", "it")["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "2");
}
