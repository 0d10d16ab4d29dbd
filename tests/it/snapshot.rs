//! What was captured is compared without the cluster, with the same verdicts.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Replaced, Rng, Run, Workspace, definition, definition_with_status, resource};
use crate::manifests::{SHOP, WEB};

/// Kind, name, action and the changes' paths, operations and classes of each object.
fn essence(run: &Run) -> Vec<String> {
    let objects = run.report()["objects"].as_array().unwrap();
    let of = |object: &Value| {
        let changes = object["changes"].as_array().unwrap().iter();
        let changes: Vec<_> =
            changes.map(|change| format!("{} {} {}", change["class"], change["op"], change["path"])).collect();
        format!("{} {} {} {changes:?}", object["kind"], object["name"], object["action"])
    };
    objects.iter().map(of).collect()
}

/// The same online and offline, for what stands in the workspace now.
#[track_caller]
fn is_the_same_offline(ws: &Workspace, what: &str) -> Run {
    let online = ws.reconcile(["diff", "-f", "manifests.yaml"]);
    ws.reconcile(["snapshot", "-f", "manifests.yaml", "--include-secrets", "--file", "live.yaml"]).exits_with(0);
    let arguments = ["diff", "-f", "manifests.yaml", "--live", "live.yaml"];
    let offline = ws.env("KUBECONFIG", "/nowhere").reconcile(arguments);
    assert_eq!(essence(&offline), essence(&online), "{what}: {offline}");
    assert_eq!(offline.code, online.code, "{what}");
    offline
}

#[test]
fn offline_verdicts_are_those_of_the_server() {
    let ws = Workspace::new();
    ws.secret("shopkeeper-of-the-corner");
    ws.write("manifests.yaml", &format!("{SHOP}---{WEB}"));
    is_the_same_offline(&ws, "nothing exists");
    ws.reconcile(["apply", "-f", "manifests.yaml"]).exits_with(0);
    is_the_same_offline(&ws, "in sync");

    ws.scale("deployment/web", 5);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    let patch = json!([
        {"op": "remove", "path": "/spec/template/spec/containers/0/env/1"},
        {"op": "remove", "path": "/spec/template/spec/containers/1"},
        {"op": "replace", "path": "/spec/template/spec/containers/0/args/1", "value": "9090"},
    ]);
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &patch.to_string()]).exits_with(0);
    is_the_same_offline(&ws, "edited Deployment");

    ws.delete("service/web");
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"colour": "red", "app.conf": "[server]\n"}}));
    ws.patch_as("kubectl-edit", "secret/credentials", &json!({"stringData": {"user": "somebody-else"}}));
    ws.patch_as("kubectl-edit", "networkpolicy/db", &json!({"spec": {"ingress": []}}));
    ws.patch_as("kubectl-edit", "cronjob/report", &json!({"spec": {"schedule": "1 1 * * *", "suspend": true}}));
    ws.patch_as("agent", "pdb/web", &json!({"spec": {"minAvailable": 1}}));
    ws.apply_as("gitops", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, labels: {a: b}}}");
    is_the_same_offline(&ws, "edited others");

    let moved =
        format!("{SHOP}---{WEB}").replaced("colour: green", "shade: green").replaced("threads = 4", "threads = 8");
    let moved = moved.replaced("tier: front", "").replaced("name: metrics, port: 9090", "name: metrics, port: 9191");
    ws.write("manifests.yaml", &moved.replaced("[get, list]", "[get, list, watch]"));
    is_the_same_offline(&ws, "changed manifests");
}

#[test]
fn offline_verdicts_on_what_kubectl_applied_are_those_of_the_server() {
    let ws = Workspace::new();
    ws.secret("shopkeeper-of-the-corner");
    let manifests = format!("{SHOP}---{WEB}");
    ws.write("manifests.yaml", &manifests);
    ws.kubectl(["apply", "-f", "manifests.yaml"]).exits_with(0);
    is_the_same_offline(&ws, "applied client-side");
    let dropped = manifests.replaced("  colour: green\n", "").replaced(", tier: front", "");
    let dropped = dropped.replaced("{name: LOG, value: info}, ", "").replaced("subjects:", "#").replaced("5 4", "6 4");
    ws.write("manifests.yaml", &dropped);
    is_the_same_offline(&ws, "and then dropped in part");
    ws.reconcile(["apply", "-f", "manifests.yaml", "--force-conflicts"]).exits_with(0);
    is_the_same_offline(&ws, "and then taken over");
}

