//! A report with everything that can be in one, made as a run makes it.

use std::sync::Arc;

use reconcile_core::compare::{
    Action, Class, Conflict, DiffNotes, Evidence, FieldChange, IgnoredFields, ObjectDiff, Replacement, Side, Versions,
};
use reconcile_core::diagnostic::{Code, Diagnostic, Location};
use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use reconcile_core::manifest::Source;
use reconcile_core::owners::{AuditAnswer, Owner};
use reconcile_core::pass::Outcome;
use reconcile_core::plan::UnexplainedObject;
use reconcile_core::plan::deletion::{Deletion, DeletionKind};
use reconcile_core::rare::Rare;
use serde_json::{Value, json};
use structured_merge::{Change, FieldPath, GroupVersionKind, ObjectKey, Op, Operation, PathElement, Scalar};

use crate::model::{
    ApplySetInfo, ClusterInfo, Command, ConfigurationInfo, ContextReport, FailOn, ObjectReport, ParentAction, Report,
    Reports, StartTime, Verdict,
};

/// Text that does harm where it is not escaped.
pub const EVIL: &str =
    "x\u{1b}[2J\u{202e}`b`\n\"c\"|]]>&lt;</script></details><img src=x>{#}'%0A::error::@team --- \u{ffff}\r[l](u)";

fn key(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ObjectKey {
    let gvk = GroupVersionKind::new(api_version, kind);
    ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: name.to_owned() }
}

fn owner(manager: &str, subresource: &str) -> Owner {
    Owner {
        manager: manager.to_owned(),
        operation: Operation::Update,
        subresource: subresource.to_owned(),
        time: Some("2026-11-20T10:00:00Z".to_owned()),
        manual: manager.starts_with("kubectl"),
        users: AuditAnswer::default(),
    }
}

fn change(path: FieldPath, class: Class, live: Option<Value>, desired: Option<Value>) -> FieldChange {
    let op = match (&live, &desired) {
        (None, _) => Op::Add,
        (_, None) => Op::Remove,
        _ => Op::Change,
    };
    let change = Change { path, op, from: live, to: desired };
    FieldChange { side: class.side(), ..FieldChange::new(change, class) }
}

fn versions(live: Value, desired: Value) -> Rare<DiffNotes> {
    DiffNotes { versions: Some(Arc::new(Versions { live, desired })), ..DiffNotes::default() }.into()
}

fn object(key: &ObjectKey, place: Option<(&str, u32)>, verdict: ObjectDiff) -> ObjectReport {
    let source =
        place.map(|(file, line)| Source { file: file.into(), line, template: None, document: 1, items: Vec::new() });
    let mut object = ObjectReport::unwanted(key, verdict);
    object.source = source;
    object
}

