//! The output of `helm template`: templates, hooks, kept objects, and fields that Helm owns. The rendered chart is in `testdata/helm`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};

/// The password of the chart's Secret, as it is in the template and in plain text.
const PASSWORD: [&str; 2] = ["cmVkaXMtb2YtcGF5LTEyMw==", "redis-of-pay-123"];

/// What `helm template` prints for this version of the chart: a dozen objects and three hooks.
pub fn rendered(version: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/helm/pay-{version}.yaml"));
    fs::read_to_string(file).unwrap()
}

/// A workspace in which Helm installed version 2.4.0. Helm 3 sends POST and PATCH requests under its name, Helm 4 applies.
fn installed() -> Workspace {
    let ws = Workspace::new();
    for value in PASSWORD {
        ws.secret(value);
    }
    let text = ws.fill_in(&without_hooks(&rendered("2.4.0")));
    ws.apply_as("helm", &text);
    ws
}

/// The objects that Helm records as parts of the release.
pub fn without_hooks(rendered: &str) -> String {
    rendered.split_inclusive("---\n").filter(|document| !document.contains("helm.sh/hook\"")).collect()
}

fn piped(ws: &Workspace, version: &str, arguments: &[&str]) -> Run {
    ws.stdin(&ws.fill_in(&rendered(version))).reconcile(arguments.iter().chain(&["-f", "-"]))
}

