//! Workloads that come up, or do not.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{CLAIM, WEB, readiness, running, set_status, states, wait_until};
use crate::control_plane::{Replaced, Workspace};

#[test]
fn a_deployment_rolls_out() {
    let ws = running();
    ws.write("web.yaml", WEB);
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    let status = ws.reconcile(["status", "-f", "."]).exits_with(5);
    assert_eq!(states(&status), ["ConfigMap it: notFound", "Deployment web: notFound"]);
    assert_eq!(status.report()["verdict"], "notReady");

    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert_eq!(apply.report()["verdict"], "applied");
    assert_eq!(states(&apply), ["ConfigMap it: current", "Deployment web: current"]);
    assert!(apply.stderr.lines().any(|line| line.ends_with(&ws.fill_in("Z ready Deployment $NS/web"))), "{apply}");
    assert!(apply.report()["requests"]["watch"].as_u64().is_some_and(|watches| watches > 0), "{apply}");

    let status = ws.reconcile(["status", "-f", "."]).exits_with(0);
    assert_eq!((&status.report()["verdict"], &status.report()["command"]), (&"ready".into(), &"status".into()));
    assert_eq!(readiness(&status, "Deployment", "web"), ("current", "all 2 replicas are ready"));
    assert!(status.stdout.ends_with("2 ready\n"), "{status}");

    // A second pass writes nothing, and has nothing to wait for.
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert_eq!((apply.writes(), apply.stderr.lines().count()), (0, 1), "it names the context: {apply}");
}

#[test]
fn a_pod_for_which_there_is_no_node_is_named() {
    let ws = running();
    ws.write("web.yaml", &WEB.replaced("spec: {containers", "spec: {nodeSelector: {disk: ssd}, containers"));
    ws.reconcile(["apply", "-f", ".", "--wait", "--timeout", "0"]).exits_with(5);
    let scheduled = r#"jsonpath={.items[*].status.conditions[?(@.type=="PodScheduled")].status}"#;
    wait_until("no node is found for two Pods", || {
        ws.kubectl(["get", "pods", "-o", scheduled]).exits_with(0).stdout == "False False"
    });
    let started = Instant::now();
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout", "4s"]).exits_with(5);
    assert!(started.elapsed() < Duration::from_mins(1));
    assert_eq!(apply.report()["verdict"], "notReady");
    let (state, message) = readiness(&apply, "Deployment", "web");
    assert_eq!(state, "inProgress");
    assert!(message.contains("Pod `web-") && message.contains("node") && message.contains("Unschedulable"), "{apply}");
    assert!(message.contains("1 more Pod"), "{message}");
    assert!(apply.stderr.contains("error: 1 object is not ready after 4s"), "{apply}");
    let status = ws.reconcile(["status", "-f", "."]).exits_with(5);
    assert!(readiness(&status, "Deployment", "web").1.contains("Unschedulable"), "{status}");
}

/// Lets the kubelet, which does not exist, report that the containers of all Pods wait for this reason.
#[track_caller]
fn set_waiting(ws: &Workspace, reason: &str) {
    let container = json!({"name": "web", "image": "shop/web:1", "imageID": "", "ready": false, "restartCount": 2,
        "state": {"waiting": {"reason": reason, "message": "says the kubelet"}}});
    for pod in pods(ws) {
        set_status(ws, &format!("pod/{pod}"), &json!({"containerStatuses": [container]}));
    }
}

#[track_caller]
fn pods(ws: &Workspace) -> Vec<String> {
    let run = ws.kubectl(["get", "pods", "-o", "name"]).exits_with(0);
    run.stdout.lines().map(|line| line.trim_start_matches("pod/").to_owned()).collect()
}

/// Pods that stay pending, so that a test can say what their containers do.
fn pending() -> String {
    WEB.replaced("spec: {containers", "spec: {nodeSelector: {disk: ssd}, containers")
}

