//! `--replace=immutable`: an object is deleted and recreated, or it stays; it is never lost.

mod named;
mod prevented;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Fault, Proxy, Replaced, Run, Workspace, is_before, wait_until};
use crate::immutable::CASES;

const JOB: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, labels: {team: shop}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'shop/migrate:1'}]}}}
";

/// A workspace with a Job that was applied, and whose image is another in the manifest now.
fn with_job() -> Arc<Workspace> {
    let ws = Arc::new(Workspace::new());
    ws.write("job.yaml", JOB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("job.yaml", &JOB.replaced("migrate:1", "migrate:2"));
    ws
}

fn uid(ws: &Workspace, kind: &str, name: &str) -> Value {
    ws.get(kind, name)["metadata"]["uid"].clone()
}

fn image(ws: &Workspace) -> Value {
    ws.get("Job", "migrate")["spec"]["template"]["spec"]["containers"][0]["image"].clone()
}

fn message(run: &Run, kind: &str, name: &str) -> String {
    run.object(kind, name)["error"]["message"].as_str().unwrap_or_default().to_owned()
}

fn invalid() -> Fault {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "not today"});
    Fault::Answer(403, vec![("Content-Type", "application/json".to_owned())], body.to_string())
}

#[test]
fn every_kind_is_replaced_in_one_pass_and_in_sync_after_it() {
    for (kind, manifest, (from, to), _, _) in CASES {
        let ws = Workspace::new();
        // Of their own, and in the lowest sixteenth of the range, from which no address is given to a Service that asks for none
        // (KEP-3070).
        let manifest = manifest.replace("$KIND", kind).replace("10.0.0.5", "10.0.0.7");
        let from = from.replace("10.0.0.5", "10.0.0.7");
        let to = to.replace("10.0.0.6", "10.0.0.8");
        let name = if manifest.contains("$NS-it") { ws.fill_in("$NS-it") } else { "it".to_owned() };
        ws.write("it.yaml", &manifest);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let before = uid(&ws, kind, &name);
        ws.write("it.yaml", &manifest.replaced(&from, &to));
        let flags = ["-f", ".", "--replace=immutable"];
        let diff = ws.reconcile([&["diff"], &flags[..]].concat()).exits_with(1);
        assert_eq!(diff.object(kind, &name)["action"], "replace");
        assert_eq!(uid(&ws, kind, &name), before, "{kind}: diff changes nothing");
        if kind.starts_with("PersistentVolume") {
            assert!(diff.object(kind, &name)["hint"].as_str().unwrap().contains("kubectl-reconcile/replace: allow"));
            let apply = ws.reconcile([&["apply"], &flags[..]].concat()).exits_with(4);
            assert_eq!(apply.object(kind, &name)["outcome"], "failed");
            let (_, left) = apply.stdout.split_once("\nfailed ").unwrap();
            assert_eq!(left.matches("kubectl-reconcile/replace: allow").count(), 1, "{apply}");
            assert_eq!(uid(&ws, kind, &name), before, "{kind} is protected");
            let allowed =
                manifest.replaced("metadata: {", "metadata: {annotations: {kubectl-reconcile/replace: allow}, ");
            ws.write("it.yaml", &allowed.replaced(&from, &to));
        }
        let diff = ws.reconcile([&["diff"], &flags[..]].concat()).exits_with(1);
        assert_eq!(diff.object(kind, &name).get("hint"), None, "{kind}: {diff}");
        if kind.starts_with("PersistentVolume") {
            // Nobody takes the protection of volumes off here.
            ws.kubectl([
                "patch",
                &kind.to_lowercase(),
                &name,
                "--type=merge",
                "-p",
                r#"{"metadata":{"finalizers":null}}"#,
            ])
            .exits_with(0);
        }
        let apply = ws.reconcile([&["apply"], &flags[..]].concat()).exits_with(0);
        assert_eq!(apply.object(kind, &name)["outcome"], "replaced", "{kind}");
        assert_ne!(uid(&ws, kind, &name), before, "{kind}");
        ws.reconcile(["diff", "-f", ".", "--strict-ownership"]).exits_with(0);
        assert_eq!(ws.reconcile([&["apply"], &flags[..]].concat()).exits_with(0).writes(), 0, "{kind}");
    }
}

