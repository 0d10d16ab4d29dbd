//! Two overlays of one base, in the namespaces `stg` and `prd`, and a forgotten `-n`.

use serde_json::json;

use super::{SET, config_map, exists, needs, remove, run};
use crate::control_plane::{Run, Workspace};

const OBJECTS: [&str; 4] = ["deployment/web", "configmap/settings", "service/web", "serviceaccount/web"];

fn overlays() -> Workspace {
    let ws = Workspace::new();
    ws.write("base/kustomization.yaml", "resources: [objects.yaml]\n");
    ws.write(
        "base/objects.yaml",
        "
{apiVersion: v1, kind: Namespace, metadata: {name: any}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'shop/web:1'}]}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}
",
    );
    for (overlay, namespace) in [("staging", "stg"), ("prod", "prd")] {
        let kustomization = format!("namespace: $NS-{namespace}\nresources: [../../base]\n");
        ws.write(format!("overlays/{overlay}/kustomization.yaml"), &kustomization);
    }
    ws
}

#[track_caller]
fn on(ws: &Workspace, command: &str, overlay: &str, flags: &[&str]) -> Run {
    let path = ws.plane().kubectl().parent().unwrap().display().to_string();
    let folder = format!("overlays/{overlay}");
    // The key lets plans cover Secrets.
    let caller = ws.env("PATH", &path).env("KUBECTL_RECONCILE_PLAN_KEY", "a key");
    caller.reconcile([&[command, "-k", &folder], &SET[..], flags].concat())
}

#[track_caller]
fn is_whole(ws: &Workspace, namespace: &str) {
    assert!(exists(ws, "default", &format!("namespace/{namespace}")), "{namespace}");
    for object in OBJECTS {
        assert!(exists(ws, namespace, object), "{object}");
    }
}

/// A parent in the namespace of the context, as a run with other manifests leaves it.
fn with_parent_of_context(ws: &Workspace) {
    config_map(ws, "seed", "$NS");
    run(ws, "apply", &[]).exits_with(0);
    ws.delete("configmap/seed");
    remove(ws, "seed");
}

#[test]
fn each_overlay_has_a_parent_in_its_own_namespace() {
    let ws = overlays();
    let (stg, prd) = (ws.fill_in("$NS-stg"), ws.fill_in("$NS-prd"));
    let diff = on(&ws, "diff", "staging", &[]).exits_with(1);
    assert_eq!(diff.report()["applySet"]["parent"]["namespace"], json!(stg), "{diff}");
    on(&ws, "apply", "staging", &[]).exits_with(0);
    let apply = on(&ws, "apply", "prod", &[]).exits_with(0);
    assert!(apply.each("outcome").iter().all(|outcome| outcome.ends_with(": created")), "{apply}");
    for namespace in [&stg, &prd] {
        is_whole(&ws, namespace);
        assert!(exists(&ws, namespace, "secret/shop"), "the parent is in {namespace}");
        // Again, and nothing is written.
        let overlay = if *namespace == stg { "staging" } else { "prod" };
        assert_eq!(on(&ws, "apply", overlay, &[]).exits_with(0).writes(), 0);
    }
    assert_eq!(ws.find("Secret", "shop"), None, "and none in the namespace of the context");
    // With the flag, it is the same set.
    assert_eq!(on(&ws, "apply", "prod", &["-n", &prd]).exits_with(0).writes(), 0);
}

#[test]
fn overlays_that_share_a_parent_lose_nothing() {
    let ws = overlays();
    let (stg, prd) = (ws.fill_in("$NS-stg"), ws.fill_in("$NS-prd"));
    with_parent_of_context(&ws);
    let apply = on(&ws, "apply", "staging", &[]).exits_with(0);
    let warning =
        ws.fill_in("Secret $NS/shop, in the namespace of the context, and all objects are in namespace `$NS-stg`");
    assert!(apply.stderr.contains(&warning), "{apply}");

    let diff = on(&ws, "diff", "prod", &[]).exits_with(1);
    assert_eq!(needs(&diff, "Namespace", &stg), &json!(["namespaces"]));
    let elsewhere = diff.objects().iter().filter(|object| object["namespace"] == json!(stg));
    let needs: Vec<_> = elsewhere.map(|object| &object["deletion"]["needs"]).collect();
    assert_eq!(needs, [&json!(["other-namespaces"]); 4], "{diff}");
    assert!(diff.stdout.contains("5 deletions need --prune-allow=namespaces,other-namespaces"), "{diff}");

    let apply = on(&ws, "apply", "prod", &[]).exits_with(4);
    is_whole(&ws, &stg);
    is_whole(&ws, &prd);
    let left = apply.object("Namespace", &stg);
    assert_eq!((&left["outcome"], &left["deletion"]), (&json!("skipped"), &json!({"needs": ["namespaces"]})));
    assert_eq!(left["reason"], "not pruned: everything in the Namespace is deleted with it");
    let flag = "--prune-allow=namespaces,other-namespaces";
    assert!(left["hint"].as_str().unwrap().contains(flag), "{apply}");
    assert!(
        apply.stdout.contains(&format!("skipped Namespace {stg}: not pruned: ")) && apply.stdout.contains(flag),
        "{apply}"
    );
    // Half of the consent is none.
    on(&ws, "apply", "prod", &["--prune-allow=namespaces"]).exits_with(4);
    on(&ws, "apply", "prod", &["--prune-allow=other-namespaces,most"]).exits_with(4);
    is_whole(&ws, &stg);
}