#[test]
fn pods_that_cannot_start_or_crash_fail_their_deployment_early() {
    let ws = running();
    ws.write("web.yaml", &pending());
    ws.reconcile(["apply", "-f", ".", "--wait", "--timeout", "0"]).exits_with(5);
    wait_until("there are Pods", || pods(&ws).len() == 2);
    for reason in ["ImagePullBackOff", "CrashLoopBackOff"] {
        set_waiting(&ws, reason);
        let status = ws.reconcile(["status", "-f", "."]).exits_with(5);
        let (state, message) = readiness(&status, "Deployment", "web");
        assert_eq!(state, "failed", "{status}");
        assert!(message.contains("Pod `web-") && message.contains(reason), "{message}");
        assert!(status.stdout.contains("failed ") && status.stdout.ends_with("1 failed, 0 of 1 ready\n"), "{status}");
    }

    // The next attempt of the kubelet may help: it is given some time, but not all.
    let started = Instant::now();
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(5);
    assert!((10..120).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    assert!(apply.stderr.contains(&ws.fill_in("Z failed Deployment $NS/web\n")), "{apply}");
    assert!(apply.stdout.contains("CrashLoopBackOff") && apply.stdout.contains("1 unchanged; 1 failed"), "{apply}");

    // A new revision is not judged by the Pods of the old one.
    ws.write("web.yaml", WEB);
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert!(!apply.stderr.contains("failed"), "{apply}");
}

#[test]
fn while_something_is_under_way_a_failure_may_pass() {
    let ws = running();
    ws.write("web.yaml", &pending());
    ws.write("claim.yaml", CLAIM);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    wait_until("there are Pods", || pods(&ws).len() == 2);
    set_waiting(&ws, "CrashLoopBackOff");
    let apply = ws.as_user("admin").start_reconcile(["apply", "-f", ".", "--wait", "--timeout", "2m"]);
    // How long a failure is given is tested beside `StopPolicy`.
    apply.wait_for_stderr(" failed Deployment");
    ws.kubectl(["label", "node", "fake-node", "disk=$NS"]).exits_with(0);
    ws.write("web.yaml", &pending().replaced("disk: ssd", "disk: $NS"));
    ws.kubectl(["apply", "--server-side", "--force-conflicts", "-f", "web.yaml"]).exits_with(0);
    ws.stdin(VOLUME).kubectl(["apply", "-f", "-"]).exits_with(0);
    let apply = apply.finish().exits_with(0);
    assert!(apply.stderr.contains(" failed Deployment") && apply.stderr.contains(" ready Deployment"), "{apply}");
    ws.kubectl(["label", "node", "fake-node", "disk-"]).exits_with(0);
    ws.kubectl(["delete", "pv", "$NS", "--wait=false"]).exits_with(0);
}

const VOLUME: &str = "
apiVersion: v1
kind: PersistentVolume
metadata: {name: $NS}
spec: {accessModes: [ReadWriteOnce], storageClassName: $NS, capacity: {storage: 1Gi}, hostPath: {path: /data}}
";

#[test]
fn a_claim_without_a_volume_is_waited_for_in_vain() {
    let ws = running();
    ws.write("claim.yaml", CLAIM);
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout", "2s"]).exits_with(5);
    let expected = ("inProgress", "it is not bound to a volume yet");
    assert_eq!(readiness(&apply, "PersistentVolumeClaim", "data"), expected);
    assert_eq!(apply.object("PersistentVolumeClaim", "data")["outcome"], "created");
}

#[test]
fn stateful_sets_and_daemon_sets_come_up() {
    let ws = running();
    let set = WEB
        .replaced("kind: Deployment", "kind: StatefulSet")
        .replaced("replicas: 2", "replicas: 2\n  serviceName: web");
    ws.write("set.yaml", &set);
    ws.write("daemon.yaml", &WEB.replaced("kind: Deployment", "kind: DaemonSet").replaced("  replicas: 2\n", ""));
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert_eq!(states(&apply), ["DaemonSet web: current", "StatefulSet web: current"]);
    ws.write("set.yaml", &set.replaced("shop/web:1", "shop/web:2"));
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert_eq!(apply.object("StatefulSet", "web")["outcome"], "updated");
    let images = ws.kubectl(["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}"]);
    assert_eq!(images.stdout.matches("shop/web:2").count(), 2, "all were replaced when the wait was over: {images}");
}

const JOB: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  template:
    metadata: {labels: {app: migrate}}
    spec: {restartPolicy: Never, containers: [{name: migrate, image: 'shop/migrate:1'}]}
";

#[test]
fn a_job_is_waited_for_until_it_is_complete() {
    let ws = running();
    ws.write("job.yaml", JOB);
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert_eq!(readiness(&apply, "Job", "migrate"), ("current", "it is complete"));
    ws.write("job.yaml", &JOB.replaced("name: migrate}\nspec:", "name: again}\nspec:\n  ttlSecondsAfterFinished: 0"));
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert_eq!(readiness(&apply, "Job", "again").0, "current", "gone, or about to go: {apply}");
}

#[test]
fn a_job_that_its_ttl_deletes_during_the_wait_has_ended_as_it_did() {
    let ws = running();
    let expiring = |more: &str| {
        JOB.replaced("name: migrate}\nspec:", &format!("name: migrate}}\nspec:\n  ttlSecondsAfterFinished: 1{more}"))
    };
    ws.write("job.yaml", &expiring(""));
    // It is waited for after the Job is gone.
    let web = WEB.replaced("spec:\n  replicas: 2", "spec:\n  minReadySeconds: 5\n  replicas: 2");
    for metadata in ["", ", annotations: {config.kubernetes.io/depends-on: batch/namespaces/$NS/Job/migrate}"] {
        ws.write("web.yaml", &web.replaced("metadata: {name: web", &format!("metadata: {{name: web{metadata}")));
        let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=60s"]).exits_with(0);
        assert!(readiness(&apply, "Job", "migrate").1.contains("deleted after its"), "{apply}");
        wait_until("the Job is gone", || ws.find("Job", "migrate").is_none());
        ws.kubectl(["delete", "deployment/web"]).exits_with(0);
    }
    // One that fails, with an object that needs it.
    fs::remove_file(ws.folder().join("web.yaml")).unwrap();
    let never = expiring("\n  activeDeadlineSeconds: 1")
        .replaced("spec: {restart", "spec: {nodeSelector: {disk: none}, restart");
    ws.write("job.yaml", &never);
    let needs = "config.kubernetes.io/depends-on: batch/namespaces/$NS/Job/migrate";
    let after = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: after, annotations: {{{needs}}}}}}}");
    ws.write("after.yaml", &after);
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=60s"]).exits_with(4);
    assert_ne!(readiness(&apply, "Job", "migrate").0, "current", "{apply}");
    assert!(!apply.stderr.contains(" ready Job"), "{apply}");
}

