//! Readiness rules of the configuration: a controller that the test plays takes a custom resource from one phase to the next.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conditions::{WIDGET, widget_definition};
use super::{readiness, wait_until};
use crate::control_plane::{Run, Workspace};

/// A rule as it is written for many operators: by the phase.
const BY_PHASE: &str = "
  inProgress: status.phase == 'Pending'
  failed: status.phase == 'Failed'
  current: status.phase == 'Ready'
";

/// A workspace with a Widget, and a configuration with one rule for it.
fn with(rule: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("widgets.yaml", &widget_definition());
    ws.write("it.yaml", WIDGET);
    let head =
        "apiVersion: kubectl-reconcile/v1\nkind: Config\nreadiness:\n- target: {group: '*.example.com', kind: Widget}";
    ws.write(".kubectl-reconcile.yaml", &format!("{head}{rule}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws
}

/// What the controller of Widgets writes.
#[track_caller]
fn controller_says(ws: &Workspace, status: &Value) {
    let patch = json!({"status": status}).to_string();
    let object = "widget.$NS.example.com/it";
    let flags = ["--subresource=status", "--type=merge", "--field-manager=widgets", "-p", &patch];
    ws.kubectl([&["patch", object][..], &flags].concat()).exits_with(0);
}

fn status(ws: &Workspace, code: u8) -> Run {
    ws.reconcile(["status", "-f", "it.yaml"]).exits_with(code.into())
}

#[test]
fn the_configuration_says_when_a_custom_resource_is_ready() {
    let ws = with(BY_PHASE);
    let says = |name: &str| format!("`{name}` of its readiness rule is true");
    let missing = "`inProgress` of its readiness rule cannot be evaluated: there is no `status`".to_owned();
    assert_eq!(readiness(&status(&ws, 5), "Widget", "it"), ("inProgress", missing.as_str()), "as Flux counts it");
    for (phase, code, state, message) in [
        ("Pending", 5, "inProgress", says("inProgress")),
        ("Failed", 5, "failed", says("failed")),
        ("Other", 5, "inProgress", "`current` of its readiness rule is not true yet".to_owned()),
        ("Ready", 0, "current", says("current")),
    ] {
        controller_says(&ws, &json!({"phase": phase}));
        assert_eq!(readiness(&status(&ws, code), "Widget", "it"), (state, message.as_str()));
    }
    // A condition that the rule does not ask for says nothing any more; a generation that was not observed does.
    controller_says(&ws, &json!({"phase": "Ready", "conditions": [{"type": "Stalled", "status": "True"}]}));
    status(&ws, 0);
    controller_says(&ws, &json!({"phase": "Ready", "observedGeneration": 7}));
    assert_eq!(
        readiness(&status(&ws, 5), "Widget", "it"),
        ("inProgress", "its controller has not seen generation 1 yet, only 7")
    );
    let without = ws.reconcile(["status", "-f", "it.yaml", "--no-config"]).exits_with(5);
    assert_eq!(readiness(&without, "Widget", "it").0, "inProgress");
}

#[test]
fn apply_waits_until_the_rule_says_that_it_is_ready() {
    let ws = with(BY_PHASE);
    controller_says(&ws, &json!({"phase": "Pending"}));
    let apply = ws.as_user("admin").start_reconcile(["apply", "-f", ".", "--wait", "--timeout=1m"]);
    thread::sleep(Duration::from_secs(2));
    let ready = Instant::now();
    controller_says(&ws, &json!({"phase": "Ready"}));
    let apply = apply.finish().exits_with(0);
    assert!(ready.elapsed() < Duration::from_secs(30), "watched, not polled");
    assert_eq!(readiness(&apply, "Widget", "it"), ("current", "`current` of its readiness rule is true"));
}

#[test]
fn apply_ends_when_the_rule_says_that_it_failed_or_when_the_time_is_over() {
    let ws = with(BY_PHASE);
    // Nothing writes what the expressions read.
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=3s"]).exits_with(5);
    assert_eq!(readiness(&apply, "Widget", "it").0, "inProgress");
    controller_says(&ws, &json!({"phase": "Failed"}));
    let begun = Instant::now();
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=5m"]).exits_with(5);
    assert!(begun.elapsed() < Duration::from_mins(1), "not the whole time");
    assert_eq!(readiness(&apply, "Widget", "it"), ("failed", "`failed` of its readiness rule is true"));
}

#[test]
fn what_depends_on_an_object_with_a_rule_waits_for_it() {
    let ws = with(BY_PHASE);
    controller_says(&ws, &json!({"phase": "Pending"}));
    let annotations = "{config.kubernetes.io/depends-on: $NS.example.com/namespaces/$NS/Widget/it}";
    let after = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: after, annotations: {annotations}}}}}");
    ws.write("after.yaml", &after);
    let unready = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=2s"]).exits_with(4);
    assert_eq!(unready.object("ConfigMap", "after")["outcome"], "skipped", "{unready}");
    let apply = ws.as_user("admin").start_reconcile(["apply", "-f", ".", "--wait", "--timeout=1m"]);
    thread::sleep(Duration::from_secs(1));
    controller_says(&ws, &json!({"phase": "Ready"}));
    apply.finish().exits_with(0);
    assert_eq!(ws.get("ConfigMap", "after")["metadata"]["name"], "after");
}

