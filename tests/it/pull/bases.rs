//! `--add-patches` and `--edit-bases`: what only a base sets is patched in the overlay, or changed in the base for all overlays.

use serde_json::json;

use super::kustomize::{BASE, places, replaced, text};
use super::{patched, pulled};
use crate::control_plane::{Replaced as _, Run, Workspace};

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports:
  - name: http
    port: 80
    targetPort: 8080
";

const PROD: &str = "overlays/prod/kustomization.yaml";

/// A base with two objects, and an overlay that was applied.
fn shop(overlay: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("base/kustomization.yaml", "resources: [web.yaml, service.yaml]\n");
    ws.write("base/web.yaml", BASE);
    ws.write("base/service.yaml", SERVICE);
    ws.write(PROD, overlay);
    ws
}

fn pull(ws: &Workspace, flags: &[&str]) -> Run {
    ws.reconcile([&["pull", "-k", "overlays/prod", "-o", "json"], flags].concat())
}

/// Each change that was pulled as `HOW FILE PATH`.
fn hows(run: &Run) -> Vec<String> {
    let mut hows: Vec<String> =
        places(run).into_iter().map(|(path, file, how)| format!("{how} {file} {path}")).collect();
    hows.sort();
    hows
}

#[test]
fn what_only_the_base_sets_is_patched_in_one_file_for_each_kind() {
    let ws = shop("resources:\n- ../../base\n");
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(7));
    replaced(&ws, "deployment/web", "/spec/template/spec/terminationGracePeriodSeconds", &json!(40));
    replaced(&ws, "service/web", "/spec/ports/0/targetPort", &json!(9090));
    let refused = pull(&ws, &[]).exits_with(4);
    assert!(refused.stdout.contains("pass `--add-patches` to patch it in the overlay"), "{refused}");
    let run = pull(&ws, &["--add-patches"]).exits_with(0);
    let expected = [
        "newPatch overlays/prod/deployment-patch.yaml spec.revisionHistoryLimit",
        "newPatch overlays/prod/deployment-patch.yaml spec.template.spec.terminationGracePeriodSeconds",
        "newPatch overlays/prod/service-patch.yaml spec.ports[name=http].targetPort",
    ];
    let hows = hows(&run);
    assert_eq!(hows[..2], expected[..2], "{run}");
    assert!(hows[2].starts_with("newPatch overlays/prod/service-patch.yaml spec.ports["), "{run}");
    let kustomization = "\
resources:
- ../../base
patches:
- path: service-patch.yaml
- path: deployment-patch.yaml
";
    assert_eq!(text(&ws, PROD), kustomization);
    let patch = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  revisionHistoryLimit: 7
  template:
    spec:
      terminationGracePeriodSeconds: 40
";
    assert_eq!(text(&ws, "overlays/prod/deployment-patch.yaml"), patch);
    assert_eq!((text(&ws, "base/web.yaml"), text(&ws, "base/service.yaml")), (BASE.to_owned(), SERVICE.to_owned()));
    ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);

    // The next one is written into the same patch.
    replaced(&ws, "deployment/web", "/spec/template/spec/containers/0/envFrom/0/configMapRef/name", &json!("other"));
    let run = pull(&ws, &["--add-patches"]).exits_with(0);
    assert!(places(&run)[0].1 == "overlays/prod/deployment-patch.yaml", "{run}");
    assert_eq!(text(&ws, PROD), kustomization);
    ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);
}

#[test]
fn a_new_patch_looks_like_its_neighbours() {
    for (name, entry, expected) in [
        ("patches/patch-service.yml", "patches:\n- path: patches/patch-service.yml\n", "patches/patch-deployment.yml"),
        ("patches/web.yaml", "patches:\n- path: patches/web.yaml\n", "patches/deployment.yaml"),
        ("service_patch.yaml", "patches:\n  - path: service_patch.yaml\n", "deployment_patch.yaml"),
        ("web-service.yaml", "patchesStrategicMerge: [web-service.yaml]\n", "web-deployment.yaml"),
    ] {
        let ws = shop(&format!("resources:\n- ../../base\n{entry}"));
        let patch = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {sessionAffinity: ClientIP}}\n";
        ws.write(format!("overlays/prod/{name}"), patch);
        ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
        replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(7));
        let run = pull(&ws, &["--add-patches"]).exits_with(0);
        let [(_, file, how)] = &places(&run)[..] else { panic!("{run}") };
        assert_eq!((file.as_str(), how.as_str()), (&*format!("overlays/prod/{expected}"), "newPatch"), "{run}");
        let kustomization = text(&ws, PROD);
        assert!(kustomization.starts_with("resources:\n- ../../base\n"), "{kustomization}");
        assert!(kustomization.contains(expected), "{kustomization}");
        assert_eq!(kustomization.contains("patchesStrategicMerge"), entry.contains("patchesStrategicMerge"));
        ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);
        // A dry run writes neither file.
        replaced(&ws, "service/web", "/spec/ports/0/targetPort", &json!(9090));
        let dry = ws.reconcile(["pull", "-k", "overlays/prod", "--add-patches", "--dry-run"]).exits_with(1);
        assert!(dry.stdout.contains("targetPort: 9090"), "{dry}");
        assert_eq!((text(&ws, PROD), text(&ws, &format!("overlays/prod/{name}"))), (kustomization, patch.to_owned()));
    }
}

