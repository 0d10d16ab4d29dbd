//! The pages that the browser opens: one of a real run, and those of reports that are made up.

use std::fs;
use std::path::Path;
use std::process::Command as Process;

use reconcile_core::compare::{Class, Conflict, Evidence, FieldChange, ObjectDiff};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::manifest::Source;
use reconcile_core::owners::{AuditAnswer, Owner};
use reconcile_report::formats::html;
use reconcile_report::{Command, ContextReport, FailOn, ObjectReport, Report, Reports, Verdict, View};
use serde_json::{Value, json};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, Op, Operation, PathElement};

/// What would end a script, an attribute, a comment or a line, or deceive a reader.
const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`]]>-->|\u{202e}\u{1b}[2J\u{2028}\n&lt;";

/// Writes them into a folder.
pub fn write(folder: &Path) {
    let page = |name: &str, text: String| fs::write(folder.join(format!("{name}.html")), text).unwrap();
    let view = View::default();
    shop(&folder.join("shop.html"));
    page("many", html::render(&many().into(), &view));
    page("groups", html::render(&groups().into(), &view));
    page("hostile", html::render(&hostile().into(), &view));
    page("contexts", html::render(&contexts(), &view));
    let errors =
        vec![Diagnostic::new(Code::ConnectionLost, "cannot connect to the server").with_hint("check the network")];
    let stopped = Report::stopped(Command::Diff, Verdict::Unreachable, errors);
    page("stopped", html::render(&stopped.into(), &view));
}

/// The shop of `testdata`, compared with what its cluster had one day.
fn shop(page: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Process::new(env!("CARGO_BIN_EXE_kubectl-reconcile"))
        .args(["diff", "-q", "-f", "testdata/shop", "--live", "testdata/shop.live.yaml"])
        .arg(format!("--output=html={}", page.display()))
        .current_dir(root)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
}

fn key(kind: &str, name: &str) -> ObjectKey {
    let api_version = if kind == "Deployment" { "apps/v1" } else { "v1" };
    ObjectKey {
        gvk: GroupVersionKind::new(api_version, kind),
        namespace: Some("shop".to_owned()),
        name: name.to_owned(),
    }
}

fn object(kind: &str, name: &str, verdict: ObjectDiff) -> ObjectReport {
    let source =
        Some(Source { file: "deploy/web.yaml".into(), line: 3, template: None, document: 1, items: Vec::new() });
    let mut object = ObjectReport::unwanted(&key(kind, name), verdict);
    object.source = source;
    object
}

fn in_sync() -> ObjectDiff {
    ObjectDiff::in_sync(Evidence::Proven)
}

fn update(changes: Vec<FieldChange>) -> ObjectDiff {
    ObjectDiff { changes, ..ObjectDiff::in_sync(Evidence::Server) }.by_drift()
}

fn change(fields: &[&str], manager: &str, live: Value, desired: Value) -> FieldChange {
    let path = FieldPath::from(fields.iter().map(|name| PathElement::Field((*name).to_owned())).collect::<Vec<_>>());
    let owner = Owner {
        manager: manager.to_owned(),
        operation: Operation::Update,
        subresource: String::new(),
        time: Some("2026-11-21T18:15:08Z".to_owned()),
        manual: true,
        users: AuditAnswer::default(),
    };
    let op = Op::Change;
    let class = Class::ChangedByOther;
    let live = Some(live.into());
    FieldChange { path, op, class, live, managers: vec![owner], ..FieldChange::missing(desired) }
}

/// 5,000 objects, of which 60 % differ.
fn many() -> Report {
    let script = |word: String| {
        let line = |at: usize| format!("echo {at} {}\n", if at == 15 { &word } else { "" });
        json!((0..30).map(line).collect::<Vec<_>>().concat())
    };
    let one = |at: usize| {
        let kind = ["Deployment", "ConfigMap", "Service", "Secret"][at % 4];
        let manager = format!("controller-{}", at % 23);
        let changes = || {
            vec![
                change(&["spec", "replicas"], &manager, json!(at), json!(2)),
                change(&["spec", "image"], &manager, json!(format!("shop/web:{at}")), json!("shop/web:1.2.9")),
                change(&["data", "run.sh"], &manager, script(format!("one {at}")), script(format!("two {at}"))),
            ]
        };
        let verdict = if at % 5 < 3 { update(changes()) } else { in_sync() };
        let mut object = object(kind, &format!("app-{at}"), verdict);
        object.key.namespace = Some(format!("team-{}", at % 97));
        object
    };
    Report::compared(Command::Diff, (0..5_000).map(one).collect(), &FailOn::default())
}

/// 30 objects with a change in common, of which one has another one, 3 with the same conflict, and 4 with the same error.
fn groups() -> Report {
    let bump = || change(&["metadata", "labels", "chart"], "helm", json!("shop-2.4.0"), json!("shop-2.4.1"));
    let own = || change(&["spec", "replicas"], "kubectl-edit", json!(5), json!(2));
    let bumped = |at: usize| {
        let changes = if at == 3 { vec![bump(), own()] } else { vec![bump()] };
        object("Deployment", &format!("app-{at}"), update(changes))
    };
    let contested = |at: usize| {
        let mut object =
            object("ConfigMap", &format!("map-{at}"), update(vec![change(&["data", "a"], "helm", json!(1), json!(2))]));
        let change = &mut object.diff.changes[0];
        change.class = Class::Conflict;
        object.diff.conflicts = vec![Conflict { path: change.path.clone(), owner: change.managers[0].clone() }];
        object
    };
    let missing = |at: usize| {
        let error = Diagnostic::new(Code::NotFound, "namespace `kyverno` does not exist").with_hint("create it first");
        object("Service", &format!("lost-{at}"), ObjectDiff::unknown(error))
    };
    let objects = (0..30).map(bumped).chain((0..3).map(contested)).chain((0..4).map(missing));
    Report::compared(Command::Diff, objects.chain([object("Secret", "db", in_sync())]).collect(), &FailOn::default())
}

fn hostile() -> Report {
    let tree = json!({HOSTILE: [HOSTILE, HOSTILE, HOSTILE]});
    let lines = json!(format!("a\n{HOSTILE}\n{}", "b\n".repeat(300)));
    let changes = vec![
        change(&["data", HOSTILE], HOSTILE, json!(HOSTILE), json!("b")),
        change(&["data", "tree"], HOSTILE, tree, json!(null)),
        change(&["data", "lines"], HOSTILE, lines, json!("x".repeat(5_000))),
    ];
    let mut object = object(HOSTILE, HOSTILE, update(changes));
    object.key.namespace = Some(HOSTILE.to_owned());
    object.messages.warnings = vec![HOSTILE.to_owned()];
    let path = object.diff.changes[0].path.clone();
    let owner = object.diff.changes[0].managers[0].clone();
    object.diff.conflicts = vec![Conflict { path, owner }];
    Report::compared(Command::Diff, vec![object, unknown()], &FailOn::default())
}

fn unknown() -> ObjectReport {
    let refused = Diagnostic::new(Code::Forbidden, "the server refuses to show it")
        .with_hint("`kubectl reconcile access` lists what is missing");
    object("Deployment", "orders", ObjectDiff::unknown(refused))
}

/// Two contexts that were looked at, and one that was not.
fn contexts() -> Reports {
    let of = |name: &str, objects| ContextReport {
        context: Some(name.to_owned()),
        server: Some(format!("https://{name}.example.com")),
        report: Report::compared(Command::Diff, objects, &FailOn::default()),
    };
    let changed = || update(vec![change(&["data", "level"], "kubectl-edit", json!("debug"), json!("info"))]);
    let mut reports = vec![
        of("eu", vec![object("ConfigMap", "web", in_sync()), object("Secret", "db", in_sync())]),
        of("us", vec![object("ConfigMap", "web", changed()), object("Secret", "db", in_sync()), unknown()]),
    ];
    let errors = vec![Diagnostic::new(Code::ConnectionLost, "cannot connect to the server")];
    let report = Report::stopped(Command::Diff, Verdict::Unreachable, errors);
    reports.push(ContextReport { context: Some("down".to_owned()), server: None, report });
    Reports::of(Command::Diff, reports, vec!["the context `old` has no server".to_owned()])
}
