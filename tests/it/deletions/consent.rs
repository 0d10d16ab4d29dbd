//! `--prune-allow`: without it, nothing at all is deleted if one deletion needs it.

use std::fmt::Write as _;

use serde_json::json;

use super::{config_map, exists, namespace, needs, remove, run};
use crate::control_plane::{ANY_FIELDS, ControlPlane, Run, Workspace, definition};

/// Members of the set that are no longer in the manifests: one that may go, and others that need consent. One object is new.
struct Case {
    ws: Workspace,
    kind: &'static str,
    name: String,
    needs: &'static [&'static str],
}

impl Case {
    fn new(ws: Workspace, kind: &'static str, name: &str, needs: &'static [&'static str]) -> Self {
        config_map(&ws, "stays", "$NS");
        config_map(&ws, "goes", "$NS");
        run(&ws, "apply", &[]).exits_with(0);
        remove(&ws, "goes");
        remove(&ws, "it");
        config_map(&ws, "new", "$NS");
        let name = ws.fill_in(name);
        Self { ws, kind, name, needs }
    }

    fn words(&self) -> String {
        self.needs.join(",")
    }
}

fn of_a_namespace(ws: Workspace) -> Case {
    ws.write("deploy/it.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-it}}");
    Case::new(ws, "Namespace", "$NS-it", &["namespaces"])
}

fn of_a_definition() -> Case {
    let ws = Workspace::new();
    ws.write("deploy/it.yaml", &definition("Widget", ANY_FIELDS));
    Case::new(ws, "CustomResourceDefinition", "widgets.$NS.example.com", &["definitions"])
}

fn elsewhere() -> Case {
    let ws = Workspace::new();
    namespace(&ws, "$NS-other");
    config_map(&ws, "it", "$NS-other");
    Case::new(ws, "ConfigMap", "it", &["other-namespaces"])
}

fn of_most() -> Case {
    let ws = Workspace::new();
    many(&ws, 9);
    Case::new(ws, "ConfigMap", "m-0", &["most"])
}

/// ConfigMaps in one file.
fn many(ws: &Workspace, count: usize) {
    let mut text = String::new();
    for number in 0..count {
        let _ =
            writeln!(text, "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}, namespace: $NS}}}}");
    }
    ws.write("deploy/it.yaml", &text);
}

fn cases() -> [Case; 4] {
    [of_a_namespace(Workspace::on(&ControlPlane::full())), of_a_definition(), elsewhere(), of_most()]
}

#[track_caller]
fn outcome(run: &Run, kind: &str, name: &str) -> String {
    run.object(kind, name)["outcome"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn without_consent_nothing_is_pruned_and_the_rest_is_applied() {
    for case @ Case { ws, kind, name, needs: expected } in &cases() {
        let flag = format!("--prune-allow={}", case.words());
        let diff = run(ws, "diff", &[]).exits_with(1);
        assert_eq!(needs(&diff, kind, name), &json!(expected), "{diff}");
        let apply = run(ws, "apply", &[]).exits_with(4);
        assert_eq!(needs(&apply, kind, name), &json!(expected));
        assert_eq!(outcome(&apply, "ConfigMap", "new"), "created");
        for (kind, name) in [(*kind, name.as_str()), ("ConfigMap", "goes")] {
            assert_eq!(outcome(&apply, kind, name), "skipped", "{apply}");
        }
        assert!(exists(ws, ws.namespace(), "configmap/goes"));
        assert!(apply.object(kind, name)["hint"].as_str().unwrap().contains(&flag), "{apply}");
        let reason = apply.object("ConfigMap", "goes")["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains("pruned") && (expected == &["most"] || reason.contains(&flag)), "{reason}");
        assert!(apply.stdout.contains(&flag), "{apply}");

        let apply = run(ws, "apply", &[&flag]).exits_with(0);
        for (kind, name) in [(*kind, name.as_str()), ("ConfigMap", "goes")] {
            assert_eq!(outcome(&apply, kind, name), "deleted", "{apply}");
        }
        run(ws, "diff", &[]).exits_with(0);
    }
}

/// A job that shows nothing but the test report, or is quiet, says why it failed.
#[test]
fn deletions_that_nobody_allowed_are_errors_of_the_test_report_and_of_a_quiet_run() {
    let Case { ws, .. } = &elsewhere();
    let apply = run(ws, "apply", &["-o", "junit"]).exits_with(4);
    assert!(apply.stdout.contains(r#"errors="1""#) && apply.stdout.contains("<error"), "{apply}");
    let apply = run(ws, "apply", &["-q", "-o", "name"]).exits_with(4);
    let named = format!("error: ConfigMap {}/it: ", ws.fill_in("$NS-other"));
    assert!(apply.stderr.contains(&named) && apply.stderr.contains("--prune-allow"), "{apply}");
}

#[test]
fn nine_deletions_and_half_of_the_members_are_not_most() {
    for (before, after, is_most) in [(9, 0, false), (20, 10, false), (19, 9, true), (30, 15, false), (31, 15, true)] {
        let ws = Workspace::new();
        many(&ws, before);
        run(&ws, "apply", &[]).exits_with(0);
        many(&ws, after);
        if after == 0 {
            remove(&ws, "it");
            config_map(&ws, "new", "$NS");
        }
        let diff = run(&ws, "diff", &[]).exits_with(1);
        let last = diff.object("ConfigMap", &format!("m-{}", before - 1));
        let expected = if is_most { json!({"needs": ["most"]}) } else { json!(null) };
        assert_eq!(last.get("deletion").cloned().unwrap_or_default(), expected, "{before} to {after}");
    }
}

#[test]
fn a_namespace_that_the_flag_or_a_manifest_names_needs_no_consent() {
    let ws = Workspace::new();
    let other = namespace(&ws, "$NS-other");
    config_map(&ws, "it", &other);
    config_map(&ws, "stays", &other);
    run(&ws, "apply", &["-n", &other]).exits_with(0);
    remove(&ws, "it");
    let diff = run(&ws, "diff", &["-n", &other]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "it").get("deletion"), None);
    // Only the flag names it.
    remove(&ws, "stays");
    ws.write(
        "deploy/role.yaml",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $NS}, rules: []}",
    );
    let apply = run(&ws, "apply", &["-n", &other]).exits_with(0);
    assert_eq!(outcome(&apply, "ConfigMap", "it"), "deleted");
}

#[test]
fn unknown_words_and_a_flag_without_a_set_are_refused() {
    let ws = elsewhere().ws;
    let refused = run(&ws, "apply", &["--prune-allow=namespace"]).exits_with(2);
    for word in ["namespaces", "definitions", "other-namespaces", "most"] {
        assert!(refused.stderr.contains(word), "{refused}");
    }
    for command in ["diff", "apply"] {
        let refused = ws.reconcile([command, "-f", "deploy", "--prune-allow=most"]).exits_with(2);
        assert!(refused.stderr.contains("`--prune-allow` needs `--prune` and `--applyset`"), "{refused}");
    }
    let text = "apiVersion: kubectl-reconcile/v1\nkind: Config\ndefaults: {prune-allow: most}\n";
    ws.write("deploy/.kubectl-reconcile.yaml", text);
    let refused = run(&ws, "apply", &[]).exits_with(2);
    assert!(refused.stderr.contains("a proposed change could delete objects with it"), "{refused}");
}

#[test]
fn a_yes_allows_what_the_question_names() {
    for Case { ws, kind, name, needs: expected } in [of_a_definition(), elsewhere(), of_most()] {
        let confirm = |answer: &str| {
            ws.as_user("admin").stdin(answer).on_terminal().reconcile([
                "apply",
                "-f",
                "deploy",
                "--prune",
                "--applyset",
                "shop",
                "--confirm",
            ])
        };
        let before = ws.all_resource_versions();
        let no = confirm("n\n").exits_with(1);
        let (asked, _) = no.stderr.split_once("[y/N]").unwrap();
        assert!(asked.contains("a yes also allows these deletions"), "{no}");
        assert!(asked.contains(expected[0]) && asked.contains(&format!("{kind} ")) && asked.contains(&name), "{no}");
        assert_eq!(ws.all_resource_versions(), before);
        let yes = confirm("y\n").exits_with(0);
        assert_eq!(outcome(&yes, kind, &name), "deleted", "{yes}");
        assert_eq!(yes.object(kind, &name)["deletion"], json!({"needs": expected, "allowed": true}));
    }
}

#[test]
fn a_plan_carries_the_consent() {
    for case @ Case { ws, kind, name, .. } in &[of_a_definition(), elsewhere(), of_most()] {
        let flag = format!("--prune-allow={}", case.words());
        let follow = |flags: &[&str]| run(ws, "apply", &[&["--plan", "plan.json"], flags].concat());
        run(ws, "diff", &["--save-plan", "plan.json"]).exits_with(1);
        let refused = follow(&[]).exits_with(4);
        assert_eq!(
            (outcome(&refused, kind, name).as_str(), needs(&refused, kind, name)),
            ("skipped", &json!(case.needs))
        );
        assert!(exists(ws, ws.namespace(), "configmap/goes"));

        let diff = run(ws, "diff", &["--save-plan", "plan.json", &flag]).exits_with(1);
        assert_eq!(diff.object(kind, name)["deletion"]["allowed"], true);
        let apply = follow(&[]).exits_with(0);
        assert_eq!(outcome(&apply, kind, name), "deleted", "{apply}");
    }
    // Somebody else's addition is not covered.
    let Case { ws, .. } = &elsewhere();
    run(ws, "diff", &["--save-plan", "plan.json", "--prune-allow=most,namespaces"]).exits_with(1);
    run(ws, "apply", &["--plan", "plan.json"]).exits_with(4);
    let apply = run(ws, "apply", &["--plan", "plan.json", "--prune-allow=other-namespaces"]).exits_with(0);
    assert_eq!(outcome(&apply, "ConfigMap", "it"), "deleted");
}

#[test]
fn every_format_that_shows_deletions_marks_them() {
    let Case { ws, .. } = &elsewhere();
    let mark = "needs --prune-allow=other-namespaces";
    for format in ["text", "markdown", "html", "github", "gitlab", "junit", "sarif", "unified"] {
        let diff = run(ws, "diff", &["-o", format]).exits_with(1);
        assert!(diff.stdout.contains(mark), "{format}: {diff}");
        let diff = run(ws, "diff", &["-o", format, "--prune-allow=other-namespaces"]).exits_with(1);
        assert!(!diff.stdout.contains(mark) && diff.stdout.contains("allowed"), "{format}: {diff}");
    }
    for format in ["json", "jsonl", "yaml"] {
        let diff = run(ws, "diff", &["-o", format]).exits_with(1);
        assert!(diff.stdout.contains("deletion") && diff.stdout.contains("other-namespaces"), "{format}: {diff}");
    }
    // A report that is read again still says it.
    run(ws, "diff", &["-o", "json=report.json"]).exits_with(1);
    let merged = ws.reconcile(["report", "merge", "report.json"]).exits_with(1);
    assert!(merged.stdout.contains(mark), "{merged}");
}

#[test]
fn what_is_being_deleted_already_needs_no_consent() {
    let Case { ws, .. } = &elsewhere();
    let other = ws.fill_in("$NS-other");
    ws.kubectl(["patch", "-n", &other, "configmap/it", "-p", r#"{"metadata":{"finalizers":["example.com/wait"]}}"#])
        .exits_with(0);
    ws.kubectl(["delete", "-n", &other, "configmap/it", "--wait=false"]).exits_with(0);
    let diff = run(ws, "diff", &[]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "it").get("deletion"), None);
    ws.kubectl(["patch", "-n", &other, "configmap/it", "-p", r#"{"metadata":{"finalizers":null}}"#]).exits_with(0);
    run(ws, "apply", &[]).exits_with(0);
}