#[test]
fn a_job_that_somebody_deletes_is_not_done() {
    let ws = running();
    let job = JOB
        .replaced("name: migrate}\nspec:", "name: migrate}\nspec:\n  ttlSecondsAfterFinished: 600")
        .replaced("spec: {restart", "spec: {nodeSelector: {disk: none}, restart");
    ws.write("job.yaml", &job);
    let waiting = ws.stdin("").start_reconcile(["apply", "-f", ".", "--wait", "--timeout=20s"]);
    wait_until("the Job runs", || ws.find("Job", "migrate").is_some_and(|job| job["status"]["active"] == 1));
    ws.kubectl(["delete", "job/migrate"]).exits_with(0);
    let apply = waiting.finish().exits_with(5);
    assert_eq!(readiness(&apply, "Job", "migrate").0, "notFound", "{apply}");
}

#[test]
fn a_suspended_job_that_somebody_deletes_has_not_finished() {
    let ws = running();
    ws.write(
        "job.yaml",
        &JOB.replaced("name: migrate}\nspec:", "name: migrate}\nspec:\n  suspend: true\n  ttlSecondsAfterFinished: 1"),
    );
    ws.write("claim.yaml", CLAIM);
    let waiting = ws.stdin("").start_reconcile(["apply", "-f", ".", "--wait", "--timeout=8s"]);
    let is_suspended = |job: &Value| job["status"]["conditions"].to_string().contains("JobSuspended");
    wait_until("the Job is suspended", || ws.find("Job", "migrate").is_some_and(|job| is_suspended(&job)));
    ws.kubectl(["delete", "job/migrate"]).exits_with(0);
    let apply = waiting.finish().exits_with(5);
    assert_eq!(readiness(&apply, "Job", "migrate").0, "notFound", "{apply}");
}

