//! `--base PATH`: the manifests that were applied last, in files.

use serde_json::{Value, json};

use crate::control_plane::{Replaced as _, Run, Workspace};
use crate::manifests::WEB;
use crate::sides::begin_records_anew;

const IMAGE: &str = "spec.template.spec.containers[name=web].image";

/// A workspace in which somebody else created a Deployment from `old/`, which is also in `new/`.
fn created() -> Workspace {
    let ws = Workspace::new();
    for folder in ["old", "new"] {
        ws.write(format!("{folder}/web.yaml"), WEB);
    }
    ws.kubectl(["create", "-f", "old/web.yaml"]).exits_with(0);
    ws
}

fn side(run: &Run, path: &str) -> (Value, Value) {
    let change = run.change("Deployment", "web", path);
    (change["class"].clone(), change["side"].clone())
}

/// Somebody corrects the image by hand, and the pull request sets another one.
#[test]
fn a_pull_request_that_overwrites_a_hotfix_says_so() {
    let ws = created();
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    ws.write("new/web.yaml", &WEB.replace("web:1.2", "web:1.3").replace("memory: 64Mi", "memory: 96Mi"));
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    assert_eq!(side(&diff, IMAGE), (json!("changedByOther"), json!("both")), "{diff}");
    assert_eq!(diff.change("Deployment", "web", IMAGE)["base"], "shop/web:1.2");
    let memory = "spec.template.spec.containers[name=web].resources.requests.memory";
    assert_eq!(side(&diff, memory), (json!("pending"), json!("manifest")), "{diff}");
    assert_eq!(diff.object("Deployment", "web")["base"], "differs");
    assert_eq!(diff.report()["base"], json!({"from": "old"}));
    assert!(diff.stdout.contains("(was shop/web:1.2)"), "{diff}");
    assert!(diff.stdout.contains("overwrites kubectl-set"), "{diff}");
    assert!(diff.stdout.contains("1 to update: overwrites a change in the cluster"), "{diff}");
    let gates = [("both", 1), ("cluster", 1), ("manifest", 1), ("either", 0)];
    for (gate, code) in gates {
        ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", gate]).exits_with(code);
    }
    // Without a base, nothing tells that the manifest has moved as well.
    let without = ws.reconcile(["diff", "-f", "new"]).exits_with(1);
    assert_eq!(side(&without, IMAGE), (json!("changedByOther"), json!("cluster")));
    assert_eq!(without.change("Deployment", "web", IMAGE).get("base"), None);
    let refused = ws.reconcile(["diff", "-f", "new", "--fail-on", "both"]).exits_with(2);
    assert!(refused.stderr.contains("`--fail-on both` needs a base"), "{refused}");
}

#[test]
fn what_only_the_cluster_changed_is_of_its_side_and_what_only_the_manifests_changed_of_theirs() {
    let ws = created();
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    let remove = json!([{"op": "remove", "path": "/spec/template/spec/containers/0/env/1"}]).to_string();
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &remove]).exits_with(0);
    let changed = WEB.replace("web:1.2", "web:1.3").replace("tier: front", "tier: back, team: shop");
    ws.write("new/web.yaml", &changed);
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    let expected = [
        ("spec.replicas", "changedByOther", "cluster"),
        ("spec.template.spec.containers[name=web].env[name=LANG]", "absent", "cluster"),
        (IMAGE, "pending", "manifest"),
        ("metadata.labels.tier", "pending", "manifest"),
        ("metadata.labels.team", "pending", "manifest"),
    ];
    for (path, class, of) in expected {
        assert_eq!(side(&diff, path), (json!(class), json!(of)), "{path}: {diff}");
    }
    assert!(diff.stdout.contains("removed in the cluster"), "{diff}");
    assert_eq!(diff.report()["summary"]["sides"], json!({"manifest": 0, "cluster": 0, "either": 0, "both": 1}));
    assert!(diff.stdout.contains("1 to update: changed in both"), "{diff}");
    ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "both"]).exits_with(0);
}