#[test]
fn what_somebody_creates_meanwhile_is_left_alone_even_where_it_is_not_in_the_way() {
    let ws = std::sync::Arc::new(Workspace::new());
    let it = |data: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it}}, immutable: true, data: {{a: {data}}}}}")
    };
    ws.write("it.yaml", &it("b"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &it("c"));
    let proxy = Proxy::new(&ws);
    let other = ws.clone();
    let race = move || other.kubectl(["create", "configmap", "it", "--from-literal=precious=yes"]).exits_with(0);
    proxy.inject(1, "POST", "!dryRun", Fault::After(Arc::new(move || drop(race()))));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert_eq!(apply.object("ConfigMap", "it")["outcome"], "failed", "{apply}");
    let text = message(&apply, "ConfigMap", "it");
    assert!(text.contains("it was deleted, and somebody else has created it in the meantime"), "{text}");
    assert_eq!(ws.get("ConfigMap", "it")["data"], json!({"precious": "yes"}));
}

const TICKET: &str = "
properties:
  seat: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: seats are not for trade}]}
  row: {type: integer, x-kubernetes-validations: [{rule: self > 0, message: rows start at one}]}
";

#[test]
fn when_the_creation_fails_the_former_object_is_put_back_with_its_owners() {
    let ws = with_job();
    ws.kubectl(["label", "job/migrate", "seen=yes"]).exits_with(0);
    let owners = |ws: &Workspace| {
        let mut object = ws.get("Job", "migrate");
        let entries = object["metadata"]["managedFields"].take();
        entries
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| json!([entry["manager"], entry["operation"], entry["fieldsV1"]["f:metadata"]]))
            .collect::<Vec<_>>()
    };
    let before = uid(&ws, "Job", "migrate");
    let owned = owners(&ws);
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "POST", "!dryRun", invalid());
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert_eq!(apply.object("Job", "migrate")["outcome"], "failed");
    let text = message(&apply, "Job", "migrate");
    assert!(text.contains("put back") && text.contains("not today"), "{text}");
    assert_ne!(uid(&ws, "Job", "migrate"), before);
    assert_eq!(image(&ws), "shop/migrate:1");
    assert_eq!(ws.get("Job", "migrate")["metadata"]["labels"]["seen"], "yes");
    assert_eq!(owners(&ws), owned);
    ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(0);
    assert_eq!(image(&ws), "shop/migrate:2");
}

#[test]
fn when_the_former_object_can_not_be_put_back_either_the_run_says_so_and_the_next_one_creates() {
    let ws = with_job();
    let proxy = Proxy::new(&ws);
    proxy.inject(2, "POST", "!dryRun", invalid());
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    let text = message(&apply, "Job", "migrate");
    let said = "it was deleted and could not be recreated, and the former object could not be put back either: ";
    assert!(text.starts_with(said) && text.matches("not today").count() == 1, "{text}");
    assert!(ws.find("Job", "migrate").is_none());
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["Job migrate: created"]);
}

/// No controller counts here: the quota is counted again by hand, as late as a slow controller does.
#[test]
fn a_quota_that_still_counts_the_deleted_object_is_waited_for() {
    let ws = with_job();
    ws.write(
        "quota.yaml",
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {count/jobs.batch: '1'}}}",
    );
    ws.reconcile(["apply", "-f", "quota.yaml"]).exits_with(0);
    let counted = |ws: &Workspace, used: &str| {
        let hard = json!({"count/jobs.batch": "1"});
        let status = json!({"status": {"hard": hard, "used": {"count/jobs.batch": used}}}).to_string();
        ws.kubectl(["patch", "quota/few", "--subresource=status", "--type=merge", "-p", &status]).exits_with(0);
    };
    counted(&ws, "1");
    wait_until("the quota is full", || {
        let job = JOB.replaced("name: migrate", "name: another");
        ws.stdin(&job).kubectl(["create", "--dry-run=server", "-f", "-"]).stderr.contains("exceeded quota")
    });
    let other = ws.clone();
    let recount = thread::spawn(move || {
        wait_until("the Job is gone", || other.find("Job", "migrate").is_none());
        thread::sleep(Duration::from_secs(1));
        counted(&other, "0");
    });
    let apply = ws.reconcile(["apply", "-f", "job.yaml", "--replace=immutable"]).exits_with(0);
    recount.join().unwrap();
    assert_eq!(apply.each("outcome"), ["Job migrate: replaced"]);
    assert_eq!(image(&ws), "shop/migrate:2");
}