#[test]
fn a_base_is_edited_only_on_demand_and_the_other_overlays_are_named() {
    let ws = shop("resources:\n- ../../base\n");
    ws.write(".git/HEAD", "ref: refs/heads/main\n");
    ws.write("overlays/dev/kustomization.yaml", "nameSuffix: -dev\nresources: [../../base]\n");
    let own = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {revisionHistoryLimit: 1}}";
    ws.write("overlays/staging/kustomization.yaml", &format!("resources: [../../base]\npatches:\n- patch: '{own}'\n"));
    ws.write("overlays/other/kustomization.yaml", "resources: [map.yaml]\n");
    ws.write("overlays/other/map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}\n");
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(7));
    let dry = ws.reconcile(["pull", "-k", "overlays/prod", "--edit-bases", "--dry-run"]).exits_with(1);
    assert!(dry.stdout.contains("would also change overlays/dev: 1 value\n"), "{dry}");
    assert!(dry.stdout.contains("  Deployment web-dev spec.revisionHistoryLimit: 5 → 7\n"), "{dry}");
    assert!(dry.stdout.contains("overlays/staging has the file as well, and its build stays as it is\n"), "{dry}");
    assert!(!dry.stdout.contains("overlays/other"), "{dry}");
    assert_eq!(text(&ws, "base/web.yaml"), BASE);
    let run = pull(&ws, &["--edit-bases"]).exits_with(0);
    assert_eq!(
        hows(&run),
        [
            "newEntry overlays/prod/kustomization.yaml spec.template.spec.containers[name=web].image",
            "resource base/web.yaml spec.revisionHistoryLimit",
        ],
        "{run}"
    );
    let report = pulled(&run);
    let overlays = report["overlays"].as_array().unwrap();
    let change = json!({"object": "Deployment web-dev", "path": "spec.revisionHistoryLimit", "before": 5, "after": 7});
    assert_eq!(overlays[0], json!({"directory": "overlays/dev", "changes": [change]}), "{run}");
    assert_eq!(overlays[1], json!({"directory": "overlays/staging", "changes": []}), "{run}");
    assert_eq!(overlays.len(), 2, "{run}");
    assert_eq!(text(&ws, "base/web.yaml"), BASE.replaced("revisionHistoryLimit: 5", "revisionHistoryLimit: 7"));
    ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);

    // With both flags, the overlay's own place is made.
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(8));
    let run = pull(&ws, &["--edit-bases", "--add-patches"]).exits_with(0);
    assert_eq!(hows(&run), ["newPatch overlays/prod/deployment-patch.yaml spec.revisionHistoryLimit"], "{run}");
    assert!(pulled(&run).get("overlays").is_none(), "{run}");
}

#[test]
fn a_kustomization_that_has_the_file_in_a_generator_is_named_as_well() {
    let ws = Workspace::new();
    ws.write(".git/HEAD", "ref: refs/heads/main\n");
    ws.write(
        "base/kustomization.yaml",
        "configMapGenerator:\n- name: gen\n  files: [shared.txt]\n  options: {disableNameSuffixHash: true}\n",
    );
    ws.write("base/shared.txt", "old\n");
    ws.write("kustomization.yaml", "secretGenerator:\n- name: other\n  files: [base/shared.txt]\n");
    ws.write("prod/kustomization.yaml", "resources: [../base]\n");
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    replaced(&ws, "configmap/gen", "/data/shared.txt", &json!("new\n"));
    let run = ws.reconcile(["pull", "-k", "prod", "--edit-bases", "--dry-run"]).exits_with(1);
    assert!(run.stdout.contains("would also change .: 1 value\n") && run.stdout.contains("Secret other"), "{run}");
}

#[test]
fn the_flags_are_those_of_kustomizations() {
    let ws = shop("resources: [../../base]\n");
    for flag in ["--add-patches", "--edit-bases"] {
        let run = ws.reconcile(["pull", "-f", "base", flag]).exits_with(2);
        assert!(run.stderr.contains(&format!("`{flag}` is about kustomizations")), "{run}");
    }
}

#[test]
fn questions_show_the_place_and_what_is_left_out_stays() {
    let ws = shop("resources:\n- ../../base\nreplicas:\n- name: web\n  count: 2\n");
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    ws.scale("deployment/web", 4);
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(7));
    let ask = |answers: &str| {
        let arguments = ["pull", "-k", "overlays/prod", "--add-patches", "-p", "--color=never"];
        ws.as_user("admin").stdin(answers).on_terminal().reconcile(arguments)
    };
    let run = ask("n\ny\n").exits_with(0);
    assert!(run.stderr.contains("Write this into overlays/prod/deployment-patch.yaml?"), "{run}");
    assert!(run.stderr.contains("Write this into overlays/prod/kustomization.yaml?"), "{run}");
    assert!(run.stderr.contains("+  count: 4"), "{run}");
    assert_eq!(text(&ws, PROD), "resources:\n- ../../base\nreplicas:\n- name: web\n  count: 4\n", "{run}");
    assert!(!ws.folder().join("overlays/prod/deployment-patch.yaml").exists());
}

