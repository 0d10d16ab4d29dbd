//! Warnings of the server: each is reported at the object that it is about, whatever was asked of the server.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace, is_before};

const ENDPOINTS: &str =
    "{apiVersion: v1, kind: Endpoints, metadata: {name: ep}, subsets: [{addresses: [{ip: 10.1.2.3}]}]}";

/// A policy of the namespace that warns of every write.
const POLICY: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS-watched}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [CREATE, UPDATE, DELETE], resources: [configmaps, jobs, secrets]}]
  validations: [{expression: 'false', message: this is watched}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS-watched}
spec: {policyName: $NS-watched, validationActions: [Warn]}
";

/// The warnings of kubectl.
fn of_kubectl(run: &Run) -> Vec<String> {
    run.stderr.lines().filter_map(|line| line.strip_prefix("Warning: ")).map(ToOwned::to_owned).collect()
}

fn watched() -> Workspace {
    let ws = Workspace::new();
    ws.stdin(POLICY).kubectl(["apply", "--server-side", "-f", "-"]).exits_with(0);
    let probe = "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe}}";
    let is_seen = || {
        thread::sleep(Duration::from_millis(100));
        let flags = ["apply", "--server-side", "--dry-run=server", "-f", "-"];
        !of_kubectl(&ws.stdin(probe).kubectl(flags).exits_with(0)).is_empty()
    };
    assert!((0..200).any(|_| is_seen()), "the policy takes effect");
    ws
}

#[track_caller]
fn warns(run: &Run, kind: &str, name: &str, outcome: &str) {
    let object = run.object(kind, name);
    assert_eq!(object["outcome"], outcome, "{run}");
    let warnings: Vec<&str> = object["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let found = warnings.iter().filter(|warning| warning.ends_with("this is watched")).count();
    assert_eq!(found, 1, "{outcome}: {warnings:?}\n{run}");
    assert!(run.stdout.contains("this is watched"), "{run}");
}

#[test]
fn the_first_apply_says_what_kubectl_says() {
    if is_before(33, "Endpoints are not deprecated") {
        return;
    }
    let ws = Workspace::new();
    ws.write("ep.yaml", ENDPOINTS);
    let expected =
        of_kubectl(&ws.kubectl(["apply", "--server-side", "--dry-run=server", "-f", "ep.yaml"]).exits_with(0));
    assert!(!expected.is_empty());
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Endpoints", "ep")["warnings"], json!(expected), "{apply}");
    assert!(apply.stdout.contains(&format!("warning: {}", expected[0])), "{apply}");
}

#[test]
fn every_kind_of_write_reports_them() {
    let ws = watched();
    let map = |name: &str, value: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{a: '{value}'}}}}\n")
    };
    let job = "
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'a:1'}]}}}
";
    let all = format!("{}---\n{}---{job}", map("it", "1"), map("gone", "1"));
    ws.write("all.yaml", &all);
    let set = ["apply", "-f", ".", "--prune", "--applyset=configmap/set", "--replace=immutable"];
    let created = ws.reconcile(set).exits_with(0);
    warns(&created, "ConfigMap", "it", "created");
    warns(&created, "Job", "job", "created");
    let general = created.report()["warnings"].to_string();
    assert!(general.contains("the parent of the apply set: Validation failed"), "{created}");

    ws.write("all.yaml", &format!("{}---{}", map("it", "2"), job.replaced("a:1", "a:2")));
    let again = ws.reconcile(set).exits_with(0);
    warns(&again, "ConfigMap", "it", "updated");
    warns(&again, "Job", "job", "replaced");
    warns(&again, "ConfigMap", "gone", "deleted");

    // With a yes to what was shown, objects are created by a POST.
    ws.write("other.yaml", &map("other", "1"));
    let confirmed = ws.as_user("admin").stdin("y\n").on_terminal();
    let run = confirmed.reconcile(["apply", "-f", "other.yaml", "--confirm", "--color=never"]).exits_with(0);
    assert!(run.stdout.contains("this is watched"), "{run}");
    // An object whose fields are only recorded as ours.
    ws.stdin(&map("known", "1")).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.write("known.yaml", &map("known", "1"));
    warns(&ws.reconcile(["apply", "-f", "known.yaml"]).exits_with(0), "ConfigMap", "known", "adopted");
}

