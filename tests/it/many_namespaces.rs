//! Clusters with very many namespaces: what is wanted decides about the work, and not what is there.

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::control_plane::scripted::{Act, Seen, Server, answer};
use crate::control_plane::{ControlPlane, Run, Workspace};

const NAMESPACES: usize = 10_000;

/// A server with one ConfigMap in each namespace, as long as it is held.
struct Crowded {
    server: Server,
    _runtime: Runtime,
}

impl Crowded {
    fn new() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        Self { server: runtime.block_on(Server::start(|_, seen| answered(seen))), _runtime: runtime }
    }

    fn diff(&self, ws: &Workspace) -> Run {
        let url = format!("http://{}", self.server.address());
        ws.through(&url).reconcile(["diff", "-f", ".", "--evidence=read-only", "--summary"])
    }
}

fn answered(seen: &Seen) -> Act {
    let path = seen.line.split(' ').nth(1).unwrap_or_default();
    let headers = ["content-type: application/json"];
    if let Some(document) = document(path) {
        return answer("200 OK", &headers, &document.to_string());
    }
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404});
    answer("404 Not Found", &headers, &status.to_string())
}

fn namespace(number: usize) -> String {
    format!("team-{number:05}")
}

fn settings(number: usize) -> Value {
    let metadata =
        json!({"name": "settings", "namespace": namespace(number), "uid": number.to_string(), "resourceVersion": "7"});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}})
}

fn document(path: &str) -> Option<Value> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let resource = |name: &str, kind: &str, namespaced: bool| json!({"name": name, "kind": kind, "namespaced": namespaced, "verbs": ["get", "list", "patch"]});
    match path {
        "/api" => Some(json!({"kind": "APIVersions", "versions": ["v1"]})),
        "/apis" => Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []})),
        "/api/v1" => {
            let resources = [resource("configmaps", "ConfigMap", true), resource("namespaces", "Namespace", false)];
            Some(json!({"kind": "APIResourceList", "apiVersion": "v1", "resources": resources}))
        }
        "/api/v1/configmaps" => Some(page(query)),
        path => {
            let (namespace, rest) = path.strip_prefix("/api/v1/namespaces/team-")?.split_once("/configmaps")?;
            let number = namespace.parse().ok().filter(|number| *number < NAMESPACES)?;
            match rest {
                "/settings" => Some(settings(number)),
                "" => Some(
                    json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {}, "items": [settings(number)]}),
                ),
                _ => None,
            }
        }
    }
}

fn page(query: &str) -> Value {
    let number = |name: &str| {
        let value = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
        value.and_then(|(_, value)| value.parse::<usize>().ok())
    };
    let start = number("continue").unwrap_or(0);
    let end = (start + number("limit").unwrap_or(NAMESPACES)).min(NAMESPACES);
    let token = if end < NAMESPACES { end.to_string() } else { String::new() };
    let metadata = json!({"continue": token, "remainingItemCount": NAMESPACES - end});
    let items: Vec<Value> = (start..end).map(settings).collect();
    json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items})
}

#[test]
fn an_object_in_each_of_ten_thousand_namespaces() {
    let crowded = Crowded::new();
    let ws = Workspace::new();
    let mut items: Vec<Value> = (0..NAMESPACES).map(settings).collect();
    for item in &mut items {
        item["metadata"].as_object_mut().expect("metadata").retain(|key, _| key == "name" || key == "namespace");
    }
    items[4711]["data"] = json!({"a": "other"});
    items.push(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "missing", "namespace": namespace(9_999)}}));
    ws.write("all.json", &json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string());
    let run = crowded.diff(&ws).exits_with(1);
    let summary = &run.report()["summary"];
    assert_eq!(
        (&summary["inSync"], &summary["update"], &summary["create"]),
        (&json!(NAMESPACES - 1), &json!(1), &json!(1)),
        "{run}"
    );
    let asked = crowded.server.lines().len();
    assert!(asked <= 40, "{asked} requests for 20 pages: {:#?}", crowded.server.lines());
}

#[test]
fn a_few_objects_among_ten_thousand_namespaces() {
    let crowded = Crowded::new();
    let ws = Workspace::new();
    for number in [0, 5_000, 9_999] {
        let manifest = format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: settings, namespace: {}}}, data: {{a: b}}}}",
            namespace(number)
        );
        ws.write(format!("{number}.yaml"), &manifest);
    }
    let run = crowded.diff(&ws).exits_with(0);
    assert_eq!(run.report()["summary"]["inSync"], 3, "{run}");
    let asked = crowded.server.lines();
    assert!(asked.len() <= 9, "{asked:#?}");
}