/// A default of the server, which `kubectl create` owns, is nobody's change.
/// `kubectl apply --server-side` and `kubectl scale` share a name, and the server records no owner of what was scaled.
#[test]
fn what_nobody_owns_and_no_default_is_was_put_there_by_somebody() {
    let ws = Workspace::new();
    let without = WEB.lines().filter(|line| !line.contains("replicas:")).collect::<Vec<_>>().join("\n");
    ws.write("old/web.yaml", &without);
    ws.kubectl(["apply", "--server-side", "-f", "old/web.yaml"]).exits_with(0);
    ws.kubectl(["scale", "deployment/web", "--replicas=3"]).exits_with(0);
    let check = |replicas: &str, side: &str| {
        let more = format!("spec:\n  replicas: {replicas}\n");
        ws.write("new/web.yaml", &without.replacen("spec:\n", &more, 1));
        let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
        assert_eq!(diff.change("Deployment", "web", "spec.replicas")["side"], side, "{diff}");
    };
    check("1", "cluster");
    check("2", "both");
    // Client-side apply is said to own it, once the records were reset and began anew.
    ws.kubectl(["delete", "deployment/web"]).exits_with(0);
    ws.kubectl(["apply", "-f", "old/web.yaml"]).exits_with(0);
    ws.kubectl(["scale", "deployment/web", "--replicas=3"]).exits_with(0);
    begin_records_anew(&ws);
    check("2", "both");
}

#[test]
fn a_field_that_is_new_in_the_manifest_is_a_change_of_the_manifest() {
    let ws = created();
    ws.write("new/web.yaml", &WEB.replace("  replicas: 2\n", "  replicas: 2\n  revisionHistoryLimit: 3\n"));
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    assert_eq!(side(&diff, "spec.revisionHistoryLimit"), (json!("pending"), json!("manifest")), "{diff}");
    ws.kubectl(["patch", "deployment/web", "-p", r#"{"spec":{"revisionHistoryLimit":7}}"#]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    assert_eq!(side(&diff, "spec.revisionHistoryLimit"), (json!("changedByOther"), json!("both")), "{diff}");
}

#[test]
fn another_spelling_and_order_of_the_base_change_nothing() {
    let ws = created();
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    let spelled = WEB.replace("cpu: 100m", "cpu: '0.1'").replace(
        "[{name: LOG, value: info}, {name: LANG, value: en}]",
        "[{name: LANG, value: en}, {name: LOG, value: info}]",
    );
    ws.write("old/web.yaml", &spelled);
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"], "{diff}");
    assert_eq!(side(&diff, "spec.replicas"), (json!("changedByOther"), json!("cluster")));
    assert_eq!(diff.object("Deployment", "web")["base"], "differs");
}

#[test]
fn the_order_of_a_list_has_a_side_with_a_base_only() {
    let ws = created();
    let env = "[{name: LOG, value: info}, {name: LANG, value: en}]";
    let other = "[{name: LANG, value: en}, {name: LOG, value: info}]";
    ws.write("new/web.yaml", &WEB.replace(env, other));
    let path = "spec.template.spec.containers[name=web].env";
    let diff = ws.reconcile(["diff", "-f", "new"]).exits_with(1);
    assert_eq!(side(&diff, path), (json!("reordered"), json!("either")), "{diff}");
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    assert_eq!(side(&diff, path), (json!("reordered"), json!("manifest")), "{diff}");
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "new"]).exits_with(1);
    assert_eq!(side(&diff, path), (json!("reordered"), json!("cluster")), "{diff}");
}

