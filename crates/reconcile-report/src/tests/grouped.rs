//! Groups of objects with something in common, in every format that has them, and the advice on conflicts.

use reconcile_core::compare::{Class, Conflict, Evidence, FieldChange, ObjectDiff};
use reconcile_core::diagnostic::{Code, Diagnostic, Location};
use reconcile_core::manifest::Source;
use reconcile_core::owners::{AuditAnswer, Owner};
use reconcile_core::text::width;
use serde_json::json;
use structured_merge::{Change, FieldPath, GroupVersionKind, ObjectKey, Op, Operation};

use super::formats::one_in;
use crate::formats::Format;
use crate::model::{Command, FailOn, ObjectReport, Report};
use crate::view::View;

fn shown(format: &str, objects: Vec<ObjectReport>) -> String {
    shown_in(format, objects, &View::default())
}

fn shown_in(format: &str, objects: Vec<ObjectReport>, view: &View) -> String {
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    one_in(Format::named(format).unwrap(), &report, view)
}

fn object(name: &str, file: &str, line: u32, verdict: ObjectDiff) -> ObjectReport {
    let gvk = GroupVersionKind::new("v1", "ConfigMap");
    let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() };
    let source = Some(Source { file: file.into(), line, document: 1, template: None, items: Vec::new() });
    let mut object = ObjectReport::unwanted(&key, verdict);
    object.source = source;
    object
}

fn change(field: &str, class: Class, managers: Vec<Owner>) -> FieldChange {
    FieldChange::new(
        Change { path: FieldPath::of(&["data", field]), op: Op::Change, from: Some(json!("1")), to: Some(json!("2")) },
        class,
    )
    .with_managers(managers)
}

fn changed(name: &str, line: u32, fields: &[&str]) -> ObjectReport {
    let changes = fields.iter().map(|field| change(field, Class::Pending, Vec::new())).collect();
    let fields = ObjectDiff { changes, ..ObjectDiff::in_sync(Evidence::Server) };
    object(name, "m.yaml", line, fields.by_drift())
}

/// An object in conflict with a manager about the field `a`.
fn contested(name: &str, line: u32, manager: &str) -> ObjectReport {
    let owner = Owner {
        manager: manager.to_owned(),
        operation: Operation::Apply,
        subresource: String::new(),
        time: None,
        manual: false,
        users: AuditAnswer::default(),
    };
    let changes = vec![change("a", Class::Conflict, vec![owner.clone()])];
    let conflicts = vec![Conflict { path: changes[0].path.clone(), owner }];
    let fields = ObjectDiff { changes, conflicts, ..ObjectDiff::in_sync(Evidence::Server) };
    object(name, "m.yaml", line, fields.by_drift())
}

/// The rows of the table in Markdown, without its head.
fn rows(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("| `")).collect()
}

#[test]
fn the_table_has_a_row_for_each_group_and_for_what_is_an_objects_own() {
    let mut objects: Vec<ObjectReport> = (1..=12).map(|at| changed(&format!("c{at}"), at, &["a"])).collect();
    objects[4] = changed("c5", 5, &["a", "own"]);
    let expected = [
        "| `~` | `12 ConfigMaps` | update | `data.a: \"1\" → \"2\"` | `m.yaml:1, 2, 3 … 9 more` |",
        "| `~` | `ConfigMap shop/c5` | update | `data.own: \"1\" → \"2\"` | `m.yaml:5` |",
    ];
    assert_eq!(rows(&shown("markdown", objects.clone())), expected);
    let summary = shown_in("markdown", objects, &View { summary: true, ..View::default() });
    assert_eq!(rows(&summary), expected);
    assert!(!summary.contains("<details>"), "{summary}");
}

#[test]
fn the_advice_on_conflicts_is_in_every_format_for_reviews() {
    let one = |format: &str, manager: &str| shown(format, vec![contested("c", 1, manager)]);
    let all = |format: &str| shown(format, (1..=3).map(|at| contested(&format!("c{at}"), at, "helm")).collect());
    let hint = "pass `--adopt helm` if this tool takes over, or leave it to `helm`";
    for format in ["markdown", "github"] {
        assert!(one(format, "helm").contains(&format!("hint: {hint}")), "{}", one(format, "helm"));
        let other = "another tool applies this field: agree on one owner, or take it with `--force-conflicts`";
        assert!(one(format, "kubectl").contains(other), "{}", one(format, "kubectl"));
    }
    let markup = |text: &str| text.replace('`', "&#96;");
    assert!(one("html", "helm").contains(&markup(hint)));
    for (format, hint) in
        [("markdown", hint.replace("leave it", "leave them")), ("html", markup(hint).replace("leave it", "leave them"))]
    {
        let text = all(format);
        assert_eq!(text.matches(&hint).count(), 1, "{format}: {text}");
        assert!(!text.contains("leave it"), "{format}: {text}");
    }
}