#[test]
fn answers_that_get_lost_are_no_failures() {
    for (method, fault) in [
        ("DELETE", Fault::AnswerLost),
        ("POST", Fault::AnswerLost),
        ("POST", Fault::AnswerCut),
        ("PATCH", Fault::AnswerLost),
        ("DELETE", Fault::Refused),
        ("POST", Fault::Refused),
        ("PATCH", Fault::Refused),
    ] {
        let ws = with_job();
        let proxy = Proxy::new(&ws);
        proxy.inject(1, method, "!dryRun", fault);
        let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(0);
        assert_eq!(apply.each("outcome"), ["Job migrate: replaced"], "{method}");
        assert_eq!(apply.object("Job", "migrate")["warnings"].as_array().map(Vec::len), Some(1), "{apply}");
        assert_eq!(image(&ws), "shop/migrate:2");
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    }
}

#[test]
fn a_finished_job_is_not_put_back_as_it_would_run_again() {
    if is_before(31, "a Job succeeds without the condition `SuccessCriteriaMet`") {
        return;
    }
    let ws = with_job();
    let status = json!({"status": {"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:01:00Z", "succeeded": 1, "conditions": [
        {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]}});
    ws.kubectl(["patch", "job/migrate", "--subresource=status", "--type=merge", "-p", &status.to_string()])
        .exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let warnings = diff.object("Job", "migrate")["warnings"].to_string();
    assert!(warnings.contains("deletes its pod") && warnings.contains("runs it again"), "{warnings}");
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "POST", "!dryRun", invalid());
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert!(message(&apply, "Job", "migrate").contains("would run again"), "{apply}");
    assert!(ws.find("Job", "migrate").is_none());
}

#[test]
fn finalizers_are_waited_for() {
    let ws = with_job();
    ws.patch_as("guard", "job/migrate", &json!({"metadata": {"finalizers": ["example.com/guard"]}}));
    let other = ws.clone();
    let release = thread::spawn(move || {
        wait_until("the Job is being deleted", || {
            other.get("Job", "migrate")["metadata"].get("deletionTimestamp").is_some()
        });
        thread::sleep(Duration::from_millis(500));
        other.patch_as("guard", "job/migrate", &json!({"metadata": {"finalizers": null}}));
    });
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(0);
    release.join().unwrap();
    assert_eq!(apply.each("outcome"), ["Job migrate: replaced"]);
    assert_eq!(image(&ws), "shop/migrate:2");
}

#[test]
fn what_somebody_changes_meanwhile_is_deleted_only_if_the_difference_is_still_the_one_that_was_shown() {
    for (patch, outcome) in [
        (json!({"metadata": {"annotations": {"note": "harmless"}}}), "replaced"),
        (json!({"metadata": {"labels": {"team": "other"}}}), "failed"),
    ] {
        let ws = with_job();
        let before = uid(&ws, "Job", "migrate");
        let proxy = Proxy::new(&ws);
        let other = ws.clone();
        let race = move || other.patch_as("kubectl-edit", "job/migrate", &patch);
        proxy.inject(1, "DELETE", "", Fault::After(Arc::new(race)));
        let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--replace=immutable"]);
        assert_eq!(apply.object("Job", "migrate")["outcome"], outcome, "{apply}");
        assert_eq!(uid(&ws, "Job", "migrate") == before, outcome == "failed");
    }
}

