//! The life of a set: it grows, loses members, and is emptied.

use serde_json::json;

use super::{applied, config_map, label, lists, refusal, remove, run, run_allowed, through};
use crate::control_plane::{Proxy, Replaced, Request, Workspace};

#[test]
fn a_member_that_no_manifest_names_any_more_is_deleted() {
    let ws = applied();
    config_map(&ws, "stranger");
    ws.kubectl(["apply", "--server-side", "-f", "stranger.yaml"]).exits_with(0);
    remove(&ws, "stranger");
    remove(&ws, "b");

    let before = ws.all_resource_versions();
    let (diff, requests) = ws.requests_during(|| run(&ws, "diff").exits_with(1));
    assert_eq!(diff.each("action"), ["ConfigMap a: none", "ConfigMap b: delete"]);
    assert_eq!(diff.changes("ConfigMap", "b"), ["pruned"]);
    let change = &diff.object("ConfigMap", "b")["changes"][0];
    assert_eq!((&change["op"], &change["live"]["data"]), (&json!("remove"), &json!({"a": "b"})));
    assert_eq!(diff.object("ConfigMap", "b").get("source"), None);
    let summary = &diff.report()["summary"];
    assert_eq!((&summary["delete"], &summary["inSync"], &summary["objects"]), (&json!(1), &json!(1), &json!(2)));
    assert!(diff.stdout.contains(&ws.fill_in("- ConfigMap $NS/b")), "{diff}");
    assert!(diff.stdout.contains("1 to delete; 1 in sync"), "{diff}");
    assert!(!requests.iter().any(Request::is_write), "{requests:#?}");
    assert_eq!(ws.all_resource_versions(), before, "a diff deletes nothing");

    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "ConfigMap b: deleted"]);
    assert!(apply.stdout.contains(&ws.fill_in("deleted ConfigMap $NS/b")), "{apply}");
    assert_eq!(ws.find("ConfigMap", "b"), None);
    assert!(ws.find("ConfigMap", "stranger").is_some(), "who is no member is not concerned");
    run(&ws, "diff").exits_with(0);
}

#[test]
fn a_pass_with_nothing_to_do_writes_nothing_not_even_to_the_parent() {
    let ws = applied();
    lists(&ws, "ConfigMap", "");
    for _ in 0..2 {
        let before = ws.all_resource_versions();
        let (apply, requests) = ws.requests_during(|| run(&ws, "apply").exits_with(0));
        assert_eq!(apply.writes(), 0, "{apply}");
        assert!(!requests.iter().any(Request::is_write), "{requests:#?}");
        assert_eq!(ws.all_resource_versions(), before);
        assert_eq!(apply.report()["applySet"]["parent"]["action"], "none");
    }
}

#[test]
fn the_label_is_part_of_what_is_wanted() {
    let ws = Workspace::new();
    config_map(&ws, "a");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = run(&ws, "diff").exits_with(1);
    assert_eq!(diff.each("action"), ["ConfigMap a: update"]);
    assert_eq!(ws.find("Secret", "set"), None, "a diff does not write the parent either");
    assert_eq!(diff.report()["applySet"]["parent"]["action"], "create");
    let id = &diff.report()["applySet"]["id"];
    run(&ws, "apply").exits_with(0);
    assert_eq!(label(&ws.get("ConfigMap", "a")), id);
    ws.kubectl(["label", "configmap/a", "applyset.kubernetes.io/part-of-"]).exits_with(0);
    let diff = run(&ws, "diff").exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "a"), [r#"absent metadata.labels["applyset.kubernetes.io/part-of"]"#]);
    run(&ws, "apply").exits_with(0);
    run(&ws, "diff").exits_with(0);
}

#[test]
fn an_empty_input_empties_the_set_when_that_is_intended() {
    let ws = applied();
    ws.write("a.yaml", "# nothing any more");
    remove(&ws, "b");
    let refused = run(&ws, "apply").exits_with(2);
    assert!(refused.stderr.contains("--allow-empty"), "{refused}");
    let set = ["-f", ".", "--prune", "--applyset=set", "--allow-empty", "--prune-allow=other-namespaces"];
    let diff = ws.reconcile([&["diff"][..], &set].concat()).exits_with(1);
    assert_eq!(diff.each("action"), ["ConfigMap a: delete", "ConfigMap b: delete"]);
    let apply = ws.reconcile([&["apply"][..], &set].concat()).exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: deleted", "ConfigMap b: deleted"]);
    lists(&ws, "", "");
    ws.reconcile([&["diff"][..], &set].concat()).exits_with(0);
    // The set goes on.
    config_map(&ws, "c");
    run(&ws, "apply").exits_with(0);
    lists(&ws, "ConfigMap", "");
}