#[test]
fn a_refusal_does_not_hide_them() {
    if is_before(33, "Endpoints are not deprecated") {
        return;
    }
    let ws = Workspace::new();
    ws.write("ep.yaml", &ENDPOINTS.replaced("10.1.2.3", "nowhere"));
    let expected = of_kubectl(&ws.kubectl(["apply", "--server-side", "-f", "ep.yaml"]).exits_with(1));
    assert!(!expected.is_empty());
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "."]).exits_with(4);
        assert_eq!(run.object("Endpoints", "ep")["warnings"], json!(expected), "{run}");
        assert_eq!(run.stdout.matches(&format!("    warning: {}\n", expected[0])).count(), 1, "{run}");
        assert!(run.stdout.contains("1 warning of the server"), "{run}");
    }
}

/// The lines of a run that warn of an object.
fn lines<'r>(run: &'r Run, ws: &Workspace, object: &str) -> Vec<&'r str> {
    let start = ws.fill_in(&format!("warning: {object}: "));
    run.stderr.lines().map(str::trim_end).filter(|line| line.starts_with(&start)).collect()
}

#[test]
fn commands_that_do_not_show_objects_report_them_with_their_objects() {
    let ws = watched();
    let map =
        |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{a: ours}}}}\n");
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: key}, data: {a: b3Vycw==}}";
    ws.write("app/all.yaml", &format!("{}---\n{}---\n{secret}", map("it"), map("other")));
    ws.write("app/kustomization.yaml", "resources: [all.yaml]\n");
    ws.reconcile(["apply", "-f", "app/all.yaml"]).exits_with(0);
    for object in ["configmap/it", "configmap/other", "secret/key"] {
        ws.patch_as("kubectl-edit", object, &json!({"data": {"a": "dGhlaXJz"}}));
    }
    let pull = |flags: &[&str]| ws.reconcile([&["pull", "--dry-run"], flags].concat()).exits_with(1);
    let diff = ws.reconcile(["diff", "-f", "app/all.yaml"]).exits_with(1);
    let suggestions = ws.reconcile(["diff", "-f", "app/all.yaml", "--suggest-ignores"]).exits_with(1);
    for run in [pull(&["-f", "app/all.yaml"]), pull(&["-k", "app"]), suggestions] {
        for (kind, name) in [("ConfigMap", "it"), ("ConfigMap", "other"), ("Secret", "key")] {
            let about = ws.fill_in(&format!("{kind} $NS/{name}"));
            let as_in_diff = diff.object(kind, name)["warnings"][0].as_str().unwrap();
            assert_eq!(lines(&run, &ws, &about), [format!("warning: {about}: {as_in_diff}")], "{run}");
        }
    }
    let chosen = pull(&["-f", "app/all.yaml", "--object=ConfigMap/it", "-o", "json"]);
    let document: Value = serde_json::from_str(&chosen.stdout).unwrap();
    let [warning] = document["warnings"].as_array().unwrap().as_slice() else { panic!("one warning: {chosen}") };
    let warning = warning.as_str().unwrap();
    assert!(warning.starts_with(&ws.fill_in("ConfigMap $NS/it: Validation failed")), "{chosen}");

    let user = ws.as_user("admin");
    let resolve =
        |answers: &str| user.stdin(answers).on_terminal().reconcile(["resolve", "-f", "app/all.yaml", "--color=never"]);
    let run = resolve("a\ns\ns\ny\n").exits_with(1);
    // The line follows one of the progress on the terminal.
    assert_eq!(run.stderr.matches(&ws.fill_in("warning: ConfigMap $NS/it: ")).count(), 1, "{run}");
    assert!(run.stdout.contains("updated ConfigMap") && run.stdout.contains("1 warning of the server"), "{run}");
}

