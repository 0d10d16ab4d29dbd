//! Many objects: few requests, and the same verdicts.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::control_plane::{Fault, Proxy, Run, Workspace};

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
fn the_server_is_asked_about_few_objects_among_many_at_the_same_time() {
    const DRIFTED: usize = 6;
    let ws = Workspace::new();
    let one = |at| format!("---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{at:03}}}, data: {{v: a}}}}\n");
    ws.write("all.yaml", &(0..600).map(one).collect::<String>());
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for at in (0..DRIFTED).map(|number| number * 100) {
        ws.patch_as("kubectl-edit", &format!("configmap/m-{at:03}"), &json!({"data": {"v": "b"}}));
    }

    // No dry run goes on before all of them are under way.
    let under_way = Arc::new((Mutex::new(0), Condvar::new()));
    let meet = {
        let under_way = Arc::clone(&under_way);
        move || {
            let (count, changed) = &*under_way;
            let mut count = count.lock().unwrap();
            *count += 1;
            changed.notify_all();
            let _ = changed.wait_timeout_while(count, Duration::from_secs(20), |count| *count < DRIFTED).unwrap();
        }
    };
    let proxy = Proxy::new(&ws);
    proxy.inject(DRIFTED, "PATCH", "dryRun", Fault::After(Arc::new(meet)));
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", ".", "--request-timeout=10s"]).exits_with(1);
    assert_eq!(diff.report()["summary"]["update"], DRIFTED, "{diff}");
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

/// A kind of its own: nobody else has objects of it in the cluster.
const LAMP: &str = "properties: {watts: {type: integer}, shade: {type: string}}";

/// One lamp in each of these namespaces, which exist. Their names differ, so that no selector finds them.
fn lamps(ws: &Workspace, count: usize) -> String {
    let name = |number: usize| ws.fill_in(&format!("$NS-{number}"));
    let namespaces =
        (0..count).map(|number| format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}", name(number)));
    ws.stdin(&namespaces.collect::<Vec<_>>().join("\n---\n")).kubectl(["create", "-f", "-"]).exits_with(0);
    let lamp = |number: usize| {
        format!(
            "{{apiVersion: $NS.example.com/v1, kind: Lamp, metadata: {{name: l-{number}, namespace: {}}}, spec: {{watts: 4}}}}",
            name(number)
        )
    };
    (0..count).map(lamp).collect::<Vec<_>>().join("\n---\n")
}

/// How many lists and reads by name were sent.
#[track_caller]
fn reads(run: &Run) -> (u64, u64) {
    let requests = &run.report()["requests"];
    (requests["list"].as_u64().unwrap(), requests["get"].as_u64().unwrap())
}

#[test]
fn many_namespaces_are_read_at_once_where_that_pays_and_is_allowed() {
    let ws = Workspace::new();
    ws.define("Lamp", LAMP);
    ws.write("lamps.yaml", &lamps(&ws, 12));
    ws.reconcile(["apply", "-f", "lamps.yaml"]).exits_with(0);
    let diff = || ws.reconcile(["diff", "-f", "lamps.yaml"]);
    let run = diff().exits_with(0);
    assert_eq!(reads(&run), (1, 0), "{run}");

    // One that is changed and one that is gone are found in the same list.
    let [changed, gone] = [3, 5].map(|number| ws.fill_in(&format!("$NS-{number}")));
    let lamp = |number: usize| ws.fill_in(&format!("lamps.$NS.example.com/l-{number}"));
    ws.kubectl(["patch", "-n", &changed, &lamp(3), "--type=merge", "-p", "{\"spec\": {\"watts\": 9}}"]).exits_with(0);
    ws.kubectl(["delete", "-n", &gone, &lamp(5)]).exits_with(0);
    let run = diff().exits_with(1);
    assert_eq!((reads(&run).0, &run.report()["summary"]["inSync"]), (1, &json!(10)), "{run}");
    assert_eq!((&run.report()["summary"]["create"], &run.report()["summary"]["update"]), (&json!(1), &json!(1)));
    ws.reconcile(["apply", "-f", "lamps.yaml"]).exits_with(0);

    // Others come first: reading on costs less than a GET for each lamp.
    let other = |number| {
        format!("{{apiVersion: $NS.example.com/v1, kind: Lamp, metadata: {{name: a-{number}, namespace: $NS-0}}}}")
    };
    ws.stdin(&(0..20).map(other).collect::<Vec<_>>().join("\n---\n")).kubectl(["create", "-f", "-"]).exits_with(0);
    let run = diff().exits_with(0);
    assert_eq!(reads(&run), (2, 0), "{run}");
}

#[test]
fn a_few_large_objects_of_others_are_not_read_along() {
    let ws = Workspace::new();
    ws.define("Lamp", LAMP);
    ws.write("lamps.yaml", &lamps(&ws, 10));
    ws.reconcile(["apply", "-f", "lamps.yaml"]).exits_with(0);
    // Text that can hardly be compressed: an answer that can is asked for again in smaller pages. There is so much of it that a GET for each
    // lamp costs less even where an answer takes long, as on a machine with much else to do.
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{:08x}", seed >> 32)
    };
    let shade: String = (0..120_000).map(|_| next()).collect();
    for number in 0..8 {
        let name = format!("a-{number}");
        let namespace = ws.fill_in("$NS-0");
        ws.stdin(&format!(
            "{{apiVersion: $NS.example.com/v1, kind: Lamp, metadata: {{name: {name}}}, spec: {{shade: {shade}}}}}"
        ))
        .kubectl(["create", "-n", &namespace, "-f", "-"])
        .exits_with(0);
    }
    let run = ws.reconcile(["diff", "-f", "lamps.yaml"]).exits_with(0);
    let (lists, gets) = reads(&run);
    assert!(lists == 1 && gets > 0, "{lists} lists, {gets} gets: {run}");
}

#[test]
fn where_only_namespaces_may_be_read_they_are_read_one_by_one() {
    let ws = Workspace::new();
    ws.define("Lamp", LAMP);
    let manifests = lamps(&ws, 10);
    ws.write("lamps.yaml", &manifests);
    ws.reconcile(["apply", "-f", "lamps.yaml"]).exits_with(0);
    for number in 0..10 {
        let namespace = ws.fill_in(&format!("$NS-{number}"));
        ws.kubectl([
            "create",
            "role",
            "lamps",
            "-n",
            &namespace,
            "--verb=get",
            &ws.fill_in("--resource=lamps.$NS.example.com"),
        ])
        .exits_with(0);
        let binding = ["create", "rolebinding", "lamps", "-n", &namespace, "--role=lamps", "--user=limited"];
        ws.kubectl(binding).exits_with(0);
    }
    let run = ws.as_user("limited").reconcile(["diff", "-f", "lamps.yaml", "--evidence=read-only"]).exits_with(0);
    assert_eq!((reads(&run), &run.report()["summary"]["inSync"]), ((1, 10), &json!(10)), "{run}");
}