fn templates(run: &Run) -> Vec<String> {
    let objects = run.report()["objects"].as_array().unwrap();
    objects.iter().map(|object| object["source"]["template"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_chart_that_nobody_installed_is_created_without_its_hooks_and_placed_at_its_templates() {
    let ws = Workspace::new();
    let diff = piped(&ws, "2.4.0", &["diff"]).exits_with(1);
    let summary = &diff.report()["summary"];
    assert_eq!((&summary["create"], &summary["hooks"]), (&json!(12), &json!(3)), "{diff}");
    assert!(diff.stdout.contains("12 to create; 0 in sync"), "{diff}");
    assert!(diff.stdout.contains("3 hooks left out: --hooks include"), "{diff}");
    assert!(diff.stdout.contains("pay/charts/redis/templates/secret.yaml\n"), "{diff}");
    assert!(!diff.stdout.contains("stdin"), "{diff}");
    assert!(templates(&diff).iter().all(|template| template.starts_with("pay/")), "{diff}");
    let source = &diff.object("Deployment", "pay-worker")["source"];
    assert_eq!((&source["file"], &source["template"]), (&json!("stdin"), &json!("pay/templates/worker.yaml")));
    assert!(source["line"].as_u64() > Some(100));

    let all = piped(&ws, "2.4.0", &["diff", "--hooks", "include"]).exits_with(1);
    assert_eq!((&all.report()["summary"]["create"], &all.report()["summary"]["hooks"]), (&json!(15), &json!(0)));
    assert!(!all.stdout.contains("hook"), "{all}");

    // A file can be opened, which a stream cannot.
    ws.write("rendered.yaml", &rendered("2.4.0"));
    let file = ws.reconcile(["diff", "-f", "rendered.yaml"]).exits_with(1);
    assert!(file.stdout.contains("rendered.yaml:") && !file.stdout.contains("pay/templates"), "{file}");
    assert_eq!(templates(&file), templates(&diff));
}

#[test]
fn every_command_leaves_hooks_out_and_says_so() {
    let ws = Workspace::new();
    let said = "3 hooks left out: --hooks include";
    for command in ["snapshot", "access"] {
        let run = piped(&ws, "2.4.0", &[command]);
        assert!(run.stderr.contains(said) && !run.stdout.contains("pay-migrate"), "{run}");
        let all = piped(&ws, "2.4.0", &[command, "--hooks=include"]);
        assert!(!all.stderr.contains("hooks left out"), "{all}");
    }
    let status = piped(&ws, "2.4.0", &["status"]).exits_with(5);
    assert!(status.stdout.contains(said), "{status}");
    let names = piped(&ws, "2.4.0", &["diff", "-o", "name"]).exits_with(1);
    assert!(names.stderr.contains(said), "{names}");
    ws.write("live.yaml", "");
    let offline = piped(&ws, "2.4.0", &["diff", "--live", "live.yaml"]).exits_with(1);
    assert!(offline.stdout.contains(said), "{offline}");
    let apply = piped(&ws, "2.4.0", &["apply"]).exits_with(0);
    assert!(apply.stdout.contains(said), "{apply}");
    assert_eq!((ws.find("Job", "pay-migrate"), ws.find("Pod", "pay-test-connection")), (None, None));
    // Selected hooks alone are counted.
    let some = piped(&ws, "2.4.0", &["diff", "-l", "none=here", "--allow-empty"]).exits_with(0);
    assert_eq!(some.report()["summary"]["hooks"], 0);
}

#[test]
fn the_record_of_a_release_has_no_hooks_to_include() {
    let ws = Workspace::new();
    let run = ws.reconcile(["diff", "--from", "helm/pay", "--hooks=include"]).exits_with(2);
    assert!(run.stderr.contains("helm get hooks"), "{run}");
}

#[test]
fn hooks_alone_are_an_empty_input() {
    let ws = Workspace::new();
    ws.write("hook.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {helm.sh/hook: test}}}");
    let diff = ws.reconcile(["diff", "-f", "hook.yaml"]).exits_with(2);
    assert!(diff.stderr.contains("the input has no objects but hooks, which are left out"), "{diff}");
    assert!(diff.stderr.contains("`--hooks include`") && diff.stderr.contains("`--allow-empty`"), "{diff}");
    ws.write("b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: {a: b}}}");
    let none = ws.reconcile(["diff", "-f", ".", "-l", "a!=b"]).exits_with(2);
    assert!(none.stderr.contains("the selector matches no objects but hooks"), "{none}");
    let empty = ws.reconcile(["diff", "-f", "hook.yaml", "--allow-empty"]).exits_with(0);
    assert!(empty.stdout.contains("1 hook left out"), "{empty}");
}

/// Argo CD's hooks have generated names, which no other object may have; what Helm 2 installed as a definition stays.
#[test]
fn hooks_of_argo_cd_need_no_name_and_definitions_are_no_hooks() {
    let ws = Workspace::new();
    let hook = "{apiVersion: batch/v1, kind: Job, metadata: {generateName: sync-, annotations: {argocd.argoproj.io/hook: PreSync}}, spec: {}}\n---\n";
    let copies =
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {helm.sh/hook: pre-install}}}\n---\n";
    let kept =
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {helm.sh/hook: 'crd-install, test'}}}\n";
    ws.write("a.yaml", &format!("{hook}{copies}{kept}"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.each("action"), ["ConfigMap a: create"]);
    assert_eq!(diff.report()["summary"]["hooks"], 2);
    let all = ws.reconcile(["diff", "-f", ".", "--hooks", "include"]).exits_with(2);
    assert!(all.stderr.contains("`metadata.generateName` cannot be compared"), "{all}");
    assert!(all.stderr.contains("is defined twice"), "{all}");
}

#[test]
fn a_mistake_is_reported_with_the_template_and_a_hostile_comment_is_none() {
    let ws = Workspace::new();
    let bad = |comment: &str| {
        let text = format!("---\n# Source: {comment}\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: UPPER}}\n");
        ws.stdin(&text).reconcile(["diff", "-f", "-"]).exits_with(4)
    };
    let run = bad("pay/templates/bad.yaml");
    assert!(run.stdout.contains("stdin:5:18") && run.stdout.contains("(from `pay/templates/bad.yaml`)"), "{run}");
    for comment in
        ["/etc/templates/passwd", "pay/templates/\u{202e}x", "https://example.com/templates/x", "../templates/x"]
    {
        let run = bad(comment);
        assert_eq!(run.report()["objects"][0]["source"], json!({"file": "stdin", "line": 3}));
        assert!(!run.stdout.contains("from `"), "{run}");
    }
    let unreadable = "---\n# Source: pay/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {}\n";
    let run = ws.stdin(unreadable).reconcile(["diff", "-f", "-"]).exits_with(2);
    assert!(run.stderr.contains("`metadata.name` is missing (from `pay/templates/a.yaml`)"), "{run}");
}

