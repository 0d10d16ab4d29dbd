//! Trees that somebody else has made: what is fetched, run, linked or changed meanwhile.

use std::fs;
use std::sync::Arc;

use serde_json::json;

use super::kustomize::{EXTRA, OVERLAY, places, replaced, shop, text};
use super::overlays::{builds, counting};
use super::pulled;
use crate::control_plane::{Fault, Proxy, Replaced as _, Workspace};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: one}\n";

#[test]
fn a_remote_base_is_not_fetched_again_and_named() {
    let ws = Workspace::new();
    for name in [
        "https://example.invalid/shop/base?ref=v1",
        "github.com/example/shop/base?ref=v1",
        "git@example.invalid:shop.git",
    ] {
        ws.write("k/kustomization.yaml", &format!("resources:\n- map.yaml\n- {name}\n"));
        ws.write("k/map.yaml", MAP);
        ws.write("built.yaml", MAP);
        let built = ws.folder().join("built.yaml").display().to_string();
        let path = counting(&ws, &format!("cat {built}; exit 0"));
        ws.env("PATH", &path).reconcile(["apply", "-k", "k"]).exits_with(0);
        replaced(&ws, "configmap/settings", "/data/a", &json!("two"));
        builds(&ws);
        let run = ws.env("PATH", &path).reconcile(["pull", "-k", "k"]).exits_with(4);
        assert!(
            run.stdout.contains("k/kustomization.yaml names ") && run.stdout.contains(name.split('?').next().unwrap()),
            "{run}"
        );
        assert_eq!((builds(&ws), text(&ws, "k/map.yaml")), (1, MAP.to_owned()), "{run}");
    }
}