#[test]
fn what_somebody_creates_meanwhile_is_not_overruled() {
    let ws = with_job();
    let proxy = Proxy::new(&ws);
    let other = ws.clone();
    let race =
        move || other.stdin(&JOB.replaced("migrate:1", "migrate:7")).kubectl(["create", "-f", "-"]).exits_with(0);
    proxy.inject(1, "POST", "!dryRun", Fault::After(Arc::new(move || drop(race()))));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert_eq!(apply.object("Job", "migrate")["outcome"], "failed");
    assert_eq!(image(&ws), "shop/migrate:7");
}

#[test]
fn what_is_replaced_is_recorded_as_what_is_created() {
    for force in ["--force-conflicts=manual", "--force-conflicts=none"] {
        let ws = with_job();
        let (_, requests) =
            ws.requests_during(|| ws.reconcile(["apply", "-f", ".", "--replace=immutable", force]).exits_with(0));
        let writes: Vec<&str> =
            requests.iter().filter(|request| request.is_write()).map(|request| request.verb.as_str()).collect();
        assert_eq!(writes, ["delete", "create", "patch", "patch"]);
        let owners = |ws: &Workspace| {
            let object = ws.get("Job", "migrate");
            let entries = object["metadata"]["managedFields"].as_array().unwrap();
            let owner = |entry: &Value| json!([entry["manager"], entry["operation"], entry["fieldsV1"]]);
            entries.iter().map(owner).collect::<Vec<_>>()
        };
        let replaced = owners(&ws);
        ws.kubectl(["delete", "job", "migrate"]).exits_with(0);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        assert_eq!(replaced, owners(&ws));
    }
}

/// What others added goes with the former object, and is not left alone.
#[test]
fn nothing_of_an_object_is_left_alone_that_is_replaced() {
    let ws = Workspace::new();
    let settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, immutable: true, data: {a: VALUE}}";
    ws.write("s.yaml", &settings.replace("VALUE", "one"));
    ws.reconcile(["apply", "-f", "s.yaml"]).exits_with(0);
    ws.kubectl(["annotate", "configmap", "settings", "on-call=alice"]).exits_with(0);
    ws.kubectl(["label", "configmap", "settings", "team=shop"]).exits_with(0);
    ws.write("s.yaml", &settings.replace("VALUE", "two"));
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "s.yaml", "--replace=immutable", "--show-unmanaged"]);
        assert!(!run.stdout.contains("left alone") && !run.stdout.contains("alice"), "{run}");
        let warning = "replacing it removes 2 fields that were added in the cluster";
        assert!(run.object("ConfigMap", "settings")["warnings"].to_string().contains(warning), "{run}");
    }
    assert_eq!(ws.get("ConfigMap", "settings")["metadata"].get("annotations"), None);
}

/// All objects of a kind go with its definition. In another scope they are other objects, which the next run creates.
#[test]
fn objects_of_a_definition_that_is_replaced_are_not_in_sync() {
    let ws = Workspace::new();
    let crd = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: pipes.$NS.example.com, annotations: {kubectl-reconcile/replace: allow}},
      spec: {group: $NS.example.com, scope: SCOPE, names: {plural: pipes, kind: Pipe}, versions: [{name: v1, served: true, storage: true,
        schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: integer}}}}}}}]}}";
    ws.write("crd.yaml", &crd.replace("SCOPE", "Namespaced"));
    ws.write("pipe.yaml", "{apiVersion: $NS.example.com/v1, kind: Pipe, metadata: {name: o}, spec: {a: 1}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("crd.yaml", &crd.replace("SCOPE", "Cluster"));
    let diff = ws.reconcile(["diff", "-f", ".", "--replace=immutable"]).exits_with(1);
    assert_eq!(diff.object("Pipe", "o")["action"], "create", "{diff}");
    let apply = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    let pipe = apply.object("Pipe", "o");
    assert!(pipe["error"]["message"].to_string().contains("another scope"), "{apply}");
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).object("Pipe", "o")["outcome"], "created");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}