#[test]
fn an_object_is_new_deleted_or_both() {
    let ws = Workspace::new();
    let map = |name: &str, text: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{a: '{text}'}}}}\n")
    };
    for (name, old, new) in [("same", Some("1"), "1"), ("differs", Some("1"), "2"), ("fresh", None, "1")] {
        ws.write(format!("new/{name}.yaml"), &map(name, new));
        if let Some(old) = old {
            ws.write(format!("old/{name}.yaml"), &map(name, old));
        }
    }
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    for (name, state, of) in
        [("same", "same", "cluster"), ("differs", "differs", "both"), ("fresh", "absent", "manifest")]
    {
        let object = diff.object("ConfigMap", name);
        assert_eq!((&object["base"], &object["side"]), (&json!(state), &json!(of)), "{name}: {diff}");
        assert_eq!((&object["changes"][0]["class"], &object["changes"][0]["side"]), (&json!("missing"), &json!(of)));
    }
    for line in ["ConfigMap $NS/same  deleted in the cluster", "ConfigMap $NS/fresh  new"] {
        assert!(diff.stdout.contains(&ws.fill_in(line)), "{diff}");
    }
    let github = ws.reconcile(["diff", "-f", "new", "--base", "old", "-o", "github"]).exits_with(1);
    for words in ["the object is new in the manifests", "the object was deleted in the cluster"] {
        assert!(github.stdout.contains(words), "{github}");
    }
}

#[test]
fn values_of_secrets_in_the_base_are_never_shown() {
    let ws = Workspace::new();
    let value = |text: &str| ws.secret(text);
    let [old, hand, new] = [value("former-pin-4711"), value("hand-pin-4712"), value("newer-pin-4713")];
    let secret = |pin: &str| {
        format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: pin}}, stringData: {{pin: '{pin}', fixed: same}}}}\n"
        )
    };
    ws.write("old/pin.yaml", &secret(&old));
    ws.write("new/pin.yaml", &secret(&new));
    ws.kubectl(["create", "-f", "old/pin.yaml"]).exits_with(0);
    let patch = json!({"stringData": {"pin": hand}}).to_string();
    ws.kubectl(["patch", "secret", "pin", "-p", &patch]).exits_with(0);
    for format in ["text", "json", "markdown", "html", "unified", "yaml", "gitlab", "sarif", "junit", "github", "name"]
    {
        let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "-o", format]).exits_with(1);
        for value in [&old, &hand, &new] {
            assert!(!diff.stdout.contains(value.as_str()), "{format}: {diff}");
        }
    }
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    let change = diff.change("Secret", "pin", "data.pin");
    assert_eq!(change["side"], "both", "{diff}");
    assert!(change["base"]["redacted"].is_string(), "{change}");
    let numbers: std::collections::BTreeSet<_> =
        ["live", "desired", "base"].iter().map(|side| change[side]["redacted"].to_string()).collect();
    assert_eq!(numbers.len(), 3, "{change}");
}

#[test]
fn a_base_is_read_as_the_input_is() {
    let ws = created();
    ws.write("twice.yaml", &format!("{WEB}---{}", WEB.replace("web:1.2", "web:1.1")));
    let twice = ws.reconcile(["diff", "-f", "new", "--base", "twice.yaml"]).exits_with(2);
    assert!(twice.stderr.contains("Deployment web is defined twice"), "{twice}");
    let missing = ws.reconcile(["diff", "-f", "new", "--base", "nowhere"]).exits_with(2);
    assert!(missing.stderr.contains("nowhere: cannot be read"), "{missing}");
    ws.write("bad.yaml", "a: [");
    ws.reconcile(["diff", "-f", "new", "--base", "bad.yaml"]).exits_with(2);
    let from = ws.reconcile(["diff", "--from", "last-applied", "--base", "old"]).exits_with(2);
    assert!(from.stderr.contains("--base"), "{from}");
    // A selector chooses among the manifests. The base may still have other labels.
    ws.write("new/web.yaml", &WEB.replace("tier: front", "tier: back"));
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "-l", "tier=back"]).exits_with(1);
    assert_eq!(side(&diff, "metadata.labels.tier"), (json!("pending"), json!("manifest")), "{diff}");
}

#[test]
fn a_snapshot_is_compared_with_a_base_too() {
    let ws = created();
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    // Without the record of owners.
    let live = ws.kubectl(["get", "deployment/web", "-o", "yaml"]).exits_with(0).stdout;
    ws.write("live/live.yaml", &live);
    ws.write("new/web.yaml", &WEB.replace("web:1.2", "web:1.3"));
    let arguments = ["diff", "-f", "new", "--base", "old", "--live", "live/live.yaml", "-n", "$NS"];
    let diff = ws.reconcile(arguments).exits_with(1);
    assert_eq!(side(&diff, "spec.replicas"), (json!("changedByOther"), json!("cluster")), "{diff}");
    assert_eq!(side(&diff, IMAGE), (json!("pending"), json!("manifest")), "{diff}");
    assert_eq!(diff.report()["base"], json!({"from": "old"}));
}

