//! `own` gives fields to a manager. Its oracle is the server: no value changes, and a server-side apply of the manifest without force
//! is accepted afterwards.

mod law;
mod runs;
mod stories;

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;
use crate::ownership::owners_of as owners;

/// An object without the record of its owners and its version: what `own` never changes.
fn values(ws: &Workspace, kind: &str, name: &str) -> Value {
    let mut object = ws.get(kind, name);
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.remove("managedFields");
    metadata.remove("resourceVersion");
    object
}

/// The transfer of a field of an object.
#[track_caller]
fn transfer<'r>(run: &'r Run, kind: &str, name: &str, path: &str) -> &'r Value {
    let transfers = run.object(kind, name)["transfers"].as_array().unwrap();
    transfers.iter().find(|one| one["path"] == path).unwrap_or_else(|| panic!("no transfer of {path}: {run}"))
}

/// An apply of the manifests as a manager, without force.
fn applied_as(ws: &Workspace, manager: &str, file: &str) -> Run {
    ws.kubectl(["apply", "--server-side", "--field-manager", manager, "-f", file])
}

/// `own` has nothing left to do, and writes nothing.
#[track_caller]
fn is_settled(ws: &Workspace, arguments: &[&str]) {
    let before = ws.all_resource_versions();
    let again = ws.reconcile([&["own"], arguments].concat()).exits_with(0);
    assert_eq!(again.writes(), 0, "{again}");
    assert_eq!(ws.all_resource_versions(), before);
    ws.reconcile([&["own", "--dry-run"], arguments].concat()).exits_with(0);
}

#[test]
fn a_scaled_deployment_goes_back_to_its_applier() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    applied_as(&ws, "helm", "web.yaml").exits_with(0);
    ws.scale("deployment/web", 5);
    ws.write("web.yaml", &WEB.replaced("replicas: 2", "replicas: 5"));
    let changed = WEB.replaced("replicas: 2", "replicas: 5").replaced("shop/web:1.2", "shop/web:1.3");
    let before = values(&ws, "Deployment", "web");
    let arguments = ["-f", "web.yaml", "--field-manager", "helm"];

    let shown = ws.reconcile([&["own", "--dry-run"], &arguments[..]].concat()).exits_with(1);
    assert_eq!(shown.report()["command"], "own");
    assert_eq!(shown.report()["verdict"], "drift");
    let expected = json!({"path": "spec.replicas", "from": ["kubectl"], "to": "helm"});
    assert_eq!(shown.object("Deployment", "web")["transfers"], json!([expected]));
    assert_eq!(shown.object("Deployment", "web")["changes"], json!([]));
    assert!(shown.stdout.contains("kubectl → helm: 1 field") && shown.stdout.contains("spec.replicas"), "{shown}");
    assert_eq!(shown.writes(), 0);
    assert_eq!(owners(&ws, "Deployment", "web", "/f:spec/f:replicas"), ["kubectl Update"]);

    let given = ws.reconcile([&["own"], &arguments[..]].concat()).exits_with(0);
    assert_eq!(given.object("Deployment", "web")["transfers"], json!([expected]));
    assert_eq!(given.object("Deployment", "web")["outcome"], "adopted");
    assert_eq!(given.report()["verdict"], "applied");
    assert_eq!(values(&ws, "Deployment", "web"), before);
    assert_eq!(owners(&ws, "Deployment", "web", "/f:spec/f:replicas"), ["helm Apply"]);
    is_settled(&ws, &arguments);
    ws.write("web.yaml", &changed.replaced("replicas: 5", "replicas: 3"));
    applied_as(&ws, "helm", "web.yaml").exits_with(0);
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 3);
}

