//! What has to come first comes first: Namespaces and kinds, then what lives in them, in one pass.

use serde_json::json;

use crate::control_plane::{Replaced, Workspace, definition};

const NAMESPACE: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS-shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1'}]}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: $NS-shop}, data: {a: b}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: $NS-shop, labels: {team: shop}}}
";

/// Custom resources first, the kinds behind them: the least helpful order.
fn widgets() -> String {
    let widget = definition("Widget", "properties: {size: {type: integer}, colour: {type: string, default: green}}");
    let gadget = definition("Gadget", "properties: {size: {type: integer}}").replaced("Namespaced", "Cluster");
    [RESOURCES, &widget, &gadget].join("---\n")
}

const RESOURCES: &str = "
apiVersion: $NS.example.com/v1
kind: Widget
metadata: {name: small}
spec: {size: 1}
---
apiVersion: $NS.example.com/v1
kind: Gadget
metadata: {name: $NS-wide}
spec: {size: 2}
";

#[track_caller]
fn is_settled(ws: &Workspace) {
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.report()["summary"]["inSync"], diff.objects().len());
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

#[test]
fn a_namespace_and_its_contents_come_in_one_pass() {
    let ws = Workspace::new();
    ws.write("all.yaml", NAMESPACE);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let name = ws.fill_in("Namespace $NS-shop: create");
    assert_eq!(diff.each("action"), [name.as_str(), "ConfigMap settings: create", "Deployment web: create"]);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert!(apply.each("outcome").iter().all(|outcome| outcome.ends_with(": created")), "{apply}");
    is_settled(&ws);
}

#[test]
fn a_missing_namespace_that_nobody_brings_is_named() {
    let ws = Workspace::new();
    ws.write("all.yaml", NAMESPACE);
    ws.write("here.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: here}, data: {a: b}}");
    let arguments = ["-f", "all.yaml", "-f", "here.yaml", "-l", "team!=shop"];
    let diff = ws.reconcile([&["diff"][..], &arguments].concat()).exits_with(4);
    assert_eq!(
        diff.each("action"),
        ["ConfigMap here: create", "ConfigMap settings: unknown", "Deployment web: unknown"]
    );
    let error = &diff.object("ConfigMap", "settings")["error"];
    assert_eq!(error["reason"], "NotFound");
    assert!(error["message"].as_str().unwrap().contains(&ws.fill_in("$NS-shop")), "{error}");
    let apply = ws.reconcile([&["apply"][..], &arguments].concat()).exits_with(4);
    assert_eq!(
        apply.each("outcome"),
        ["ConfigMap here: created", "ConfigMap settings: failed", "Deployment web: failed"]
    );
}

#[test]
fn a_namespace_with_only_a_name_is_in_sync_once_it_exists() {
    let ws = Workspace::new();
    ws.write("ns.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS}}");
    is_settled(&ws);
}

#[test]
fn kinds_and_their_objects_come_in_one_pass() {
    let ws = Workspace::new();
    ws.write("widgets.yaml", &widgets());
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let expected = |what: &str| {
        [
            format!("CustomResourceDefinition gadgets.{}.example.com: {what}", ws.namespace()),
            format!("CustomResourceDefinition widgets.{}.example.com: {what}", ws.namespace()),
            format!("Gadget {}-wide: {what}", ws.namespace()),
            format!("Widget small: {what}"),
        ]
    };
    assert_eq!(diff.each("action"), expected("create"));
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.each("outcome"), expected("created"));
    assert_eq!(ws.get(&ws.fill_in("Widget.$NS.example.com"), "small")["spec"], json!({"size": 1, "colour": "green"}));
    is_settled(&ws);
}

#[test]
fn a_namespace_a_kind_and_an_object_of_both_come_in_one_pass() {
    let ws = Workspace::new();
    ws.write("widgets.yaml", &widgets().replaced("{name: small}", "{name: small, namespace: $NS-new}"));
    ws.write("ns.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-new}}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.report()["summary"]["create"], 5);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    is_settled(&ws);
}

#[test]
fn a_kind_that_grows_a_field_and_an_object_with_that_field_come_in_one_pass() {
    let ws = Workspace::new();
    ws.write("widgets.yaml", &widgets());
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let grown = widgets()
        .replaced("size: {type: integer}, colour", "size: {type: integer}, weight: {type: integer}, colour")
        .replaced("spec: {size: 1}", "spec: {size: 1, weight: 7}");
    ws.write("widgets.yaml", &grown);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let widget = diff.object("Widget", "small");
    assert_eq!((&widget["action"], &widget["evidence"]), (&json!("update"), &json!("local")), "{widget:#}");
    assert_eq!(diff.change("Widget", "small", "spec.weight")["desired"], 7);
    assert!(widget["warnings"][0].as_str().unwrap().contains("CustomResourceDefinition"), "{widget:#}");
    assert_eq!(diff.object("Gadget", &ws.fill_in("$NS-wide"))["action"], "none");

    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Widget", "small")["outcome"], "updated");
    assert_eq!(
        ws.get(&ws.fill_in("Widget.$NS.example.com"), "small")["spec"],
        json!({"size": 1, "weight": 7, "colour": "green"})
    );
    is_settled(&ws);
}

#[test]
fn a_kind_whose_definition_is_refused_takes_only_its_objects_along() {
    let ws = Workspace::new();
    ws.write(
        "widgets.yaml",
        &widgets().replaced("names: {kind: Widget, plural: widgets}", "names: {kind: Widget, plural: wrong}"),
    );
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let definition = ws.fill_in("widgets.$NS.example.com");
    assert_eq!(diff.object("CustomResourceDefinition", &definition)["action"], "unknown", "{diff}");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("Gadget", &ws.fill_in("$NS-wide"))["outcome"], "created");
    let widget = apply.object("Widget", "small");
    assert_eq!(widget["outcome"], "skipped", "{widget:#}");
}

#[test]
fn what_is_referred_to_is_written_before_what_refers_to_it() {
    let ws = Workspace::new();
    ws.write("a.yaml", crate::manifests::SHOP);
    ws.write("b.yaml", crate::manifests::WEB);
    let (_, requests) = ws.requests_during(|| ws.reconcile(["apply", "-f", "."]).exits_with(0));
    let writes: Vec<&str> = requests.iter().filter(|request| request.is_write()).map(|r| r.uri.as_str()).collect();
    let position = |part: &str| writes.iter().position(|uri| uri.contains(part)).unwrap_or_else(|| panic!("{part}"));
    for (first, then) in [
        ("/serviceaccounts/web", "/rolebindings/web"),
        ("/roles/web", "/rolebindings/web"),
        ("/configmaps/settings", "/deployments/web"),
        ("/secrets/credentials", "/statefulsets/db"),
        ("/services/web", "/ingresses/web"),
        ("/persistentvolumeclaims/uploads", "/jobs/migrate"),
    ] {
        assert!(position(first) < position(then), "{first} before {then} in {writes:#?}");
    }
}
