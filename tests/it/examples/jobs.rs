//! `examples/indexed-job` and `examples/cronjob` on a cluster whose Job controller makes the Pods.

use std::fs;

use serde_json::{Value, json};

use super::example;
use super::pod::{Ended, Node};
use crate::control_plane::{ControlPlane, Replaced, Workspace, is_before, wait_until};
use crate::packaging::{Release, VERSION};

const NAMESPACE: &str = "kubectl-reconcile";

/// The Pods of a Job, once there are as many, by name.
fn pods(ws: &Workspace, job: &str, count: usize) -> Vec<Value> {
    let list = || {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=job-name%3D{job}");
        let list = ws.plane().api().find(&path).unwrap_or_default();
        list["items"].as_array().cloned().unwrap_or_default()
    };
    wait_until(&format!("the Pods of the Job {job}"), || list().len() == count);
    let mut pods = list();
    pods.sort_by_key(|pod| pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"].to_string());
    pods
}

/// Tells the API server how a container ended, as the kubelet does.
fn report(ws: &Workspace, pod: &Value, ended: &Ended) {
    let name = pod["metadata"]["name"].as_str().unwrap();
    let phase = if ended.code == 0 { "Succeeded" } else { "Failed" };
    let state = json!({"terminated": {"exitCode": ended.code, "reason": "Ended"}});
    let container = json!({"name": pod["spec"]["containers"][0]["name"], "image": "x", "imageID": "", "ready": false, "restartCount": 0, "state": state});
    let status = json!({"status": {"phase": phase, "containerStatuses": [container]}}).to_string();
    ws.kubectl(["patch", "pod", name, "-n", NAMESPACE, "--subresource=status", "--type=merge", "-p", &status])
        .exits_with(0);
}

fn apply(ws: &Workspace, file: &str) {
    let path = example(file).display().to_string();
    ws.kubectl(["apply", "-f", &path]).exits_with(0);
}

/// The roles in a file are those that `access` prints; `UPDATE_EXAMPLES=1` writes them.
fn roles_are_least(ws: &Workspace, file: &str, flags: &[&str]) {
    let manifests = example("indexed-job/manifests").display().to_string();
    let printed = ws.reconcile([&["access", "-f", &manifests], flags].concat()).exits_with(0).stdout;
    let path = example(file);
    let written = fs::read_to_string(&path).unwrap();
    let mark = "# What follows is printed by `kubectl reconcile access";
    let (head, tail) = written.split_once(mark).unwrap();
    let (line, roles) = tail.split_once('\n').unwrap();
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&path, format!("{head}{mark}{line}\n{printed}")).unwrap();
    } else {
        assert_eq!(roles, printed, "{file}");
    }
}

/// What a run found of the objects.
fn facts(report: &Value) -> Value {
    json!([report["verdict"], report["exitCode"], report["summary"], report["objects"]])
}

