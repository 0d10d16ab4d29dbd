//! `pull --patch`: one question for each change, on a terminal.

use std::fs;

use serde_json::json;

use super::{TIDY, applied, text};
use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

fn answered(ws: &Workspace, answers: &str) -> Run {
    ws.as_user("admin").stdin(answers).on_terminal().reconcile(["pull", "-f", ".", "-p", "--color=never"])
}

fn lines(run: &Run) -> Vec<&str> {
    run.stderr.lines().map(str::trim_end).collect()
}

#[test]
fn each_change_is_asked_about_with_its_lines_and_its_owner() {
    let ws = applied(TIDY);
    ws.scale("deployment/web", 5);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    ws.stdin("y\n").reconcile(["pull", "-f", ".", "--patch"]).exits_with(2);
    let run = answered(&ws, "?\nn\ny\n").exits_with(0);
    let shown = lines(&run);
    for line in [
        "n - leave it out",
        "a - write this change and all later ones of the file",
        "d - leave out this change and all later ones of the file",
        "q - quit: leave out this change and all later ones",
        "? - show this help",
        "-  replicas: 2   # one for each zone",
        "+  replicas: 5   # one for each zone",
    ] {
        assert!(shown.contains(&line), "{line}: {run}");
    }
    let question = format!("Deployment {}/web spec.replicas  changed by kubectl (scale)", ws.namespace());
    assert!(shown.iter().any(|line| line.ends_with(&question)), "{run}");
    // The question comes again behind the help.
    let help = shown.iter().position(|line| *line == "? - show this help").unwrap();
    assert_eq!(shown[help + 1], question, "{run}");
    assert_eq!(text(&ws), TIDY.replaced("web:1.2", "web:hotfix"), "{run}");
    answered(&ws, "q\n").exits_with(0);
    assert_eq!(text(&ws), TIDY.replaced("web:1.2", "web:hotfix"));
    answered(&ws, "a\n").exits_with(0);
    assert_eq!(text(&ws), TIDY.replaced("web:1.2", "web:hotfix").replaced("replicas: 2", "replicas: 5"));
}

#[test]
fn the_rest_of_a_file_can_be_left_out() {
    let ws = Workspace::new();
    let map =
        |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  a: x\n  b: x\n");
    for name in ["one", "two"] {
        ws.write(format!("{name}.yaml"), &map(name));
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for name in ["one", "two"] {
        ws.patch_as("kubectl-edit", &format!("configmap/{name}"), &json!({"data": {"a": "w", "b": "w"}}));
    }
    let run = answered(&ws, "d\ny\nn\n").exits_with(0);
    let read = |name: &str| fs::read_to_string(ws.folder().join(name)).unwrap();
    assert_eq!((read("one.yaml"), read("two.yaml")), (map("one"), map("two").replaced("a: x", "a: w")), "{run}");
    let reasons = ["data.a: the answer was no", "data.b: it was not asked about", "data.b: the answer was no"];
    assert!(reasons.iter().all(|reason| run.stdout.contains(reason)), "{run}");
}

#[test]
fn long_values_are_distinguished() {
    let part = "a word and another one ".repeat(40);
    let map = |middle: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata:\n  a: |\n    {part}\n    {middle}\n    {part}\n"
        )
    };
    let ws = applied(&map("old"));
    let live = json!({"data": {"a": format!("{part}\nnew\n{part}\n")}});
    ws.patch_as("kubectl-edit", "configmap/m", &live);
    let run = answered(&ws, "y\n").exits_with(0);
    let shown = lines(&run);
    assert!(shown.contains(&"-    old") && shown.contains(&"+    new"), "{run}");
    assert_eq!(text(&ws), map("new"));
}

#[test]
fn a_change_that_cannot_be_made_is_not_asked_about() {
    let ws = applied("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: &x x\n  b: *x\n  c: x\n");
    ws.patch_as("kubectl-edit", "configmap/m", &json!({"data": {"a": "w", "c": "w"}}));
    let run = answered(&ws, "y\n").exits_with(4);
    assert!(!run.stderr.contains("data.a") && run.stdout.contains("data.a: its value has an anchor"), "{run}");
    assert!(text(&ws).ends_with("  a: &x x\n  b: *x\n  c: w\n"), "{run}");
}

#[test]
fn a_checksum_beside_the_object_that_it_follows_is_shown_with_its_owner() {
    let ws = Workspace::new();
    let web = WEB.replaced(
        "template:\n    metadata: {labels: {app: web}}",
        "template:\n    metadata: {labels: {app: web}, annotations: {checksum/config: aaaa1111}}",
    );
    let extra = "containers:\n      - {name: extra, image: shop/extra:1, envFrom: [{configMapRef: {name: settings}}]}";
    let web = web.replaced("containers:", extra);
    ws.write(
        "all.yaml",
        &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings}}\ndata: {{a: x}}\n---\n{web}"),
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"a": "y"}}));
    let annotations = json!({"annotations": {"checksum/config": "bbbb2222"}});
    ws.patch_as("kubectl-edit", "deployment/web", &json!({"spec": {"template": {"metadata": annotations}}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert!(!diff.object("Deployment", "web")["changes"][0]["follows"].is_null(), "{diff}");
    let run = answered(&ws, "n\nn\n").exits_with(0);
    let question = "annotations[\"checksum/config\"]  changed by kubectl-edit";
    assert!(lines(&run).iter().any(|line| line.contains(question)), "{run}");
    let dry = ws.reconcile(["pull", "-f", ".", "--dry-run", "-o", "json"]).exits_with(1);
    assert!(dry.stdout.contains("bbbb2222") && !dry.stdout.contains("follows"), "{dry}");
}