#[test]
fn a_set_may_span_namespaces_and_what_has_none() {
    let ws = Workspace::new();
    let objects = "
{apiVersion: v1, kind: Namespace, metadata: {name: $NS-b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: it, namespace: $NS-b}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: it, namespace: $NS-b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $NS-role}, rules: []}
";
    ws.write("it.yaml", objects);
    run(&ws, "apply").exits_with(0);
    lists(&ws, "ClusterRole.rbac.authorization.k8s.io,ConfigMap,Namespace,ServiceAccount", &ws.fill_in("$NS-b"));
    ws.write("it.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-b}}");
    let diff = run(&ws, "diff").exits_with(1);
    let role = ws.fill_in("ClusterRole $NS-role: delete");
    let namespace = ws.fill_in("Namespace $NS-b: none");
    // In the reverse order of the plan; what is alike, by kind, namespace and name.
    assert_eq!(
        diff.each("action"),
        [&namespace, &role, "ConfigMap it: delete", "ConfigMap it: delete", "ServiceAccount it: delete"]
    );
    run_allowed(&ws, "apply").exits_with(0);
    lists(&ws, "Namespace", "");
    run(&ws, "diff").exits_with(0);
}

#[test]
fn what_needs_others_goes_first() {
    let ws = Workspace::new();
    ws.write("shop.yaml", crate::manifests::SHOP);
    ws.write("web.yaml", crate::manifests::WEB);
    run(&ws, "apply").exits_with(0);
    // Without controllers nobody else lets go of it.
    ws.patch_as("test", "persistentvolumeclaim/uploads", &json!({"metadata": {"finalizers": null}}));
    remove(&ws, "shop");
    remove(&ws, "web");
    config_map(&ws, "a");
    let (_, requests) = ws.requests_during(|| run_allowed(&ws, "apply").exits_with(0));
    let deleted: Vec<&str> =
        requests.iter().filter(|request| request.verb == "delete").map(|request| request.uri.as_str()).collect();
    let position = |part: &str| deleted.iter().position(|uri| uri.contains(part)).unwrap_or_else(|| panic!("{part}"));
    for (first, then) in [
        ("/rolebindings/web", "/serviceaccounts/web"),
        ("/rolebindings/web", "/roles/web"),
        ("/deployments/web", "/configmaps/settings"),
        ("/statefulsets/db", "/secrets/credentials"),
        ("/ingresses/web", "/services/web"),
    ] {
        assert!(position(first) < position(then), "{first} before {then} in {deleted:#?}");
    }
}

#[test]
fn an_explicit_dependency_goes_after_what_depends_on_it() {
    let ws = Workspace::new();
    let object = |name: &str, on: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, annotations: {{config.kubernetes.io/depends-on: {on}}}}}}}\n"
        )
    };
    let on = |name: &str| ws.fill_in(&format!("/namespaces/$NS/ConfigMap/{name}"));
    ws.write(
        "it.yaml",
        &(object("a", &on("c"))
            + &object("b", &on("a"))
            + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"),
    );
    run(&ws, "apply").exits_with(0);
    remove(&ws, "it");
    config_map(&ws, "d");
    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(
        apply.each("outcome"),
        ["ConfigMap d: created", "ConfigMap b: deleted", "ConfigMap a: deleted", "ConfigMap c: deleted"]
    );
}

#[test]
fn two_hundred_members_are_pruned_in_one_pass() {
    let ws = Workspace::new();
    let objects: Vec<String> = (0..200)
        .map(|number| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number:03}}}}}"))
        .collect();
    ws.write("many.yaml", &objects.join("\n---\n"));
    run(&ws, "apply").exits_with(0);
    remove(&ws, "many");
    config_map(&ws, "a");
    let diff = run(&ws, "diff").exits_with(1);
    assert_eq!(diff.report()["summary"]["delete"], 200);
    let apply = run_allowed(&ws, "apply").exits_with(0);
    assert_eq!(apply.each("outcome").iter().filter(|outcome| outcome.ends_with(": deleted")).count(), 200);
    // The parent lists the same before and after, so that nothing but the objects is written.
    assert_eq!(apply.writes(), 201, "{}", apply.report()["requests"]);
    run(&ws, "diff").exits_with(0);
}

#[test]
fn values_of_pruned_secrets_are_not_shown() {
    let ws = Workspace::new();
    let value = ws.secret("pruned-and-never-shown");
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: it}, stringData: {key: $VALUE, other: $VALUE}}";
    ws.write("it.yaml", &secret.replaced("$VALUE", &value));
    config_map(&ws, "a");
    run(&ws, "apply").exits_with(0);
    // As client-side apply leaves it, with a copy of the value in an annotation.
    ws.kubectl(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.kubectl(["label", "secret/it", &format!("applyset.kubernetes.io/part-of={}", id(&ws)), "--overwrite"])
        .exits_with(0);
    remove(&ws, "it");
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "DELETE", "secrets/it", refusal(403, &format!("the policy denies {value}")));
    let denied = through(&ws, &proxy, "apply").exits_with(4);
    let message = &denied.object("Secret", "it")["error"]["message"];
    assert_eq!(message, "the server refused the request (403 Forbidden)");
    for command in ["diff", "apply"] {
        let run = run(&ws, command);
        let live = &run.object("Secret", "it")["changes"][0]["live"];
        assert_eq!(live["data"], json!({"key": {"redacted": "#1"}, "other": {"redacted": "#1"}}), "{run}");
        let copy = &live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"];
        assert!(copy["redacted"].is_string(), "{copy}");
    }
    assert_eq!(ws.find("Secret", "it"), None);
}

fn id(ws: &Workspace) -> String {
    ws.get("Secret", "set")["metadata"]["labels"]["applyset.kubernetes.io/id"].as_str().unwrap().to_owned()
}
