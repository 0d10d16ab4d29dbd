//! One rich scenario at several widths, with and without colours: the snapshots in `testdata/text` are read by people.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, Op, PathElement, Scalar, builtin, changes};

use super::*;
use crate::compare::{Class, Conflict, Evidence, FieldChange, FieldDiff, ObjectVerdict, Owner, Reason, Versions};
use crate::desired::{LEFT_OUT, Source};
use crate::diagnostic::{Code, Diagnostic};
use crate::report::FailOn;
use crate::report::{Command, ObjectReport, Report, View};
use crate::terminal::{THEMES, coloured, plain};
use crate::text::width;

/// A path: `[name=web]` is an item, everything else a field.
fn path(steps: &[&str]) -> FieldPath {
    let step = |step: &&str| match step.strip_prefix('[').and_then(|item| item.trim_end_matches(']').split_once('=')) {
        Some((name, value)) => PathElement::key([(name.to_owned(), Scalar::Text(value.to_owned()))]),
        None => PathElement::Field((*step).to_owned()),
    };
    FieldPath::from(steps.iter().map(step).collect::<Vec<_>>())
}

fn owner(manager: &str, operation: &str, subresource: &str) -> Owner {
    let time = subresource.is_empty().then(|| "2026-11-21T18:15:08Z".to_owned());
    let (manager, operation, subresource) = (manager.to_owned(), operation.to_owned(), subresource.to_owned());
    Owner { manager, operation, subresource, time, manual: true }
}

fn change(steps: &[&str], live: Value, desired: Value) -> FieldChange {
    let (op, class) = match (&live, &desired) {
        (Value::Null, _) => (Op::Add, Class::RemovedByOther),
        (_, Value::Null) => (Op::Remove, Class::Pruned),
        _ => (Op::Change, Class::Pending),
    };
    let some = |value: Value| (!value.is_null()).then_some(value);
    FieldChange {
        path: path(steps),
        op,
        class,
        live: some(live),
        desired: some(desired),
        managers: Vec::new(),
        defaulted: Vec::new(),
    }
}

fn by(manager: &str, change: FieldChange) -> FieldChange {
    let subresource = if manager == "kubectl" { "scale" } else { "" };
    FieldChange { class: Class::ChangedByOther, managers: vec![owner(manager, "Update", subresource)], ..change }
}

fn object(kind: (&str, &str), name: &str, place: (&str, u32), verdict: ObjectVerdict) -> ObjectReport {
    let namespace = (kind.1 != "CustomResourceDefinition").then(|| "shop".to_owned());
    let key = ObjectKey { gvk: GroupVersionKind::new(kind.0, kind.1), namespace, name: name.to_owned() };
    let source = Some(Source { file: place.0.into(), line: place.1, document: 1 });
    ObjectReport { source, ..ObjectReport::unwanted(&key, verdict) }
}

fn fields(changes: Vec<FieldChange>) -> FieldDiff {
    FieldDiff { changes, ..FieldDiff::none(Evidence::Server) }
}

const APPS: &str = "apps/v1";
const CRD: (&str, &str) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");

