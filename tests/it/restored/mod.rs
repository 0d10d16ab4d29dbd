//! `apply --from helm/RELEASE`: what the newest deployed revision stored is restored, and the fields stay Helm's.

mod flags;

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
use crate::stored::{store, stored, stored_by};

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: $NS}\nspec:\n  replicas: 2\n  \
    selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - \
    {name: web, image: web:1}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: $NS}\ndata: {a: one}\n";

/// The managers of an object, with what they do.
fn managers(object: &Value) -> Vec<String> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    let entries = object["metadata"]["managedFields"].as_array().unwrap().iter();
    let mut managers: Vec<String> =
        entries.map(|entry| format!("{} {}", text(entry, "manager"), text(entry, "operation"))).collect();
    managers.sort();
    managers
}

/// Installs the release as Helm 3 does, with creations, or as Helm 4 does, with server-side apply.
fn installed(ws: &Workspace, method: &str) {
    let manifest = ws.fill_in(DEPLOYMENT);
    stored_by(ws, "web", (1, "deployed"), Some(method), &manifest);
    if method == "ssa" {
        ws.apply_as("helm", &manifest);
    } else {
        ws.stdin(&manifest).kubectl(["create", "--field-manager=helm", "-f", "-"]).exits_with(0);
    }
}

fn restore(ws: &Workspace, flags: &[&str]) -> Run {
    ws.reconcile([&["apply", "--from", "helm/web"], flags].concat())
}

#[test]
fn a_release_of_helm_4_is_restored_by_server_side_apply() {
    let ws = Workspace::new();
    installed(&ws, "ssa");
    ws.scale("deployment/web", 5);
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"a": "two", "b": "more"}}));

    let before = ws.all_resource_versions();
    let dry = restore(&ws, &["--dry-run"]).exits_with(1);
    assert_eq!(dry.changes("Deployment", "web"), ["changedByOther spec.replicas"], "{dry}");
    assert_eq!(ws.all_resource_versions(), before);

    let run = restore(&ws, &[]).exits_with(0);
    assert_eq!(run.each("outcome"), ["ConfigMap settings: updated", "Deployment web: updated"], "{run}");
    assert_eq!(run.report()["release"]["revision"], 1);
    assert_eq!(run.stderr.lines().next(), Some("release web revision 1 (pay-2.4.0)"), "{run}");
    let web = ws.get("deployments", "web");
    assert_eq!(web["spec"]["replicas"], 2);
    assert_eq!(managers(&web), ["helm Apply"]);
    // What somebody added stays, with its owner.
    let settings = ws.get("configmaps", "settings");
    assert_eq!(settings["data"], json!({"a": "one", "b": "more"}));
    assert_eq!(managers(&settings), ["helm Apply", "kubectl-edit Update"]);
    // Helm itself would go on without a conflict.
    let next = ws.fill_in(&DEPLOYMENT.replaced("replicas: 2", "replicas: 3").replaced("a: one", "a: three"));
    ws.stdin(&next).kubectl(["apply", "--server-side", "--field-manager=helm", "-f", "-"]).exits_with(0);
    ws.apply_as("helm", &ws.fill_in(DEPLOYMENT));
    let again = restore(&ws, &[]).exits_with(0);
    assert_eq!(again.writes(), 0, "{again}");
}

#[test]
fn a_release_of_helm_3_is_restored_by_updates_of_what_differs() {
    let ws = Workspace::new();
    installed(&ws, "csa");
    ws.scale("deployment/web", 5);
    let settings = ws.resource_version("configmaps", "settings");
    let run = restore(&ws, &[]).exits_with(0);
    assert_eq!(run.each("outcome"), ["ConfigMap settings: unchanged", "Deployment web: updated"], "{run}");
    let web = ws.get("deployments", "web");
    assert_eq!(web["spec"]["replicas"], 2);
    assert!(managers(&web).iter().all(|manager| manager == "helm Update"), "{:?}", managers(&web));
    assert_eq!(ws.resource_version("configmaps", "settings"), settings);
    let again = restore(&ws, &[]).exits_with(0);
    assert_eq!(again.writes(), 0, "{again}");
}