/// Namespaces that have the ConfigMap which Kubernetes puts into every namespace, and one more, `settings-` with the number.
fn populated(namespaces: usize) -> Workspace {
    let plane = ControlPlane::private();
    let ws = Workspace::on(&plane);
    for number in 0..namespaces {
        let namespace = namespace(number);
        let metadata = json!({"name": namespace});
        plane
            .api()
            .create("/api/v1/namespaces", &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
        for name in ["kube-root-ca.crt".to_owned(), format!("settings-{number}")] {
            let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}});
            plane.api().create(&format!("/api/v1/namespaces/{namespace}/configmaps"), &map);
        }
    }
    ws
}

/// The requests for ConfigMaps of a `diff` that finds all of these in sync.
fn reads(ws: &Workspace, namespaces: usize, name: impl Fn(usize) -> String) -> Vec<String> {
    let manifest = |number| {
        let metadata = json!({"name": name(number), "namespace": namespace(number)});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}).to_string()
    };
    ws.write("all.yaml", &(0..namespaces).map(manifest).collect::<Vec<_>>().join("\n---\n"));
    let (run, requests) = ws.requests_during(|| ws.reconcile(["diff", "-f", ".", "--evidence=read-only"]));
    assert_eq!(run.exits_with(0).report()["summary"]["inSync"], namespaces);
    requests.into_iter().map(|request| request.uri).filter(|uri| uri.contains("/configmaps")).collect()
}

#[test]
fn objects_next_to_those_that_every_namespace_has_are_read_at_once() {
    let ws = populated(30);
    let uris = reads(&ws, 30, |number| format!("settings-{number}"));
    assert!(uris.iter().all(|uri| uri.starts_with("/api/v1/configmaps?limit=")), "{uris:#?}");
    assert!(uris.len() <= 3, "{uris:#?}");
}

/// The server would look at every object for a selector, and it has few others here.
#[test]
fn objects_of_one_name_among_few_others_are_listed_with_them() {
    let ws = populated(12);
    let uris = reads(&ws, 12, |_| "kube-root-ca.crt".to_owned());
    assert!(uris.iter().all(|uri| uri.starts_with("/api/v1/configmaps?limit=")), "{uris:#?}");
    assert!(uris.len() <= 3, "{uris:#?}");
}

#[test]
fn objects_of_one_name_among_many_large_ones_are_selected_by_it() {
    let ws = populated(12);
    let large = "x".repeat(20_000);
    for number in 0..12 {
        for other in 0..5 {
            let metadata = json!({"name": format!("a-{other}")});
            let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": large}});
            ws.plane().api().create(&format!("/api/v1/namespaces/{}/configmaps", namespace(number)), &map);
        }
    }
    let uris = reads(&ws, 12, |_| "kube-root-ca.crt".to_owned());
    let selected = "/api/v1/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt&limit=500";
    assert_eq!(uris, ["/api/v1/configmaps?limit=12", selected]);
}

/// A list of a namespace would read the objects of the other shard as well as a list of all namespaces does.
#[test]
fn a_shard_of_two_is_read_as_the_whole() {
    const EACH: usize = 120;
    let ws = Workspace::on(&ControlPlane::private());
    let mut manifests = Vec::new();
    for namespace in (0..10).map(namespace) {
        let metadata = json!({"name": namespace});
        manifests.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}).to_string());
        manifests.extend((0..EACH).map(|number| {
            let metadata = json!({"name": format!("settings-{number:03}"), "namespace": namespace});
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}).to_string()
        }));
    }
    ws.write("all.yaml", &manifests.join("\n---\n"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let reads = |flags: &[&str]| {
        let flags = [&["diff", "-f", ".", "--evidence=read-only"], flags].concat();
        let (run, requests) = ws.requests_during(|| ws.reconcile(&flags));
        run.exits_with(0);
        requests.into_iter().map(|request| request.uri).filter(|uri| uri.contains("/configmaps")).collect::<Vec<_>>()
    };
    let whole = reads(&[]);
    for shard in ["--shard=0/2", "--shard=1/2"] {
        let uris = reads(&[shard]);
        assert!(uris.iter().all(|uri| uri.starts_with("/api/v1/configmaps?")), "{uris:#?}");
        assert!(uris.len() <= whole.len() + 1, "{uris:#?} {whole:#?}");
    }
}

#[test]
fn a_few_objects_of_one_name_among_ten_thousand_are_not_selected() {
    let crowded = Crowded::new();
    let ws = Workspace::new();
    for number in (0..9).map(|number| 1_000 * number + 500) {
        let manifest = format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: settings, namespace: {}}}, data: {{a: b}}}}",
            namespace(number)
        );
        ws.write(format!("{number}.yaml"), &manifest);
    }
    let run = crowded.diff(&ws).exits_with(0);
    assert_eq!(run.report()["summary"]["inSync"], 9, "{run}");
    let asked = crowded.server.lines();
    assert!(asked.iter().all(|line| !line.contains("fieldSelector")), "{asked:#?}");
    assert_eq!(asked.iter().filter(|line| line.contains("/settings ")).count(), 9, "{asked:#?}");
}