#[test]
fn what_differs_is_listed_and_stays_with_its_owner() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    applied_as(&ws, "helm", "web.yaml").exits_with(0);
    ws.scale("deployment/web", 5);
    ws.patch_as("kubectl-edit", "deployment/web", &json!({"metadata": {"labels": {"tier": "front"}}}));
    let before = values(&ws, "Deployment", "web");
    let shown = ws.reconcile(["own", "-f", ".", "--field-manager", "helm", "--dry-run"]).exits_with(4);
    let given = ws.reconcile(["own", "-f", ".", "--field-manager", "helm"]).exits_with(4);
    for run in [&shown, &given] {
        let change = run.change("Deployment", "web", "spec.replicas");
        assert_eq!((&change["live"], &change["desired"]), (&json!(5), &json!(2)));
        assert_eq!(change["managers"][0]["manager"], "kubectl");
        assert_eq!((&run.report()["verdict"], &run.report()["summary"]["inSync"]), (&json!("incomplete"), &json!(0)));
        assert!(run.stdout.contains("1 field differs"), "{run}");
    }
    assert_eq!(values(&ws, "Deployment", "web"), before);
    assert_eq!(owners(&ws, "Deployment", "web", "/f:spec/f:replicas"), ["kubectl Update"]);
}

#[test]
fn an_object_of_kubectl_create_becomes_ours_and_others_keep_what_no_manifest_has() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["create", "-f", "web.yaml"]).exits_with(0);
    ws.kubectl(["annotate", "deployment/web", "note=kept"]).exits_with(0);
    let before = values(&ws, "Deployment", "web");
    let shown = ws.reconcile(["own", "-f", ".", "--dry-run"]).exits_with(1);
    let one = transfer(&shown, "Deployment", "web", "spec.replicas");
    assert_eq!((&one["from"], &one["to"]), (&json!(["kubectl-create"]), &json!("kubectl-reconcile")));
    ws.reconcile(["own", "-f", "."]).exits_with(0);
    assert_eq!(values(&ws, "Deployment", "web"), before);
    let image = r#"/f:spec/f:template/f:spec/f:containers/k:{"name":"web"}/f:image"#;
    assert_eq!(owners(&ws, "Deployment", "web", image), ["kubectl-reconcile Apply"]);
    assert_eq!(owners(&ws, "Deployment", "web", "/f:metadata/f:annotations/f:note"), ["kubectl-annotate Update"]);
    is_settled(&ws, &["-f", "."]);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.report()["summary"]["adopted"], 0, "{diff}");
    applied_as(&ws, "kubectl-reconcile", "web.yaml").exits_with(0);
}

#[test]
fn an_object_without_any_record_of_owners_gets_one() {
    let ws = Workspace::new();
    ws.write("settings.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1'}}");
    ws.kubectl(["create", "-f", "settings.yaml"]).exits_with(0);
    let reset = json!({"metadata": {"managedFields": [{}]}});
    ws.patch_as("kubectl-patch", "configmap/settings", &reset);
    assert_eq!(ws.get("ConfigMap", "settings")["metadata"].get("managedFields"), None);
    let shown = ws.reconcile(["own", "-f", ".", "--dry-run"]).exits_with(1);
    assert_eq!(transfer(&shown, "ConfigMap", "settings", "data.a")["from"], json!([]));
    ws.reconcile(["own", "-f", "."]).exits_with(0);
    assert_eq!(owners(&ws, "ConfigMap", "settings", "/f:data/f:a"), ["kubectl-reconcile Apply"]);
    is_settled(&ws, &["-f", "."]);
}

#[test]
fn a_folder_goes_from_one_applier_to_another_only_with_its_release() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    applied_as(&ws, "argocd-controller", "web.yaml").exits_with(0);
    let image = r#"/f:spec/f:template/f:spec/f:containers/k:{"name":"web"}/f:image"#;
    let before = values(&ws, "Deployment", "web");
    let to_flux = ["-f", "web.yaml", "--field-manager", "kustomize-controller"];
    ws.reconcile([&["own"], &to_flux[..]].concat()).exits_with(0);
    let both = ["argocd-controller Apply", "kustomize-controller Apply"];
    assert_eq!(owners(&ws, "Deployment", "web", image), both);
    let released = [&to_flux[..], &["--release", "argocd-*"]].concat();
    let shown = ws.reconcile([&["own", "--dry-run"], &released[..]].concat()).exits_with(1);
    assert_eq!(transfer(&shown, "Deployment", "web", "spec.replicas")["from"], json!(["argocd-controller"]));
    assert!(!shown.stderr.contains("--release"), "{shown}");
    ws.reconcile([&["own"], &released[..]].concat()).exits_with(0);
    assert_eq!(owners(&ws, "Deployment", "web", image), both[1..]);
    assert_eq!(values(&ws, "Deployment", "web"), before);
    is_settled(&ws, &released);
    let again = ws.reconcile([&["own", "--dry-run"], &released[..]].concat()).exits_with(0);
    assert!(again.stderr.contains("`--release argocd-*`: no field manager of these objects has this name"), "{again}");
    ws.write("web.yaml", &WEB.replaced("shop/web:1.2", "shop/web:1.3"));
    applied_as(&ws, "kustomize-controller", "web.yaml").exits_with(0);
}

