//! Fields that rules ignore: nothing of them is shown, taken, reset or removed, and everything beside them is still compared and healed.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Fault, Proxy, Replaced, Run, Workspace};
use crate::manifests::WEB;

/// The Deployment `web` with an annotation that ignores fields, and one that people change.
fn web_ignoring(fields: &str) -> String {
    let annotations = format!("  annotations: {{kubectl-reconcile/ignore: '{fields}', note: ours}}\n  labels:");
    WEB.replaced("  labels:", &annotations).replaced("    spec:\n", "    spec:\n      nodeSelector: {disk: ssd}\n")
}

/// One field of `web`: how a rule names it, how somebody else changes it, and where it is found then.
struct Field {
    rule: &'static str,
    patch: Value,
    at: &'static str,
}

const CONTAINER: &str = "spec.template.spec.containers[name=web]";

fn fields() -> Vec<Field> {
    let container = |rest: Value| {
        let mut container = json!({"name": "web"});
        container.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        json!({"spec": {"template": {"spec": {"containers": [container]}}}})
    };
    let field = |rule, patch, at| Field { rule, patch, at };
    vec![
        field("spec.replicas", json!({"spec": {"replicas": 7}}), "/spec/replicas"),
        field("metadata.labels.tier", json!({"metadata": {"labels": {"tier": "back"}}}), "/metadata/labels/tier"),
        // Required.
        field(
            "spec.template.spec.containers[name=web].image",
            container(json!({"image": "mirror/web:1.2"})),
            "/spec/template/spec/containers/0/image",
        ),
        // A whole list item, and one field of all items.
        field(
            "spec.template.spec.containers[name=web].env[name=LOG]",
            container(json!({"env": [{"name": "LOG", "value": "debug"}]})),
            "/spec/template/spec/containers/0/env/0",
        ),
        field(
            "spec.template.spec.containers[*].resources",
            container(json!({"resources": {"requests": {"cpu": "300m"}, "limits": {"memory": "1Gi"}}})),
            "/spec/template/spec/containers/0/resources",
        ),
        // Of an atomic list, only this item; of an atomic map, all of it.
        field(
            "spec.template.spec.containers[name=web].args[1]",
            container(json!({"args": ["--port", "9090", "--verbose"]})),
            "/spec/template/spec/containers/0/args",
        ),
        field(
            "spec.template.spec.nodeSelector.disk",
            json!({"spec": {"template": {"spec": {"nodeSelector": {"disk": "hdd", "zone": "a"}}}}}),
            "/spec/template/spec/nodeSelector",
        ),
    ]
}

fn web(ws: &Workspace) -> Value {
    ws.get("Deployment", "web")
}

fn patch_as(ws: &Workspace, manager: &str, patch: &Value) {
    let patch = patch.to_string();
    ws.kubectl(["patch", "deployment/web", "--type=strategic", "--field-manager", manager, "-p", &patch]).exits_with(0);
}

fn apply_patch_as(ws: &Workspace, manager: &str, patch: &Value) {
    let mut object = patch.clone();
    object["apiVersion"] = "apps/v1".into();
    object["kind"] = "Deployment".into();
    object["metadata"]["name"] = "web".into();
    ws.apply_as(manager, &object.to_string());
}

/// Nothing is shown, and an apply writes nothing.
#[track_caller]
fn is_quiet(ws: &Workspace, what: &str) -> Run {
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("Deployment", "web"), [""; 0], "{what}: {diff}");
    let versions = ws.all_resource_versions();
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.writes(), 0, "{what}: {apply}");
    assert_eq!(ws.all_resource_versions(), versions, "{what}");
    diff
}