/// What was applied by somebody else than kubectl, and the fields of other owners.
#[test]
fn a_conflict_stays_one_on_any_side() {
    let ws = Workspace::new();
    let map =
        |text: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{text: '{text}'}}}}\n");
    ws.write("old/a.yaml", &map("open"));
    ws.write("new/a.yaml", &map("closed"));
    ws.apply_as("other-tool", &ws.fill_in(&map("open")));
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old"]).exits_with(1);
    let change = diff.change("ConfigMap", "a", "data.text");
    assert_eq!((&change["class"], &change["side"]), (&json!("conflict"), &json!("manifest")), "{diff}");
}

#[test]
fn pull_takes_what_only_the_cluster_changed() {
    let ws = created();
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    ws.write("new/web.yaml", &WEB.replace("web:1.2", "web:1.3"));
    let pull = ws.reconcile(["pull", "-f", "new", "--base", "old"]).exits_with(4);
    assert!(pull.stdout.contains("the manifest has changed as well since the base"), "{pull}");
    let text = std::fs::read_to_string(ws.folder().join("new/web.yaml")).unwrap();
    assert!(text.contains("replicas: 5") && text.contains("web:1.3"), "{text}");
}

/// Another version of a kind may have the same value under another name: its absence there says nothing.
#[test]
fn a_base_in_another_version_tells_only_of_the_fields_that_it_has() {
    let ws = Workspace::new();
    let scale = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2";
    let head = |version: &str| {
        format!(
            "apiVersion: autoscaling/{version}\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web}}\nspec: {{{scale}, "
        )
    };
    ws.write("old/hpa.yaml", &(head("v1") + "maxReplicas: 5, targetCPUUtilizationPercentage: 50}\n"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    let metrics =
        "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]";
    ws.write("new/hpa.yaml", &(head("v2") + &format!("maxReplicas: 6, {metrics}}}\n")));
    let flags = ["-f", "new", "--base", "old"];
    let diff = ws.reconcile([&["diff"], &flags[..]].concat()).exits_with(1);
    let changes = diff.object("HorizontalPodAutoscaler", "web")["changes"].as_array().unwrap().clone();
    let side = |path: &str| {
        let change = changes.iter().find(|change| change["path"].as_str().unwrap().contains(path));
        change.unwrap_or_else(|| panic!("{diff}"))["side"].clone()
    };
    assert_eq!((side("maxReplicas"), side("metrics")), (json!("manifest"), json!("either")), "{diff}");
    ws.reconcile([&["diff", "--fail-on", "cluster,both"], &flags[..]].concat()).exits_with(0);
    assert_eq!(ws.reconcile([&["apply", "--only", "cluster"], &flags[..]].concat()).exits_with(0).writes(), 0);
}

/// A manifest that was applied from another folder before is new in the base.
#[test]
fn what_we_applied_ourselves_is_no_change_of_the_cluster_if_the_base_lacks_the_object() {
    let ws = Workspace::new();
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: moved}, data: {ours: VALUE, theirs: VALUE}}";
    ws.write("former/map.yaml", &map.replace("VALUE", "one"));
    ws.reconcile(["apply", "-f", "former"]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/moved", &json!({"data": {"theirs": "two"}}));
    ws.write("new/map.yaml", &map.replace("VALUE", "three"));
    ws.write("base/other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}");
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "base"]).exits_with(1);
    let sides: Vec<_> = diff.object("ConfigMap", "moved")["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| (change["path"].clone(), change["side"].clone()))
        .collect();
    assert_eq!(json!(sides), json!([["data.ours", "manifest"], ["data.theirs", "both"]]), "{diff}");
}