fn web() -> ObjectReport {
    let container = ["spec", "template", "spec", "containers", "[name=web]"];
    let at = |steps: &[&'static str]| -> Vec<&str> { container.iter().chain(steps).copied().collect() };
    let changes = vec![
        by("kubectl-label", change(&["metadata", "labels", "app.kubernetes.io/name"], json!("webx"), json!("web"))),
        by("kubectl", change(&["spec", "replicas"], json!(5), json!(2))),
        by("kubectl-edit", change(&at(&["env", "[name=LOG_LEVEL]", "value"]), json!("debug"), json!("info"))),
        change(&at(&["env", "[name=OLD]"]), json!({"name": "OLD", "value": "x"}), Value::Null),
        change(&at(&["env", "[name=TRACE]"]), Value::Null, json!({"name": "TRACE", "value": "1"})),
        FieldChange {
            defaulted: vec![path(&["protocol"])],
            ..change(
                &at(&["ports", "[name=http]"]),
                Value::Null,
                json!({"name": "http", "containerPort": 80, "protocol": "TCP"}),
            )
        },
        by(
            "kubectl-set",
            change(
                &at(&["image"]),
                json!("registry.example.com/shop/web:1.3.0"),
                json!("registry.example.com/shop/web:1.2.9"),
            ),
        ),
    ];
    object((APPS, "Deployment"), "web", ("deploy/web.yaml", 12), ObjectVerdict::Update(fields(changes)))
}

fn settings() -> ObjectReport {
    let changes = vec![
        by(
            "kubectl-patch",
            change(
                &["data", "app.json"],
                json!(r#"{"b": {"c": [1, 2, 4]}, "name": "shop"}"#),
                json!(r#"{"b": {"c": [1, 2, 3]}, "name": "shop"}"#),
            ),
        ),
        change(&["data", "app.toml"], json!("[server]\nworkers = 2\n"), json!("[server]\nworkers = 8\n")),
        by(
            "kubectl-patch",
            change(
                &["data", "run.sh"],
                json!("#!/bin/sh\necho hullo\nexec nginx\n"),
                json!("#!/bin/sh\necho hello\nexec nginx\n"),
            ),
        ),
        change(&["data", "日本語"], json!("データベース"), json!("データストア")),
    ];
    object(("v1", "ConfigMap"), "web", ("deploy/web.yaml", 33), ObjectVerdict::Update(fields(changes)))
}

fn created() -> ObjectReport {
    let desired =
        json!({"spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": "shop/worker:4.1"}]}}}});
    object(
        (APPS, "Deployment"),
        "worker",
        ("deploy/worker.yaml", 1),
        ObjectVerdict::Create { desired, evidence: Evidence::Server },
    )
}

fn replaced() -> ObjectReport {
    let image = change(
        &["spec", "template", "spec", "containers", "[name=migrate]", "image"],
        json!("shop/web:1.2"),
        json!("shop/web:1.3"),
    );
    let hint = "pass `--replace=immutable` to delete and recreate it";
    let reason = Reason { text: "`spec.template` cannot be changed".to_owned(), hint: Some(hint.to_owned()) };
    object(
        ("batch/v1", "Job"),
        "migrate",
        ("deploy/migrate.yaml", 3),
        ObjectVerdict::Replace { fields: fields(vec![image]), reason },
    )
}

fn conflicting() -> ObjectReport {
    let scaler = owner("keda-operator", "Update", "");
    let replicas = change(&["spec", "replicas"], json!(9), json!(2));
    let replicas = FieldChange { class: Class::Conflict, managers: vec![scaler.clone()], ..replicas };
    let conflicts = vec![Conflict { path: replicas.path.clone(), owner: scaler }];
    let diff = FieldDiff { conflicts, ..fields(vec![replicas]) };
    object((APPS, "Deployment"), "api", ("deploy/api.yaml", 1), ObjectVerdict::Update(diff))
}

/// Objects of a namespace that does not exist.
fn homeless() -> impl Iterator<Item = ObjectReport> {
    (0..35).map(|at| {
        let error = Diagnostic::new(Code::NotFound, "namespace `kyverno` does not exist")
            .with_hint("add a manifest for it, or run `kubectl create namespace kyverno`");
        let kind = if at % 5 == 0 { "ServiceAccount" } else { "ConfigMap" };
        object(("v1", kind), &format!("kyverno-{at}"), ("kyverno.yaml", 70 + 22 * at), ObjectVerdict::Unknown(error))
    })
}

fn quiet() -> impl Iterator<Item = ObjectReport> {
    (0..3).map(|at| {
        let kept = FieldChange {
            class: Class::Overridden,
            ..change(&["spec", "ports", "[name=http]", "targetPort"], json!(5775), json!(0))
        };
        let mut object = object(
            ("v1", "Service"),
            &format!("quiet-{at}"),
            ("deploy/quiet.yaml", at),
            ObjectVerdict::InSync(fields(vec![kept])),
        );
        object.warnings.push(format!("{LEFT_OUT}: `status`"));
        object
    })
}

/// A schema with fields of many lines.
fn schema(fields: impl Iterator<Item = (String, &'static str)>) -> Value {
    let field = |(name, of): (String, &str)| (name, json!({"type": of, "description": "one\ntwo\nthree\nfour\n"}));
    let spec: serde_json::Map<String, Value> = fields.map(field).collect();
    json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}})
}

