//! Answers that are not the object asked for: it is unknown then, never in sync and never absent.

use serde_json::{Value, json};

use crate::control_plane::{Fault, Proxy, Replaced, Run, Workspace};

const IT: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}";

fn ok(body: &Value) -> Fault {
    text(body.to_string())
}

fn text(body: String) -> Fault {
    Fault::Answer(200, vec![("Content-Type", "application/json".to_owned())], body)
}

/// Everything but the object: no object at all, and this object with one thing about it changed.
fn others(right: &Value) -> Vec<Value> {
    let mut others = vec![json!([]), json!(null), json!(7), json!("text"), json!({}), json!([right])];
    for (pointer, other) in [
        ("/metadata/name", json!("other")),
        ("/metadata/namespace", json!("elsewhere")),
        ("/kind", json!("Secret")),
        ("/apiVersion", json!("v2")),
    ] {
        let mut wrong = right.clone();
        *wrong.pointer_mut(pointer).unwrap() = other;
        others.push(wrong);
    }
    others
}

#[track_caller]
fn is_unknown(run: &Run, about: &Value) {
    assert_eq!(run.code, 4, "{about}: {run}");
    assert_eq!(run.object("ConfigMap", "it")["action"], "unknown", "{about}: {run}");
}

fn applied() -> (Workspace, Proxy, Value) {
    let ws = Workspace::new();
    ws.write("it.yaml", IT);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let proxy = Proxy::new(&ws);
    let live = ws.get("configmaps", "it");
    (ws, proxy, live)
}

#[test]
fn an_object_that_is_read_as_something_else_is_unknown() {
    let (ws, proxy, live) = applied();
    for other in others(&live) {
        proxy.inject(1, "GET", "configmaps/it", ok(&other));
        is_unknown(&ws.through(&proxy.url()).reconcile(["diff", "-f", "."]), &other);
    }
    let absent = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
        "details": {"name": "other", "kind": "configmaps"}});
    let headers = vec![("Content-Type", "application/json".to_owned())];
    proxy.inject(1, "GET", "configmaps/it", Fault::Answer(404, headers, absent.to_string()));
    is_unknown(&ws.through(&proxy.url()).reconcile(["diff", "-f", "."]), &absent);
    ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_dry_run_that_answers_with_something_else_is_no_verdict() {
    let (ws, proxy, live) = applied();
    let mut other_uid = live.clone();
    other_uid["metadata"]["uid"] = json!("1f0c4f6e-0000-0000-0000-000000000000");
    for other in others(&live).into_iter().chain([other_uid]) {
        proxy.inject(1, "PATCH", "configmaps/it dryRun", ok(&other));
        is_unknown(&ws.through(&proxy.url()).reconcile(["diff", "-f", ".", "--evidence=server"]), &other);
    }
    ws.delete("configmap/it");
    for other in others(&live) {
        proxy.inject(1, "PATCH", "configmaps/it dryRun", ok(&other));
        is_unknown(&ws.through(&proxy.url()).reconcile(["diff", "-f", "."]), &other);
    }
}

#[test]
fn a_write_that_answers_with_something_else_has_failed() {
    let (ws, proxy, live) = applied();
    for other in others(&live) {
        ws.patch_as("kubectl-edit", "configmap/it", &json!({"data": {"a": "c"}}));
        proxy.inject(1, "PATCH", "configmaps/it !dryRun", ok(&other));
        proxy.inject(1, "PATCH", "configmaps/it !dryRun", ok(&other));
        let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]);
        assert_eq!(apply.code, 4, "{other}: {apply}");
        assert_eq!(apply.object("ConfigMap", "it")["outcome"], "failed", "{other}: {apply}");
        // What was not sent yet is not taken from the next round.
        ws.through(&proxy.url()).reconcile(["apply", "-f", "."]);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
    }
}