#[test]
fn a_conflict_that_a_change_names_is_shown_once() {
    for format in ["markdown", "html"] {
        for text in [
            shown(format, vec![contested("c", 1, "vpa")]),
            shown(format, (1..=3).map(|at| contested(&format!("c{at}"), at, "vpa")).collect()),
        ] {
            assert_eq!(text.matches("owned by vpa").count(), 1, "{format}: {text}");
            assert!(!text.contains("is owned by"), "{format}: {text}");
        }
        let mut other = contested("c", 1, "vpa");
        other.diff.conflicts[0].path = FieldPath::of(&["data", "b"]);
        assert!(shown(format, vec![other]).contains("is owned by vpa"));
    }
}

#[test]
fn equal_messages_of_objects_are_shown_once_in_every_format() {
    let warned = |at: u32| {
        let fields = ObjectDiff::in_sync(Evidence::Server);
        let mut object = object(&format!("c{at}"), "m.yaml", at, fields.by_drift());
        object.messages.warnings.push("v1 ConfigMap is odd".to_owned());
        object
    };
    let refused = |at: u32| {
        let error = Diagnostic::new(Code::NotFound, "namespace `it` does not exist").with_hint("create it first");
        object(&format!("c{at}"), "m.yaml", at, ObjectDiff::unknown(error))
    };
    for format in ["text", "markdown", "html"] {
        // The table of Markdown has them as well.
        let times = if format == "markdown" { 2 } else { 1 };
        let text = shown(format, vec![warned(1), warned(2)]);
        assert_eq!(text.matches("warning: v1 ConfigMap is odd").count(), times, "{format}: {text}");
        let mut with_warnings = vec![refused(1), refused(2), refused(3)];
        with_warnings[2].messages.warnings.push("odd".to_owned());
        let text = shown(format, with_warnings);
        assert_eq!(text.matches("does not exist").count(), 2 * times, "{format}: {text}");
    }
    let text = shown("markdown", vec![refused(1), refused(2)]);
    let row = "| `!` | `2 ConfigMaps` | not compared | ``namespace `it` does not exist (NotFound)`` | `m.yaml:1, 2` |";
    assert_eq!(rows(&text), [row]);
}

/// The template is the location: the line in what was read is in the message.
#[test]
fn a_mistake_in_a_template_is_named_by_both_of_its_locations() {
    let at = Location { file: "stdin".into(), line: Some(5), column: Some(18) };
    let mistake = Diagnostic { location: Some(at), ..Diagnostic::new(Code::Invalid, "unknown field `dta`") };
    let mut object = object("c", "stdin", 3, ObjectDiff::unknown(mistake.with_hint("did you mean `data`?")));
    object.source.as_mut().unwrap().template = Some("pay/templates/web.yaml".into());
    for format in ["markdown", "github", "gitlab", "junit", "sarif"] {
        let text = shown(format, vec![object.clone()]);
        assert!(text.contains("unknown field `dta` (stdin:5:18); hint: did you"), "{format}: {text}");
        assert!(text.contains("pay/templates/web.yaml"), "{format}: {text}");
    }
}

#[test]
fn only_locations_that_fit_are_named() {
    let file = |at: u32| format!("pay/charts/redis-{}/templates/configmap.yaml", "x".repeat(at as usize));
    let objects: Vec<ObjectReport> = (1..=6)
        .map(|at| {
            let changes = vec![change("a", Class::Pending, Vec::new())];
            let fields = ObjectDiff { changes, ..ObjectDiff::in_sync(Evidence::Server) };
            object(&format!("c{at}"), &file(at), at, fields.by_drift())
        })
        .collect();
    for (columns, places) in [(60, 1), (100, 1), (150, 2), (200, 3)] {
        let text = shown_in("text", objects.clone(), &View { width: columns, ..View::default() });
        let named: Vec<String> =
            (1..=6).map(|at| format!("{}:{at}", file(at))).filter(|place| text.contains(place)).collect();
        assert_eq!(named.len(), places, "{columns}: {text}");
        assert!(text.contains(&format!("… {} more", 6 - places)) && !text.contains("…p"), "{text}");
        assert!(text.lines().all(|line| width(line) <= columns), "{columns}: {text}");
    }
    let text = shown_in("text", objects, &View { width: 40, ..View::default() });
    assert!(
        text.starts_with("~ 6 ConfigMaps\n    …/configmap.yaml:1 … 5 more\n    data.a"),
        "the name of the file stays: {text}"
    );
}

#[test]
fn hints_are_broken_at_blanks() {
    for columns in [30, 60, 100] {
        let view = View { width: columns, ..View::default() };
        for manager in ["vpa", "helm"] {
            let text = shown_in("text", vec![contested("c", 1, manager)], &view);
            let (_, hint) = text.split_once("hint: ").unwrap();
            let hint = hint.lines().take_while(|line| !line.contains("in sync"));
            // A command is never broken.
            let fits = |line: &str| {
                width(line) <= columns || line.trim_start().trim_end_matches(',').matches('`').count() == 2
            };
            assert!(hint.clone().all(fits), "{text}");
            assert!(hint.clone().all(|line| line.matches('`').count() % 2 == 0), "{text}");
            assert_eq!(hint.collect::<Vec<_>>().join(" ").matches('`').count(), if manager == "helm" { 6 } else { 2 });
        }
    }
}