fn definition() -> ObjectReport {
    let version = |name: &str, served: bool, storage: bool, schema: Value| json!({"name": name, "served": served, "storage": storage, "schema": schema});
    let named = |from: usize, to: usize| (from..to).map(|at| (format!("field{at}"), "string"));
    let live = json!([
        version("v2beta1", true, true, schema(named(0, 3))),
        version("v2beta2", true, false, schema(named(0, 3))),
        version("v2", true, false, schema(named(0, 100))),
    ]);
    let retyped = [("field99".to_owned(), "integer")].into_iter();
    let desired = json!([
        version("v2beta2", false, false, schema(named(0, 3))),
        version("v2", true, true, schema(named(2, 99).chain(named(100, 114)).chain(retyped))),
    ]);
    let versions = change(&["spec", "versions"], live, desired);
    let label = change(&["metadata", "labels", "app.kubernetes.io/version"], json!("v2.3.0"), json!("v2.9.4"));
    object(
        CRD,
        "helmreleases.helm.toolkit.fluxcd.io",
        ("/home/me/shop/gotk.yaml", 1032),
        ObjectVerdict::Update(fields(vec![label, versions])),
    )
}

fn secret() -> ObjectReport {
    let value = |number: &str| json!({"redacted": number});
    let changes = vec![by("kubectl-edit", change(&["data", "tls.key"], value("#1"), value("#2")))];
    object(("v1", "Secret"), "tls", ("deploy/tls.yaml", 1), ObjectVerdict::Update(fields(changes)))
}

fn report() -> Report {
    let mut objects = vec![web(), settings(), secret(), conflicting(), created(), replaced(), definition()];
    objects.extend(homeless());
    objects.extend(quiet());
    Report::compared(Command::Diff, objects, &FailOn::default())
}

fn view(width: usize) -> View {
    View { width, folder: Some(Arc::from(Path::new("/home/me/shop"))), ..View::default() }
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/text"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn drift_reads_well_at_every_width() {
    for columns in [60, 100, 200] {
        let text = plain(&whole(&report(), &view(columns)));
        snapshot(&format!("drift-{columns}"), &text);
        let coloured = coloured(&whole(&report(), &view(columns)), &THEMES[0]);
        snapshot(&format!("drift-{columns}-coloured"), &coloured.replace('\u{1b}', "␛"));
    }
}

#[test]
fn lines_fit_and_nothing_touches() {
    for columns in [60, 80, 100, 200] {
        let text = plain(&whole(&report(), &view(columns)));
        let (lines, summary) = text.trim_end().rsplit_once('\n').unwrap();
        for line in lines.lines().filter(|line| !line.contains("hint: ") && !line.starts_with("~ CustomResource")) {
            assert!(width(line) <= columns, "{columns}: {line}");
            assert_eq!(line.trim_end(), line);
        }
        assert!(summary.contains("35 not compared") && summary.contains("3 in sync"), "{summary}");
    }
}

