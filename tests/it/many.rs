//! Many objects: few requests, and the same verdicts.

use serde_json::json;

use crate::control_plane::Workspace;

/// A thousand objects of five kinds.
fn thousand() -> String {
    let mut manifests = String::new();
    for number in 0..200 {
        for manifest in [
            format!(
                "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}, data: {{number: '{number}'}}}}"
            ),
            format!("{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: m-{number}}}}}"),
            format!(
                "{{apiVersion: v1, kind: Service, metadata: {{name: m-{number}}}, spec: {{clusterIP: None, selector: {{app: m-{number}}}, ports: [{{port: 80}}]}}}}"
            ),
            format!(
                "{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: m-{number}}}, rules: [{{apiGroups: [''], resources: [pods], verbs: [get]}}]}}"
            ),
            format!(
                "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: m-{number}}}, spec: {{selector: {{matchLabels: {{app: m-{number}}}}}, template: {{metadata: {{labels: {{app: m-{number}}}}}, spec: {{containers: [{{name: a, image: 'a:1', resources: {{requests: {{cpu: 10m}}}}}}]}}}}}}}}"
            ),
        ] {
            manifests.push_str(&manifest);
            manifests.push_str("\n---\n");
        }
    }
    manifests
}

#[test]
fn a_thousand_objects_of_five_kinds_work() {
    let ws = Workspace::new();
    ws.write("all.yaml", &thousand());
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!((apply.each("outcome").len(), apply.writes()), (1000, 1000));
    assert!(apply.each("outcome").iter().all(|outcome| outcome.ends_with(": created")));

    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.report()["summary"]["inSync"], 1000);
    let requests = &diff.report()["requests"];
    assert_eq!((&requests["list"], &requests["get"]), (&json!(5), &json!(0)), "one page for each kind: {requests}");

    ws.scale("deployment/m-17", 4);
    ws.delete("role/m-40");
    ws.patch_as("kubectl-edit", "configmap/m-199", &json!({"data": {"number": "0"}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let drifted: Vec<_> = diff.each("action").into_iter().filter(|action| !action.ends_with(": none")).collect();
    // The replicas of a Deployment whose manifest leaves them out are nobody's drift.
    assert_eq!(drifted, ["ConfigMap m-199: update", "Role m-40: create"]);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.writes(), 2);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_few_objects_among_many_are_read_by_name() {
    let ws = Workspace::new();
    let many: Vec<_> =
        (0..30).map(|number| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}}}")).collect();
    ws.stdin(&many.join("\n---\n")).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.write("one.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: m-7}, data: {a: b}}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let requests = &diff.report()["requests"];
    assert_eq!((&requests["list"], &requests["get"]), (&json!(0), &json!(1)), "{requests}");
}