/// Several objects, which are listed.
fn listed() -> (Workspace, Proxy, Value) {
    let ws = Workspace::new();
    for name in ["a", "b", "c", "d", "it", "z"] {
        ws.write(format!("{name}.yaml"), &IT.replaced("it}", &format!("{name}}}")));
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let proxy = Proxy::new(&ws);
    let list: Value =
        serde_json::from_str(&ws.kubectl(["get", "--raw", "/api/v1/namespaces/$NS/configmaps"]).stdout).unwrap();
    (ws, proxy, list)
}

#[test]
fn a_list_that_is_none_is_not_an_empty_one() {
    let (ws, proxy, list) = listed();
    let items = |items: Value| {
        let mut list = list.clone();
        list["items"] = items;
        list
    };
    for other in [
        json!([]),
        json!(null),
        json!(7),
        json!({}),
        json!({"items": []}),
        json!({"kind": "Status", "apiVersion": "v1", "items": []}),
        items(json!({})),
        items(json!([7, null, [], {}])),
        items(json!([{"metadata": {"name": "it", "namespace": "elsewhere"}}])),
    ] {
        proxy.inject(1, "GET", "configmaps?limit", ok(&other));
        let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]);
        assert_eq!(diff.exits_with(0).report()["summary"]["inSync"], 6, "{other}: read one by one");
        proxy.inject(1, "GET", "configmaps?limit", ok(&other));
        proxy.inject(6, "GET", "configmaps/", ok(&json!([])));
        let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]);
        assert_eq!(diff.exits_with(4).report()["summary"]["unknown"], 6, "{other}");
    }
}

#[test]
fn an_item_that_nobody_can_read_spoils_itself_only() {
    let (ws, proxy, list) = listed();
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for bad in [&deep, "1e999", r#""\ud800""#] {
        let mut list = list.clone();
        let items = list["items"].as_array_mut().unwrap();
        let it = items.iter_mut().find(|item| item["metadata"]["name"] == "it").unwrap();
        it["data"] = json!({"a": "BAD"});
        let body = list.to_string().replaced("\"BAD\"", bad);
        proxy.inject(1, "GET", "configmaps?limit", text(body));
        let before = proxy.requests().len();
        ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(0);
        let reads = proxy.requests().split_off(before).into_iter().filter(|request| request.contains("configmaps/"));
        assert_eq!(reads.count(), 1, "only what could not be read is read again");
    }
}

#[test]
fn a_list_without_end_is_left() {
    let (ws, proxy, mut list) = listed();
    list["metadata"]["continue"] = json!("again");
    list["items"] = json!([]);
    proxy.inject(99, "GET", "configmaps?limit", ok(&list));
    ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(0);
    let pages = proxy.requests().iter().filter(|request| request.contains("configmaps?limit")).count();
    assert_eq!(pages, 2, "the token came again");
}

#[test]
fn a_member_that_nobody_can_read_stays_and_the_others_are_pruned() {
    let ws = Workspace::new();
    for name in ["a", "b", "c"] {
        ws.write(format!("{name}.yaml"), &IT.replaced("it}", &format!("{name}}}")));
    }
    let arguments = ["apply", "-f", ".", "--prune", "--applyset=set"];
    ws.reconcile(arguments).exits_with(0);
    for name in ["b.yaml", "c.yaml"] {
        std::fs::remove_file(ws.folder().join(name)).unwrap();
    }
    let members = "/api/v1/namespaces/$NS/configmaps?labelSelector=applyset.kubernetes.io%2Fpart-of";
    let mut list: Value = serde_json::from_str(&ws.kubectl(["get", "--raw", members]).stdout).unwrap();
    let items = list["items"].as_array_mut().unwrap();
    items.iter_mut().find(|item| item["metadata"]["name"] == "c").unwrap()["data"] = json!({"a": "BAD"});
    let body = list.to_string().replaced("\"BAD\"", "1e999");
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "GET", "configmaps labelSelector", text(body));
    let apply = ws.through(&proxy.url()).reconcile(arguments).exits_with(4);
    assert!(apply.stderr.contains("a member of the apply set, cannot be read"), "{apply}");
    assert!(ws.find("ConfigMap", "b").is_none() && ws.find("ConfigMap", "c").is_some(), "{apply}");
    // It is a member still.
    ws.reconcile(arguments).exits_with(0);
    assert_eq!(ws.find("ConfigMap", "c"), None);
}