#[test]
fn a_hook_that_is_left_out_is_never_pruned() {
    let ws = Workspace::new();
    let set = ["--prune", "--applyset", "pay"];
    let object = |name: &str, hook: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, annotations: {{{hook}}}}}}}\n---\n")
    };
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: hook, annotations: {helm.sh/hook: pre-upgrade}}}\n";
    ws.write("a.yaml", &(object("a", "") + &object("b", "helm.sh/hook: test") + secret));
    let run = |arguments: &[&str]| ws.reconcile(arguments.iter().chain(&["-f", "."]).chain(&set));
    run(&["apply", "--hooks", "include"]).exits_with(0);
    let kinds =
        || ws.get("Secret", "pay")["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"].clone();
    assert_eq!(kinds(), "ConfigMap,Secret");
    assert_eq!(run(&["diff"]).exits_with(0).each("action"), ["ConfigMap a: none"]);
    assert_eq!(run(&["apply"]).exits_with(0).writes(), 0);
    assert!(ws.find("ConfigMap", "b").is_some() && ws.find("Secret", "hook").is_some());
    assert_eq!(kinds(), "ConfigMap,Secret", "the set goes on listing them");
    // Once no manifest has it, a hook is a member like any other.
    ws.write("a.yaml", &object("a", ""));
    let apply = run(&["apply"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "ConfigMap b: deleted", "Secret hook: deleted"]);
}

#[test]
fn what_helm_keeps_is_neither_pruned_nor_replaced() {
    let ws = Workspace::new();
    let set = ["-f", ".", "--prune", "--applyset", "pay"];
    let run = |arguments: &[&str]| ws.reconcile(arguments.iter().chain(&set));
    let map = |name: &str, data: &str, more: &str| {
        let immutable = format!("immutable: true, data: {{a: {data}}}");
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, annotations: {{{more}}}}}, {immutable}}}")
    };
    let keep = "helm.sh/resource-policy: keep";
    ws.write("a.yaml", &map("a", "x", ""));
    ws.write("b.yaml", &map("b", "x", keep));
    run(&["apply"]).exits_with(0);

    ws.write("b.yaml", &map("b", "new", keep));
    let diff = run(&["diff", "--replace=immutable"]).exits_with(1);
    let hint = diff.object("ConfigMap", "b")["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("kept because of its annotation `helm.sh/resource-policy: keep`"), "{diff}");
    let apply = run(&["apply", "--replace=immutable"]).exits_with(4);
    assert_eq!(apply.object("ConfigMap", "b")["outcome"], "failed", "{apply}");
    assert_eq!(ws.get("ConfigMap", "b")["data"]["a"], "x");
    // That of the live object counts as well, and only the manifest can allow the replacement.
    ws.write("b.yaml", &map("b", "new", "other: b"));
    ws.kubectl(["annotate", "configmap", "b", "--overwrite", "helm.sh/resource-policy=KEEP"]).exits_with(0);
    run(&["apply", "--replace=immutable"]).exits_with(4);
    ws.write("b.yaml", &map("b", "new", "kubectl-reconcile/replace: allow, helm.sh/resource-policy: keep"));
    run(&["apply", "--replace=immutable"]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "b")["data"]["a"], "new");

    fs::remove_file(ws.folder().join("b.yaml")).unwrap();
    let diff = run(&["diff"]).exits_with(0);
    let reason = diff.object("ConfigMap", "b")["reason"].as_str().unwrap();
    assert_eq!(reason, "kept because of its annotation `helm.sh/resource-policy: keep`");
    let apply = run(&["apply"]).exits_with(0);
    assert!(apply.stdout.contains("1 kept") && ws.find("ConfigMap", "b").is_some(), "{apply}");
}