/// Without a record of owners, an apply removes nothing.
#[test]
fn what_the_manifest_drops_stays_without_a_record_and_is_named() {
    let ws = Workspace::new();
    ws.write("old/map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: '1', drop: d}}");
    ws.write("new/map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: '1'}}");
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    let patch = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
    ws.kubectl(["patch", "configmap/it", "--type=json", "-p", patch]).exits_with(0);
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "new", "--base", "old"]).exits_with(0);
        let warnings = run.object("ConfigMap", "it")["warnings"].to_string();
        assert!(warnings.contains("`data.drop` is no longer in the manifest and stays: no manager owns it"), "{run}");
    }
}

/// The server takes the timeout out with the affinity, which only the manifest changes.
#[test]
fn a_hand_edit_that_the_server_takes_out_with_what_the_manifest_drops_is_overwritten() {
    let ws = Workspace::new();
    let service =
        "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {AFFINITYports: [{port: 80}], selector: {a: b}}}";
    ws.write("old/web.yaml", &service.replaced("AFFINITY", "sessionAffinity: ClientIP, "));
    ws.write("new/web.yaml", &service.replaced("AFFINITY", ""));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    let config = "spec.sessionAffinityConfig";
    let default = ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "both,cluster"]).exits_with(0);
    assert_eq!(default.change("Service", "web", config)["class"], "consequence", "{default}");
    let timeout = json!({"spec": {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 99}}}});
    ws.patch_as("kubectl-patch", "service/web", &timeout);
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "both"]).exits_with(1);
    let change = diff.change("Service", "web", config);
    assert_eq!((&change["class"], &change["side"]), (&json!("changedByOther"), &json!("both")), "{diff}");
}

/// The type of a `hostPath` is a pointer, whose default OpenAPI does not publish.
#[test]
fn a_default_that_the_manifest_changes_is_no_change_in_the_cluster() {
    let ws = Workspace::new();
    let template = "{metadata: {labels: {a: b}}, spec: {containers: [{name: it, image: it}], volumes: [{name: opt, hostPath: {path: /optTYPE}}]}}";
    let set = format!(
        "{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: it}}, spec: {{selector: {{matchLabels: {{a: b}}}}, template: {template}}}}}"
    );
    ws.write("old/it.yaml", &set.replaced("TYPE", ""));
    ws.write("new/it.yaml", &set.replaced("TYPE", ", type: DirectoryOrCreate"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    for evidence in ["auto", "read-only"] {
        let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "--evidence", evidence]).exits_with(1);
        let change = diff.change("DaemonSet", "it", "spec.template.spec.volumes[name=opt].hostPath.type");
        assert_eq!((&change["class"], &change["side"]), (&json!("pending"), &json!("manifest")), "{diff}");
    }
}

/// An apply of the base would take these out as well, whatever else the manifest changes in the object.
#[test]
fn what_a_hand_put_in_the_way_of_the_base_is_a_change_in_the_cluster() {
    let ws = Workspace::new();
    let web = WEB.replaced("{containerPort: 8080}", "{name: http, containerPort: 80}");
    ws.write("old/web.yaml", &web);
    ws.write("new/web.yaml", &web.replaced("web:1.2", "web:1.3"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    let container = "/spec/template/spec/containers/0";
    let patch = json!([
        {"op": "replace", "path": format!("{container}/ports/0/containerPort"), "value": 8080},
        {"op": "replace", "path": format!("{container}/resources/requests/cpu"), "value": "50m"},
        {"op": "add", "path": format!("{container}/resources/limits"), "value": {"cpu": "80m"}},
    ]);
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &patch.to_string()]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "both"]).exits_with(0);
    for path in ["ports[containerPort=8080,protocol=TCP]", "resources.limits.cpu"] {
        let change = diff.change("Deployment", "web", &format!("spec.template.spec.containers[name=web].{path}"));
        assert_eq!((&change["op"], &change["side"]), (&json!("remove"), &json!("cluster")), "{diff}");
    }
    // A request above the limit is what the manifest changes.
    ws.write("new/web.yaml", &web.replaced("100m", "300m"));
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "both"]).exits_with(1);
    let limit = diff.change("Deployment", "web", "spec.template.spec.containers[name=web].resources.limits.cpu");
    assert_eq!(limit["side"], "both", "{diff}");
    ws.write("new/web.yaml", &web.replaced("web:1.2", "web:1.3"));
    // What `--only` leaves is still in the manifest.
    let apply = ws.reconcile(["apply", "-f", "new", "--base", "old", "--only", "manifest"]).exits_with(0);
    assert!(!apply.stdout.contains("no longer in the manifest"), "{apply}");
    ws.reconcile(["apply", "-f", "new", "--base", "old", "--only", "cluster"]).exits_with(0);
    ws.reconcile(["diff", "-f", "new"]).exits_with(0);
}