#[test]
fn resolve_writes_into_the_overlay() {
    let ws = shop("resources:\n- ../../base\nreplicas:\n- name: web\n  count: 2\n");
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    ws.scale("deployment/web", 4);
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(7));
    let resolve = |answers: &str| {
        let caller = ws.as_user("admin").stdin(answers).on_terminal();
        caller.reconcile(["resolve", "-k", "overlays/prod", "--color=never"])
    };
    // The replicas are pulled; what only the base sets cannot be, and is applied.
    let run = resolve("p\n?\na\ny\n").exits_with(0);
    assert!(run.stderr.contains("p is not offered: it is set in base/web.yaml"), "{run}");
    assert!(
        run.stderr.contains("+  count: 4") && run.stderr.contains("wrote overlays/prod/kustomization.yaml"),
        "{run}"
    );
    assert_eq!(text(&ws, PROD), "resources:\n- ../../base\nreplicas:\n- name: web\n  count: 4\n");
    let live = ws.get("Deployment", "web");
    assert_eq!((&live["spec"]["replicas"], &live["spec"]["revisionHistoryLimit"]), (&json!(4), &json!(5)), "{run}");
    ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);
    assert_eq!(text(&ws, "base/web.yaml"), BASE);
}

#[test]
fn resolve_makes_patches_and_edits_bases_as_pull_does() {
    let ws = shop("resources:\n- ../../base\n");
    ws.write(".git/HEAD", "ref: refs/heads/main\n");
    ws.write("overlays/dev/kustomization.yaml", "nameSuffix: -dev\nresources: [../../base]\n");
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    let resolve = |flag: &str| {
        let caller = ws.as_user("admin").stdin("p\ny\n").on_terminal();
        caller.reconcile(["resolve", "-k", "overlays/prod", flag, "--color=never"])
    };
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(7));
    let run = resolve("--edit-bases").exits_with(0);
    assert!(run.stderr.contains("would also change overlays/dev: 1 value"), "{run}");
    assert_eq!(text(&ws, "base/web.yaml"), BASE.replaced("revisionHistoryLimit: 5", "revisionHistoryLimit: 7"));
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(8));
    let run = resolve("--add-patches").exits_with(0);
    assert!(run.stderr.contains("Write 2 files"), "{run}");
    assert!(text(&ws, "overlays/prod/deployment-patch.yaml").contains("revisionHistoryLimit: 8"), "{run}");
    ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);
}

#[test]
fn what_was_added_and_removed_by_hand_is_patched() {
    let ws = shop("resources:\n- ../../base\n");
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    let env = json!([
        {"op": "add", "path": "/spec/template/spec/containers/0/env", "value": [{"name": "LOG", "value": "debug"}]},
        {"op": "remove", "path": "/spec/template/spec/containers/0/envFrom"},
    ]);
    patched(&ws, "deployment/web", &env);
    let flags = ["--add-patches", "--class", "unmanaged,absent,changedByOther"];
    let run = pull(&ws, &flags).exits_with(0);
    let patch = text(&ws, "overlays/prod/deployment-patch.yaml");
    assert!(patch.contains("- name: LOG\n") || patch.contains("name: LOG"), "{patch}\n{run}");
    ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);
}

/// A build merges the copies of an item in one list, so that only the text of the patch shows them.
#[test]
fn an_item_is_added_once_to_a_list_of_an_existing_patch() {
    let base = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: shop/web:1
        env:
        - {name: A, value: \"1\"}
        - {name: B, value: \"2\"}
";
    let patch = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - name: web
        env:
        - name: B
          value: \"3\"
";
    let lines = patch.trim_end().replaced("\n", "\n    ");
    for (entry, file) in
        [("- path: p1.yaml\n".to_owned(), "overlays/prod/p1.yaml"), (format!("- patch: |\n    {lines}\n"), PROD)]
    {
        let ws = Workspace::new();
        ws.write("base/kustomization.yaml", "resources: [web.yaml]\n");
        ws.write("base/web.yaml", base);
        ws.write(PROD, &format!("resources: [../../base]\npatches:\n{entry}"));
        ws.write("overlays/prod/p1.yaml", patch);
        ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
        ws.kubectl(["set", "env", "deployment/web", "A=one", "NEW=1", "NEXT=2"]).exits_with(0);
        ws.kubectl(["set", "image", "deployment/web", "web=shop/web:2"]).exits_with(0);
        let run = pull(&ws, &["--add-patches", "--class", "changedByOther,unmanaged"]).exits_with(0);
        let written = text(&ws, file);
        for name in ["A", "B", "NEW", "NEXT", "web"] {
            let line = |line: &&str| line.trim_start_matches([' ', '-']) == format!("name: {name}");
            assert_eq!(written.lines().filter(line).count(), 1, "{name}: {written}\n{run}");
        }
        ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);
    }
}
