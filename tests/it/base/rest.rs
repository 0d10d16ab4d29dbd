//! What only the base has, and what the manifests have as the base has it.

use std::collections::BTreeSet;

use serde_json::json;

use crate::control_plane::{Replaced as _, Run, Workspace};
use crate::manifests::WEB;

fn map(name: &str, text: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, labels: {{app: {name}}}}}, data: {{text: '{text}'}}}}\n"
    )
}

fn with_base() -> Workspace {
    let ws = Workspace::new();
    for name in ["kept", "changed", "dropped", "gone"] {
        ws.write(format!("old/{name}.yaml"), &map(name, "1"));
    }
    ws.kubectl(["create", "-f", "old"]).exits_with(0);
    ws.kubectl(["delete", "configmap/gone"]).exits_with(0);
    ws.write("new/kept.yaml", &map("kept", "1"));
    ws.write("new/changed.yaml", &map("changed", "2"));
    ws
}

#[test]
fn an_object_that_is_no_longer_in_the_manifests_is_told_if_it_exists() {
    let ws = with_base();
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    let dropped = &diff.report()["dropped"];
    assert_eq!(dropped.as_array().unwrap().len(), 1, "{diff}");
    assert_eq!((&dropped[0]["kind"], &dropped[0]["name"]), (&json!("ConfigMap"), &json!("dropped")));
    assert_eq!(dropped[0]["source"]["file"], "old/dropped.yaml");
    assert_eq!(diff.report()["summary"]["dropped"], 1);
    let line = format!("- ConfigMap {}/dropped  no longer in the manifests; stays without --prune", ws.namespace());
    assert!(diff.stdout.contains(&line), "{diff}");
    for format in ["markdown", "html", "json"] {
        let shown = ws.reconcile(["diff", "-f", "new", "--base", "old", "-o", format]).exits_with(1);
        assert!(
            format == "json" || shown.stdout.contains("no longer in the manifests, and stays"),
            "{format}: {shown}"
        );
    }
    // It is no drift, and a selector chooses here as well.
    let one = ["diff", "-f", "new/kept.yaml", "--base", "old/kept.yaml", "--base", "old/dropped.yaml"];
    ws.reconcile(one).exits_with(0);
    let selected = ws.reconcile([&one[..], &["-l", "app=kept"]].concat()).exits_with(0);
    assert_eq!(selected.report().get("dropped"), None, "{selected}");
    let apply = ws.reconcile(["apply", "-f", "new", "--base", "old"]).exits_with(0);
    assert_eq!(apply.report()["summary"]["dropped"], 1, "{apply}");
    assert_eq!(apply.stdout.matches("stays without --prune").count(), 1, "{apply}");
    let apply = ws.reconcile(["apply", "-f", "new", "--base", "old", "--prune", "--applyset=shop"]).exits_with(0);
    assert_eq!(apply.stdout.matches("stays, because it is no member of the apply set").count(), 1, "{apply}");
}

/// Somebody changed what the manifests drop: its deletion takes that change with it.
#[test]
fn the_deletion_of_an_object_that_the_cluster_changed_is_of_both_sides() {
    let ws = Workspace::new();
    ws.define("Note", "properties: {items: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer, default: 3}}}}}");
    let note =
        "{apiVersion: $NS.example.com/v1, kind: Note, metadata: {name: note}, spec: {items: [{name: a}, {name: b}]}}\n";
    let web = WEB.replaced("name: web", "name: old-web");
    for (file, text) in
        [("touched", &map("touched", "1")), ("quiet", &map("quiet", "1")), ("note", &note.to_owned()), ("web", &web)]
    {
        ws.write(format!("old/{file}.yaml"), text);
    }
    ws.write("new/kept.yaml", &map("kept", "1"));
    let set = ["--prune", "--applyset=shop"];
    ws.reconcile([&["apply", "-f", "old"][..], &set].concat()).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/touched", &json!({"data": {"text": "hand"}}));
    ws.kubectl(["scale", "deployment/old-web", "--replicas=5"]).exits_with(0);
    let flags = [&["-f", "new", "--base", "old"][..], &set].concat();
    let diff = ws.reconcile([&["diff"][..], &flags].concat()).exits_with(1);
    let sides =
        ["ConfigMap quiet: manifest", "ConfigMap touched: both", "Deployment old-web: manifest", "Note note: manifest"];
    let deleted = |run: &Run| run.each("side").into_iter().filter(|one| !one.contains("kept")).collect::<BTreeSet<_>>();
    assert_eq!(deleted(&diff), sides.map(str::to_owned).into(), "{diff}");
    assert!(diff.stdout.contains("touched  no longer in the manifests, and changed in the cluster"), "{diff}");
    for (gate, code) in [("both", 1), ("cluster", 1), ("either", 0)] {
        ws.reconcile([&["diff"][..], &flags, &["--fail-on", gate]].concat()).exits_with(code);
    }
    // Without a record nobody can tell, and without the base nothing is said to.
    let plain = ws.reconcile([&["diff", "-f", "new"][..], &set].concat()).exits_with(1);
    assert_eq!(plain.object("ConfigMap", "touched")["side"], "manifest", "{plain}");
    let apply = ws.reconcile([&["apply"][..], &flags, &["--only", "manifest"]].concat()).exits_with(0);
    assert_eq!(apply.object("ConfigMap", "touched")["left"], json!([{"path": "", "class": "pruned", "side": "both"}]));
    assert!(ws.find("configmap", "touched").is_some() && ws.find("configmap", "quiet").is_none(), "{apply}");
    ws.reconcile([&["apply"][..], &flags, &["--only", "both"]].concat()).exits_with(0);
    assert!(ws.find("configmap", "touched").is_none());
}