#[test]
fn what_it_creates_has_the_label_and_the_annotations_of_helm() {
    for method in ["ssa", "csa"] {
        let ws = Workspace::new();
        installed(&ws, method);
        ws.delete("configmap/settings");
        ws.delete("deployment/web");
        let run = restore(&ws, &[]).exits_with(0);
        assert_eq!(run.report()["summary"]["create"], 2, "{run}");
        for (kind, name) in [("configmaps", "settings"), ("deployments", "web")] {
            let metadata = &ws.get(kind, name)["metadata"];
            assert_eq!(metadata["labels"]["app.kubernetes.io/managed-by"], "Helm");
            assert_eq!(metadata["annotations"]["meta.helm.sh/release-name"], "web");
            assert_eq!(metadata["annotations"]["meta.helm.sh/release-namespace"], ws.namespace());
        }
        let operation = if method == "ssa" { "helm Apply" } else { "helm Update" };
        assert_eq!(managers(&ws.get("configmaps", "settings")), [operation]);
        let again = restore(&ws, &[]).exits_with(0);
        assert_eq!(again.writes(), 0, "{again}");
        // They are kept, and not demanded of objects that do not have them.
        ws.scale("deployment/web", 5);
        restore(&ws, &[]).exits_with(0);
        assert_eq!(ws.get("deployments", "web")["metadata"]["annotations"]["meta.helm.sh/release-name"], "web");
    }
}

/// Without the word in the record, an entry of `Apply` shows that Helm applies.
#[test]
fn without_a_word_in_the_record_each_object_shows_the_method() {
    let ws = Workspace::new();
    stored(&ws, "ConfigMap", "web", 1, "deployed", &ws.fill_in(DEPLOYMENT));
    ws.apply_as("helm", &ws.fill_in(DEPLOYMENT));
    ws.scale("deployment/web", 5);
    restore(&ws, &[]).exits_with(0);
    assert_eq!(managers(&ws.get("deployments", "web")), ["helm Apply"]);
}

/// Helm adds a label and two annotations to what a release has.
#[test]
fn a_comparison_as_helm_finds_no_more_than_helm_would_change() {
    for method in ["ssa", "csa"] {
        let ws = Workspace::new();
        let marks = format!(
            "labels: {{app.kubernetes.io/managed-by: Helm}}, annotations: {{meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: {}}}",
            ws.namespace()
        );
        let marked = DEPLOYMENT.replaced("namespace: $NS}\nspec", &format!("namespace: $NS, {marks}}}\nspec"));
        ws.write("marked.yaml", &marked);
        let how = if method == "ssa" { &["apply", "--server-side"][..] } else { &["create"] };
        ws.kubectl([how, &["--field-manager=helm", "-f", "marked.yaml"]].concat()).exits_with(0);
        stored_by(&ws, "web", (1, "deployed"), Some(method), &ws.fill_in(DEPLOYMENT));
        for source in ["helm/web", "helm"] {
            ws.reconcile(["diff", "--from", source, "--field-manager=helm"]).exits_with(0);
        }
        // What a failed upgrade left is no conflict of Helm with itself.
        ws.patch_as("helm", "configmap/settings", &json!({"data": {"a": "two"}}));
        if method == "ssa" {
            ws.stdin(&ws.fill_in(&marked.replaced("a: one", "a: two")))
                .kubectl(["apply", "--server-side", "--force-conflicts", "--field-manager=helm", "-f", "-"])
                .exits_with(0);
            let diff = ws.reconcile(["diff", "--from", "helm/web"]).exits_with(1);
            assert!(
                diff.stdout.contains("hint: `--field-manager helm` compares as Helm itself")
                    && !diff.stdout.contains("--adopt"),
                "{diff}"
            );
        }
        let diff = ws.reconcile(["diff", "--from", "helm/web", "--field-manager=helm"]).exits_with(1);
        assert_eq!(diff.each("action"), ["ConfigMap settings: update", "Deployment web: none"], "{diff}");
        restore(&ws, &[]).exits_with(0);
        assert_eq!(ws.get("configmaps", "settings")["data"]["a"], "one");
    }
}

#[test]
fn fields_of_appliers_and_controllers_are_conflicts() {
    for method in ["ssa", "csa"] {
        let ws = Workspace::new();
        installed(&ws, method);
        ws.patch_as("some-controller", "deployment/web", &json!({"spec": {"replicas": 7}}));
        let run = restore(&ws, &[]).exits_with(4);
        assert_eq!(run.object("Deployment", "web")["outcome"], "conflict", "{run}");
        assert_eq!(ws.get("deployments", "web")["spec"]["replicas"], 7);
        restore(&ws, &["--force-conflicts"]).exits_with(0);
        assert_eq!(ws.get("deployments", "web")["spec"]["replicas"], 2);
    }
}