/// One random write by somebody else.
fn write_at_random(ws: &Workspace, rng: &mut Rng) -> String {
    let writer = ["kubectl-edit", "agent", "kubectl-reconcile"][rng.below(3)];
    let number = rng.below(4);
    let colour = ["green", "red", "blue"][rng.below(3)];
    let (object, patch) = match rng.below(9) {
        0 => ("deployment/web", json!({"spec": {"replicas": number}})),
        1 => ("deployment/web", json!({"spec": {"minReadySeconds": number}})),
        2 => ("deployment/web", json!({"metadata": {"labels": {"tier": colour}}})),
        3 => {
            let images = json!([{"name": "web", "image": format!("shop/web:{number}")}]);
            ("deployment/web", json!({"spec": {"template": {"spec": {"containers": images}}}}))
        }
        4 => ("configmap/settings", json!({"data": {"colour": colour}})),
        5 => ("configmap/settings", json!({"data": {"colour": null, "added": colour}})),
        6 => ("networkpolicy/db", json!({"spec": {"ingress": []}})),
        7 => ("cronjob/report", json!({"spec": {"schedule": format!("{number} 1 * * *"), "suspend": number == 1}})),
        _ => ("service/web", json!({"spec": {"sessionAffinity": if number == 1 { "ClientIP" } else { "None" }}})),
    };
    ws.patch_as(writer, object, &patch);
    format!("{writer}: {object} {patch}")
}

#[test]
fn a_snapshot_taken_now_says_after_random_writes_what_the_server_says() {
    let rng = &mut Rng::new(20_261_126);
    for round in 0..6 {
        let ws = Workspace::new();
        ws.write("manifests.yaml", &format!("{SHOP}---{WEB}"));
        match round % 3 {
            0 => ws.reconcile(["apply", "-f", "manifests.yaml"]).exits_with(0),
            1 => ws.kubectl(["apply", "-f", "manifests.yaml"]).exits_with(0),
            _ => ws.kubectl(["create", "-f", "manifests.yaml"]).exits_with(0),
        };
        let mut story = Vec::new();
        for _ in 0..3 {
            for _ in 0..=rng.below(3) {
                story.push(write_at_random(&ws, rng));
            }
            is_the_same_offline(&ws, &format!("round {round}: {story:#?}"));
        }
    }
}

#[test]
fn evidence_without_a_server_is_local_where_the_proof_does_not_hold() {
    let ws = Workspace::new();
    ws.write("manifests.yaml", WEB);
    ws.kubectl(["create", "-f", "manifests.yaml"]).exits_with(0);
    ws.scale("deployment/web", 3);
    let offline = is_the_same_offline(&ws, "drift");
    assert_eq!(offline.object("Deployment", "web")["evidence"], "local");
    assert_eq!(offline.report().get("cluster"), None);
    let requests = &offline.report()["requests"];
    assert!(requests.as_object().unwrap().values().all(|count| count == 0), "{requests}");
}

#[test]
fn a_snapshot_of_nothing_means_that_nothing_exists() {
    let ws = Workspace::new();
    ws.write("manifests.yaml", WEB);
    for empty in ["", "---\n", "# nothing\n", "{apiVersion: v1, kind: List, items: []}\n"] {
        ws.write("live.yaml", empty);
        let diff = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml"]).exits_with(1);
        assert_eq!(diff.each("action"), ["Deployment web: create"]);
    }
    ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "missing.yaml"]).exits_with(2);
}

