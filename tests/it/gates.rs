//! Which differences make a `diff` fail.

use serde_json::json;

use crate::control_plane::{Replaced, Workspace};
use crate::manifests::WEB;

const MANIFEST: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: $NS, labels: {app: web}}
data: {a: '1', b: '1'}
";

/// In sync, with a label that a controller added.
fn settled() -> Workspace {
    let ws = Workspace::new();
    ws.write("settings.yaml", MANIFEST);
    ws.reconcile(["apply", "-f", "settings.yaml"]).exits_with(0);
    ws.patch_as("labeller", "configmap/settings", &json!({"metadata": {"labels": {"injected": "yes"}}}));
    ws
}

#[track_caller]
fn fails_on(ws: &Workspace, classes: &str, code: i32) -> serde_json::Value {
    let fail_on = format!("--fail-on={classes}");
    ws.reconcile(["diff", "-f", "settings.yaml", "-o", "json", &fail_on]).exits_with(code).report().clone()
}

#[test]
fn only_the_chosen_differences_fail_and_all_are_shown() {
    let ws = settled();
    fails_on(&ws, "drift", 0);
    fails_on(&ws, "manual,conflict", 0);
    let report = fails_on(&ws, "unmanaged", 1);
    assert_eq!((&report["verdict"], &report["failOn"]), (&json!("drift"), &json!(["unmanaged"])));
    assert_eq!(report["objects"][0]["changes"][0]["path"], "metadata.labels.injected");

    // The manifest moved: drift that is nobody's doing.
    ws.write("settings.yaml", &MANIFEST.replace("a: '1'", "a: '2'"));
    let report = fails_on(&ws, "manual,conflict", 0);
    assert_eq!(
        (&report["verdict"], &report["exitCode"], &report["summary"]["update"]),
        (&json!("drift"), &json!(0), &json!(1))
    );
    let text = ws.reconcile(["diff", "-f", "settings.yaml", "--fail-on=manual"]).exits_with(0);
    assert!(text.stdout.contains("1 to update") && text.stdout.contains("fails only on manual\n"), "{text}");
    fails_on(&ws, "pending", 1);
    fails_on(&ws, "changedByOther", 0);
    fails_on(&ws, "drift", 1);

    ws.kubectl(["patch", "configmap", "settings", "-p", r#"{"data":{"b":"hand"}}"#]).exits_with(0);
    let report = fails_on(&ws, "manual", 1);
    let change =
        report["objects"][0]["changes"].as_array().unwrap().iter().find(|change| change["path"] == "data.b").unwrap();
    assert_eq!(
        (&change["managers"][0]["manager"], &change["managers"][0]["manual"]),
        (&json!("kubectl-patch"), &json!(true))
    );
    fails_on(&ws, "changedByOther", 1);
    fails_on(&ws, "missing", 0);
    ws.reconcile(["diff", "-f", "settings.yaml", "--fail-on=manual", "--exit-zero"]).exits_with(2);
    let unknown = ws.reconcile(["diff", "-f", "settings.yaml", "--fail-on=manal"]).exits_with(2);
    assert!(unknown.stderr.contains("manual"), "{unknown}");
}

#[test]
fn what_was_added_by_hand_is_distinguished_from_controllers() {
    let ws = settled();
    ws.kubectl(["label", "configmap", "settings", "by=hand"]).exits_with(0);
    let report = fails_on(&ws, "manual", 1);
    let changes = report["objects"][0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "those of controllers were not asked for: {changes:#?}");
    assert_eq!((&changes[0]["path"], &changes[0]["class"]), (&json!("metadata.labels.by"), &json!("unmanaged")));
    let both = ws.reconcile(["diff", "-f", "settings.yaml", "--fail-on=manual", "--show-unmanaged"]).exits_with(1);
    assert_eq!(
        both.changes("ConfigMap", "settings"),
        ["unmanaged metadata.labels.by", "unmanaged metadata.labels.injected"]
    );
    // The configuration names one more tool that people make changes with.
    let config = "apiVersion: kubectl-reconcile/v1\nkind: Config\nmanualManagers: [labeller]\ndefaults: {fail-on: [drift, manual]}\n";
    ws.write(".kubectl-reconcile.yaml", config);
    ws.kubectl(["label", "configmap", "settings", "by-"]).exits_with(0);
    ws.reconcile(["diff", "-f", "settings.yaml"]).exits_with(1);
    ws.reconcile(["diff", "-f", "settings.yaml", "--fail-on=drift"]).exits_with(0);
    ws.reconcile(["diff", "-f", "settings.yaml", "--exit-zero"]).exits_with(0);
    ws.reconcile(["diff", "-f", "settings.yaml", "--no-config"]).exits_with(0);
}

#[test]
fn objects_that_nothing_explains_are_reported_by_name_alone() {
    let ws = settled();
    let value = ws.secret("stray-value");
    ws.kubectl(["create", "secret", "generic", "stray", &format!("--from-literal=password={value}")]).exits_with(0);
    ws.kubectl(["create", "configmap", "kube-root-ca.crt"]);
    ws.kubectl(["create", "serviceaccount", "builder"]).exits_with(0);
    let uid = ws.get("ConfigMap", "settings")["metadata"]["uid"].as_str().unwrap().to_owned();
    ws.apply_as("controller", &format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: owned, namespace: $NS, ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: settings, uid: {uid}}}]}}}}"
    ));

    let run = ws.reconcile(["diff", "-f", "settings.yaml", "--report-unmanaged", "-o", "json"]).exits_with(0);
    let namespace = ws.namespace();
    let object =
        |kind: &str, name: &str| json!({"apiVersion": "v1", "kind": kind, "namespace": namespace, "name": name});
    // A ConfigMap makes nothing, so it explains nothing.
    let mut owned = object("ConfigMap", "owned");
    owned["claim"] = json!("ownerOfOtherKind");
    assert_eq!(
        run.report()["unmanaged"],
        json!([owned, object("Secret", "stray"), object("ServiceAccount", "builder")])
    );
    let text = ws.reconcile(["diff", "-f", "settings.yaml", "--report-unmanaged"]).exits_with(0);
    assert!(
        text.stdout.contains(&format!(
            "? Secret {namespace}/stray  not in the manifests, not owned, and not in an apply set\n"
        )),
        "{text}"
    );
    assert!(text.stdout.contains("3 unmanaged objects\n"), "{text}");
    let gated = ["diff", "-f", "settings.yaml", "--report-unmanaged", "--fail-on=unmanagedObjects", "-o", "json"];
    assert_eq!(ws.reconcile(gated).exits_with(1).report()["verdict"], "drift");
    for name in ["configmap/owned", "secret/stray", "serviceaccount/builder"] {
        ws.delete(name);
    }
    assert_eq!(ws.reconcile(gated).exits_with(0).report()["unmanaged"], json!([]));

    // Other namespaces can be named; of those that do not exist a warning tells.
    let elsewhere = Workspace::new();
    elsewhere.kubectl(["create", "configmap", "lost"]).exits_with(0);
    let named = format!("--report-unmanaged={},missing", elsewhere.namespace());
    let run = ws.reconcile(["diff", "-f", "settings.yaml", "-o", "json", &named]).exits_with(0);
    assert_eq!(
        run.report()["unmanaged"],
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": elsewhere.namespace(), "name": "lost"}])
    );
    assert_eq!(run.report()["warnings"], json!(["namespace `missing` does not exist"]));
    // A gate that counts them makes the run look for them.
    ws.kubectl(["create", "configmap", "lost"]).exits_with(0);
    let failing = ws.reconcile(["diff", "-f", "settings.yaml", "--fail-on=unmanagedObjects"]).exits_with(1);
    assert!(failing.stdout.contains("lost"), "{failing}");
    ws.reconcile(["diff", "-f", "settings.yaml", "--report-unmanaged=../x"]).exits_with(2);
    ws.reconcile(["diff", "-f", "settings.yaml", "--report-unmanaged", "-l", "app=web"]).exits_with(2);
}