#[test]
fn everything_is_shown_on_request() {
    let text = plain(&whole(&report(), &View { full: true, ..view(100) }));
    for shown in ["ServiceAccount shop/kyverno-0", "kyverno.yaml:818", "field113:", "quiet-2", "targetPort: 5775"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(!text.contains("--full"), "{text}");
    let text = plain(&whole(&report(), &View { verbosity: 1, ..view(100) }));
    assert!(text.contains("= Service shop/quiet-0") && text.contains("warning: left out"), "{text}");
    let text = plain(&whole(&report(), &View { summary: true, ..view(100) }));
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn what_differs_in_a_definition_is_told_in_a_few_lines() {
    let text = plain(&object_text(&definition(), &view(100)));
    assert!(text.lines().count() <= 12, "{text}");
    for told in [
        "v2beta1 removed, still stored ✗",
        "v2beta2 no longer served ⚠",
        "v2: stored from now on, 14 fields added, 2 removed, 1 of another type ⚠",
        "v2 - spec.field0\n",
        "v2 ~ spec.field99: string → integer",
        "lines of schema: --full",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

/// A definition whose versions are the same before and after, so that each field of their schemas is a change by itself.
fn definition_with(live: &Value, desired: &Value) -> ObjectReport {
    let whole = |spec: &Value, release: &str| {
        let labels = json!({"app.kubernetes.io/version": release});
        json!({"apiVersion": CRD.0, "kind": CRD.1, "metadata": {"name": "its", "labels": labels},
               "spec": {"versions": [{"name": "v1", "served": true, "storage": true,
                        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}})
    };
    let (live, desired) = (whole(live, "v2.3.0"), whole(desired, "v2.9.4"));
    let of = builtin().object(&GroupVersionKind::new(CRD.0, CRD.1)).unwrap();
    let found = changes(&live, &desired, of, true).into_iter().map(|change| FieldChange {
        class: if change.op == Op::Add { Class::RemovedByOther } else { Class::Pending },
        path: change.path,
        op: change.op,
        live: change.from,
        desired: change.to,
        managers: Vec::new(),
        defaulted: Vec::new(),
    });
    let verdict = ObjectVerdict::Update(FieldDiff {
        versions: Some(Arc::new(Versions { live, desired })),
        ..fields(found.collect())
    });
    object(CRD, "its.example.com", ("gotk.yaml", 1), verdict)
}

#[test]
fn what_differs_in_the_schema_of_a_version_is_told_in_a_few_lines() {
    let spec = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required});
    let live = spec(
        json!({
            "kept": {"type": "string", "description": "before"}, "gone": {"type": "string"}, "retyped": {"type": "string"},
            "size": {"type": "integer", "minimum": 1, "maximum": 5}, "mode": {"type": "string", "enum": ["a", "b"]},
            "now": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}},
            "wider": {"type": "integer", "maximum": 5}, "timeout": {"type": "string", "default": "1m"},
        }),
        &[],
    );
    let desired = spec(
        json!({
            "kept": {"type": "string", "description": "after"}, "new": {"type": "object", "properties": {"below": {"type": "string"}}},
            "retyped": {"type": "integer"}, "size": {"type": "integer", "minimum": 2, "maximum": 5},
            "mode": {"type": "string", "enum": ["b", "c"]}, "now": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"},
            "wider": {"type": "integer", "maximum": 9}, "timeout": {"type": "string", "default": "5m"},
        }),
        &["now"],
    );
    let report = definition_with(&live, &desired);
    assert!(report.changes.len() > 10, "{:?}", report.changes);
    let text = plain(&object_text(&report, &view(100)));
    for told in [
        "    versions:\n      v1: 1 field added, 1 with looser rules, 1 with another description, 1 removed,\n",
        "      1 of another type, 1 required now, 3 with other rules ⚠\n",
        "      v1 - spec.gone\n",
        "      v1 ~ spec.retyped: string → integer\n",
        "      v1 ! spec.now is required now\n",
        "      v1 ~ spec.mode: enum without a\n",
        "      v1 ~ spec.size: minimum 1 → 2\n",
        "      v1 ~ spec.timeout: default 1m → 5m\n",
        "lines of schema: --full\n",
        "    metadata.labels[\"app.kubernetes.io/version\"]: v2.3.0 → v2.9.4\n",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert!(!text.contains("openAPIV3Schema"), "{text}");
    let text = plain(&object_text(&report, &View { full: true, ..view(100) }));
    assert!(text.contains("+             new:\n"), "{text}");

    // What somebody changed by hand is shown by itself, with its author; where that is nearly everything, the author is named once.
    let mut installed = report.clone();
    for change in installed.changes.iter_mut().filter(|change| change.path.to_string().starts_with("spec.versions")) {
        *change = by("kubectl-client-side-apply", change.clone());
    }
    let text = plain(&object_text(&installed, &view(100)));
    assert!(text.lines().count() < 14 && !text.contains("openAPIV3Schema"), "{text}");
    assert!(text.contains("\n    by kubectl-client-side-apply 2026-11-21T18:15:08Z\n"), "{text}");
    let mut edited = report;
    let is_gone = |change: &&mut FieldChange| change.path.to_string().contains("properties.gone");
    let gone = edited.changes.iter_mut().find(is_gone).unwrap();
    *gone = by("kubectl-edit", gone.clone());
    let text = plain(&object_text(&edited, &view(100)));
    assert!(text.contains("properties.gone") && text.contains("kubectl-edit"), "{text}");
}

/// Eight definitions, some of them with the same versions as before, and thirty objects with the changes of a usual release.
#[test]
fn an_upgrade_fits_on_two_screens() {
    let properties = |from: usize, to: usize| {
        let field = |at: usize| (format!("field{at}"), json!({"type": "string", "description": "one\ntwo\nthree"}));
        json!({"type": "object", "properties": (from..to).map(field).collect::<serde_json::Map<_, _>>()})
    };
    let mut objects: Vec<ObjectReport> = (0..3).map(|_| definition()).collect();
    objects.extend((0..5).map(|at| definition_with(&properties(at, 100), &properties(0, 100 + at))));
    objects.extend((0..30).map(|at| {
        let label = change(&["metadata", "labels", "app.kubernetes.io/version"], json!("v2.3.0"), json!("v2.9.4"));
        object(
            (APPS, "Deployment"),
            &format!("controller-{at}"),
            ("gotk.yaml", at),
            ObjectVerdict::Update(fields(vec![label])),
        )
    }));
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    let text = plain(&whole(&report, &view(100)));
    assert!(text.lines().count() <= 110, "{} lines\n{text}", text.lines().count());
}

#[test]
fn long_values_and_many_changes_are_cut_and_counted() {
    let lines = |salt: usize| (0..400).map(|at| format!("line {}\n", at * salt)).collect::<Vec<_>>().concat();
    let long = change(&["data", "long"], json!(lines(1)), json!(lines(2)));
    let text = plain(&object_text(
        &object(("v1", "ConfigMap"), "it", ("a.yaml", 1), ObjectVerdict::Update(fields(vec![long]))),
        &view(100),
    ));
    assert!(text.lines().count() < 50 && text.contains(" more lines: --full"), "{text}");
    let many = (0..500).map(|at| change(&["data", &format!("key{at:03}")], json!("a"), json!("b"))).collect();
    let text = plain(&object_text(
        &object(("v1", "ConfigMap"), "it", ("a.yaml", 1), ObjectVerdict::Update(fields(many))),
        &view(100),
    ));
    assert!(text.contains("… 400 more changes: --full"), "{text}");
    let side = |word: &str| json!(format!("{} {word} {}", "x".repeat(500), "y".repeat(500)));
    let wide = change(&["data", "wide"], side("old"), side("new"));
    let text = plain(&object_text(
        &object(("v1", "ConfigMap"), "it", ("a.yaml", 1), ObjectVerdict::Update(fields(vec![wide]))),
        &view(100),
    ));
    assert!(text.contains("old") && text.contains("new") && text.lines().all(|line| width(line) <= 100), "{text}");
}

/// Anyone who may write a live object decides its names and values.
#[test]
fn hostile_names_and_values_stay_on_their_lines() {
    let evil = "\u{1b}[2J\u{202e}a\r\n~ Deployment shop/fake\n    spec.replicas: 1 → 2  by kubectl…";
    let changes = vec![
        by(evil, change(&["data", evil], json!(evil), json!("b"))),
        by("it → is", change(&["data", "b"], json!("…/web:1  by kubectl"), json!("x"))),
        change(&["data", "json"], json!(json!({evil: 1}).to_string()), json!(json!({evil: 2}).to_string())),
    ];
    let mut hostile = object(("v1", "ConfigMap"), "it", ("a\u{1b}.yaml", 1), ObjectVerdict::Update(fields(changes)));
    hostile.warnings.push(evil.to_owned());
    let report = Report::compared(Command::Diff, vec![hostile], &FailOn::default());
    for columns in [1, 20, 60, 100] {
        let text = plain(&whole(&report, &view(columns)));
        assert!(!text.chars().any(|c| c != '\n' && crate::text::is_hidden(c)), "{text:?}");
        assert!(
            !text.lines().any(|line| line.starts_with("~ Deployment") || line.starts_with("    spec.replicas")),
            "{text}"
        );
    }
    let text = plain(&whole(&report, &view(200)));
    assert!(text.contains(r#""\u2026/web:1  by kubectl""#), "three dots of a value are not ours: {text}");
}

#[test]
fn equal_warnings_of_objects_in_sync_are_told_once() {
    let objects = (0..4).map(|at| {
        let verdict = ObjectVerdict::InSync(FieldDiff::none(Evidence::Proven));
        let mut object = object(("policy/v1", "PodDisruptionBudget"), &format!("p{at}"), ("a.yaml", at), verdict);
        object.warnings.push("it is deprecated".to_owned());
        object
    });
    let text = plain(&whole(&Report::compared(Command::Diff, objects.collect(), &FailOn::default()), &view(100)));
    assert_eq!(text.matches("it is deprecated").count(), 1, "{text}");
    assert!(
        text.starts_with("= 4 objects: warning: it is deprecated") && text.contains("a.yaml:0, 1, 2 … 1 more"),
        "{text}"
    );
}
