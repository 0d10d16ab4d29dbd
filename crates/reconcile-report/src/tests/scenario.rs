//! A report with everything that can be in one, made as a run makes it.

use std::sync::Arc;

use reconcile_core::compare::{
    Action, Class, Conflict, Evidence, FieldChange, FieldDiff, IgnoredFields, ObjectVerdict, Reason, Replacement,
    Versions,
};
use reconcile_core::diagnostic::{Code, Diagnostic, Location};
use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use reconcile_core::manifest::Source;
use reconcile_core::owners::{AuditAnswer, Owner};
use reconcile_core::pass::Outcome;
use reconcile_core::plan::UnexplainedObject;
use reconcile_core::plan::deletion::{Deletion, DeletionKind};
use serde_json::{Value, json};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey, Op, Operation, PathElement, Scalar};

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
    FieldChange {
        path,
        op,
        class,
        side: class.side(),
        base: None,
        live,
        desired,
        managers: Vec::new(),
        defaulted: Vec::new(),
    }
}

fn object(key: &ObjectKey, place: Option<(&str, u32)>, verdict: ObjectVerdict) -> ObjectReport {
    let source =
        place.map(|(file, line)| Source { file: file.into(), line, template: None, document: 1, items: Vec::new() });
    ObjectReport { source, ..ObjectReport::unwanted(key, verdict) }
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
    let fields = FieldDiff {
        changes,
        ignored: vec![IgnoredFields {
            rule: ".kubectl-reconcile.yaml:4:3".to_owned(),
            reason: Some(text.to_owned()),
            is_built_in: false,
            paths: vec![FieldPath::of(&["spec", "paused"])],
            managers: [("spec.paused".to_owned(), vec![text.to_owned()])].into(),
        }],
        versions: Some(Arc::new(Versions { live, desired })),
        ..FieldDiff::none(Evidence::Server)
    };
    let key = key("apps/v1", "Deployment", Some("shop"), "web");
    let mut web = object(&key, Some(("./deploy/web.yaml", 12)), ObjectVerdict::Update(fields));
    web.details.lines.insert(FieldPath::of(&["spec", "replicas"]), 18);
    web.details.lines.insert(container("image"), 25);
    web.messages.warnings = vec!["unknown field `spec.imagee`".to_owned(), text.to_owned()];
    web
}

fn immutable() -> Reason {
    let hint = Some("pass `--replace=immutable`".to_owned());
    Reason { replacement: Replacement::NeedsFlag, text: "spec.template is immutable".to_owned(), hint }
}

fn objects(text: &str) -> Vec<ObjectReport> {
    let replaced = FieldDiff {
        changes: vec![change(
            FieldPath::of(&["spec", "selector"]),
            Class::Pending,
            Some(json!({"a": "b"})),
            Some(json!({"a": text})),
        )],
        versions: Some(Arc::new(Versions { live: json!({"spec": "a"}), desired: json!({"spec": text}) })),
        ..FieldDiff::none(Evidence::Local)
    };
    let conflict = FieldDiff {
        changes: vec![FieldChange {
            managers: vec![owner("kube-controller-manager", "scale")],
            ..change(FieldPath::of(&["spec", "replicas"]), Class::Conflict, Some(json!(7)), Some(json!(2)))
        }],
        conflicts: vec![Conflict { path: FieldPath::of(&["spec", "replicas"]), owner: owner(text, "scale") }],
        versions: Some(Arc::new(Versions {
            live: json!({"spec": {"replicas": 7}}),
            desired: json!({"spec": {"replicas": 2}}),
        })),
        ..FieldDiff::none(Evidence::Server)
    };
    let secret = FieldDiff {
        changes: vec![change(
            FieldPath::of(&["data", "pin"]),
            Class::Pending,
            Some(json!({"redacted": "#1"})),
            Some(json!({"redacted": "#2"})),
        )],
        versions: Some(Arc::new(Versions {
            live: json!({"data": {"pin": "*** (before)"}}),
            desired: json!({"data": {"pin": "*** (after)"}}),
        })),
        ..FieldDiff::none(Evidence::Server)
    };
    let adopted = FieldDiff {
        changes: vec![FieldChange {
            path: FieldPath::root(),
            op: Op::Change,
            class: Class::Adopted,
            side: Class::Adopted.side(),
            base: None,
            live: None,
            desired: None,
            managers: Vec::new(),
            defaulted: Vec::new(),
        }],
        ..FieldDiff::none(Evidence::Proven)
    };
    let script = change(
        FieldPath::of(&["data", "run.sh"]),
        Class::Pending,
        Some(json!("#!/bin/sh\necho hullo\nexec nginx\n")),
        Some(json!(format!("#!/bin/sh\necho hello\nexec nginx\n{text}\n"))),
    );
    let script = FieldDiff { changes: vec![script], ..FieldDiff::none(Evidence::Server) };
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": text, "b": "two\nlines\n"}});
    let mistakes = [(6, "unknown field `replica` in `spec`"), (9, text)].map(|(line, message)| {
        let location = Location { file: "deploy/odd.yaml".into(), line: Some(line), column: Some(3) };
        let diagnostic = Diagnostic { location: Some(location), ..Diagnostic::general(message) };
        diagnostic.with_hint("did you mean `replicas`?")
    });
    let invalid = Diagnostic::new(Code::Invalid, "2 mistakes in the manifest").with_details(mistakes.to_vec());
    let map = |name: &str| key("v1", "ConfigMap", Some("shop"), name);
    let pruned = ObjectVerdict::Delete { live: manifest.clone(), reason: "no longer in the manifests".to_owned() };
    let elsewhere = Deletion { needs: [DeletionKind::OtherNamespaces].into(), allowed: false };
    let kept = ObjectVerdict::Kept { reason: format!("its annotation says so: {text}") };
    let create = ObjectVerdict::Create { desired: manifest.into(), evidence: Evidence::Server };
    vec![
        object(&map("new"), Some(("./deploy/new.yaml", 1)), create),
        web(text),
        object(&map(text), Some(("stdin", 3)), ObjectVerdict::Update(script)),
        object(
            &key("apps/v1", "Deployment", Some("shop"), "scaled"),
            Some(("deploy/scaled.yaml", 1)),
            ObjectVerdict::Update(conflict),
        ),
        object(
            &key("batch/v1", "Job", Some("shop"), "migrate"),
            Some(("deploy/job.yaml", 3)),
            ObjectVerdict::Replace { fields: replaced, reason: immutable() },
        ),
        object(&key("v1", "Secret", Some("shop"), "tls"), Some(("deploy/tls.yaml", 1)), ObjectVerdict::Update(secret)),
        object(&key("v1", "Service", Some("shop"), "web"), Some(("deploy/web.yaml", 40)), adopted.into()),
        object(
            &key("rbac.authorization.k8s.io/v1", "ClusterRole", None, "system:web"),
            Some(("deploy/role.yaml", 1)),
            FieldDiff::none(Evidence::Proven).into(),
        ),
        object(
            &key("apps/v1", "Deployment", Some("shop"), "odd"),
            Some(("deploy/odd.yaml", 2)),
            ObjectVerdict::Unknown(invalid),
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
    let objects = vec![object(&role, Some(("deploy/role.yaml", 1)), FieldDiff::none(Evidence::Proven).into())];
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