/// A change beside what is ignored is found and healed, and what is ignored stays.
#[track_caller]
fn heals_beside(ws: &Workspace, field: &Field) {
    let before = web(ws).pointer(field.at).cloned();
    let what = field.rule;
    ws.patch_as("kubectl-edit", "deployment/web", &json!({"metadata": {"annotations": {"note": "theirs"}}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther metadata.annotations.note"], "{what}: {diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let now = web(ws);
    assert_eq!(now["metadata"]["annotations"]["note"], "ours", "{what}");
    assert_eq!(now.pointer(field.at), before.as_ref(), "{what}");
    is_quiet(ws, what);
}

/// Changes each field as somebody else does after our first apply. What else that owner then shares with us is given up to it, by one
/// write that changes no value.
fn stays_when_changed(change: impl Fn(&Workspace, &Value)) -> Vec<&'static str> {
    let mut shared = Vec::new();
    for field in fields() {
        let ws = Workspace::new();
        ws.write("web.yaml", &web_ignoring(field.rule));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        assert_eq!(is_quiet(&ws, field.rule).object("Deployment", "web").get("ignored"), None, "{}", field.rule);
        change(&ws, &field.patch);
        let changed = web(&ws).pointer(field.at).cloned();
        assert!(changed.is_some(), "{}", field.rule);
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
        let ignored = &diff.object("Deployment", "web")["ignored"][0];
        assert_eq!(ignored["rule"], "annotation `kubectl-reconcile/ignore`", "{diff}");
        let paths = ignored["paths"].as_array().unwrap();
        assert_eq!(diff.report()["summary"]["ignored"], paths.len(), "{diff}");
        assert_eq!(web(&ws).pointer(field.at), changed.as_ref(), "{}", field.rule);
        let spec = web(&ws)["spec"].clone();
        let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let is_shared = diff.changes("Deployment", "web") == ["adopted"];
        assert_eq!(apply.writes(), u64::from(is_shared), "{}: {apply}", field.rule);
        assert_eq!(web(&ws)["spec"], spec, "{}", field.rule);
        is_quiet(&ws, field.rule);
        shared.extend(is_shared.then_some(field.rule));
        heals_beside(&ws, &field);
        assert_eq!(web(&ws).pointer(field.at), changed.as_ref(), "{}", field.rule);
    }
    shared
}

#[test]
fn what_a_controller_changes_stays() {
    let shared = stays_when_changed(|ws, patch| patch_as(ws, "autoscaler", patch));
    assert_eq!(shared, [""; 0]);
}

#[test]
fn what_people_change_stays() {
    let shared = stays_when_changed(|ws, patch| patch_as(ws, "kubectl-edit", patch));
    assert_eq!(shared, [""; 0]);
}

#[test]
fn what_another_applier_changes_stays() {
    let shared = stays_when_changed(|ws, patch| apply_patch_as(ws, "gitops", patch));
    // It applies the item with its key, which stayed ours.
    assert_eq!(shared, ["spec.template.spec.containers[name=web].env[name=LOG]"]);
}

#[test]
fn what_is_ours_alone_keeps_its_value_when_the_manifest_moves_or_drops_it() {
    let moves = [
        ("spec.replicas", "  replicas: 2\n", "  replicas: 9\n", ""),
        ("metadata.labels.tier", ", tier: front", ", tier: other", ""),
        ("spec.template.spec.containers[name=web].image", "shop/web:1.2", "shop/web:2.0", "shop/web:1.2"),
        (
            "spec.template.spec.containers[name=web].env[name=LOG]",
            "{name: LOG, value: info}, ",
            "{name: LOG, value: trace}, ",
            "",
        ),
        (
            "spec.template.spec.containers[name=web].resources.requests.cpu",
            "{cpu: 100m, memory: 64Mi}",
            "{cpu: '4', memory: 64Mi}",
            "{memory: 64Mi}",
        ),
        ("spec.template.spec.containers[name=web].args", ", --verbose]", ", --moved]", "]"),
        ("spec.template.spec.nodeSelector.disk", "{disk: ssd}", "{disk: nvme}", "{}"),
    ];
    for (rule, written, moved, dropped) in moves {
        let ws = Workspace::new();
        ws.write("web.yaml", &web_ignoring(rule));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let before = web(&ws)["spec"].clone();
        for text in [moved, dropped] {
            ws.write("web.yaml", &web_ignoring(rule).replaced(written, text));
            is_quiet(&ws, rule);
            assert_eq!(web(&ws)["spec"], before, "{rule}");
            // The next write does not reset it either.
            patch_as(&ws, "kubectl-edit", &json!({"metadata": {"annotations": {"note": "theirs"}}}));
            ws.reconcile(["apply", "-f", "."]).exits_with(0);
            assert_eq!(web(&ws)["spec"], before, "{rule}");
        }
    }
}

#[test]
fn what_is_shared_with_another_is_given_up_to_it() {
    let ws = Workspace::new();
    ws.write("web.yaml", &web_ignoring("spec.replicas"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    apply_patch_as(&ws, "gitops", &json!({"spec": {"replicas": 2}}));
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "adopted", "{apply}");
    is_quiet(&ws, "given up");
    // Without force: nobody is in its way.
    let scaled = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 8}}";
    let flags = ["apply", "--server-side", "--field-manager", "gitops", "-f", "-"];
    ws.stdin(scaled).kubectl(flags).exits_with(0);
    is_quiet(&ws, "scaled");
    assert_eq!(web(&ws)["spec"]["replicas"], 8);
}

#[test]
fn what_nobody_owns_keeps_the_servers_value() {
    let ws = Workspace::new();
    ws.write("web.yaml", &web_ignoring("spec.revisionHistoryLimit,spec.template.spec.terminationGracePeriodSeconds"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let moved = web_ignoring("spec.revisionHistoryLimit,spec.template.spec.terminationGracePeriodSeconds")
        .replaced("  replicas: 2\n", "  replicas: 2\n  revisionHistoryLimit: 3\n")
        .replaced("      containers:", "      terminationGracePeriodSeconds: 5\n      containers:");
    ws.write("web.yaml", &moved);
    let diff = is_quiet(&ws, "defaults");
    assert_eq!(diff.object("Deployment", "web")["ignored"][0]["paths"].as_array().unwrap().len(), 2, "{diff}");
    assert_eq!(web(&ws)["spec"]["revisionHistoryLimit"], 10);
}

#[test]
fn a_new_object_and_a_new_item_have_the_values_of_the_manifest() {
    let ws = Workspace::new();
    ws.write("web.yaml", &web_ignoring(&format!("spec.replicas,{CONTAINER}.image,{CONTAINER}.env[*].value")));
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let container = |ws: &Workspace| web(ws)["spec"]["template"]["spec"]["containers"][0].clone();
    assert_eq!((&web(&ws)["spec"]["replicas"], &container(&ws)["image"]), (&json!(2), &json!("shop/web:1.2")));
    // Somebody removes the container, and another removes a variable: both are created with what they need.
    let only_proxy = json!([{"op": "remove", "path": "/spec/template/spec/containers/0"}]).to_string();
    ws.kubectl(["patch", "deployment/web", "--type=json", "--field-manager=kubectl-edit", "-p", &only_proxy])
        .exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let containers = web(&ws)["spec"]["template"]["spec"]["containers"].clone();
    let back = containers.as_array().unwrap().iter().find(|container| container["name"] == "web").unwrap();
    assert_eq!((&back["image"], &back["env"][0]["value"]), (&json!("shop/web:1.2"), &json!("info")));
    is_quiet(&ws, "healed");
}

#[test]
fn what_is_removed_stays_removed() {
    let rules = format!("{CONTAINER}.env[name=LOG],metadata.labels.tier,metadata.annotations.note");
    let ws = Workspace::new();
    ws.write("web.yaml", &web_ignoring(&rules));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let removed = json!({"metadata": {"labels": {"tier": null}, "annotations": {"note": null}},
        "spec": {"template": {"spec": {"containers": [{"name": "web", "env": [{"name": "LOG", "$patch": "delete"}]}]}}}});
    patch_as(&ws, "kubectl-edit", &removed);
    let diff = is_quiet(&ws, "removed");
    assert_eq!(diff.report()["summary"]["ignored"], 3, "{diff}");
    let now = web(&ws);
    assert_eq!((now["metadata"]["labels"].get("tier"), now["metadata"]["annotations"].get("note")), (None, None));
    assert_eq!(now["spec"]["template"]["spec"]["containers"][0]["env"], json!([{"name": "LANG", "value": "en"}]));
}

#[test]
fn an_item_of_ours_that_comes_back_from_the_live_object_changes_no_order() {
    let rule = format!("{CONTAINER}.env[name=MIDDLE]");
    let list = "[{name: LOG, value: info}, {name: LANG, value: en}]";
    let three = "[{name: LOG, value: info}, {name: MIDDLE, value: m}, {name: LANG, value: en}]";
    let ws = Workspace::new();
    ws.write("web.yaml", &web_ignoring(&rule).replaced(list, three));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    // The manifest drops it, or has it elsewhere.
    for text in [list, "[{name: LOG, value: info}, {name: LANG, value: en}, {name: MIDDLE, value: other}]"] {
        ws.write("web.yaml", &web_ignoring(&rule).replaced(list, text));
        is_quiet(&ws, text);
        let env = web(&ws)["spec"]["template"]["spec"]["containers"][0]["env"].clone();
        assert_eq!(env[1], json!({"name": "MIDDLE", "value": "m"}), "{text}");
    }
}

#[test]
fn a_field_that_cannot_be_changed_asks_for_no_replacement() {
    let ws = Workspace::new();
    let moved = |text: &str| {
        text.replaced("selector: {matchLabels: {app: web}}", "selector: {matchLabels: {app: web, tier: front}}")
    };
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let labelled = |text: &str| {
        moved(text).replaced("metadata: {labels: {app: web}}", "metadata: {labels: {app: web, tier: front}}")
    };
    ws.write("web.yaml", &labelled(WEB));
    assert_eq!(ws.reconcile(["diff", "-f", "."]).exits_with(1).object("Deployment", "web")["action"], "replace");
    ws.write("web.yaml", &labelled(&web_ignoring("spec.selector")));
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "updated", "{apply}");
    let now = web(&ws);
    assert_eq!(now["spec"]["selector"], json!({"matchLabels": {"app": "web"}}));
    assert_eq!(now["spec"]["template"]["metadata"]["labels"]["tier"], "front");
    is_quiet(&ws, "selector");
}

#[test]
fn a_conflict_on_an_ignored_field_is_none() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    patch_as(&ws, "autoscaler", &json!({"spec": {"replicas": 7}}));
    assert_eq!(
        ws.reconcile(["diff", "-f", "."]).exits_with(1).object("Deployment", "web")["conflicts"][0]["path"],
        "spec.replicas"
    );
    ws.write("web.yaml", &web_ignoring("spec.replicas").replaced("shop/web:1.2", "shop/web:1.3"));
    for force in ["--force-conflicts=manual", "--force-conflicts=all"] {
        let apply = ws.reconcile(["apply", "-f", ".", force]).exits_with(0);
        assert_eq!(apply.object("Deployment", "web")["conflicts"], json!([]), "{apply}");
        assert_eq!(web(&ws)["spec"]["replicas"], 7, "{force}");
    }
    assert_eq!(web(&ws)["spec"]["template"]["spec"]["containers"][0]["image"], "shop/web:1.3");
}

/// Makes `web` as somebody else does.
type Made = fn(&Workspace, &str);

#[test]
fn a_first_apply_over_what_others_made_resets_nothing_that_is_ignored() {
    let five = WEB.replaced("replicas: 2", "replicas: 5").replaced("value: info", "value: debug");
    let rules = format!("spec.replicas,{CONTAINER}.env[name=LOG].value,metadata.annotations[*]");
    let makers: [(&str, Made); 4] = [
        ("kubectl create", |ws, text| drop(ws.stdin(text).kubectl(["create", "-f", "-"]).exits_with(0))),
        ("kubectl apply", |ws, text| drop(ws.stdin(text).kubectl(["apply", "-f", "-"]).exits_with(0))),
        ("another applier", |ws, text| ws.apply_as("gitops", text)),
        ("our former self without the rule", |ws, text| {
            ws.write("web.yaml", text);
            ws.reconcile(["apply", "-f", "."]).exits_with(0);
        }),
    ];
    for (who, make) in makers {
        let ws = Workspace::new();
        make(&ws, &five);
        ws.write("web.yaml", &web_ignoring(&rules).replaced(", memory: 64Mi", ", memory: 96Mi"));
        ws.reconcile(["apply", "-f", ".", "--adopt=gitops"]).exits_with(0);
        let container = web(&ws)["spec"]["template"]["spec"]["containers"][0].clone();
        assert_eq!(container["resources"]["requests"]["memory"], "96Mi", "{who}");
        assert!(!web(&ws)["metadata"]["annotations"].to_string().contains("last-applied"), "{who}");
        assert_eq!(
            (&web(&ws)["spec"]["replicas"], &container["env"][0]["value"]),
            (&json!(5), &json!("debug")),
            "{who}"
        );
        let apply = ws.reconcile(["apply", "-f", ".", "--adopt=gitops"]).exits_with(0);
        assert_eq!(apply.writes(), 0, "{who}: {apply}");
        // Later the owner scales, and the next write leaves that alone as well.
        patch_as(&ws, "autoscaler", &json!({"spec": {"replicas": 6}}));
        ws.write("web.yaml", &web_ignoring(&rules));
        ws.reconcile(["apply", "-f", ".", "--adopt=gitops"]).exits_with(0);
        assert_eq!(web(&ws)["spec"]["replicas"], 6, "{who}");
    }
}

#[test]
fn a_snapshot_is_compared_by_the_same_rules() {
    let ws = Workspace::new();
    ws.write("web.yaml", &web_ignoring("spec.replicas,metadata.labels"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    patch_as(&ws, "autoscaler", &json!({"spec": {"replicas": 7}, "metadata": {"labels": {"tier": "back"}}}));
    let online = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(0);
    ws.reconcile(["snapshot", "-f", "web.yaml", "--file", "live.yaml"]).exits_with(0);
    let offline = ws.reconcile(["diff", "-f", "web.yaml", "--live", "live.yaml", "-n", "$NS"]).exits_with(0);
    let ignored = |run: &Run| run.object("Deployment", "web")["ignored"].clone();
    assert_eq!(ignored(&online), ignored(&offline));
    assert_eq!(ignored(&online)[0]["paths"], json!(["metadata.labels.tier", "spec.replicas"]));
    assert!(online.stdout.contains("left alone: 2 differences ignored by rules"), "{online}");
    let read_only = ws.reconcile(["diff", "-f", "web.yaml", "--evidence=read-only"]).exits_with(0);
    assert_eq!(ignored(&read_only), ignored(&online));
}

#[test]
fn unmanaged_fields_that_are_ignored_are_not_shown() {
    let ws = Workspace::new();
    ws.write("web.yaml", &web_ignoring("metadata.annotations[*],spec.replicas"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    patch_as(
        &ws,
        "autoscaler",
        &json!({"spec": {"replicas": 7}, "metadata": {"annotations": {"scaled": "yes"}, "labels": {"more": "x"}}}),
    );
    let diff = ws.reconcile(["diff", "-f", ".", "--show-unmanaged"]).exits_with(0);
    assert_eq!(diff.changes("Deployment", "web"), ["unmanaged metadata.labels.more"], "{diff}");
}

#[test]
fn values_of_a_secret_can_be_ignored_however_they_are_written() {
    let ws = Workspace::new();
    let secret = ws.secret("the-rotated-password");
    let manifest = |data: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  annotations: {{kubectl-reconcile/ignore: data.password}}\n{data}\n"
        )
    };
    ws.write("db.yaml", &manifest("stringData: {password: initial, user: shop}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("rotator", "secret/db", &json!({"stringData": {"password": secret}}));
    let rotated = ws.get("Secret", "db")["data"]["password"].clone();
    for data in ["stringData: {password: initial, user: shop}", "data: {password: aW5pdGlhbA==, user: c2hvcA==}"] {
        ws.write("db.yaml", &manifest(data));
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
        assert_eq!(diff.object("Secret", "db")["ignored"][0]["paths"], json!(["data.password"]), "{diff}");
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        assert_eq!(ws.get("Secret", "db")["data"]["password"], rotated, "{data}");
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0, "{data}");
        ws.patch_as("kubectl-edit", "secret/db", &json!({"stringData": {"user": "other"}}));
        ws.reconcile(["diff", "-f", "."]).exits_with(1);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let now = ws.get("Secret", "db");
        assert_eq!((&now["data"]["password"], &now["data"]["user"]), (&rotated, &json!("c2hvcA==")), "{data}");
    }
}

const CONFIG: &str = "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n";

#[test]
fn a_rule_for_a_manager_leaves_the_changes_of_others_in_force() {
    let ws = Workspace::new();
    let rules =
        "- {target: {kind: Deploy*, name: web}, fields: [spec.replicas], managers: [auto*], reason: scaled by itself}
- {target: {kind: Deployment}, fields: [metadata.labels.tier]}
";
    ws.write(".kubectl-reconcile.yaml", &format!("{CONFIG}{rules}"));
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    patch_as(&ws, "autoscaler", &json!({"spec": {"replicas": 7}, "metadata": {"labels": {"tier": "back"}}}));
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "web.yaml"]).exits_with(0);
        let ignored = json!([
            {
                "rule": ".kubectl-reconcile.yaml:4:3", "reason": "scaled by itself", "paths": ["spec.replicas"],
                "managers": {"spec.replicas": ["autoscaler"]},
            },
            {
                "rule": ".kubectl-reconcile.yaml:5:3", "paths": ["metadata.labels.tier"],
                "managers": {"metadata.labels.tier": ["autoscaler"]},
            },
        ]);
        assert_eq!(run.object("Deployment", "web")["ignored"], ignored);
    }
    // Somebody whom the rule does not name.
    ws.scale("deployment/web", 3);
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    assert_eq!((&web(&ws)["spec"]["replicas"], &web(&ws)["metadata"]["labels"]["tier"]), (&json!(2), &json!("back")));
}

#[test]
fn custom_resources_follow_the_same_rules() {
    let ws = Workspace::new();
    let pool = "
properties:
  size: {type: integer, default: 1}
  mode: {type: string}
  members: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id],
    items: {type: object, required: [id, weight], properties: {id: {type: string}, weight: {type: integer}}}}
required: [mode]";
    ws.define("Pool", pool);
    let group = ws.fill_in("$NS.example.com");
    let pool = |spec: &str| {
        format!(
            "{{apiVersion: {group}/v1, kind: Pool, metadata: {{name: main, annotations: {{kubectl-reconcile/ignore: 'spec.size,spec.mode,spec.members[*].weight'}}}}, spec: {spec}}}"
        )
    };
    ws.write("pool/pool.yaml", &pool("{size: 3, mode: fast, members: [{id: a, weight: 1}, {id: b, weight: 1}]}"));
    ws.reconcile(["apply", "-f", "pool"]).exits_with(0);
    let patch =
        json!({"spec": {"size": 8, "mode": "slow", "members": [{"id": "a", "weight": 5}, {"id": "b", "weight": 1}]}});
    ws.patch_as("operator", &format!("pools.{group}/main"), &patch);
    let spec = || ws.get(&format!("Pool.{group}"), "main")["spec"].clone();
    let diff = ws.reconcile(["diff", "-f", "pool"]).exits_with(0);
    let paths = json!(["spec.members[id=a].weight", "spec.mode", "spec.size"]);
    assert_eq!(diff.object("Pool", "main")["ignored"][0]["paths"], paths, "{diff}");
    // A new member is created with its weight, beside those whose weights stay.
    let third = "{size: 3, mode: fast, members: [{id: a, weight: 1}, {id: b, weight: 1}, {id: c, weight: 9}]}";
    ws.write("pool/pool.yaml", &pool(third));
    ws.reconcile(["apply", "-f", "pool"]).exits_with(0);
    let members = json!([{"id": "a", "weight": 5}, {"id": "b", "weight": 1}, {"id": "c", "weight": 9}]);
    assert_eq!(spec(), json!({"size": 8, "mode": "slow", "members": members}));
    // What the manifest drops keeps its value as well, also where a default or nothing would take its place.
    ws.write("pool/pool.yaml", &pool("{members: [{id: a}, {id: b}, {id: c}]}"));
    let apply = ws.reconcile(["apply", "-f", "pool"]).exits_with(0);
    assert_eq!(apply.writes(), 0, "{apply}");
    assert_eq!(spec(), json!({"size": 8, "mode": "slow", "members": members}));
}

