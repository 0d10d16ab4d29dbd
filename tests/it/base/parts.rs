//! The three parts of a comparison with a base: what a change overwrites, what it does, and what differs anyway.

use serde_json::json;

use crate::control_plane::{Run, Workspace};
use crate::manifests::WEB;

fn map(name: &str, data: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {data}}}\n")
}

/// ConfigMaps that were applied as in the folder `base`, and changed since then as their names say.
fn changed(names: &[&str]) -> Workspace {
    let ws = Workspace::new();
    for name in names {
        ws.write(format!("base/{name}.yaml"), &map(name, "{a: '1', b: '1'}"));
        let ours = match *name {
            "moved" => "{a: '1', b: '1'}",
            "mixed" => "{a: '2', b: '1'}",
            _ => "{a: '2', b: '2'}",
        };
        ws.write(format!("next/{name}.yaml"), &map(name, ours));
    }
    ws.reconcile(["apply", "-f", "base"]).exits_with(0);
    for name in names {
        let patch = match *name {
            "hotfix" => json!({"data": {"a": "hot"}}),
            "moved" | "mixed" => json!({"data": {"b": "hand"}}),
            _ => continue,
        };
        ws.patch_as("kubectl-edit", &format!("configmap/{name}"), &patch);
    }
    ws
}

const OVERWRITES: &str = "⚠ this change overwrites changes in the cluster\n";
const CHANGE: &str = "this change\n";
const DRIFT: &str = "already differs in the cluster, and this change leaves it alone\n";

#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no `{part}` at its place in:\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

fn diff(ws: &Workspace, flags: &[&str]) -> Run {
    ws.reconcile([&["diff", "-f", "next", "--base", "base", "--exit-zero"], flags].concat()).exits_with(0)
}

#[test]
fn an_object_without_differences_is_below_none_of_their_headings() {
    let ws = changed(&["moved", "change"]);
    ws.write("next/change.yaml", &map("change", "{a: 1}"));
    let run = ws.reconcile([
        "diff",
        "-f",
        "next",
        "--base",
        "base",
        "-o",
        "markdown=m.md",
        "-o",
        "html=p.html",
        "-o",
        "text",
    ]);
    let wrong = ws.fill_in("ConfigMap $NS/change");
    in_order(&run.exits_with(4).stdout, &[DRIFT, "ConfigMap", "\neverything else\n! ", &wrong]);
    let read = |file: &str| std::fs::read_to_string(ws.folder().join(file)).unwrap();
    in_order(
        &read("m.md"),
        &["</details>", "**everything else**", &wrong, DRIFT.trim_end(), "**everything else**", &wrong],
    );
    in_order(&read("p.html"), &[DRIFT.trim_end(), "everything else", "change"]);
    // Where nothing else is shown, there is no heading for it.
    ws.write("next/change.yaml", &map("change", "{a: '1', b: '1'}"));
    assert!(!diff(&ws, &[]).stdout.contains("everything else"));
}

#[test]
fn the_text_shows_what_is_overwritten_first_and_what_differs_anyway_last() {
    let ws = changed(&["change", "hotfix", "mixed", "moved"]);
    let run = diff(&ws, &[]);
    let name = |name: &str| ws.fill_in(&format!("~ ConfigMap $NS/{name} "));
    let parts = [
        OVERWRITES,
        &name("hotfix"),
        "data.a: hot → \"2\"",
        "overwrites kubectl-edit 2",
        CHANGE,
        &name("change"),
        &name("hotfix"),
        "data.b: \"1\" → \"2\"",
        &name("mixed"),
        "data.a: \"1\" → \"2\"",
        DRIFT,
        &name("mixed"),
        "data.b: hand → \"1\"",
        "by kubectl-edit 2",
        &name("moved"),
    ];
    in_order(&run.stdout, &parts);
    // An apply shows the same before it writes; without a base, nothing is divided.
    let apply = ws.reconcile(["apply", "-f", "next", "--base", "base", "--dry-run"]).exits_with(1);
    in_order(&apply.stdout, &parts);
    let plain = ws.reconcile(["diff", "-f", "next"]).exits_with(1);
    assert!(!plain.stdout.contains(CHANGE.trim_end()), "{plain}");
}