#[test]
fn own_shows_and_counts_them() {
    let ws = watched();
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}";
    ws.stdin(map).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.write("it.yaml", map);
    for (flags, code) in [(&["--dry-run"][..], 1), (&[], 0)] {
        let run = ws.reconcile([&["own", "-f", "."], flags].concat()).exits_with(code);
        assert_eq!(run.object("ConfigMap", "it")["serverWarnings"], 1, "{run}");
        assert_eq!(run.stdout.matches("this is watched").count(), 1, "{run}");
        assert!(run.stdout.contains("\n1 warning of the server\n"), "{run}");
    }
    // A comparison that asks nothing is told nothing, and the dry run of the handover is.
    let other = ["apply", "--server-side", "--field-manager=other", "-f", "it.yaml"];
    ws.kubectl(other).exits_with(0);
    let run = ws.reconcile(["own", "-f", ".", "--release=other", "--dry-run"]).exits_with(1);
    assert_eq!(run.object("ConfigMap", "it")["serverWarnings"], 1, "{run}");
}

#[test]
fn a_gate_that_fails_without_differences_says_so() {
    if is_before(33, "Endpoints are not deprecated") {
        return;
    }
    let ws = Workspace::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        ws.write(format!("{name}.yaml"), &ENDPOINTS.replaced("name: ep", &format!("name: {name}")));
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = ["diff", "-f", ".", "--fail-on", "warnings"];
    let markdown = ws.reconcile([&diff[..], &["-o", "markdown"]].concat()).exits_with(1);
    assert!(markdown.stdout.starts_with("### kubectl reconcile diff: warnings of the server\n"), "{markdown}");
    let junit = ws.reconcile([&diff[..], &["-o", "junit"]].concat()).exits_with(1);
    assert!(junit.stdout.contains(r#"failures="1""#), "{junit}");
    let whole = ws.reconcile(diff).exits_with(1);
    assert_eq!(whole.report()["summary"]["warnings"], 1, "{whole}");
    // Each shard reads the kind, and is told of it.
    let parts = ["0/2", "1/2"].map(|shard| {
        let run = ws.reconcile([&diff[..], &["--shard", shard]].concat()).exits_with(1);
        assert!(!run.objects().is_empty(), "{run}");
        run.report().clone()
    });
    ws.write("0.json", &parts[0].to_string());
    ws.write("1.json", &parts[1].to_string());
    let merged = ws.reconcile(["report", "merge", "0.json", "1.json", "-o", "json"]).exits_with(1);
    for field in ["warnings", "verdict"] {
        assert_eq!(merged.report()[field], whole.report()[field], "{merged}");
    }
    assert_eq!(merged.report()["summary"]["warnings"], 1, "{merged}");
}

#[test]
fn reads_say_what_kubectl_says() {
    if is_before(33, "Endpoints are not deprecated") {
        return;
    }
    let ws = Workspace::new();
    ws.write("ep.yaml", ENDPOINTS);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let expected = of_kubectl(&ws.kubectl(["get", "endpoints", "ep"]).exits_with(0));
    let [expected] = expected.as_slice() else { panic!("one warning: {expected:?}") };
    for command in ["diff", "apply", "status"] {
        let run = ws.reconcile([command, "-f", "."]).exits_with(0);
        assert_eq!(run.report()["warnings"], json!([expected]), "{command}: {run}");
        assert_eq!(run.report()["summary"]["warnings"], 1, "{command}: {run}");
        assert!(run.stderr.contains(&format!("warning: {expected}")), "{command}: {run}");
    }
    for command in [&["snapshot"][..], &["blame"], &["pull", "--dry-run"]] {
        let run = ws.reconcile([command, &["-f", "."]].concat()).exits_with(0);
        assert!(run.stderr.contains(&format!("warning: {expected}")), "{command:?}: {run}");
    }
    let resolve = ws.as_user("admin").on_terminal().reconcile(["resolve", "-f", "."]).exits_with(0);
    assert!(resolve.stderr.contains("v1 Endpoints is deprecated"), "{resolve}");
    let differs = ws.stdin(&ENDPOINTS.replaced("10.1.2.3", "10.1.2.4")).reconcile(["diff", "-f", "-"]).exits_with(1);
    assert_eq!(differs.object("Endpoints", "ep")["warnings"], json!([expected]), "{differs}");
    assert_eq!(differs.object("Endpoints", "ep")["serverWarnings"], 1, "{differs}");
    assert_eq!((&differs.report()["warnings"], &differs.report()["summary"]["warnings"]), (&Value::Null, &json!(1)));
}

#[test]
fn they_are_a_gate() {
    let ws = Workspace::new();
    let level = "pod-security.kubernetes.io/warn=restricted";
    ws.kubectl(["label", "namespace", ws.namespace(), level]).exits_with(0);
    let web = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'web:1', securityContext: {privileged: true}}]}
