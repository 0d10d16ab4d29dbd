//! The objects of the scenario.

use std::path::Path;
use std::sync::Arc;

use reconcile_core::compare::{Action, Class, Conflict, Evidence, FieldChange, ObjectDiff, Replacement};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::manifest::{LEFT_OUT, Source};
use reconcile_core::owners::{AuditAnswer, Owner};
use serde_json::{Value, json};
use structured_merge::{Change, FieldPath, GroupVersionKind, ObjectKey, Op, Operation, PathElement, Scalar};

use crate::model::{Command, FailOn, ObjectReport, Report};
use crate::view::View;

/// A path: `[name=web]` is an item, everything else a field.
pub(super) fn path(steps: &[&str]) -> FieldPath {
    let step = |step: &&str| match step.strip_prefix('[').and_then(|item| item.trim_end_matches(']').split_once('=')) {
        Some((name, value)) => PathElement::key([(name.to_owned(), Scalar::Text(value.to_owned()))]),
        None => PathElement::Field((*step).to_owned()),
    };
    FieldPath::from(steps.iter().map(step).collect::<Vec<_>>())
}

pub(super) fn owner(manager: &str, operation: &str, subresource: &str) -> Owner {
    let time = subresource.is_empty().then(|| "2026-11-21T18:15:08Z".to_owned());
    let manager = manager.to_owned();
    let subresource = subresource.to_owned();
    let operation = if operation == "Apply" { Operation::Apply } else { Operation::Update };
    Owner { manager, operation, subresource, time, manual: true, users: AuditAnswer::default() }
}

pub(super) fn change(steps: &[&str], live: Value, desired: Value) -> FieldChange {
    let (op, class) = match (&live, &desired) {
        (Value::Null, _) => (Op::Add, Class::Absent),
        (_, Value::Null) => (Op::Remove, Class::Pruned),
        _ => (Op::Change, Class::Pending),
    };
    let some = |value: Value| (!value.is_null()).then_some(value);
    FieldChange::new(Change { path: path(steps), op, from: some(live), to: some(desired) }, class)
}

pub(super) fn by(manager: &str, change: FieldChange) -> FieldChange {
    let subresource = if manager == "kubectl" { "scale" } else { "" };
    let class = Class::ChangedByOther;
    FieldChange { class, side: class.side(), managers: vec![owner(manager, "Update", subresource)], ..change }
}

pub(super) fn object(kind: (&str, &str), name: &str, place: (&str, u32), verdict: ObjectDiff) -> ObjectReport {
    let namespace = (kind.1 != "CustomResourceDefinition").then(|| "shop".to_owned());
    let key = ObjectKey { gvk: GroupVersionKind::new(kind.0, kind.1), namespace, name: name.to_owned() };
    let source = Some(Source { file: place.0.into(), line: place.1, template: None, document: 1, items: Vec::new() });
    let mut object = ObjectReport::unwanted(&key, verdict);
    object.source = source;
    object
}

pub(super) fn fields(changes: Vec<FieldChange>) -> ObjectDiff {
    ObjectDiff { changes, ..ObjectDiff::in_sync(Evidence::Server) }
}

pub(super) const APPS: &str = "apps/v1";
pub(super) const CRD: (&str, &str) = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");

pub(super) fn web() -> ObjectReport {
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
    object((APPS, "Deployment"), "web", ("deploy/web.yaml", 12), fields(changes).by_drift())
}

pub(super) fn settings() -> ObjectReport {
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
    object(("v1", "ConfigMap"), "web", ("deploy/web.yaml", 33), fields(changes).by_drift())
}

pub(super) fn created() -> ObjectReport {
    let desired =
        json!({"spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": "shop/worker:4.1"}]}}}});
    object((APPS, "Deployment"), "worker", ("deploy/worker.yaml", 1), ObjectDiff::create(desired, Evidence::Server))
}

pub(super) fn replaced() -> ObjectReport {
    let image = change(
        &["spec", "template", "spec", "containers", "[name=migrate]", "image"],
        json!("shop/web:1.2"),
        json!("shop/web:1.3"),
    );
    let hint = "pass `--replace=immutable` to delete and recreate it";
    object(
        ("batch/v1", "Job"),
        "migrate",
        ("deploy/migrate.yaml", 3),
        ObjectDiff { action: Action::Replace, replacement: Some(Replacement::NeedsFlag), ..fields(vec![image]) }
            .because("`spec.template` cannot be changed".to_owned(), Some(hint.to_owned())),
    )
}

pub(super) fn conflicting() -> ObjectReport {
    let scaler = owner("keda-operator", "Update", "");
    let replicas = change(&["spec", "replicas"], json!(9), json!(2));
    let replicas = FieldChange {
        class: Class::Conflict,
        side: Class::Conflict.side(),
        managers: vec![scaler.clone()],
        ..replicas
    };
    let conflicts = vec![Conflict { path: replicas.path.clone(), owner: scaler }];
    let diff = ObjectDiff { conflicts, ..fields(vec![replicas]) };
    object((APPS, "Deployment"), "api", ("deploy/api.yaml", 1), diff.by_drift())
}

/// Objects of a namespace that does not exist.
pub(super) fn homeless() -> impl Iterator<Item = ObjectReport> {
    (0..35).map(|at| {
        let error = Diagnostic::new(Code::NotFound, "namespace `kyverno` does not exist")
            .with_hint("add a manifest for it, or pass `--create-namespace`");
        let kind = if at % 5 == 0 { "ServiceAccount" } else { "ConfigMap" };
        object(("v1", kind), &format!("kyverno-{at}"), ("kyverno.yaml", 70 + 22 * at), ObjectDiff::unknown(error))
    })
}

pub(super) fn quiet() -> impl Iterator<Item = ObjectReport> {
    (0..3).map(|at| {
        let kept = FieldChange {
            class: Class::Overridden,
            side: Class::Overridden.side(),
            base: None,
            ..change(&["spec", "ports", "[name=http]", "targetPort"], json!(5775), json!(0))
        };
        let mut object =
            object(("v1", "Service"), &format!("quiet-{at}"), ("deploy/quiet.yaml", at), fields(vec![kept]).by_drift());
        object.messages.warnings.push(format!("{LEFT_OUT}: `status`"));
        object
    })
}

/// A schema with fields of many lines.
pub(super) fn schema(fields: impl Iterator<Item = (String, &'static str)>) -> Value {
    let field = |(name, type_name): (String, &str)| {
        (name, json!({"type": type_name, "description": "one\ntwo\nthree\nfour\n"}))
    };
    let spec: serde_json::Map<String, Value> = fields.map(field).collect();
    json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}})
}

pub(super) fn definition() -> ObjectReport {
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
        fields(vec![label, versions]).by_drift(),
    )
}

pub(super) fn secret() -> ObjectReport {
    let value = |number: &str| json!({"redacted": number});
    let changes = vec![by("kubectl-edit", change(&["data", "tls.key"], value("#1"), value("#2")))];
    object(("v1", "Secret"), "tls", ("deploy/tls.yaml", 1), fields(changes).by_drift())
}

pub(super) fn report() -> Report {
    let mut objects = vec![web(), settings(), secret(), conflicting(), created(), replaced(), definition()];
    objects.extend(homeless());
    objects.extend(quiet());
    Report::compared(Command::Diff, objects, &FailOn::default())
}

pub(super) fn view(width: usize) -> View {
    View { width, folder: Some(Arc::from(Path::new("/home/me/shop"))), ..View::default() }
}