#[test]
fn a_missing_object_is_told_and_not_created_and_the_others_are_given() {
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}");
    ws.kubectl(["create", "-f", "a.yaml"]).exits_with(0);
    ws.write("b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {b: '1'}}");
    for flags in [&["--dry-run"][..], &[]] {
        let run = ws.reconcile([&["own", "-f", "."], flags].concat()).exits_with(4);
        assert_eq!(run.object("ConfigMap", "b")["error"]["reason"], "NotFound");
        assert!(run.stdout.contains("it does not exist"), "{run}");
        assert_eq!(run.object("ConfigMap", "b")["transfers"], json!([]));
    }
    assert_eq!(ws.find("ConfigMap", "b"), None);
    assert_eq!(owners(&ws, "ConfigMap", "a", "/f:data/f:a"), ["kubectl-reconcile Apply"]);
}

#[test]
fn what_rules_ignore_and_what_autoscalers_change_is_not_given() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["create", "-f", "web.yaml"]).exits_with(0);
    ws.write(
        ".kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore: [{kind: Deployment, fields: ['metadata.labels.tier'], reason: somebody else labels}]",
    );
    ws.kubectl(["autoscale", "deployment/web", "--min=1", "--max=4"]).exits_with(0);
    let shown = ws.reconcile(["own", "-f", "web.yaml", "--dry-run"]).exits_with(1);
    let paths: Vec<&Value> =
        shown.object("Deployment", "web")["transfers"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert!(paths.contains(&&json!("metadata.labels.app")));
    assert!(!paths.contains(&&json!("metadata.labels.tier")) && !paths.contains(&&json!("spec.replicas")), "{shown}");
    ws.reconcile(["own", "-f", "web.yaml"]).exits_with(0);
    assert_eq!(owners(&ws, "Deployment", "web", "/f:spec/f:replicas"), ["kubectl-create Update"]);
    assert_eq!(owners(&ws, "Deployment", "web", "/f:metadata/f:labels/f:tier"), ["kubectl-create Update"]);
}

#[test]
fn a_secret_of_string_data_is_given_by_its_data_and_never_shown() {
    let ws = Workspace::new();
    let value = ws.secret("correct-horse-battery");
    ws.write(
        "pass.yaml",
        &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: pass}}, stringData: {{word: {value}}}}}"),
    );
    ws.kubectl(["create", "-f", "pass.yaml"]).exits_with(0);
    let shown = ws.reconcile(["own", "-f", ".", "--dry-run"]).exits_with(1);
    assert_eq!(transfer(&shown, "Secret", "pass", "stringData.word")["from"], json!(["kubectl-create"]));
    ws.reconcile(["own", "-f", "."]).exits_with(0);
    // As an apply of ours records it.
    assert_eq!(owners(&ws, "Secret", "pass", "/f:stringData/f:word"), ["kubectl-reconcile Apply"]);
    assert_eq!(owners(&ws, "Secret", "pass", "/f:data/f:word"), [""; 0]);
    is_settled(&ws, &["-f", "."]);
    ws.write("pass.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: pass}, stringData: {word: another-horse}}");
    let differs = ws.reconcile(["own", "-f", "."]).exits_with(4);
    assert!(!differs.stdout.contains("another-horse"), "{differs}");
}

#[test]
fn saved_plans_are_not_for_own() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["own", "-f", ".", "--plan", "plan.json"]).exits_with(2);
    ws.reconcile(["own", "-f", ".", "--save-plan", "plan.json"]).exits_with(2);
}