#[test]
fn only_what_changed_is_read_and_compared() {
    let ws = with_base();
    ws.patch_as("kubectl-edit", "configmap/kept", &json!({"data": {"text": "hand"}}));
    let arguments = ["diff", "-f", "new", "--base", "old", "--changed-only"];
    let diff = ws.reconcile(arguments).exits_with(1);
    assert_eq!(diff.each("side"), ["ConfigMap changed: manifest"], "{diff}");
    assert_eq!(diff.report()["summary"]["unchanged"], 1);
    assert!(diff.stdout.contains("1 unchanged in the manifests, and not compared"), "{diff}");
    ws.reconcile(["apply", "-f", "new", "--base", "old", "--changed-only"]).exits_with(0);
    assert_eq!(ws.get("configmap", "kept")["data"]["text"], "hand");
    assert_eq!(ws.get("configmap", "changed")["data"]["text"], "2");
    let none = ws.reconcile(["diff", "-f", "new", "--base", "new", "--changed-only"]).exits_with(0);
    assert_eq!(none.report()["summary"]["unchanged"], 2, "{none}");
    ws.reconcile(["diff", "-f", "new", "--changed-only"]).exits_with(2);
    let prune = ["apply", "-f", "new", "--base", "old", "--changed-only", "--prune", "--applyset", "shop"];
    let refused = ws.reconcile(prune).exits_with(2);
    assert!(refused.stderr.contains("`--changed-only` and `--prune` cannot be combined"), "{refused}");
}

/// The live object has defaults that the base does not write, and client-side apply owns those of the objects that it created.
#[test]
fn what_the_manifest_of_client_side_apply_drops_was_changed_by_nobody_else() {
    let ws = Workspace::new();
    let service = |ports: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: s}}, spec: {{selector: {{app: s}}, ports: [{ports}]}}}}"
        )
    };
    let pods = |more: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: web, image: web{more}}}]}}}}}}}}"
        )
    };
    ws.write("old/s.yaml", &service("{port: 80, name: a}, {port: 81, name: b}"));
    ws.write("old/web.yaml", &pods(", livenessProbe: {tcpSocket: {port: 80}}"));
    ws.write("new/s.yaml", &service("{port: 80, name: a}"));
    ws.write("new/web.yaml", &pods(""));
    ws.kubectl(["apply", "-f", "old"]).exits_with(0);
    let fields = [
        ("Service", "s", "spec.ports[port=81,protocol=TCP]"),
        ("Deployment", "web", "spec.template.spec.containers[name=web].livenessProbe"),
    ];
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    for (kind, name, path) in fields {
        let change = diff.change(kind, name, path);
        assert_eq!([&change["class"], &change["side"]], ["pruned", "manifest"], "{diff}");
    }
    assert!(!diff.stdout.contains("overwrites"), "{diff}");
    // What an apply of other manifests than the base has added is lost.
    ws.write("other.yaml", &service("{port: 80, name: a}, {port: 81, name: b, appProtocol: http}"));
    ws.kubectl(["apply", "-f", "other.yaml"]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    assert_eq!(diff.change("Service", "s", "spec.ports[port=81,protocol=TCP]")["side"], "both", "{diff}");
}