/// The server stores no `false`, `0` or `""` in most fields of built-in kinds.
#[test]
fn a_value_put_where_the_manifest_has_an_empty_one_is_a_change_in_the_cluster() {
    let ws = Workspace::new();
    let web = WEB
        .replaced("  replicas: 2\n", "  replicas: 2\n  paused: false\n")
        .replaced("{name: LOG, value: info}", "{name: LOG, value: \"\"}");
    ws.write("old/web.yaml", &web);
    ws.write("new/web.yaml", &web.replaced("tier: front", "tier: back"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.kubectl(["set", "env", "deployment/web", "LOG=debug"]).exits_with(0);
    ws.kubectl(["rollout", "pause", "deployment/web"]).exits_with(0);
    let env = "spec.template.spec.containers[name=web].env[name=LOG].value";
    // The other difference may be there or not, and the base as well.
    for folder in ["old", "new"] {
        for base in [&[][..], &["--base", "old"]] {
            let diff = ws.reconcile([&["diff", "-f", folder], base].concat()).exits_with(1);
            for path in [env, "spec.paused"] {
                assert_eq!(side(&diff, path), (json!("changedByOther"), json!("cluster")), "{diff}");
            }
            ws.reconcile([&["diff", "-f", folder, "--fail-on", "cluster"], base].concat()).exits_with(1);
        }
    }
    let apply = ws.reconcile(["apply", "-f", "new", "--only", "manifest"]).exits_with(0);
    assert!(apply.stdout.contains("2 differences left by --only"), "{apply}");
    let spec = || ws.get("deployment", "web")["spec"].clone();
    let value = |spec: &Value| spec["template"]["spec"]["containers"][0]["env"][0]["value"].clone();
    assert_eq!((&spec()["paused"], value(&spec())), (&json!(true), json!("debug")));
    ws.reconcile(["apply", "-f", "new"]).exits_with(0);
    assert_eq!((spec().get("paused"), value(&spec())), (None, Value::Null));
    ws.reconcile(["diff", "-f", "new"]).exits_with(0);
    // What we applied is a change of the manifest.
    ws.write("old/web.yaml", &web.replaced("paused: false", "paused: true"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    for base in [&[][..], &["--base", "old"]] {
        let diff = ws.reconcile([&["diff", "-f", "new", "--fail-on", "manifest"], base].concat()).exits_with(1);
        assert_eq!(side(&diff, "spec.paused"), (json!("pending"), json!("manifest")), "{diff}");
    }
}

#[test]
fn what_is_replaced_as_a_whole_and_was_added_on_both_sides_is_both() {
    let ws = created();
    let template = "/spec/template/spec";
    let patch = json!([
        {"op": "add", "path": format!("{template}/nodeSelector"), "value": {"pool": "hand"}},
        {"op": "add", "path": format!("{template}/containers/0/command"), "value": ["hand", "same"]},
    ]);
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &patch.to_string()]).exits_with(0);
    let added = WEB
        .replaced("      - name: web\n", "      - name: web\n        command: [new, same]\n")
        .replaced("      containers:\n", "      nodeSelector: {pool: new}\n      containers:\n");
    ws.write("new/web.yaml", &added);
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "both"]).exits_with(1);
    for path in ["nodeSelector.pool", "containers[name=web].command[0]"] {
        let change = diff.change("Deployment", "web", &format!("spec.template.spec.{path}"));
        assert_eq!(change["side"], "both", "{diff}");
    }
}