fn web(text: &str) -> ObjectReport {
    let container = |field: &str| {
        let item = PathElement::key([("name".to_owned(), Scalar::from_json(&json!("web")))]);
        FieldPath::of(&["spec", "template", "spec", "containers"]).child(item).field(field)
    };
    let changes = vec![
        FieldChange {
            managers: vec![owner("kubectl-edit", ""), owner(text, "scale")],
            ..change(FieldPath::of(&["spec", "replicas"]), Class::ChangedByOther, Some(json!(5)), Some(json!(2)))
        },
        change(container("image"), Class::Pending, Some(json!("shop/web:1.2")), Some(json!("shop/web:1.3"))),
        change(container("args"), Class::Absent, None, Some(json!(["-v", text]))),
        change(FieldPath::of(&["metadata", "labels", text]), Class::Pruned, Some(json!("old")), None),
        change(FieldPath::of(&["metadata", "annotations", "a"]), Class::Unmanaged, Some(json!(text)), None),
    ];
    let live =
        json!({"kind": "Deployment", "metadata": {"labels": {text: "old"}, "name": "web"}, "spec": {"replicas": 5}});
    let desired = json!({"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 2}});
    let fields = ObjectDiff {
        changes,
        ignored: vec![IgnoredFields {
            rule: ".kubectl-reconcile.yaml:4:3".to_owned(),
            reason: Some(text.to_owned()),
            is_built_in: false,
            paths: vec![FieldPath::of(&["spec", "paused"])],
            managers: [("spec.paused".to_owned(), vec![text.to_owned()])].into(),
        }],
        notes: versions(live, desired),
        ..ObjectDiff::in_sync(Evidence::Server)
    };
    let key = key("apps/v1", "Deployment", Some("shop"), "web");
    let mut web = object(&key, Some(("./deploy/web.yaml", 12)), fields.by_drift());
    web.details.lines.insert(FieldPath::of(&["spec", "replicas"]), 18);
    web.details.lines.insert(container("image"), 25);
    web.messages.warnings = vec!["unknown field `spec.imagee`".to_owned(), text.to_owned()];
    web
}

fn objects(text: &str) -> Vec<ObjectReport> {
    let replaced = ObjectDiff {
        action: Action::Replace,
        replacement: Some(Replacement::NeedsFlag),
        changes: vec![change(
            FieldPath::of(&["spec", "selector"]),
            Class::Pending,
            Some(json!({"a": "b"})),
            Some(json!({"a": text})),
        )],
        notes: versions(json!({"spec": "a"}), json!({"spec": text})),
        ..ObjectDiff::in_sync(Evidence::Local)
    };
    let conflict = ObjectDiff {
        changes: vec![FieldChange {
            managers: vec![owner("kube-controller-manager", "scale")],
            ..change(FieldPath::of(&["spec", "replicas"]), Class::Conflict, Some(json!(7)), Some(json!(2)))
        }],
        conflicts: vec![Conflict { path: FieldPath::of(&["spec", "replicas"]), owner: owner(text, "scale") }],
        notes: versions(json!({"spec": {"replicas": 7}}), json!({"spec": {"replicas": 2}})),
        ..ObjectDiff::in_sync(Evidence::Server)
    };
    let secret = ObjectDiff {
        changes: vec![change(
            FieldPath::of(&["data", "pin"]),
            Class::Pending,
            Some(json!({"redacted": "#1"})),
            Some(json!({"redacted": "#2"})),
        )],
        notes: versions(json!({"data": {"pin": "*** (before)"}}), json!({"data": {"pin": "*** (after)"}})),
        ..ObjectDiff::in_sync(Evidence::Server)
    };
    let adopted = ObjectDiff {
        changes: vec![FieldChange::new(
            Change { path: FieldPath::root(), op: Op::Change, from: None, to: None },
            Class::Adopted,
        )],
        ..ObjectDiff::in_sync(Evidence::Proven)
    };
    let script = change(
        FieldPath::of(&["data", "run.sh"]),
        Class::Pending,
        Some(json!("#!/bin/sh\necho hullo\nexec nginx\n")),
        Some(json!(format!("#!/bin/sh\necho hello\nexec nginx\n{text}\n"))),
    );
    let script = ObjectDiff { changes: vec![script], ..ObjectDiff::in_sync(Evidence::Server) };
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": text, "b": "two\nlines\n"}});
    let mistakes = [(6, "unknown field `replica` in `spec`"), (9, text)].map(|(line, message)| {
        let location = Location { file: "deploy/odd.yaml".into(), line: Some(line), column: Some(3) };
        let diagnostic = Diagnostic { location: Some(location), ..Diagnostic::general(message) };
        diagnostic.with_hint("did you mean `replicas`?")
    });
    let invalid = Diagnostic::new(Code::Invalid, "2 mistakes in the manifest").with_details(mistakes.to_vec());
    let map = |name: &str| key("v1", "ConfigMap", Some("shop"), name);
    let pruned = ObjectDiff::delete(manifest.clone(), Side::Manifest, "no longer in the manifests".to_owned());
    let elsewhere = Deletion { needs: [DeletionKind::OtherNamespaces].into(), allowed: false };
    let kept = ObjectDiff::kept(format!("its annotation says so: {text}"));
    let create = ObjectDiff::create(manifest, Evidence::Server);
    vec![
        object(&map("new"), Some(("./deploy/new.yaml", 1)), create),
        web(text),
        object(&map(text), Some(("stdin", 3)), script.by_drift()),
        object(
            &key("apps/v1", "Deployment", Some("shop"), "scaled"),
            Some(("deploy/scaled.yaml", 1)),
            conflict.by_drift(),
        ),
        object(
            &key("batch/v1", "Job", Some("shop"), "migrate"),
            Some(("deploy/job.yaml", 3)),
            replaced.because("spec.template is immutable".to_owned(), Some("pass `--replace=immutable`".to_owned())),
        ),
        object(&key("v1", "Secret", Some("shop"), "tls"), Some(("deploy/tls.yaml", 1)), secret.by_drift()),
        object(&key("v1", "Service", Some("shop"), "web"), Some(("deploy/web.yaml", 40)), adopted),
        object(
            &key("rbac.authorization.k8s.io/v1", "ClusterRole", None, "system:web"),
            Some(("deploy/role.yaml", 1)),
            ObjectDiff::in_sync(Evidence::Proven),
        ),
        object(
            &key("apps/v1", "Deployment", Some("shop"), "odd"),
            Some(("deploy/odd.yaml", 2)),
            ObjectDiff::unknown(invalid),
        ),
        object(&map("old"), None, pruned).with_deletion(Some(&elsewhere), None),
        object(&map("kept"), None, kept),
    ]
}

fn cluster(context: &str) -> ClusterInfo {
    ClusterInfo {
        context: Some(context.to_owned()),
        server: "https://10.0.0.1:6443".to_owned(),
        version: Some("v1.36.3".to_owned()),
        uid: None,
    }
}

/// The report of a `diff`, with this text in every field that can hold text from outside.
pub fn diff(text: &str) -> Report {
    let set = ApplySetInfo::new("applyset-x-v1", &key("v1", "Secret", Some("shop"), "set"), ParentAction::Update);
    let mut report = Report::compared(Command::Diff, objects(text), &FailOn::default()).with_apply_set(set);
    report.cluster = Some(cluster(text));
    report.time = StartTime::of_epoch("1763632800");
    report.configuration = Some(ConfigurationInfo {
        file: Some(format!("{text}/.kubectl-reconcile.yaml")),
        rules: 2,
        readiness_rules: 1,
        annotated: 1,
        unmatched: None,
    });
    report.warnings = vec![text.to_owned()];
    let unmanaged = UnexplainedObject { key: key("v1", "ConfigMap", Some("shop"), text), claim: None };
    report.with_unmanaged(vec![(&unmanaged).into()], false)
}

/// The report of an `apply`.
pub fn apply(text: &str) -> Report {
    let mut objects = objects(text);
    for object in &mut objects {
        object.run.outcome = Some(match (object.key.name.as_str(), object.diff.action) {
            ("new", _) => Outcome::Created,
            ("scaled", _) => Outcome::Conflict,
            ("migrate", _) => Outcome::Failed,
            ("odd", _) => Outcome::Skipped,
            ("old", _) => Outcome::Deleted,
            (_, Action::None) => Outcome::Unchanged,
            _ => Outcome::Updated,
        });
        if object.key.gvk.kind == "Deployment" && object.key.name == "web" {
            object.run.readiness =
                Some(Box::new(ObjectReadiness::new(ReadinessState::InProgress, "1 of 2 replicas are updated")));
        }
    }
    let mut report = Report::compared(Command::Apply, objects, &FailOn::default());
    report.cluster = Some(cluster("prod"));
    report.time = StartTime::of_epoch("1763632800");
    report
}

/// A run that ended before it compared anything.
pub fn stopped(text: &str) -> Report {
    let location = Location { file: "deploy/a,b:c.yaml".into(), line: Some(3), column: Some(5) };
    let diagnostic = Diagnostic { location: Some(location), ..Diagnostic::general(text) };
    Report::stopped(Command::Diff, Verdict::Invalid, vec![diagnostic.with_hint("look at line 3")])
}

/// Nothing to do.
pub fn quiet() -> Report {
    let role = key("rbac.authorization.k8s.io/v1", "ClusterRole", None, "system:web");
    let objects = vec![object(&role, Some(("deploy/role.yaml", 1)), ObjectDiff::in_sync(Evidence::Proven))];
    Report::compared(Command::Diff, objects, &FailOn::default())
}

/// Several contexts: one with drift, one that cannot be reached, one in sync.
pub fn several(text: &str) -> Reports {
    let down = Diagnostic::new(Code::ConnectionLost, format!("cannot connect: {text}"));
    let unreachable = Report::stopped(Command::Diff, Verdict::Unreachable, vec![down]);
    let one = |context: &str, report| ContextReport { context: Some(context.to_owned()), server: None, report };
    let contexts = vec![one("eu", diff(text)), one(text, unreachable), one("us", quiet())];
    Reports::of(Command::Diff, contexts, vec![text.to_owned()])
}