#[test]
fn jobs_compare_and_apply_in_shards_with_the_permissions_of_their_service_account() {
    if is_before(37, "the printed roles are those of the newest version") {
        return;
    }
    let ws = Workspace::on(&ControlPlane::full());
    let node = Node::new(&ws);
    let manifests = example("indexed-job/manifests");
    apply(&ws, "indexed-job/namespace.yaml");
    apply(&ws, "indexed-job/manifests/shop.yaml");
    roles_are_least(&ws, "indexed-job/rbac.yaml", &["--name", "reconcile", "--for", "apply"]);
    roles_are_least(&ws, "cronjob/rbac.yaml", &["--name", "drift", "--for", "diff", "--evidence", "read-only"]);
    ws.kubectl(["delete", "namespace", "example-shop"]).exits_with(0);
    apply(&ws, "indexed-job/rbac.yaml");
    apply(&ws, "cronjob/rbac.yaml");
    let from = format!("--from-file={}", manifests.display());
    ws.kubectl(["create", "configmap", "manifests", "-n", NAMESPACE, &from]).exits_with(0);
    // For runs of the administrator over the same files.
    ws.write("manifests/shop.yaml", &fs::read_to_string(manifests.join("shop.yaml")).unwrap());
    let whole = |more: &[&str]| ws.reconcile([&["diff", "--filename=manifests"], more].concat());
    let merged = |name: &str| {
        let reports =
            (0..4).map(|index| node.claim("reports").join(format!("{name}-{index}.json")).display().to_string());
        let words: Vec<String> =
            ["report", "merge", "-o", "json"].map(ToOwned::to_owned).into_iter().chain(reports).collect();
        serde_json::from_str::<Value>(&ws.reconcile(words).stdout).unwrap()
    };

    apply(&ws, "indexed-job/apply.yaml");
    let runs = pods(&ws, "reconcile-apply", 4);
    // Another service account of the same namespace may do nothing of it.
    let forbidden = node.run(&runs[0], Some("default"));
    assert!(forbidden.code == 4 && forbidden.stdout.contains("Forbidden"), "{forbidden:?} {}", forbidden.stderr);
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        let runs: Vec<_> = runs.iter().map(|pod| scope.spawn(|| node.run(pod, None))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for (pod, ended) in runs.iter().zip(&ended) {
        assert_eq!(ended.code, 0, "{ended:?}");
        report(&ws, pod, ended);
    }
    ws.kubectl(["wait", "-n", NAMESPACE, "job/reconcile-apply", "--for=condition=Complete", "--timeout=60s"])
        .exits_with(0);
    let report_of_apply = merged("apply");
    assert_eq!(report_of_apply["verdict"], "applied");
    assert_eq!(report_of_apply["summary"]["objects"], 9);
    assert_eq!(ws.reconcile(["apply", "--filename=manifests"]).exits_with(0).writes(), 0);

    for (object, patch) in [
        ("configmap/banner", json!({"data": {"text": "x"}})),
        ("deployment/web", json!({"spec": {"replicas": 5}})),
        ("service/cache", json!({"spec": {"selector": {"app": "web"}}})),
    ] {
        let patch = patch.to_string();
        ws.kubectl([
            "patch",
            object,
            "-n",
            "example-shop",
            "--type=merge",
            "-p",
            &patch,
            "--field-manager=kubectl-edit",
        ])
        .exits_with(0);
    }
    apply(&ws, "indexed-job/diff.yaml");
    for pod in pods(&ws, "reconcile-diff", 4) {
        let ended = node.run(&pod, None);
        assert_eq!(ended.code, 0, "{ended:?}");
        report(&ws, &pod, &ended);
    }
    ws.kubectl(["wait", "-n", NAMESPACE, "job/reconcile-diff", "--for=condition=Complete", "--timeout=60s"])
        .exits_with(0);
    let unsharded = whole(&["--exit-zero"]).exits_with(0);
    assert_eq!(unsharded.report()["summary"]["update"], 3);
    assert_eq!(facts(&merged("diff")), facts(unsharded.report()));
    apply(&ws, "indexed-job/merge.yaml");
    let joined = node.run(&pods(&ws, "reconcile-merge", 1)[0], None);
    assert_eq!(joined.code, 0, "{joined:?}");
    let written = fs::read_to_string(node.claim("reports").join("diff.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), merged("diff"));

    let release = Release::new();
    let sum = release.checksum_line();
    let cronjob = fs::read_to_string(example("cronjob/cronjob.yaml")).unwrap();
    let cronjob = cronjob.replaced("https://github.com/OWNER/NAME/releases/download", &release.url);
    let cronjob = cronjob.replaced(&"0".repeat(64), sum.split(' ').next().unwrap());
    ws.stdin(&cronjob.replaced("value: 0.1.0", &format!("value: {VERSION}")))
        .kubectl(["apply", "-f", "-"])
        .exits_with(0);
    let tonight = |name: &str| {
        ws.kubectl(["create", "job", name, "-n", NAMESPACE, "--from=cronjob/drift"]).exits_with(0);
        node.run(&pods(&ws, name, 1)[0], None)
    };
    let drift = tonight("drift-1");
    assert!(drift.code == 1 && drift.stdout.contains("by kubectl-edit"), "{drift:?}");
    ws.reconcile(["apply", "--filename=manifests"]).exits_with(0);
    let quiet = tonight("drift-2");
    assert!(quiet.code == 0 && !quiet.stderr.contains("error"), "{quiet:?}");
    fs::write(release.file(&format!("kubectl-reconcile-v{VERSION}-x86_64-unknown-linux-musl.tar.gz")), "another")
        .unwrap();
    assert_ne!(tonight("drift-3").code, 0, "another archive than the one of the checksum");
}