#[test]
fn what_kubectl_prints_is_a_snapshot() {
    let ws = Workspace::new();
    ws.write("manifests.yaml", WEB);
    ws.reconcile(["apply", "-f", "manifests.yaml"]).exits_with(0);
    ws.scale("deployment/web", 3);
    for format in
        [&["deployment/web", "-o", "yaml"][..], &["deployments", "-o", "yaml"], &["deployments", "-o", "json"]]
    {
        let printed = ws.kubectl([&["get", "--show-managed-fields"][..], format].concat()).exits_with(0);
        ws.write("live.yaml", &printed.stdout);
        let arguments = ["diff", "-f", "manifests.yaml", "--live", "live.yaml", "-n", "$NS"];
        let diff = ws.reconcile(arguments).exits_with(1);
        assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
        let owner = &diff.change("Deployment", "web", "spec.replicas")["managers"][0];
        assert_eq!((&owner["manager"], &owner["subresource"]), (&json!("kubectl"), &json!("scale")));
        // It does not say which namespace was the default one.
        let arguments = ["diff", "-f", "manifests.yaml", "--live", "live.yaml"];
        let diff = ws.reconcile(arguments).exits_with(1);
        let hint = format!("none in `default`: if they are meant, add `-n {}`", ws.namespace());
        assert!(diff.stderr.contains(&hint), "{diff}");
    }
}

#[test]
fn what_could_not_be_read_stays_unknown_offline() {
    let ws = Workspace::new();
    let value = ws.secret("out-of-the-readers-sight");
    let secret = format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{key: {value}}}}}");
    ws.write("manifests.yaml", &format!("{secret}\n---\n{WEB}"));
    ws.reconcile(["apply", "-f", "manifests.yaml"]).exits_with(0);
    ws.allow("reader", "get,list", "deployments.apps");
    let reader = ws.as_user("reader");
    let run = reader.reconcile(["snapshot", "-f", "manifests.yaml", "--file", "live.yaml"]).exits_with(4);
    assert!(run.stderr.contains("cannot get resource \"secrets\""), "{run}");
    let diff = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml", "-n", "$NS"]).exits_with(4);
    assert_eq!(diff.each("action"), ["Secret it: unknown", "Deployment web: none"]);
    assert_eq!(diff.object("Secret", "it")["error"]["reason"], "Forbidden");
}

#[test]
fn a_secret_without_its_values_is_unknown_offline() {
    let ws = Workspace::new();
    let value = ws.secret("left-out-of-snapshots");
    let secret = format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{key: {value}}}}}");
    ws.write("manifests.yaml", &format!("{secret}\n---\n{WEB}"));
    ws.kubectl(["apply", "-f", "manifests.yaml"]).exits_with(0);
    let printed = ws.reconcile(["snapshot", "-f", "manifests.yaml"]).exits_with(0);
    assert!(printed.stdout.contains("kind: Secret"), "{printed}");
    ws.write("live.yaml", &printed.stdout);
    let diff = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml", "-n", "$NS"]).exits_with(4);
    let error = &diff.object("Secret", "it")["error"];
    assert!(error["hint"].as_str().unwrap().contains("--include-secrets"), "{error}");
    assert_eq!(diff.changes("Deployment", "web"), ["adopted"]);
}

#[test]
fn a_file_with_secret_values_is_its_owners_alone() {
    let ws = Workspace::new();
    let value = ws.secret("for-the-owners-eyes-only");
    let secret = format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{key: {value}}}}}");
    ws.write("manifests.yaml", &secret);
    ws.reconcile(["apply", "-f", "manifests.yaml"]).exits_with(0);
    let older = ws.write("older.yaml", "");
    fs::set_permissions(&older, fs::Permissions::from_mode(0o644)).unwrap();
    for name in ["new.yaml", "older.yaml"] {
        let run = ws.reconcile(["snapshot", "-f", "manifests.yaml", "--include-secrets", "--file", name]).exits_with(0);
        assert_eq!(run.stdout, "");
        let mode = fs::metadata(ws.folder().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
        let arguments = ["diff", "-f", "manifests.yaml", "--live", name, "-n", "$NS"];
        ws.reconcile(arguments).exits_with(0);
        // Drift of values is found, and reported without them.
        ws.write("manifests.yaml", &secret.replaced("for-the", "not-for-the"));
        let diff = ws.reconcile(arguments).exits_with(1);
        assert_eq!(diff.changes("Secret", "it"), ["pending data.key"]);
        ws.write("manifests.yaml", &secret);
    }
}