#[test]
fn plugins_are_never_run() {
    let ws = Workspace::new();
    ws.write("k/kustomization.yaml", "resources: [map.yaml]\ngenerators: [run.yaml]\n");
    ws.write("k/map.yaml", MAP);
    let marker = ws.home().join("was-run").display().to_string();
    ws.write("k/run.sh", &format!("#!/bin/sh\ntouch {marker}\n"));
    #[cfg(unix)]
    fs::set_permissions(ws.folder().join("k/run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for function in ["exec: {path: ./run.sh}", "container: {image: example.invalid/run}"] {
        let plugin = format!(
            "apiVersion: example.com/v1\nkind: Run\nmetadata:\n  name: run\n  annotations:\n    config.kubernetes.io/function: |\n      {function}\n"
        );
        ws.write("k/run.yaml", &plugin);
        let run = ws.reconcile(["pull", "-k", "k"]).exits_with(2);
        assert!(run.stderr.contains("kustomize"), "{run}");
    }
    assert!(!ws.home().join("was-run").exists());
}

#[test]
fn a_file_that_is_saved_meanwhile_is_left_alone_and_the_others_are_written() {
    let ws = shop();
    let extra = ws.folder().join("overlays/prod/extra.yaml").display().to_string();
    // The first build is that of the run, and the second one tries the edits.
    let path = counting(&ws, &format!("if [ $n -eq 2 ]; then echo '# saved' >> {extra}; fi"));
    replaced(&ws, "deployment/web", "/spec/minReadySeconds", &json!(9));
    replaced(&ws, "configmap/banner", "/data/text", &json!("closed"));
    builds(&ws);
    let run = ws.env("PATH", &path).reconcile(["pull", "-k", "overlays/prod", "-o", "json"]).exits_with(4);
    assert_eq!(places(&run).len(), 1, "{run}");
    assert!(run.stdout.contains("the file has changed since it was read: run again"), "{run}");
    assert_eq!(text(&ws, "overlays/prod/extra.yaml"), format!("{EXTRA}# saved\n"));
    let expected = OVERLAY.replaced("minReadySeconds: 3", "minReadySeconds: 9");
    assert_eq!(text(&ws, "overlays/prod/kustomization.yaml"), expected);
    assert!(pulled(&run)["files"].as_array().unwrap().len() == 1, "{run}");
}

#[test]
fn a_file_that_is_saved_while_the_cluster_is_read_is_left_alone_as_well() {
    let ws = shop();
    let extra = ws.folder().join("overlays/prod/extra.yaml");
    replaced(&ws, "deployment/web", "/spec/minReadySeconds", &json!(9));
    replaced(&ws, "configmap/banner", "/data/text", &json!("closed"));
    let proxy = Proxy::new(&ws);
    let save = move || fs::write(&extra, format!("{EXTRA}# saved\n")).unwrap();
    proxy.inject(1, "GET", "deployments", Fault::After(Arc::new(save)));
    let run = ws.through(&proxy.url()).reconcile(["pull", "-k", "overlays/prod", "-o", "json"]).exits_with(4);
    assert_eq!(places(&run).len(), 1, "{run}");
    assert_eq!(text(&ws, "overlays/prod/extra.yaml"), format!("{EXTRA}# saved\n"));
    let expected = OVERLAY.replaced("minReadySeconds: 3", "minReadySeconds: 9");
    assert_eq!(text(&ws, "overlays/prod/kustomization.yaml"), expected);
}

#[test]
fn what_a_failed_build_quotes_is_not_shown_where_it_may_be_secret() {
    let ws = Workspace::new();
    ws.secret("hunter2-of-the-build");
    let patch = "patches:\n- target: {kind: Secret}\n  patch: |\n    - op: add\n      path: /stringData/x\n     value: hunter2-of-the-build\n";
    for (kustomization, start) in [
        ("secretGenerator:\n- name: a\n  literals: [hunter2-of-the-build]\n", "literal sources …"),
        (&*format!("resources: [map.yaml]\n{patch}"), "…"),
    ] {
        ws.write("map.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: a}}\n");
        ws.write("kustomization.yaml", kustomization);
        let run = ws.reconcile(["diff", "-k", "."]).exits_with(2);
        assert!(run.stderr.contains(start) && run.stderr.contains("shows it"), "{run}");
        assert!(!run.stderr.contains("hunter2"), "{run}");
    }
    // Elsewhere, the message is whole.
    ws.write("kustomization.yaml", "configMapGenerator:\n- name: a\n  literals: [nothing]\n");
    let run = ws.reconcile(["diff", "-k", "."]).exits_with(2);
    assert!(run.stderr.contains("invalid literal source nothing"), "{run}");
}

#[test]
fn a_build_that_hangs_is_stopped() {
    let ws = shop();
    let path = counting(&ws, "if [ $n -gt 1 ]; then exec sleep 600; fi");
    replaced(&ws, "deployment/web", "/spec/minReadySeconds", &json!(9));
    builds(&ws);
    let start = std::time::Instant::now();
    let run = ws.env("PATH", &path).reconcile(["pull", "-k", "overlays/prod"]).exits_with(4);
    assert!(run.stdout.contains("did not end in time"), "{run}");
    assert!(start.elapsed().as_secs() < 120, "{run}");
    assert_eq!(text(&ws, "overlays/prod/kustomization.yaml"), OVERLAY);
}

#[test]
fn transformers_charts_and_replacements_are_named() {
    let ws = Workspace::new();
    let chart = "---\n# Source: shop/templates/map.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  a: one\n";
    ws.write("kustomization.yaml", "resources: [all.yaml, plain.yaml]\ntransformers: [owner.yaml]\n");
    ws.write("all.yaml", chart);
    ws.write("plain.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n");
    let transformer = "\
apiVersion: builtin
kind: AnnotationsTransformer
metadata: {name: owner}
annotations: {owner: team-a}
fieldSpecs:
- path: metadata/annotations
  create: true
";
    ws.write("owner.yaml", transformer);
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    replaced(&ws, "configmap/settings", "/data/a", &json!("two"));
    replaced(&ws, "configmap/plain", "/metadata/annotations/owner", &json!("team-b"));
    let run = ws.reconcile(["pull", "-k", "."]).exits_with(4);
    assert!(run.stdout.contains("all.yaml was rendered from shop/templates/map.yaml"), "{run}");
    assert!(run.stdout.contains("it may be set by `transformers` of kustomization.yaml"), "{run}");
    assert_eq!((text(&ws, "all.yaml"), text(&ws, "owner.yaml")), (chart.to_owned(), transformer.to_owned()));
}

#[cfg(unix)]
#[test]
fn a_linked_base_is_a_base_and_that_of_another_repository_is_never_written() {
    let ws = Workspace::new();
    ws.write("shop/.git/HEAD", "ref: refs/heads/main\n");
    ws.write("shop/base/kustomization.yaml", "resources: [map.yaml]\n");
    ws.write("shop/base/map.yaml", MAP);
    ws.write("other/.git/HEAD", "ref: refs/heads/main\n");
    ws.write("other/kustomization.yaml", "resources: [map.yaml]\n");
    ws.write("other/map.yaml", MAP);
    ws.write("shop/prod/kustomization.yaml", "resources: [linked]\n");
    let link = ws.folder().join("shop/prod/linked");
    for (target, reason) in [("../base", None), ("../../other", Some("is not part of the repository"))] {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).unwrap();
        ws.reconcile(["apply", "-k", "shop/prod"]).exits_with(0);
        replaced(&ws, "configmap/settings", "/data/a", &json!("two"));
        let run = ws.reconcile(["pull", "-k", "shop/prod"]).exits_with(4);
        assert!(run.stdout.contains("outside of the overlay"), "{run}");
        let run = ws.reconcile(["pull", "-k", "shop/prod", "--edit-bases"]);
        let expected = MAP.replaced("one", "two");
        match reason {
            None => assert_eq!(text(&ws, "shop/base/map.yaml"), expected, "{run}"),
            Some(reason) => {
                assert!(run.stdout.contains(reason), "{run}");
                assert_eq!(text(&ws, "other/map.yaml"), MAP);
            }
        }
        ws.write("shop/base/map.yaml", MAP);
    }
}