/// The first day of a team that comes from Helm: look, take over, upgrade, and prune what the new version no longer has.
#[test]
fn a_release_is_compared_taken_over_upgraded_and_pruned() {
    let ws = installed();
    let same = piped(&ws, "2.4.0", &["diff"]).exits_with(0);
    assert_eq!(same.report()["summary"]["inSync"], 12, "{same}");

    let bump = piped(&ws, "2.4.1", &["diff"]).exits_with(1);
    let summary = &bump.report()["summary"];
    assert_eq!((&summary["conflict"], &summary["objects"]), (&json!(11), &json!(11)), "{bump}");
    let hint = "hint: 11 objects are in conflict with `helm` only: pass `--adopt helm` if this tool takes over, or ";
    assert_eq!(bump.stdout.matches("hint:").count(), 1, "{bump}");
    assert!(bump.stdout.contains(hint), "{bump}");
    piped(&ws, "2.4.1", &["apply"]).exits_with(4);

    let adopting = ["--adopt", "helm", "--prune", "--applyset", "pay"];
    let taken = piped(&ws, "2.4.0", &[&["apply"][..], &adopting].concat()).exits_with(0);
    assert_eq!(taken.report()["summary"]["objects"], 12, "{taken}");
    let set = ["--prune", "--applyset", "pay"];
    let bump = piped(&ws, "2.4.1", &[&["diff"][..], &set].concat()).exits_with(1);
    assert_eq!(bump.report()["summary"]["conflict"], 0, "{bump}");
    assert!(!bump.stdout.contains("by helm"), "{bump}");
    assert_eq!(bump.object("Deployment", "pay-worker")["action"], "delete");
    let apply = piped(&ws, "2.4.1", &[&["apply"][..], &set].concat()).exits_with(0);
    assert_eq!(apply.object("Deployment", "pay-worker")["outcome"], "deleted", "{apply}");
    let again = piped(&ws, "2.4.1", &[&["apply"][..], &set].concat()).exits_with(0);
    assert_eq!(again.writes(), 0, "{again}");

    // A release that is uninstalled leaves what its chart keeps.
    let rest = "---\n# Source: pay/templates/serviceaccount.yaml\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: pay}\n";
    let run = ws.stdin(rest).reconcile([&["apply", "-f", "-"][..], &set].concat()).exits_with(0);
    let claim = run.object("PersistentVolumeClaim", "pay-data");
    assert_eq!(claim["reason"], "kept because of its annotation `helm.sh/resource-policy: keep`", "{run}");
    assert!(ws.find("PersistentVolumeClaim", "pay-data").is_some() && ws.find("Service", "pay").is_none());
}

/// A conflict with somebody else beside the installer is no case for `--adopt` alone.
#[test]
fn the_hint_names_an_installer_only_where_all_conflicts_are_with_it() {
    let ws = Workspace::new();
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: x, b: x}}";
    ws.apply_as("argocd-controller", map);
    ws.write("a.yaml", &map.replaced("a: x", "a: new"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let hint =
        "/a is in conflict with `argocd-controller` only: pass `--adopt argocd-controller` if this tool takes over";
    assert_eq!(diff.stdout.matches("hint:").count(), 1, "{diff}");
    let words: Vec<&str> = diff.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(hint), "{diff}");
    ws.patch_as("somebody", "configmap/a", &json!({"data": {"b": "z"}}));
    let both = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert!(!both.stdout.contains("--adopt") && both.stdout.contains("--force-conflicts"), "{both}");
    let report: Value = both.report().clone();
    assert_eq!(report["objects"][0]["conflicts"].as_array().unwrap().len(), 2);
}