#[test]
fn custom_resources_are_compared_offline_as_untyped_objects() {
    let ws = Workspace::new();
    ws.write(
        "manifests.yaml",
        "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: x}, spec: {size: 1, tags: [b]}}",
    );
    ws.write("live.yaml", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: x, uid: '1'}, spec: {size: 2, tags: [b], colour: red}}");
    let diff = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml"]).exits_with(1);
    assert_eq!(diff.changes("Widget", "a"), ["unrecorded spec.size"]);
    // Of an unknown kind nothing was captured: nobody knows whether it exists at all.
    ws.write("live.yaml", "");
    let diff = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml"]);
    assert!([1, 4].contains(&diff.code), "{diff}");
}

/// A kind with a keyed list, a set, a map that is replaced as a whole, defaults and an embedded object.
fn sundial() -> String {
    definition_with_status("Sundial", SUNDIAL)
}

const SUNDIAL: &str = "
properties:
  size: {type: integer, default: 3}
  ports:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [port, protocol]
    items:
      type: object
      required: [port]
      properties: {port: {type: integer}, protocol: {type: string, default: TCP}, name: {type: string}}
  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  selector: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
  template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
";

const A_SUNDIAL: &str = "
apiVersion: $NS.example.com/v1
kind: Sundial
metadata: {name: it, labels: {team: a}}
spec:
  ports: [{port: 80, name: web}, {port: 53, protocol: UDP}]
  tags: [a, b]
  selector: {app: web}
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: inner, finalizers: [example.com/a], ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: u1}]}
";

