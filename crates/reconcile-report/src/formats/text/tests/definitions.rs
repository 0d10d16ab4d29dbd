//! The differences of a CustomResourceDefinition.

use std::sync::Arc;

use reconcile_core::compare::{Class, DiffNotes, FieldChange, ObjectDiff, Versions};
use reconcile_core::text::width;
use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, Op, builtin, changes};

use super::samples::*;
use crate::formats::text::*;
use crate::model::{Command, FailOn, ObjectReport, Report, Reports};
use crate::theme::plain;
use crate::view::View;

#[test]
fn what_differs_in_a_definition_is_reported_in_a_few_lines() {
    let text = plain(&object_text(&definition(), &view(100)));
    assert!(text.lines().count() <= 12, "{text}");
    for reported in [
        "v2beta1 removed, still stored ✗",
        "v2beta2 no longer served ⚠",
        "v2: stored from now on, 14 fields added, 2 removed, 1 of another type ⚠",
        "v2 - spec.field0\n",
        "v2 ~ spec.field99: string → integer",
        "lines of schema: --full",
    ] {
        assert!(text.contains(reported), "{reported}: {text}");
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
    let live = whole(live, "v2.3.0");
    let desired = whole(desired, "v2.9.4");
    let schema = builtin().object(&GroupVersionKind::new(CRD.0, CRD.1)).unwrap();
    let found = changes(&live, &desired, schema, true).into_iter().map(|change| {
        let class = if change.op == Op::Add { Class::Absent } else { Class::Pending };
        FieldChange { side: Class::Pending.side(), ..FieldChange::new(change, class) }
    });
    let verdict = ObjectDiff {
        notes: DiffNotes { versions: Some(Arc::new(Versions { live, desired })), ..DiffNotes::default() }.into(),
        ..fields(found.collect())
    }
    .by_drift();
    object(CRD, "its.example.com", ("gotk.yaml", 1), verdict)
}

#[test]
fn what_differs_in_the_schema_of_a_version_is_reported_in_a_few_lines() {
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
    assert!(report.diff.changes.len() > 10, "{:?}", report.diff.changes);
    let text = plain(&object_text(&report, &view(100)));
    for reported in [
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
        assert!(text.contains(reported), "{reported}: {text}");
    }
    assert!(!text.contains("openAPIV3Schema"), "{text}");
    let text = plain(&object_text(&report, &View { full: true, ..view(100) }));
    assert!(text.contains("+             new:\n"), "{text}");

    // Manual changes are shown by themselves, with their manager; if nearly all changes are manual, the manager is named once.
    let mut installed = report.clone();
    for change in
        installed.diff.changes.iter_mut().filter(|change| change.path.to_string().starts_with("spec.versions"))
    {
        *change = by("kubectl-client-side-apply", change.clone());
    }
    let text = plain(&object_text(&installed, &view(100)));
    assert!(text.lines().count() < 14 && !text.contains("openAPIV3Schema"), "{text}");
    assert!(
        text.contains(" of schema: --full  ") && text.contains("  by kubectl-client-side-apply 2026-11-21T18:15:08Z\n"),
        "{text}"
    );

    // A reason for some of them is a part of the summary.
    let mut pruned = report.clone();
    let path = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.gone";
    let reasons = pruned.diff.changes.iter_mut().filter(|change| change.path.to_string() == path);
    reasons.for_each(|change| change.class = Class::Pruned);
    let text = plain(&object_text(&pruned, &view(200)));
    let reported = format!("      {}: no longer in the manifest\n", path.trim_start_matches("spec."));
    assert!(text.contains(&reported), "{reported}: {text}");
    for columns in [60, 80] {
        let text = plain(&object_text(&pruned, &view(columns)));
        let noted = text.lines().find(|line| line.ends_with("properties.gone: no longer in the manifest"));
        assert!(noted.is_some_and(|line| line.starts_with("      …") && width(line) <= columns), "{text}");
    }
    let mut edited = report;
    let is_gone = |change: &&mut FieldChange| change.path.to_string().contains("properties.gone");
    let gone = edited.diff.changes.iter_mut().find(is_gone).unwrap();
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
        object((APPS, "Deployment"), &format!("controller-{at}"), ("gotk.yaml", at), fields(vec![label]).by_drift())
    }));
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    let text = plain(&whole(&report, &view(100)));
    assert!(text.lines().count() <= 110, "{} lines\n{text}", text.lines().count());
}

/// The schemas of a definition are summarised for all their owners, and in a comment as in the text.
#[test]
fn a_definition_in_conflict_and_in_a_comment_is_summarised_as_well() {
    let many = |name: &str| {
        let fields: serde_json::Map<String, Value> = (0..40)
            .map(|at| (format!("field{at}"), json!({"type": "string", "description": format!("{name} {at}")})))
            .collect();
        json!({"type": "object", "properties": fields})
    };
    let mut contested = definition_with(&many("before"), &many("after"));
    let plain_lines = plain(&object_text(&contested, &view(100))).lines().count();
    for change in &mut contested.diff.changes {
        (change.class, change.managers) = (Class::Conflict, vec![owner("helm", "Update", "")]);
    }
    let text = plain(&object_text(&contested, &view(100)));
    assert!(text.contains("of schema: --full") && text.contains("conflict with helm"), "{text}");
    assert!(text.lines().count() <= plain_lines + 2, "{text}");
    let report: Reports = Report::compared(Command::Diff, vec![contested], &FailOn::default()).into();
    let comment = |full| crate::formats::markdown::render(&report, &View { full, ..view(100) });
    assert!(comment(false).contains("of schema: --full") && !comment(false).contains("after 3"), "{}", comment(false));
    assert!(comment(true).contains("after 3"), "{}", comment(true));
}