#[test]
fn what_may_not_be_listed_is_named() {
    let ws = settled();
    ws.allow("limited", "get,list,patch", "configmaps");
    let run = ws
        .as_user("limited")
        .reconcile(["diff", "-f", "settings.yaml", "--report-unmanaged", "-o", "json"])
        .exits_with(0);
    assert_eq!(run.report()["unmanaged"], json!([]));
    let warnings = run.report()["warnings"].to_string();
    let expected = format!("could not be looked for in namespace `{}`", ws.namespace());
    assert!(warnings.contains(&expected) && warnings.contains("Forbidden"), "{warnings}");
    // A gate that counts them does not pass because of that.
    let gated = ["diff", "-f", "settings.yaml", "--fail-on=unmanagedObjects", "-o", "json"];
    let run = ws.as_user("limited").reconcile(gated).exits_with(4);
    assert_eq!(run.report()["verdict"], "incomplete");
    assert!(run.report()["errors"].to_string().contains(&expected), "{run}");
}

/// Who makes an object owns the server's defaults in it, too.
#[test]
fn the_servers_defaults_are_no_additions_by_hand() {
    let manifest = WEB.replaced("tier: front", "tier: front, season: spring");
    for (how, others) in [("apply", 0), ("create", 1)] {
        let ws = Workspace::new();
        ws.write("web.yaml", WEB);
        ws.kubectl([how, "-f", "web.yaml"]).exits_with(0);
        for _ in 0..2 {
            let run = ws.reconcile(["diff", "-f", ".", "--fail-on=manual", "-o", "json"]).exits_with(0);
            assert_eq!(run.report()["summary"]["unmanagedManual"], 0, "{how}: {run}");
            assert_eq!(run.report()["summary"]["unmanaged"].as_u64().unwrap().min(1), others, "{how}: {run}");
            ws.reconcile(["apply", "-f", "."]).exits_with(0);
        }
        // What a later `kubectl apply` adds is one.
        ws.stdin(&manifest).kubectl(["apply", "-f", "-"]).exits_with(0);
        let run = ws.reconcile(["diff", "-f", ".", "--fail-on=manual"]).exits_with(1);
        assert!(run.stdout.contains("metadata.labels.season"), "{run}");
        assert_eq!(run.report()["summary"]["unmanagedManual"], 1, "{how}: {run}");
    }
}