#[test]
fn a_generated_object_is_one_object_under_a_new_name() {
    let ws = Workspace::new();
    let value = ws.secret("generated-and-never-shown");
    let write = |timeout: &str, value: &str| {
        let generators = format!(
            "namespace: $NS\nconfigMapGenerator: [{{name: web-config, literals: [timeout={timeout}, retries=3]}}]\n\
             secretGenerator: [{{name: web-secret, literals: [password={value}]}}]\n"
        );
        ws.write("overlays/staging/kustomization.yaml", &generators);
    };
    write("30s", "first");
    let names = |run: &Run| -> Vec<String> {
        run.objects().iter().map(|object| object["name"].as_str().unwrap().to_owned()).collect()
    };
    let before = names(&on(&ws, "apply", "staging", &[]).exits_with(0));
    write("45s", &value);
    let diff = on(&ws, "diff", "staging", &["-o", "json"]).exits_with(1);
    let after = names(&diff);
    assert_eq!(
        (after.len(), &diff.report()["summary"]["update"], &diff.report()["summary"]["delete"]),
        (2, &json!(2), &json!(0))
    );
    for (object, (old, new)) in diff.objects().iter().zip(before.iter().zip(&after)) {
        assert!(old != new && object["renamedFrom"] == json!(old) && object["action"] == "update", "{object:#}");
    }
    let change = &diff.object("ConfigMap", &after[0])["changes"];
    assert_eq!(change.as_array().unwrap().len(), 1, "{change:#}");
    assert_eq!(
        (&change[0]["path"], &change[0]["live"], &change[0]["desired"]),
        (&json!("data.timeout"), &json!("30s"), &json!("45s"))
    );
    for format in ["text", "markdown", "html", "github", "gitlab", "junit", "sarif", "unified"] {
        let diff = on(&ws, "diff", "staging", &["-o", format]).exits_with(1);
        let is_named = diff.stdout.contains(&format!("under a new name, was {}", before[0])) || format == "text";
        assert!(is_named && diff.stdout.contains("45s") && diff.stdout.contains("30s"), "{format}: {diff}");
    }
    // A plan has both, and its apply does both.
    on(&ws, "diff", "staging", &["--save-plan", "plan.json"]).exits_with(1);
    let apply = on(&ws, "apply", "staging", &["--plan", "plan.json"]).exits_with(0);
    assert_eq!(apply.each("outcome").iter().filter(|outcome| outcome.ends_with(": updated")).count(), 2, "{apply}");
    assert_eq!(
        (&apply.report()["summary"]["update"], apply.object("ConfigMap", &after[0]).get("renamedFrom").is_some()),
        (&json!(2), true),
        "{apply}"
    );
    assert!(ws.find("configmap", &before[0]).is_none() && ws.find("configmap", &after[0]).is_some());
    on(&ws, "diff", "staging", &[]).exits_with(0);
}

#[test]
fn a_parent_or_a_deletion_that_is_not_expected_is_refused_whatever_is_allowed() {
    let ws = overlays();
    let stg = ws.fill_in("$NS-stg");
    let allowed = ["--prune-allow=namespaces,definitions", "--prune-allow", "other-namespaces,most"];
    with_parent_of_context(&ws);
    on(&ws, "apply", "staging", &[]).exits_with(0);
    let expect = |namespaces: &str| {
        let text = format!("apiVersion: kubectl-reconcile/v1\nkind: Config\nexpect: {{namespaces: [{namespaces}]}}\n");
        ws.write("overlays/prod/.kubectl-reconcile.yaml", &text);
    };
    expect("$NS-prd");
    for command in ["diff", "apply"] {
        let refused = on(&ws, command, "prod", &allowed).exits_with(2);
        let message =
            ws.fill_in("Secret $NS/shop cannot be the parent of the apply set: namespace `$NS` is not expected here");
        assert!(refused.stderr.contains(&message), "{refused}");
    }
    expect("$NS-prd, $NS");
    for command in ["diff", "apply"] {
        let refused = on(&ws, command, "prod", &allowed).exits_with(4);
        let error = &refused.object("Deployment", "web")["error"];
        let message = format!("it is not deleted, because namespace `{stg}` is not expected here");
        for kind in ["Namespace", "Service"] {
            let name = if kind == "Namespace" { stg.as_str() } else { "web" };
            let stated = refused.report()["objects"]
                .as_array()
                .unwrap()
                .iter()
                .find(|object| object["kind"] == kind && object["name"] == name && object["action"] == "delete");
            assert!(stated.unwrap()["error"]["message"].as_str().unwrap().starts_with(&message), "{error} {refused}");
        }
        assert!(refused.stdout.contains(&message), "{refused}");
    }
    is_whole(&ws, &stg);
    is_whole(&ws, &ws.fill_in("$NS-prd"));
}
