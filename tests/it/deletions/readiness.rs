//! `--wait`: nothing is deleted before everything that was applied is ready.

use serde_json::{Value, json};

use super::{config_map, exists, remove, run};
use crate::control_plane::{ControlPlane, Replaced, Workspace, wait_until};

/// A Deployment whose Pods mount a generated ConfigMap.
const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS}
spec:
  replicas: 2
  progressDeadlineSeconds: 600
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {}
      containers: [{name: web, image: 'shop/web:1', volumeMounts: [{name: settings, mountPath: /etc/web}]}]
      volumes: [{name: settings, configMap: {name: settings-1}}]
";

const WAIT: [&str; 2] = ["--wait", "--timeout=3s"];

/// A rollout to another ConfigMap that cannot end, as no node has the label.
fn stuck() -> Workspace {
    let ws = Workspace::on(&ControlPlane::full());
    ws.write("deploy/web.yaml", WEB);
    config_map(&ws, "settings-1", "$NS");
    run(&ws, "apply", &["--wait", "--timeout=60s"]).exits_with(0);
    remove(&ws, "settings-1");
    config_map(&ws, "settings-2", "$NS");
    next(&ws, "nodeSelector: {$NS: fast}");
    ws
}

fn next(ws: &Workspace, selector: &str) {
    let web = WEB.replaced("settings-1", "settings-2").replaced("nodeSelector: {}", selector);
    ws.write("deploy/web.yaml", &web);
}

fn is_there(ws: &Workspace, name: &str) -> bool {
    exists(ws, ws.namespace(), &format!("configmap/{name}"))
}

#[test]
fn a_rollout_that_is_stuck_keeps_what_its_pods_mount() {
    let ws = stuck();
    let apply = run(&ws, "apply", &WAIT).exits_with(5);
    assert!(is_there(&ws, "settings-1"), "{apply}");
    let left = apply.object("ConfigMap", "settings-1");
    let reason = ws.fill_in("not pruned: Deployment $NS/web is not ready");
    assert_eq!(
        (&left["outcome"], &left["reason"], &left["postponed"]),
        (&json!("skipped"), &json!(reason), &json!(true))
    );
    assert!(apply.stdout.contains(&reason), "{apply}");
    assert_eq!((&apply.report()["verdict"], &apply.report()["exitCode"]), (&json!("notReady"), &json!(5)));
    // The report says the same when it is read again.
    ws.write("report.json", &apply.report().to_string());
    ws.reconcile(["report", "merge", "report.json"]).exits_with(5);

    // Checked once, and not again without a change.
    run(&ws, "apply", &["--wait", "--timeout=0"]).exits_with(5);
    assert!(is_there(&ws, "settings-1"));
    next(&ws, "nodeSelector: {}");
    let apply = run(&ws, "apply", &["--wait", "--timeout=60s", "-o", "jsonl"]).exits_with(0);
    assert!(!is_there(&ws, "settings-1"));
    let events: Vec<Value> = apply.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let position = |event: &str, stage: &str| {
        events.iter().position(|line| line["event"] == event && (line["stage"] == stage || stage.is_empty())).unwrap()
    };
    assert!(position("ended", "apply") < position("began", "wait"));
    assert!(position("ended", "wait") < position("began", "prune"));
    assert!(position("began", "prune") < position("pruned", ""));
    let readiness = &events[position("readiness", "")];
    assert!(readiness["object"]["name"].is_string() && readiness["readiness"]["state"].is_string(), "{readiness}");
}

#[test]
fn an_object_that_is_not_ready_and_a_deletion_that_is_not_allowed_exit_with_4() {
    let ws = stuck();
    super::namespace(&ws, "$NS-other");
    config_map(&ws, "elsewhere", "$NS-other");
    run(&ws, "apply", &[]);
    remove(&ws, "elsewhere");
    let apply = run(&ws, "apply", &WAIT).exits_with(4);
    assert_eq!(apply.object("ConfigMap", "elsewhere")["deletion"], json!({"needs": ["other-namespaces"]}));
    assert!(is_there(&ws, "settings-1") || !apply.stdout.contains("deleted ConfigMap"), "{apply}");
    // Allowed, it still waits.
    let apply = run(&ws, "apply", &[&WAIT[..], &["--prune-allow=other-namespaces"]].concat()).exits_with(5);
    assert!(exists(&ws, &ws.fill_in("$NS-other"), "configmap/elsewhere"), "{apply}");
}

#[test]
fn a_run_that_ends_while_it_waits_is_finished_by_the_next() {
    for kill in [false, true] {
        let ws = stuck();
        let arguments = ["apply", "-f", "deploy", "--prune", "--applyset", "shop", "--wait", "--timeout=120s"];
        let mut apply = ws.as_user("admin").start_reconcile(arguments);
        wait_until("the rollout has begun", || {
            let web = ws.get("Deployment", "web");
            web["status"]["observedGeneration"] == web["metadata"]["generation"]
                && web["spec"]["template"]["spec"]["nodeSelector"].is_object()
        });
        if kill {
            apply.kill();
        } else {
            apply.interrupt();
            let apply = apply.finish().exits_with(130);
            assert_eq!(apply.object("ConfigMap", "settings-1")["reason"], "the run was interrupted");
        }
        assert!(is_there(&ws, "settings-1"));
        // Everything is applied, and the rollout comes to its end by itself.
        let nodes = ws.kubectl(["get", "nodes", "-o", "name"]).exits_with(0).stdout;
        let node = nodes.lines().next().unwrap();
        ws.kubectl(["label", node, "$NS=fast"]).exits_with(0);
        let next = run(&ws, "apply", &["--wait", "--timeout=60s"]);
        ws.kubectl(["label", node, "$NS-"]).exits_with(0);
        let next = next.exits_with(0);
        assert_eq!(next.object("Deployment", "web")["outcome"], "unchanged", "{next}");
        assert_eq!(next.object("ConfigMap", "settings-1")["outcome"], "deleted");
    }
}

#[test]
fn without_the_flag_nothing_is_waited_for() {
    let ws = stuck();
    let apply = run(&ws, "apply", &[]).exits_with(0);
    assert_eq!(apply.object("ConfigMap", "settings-1")["outcome"], "deleted");
}
