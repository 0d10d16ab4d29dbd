//! Input and flags that make no sense: exit 2, each problem with its place and a hint, and nothing is sent.

use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

const GOOD: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: good}, data: {a: b}}";

/// Runs `diff` and `apply`; both have to refuse, saying `says` on stderr, and to change nothing.
#[track_caller]
fn is_refused(ws: &Workspace, arguments: &[&str], says: &[&str]) {
    for command in ["diff", "apply"] {
        let (run, requests) = ws.requests_during(|| ws.reconcile([&[command][..], arguments].concat()));
        assert_eq!(run.code, 2, "{run}");
        for text in says {
            assert!(run.stderr.contains(text), "`{text}` is missing: {run}");
        }
        is_well_said(&run);
        assert!(!requests.iter().any(|request| request.is_write() || request.is_dry_run()), "{requests:#?}");
    }
    assert_eq!(ws.find("ConfigMap", "good"), None);
}

fn is_well_said(run: &Run) {
    // `apply` names the cluster first, once it knows it.
    let first = run.stderr.lines().find(|line| !line.starts_with("context "));
    assert!(first.is_some_and(|line| line.starts_with("error: ")), "{run}");
    for dump in ["panicked", "RUST_BACKTRACE", "Err(", "Some(", "ErrorKind"] {
        assert!(!run.stderr.contains(dump), "{run}");
    }
}

#[test]
fn broken_yaml_is_named_with_its_place() {
    let ws = Workspace::new();
    ws.write("good.yaml", GOOD);
    ws.write("bad.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad\ndata: {a: b}\n");
    is_refused(&ws, &["-f", "."], &["bad.yaml:"]);
    ws.write("bad.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata:\n  a: b\n  a: c\n");
    is_refused(&ws, &["-f", "."], &["bad.yaml:6:3", "`a`"]);
    ws.write("bad.yaml", "{\"apiVersion\": \"v1\", \"kind\": }");
    is_refused(&ws, &["-f", "."], &["bad.yaml:1:"]);
}

#[test]
fn all_mistakes_of_all_files_are_reported_at_once() {
    let ws = Workspace::new();
    ws.write("good.yaml", GOOD);
    ws.write("a.yaml", "kind: ConfigMap\nmetadata: {name: a}\n");
    ws.write("b.yaml", "apiVersion: v1\nmetadata: {name: b}\n");
    ws.write("c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: c-}\n");
    ws.write("d.yaml", "- just\n- a list\n");
    is_refused(
        &ws,
        &["-f", "."],
        &["a.yaml:1", "b.yaml:1", "c.yaml:3", "d.yaml:1", "`apiVersion`", "`kind`", "generateName"],
    );
}

#[test]
fn the_same_object_twice_is_named_with_both_places() {
    let ws = Workspace::new();
    ws.write("good.yaml", GOOD);
    let other = GOOD.replaced("a: b", "a: c");
    ws.write("more.yaml", &format!("---\n{WEB}---\n{other}\n"));
    is_refused(&ws, &["-f", "."], &["good.yaml:1", "more.yaml:", "hint: "]);
    // Once with the namespace of the context, and once with the same namespace written out.
    ws.write("more.yaml", &other.replaced("name: good", "name: good, namespace: $NS"));
    is_refused(&ws, &["-f", "."], &["good.yaml:1", "more.yaml:1"]);
}

#[test]
fn what_is_not_there_is_named() {
    let ws = Workspace::new();
    ws.write("good.yaml", GOOD);
    is_refused(&ws, &["-f", "missing.yaml", "-f", "good.yaml"], &["missing.yaml"]);
    is_refused(&ws, &["-f", "no-such-*.yaml"], &["no-such-*.yaml"]);
    ws.write("empty/readme.txt", "no manifest");
    is_refused(&ws, &["-f", "empty"], &["hint: "]);
    ws.write("nothing.yaml", "# nothing\n---\n");
    is_refused(&ws, &["-f", "nothing.yaml"], &["--allow-empty"]);
    ws.reconcile(["diff", "-f", "nothing.yaml", "--allow-empty"]).exits_with(0);
}

#[test]
fn another_namespace_than_the_demanded_one_is_refused_as_by_kubectl() {
    let ws = Workspace::new();
    ws.write("good.yaml", &GOOD.replaced("name: good", "name: good, namespace: other"));
    let kubectl = ws.kubectl(["apply", "--dry-run=server", "-f", "good.yaml", "-n", "$NS"]).exits_with(1);
    let words = "the namespace from the provided object \"other\" does not match the namespace";
    assert!(kubectl.stderr.contains(words), "{kubectl}");
    is_refused(&ws, &["-f", ".", "-n", "$NS"], &["good.yaml:1", words]);
}

#[test]
fn flags_that_make_no_sense_are_explained() {
    let ws = Workspace::new();
    ws.write("good.yaml", GOOD);
    is_refused(&ws, &["-f", ".", "--no-such-flag"], &["--no-such-flag"]);
    is_refused(&ws, &["-f", ".", "-o", "xml"], &["xml"]);
    is_refused(&ws, &["-f", ".", "--force-conflicts=some"], &["some"]);
    is_refused(&ws, &["-f", ".", "--field-manager="], &["--field-manager"]);
    is_refused(&ws, &["-f", ".", "-l", "a in b"], &["hint: "]);
    is_refused(&ws, &["-f", ".", "--request-timeout=soon"], &["soon"]);
    is_refused(&ws, &["-f", ".", "--as-group=people"], &["--as"]);
    is_refused(&ws, &[], &["--filename"]);
    let unknown = ws.reconcile(["reconsider"]).exits_with(2);
    assert!(unknown.stderr.contains("reconsider"), "{unknown}");
}

#[test]
fn a_kubeconfig_without_the_context_names_those_that_exist() {
    let ws = Workspace::new();
    ws.write("good.yaml", GOOD);
    is_refused(&ws, &["-f", ".", "--context=production"], &["`production`", "hint: ", "tests"]);
    is_refused(&ws, &["-f", ".", "--cluster=production"], &["`production`", "tests"]);
    is_refused(&ws, &["-f", ".", "--user=nobody"], &["`nobody`"]);
    is_refused(&ws, &["-f", ".", "--kubeconfig=missing"], &["missing"]);
    ws.write("broken.kubeconfig", "{clusters: [}");
    is_refused(&ws, &["-f", "good.yaml", "--kubeconfig=broken.kubeconfig"], &["broken.kubeconfig"]);
}

#[test]
fn help_and_version_are_no_errors() {
    let ws = Workspace::new();
    for command in [&["--help"][..], &["diff", "--help"], &["apply", "-h"], &["snapshot", "--help"], &["--version"]] {
        let run = ws.reconcile(command).exits_with(0);
        assert!(!run.stdout.is_empty() && run.stderr.is_empty(), "{run}");
    }
    assert!(ws.reconcile(["diff", "--help"]).stdout.contains("kubectl reconcile diff -f"), "with examples");
}
