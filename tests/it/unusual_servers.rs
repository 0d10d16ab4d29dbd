//! Servers that work, and not as usual: the same comes of every run as before the API server itself.

use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Fault, PREFIX, Proxy, Replaced, Run, Workspace, definition};
use crate::manifests::WEB;

/// Another answer, made of the server's own document.
fn rewritten(rewrite: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    Fault::Rewritten(Arc::new(move |_, body| {
        let Ok(mut document) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
        rewrite(&mut document);
        document.to_string().into_bytes()
    }))
}

/// What a gateway adds that knows more than the server, and the order of one that keeps documents in a map.
fn shuffle(document: &mut Value) {
    if let Some(items) = document.get_mut("items").and_then(Value::as_array_mut) {
        items.reverse();
    }
    if let Some(fields) = document.as_object_mut() {
        fields.insert("gateway.example.com".to_owned(), json!({"links": {"self": "https://gateway.example.com"}}));
        fields.insert("links".to_owned(), json!([null, {"rel": "self"}]));
    }
}

/// Manifests of a built-in and a custom kind, applied; then people and manifests change.
fn drifted() -> Workspace {
    let ws = Workspace::new();
    ws.define("Gauge", ANY_FIELDS);
    ws.write("web.yaml", WEB);
    ws.write("same.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: same}, data: {a: b}}");
    ws.write("gauge.yaml", GAUGE);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 5);
    ws.write("gauge.yaml", &GAUGE.replaced("size: 1", "size: 2"));
    ws
}

const GAUGE: &str = "{apiVersion: $NS.example.com/v1, kind: Gauge, metadata: {name: a}, spec: {size: 1, list: [{name: x, deep: {w: [1, z]}}]}}";

/// What a comparison before such a server has to find.
#[track_caller]
fn finds_the_drift(run: &Run) {
    assert_eq!(run.code, 1, "{run}");
    assert_eq!(run.each("action"), ["ConfigMap same: none", "Deployment web: update", "Gauge a: update"], "{run}");
    assert_eq!(run.changes("Deployment", "web"), ["changedByOther spec.replicas"], "{run}");
    assert_eq!(run.changes("Gauge", "a").len(), 1, "{run}");
}