";
    ws.write("web.yaml", web);
    let expected =
        of_kubectl(&ws.kubectl(["apply", "--server-side", "--dry-run=server", "-f", "web.yaml"]).exits_with(0));
    assert!(expected.iter().any(|warning| warning.contains("PodSecurity")), "{expected:?}");
    let gate = |command: &str, class: &str, code: i32| {
        let run = ws.reconcile([command, "-f", "web.yaml", "--fail-on", class]).exits_with(code);
        assert_eq!(run.object("Deployment", "web")["warnings"], json!(expected), "{run}");
        assert_eq!(run.object("Deployment", "web")["serverWarnings"], expected.len(), "{run}");
        assert_eq!(run.report()["summary"]["warnings"], expected.len(), "{run}");
        run
    };
    gate("diff", "warnings", 1);
    gate("diff", "manual", 0);
    let apply = gate("apply", "warnings", 1);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "created", "{apply}");
    assert!(apply.stdout.contains("1 created") && apply.stdout.contains("1 warning of the server"), "{apply}");
    // The object is in sync, and nothing of it is sent.
    ws.reconcile(["diff", "-f", "web.yaml", "--fail-on", "warnings"]).exits_with(0);
    let again = ws.reconcile(["diff", "-f", "web.yaml", "--fail-on", "warnings", "--evidence", "server", "-o", "json"]);
    ws.write("report.json", &again.exits_with(1).stdout);
    ws.reconcile(["report", "merge", "report.json"]).exits_with(1);
    // Warnings of this program are none of the server.
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, uid: abc}}";
    let run = ws.stdin(map).reconcile(["diff", "-f", "-", "--fail-on", "warnings"]).exits_with(0);
    assert_eq!(run.object("ConfigMap", "it")["serverWarnings"], Value::Null, "{run}");
    assert_eq!(run.report()["summary"]["warnings"], Value::Null, "{run}");
}

#[test]
fn versions_that_were_removed_are_named_with_the_version_to_write() {
    let ws = Workspace::new();
    let removed = [
        ("extensions/v1beta1", "Ingress", "1.22", "networking.k8s.io/v1"),
        ("policy/v1beta1", "PodDisruptionBudget", "1.25", "policy/v1"),
        ("batch/v1beta1", "CronJob", "1.25", "batch/v1"),
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", "1.26", "autoscaling/v2"),
        ("flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema", "1.29", "flowcontrol.apiserver.k8s.io/v1"),
    ];
    let manifest = |(api_version, kind, ..): &(&str, &str, &str, &str)| {
        format!("---\n{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: it}}}}\n")
    };
    ws.write("old.yaml", &removed.iter().map(manifest).collect::<String>());
    ws.write("empty.yaml", "{apiVersion: v1, kind: List, items: []}");
    for source in [&[][..], &["--live", "empty.yaml"]] {
        let run = ws.reconcile([&["diff", "-f", "old.yaml"], source].concat()).exits_with(4);
        for (api_version, kind, by, write) in removed {
            let error = &run.object(kind, "it")["error"];
            let hint = format!("Kubernetes {by} removed `{api_version}` of `{kind}`: write `apiVersion: {write}`");
            assert_eq!((&error["reason"], &error["hint"]), (&json!("UnknownKind"), &json!(hint)), "{run}");
        }
    }
}
