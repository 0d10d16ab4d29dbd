//! Custom resources that say how they are, objects that are being deleted, and objects that are not there.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{CLAIM, readiness, running, set_status, states, wait_until};
use crate::control_plane::{ANY_FIELDS, Proxy, Replaced, Workspace, definition_with_status};

pub(super) fn widget_definition() -> String {
    definition_with_status("Widget", ANY_FIELDS)
}

pub(super) const WIDGET: &str = "{apiVersion: $NS.example.com/v1, kind: Widget, metadata: {name: it}, spec: {size: 1}}";

/// A workspace with a Widget.
fn with_widget() -> Workspace {
    let ws = Workspace::new();
    ws.write("widgets.yaml", &widget_definition());
    ws.write("it.yaml", WIDGET);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws
}

fn ready(status: &str, reason: &str) -> Value {
    json!({"type": "Ready", "status": status, "reason": reason, "message": "says its controller"})
}

#[test]
fn a_kind_and_its_object_are_waited_for_in_one_pass() {
    let ws = Workspace::new();
    ws.write("widgets.yaml", &widget_definition());
    ws.write("it.yaml", WIDGET);
    let status = ws.reconcile(["status", "-f", "."]).exits_with(5);
    let definition = ws.fill_in("widgets.$NS.example.com");
    let expected =
        |state: &str| [format!("CustomResourceDefinition {definition}: {state}"), format!("Widget it: {state}")];
    assert_eq!(states(&status), expected("notFound"));
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert_eq!(states(&apply), expected("current"));
    assert_eq!(readiness(&apply, "CustomResourceDefinition", &definition).1, "its kind is served");
}

#[test]
fn a_custom_resource_is_as_ready_as_it_says() {
    let ws = with_widget();
    for (status, code, expected) in [
        (json!({"conditions": [ready("False", "Waiting")]}), 5, ("inProgress", "says its controller (Waiting)")),
        (json!({"conditions": [ready("False", "InvalidSpec")]}), 5, ("failed", "says its controller (InvalidSpec)")),
        (json!({"conditions": [ready("True", "Up")]}), 0, ("current", "says its controller (Up)")),
        (
            json!({"observedGeneration": 7, "conditions": [ready("True", "Up")]}),
            5,
            ("inProgress", "its controller has not seen generation 1 yet, only 7"),
        ),
    ] {
        set_status(&ws, "widget.$NS.example.com/it", &status);
        let run = ws.reconcile(["status", "-f", "it.yaml"]).exits_with(code);
        assert_eq!(readiness(&run, "Widget", "it"), expected);
    }
}

#[test]
fn a_custom_resource_is_waited_for_until_its_controller_has_seen_it() {
    let ws = with_widget();
    set_status(
        &ws,
        "widget.$NS.example.com/it",
        &json!({"observedGeneration": 1, "conditions": [ready("True", "Up")]}),
    );
    ws.write("it.yaml", &WIDGET.replaced("size: 1", "size: 2"));
    let proxy = Proxy::new(&ws);
    let apply = ws.through(&proxy.url()).start_reconcile(["apply", "-f", ".", "--wait", "--timeout=2m"]);
    proxy.wait_for(&["/widgets", "watch=true"]);
    assert_eq!(ws.get(&ws.fill_in("Widget.$NS.example.com"), "it")["metadata"]["generation"], 2);
    let seen = Instant::now();
    set_status(&ws, "widget.$NS.example.com/it", &json!({"observedGeneration": 2}));
    let apply = apply.finish().exits_with(0);
    assert!(seen.elapsed() < Duration::from_secs(30), "watched, not polled");
    assert!(apply.stderr.ends_with(&ws.fill_in("Z ready Widget $NS/it\n")), "{apply}");
}

#[test]
fn a_stalled_custom_resource_ends_the_wait_at_once() {
    let ws = with_widget();
    ws.write("claim.yaml", CLAIM);
    set_status(
        &ws,
        "widget.$NS.example.com/it",
        &json!({"conditions": [{"type": "Stalled", "status": "True", "reason": "NoLicence"}]}),
    );
    let started = Instant::now();
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(5);
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(readiness(&apply, "Widget", "it"), ("failed", "condition Stalled is True (NoLicence)"));
}