#[test]
fn a_failed_job_ends_the_wait_at_once() {
    let ws = running();
    let job = JOB
        .replaced("name: migrate}\nspec:", "name: migrate}\nspec:\n  activeDeadlineSeconds: 1")
        .replaced("spec: {restart", "spec: {nodeSelector: {disk: none}, restart");
    ws.write("job.yaml", &job);
    ws.write("claim.yaml", CLAIM);
    let started = Instant::now();
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=2m"]).exits_with(5);
    assert!(started.elapsed() < Duration::from_secs(30), "{apply}");
    assert_eq!(states(&apply), ["PersistentVolumeClaim data: inProgress", "Job migrate: failed"]);
    assert!(readiness(&apply, "Job", "migrate").1.contains("DeadlineExceeded"), "{apply}");
    assert!(!apply.stderr.contains("after 2m"), "{apply}");
    let counts = &apply.report()["summary"]["readiness"];
    assert_eq!((&counts["failed"], &counts["inProgress"], &counts["current"]), (&json!(1), &json!(1), &json!(0)));
}

#[test]
fn many_deployments_are_followed_by_few_streams() {
    let ws = running();
    let many: Vec<_> = (0..25).map(|number| WEB.replaced("web", &format!("web-{number}"))).collect();
    ws.write("web.yaml", &many.join("\n---\n"));
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert!(states(&apply).iter().all(|state| state.ends_with(": current")), "{apply}");
    // Deployments, their ReplicaSets, and their Pods.
    assert!(apply.report()["requests"]["watch"].as_u64().is_some_and(|watches| watches <= 3), "{apply}");
    assert_eq!(apply.stderr.matches(" ready Deployment ").count(), 25, "each is reported once: {apply}");
}

#[test]
fn a_rollout_that_takes_too_long_and_one_that_is_refused_say_why() {
    let ws = running();
    ws.write("late.yaml", &pending().replaced("replicas: 2", "replicas: 2\n  progressDeadlineSeconds: 1"));
    ws.write("refused.yaml", &WEB.replaced("web", "refused").replaced("kind: Deployment", "kind: ReplicaSet"));
    ws.write("quota.yaml", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {pods: '2'}}}");
    ws.reconcile(["apply", "-f", "late.yaml", "-f", "quota.yaml"]).exits_with(0);
    wait_until("there are Pods", || pods(&ws).len() == 2);
    ws.reconcile(["apply", "-f", "refused.yaml"]).exits_with(0);
    let status = || ws.reconcile(["status", "-f", "."]).exits_with(5);
    wait_until("the rollout is late", || readiness(&status(), "Deployment", "web").0 == "failed");
    wait_until("the quota is used up", || readiness(&status(), "ReplicaSet", "refused").1.contains("exceeded quota"));
    let status = status();
    let message = readiness(&status, "Deployment", "web").1;
    assert!(
        message.contains("(ProgressDeadlineExceeded): Pod `web-") && message.contains("Unschedulable"),
        "{message}"
    );
    assert_eq!(readiness(&status, "ReplicaSet", "refused").0, "inProgress");
}

#[test]
fn a_failed_pod_has_failed() {
    let ws = Workspace::new();
    ws.write("pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: once}, spec: {restartPolicy: Never, containers: [{name: it, image: 'a:1'}]}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let terminated = json!({"exitCode": 137, "reason": "OOMKilled"});
    let container = json!({"name": "it", "image": "a:1", "imageID": "", "ready": false, "restartCount": 0, "state": {"terminated": terminated}});
    set_status(&ws, "pod/once", &json!({"phase": "Failed", "containerStatuses": [container]}));
    let started = Instant::now();
    let status = ws.reconcile(["status", "-f", ".", "--wait"]).exits_with(5);
    assert!(started.elapsed() < Duration::from_secs(30), "nobody tries again");
    assert_eq!(readiness(&status, "Pod", "once"), ("failed", "container `it` ended with exit code 137 (OOMKilled)"));
}