#[test]
fn the_same_is_found_behind_every_gateway() {
    let ws = drifted();
    finds_the_drift(&ws.reconcile(["diff", "-f", "."]));
    let pretty = Fault::Rewritten(Arc::new(|head, body| {
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
        let document: Result<Value, _> = serde_json::from_slice(body);
        document.map_or_else(|_| body.to_vec(), |document| format!("\n{document:#}\n").into_bytes())
    }));
    let many_groups = rewritten(|document| {
        for number in 0..500 {
            let resource = json!({"resource": "things", "responseKind": {"kind": "Thing"}, "scope": "Namespaced",
                "verbs": ["get", "list", "patch"], "subresources": [{"subresource": "status"}]});
            let version = |name: &str| json!({"version": name, "freshness": "Current", "resources": [resource]});
            let group = json!({"metadata": {"name": format!("g{number}.example.com")}, "versions": [version("v1"), version("v1beta1")]});
            document["items"].as_array_mut().unwrap().push(group);
        }
    });
    let huge = |size: usize| {
        rewritten(move |document| {
            let Some(schemas) = document["components"]["schemas"].as_object_mut() else { return };
            for number in 0..size / 1000 {
                let properties: Value =
                    (0..20).map(|field| (format!("field-{field}"), json!({"type": "string"}))).collect();
                schemas.insert(
                    format!("com.example.Kind{number}"),
                    json!({"type": "object", "properties": properties, "description": "x".repeat(200)}),
                );
            }
        })
    };
    let many_documents = rewritten(|document| {
        for number in 0..20_000 {
            document["paths"][format!("apis/g{number}.example.com/v1")] = json!({"serverRelativeURL": "/nowhere"});
        }
    });
    let missing = Fault::Answer(404, Vec::new(), "404 page not found".to_owned());
    for (name, method, pattern, fault) in [
        ("no aggregated discovery", "GET", "/api", Fault::PlainJson),
        ("500 more groups", "GET", "/apis !/apis/", many_groups),
        ("no OpenAPI v3", "GET", "/openapi/v3", missing.clone()),
        ("no OpenAPI v3 of this group", "GET", "/openapi/v3/apis", missing),
        ("20,000 OpenAPI documents", "GET", "/openapi/v3 !apis", many_documents),
        ("an OpenAPI document of 10 MB", "GET", "/openapi/v3/apis", huge(10 << 20)),
        ("an OpenAPI document of 30 MB", "GET", "/openapi/v3/apis", huge(30 << 20)),
        ("other spaces and headers", "*", "/", pretty),
        ("other order and more fields", "*", "/ !openapi", rewritten(shuffle)),
    ] {
        let proxy = Proxy::new(&ws);
        proxy.inject(999, method, pattern, fault);
        let cache = ws.home().join(name.replace(' ', "-")).display().to_string();
        let run = ws.through(&proxy.url()).reconcile(["diff", "-f", ".", "--cache-dir", &cache]);
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{name}: {run}");
        assert_eq!(run.code, 1, "{name}: {run}");
        finds_the_drift(&run);
    }
    let proxy = Proxy::new(&ws);
    let below = format!("{}{PREFIX}", proxy.url());
    finds_the_drift(&ws.through(&below).reconcile(["diff", "-f", "."]));
    assert!(proxy.requests().iter().all(|request| request.contains(PREFIX)), "{:#?}", proxy.requests());
    ws.through(&format!("{below}/")).reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

/// A kind whose lists have keys and members.
const AMMETER: &str = "
properties:
  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
";

#[test]
fn custom_resources_have_the_types_of_their_definition_where_the_server_publishes_none() {
    let ws = Workspace::new();
    ws.stdin(&definition("Ammeter", AMMETER)).reconcile(["apply", "-f", "-", "--wait"]).exits_with(0);
    ws.write("it.yaml", "{apiVersion: $NS.example.com/v1, kind: Ammeter, metadata: {name: it}, spec: {tags: [a]}}");
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.patch_as("agent", "ammeters/it", &json!({"spec": {"tags": ["b", "a"]}}));
    let proxy = Proxy::new(&ws);
    proxy.inject(999, "GET", "/openapi/v3", Fault::Answer(404, Vec::new(), "404 page not found".to_owned()));
    let through = ws.through(&proxy.url());
    let diff = through.reconcile(["diff", "-f", "it.yaml", "--evidence=read-only"]).exits_with(0);
    assert_eq!(diff.object("Ammeter", "it")["evidence"], "proven", "{diff}");
    // A document that has other kinds of the group only, as right after the definition of one more.
    proxy.clear();
    ws.wait_for_types();
    let without_kinds = rewritten(|document| document["paths"] = json!({}));
    proxy.inject(999, "GET", "/openapi/v3/apis", without_kinds);
    let uncached = ["diff", "-f", "it.yaml", "--evidence=read-only", "--cache-dir", "elsewhere"];
    let diff = through.reconcile(uncached).exits_with(0);
    assert_eq!(diff.object("Ammeter", "it")["evidence"], "proven", "{diff}");
    proxy.inject(999, "GET", "customresourcedefinitions", Fault::Answer(404, Vec::new(), String::new()));
    let diff = through.reconcile(["diff", "-f", "it.yaml"]).exits_with(0);
    assert_eq!(diff.object("Ammeter", "it")["evidence"], "server", "{diff}");
}

#[test]
fn whose_clock_is_wrong_makes_no_difference() {
    let ws = drifted();
    ws.write("claim.yaml", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    ws.reconcile(["apply", "-f", "claim.yaml"]).exits_with(0);
    for days in [-365, 365] {
        let shift = move |document: &mut Value| shift(document, SignedDuration::from_hours(24 * days));
        let proxy = Proxy::new(&ws);
        proxy.inject(999, "*", "namespaces !watch=", rewritten(shift));
        let diff =
            ws.through(&proxy.url()).reconcile(["diff", "-f", "web.yaml", "-f", "same.yaml", "-f", "gauge.yaml"]);
        finds_the_drift(&diff);
        let status = ws.through(&proxy.url()).reconcile(["status", "-f", ".", "--wait", "--timeout=1s"]);
        assert_eq!(status.code, 5, "{status}");
        let state = |kind: &str, name: &str| status.object(kind, name)["readiness"]["state"].clone();
        assert_eq!(
            (state("PersistentVolumeClaim", "data"), state("ConfigMap", "same")),
            (json!("inProgress"), json!("current"))
        );
        ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
        ws.scale("deployment/web", 5);
        let size = if days < 0 { "size: 3" } else { "size: 4" };
        ws.write("gauge.yaml", &GAUGE.replaced("size: 1", size));
    }
}

/// Moves all times of a document.
fn shift(value: &mut Value, by: SignedDuration) {
    match value {
        Value::String(text) => {
            if let Ok(time) = text.parse::<Timestamp>() {
                *text = (time + by).to_string();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shift(item, by)),
        Value::Object(map) => map.values_mut().for_each(|value| shift(value, by)),
        _ => {}
    }
}

#[test]
fn discovery_that_is_forbidden_is_reported_as_such() {
    let ws = drifted();
    let refusal = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
        "message": "forbidden: User \"limited\" cannot get path \"/apis\""});
    for (code, body) in [(403, refusal.to_string()), (200, "{}".to_owned()), (200, "[]".to_owned())] {
        let proxy = Proxy::new(&ws);
        proxy.inject(9, "GET", "/apis", Fault::Answer(code, Vec::new(), body));
        let run = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(3);
        let text = if code == 403 { "cannot get path" } else { "it does not list API groups" };
        assert!(run.stderr.contains(text), "{run}");
    }
}

#[test]
fn names_may_be_as_long_as_they_may_be() {
    let ws = Workspace::new();
    let space = format!("{}-{}", ws.namespace(), "n".repeat(62 - ws.namespace().len()));
    let name = (0..4).map(|_| "a".repeat(61)).collect::<Vec<_>>().join(".") + ".abcde";
    assert_eq!((space.len(), name.len()), (63, 253));
    let key = format!("{}/{}", vec!["p".repeat(61); 4].join("."), "k".repeat(63));
    let manifest = |value: &str| {
        format!(
            "{{apiVersion: v1, kind: Namespace, metadata: {{name: {space}}}}}\n---\n{{apiVersion: v1, kind: ConfigMap, \
             metadata: {{name: {name}, namespace: {space}, labels: {{'{key}': {}}}}}, data: {{{}: {value}}}}}\n",
            "v".repeat(63),
            "d".repeat(253),
        )
    };
    ws.write("it.yaml", &manifest("a"));
    let apply = ["apply", "-f", ".", "--prune", "--applyset=set"];
    let diff = ["diff", "-f", ".", "--prune", "--applyset=set"];
    ws.reconcile(apply).exits_with(0);
    ws.reconcile(diff).exits_with(0);
    ws.write("it.yaml", &manifest("b"));
    let diff = ws.reconcile(diff).exits_with(1);
    assert_eq!(diff.object("ConfigMap", &name)["action"], "update");
    ws.reconcile(apply).exits_with(0);
    assert_eq!(ws.reconcile(apply).exits_with(0).writes(), 0);
    ws.reconcile(["status", "-f", "."]).exits_with(0);
    ws.kubectl(["delete", "namespace", &space, "--wait=false"]).exits_with(0);
}

#[test]
fn objects_may_be_as_large_as_they_may_be() {
    let ws = drifted();
    let text = |size: usize| "0123456789abcdef".repeat(size / 16);
    let gauge = |first: &str| {
        let name = "{apiVersion: $NS.example.com/v1, kind: Gauge, metadata: {name: large}, spec: {first: ";
        format!("{name}{first}, text: {}}}}}", text(1_400 << 10))
    };
    ws.write("gauge.yaml", &gauge("a"));
    let config = |value: &str| {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: large}}, data: {{a: {value}, text: {}}}}}",
            text(1_000_000)
        )
    };
    ws.write("large.yaml", &config("a"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    ws.write("gauge.yaml", &gauge("b"));
    ws.write("large.yaml", &config("b"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Gauge", "large"), ["pending spec.first"], "{}", diff.stderr);
    assert!(diff.stdout.len() < 20_000, "{}", diff.stdout.len());
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    // More than the server takes is its own refusal.
    ws.write("large.yaml", &config(&text(200_000)));
    let refused = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    let large = refused.object("ConfigMap", "large");
    let message = large["error"]["message"].as_str().unwrap_or_default();
    assert!(
        large["outcome"] == "skipped" && message.contains("too large") && message.contains("at most 1 MiB"),
        "{}",
        refused.stderr
    );
}