#[test]
fn custom_resources_are_compared_offline_by_their_definition() {
    let ws = Workspace::new();
    ws.write("crd.yaml", &sundial());
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    // The definition is not in the input: the snapshot has it.
    ws.write("manifests.yaml", A_SUNDIAL);
    let offline = is_the_same_offline(&ws, "nothing exists");
    assert_eq!(offline.each("action"), ["Sundial it: create"]);
    ws.reconcile(["apply", "-f", "manifests.yaml"]).exits_with(0);
    is_the_same_offline(&ws, "in sync");

    // What others add to lists is theirs, and the order of a set or of keyed items is no drift.
    ws.patch_as(
        "agent",
        "sundials.$NS.example.com/it",
        &json!({"spec": {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 9090}, {"port": 80, "name": "web"}],
            "tags": ["c", "b", "a"],
            "template": {"metadata": {"finalizers": ["example.com/b", "example.com/a"]}}}}),
    );
    is_the_same_offline(&ws, "others added items");
    ws.patch_as(
        "kubectl-edit",
        "sundials.$NS.example.com/it",
        &json!({"spec": {"selector": {"tier": "front"}, "size": 5, "tags": ["c"]}}),
    );
    let offline = is_the_same_offline(&ws, "others changed values");
    assert_eq!(offline.code, 1);
    ws.write(
        "manifests.yaml",
        &A_SUNDIAL.replaced("name: web}", "name: http}").replaced("tags: [a, b]", "tags: [b, d]"),
    );
    is_the_same_offline(&ws, "changed manifest");
    ws.write("manifests.yaml", &A_SUNDIAL.replaced("  tags:", "  tag: a\n  tags:"));
    let offline = is_the_same_offline(&ws, "a field that the type does not have");
    let read_only = ws.reconcile(["diff", "-f", "manifests.yaml", "--evidence=read-only"]);
    for run in [&offline, &read_only] {
        let mistake = &run.object("Sundial", "it")["error"]["mistakes"][0];
        assert_eq!((&mistake["message"], run.code), (&json!("unknown field `tag` in `spec`"), 4), "{run}");
    }

    // The definition in the input is that of the kind where the snapshot has none.
    ws.write("manifests.yaml", &format!("{}---{A_SUNDIAL}", sundial()));
    is_the_same_offline(&ws, "definition in the input");
    let faces = definition_with_status("Sundial", &SUNDIAL.replaced("  tags:", "  face: {type: string}\n  tags:"));
    ws.write("manifests.yaml", &format!("{faces}---{}", A_SUNDIAL.replaced("  tags:", "  face: large\n  tags:")));
    let offline = is_the_same_offline(&ws, "a definition that changes with its object");
    let warnings = offline.object("Sundial", "it")["warnings"].to_string();
    assert!(warnings.contains("until its CustomResourceDefinition is changed"), "{offline}");
    // The server could not read the number of the live object by the new type.
    let words = definition_with_status("Sundial", &SUNDIAL.replaced("{type: integer, default: 3}", "{type: string}"));
    let large = A_SUNDIAL.replaced("  tags:", "  size: large\n  tags:");
    ws.write("manifests.yaml", &format!("{words}---{large}"));
    let offline = is_the_same_offline(&ws, "a definition that the live object does not fit");
    let error = offline.object("Sundial", "it")["error"].to_string();
    assert!(error.contains("the live object does not fit its type in the input: `spec.size`"), "{offline}");
    ws.write("manifests.yaml", &format!("{words}---{}", large.replaced("name: it,", "name: new,")));
    let offline = is_the_same_offline(&ws, "a definition that changes with a new object");
    assert_eq!(offline.each("action")[1], "Sundial new: create", "{offline}");
    let chosen = ["diff", "-f", "manifests.yaml", "--only=pending"];
    for run in [ws.reconcile(chosen), ws.reconcile(chosen.into_iter().chain(["--live", "live.yaml"]))] {
        assert_eq!(run.object("Sundial", "new")["left"][0]["class"], "missing", "{run}");
    }
    // What the new definition refuses as well is an error before anything is applied.
    ws.write(
        "manifests.yaml",
        &format!("{words}---{}", large.replaced("name: it,", "name: new,").replaced("size: large", "size: [1]")),
    );
    let offline = is_the_same_offline(&ws, "a mistake that a changed definition does not allow either");
    assert_eq!((offline.each("action")[1].as_str(), offline.code), ("Sundial new: unknown", 4), "{offline}");
    let mistake = &offline.object("Sundial", "new")["error"]["mistakes"][0];
    assert!(mistake["message"].to_string().contains("spec.size"), "{offline}");
    // So are types and fields of one that exists, whose values alone may stay.
    let labelled = sundial().replaced("metadata: {", "metadata: {labels: {a: b}, ");
    for (definition, field) in [(&words, "size: [1]"), (&labelled, "tag: a")] {
        ws.write(
            "manifests.yaml",
            &format!("{definition}---{}", A_SUNDIAL.replaced("  tags:", &format!("  {field}\n  tags:"))),
        );
        let offline = is_the_same_offline(&ws, "a mistake in an object that exists, whose definition changes");
        assert_eq!((offline.each("action")[1].as_str(), offline.code), ("Sundial it: unknown", 4), "{offline}");
        let hint = offline.object("Sundial", "it")["error"]["mistakes"][0]["hint"].to_string();
        assert!(!hint.contains("kubectl explain"), "{offline}");
    }
    ws.write("manifests.yaml", &format!("{words}---{}", large.replaced("name: it,", "name: new,")));
    for shard in ["--shard=0/2", "--shard=1/2"] {
        let online = ws.reconcile(["diff", "-f", "manifests.yaml", shard]);
        let offline = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml", "-n", "$NS", shard]);
        assert_eq!((essence(&offline), offline.code), (essence(&online), online.code), "{shard}: {offline}");
    }
    // Without a definition in the snapshot, the type is the new one already: no change makes the value valid.
    ws.write("manifests.yaml", &format!("{}---{large}", sundial()));
    let printed =
        ws.kubectl(["get", "sundials.$NS.example.com/it", "--show-managed-fields", "-o", "yaml"]).exits_with(0);
    ws.write("live.yaml", &printed.stdout);
    let offline = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml", "-n", "$NS"]);
    assert_eq!(offline.object("Sundial", "it")["action"], "unknown", "{offline}");
    ws.write("manifests.yaml", &format!("{}---{A_SUNDIAL}", sundial()));
    let printed =
        ws.kubectl(["get", "sundials.$NS.example.com/it", "--show-managed-fields", "-o", "yaml"]).exits_with(0);
    ws.write("live.yaml", &printed.stdout);
    let online = ws.reconcile(["diff", "-f", "manifests.yaml"]);
    let offline = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml", "-n", "$NS"]);
    assert_eq!(essence(&offline)[1..], essence(&online)[1..]);
}