/// We own an entry of a map as such, and an apply without it would remove it with all that others own in it.
#[test]
fn an_entry_of_a_map_stays_in_which_everything_is_ignored() {
    let ws = Workspace::new();
    let groups = "{type: object, additionalProperties: {type: object, properties: {count: {type: integer}}}}";
    let free = format!("{{type: object, {ANY_FIELDS}}}");
    ws.define("Armada", &format!("\nproperties: {{size: {{type: integer}}, groups: {groups}, free: {free}}}"));
    let group = ws.fill_in("$NS.example.com");
    let armada = format!(
        "{{apiVersion: {group}/v1, kind: Armada, metadata: {{name: main, annotations: {{kubectl-reconcile/ignore: 'spec.groups.a.count,spec.free.b.c'}}}}, spec: {{size: 1, groups: {{a: {{count: 1}}}}, free: {{b: {{c: [1]}}}}}}}}"
    );
    ws.write("armada.yaml", &armada);
    ws.reconcile(["apply", "-f", "armada.yaml"]).exits_with(0);
    let name = format!("armadas.{group}/main");
    let theirs = json!({"groups": {"a": {"count": 5}}, "free": {"b": {"c": [1, 2]}}});
    ws.patch_as("operator", &name, &json!({ "spec": theirs }));
    ws.patch_as("kubectl-edit", &name, &json!({"spec": {"size": 9}}));
    let diff = ws.reconcile(["diff", "-f", "armada.yaml"]).exits_with(1);
    assert_eq!(diff.changes("Armada", "main"), ["changedByOther spec.size"], "{diff}");
    ws.reconcile(["apply", "-f", "armada.yaml"]).exits_with(0);
    let mut expected = theirs;
    expected["size"] = 1.into();
    assert_eq!(ws.get(&format!("Armada.{group}"), "main")["spec"], expected);
    ws.reconcile(["diff", "-f", "armada.yaml"]).exits_with(0);
}

#[test]
fn an_autoscaler_between_comparison_and_write_is_neither_overruled_nor_in_the_way() {
    let ws = Arc::new(Workspace::new());
    ws.write("web.yaml", &web_ignoring("spec.replicas"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("kubectl-edit", "deployment/web", &json!({"metadata": {"annotations": {"note": "theirs"}}}));
    let proxy = Proxy::new(&ws);
    let scaler = Arc::clone(&ws);
    let event = move || patch_as(&scaler, "autoscaler", &json!({"spec": {"replicas": 9}}));
    proxy.inject(1, "PATCH", "!dryRun fieldValidation", Fault::After(Arc::new(event)));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["Deployment web: updated"], "{apply}");
    let now = web(&ws);
    assert_eq!((&now["spec"]["replicas"], &now["metadata"]["annotations"]["note"]), (&json!(9), &json!("ours")));
    is_quiet(&ws, "scaled meanwhile");
}