#[test]
fn titles_say_drift_only_of_what_differs_anyway() {
    let title = |names: &[&str]| {
        let run = diff(&changed(names), &["-o", "markdown"]);
        run.stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!(title(&["change"]), "### kubectl reconcile diff: changes");
    assert_eq!(title(&["change", "moved"]), "### kubectl reconcile diff: changes");
    assert_eq!(title(&["mixed"]), "### kubectl reconcile diff: changes");
    assert_eq!(title(&["hotfix", "moved"]), "### kubectl reconcile diff: changes that overwrite");
    assert_eq!(title(&["moved"]), "### kubectl reconcile diff: no changes; drift");
}

#[test]
fn comments_and_pages_fold_what_a_change_leaves_alone() {
    let ws = changed(&["change", "hotfix", "moved"]);
    let markdown = diff(&ws, &["-o", "markdown"]).stdout;
    let folded = format!("<details><summary>{}</summary>", DRIFT.trim_end());
    in_order(
        &markdown,
        &[OVERWRITES.trim_end(), "hotfix", "**this change**", "change", &folded, "moved", "</details>"],
    );
    assert_eq!(markdown.matches("<details>").count(), markdown.matches("</details>").count(), "{markdown}");
    let page = diff(&ws, &["-o", "html"]).stdout;
    let folded = format!("<details class=\"part\"><summary>{}</summary>", DRIFT.trim_end());
    in_order(
        &page,
        &["<h1>Changes that overwrite</h1>", OVERWRITES.trim_end(), "hotfix", "this change</h2>", &folded, "moved"],
    );
}

#[test]
fn formats_of_lines_say_the_part_of_each_difference() {
    let ws = changed(&["change", "hotfix", "moved"]);
    for format in ["github", "gitlab", "sarif", "junit"] {
        let text = diff(&ws, &["-o", format]).stdout;
        assert!(text.contains('⚠') && text.contains("overwrites kubectl-edit"), "{format}: {text}");
        assert!(text.contains("already differs in the cluster: "), "{format}: {text}");
    }
    let github = diff(&ws, &["-o", "github"]).stdout;
    in_order(&github, &["⚠ ", "data.a: \"1\" → \"2\"", "already differs in the cluster: "]);
}

/// The fields of one object, whose names are in another order than its parts.
#[test]
fn formats_of_lines_begin_with_what_is_overwritten() {
    let ws = Workspace::new();
    ws.write("base/it.yaml", &map("it", "{a: '1', b: '1', c: '1'}"));
    ws.reconcile(["apply", "-f", "base"]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/it", &json!({"data": {"a": "9", "c": "9"}}));
    ws.write("next/it.yaml", &map("it", "{a: '1', b: '2', c: '2'}"));
    for format in ["github", "gitlab", "sarif", "junit"] {
        let run = ws.reconcile(["diff", "-f", "next", "--base", "base", "-o", format]).exits_with(1);
        in_order(&run.stdout, &["⚠ ", "data.b", "already differs in the cluster: "]);
    }
}

/// What no release has is on an unknown side: it is not said to differ already, nor to be left alone.
#[test]
fn an_object_of_no_release_is_on_an_unknown_side() {
    let ws = changed(&["moved"]);
    ws.write("next/new.yaml", &map("new", "{a: '1'}"));
    ws.write("alone/new.yaml", &map("new", "{a: '1'}"));
    for format in ["text", "github", "markdown", "gitlab", "junit"] {
        let alone = ws.reconcile(["diff", "-f", "alone", "--base", "helm", "--exit-zero", "-o", format]).exits_with(0);
        for untrue in ["already differs", "leaves it alone", "no changes"] {
            assert!(!alone.stdout.contains(untrue), "{format}: {alone}");
        }
    }
    let alone = ws.reconcile(["diff", "-f", "alone", "--base", "helm"]).exits_with(1);
    assert_eq!(alone.object("ConfigMap", "new")["side"], "either", "{alone}");
}

/// What the base has and the manifests no longer have is a part of the change in every format that a reviewer reads.
#[test]
fn objects_that_are_no_longer_in_the_manifests_are_named_in_all_formats() {
    let ws = changed(&["change", "hotfix"]);
    ws.write("base/gone.yaml", &map("gone", "{a: '1'}"));
    ws.reconcile(["apply", "-f", "base/gone.yaml"]).exits_with(0);
    for format in ["text", "github", "markdown", "gitlab", "sarif", "unified", "html"] {
        let run = diff(&ws, &["-o", format]);
        let named = run.stdout.lines().any(|line| line.contains("gone") && line.contains("no longer in the manifests"));
        assert!(named, "{format}: {run}");
    }
    let page = diff(&ws, &["-o", "html"]);
    assert!(page.stdout.contains("(was \"1\")") || page.stdout.contains("(was &quot;1&quot;)"), "{page}");
}

/// An effect is told where the differences are that it follows from.
#[test]
fn effects_of_what_differs_anyway_are_none_of_this_change() {
    let ws = Workspace::new();
    ws.write("base/web.yaml", WEB);
    ws.write("next/web.yaml", &WEB.replace("tier: front", "tier: front, team: x"));
    ws.reconcile(["apply", "-f", "base"]).exits_with(0);
    ws.kubectl(["scale", "deployment/web", "--replicas=6"]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/web", "*=registry.example.com/hot:1"]).exits_with(0);
    let run = diff(&ws, &[]);
    in_order(&run.stdout, &[CHANGE, "metadata.labels.team: x", DRIFT, "spec.replicas: 6", "↳ restarts", "Pods stop"]);
    assert_eq!(run.stdout.matches('↳').count(), 2, "{run}");
    for format in ["markdown", "github"] {
        let run = diff(&ws, &["-o", format]);
        in_order(&run.stdout, &["team", "already differs in the cluster", "rolling update"]);
    }
}