#[test]
fn an_object_that_nobody_reports_on_is_followed_where_a_rule_asks_for_it() {
    let ws = Workspace::new();
    let head = "apiVersion: kubectl-reconcile/v1\nkind: Config\n";
    let rule = "readiness: [{target: {group: '', kind: ConfigMap, labelSelector: role=gate}, current: 'data.?open.orValue(\"\") == \"yes\"'}]\n";
    ws.write("deploy/.kubectl-reconcile.yaml", &format!("{head}{rule}"));
    ws.write("deploy/gate.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: gate, labels: {role: gate}}}");
    ws.write("deploy/other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}");
    let apply = ws.as_user("admin").start_reconcile(["apply", "-f", "deploy", "--wait", "--timeout=1m"]);
    wait_until("it is written", || ws.kubectl(["get", "configmap", "gate"]).code == 0);
    thread::sleep(Duration::from_secs(1));
    ws.kubectl(["patch", "configmap/gate", "--type=merge", "-p", r#"{"data": {"open": "yes"}}"#]).exits_with(0);
    let apply = apply.finish().exits_with(0);
    assert_eq!(readiness(&apply, "ConfigMap", "gate"), ("current", "`current` of its readiness rule is true"));
    assert_eq!(readiness(&apply, "ConfigMap", "other"), ("current", "it exists, and nothing else is needed"));
}

#[test]
fn a_bad_expression_is_refused_at_its_line() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    let head = "apiVersion: kubectl-reconcile/v1\nkind: Config\nreadiness:\n- target: {kind: Widget}\n  current: ";
    for (expression, message) in [
        ("status.phase = 'Ready'", "`current`: not a valid CEL expression: token recognition error at: '= '"),
        ("status.phase.matches('R.*')", "`current`: there is no function `matches`"),
        ("5", "`current` must be a string, not a number"),
    ] {
        ws.write(".kubectl-reconcile.yaml", &format!("{head}{expression}\n"));
        for command in ["apply", "status", "diff"] {
            let run = ws.reconcile([command, "-f", "it.yaml", "-o", "json"]).exits_with(2);
            let error = &run.report()["errors"][0];
            assert!(error["message"].as_str().unwrap().starts_with(message), "{error}");
            assert_eq!((&error["line"], &error["column"]), (&json!(5), &json!(12)), "{error}");
            assert!(error["hint"].is_string(), "{error}");
        }
    }
    assert_eq!(ws.kubectl(["get", "configmap", "it"]).code, 1, "nothing was written");
}

#[test]
fn an_expression_that_would_take_all_time_ends_at_once_and_no_value_is_shown() {
    let ws = with("\n  current: spec.list.all(a, spec.list.all(b, spec.list.all(c, a == b)))\n");
    let list = vec!["1"; 2000].join(", ");
    ws.write(
        "it.yaml",
        &format!("{{apiVersion: $NS.example.com/v1, kind: Widget, metadata: {{name: it}}, spec: {{list: [{list}]}}}}"),
    );
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    let begun = Instant::now();
    let run = status(&ws, 5);
    assert!(begun.elapsed() < Duration::from_secs(30));
    let message =
        "`current` of its readiness rule cannot be evaluated: it takes too much time or memory for this object";
    assert_eq!(readiness(&run, "Widget", "it"), ("inProgress", message));
}

/// Who writes the configuration may not read the Secret.
#[test]
fn a_rule_says_nothing_about_the_values_of_a_secret() {
    let ws = Workspace::new();
    ws.secret("aHVudGVyMg==");
    ws.kubectl(["create", "secret", "generic", "db", "--from-literal=password=hunter2"]).exits_with(0);
    ws.write("it.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: db}}");
    let says = |rule: &str| {
        let head = "apiVersion: kubectl-reconcile/v1\nkind: Config\nreadiness:\n- target: {kind: Secret, name: db}";
        ws.write(".kubectl-reconcile.yaml", &format!("{head}\n  current: {rule}\n"));
        let run = ws.reconcile(["status", "-f", "it.yaml"]);
        let apply = ws.reconcile(["apply", "-f", "it.yaml", "--wait", "--timeout=1s", "-o", "json"]);
        let of = |run: &Run| readiness(run, "Secret", "db").0.to_owned();
        assert_eq!(of(&run), of(&apply), "{rule}");
        (of(&run), readiness(&run, "Secret", "db").1.to_owned())
    };
    for guess in ["data.password.startsWith('GUESS')", "data.password == 'GUESS'"] {
        let [right, wrong] = ["aHVu", "bHVu"].map(|text| says(&guess.replace("GUESS", text)));
        assert_eq!(right, wrong, "{guess}");
        assert_eq!(right.0, "inProgress", "{guess}");
    }
    says("\"{'': true}[data.password]\"");
    assert_eq!(says("has(data.password) && type == 'Opaque'").0, "current");
    assert_eq!(says("has(data.user)").0, "inProgress");
}
