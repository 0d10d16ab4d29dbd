use reconcile_core::compare::{Class, FieldChange};
use reconcile_core::owners::{AuditAnswer, Owner};
use serde_json::{Value, json};
use structured_merge::{Change, FieldPath, GroupVersionKind, Op, Operation};

use super::*;
use crate::formats::json::document;

fn change(accepted: bool) -> PulledChange {
    let time = Some("2026-01-01T00:00:00Z".to_owned());
    let manager = "kubectl-edit".to_owned();
    let operation = Operation::Update;
    let owner =
        Owner { manager, operation, subresource: String::new(), time, manual: true, users: AuditAnswer::default() };
    let change = FieldChange::new(
        Change {
            path: FieldPath::of(&["data", "colour"]),
            op: Op::Change,
            from: Some(json!("red")),
            to: Some(json!("green")),
        },
        Class::ChangedByOther,
    )
    .with_managers(vec![owner]);
    let reason = (!accepted).then(|| "its value is an alias of another value in the file".to_owned());
    PulledChange { change, accepted, reason, is_declined: false, file: None, how: None }
}

fn report(accepted: &[bool], dry_run: bool) -> PullReport {
    let gvk = GroupVersionKind::new("v1", "ConfigMap");
    let source = Source { file: "map.yaml".into(), line: 1, template: None, document: 1, items: Vec::new() };
    let object = PulledObject {
        key: ObjectKey { gvk, namespace: Some("shop".to_owned()), name: "settings".to_owned() },
        source: source.clone(),
        changes: accepted.iter().map(|accepted| change(*accepted)).collect(),
    };
    let text = |colour: &str| format!("data:\n  colour: {colour}\n");
    let before = text("green");
    let after = text("red");
    let content = FileContent::Manifests;
    let file = EditedFile { file: "map.yaml".to_owned(), written: !dry_run, before, after, content };
    let files = if accepted.contains(&true) { vec![file] } else { Vec::new() };
    let errors = vec![Diagnostic::of_source(&source, "ConfigMap shop/other cannot be compared: forbidden")];
    let missing = vec![MissingObject { key: object.key.clone(), source: source.clone() }];
    let warnings = vec!["`--field replicas`: neither the manifests nor the differences have this field".to_owned()];
    let pulled = Pulled {
        files,
        objects: vec![object],
        missing,
        secrets: 2,
        warnings,
        errors,
        is_incomplete: false,
        overlays: Vec::new(),
    };
    let server = "https://10.0.0.1:6443".to_owned();
    let version = Some("v1.36.1".to_owned());
    let cluster = ClusterInfo { context: Some("prod".to_owned()), server, version, uid: None };
    PullReport::new(pulled, dry_run, cluster)
}

#[test]
fn documents_follow_their_schema() {
    let failure = Failure::invalid(Diagnostic::general("`pull` writes into files").with_hint("name them"));
    for report in [report(&[true, false], false), report(&[true], true), PullReport::stopped(failure, false)] {
        let document: Value = serde_json::from_str(&document(&report)).unwrap();
        crate::tests::schema::check_pull(&document);
    }
}

#[test]
fn exit_codes_tell_a_dry_run_from_a_refusal() {
    assert_eq!(report(&[true], false).exit_code, EXIT_SUCCESS);
    assert_eq!(report(&[true], true).exit_code, EXIT_DRIFT);
    assert_eq!(report(&[true, false], true).exit_code, EXIT_INCOMPLETE);
    assert_eq!(report(&[], true).exit_code, EXIT_SUCCESS);
}

#[test]
fn the_last_line_tells_refusals_from_nothing() {
    let last = |report: PullReport| crate::theme::plain(&report.summary()).lines().last().unwrap().to_owned();
    assert_eq!(last(report(&[true, false], false)), "pulled 1 change into 1 file");
    assert_eq!(last(report(&[true], true)), "would pull 1 change into 1 file");
    assert_eq!(last(report(&[false], false)), "pulled no change");
    assert_eq!(last(report(&[], false)), "nothing to pull");
}