#[test]
fn fields_of_others_are_counted_and_shown_by_manager() {
    let ws = settled();
    ws.kubectl(["label", "configmap", "settings", "by=hand"]).exits_with(0);
    ws.patch_as("labeller", "configmap/settings", &json!({"data": {"extra": "1"}}));
    let run = ws.reconcile(["diff", "-f", "settings.yaml", "-o", "json"]).exits_with(0);
    let summary = &run.report()["summary"];
    assert_eq!((&summary["unmanaged"], &summary["unmanagedManual"]), (&json!(3), &json!(1)));
    assert_eq!(run.object("ConfigMap", "settings")["evidence"], "proven");
    let text = ws.reconcile(["diff", "-f", "settings.yaml"]).exits_with(0);
    assert!(text.stdout.contains("3 fields added by others, 1 of them by hand (--show-unmanaged)\n"), "{text}");
    let shown = ws.reconcile(["diff", "-f", "settings.yaml", "--show-unmanaged"]).exits_with(0).stdout;
    let lines: Vec<&str> = shown.lines().map(|line| line.split(" 20").next().unwrap().trim_end()).skip(1).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("    ")).count(), 5, "{shown}");
    assert_eq!(lines[0], "    added by hand: kubectl-label");
    assert!(lines[1].starts_with("    metadata.labels.by: "), "{shown}");
    assert_eq!(lines[2], "    added by labeller");
    assert!(
        lines[3].starts_with("    data.extra: ") && lines[4].starts_with("    metadata.labels.injected: "),
        "{shown}"
    );
}