/// Without the definition, a list is one value: no item of it is given up to a manager that owns a part of one.
#[test]
fn an_item_of_a_list_without_a_type_is_not_called_gone() {
    let ws = Workspace::new();
    let parts = "
properties:
  parts:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items: {type: object, required: [name], properties: {name: {type: string}, use: {type: string}}}
";
    let orrery = resource("Orrery", "it", "parts: [{name: sun, use: light}, {name: moon, use: tides}]");
    ws.write("it.yaml", &orrery);
    ws.write("definition.yaml", &definition("Orrery", parts));
    ws.reconcile(["apply", "-f", "definition.yaml", "-f", "it.yaml"]).exits_with(0);
    ws.patch_as(
        "kubectl-patch",
        "orrerys.$NS.example.com/it",
        &json!({"spec": {"parts": [{"name": "sun", "use": "warmth"}, {"name": "moon", "use": "tides"}]}}),
    );
    let get = ["get", "orrerys.$NS.example.com/it", "-o", "yaml", "--show-managed-fields"];
    ws.write("live.yaml", &ws.kubectl(get).exits_with(0).stdout);
    let diff = ws.reconcile(["diff", "-f", "it.yaml", "--live", "live.yaml", "-n", "$NS"]).exits_with(1);
    let changes = diff.changes("Orrery", "it");
    assert!(changes.iter().all(|change| !change.starts_with("released")), "{diff}");
    assert_eq!(diff.change("Orrery", "it", "spec.parts[0].use")["desired"], "light", "{diff}");
}

/// The types of the API server preserve them at every depth (kube-openapi `schemaconv/openapi.go`, `visitSpec`).
#[test]
fn unknown_fields_below_what_preserves_them_are_no_mistakes() {
    let ws = Workspace::new();
    let dial = definition(
        "Dial",
        "
properties:
  size: {type: integer}
  open:
    type: object
    x-kubernetes-preserve-unknown-fields: true
    properties: {inner: {type: object, properties: {a: {type: string}}}}
  rules:
    type: array
    x-kubernetes-preserve-unknown-fields: true
    items: {type: object, properties: {name: {type: string}}}
",
    );
    let object = "
apiVersion: $NS.example.com/v1
kind: Dial
metadata: {name: it}
spec:
  size: 1
  open: {inner: {a: x}, more: 1}
  rules: [{name: a, extra: 1}]
";
    ws.write("manifests.yaml", &format!("{dial}---{object}"));
    assert_eq!(ws.reconcile(["diff", "-f", "manifests.yaml"]).exits_with(1).each("action")[1], "Dial it: create");
    ws.reconcile(["apply", "-f", "manifests.yaml"]).exits_with(0);
    ws.wait_for_types();
    is_the_same_offline(&ws, "applied");
    ws.patch_as("kubectl-edit", "dials.$NS.example.com/it", &json!({"spec": {"size": 2, "rules": []}}));
    let offline = is_the_same_offline(&ws, "changed");
    let read_only = ws.reconcile(["diff", "-f", "manifests.yaml", "--evidence=read-only"]);
    for run in [&offline, &read_only] {
        assert_eq!((run.each("action")[1].as_str(), run.code), ("Dial it: update", 1), "{run}");
    }
}

#[test]
fn a_snapshot_without_the_right_to_read_definitions_has_none() {
    let ws = Workspace::new();
    ws.write("crd.yaml", &sundial());
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    ws.write("manifests.yaml", A_SUNDIAL);
    ws.reconcile(["apply", "-f", "manifests.yaml"]).exits_with(0);
    ws.allow("reader", "get,list", "sundials.$NS.example.com");
    let run = ws.as_user("reader").reconcile(["snapshot", "-f", "manifests.yaml", "--file", "live.yaml"]).exits_with(0);
    assert!(!fs::read_to_string(ws.folder().join("live.yaml")).unwrap().contains("CustomResourceDefinition"), "{run}");
    // Its lists are compared as a whole then, and the report says so.
    let diff = ws.reconcile(["diff", "-f", "manifests.yaml", "--live", "live.yaml"]).exits_with(1);
    let warnings = &diff.object("Sundial", "it")["warnings"];
    assert!(warnings[0].as_str().unwrap().contains("CustomResourceDefinition"), "{warnings}");
}