#[test]
fn what_a_finalizer_holds_is_terminating() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, finalizers: [example.com/hold]}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.delete("configmap/it");
    let status = ws.reconcile(["status", "-f", "."]).exits_with(5);
    let message = "it is being deleted, and waits for its finalizer `example.com/hold`";
    assert_eq!(readiness(&status, "ConfigMap", "it"), ("terminating", message));
    let status = ws.reconcile(["status", "-f", ".", "--wait", "--timeout=2s"]).exits_with(5);
    assert_eq!(readiness(&status, "ConfigMap", "it"), ("terminating", message));
    ws.patch_as("test", "configmap/it", &json!({"metadata": {"finalizers": null}}));
    let status = ws.reconcile(["status", "-f", "."]).exits_with(5);
    assert_eq!(readiness(&status, "ConfigMap", "it"), ("notFound", "it does not exist"));
}

#[test]
fn a_namespace_that_cannot_end_says_what_is_left_in_it() {
    let ws = running();
    ws.write("ns.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-going}}");
    ws.write(
        "it.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, namespace: $NS-going, finalizers: [example.com/hold]}}",
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.delete("namespace/$NS-going");
    let message = || {
        let status = ws.reconcile(["status", "-f", "ns.yaml"]).exits_with(5);
        let (state, message) = readiness(&status, "Namespace", &ws.fill_in("$NS-going"));
        assert_eq!(state, "terminating");
        message.to_owned()
    };
    wait_until("the Namespace says what is left in it", || message().contains("example.com/hold"));
    let patch = json!({"metadata": {"finalizers": null}}).to_string();
    ws.kubectl(["patch", "configmap/it", "-n", "$NS-going", "--type=merge", "-p", &patch]).exits_with(0);
}

#[test]
fn what_is_created_meanwhile_is_waited_for() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    let proxy = Proxy::new(&ws);
    let status = ws.through(&proxy.url()).start_reconcile(["status", "-f", ".", "--wait", "--timeout=2m"]);
    proxy.wait_for(&["/configmaps", "watch=true"]);
    ws.kubectl(["create", "configmap", "it"]).exits_with(0);
    let status = status.finish().exits_with(0);
    assert!(status.stderr.ends_with(&ws.fill_in("Z ready ConfigMap $NS/it\n")), "{status}");
}

#[test]
fn a_kind_that_nobody_knows_is_unknown() {
    let ws = Workspace::new();
    ws.write("it.yaml", WIDGET);
    let status = ws.reconcile(["status", "-f", ".", "--wait"]).exits_with(4);
    assert_eq!(readiness(&status, "Widget", "it").0, "unknown");
    assert_eq!(status.object("Widget", "it")["error"]["reason"], "UnknownKind");
    assert!(status.stdout.contains("hint: "), "{status}");
}

#[test]
fn many_objects_are_watched_together() {
    let ws = Workspace::new();
    let claims: Vec<_> = (0..30).map(|number| CLAIM.replaced("name: data", &format!("name: data-{number}"))).collect();
    ws.write("claims.yaml", &claims.join("\n---\n"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let proxy = Proxy::new(&ws);
    let status = ws.through(&proxy.url()).start_reconcile(["status", "-f", ".", "--wait", "--timeout=2m"]);
    proxy.wait_for(&["/persistentvolumeclaims", "watch=true"]);
    for number in 0..30 {
        set_status(&ws, &format!("pvc/data-{number}"), &json!({"phase": "Bound"}));
    }
    let status = status.finish().exits_with(0);
    let requests = &status.report()["requests"];
    assert_eq!(
        (&requests["list"], &requests["watch"], &requests["get"]),
        (&json!(1), &json!(1), &json!(0)),
        "{status}"
    );
    assert_eq!(status.report()["summary"]["readiness"]["current"], 30);
}

#[test]
fn a_load_balancer_is_waited_for_until_it_has_its_address() {
    let ws = Workspace::new();
    ws.write(
        "web.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: LoadBalancer, ports: [{port: 80}]}}",
    );
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=1s"]).exits_with(5);
    assert_eq!(readiness(&apply, "Service", "web"), ("inProgress", "its load balancer has no address yet"));
    let proxy = Proxy::new(&ws);
    let apply = ws.through(&proxy.url()).start_reconcile(["apply", "-f", ".", "--wait"]);
    proxy.wait_for(&["/services", "watch=true"]);
    set_status(&ws, "service/web", &json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}));
    let apply = apply.finish().exits_with(0);
    let (time, event) = apply.stderr.lines().last().and_then(|line| line.split_once(' ')).expect("a time and an event");
    time.parse::<jiff::Timestamp>().unwrap_or_else(|_| panic!("a time in front: {apply}"));
    assert_eq!(event, ws.fill_in("ready Service $NS/web"));
}