#[test]
fn only_the_deployed_revision_is_restored_and_only_if_helm_would_go_on_from_it() {
    let ws = Workspace::new();
    installed(&ws, "ssa");
    let manifest = ws.fill_in(DEPLOYMENT);
    let refused = |source: &str, message: &str, hint: &str| {
        for command in [&["apply"][..], &["apply", "--dry-run"], &["diff", "--apply"]] {
            let run = ws.reconcile([command, &["--from", source]].concat()).exits_with(2);
            assert!(run.stderr.contains(message) && run.stderr.contains(hint), "{run}");
        }
    };
    refused("helm/web@7", "has no revision 7", "`helm history web");
    refused("helm", "restores one release at a time", "helm/RELEASE");
    refused("last-applied", "cannot take its manifests from the cluster", "`-f`");
    stored(&ws, "Secret", "web", 2, "failed", &manifest.replaced("replicas: 2", "replicas: 9"));
    let command = format!("kubectl reconcile apply --from helm/web@1 -n {}", ws.namespace());
    refused("helm/web", "revision 2 of release `web` failed", &command);
    refused("helm/web@2", "only the deployed one, 1, can be restored", "`helm rollback web 2");
    ws.scale("deployment/web", 5);
    ws.reconcile(["apply", "--from", "helm/web@1"]).exits_with(0);
    assert_eq!(ws.get("deployments", "web")["spec"]["replicas"], 2);
    // A rollback that fails calls the failed upgrade superseded; it was never deployed.
    for (revision, status) in [(1, "deployed"), (2, "superseded"), (3, "failed")] {
        stored(&ws, "Secret", "back", revision, status, &manifest);
    }
    ws.scale("deployment/web", 5);
    ws.reconcile(["apply", "--from", "helm/back@1"]).exits_with(0);
    assert_eq!(ws.get("deployments", "web")["spec"]["replicas"], 2);
    for (revision, status) in [(1, "deployed"), (2, "superseded")] {
        stored(&ws, "Secret", "cut", revision, status, &manifest);
    }
    refused("helm/cut@1", "revision 2 is superseded", "`helm rollback cut 1");
    stored(&ws, "Secret", "web", 3, "pending-upgrade", &manifest);
    for source in ["helm/web", "helm/web@1"] {
        refused(source, "revision 3 is pending-upgrade", "`helm rollback web");
    }
    stored(&ws, "Secret", "old", 1, "superseded", &manifest);
    stored(&ws, "Secret", "old", 2, "uninstalled", &manifest);
    refused("helm/old", "no revision of release `old`", "`helm history old");
    for flags in [&["--prune", "--applyset=web"][..], &["--hooks=include"], &["--field-manager=other"]] {
        restore(&ws, flags).exits_with(2);
    }
    let record = json!(["web", 1, manifest]).to_string();
    store(&ws, "Secret", ("list", 1, "deployed"), record.as_bytes());
    refused("helm/list", "cannot be read as a release", "");
}

#[test]
fn the_next_upgrade_of_helm_4_would_be_refused_and_the_report_says_so() {
    let ws = Workspace::new();
    installed(&ws, "ssa");
    ws.reconcile(["diff", "--from", "helm/web"]).exits_with(0);
    ws.scale("deployment/web", 5);
    ws.kubectl(["patch", "configmap", "settings", "--type=json", "-p", r#"[{"op": "remove", "path": "/data/a"}]"#]);
    let run = ws.reconcile(["diff", "--from", "helm/web"]).exits_with(1);
    let warnings = run.report()["warnings"].to_string();
    let refused =
        format!("would refuse 1 field that others own: Deployment {}/web spec.replicas (kubectl)", ws.namespace());
    assert!(warnings.contains(&refused), "{run}");
    for way in
        ["reconcile apply --from helm/web", "reconcile own --from helm/web", "reconcile pull", "--force-conflicts"]
    {
        assert!(warnings.contains(way), "{way}: {run}");
    }
    // Helm asks the server the same.
    let next = ws.fill_in(DEPLOYMENT);
    let helm = ws.stdin(&next).kubectl(["apply", "--server-side", "--field-manager=helm", "-f", "-"]);
    assert!(helm.code != 0 && helm.stderr.contains(".spec.replicas"), "{helm}");
}

#[test]
fn the_roles_of_access_are_enough_to_restore() {
    let ws = Workspace::new();
    installed(&ws, "csa");
    let user = ws.fill_in("$NS-restorer");
    let subject = format!("User:{user}");
    let flags = ["access", "--from", "helm/web", "--for", "restore", "--name", &user, "--subject", &subject];
    let roles = ws.reconcile(flags).exits_with(0);
    assert!(!roles.stdout.contains("escalate") && !roles.stdout.contains("bind\n"), "{roles}");
    assert!(
        roles.stdout.contains("# What `kubectl reconcile apply --from helm/RELEASE` needs in the namespace"),
        "{roles}"
    );
    ws.stdin(&roles.stdout).kubectl(["apply", "-f", "-"]).exits_with(0);
    crate::control_plane::wait_until("the server knows the roles", || {
        ws.reconcile([&flags[..], &["--as", &user]].concat()).code == 0
    });
    ws.scale("deployment/web", 5);
    ws.reconcile(["apply", "--from", "helm/web", "--as", &user]).exits_with(0);
    assert_eq!(ws.get("deployments", "web")["spec"]["replicas"], 2);
    ws.reconcile(["access", "-f", "x.yaml", "--for", "restore"]).exits_with(2);
}