/// What a terminal acts on, what changes the order of what is read, and what is not drawn.
const HOSTILE: &str = "a\u{1b}[2Jb\u{1b}]52;c;cm0=\u{7}c\rd\u{8}e\u{9b}31mf\u{202e}g\u{2066}h\u{200b}i\u{e0041}j\u{2028}k\u{ad}l\u{3164}m\u{7f}n\u{0}o";

#[test]
fn a_snapshot_on_a_terminal_lets_nothing_hidden_through() {
    let ws = Workspace::new();
    ws.define("Jar", ANY_FIELDS);
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}";
    ws.write("it.yaml", &format!("{map}\n---\n{{apiVersion: $NS.example.com/v1, kind: Jar, metadata: {{name: jar}}}}"));
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    // The server itself takes no NUL in a string that it stores.
    let hostile = HOSTILE.replace('\0', "");
    let lines = format!("first\n{hostile}\n  {hostile}\n");
    ws.patch_as("agent", "configmap/it", &json!({"metadata": {"annotations": {"note": hostile, "lines": lines}}, "data": {"value": hostile, "text": lines}}));
    ws.patch_as("agent", "jars/jar", &json!({"spec": {&hostile: {&hostile: [hostile, lines]}}}));
    let shown = ws.env("CI", "1").printing_on_terminal().reconcile(["snapshot", "-f", "it.yaml"]).exits_with(0);
    // The terminal itself ends lines with both.
    let text = shown.stderr.replace("\r\n", "\n");
    for hidden in HOSTILE.chars().filter(|c| !c.is_ascii_graphic()) {
        assert!(!text.contains(hidden), "{hidden:?} in {text:?}");
    }
    assert_eq!(text.matches("\nkind: ").count(), 4, "{text}");
    assert!(text.contains("\\u202e") && text.contains("first"), "{text}");

    // What a program reads is the object as it is.
    let printed = ws.reconcile(["snapshot", "-f", "it.yaml"]).exits_with(0);
    ws.write("live.yaml", &printed.stdout);
    ws.reconcile(["diff", "-f", "it.yaml", "--live", "live.yaml", "-n", "$NS"]).exits_with(0);
    let again = ws.kubectl([
        "create",
        "--dry-run=client",
        "-f",
        "live.yaml",
        "-o",
        "jsonpath={.items[*].data.value}{.data.value}",
    ]);
    assert!(again.stdout.contains(&hostile), "{again}");
}

#[test]
fn names_in_a_kubeconfig_cannot_forge_completions() {
    let ws = Workspace::new();
    let escaped: Vec<String> = HOSTILE.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect();
    let escaped = escaped.concat();
    let name = |number: usize| format!("\"{number}{escaped}\\n:0\\tforged\"");
    let entry = |kind: &str, number| format!("{{name: {}, {kind}: {{}}}}", name(number));
    let config = format!(
        "{{apiVersion: v1, kind: Config, contexts: [{{name: good, context: {{}}}}, {}], clusters: [{{name: near, cluster: {{}}}}, {}], users: [{{name: me, user: {{}}}}, {}]}}",
        entry("context", 1),
        entry("cluster", 2),
        entry("user", 3)
    );
    let path = ws.write("config", &config);
    for (flag, good) in [("--context", "good"), ("--cluster", "near"), ("--user", "me")] {
        let config = format!("--kubeconfig={}", path.display());
        let words = ["__complete", "diff", &config, flag, ""];
        let plain = ws.reconcile(words).exits_with(0);
        assert_eq!(plain.stdout, format!("{good}\n:4\n"), "{plain}");
        let shown = ws.env("CI", "1").printing_on_terminal().reconcile(words).exits_with(0);
        assert_eq!(shown.stderr, format!("{good}\r\n:4\r\n"), "{shown}");
    }
}
