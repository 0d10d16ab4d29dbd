//! How far a pass is: a live line on a terminal, a line for each finished object elsewhere, nothing when quiet.

use serde_json::json;

use crate::control_plane::{Replaced, Workspace};

const TWO: &str = "
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {a: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: 1}}
";

/// Returns true if a line begins with a time such as `2026-11-20T10:00:00Z`.
fn is_timed(line: &str) -> bool {
    let time = line.split(' ').next().unwrap_or_default();
    time.parse::<jiff::Timestamp>().is_ok() && time.len() == 20 && time.ends_with('Z')
}

#[test]
fn in_a_pipeline_each_finished_object_has_one_line() {
    // Where stdout says what was done, stderr does not say it again.
    let ws = Workspace::new();
    ws.write("two.yaml", TWO);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.stderr, format!("context tests ({})\n", ws.plane().url()), "{apply}");
    for name in ["a", "b"] {
        assert_eq!(apply.stdout.matches(&ws.fill_in(&format!("created ConfigMap $NS/{name}\n"))).count(), 1, "{apply}");
    }
    assert!(!apply.stdout.lines().any(is_timed), "stdout is the same in every run");
    for flags in [&["-o", "json"][..], &["--summary"]] {
        let ws = Workspace::new();
        ws.write("two.yaml", TWO);
        let apply = ws.reconcile([&["apply", "-f", "."], flags].concat()).exits_with(4);
        let mut lines: Vec<&str> = apply.stderr.lines().filter(|line| is_timed(line)).collect();
        lines.sort_by_key(|line| line.split_once(' ').map(|(_, text)| text));
        let texts: Vec<&str> = lines.iter().filter_map(|line| line.split_once(' ')).map(|(_, text)| text).collect();
        let ends = [("created ConfigMap ", "/a"), ("created ConfigMap ", "/b"), ("failed ConfigMap ", "")];
        assert_eq!(texts.len(), 3, "{apply}");
        for (text, (start, end)) in texts.iter().zip(ends) {
            assert!(text.starts_with(start) && text.ends_with(end), "{text}");
        }
        assert!(texts[2].contains("data.a"), "a problem says why: {}", texts[2]);
        assert!(!apply.stdout.lines().any(is_timed), "stdout is the same in every run");
        let again = ws.reconcile([&["apply", "-f", "."], flags].concat()).exits_with(4);
        assert_eq!(
            again.stderr.lines().filter(|line| is_timed(line)).count(),
            1,
            "what was in sync is not reported again: {again}"
        );
    }
}

#[test]
fn on_a_terminal_one_line_moves_and_is_gone_in_the_end() {
    let ws = Workspace::new();
    ws.write("two.yaml", TWO);
    let apply = ws.as_user("admin").on_terminal().reconcile(["apply", "-f", "."]).exits_with(4);
    assert!(!apply.stderr.lines().any(is_timed), "{apply}");
    assert!(apply.stdout.contains("created ConfigMap"), "{apply}");
}

#[test]
fn quiet_is_quiet() {
    let ws = Workspace::new();
    ws.write("two.yaml", &TWO.replaced("a: 1", "a: '1'"));
    let apply = ws.reconcile(["apply", "-f", ".", "-q"]).exits_with(0);
    assert_eq!((apply.stdout.as_str(), apply.stderr.as_str()), ("", ""));
    let ws = Workspace::new();
    ws.write("two.yaml", &TWO.replaced("a: 1", "a: '1'"));
    let apply = ws.as_user("admin").on_terminal().reconcile(["apply", "-f", ".", "-q"]).exits_with(0);
    assert_eq!((apply.stdout.as_str(), apply.stderr.as_str()), ("", ""));
}

#[test]
fn in_a_pipeline_a_deletion_that_takes_long_is_named() {
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    ws.write("b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, finalizers: [example.com/held]}}");
    let prune = ["apply", "-f", ".", "--prune", "--applyset=set", "--wait", "--timeout=12s"];
    ws.reconcile(prune).exits_with(0);
    std::fs::remove_file(ws.folder().join("b.yaml")).unwrap();
    let apply = ws.reconcile(prune).exits_with(4);
    let expected = ws.fill_in("waiting for the deletion of ConfigMap $NS/b");
    assert_eq!(apply.stderr.lines().filter(|line| *line == expected).count(), 1, "{apply}");
    assert!(apply.stdout.contains("cannot delete: it is being deleted"), "{apply}");
    ws.patch_as("kubectl-patch", "configmap/b", &json!({"metadata": {"finalizers": null}}));
}

/// In a log, silence looks like a program that hangs.
#[test]
fn in_a_pipeline_a_long_wait_says_what_it_waits_for() {
    let ws = Workspace::new();
    let service =
        "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: LoadBalancer, ports: [{port: 80}]}}";
    ws.write("web.yaml", service);
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=12s"]).exits_with(5);
    let expected = ws.fill_in("waiting for Service $NS/web: its load balancer has no address yet");
    assert_eq!(apply.stderr.lines().filter(|line| *line == expected).count(), 1, "{apply}");
    assert!(!ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=1s"]).exits_with(5).stderr.contains("waiting"));
}
