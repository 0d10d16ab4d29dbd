//! The rich report in each format: snapshots, to be read by eye, and rules of single formats.

use std::path::Path;
use std::sync::Arc;

use reconcile_core::compare::{IgnoredFields, ObjectDiff, Side};
use reconcile_core::manifest::{BaseState, Source};
use reconcile_core::pass::Outcome;
use serde_json::{Value, json};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey};

use super::parsers;
use super::scenario::{apply, diff, quiet, several, stopped};
use crate::formats::{FORMATS, Format, Render};
use crate::model::{
    BaseInfo, Command, ConfigurationInfo, ContextReport, DroppedObject, FailClass, FailOn, ObjectReport, Report,
    Reports,
};
use crate::theme::plain;
use crate::view::View;
use crate::words::describe::left_alone;

fn view() -> View {
    let folder: Arc<Path> = Arc::from(Path::new("/srv/shop"));
    View { folder: Some(folder.clone()), repository: Some(folder), ..View::default() }
}

/// Renders a report in a format.
pub fn one(format: &Format, report: &Report) -> String {
    one_in(format, report, &view())
}

/// Renders a report in a format and a view.
pub fn one_in(format: &Format, report: &Report, view: &View) -> String {
    all_in(format, &report.clone().into(), view)
}

/// Renders several reports in a format.
pub fn all(format: &Format, reports: &Reports) -> String {
    all_in(format, reports, &view())
}

fn all_in(format: &Format, reports: &Reports, view: &View) -> String {
    match format.render {
        Render::Text(text) => plain(&text(reports, view)),
        Render::Data(data) | Render::Patch(data) | Render::Lines(data) => data(reports, view),
    }
}

fn named(name: &str) -> &'static Format {
    Format::named(name).unwrap()
}

#[test]
fn deletions_leave_out_what_only_the_server_writes() {
    let metadata =
        json!({"name": "old", "uid": "1", "resourceVersion": "7", "creationTimestamp": "2026-11-20T10:00:00Z"});
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "x"}});
    let key = ObjectKey { gvk: GroupVersionKind::new("v1", "ConfigMap"), namespace: None, name: "old".to_owned() };
    let old = ObjectReport::unwanted(&key, ObjectDiff::delete(live, Side::Manifest, "gone".to_owned()));
    let report = Report::compared(Command::Diff, vec![old], &FailOn::default());
    for format in ["unified", "markdown"] {
        let text = one(named(format), &report);
        assert!(text.contains("-  a: x\n") && text.contains("-  name: old\n"), "{text}");
        assert!(!["uid", "resourceVersion", "creationTimestamp"].iter().any(|field| text.contains(field)), "{text}");
    }
    assert!(one(named("json"), &report).contains("resourceVersion"));
}

/// `INSTA_UPDATE=always cargo test -p reconcile-report` accepts what has changed.
#[test]
fn every_format_shows_the_rich_report() {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let ours = FORMATS.iter().filter(|format| !["text", "html"].contains(&format.name));
    settings.bind(|| {
        for format in ours {
            insta::assert_snapshot!(format!("{}-diff", format.name), one(format, &diff("plain")));
            insta::assert_snapshot!(format!("{}-apply", format.name), one(format, &apply("plain")));
            insta::assert_snapshot!(format!("{}-stopped", format.name), one(format, &stopped("plain")));
        }
    });
}

#[test]
fn yaml_is_the_document_of_json() {
    for report in [diff(super::scenario::EVIL), apply("plain"), stopped("plain")] {
        let json: Value = serde_json::from_str(&one(named("json"), &report)).unwrap();
        assert_eq!(parsers::yaml(&one(named("yaml"), &report)), json);
    }
    let reports = several("plain");
    let json: Value = serde_json::from_str(&all(named("json"), &reports)).unwrap();
    assert_eq!(parsers::yaml(&all(named("yaml"), &reports)), json);
}

#[test]
fn a_large_object_is_left_out_of_json_unless_all_of_it_is_wanted() {
    let mut report = diff("plain");
    let large = json!({"kind": "ConfigMap", "data": {"a": "x".repeat(70_000)}});
    report.objects[0].diff.changes[0].desired = Some(large.clone().into());
    let small: Value = serde_json::from_str(&one(named("json"), &report)).unwrap();
    let size = large.to_string().len();
    assert_eq!(small["objects"][0]["changes"][0]["desired"], json!({"omittedBytes": size}));
    let whole = crate::formats::json::render(&report.clone().into(), &View { full: true, ..view() });
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["objects"][0]["changes"][0]["desired"], large);
    // Data that the document leaves out stays in the report.
    assert_eq!(report.objects[0].diff.changes[0].desired, Some(large.into()));
}

#[test]
fn a_run_without_differences_is_quiet_everywhere() {
    for (name, expected) in [("unified", ""), ("github", ""), ("gitlab", "[]\n")] {
        assert_eq!(one(named(name), &quiet()), expected, "{name}");
    }
    assert!(!one(named("markdown"), &quiet()).contains("| object |"));
    let suite = parsers::junit(&one(named("junit"), &quiet()));
    assert_eq!((suite.tests, suite.failures, suite.errors), (1, 0, 0));
}

#[test]
fn a_gate_that_fails_without_differences_says_so() {
    let warned = |mut report: Report, of_changes: &[&str], of_reads: &[&str]| {
        report.fail_on = vec!["warnings"];
        let of_changes = of_changes.iter().map(|text| (*text).to_owned()).collect();
        report.with_server_warnings(&of_changes, of_reads.iter().map(|text| (*text).to_owned()).collect())
    };
    let failures = |report: &Report| {
        let suite = parsers::junit(&one(named("junit"), report));
        (suite.tests, suite.failures, suite.errors)
    };
    let deprecated = warned(quiet(), &[], &["v1 Endpoints is deprecated"]);
    assert_eq!((deprecated.exit_code, failures(&deprecated)), (1, (2, 1, 0)));
    assert!(one(named("junit"), &deprecated).contains("v1 Endpoints is deprecated"));
    let title = "### kubectl reconcile diff: warnings of the server\n";
    assert!(one(named("markdown"), &deprecated).starts_with(title));
    // A warning about an object is the failure of its case, also if it was applied.
    let about_object = |command: Command, outcome: Option<Outcome>| {
        let mut report = Report { command, ..quiet() };
        report.objects[0].messages.warnings = vec!["this is watched".to_owned()];
        report.objects[0].run.outcome = outcome;
        warned(report, &["this is watched"], &[])
    };
    for report in [about_object(Command::Diff, None), about_object(Command::Apply, Some(Outcome::Updated))] {
        assert_eq!((report.exit_code, failures(&report)), (1, (1, 1, 0)));
    }
    let several = |reports: Vec<Report>| {
        let one = |report| ContextReport { context: Some("eu".to_owned()), server: None, report };
        Reports::of(Command::Diff, reports.into_iter().map(one).collect(), Vec::new())
    };
    let both = several(vec![deprecated.clone(), deprecated.clone()]);
    assert!(all(named("text"), &both).ends_with("2 contexts: 2 with warnings\n"));
    assert!(all(named("markdown"), &both).starts_with(title));
    // Differences are more than warnings.
    let mixed = several(vec![deprecated.clone(), warned(diff("plain"), &[], &["v1 Endpoints is deprecated"])]);
    assert!(!all(named("markdown"), &mixed).starts_with(title));
    let gate = FailOn { classes: vec![FailClass::UnmanagedObjects], ..FailOn::default() };
    let mut report = Report::compared(Command::Diff, quiet().objects, &gate);
    report = report.with_unmanaged(diff("plain").unmanaged.unwrap(), true);
    assert_eq!((report.exit_code, failures(&report)), (1, (2, 1, 0)));
    assert!(one(named("markdown"), &report).starts_with("### kubectl reconcile diff: unmanaged objects\n"));
}

/// A run that is in sync because of its rules, and of hooks that are left out.
fn ruled(command: Command) -> Report {
    let mut report = Report { command, ..quiet() };
    report.configuration = Some(ConfigurationInfo {
        file: Some("rules.yaml".to_owned()),
        rules: 2,
        readiness_rules: 3,
        annotated: 4,
        unmatched: None,
    });
    let ignored = |is_built_in: bool, fields: &[&str]| IgnoredFields {
        rule: "HorizontalPodAutoscaler shop/web".to_owned(),
        reason: None,
        is_built_in,
        paths: fields.iter().map(|field| FieldPath::of(&["spec", field])).collect(),
        managers: [("spec.b".to_owned(), vec!["operator".to_owned()])].into(),
    };
    report.summary.hooks = 1_000;
    report.objects[0].diff.ignored = vec![ignored(false, &["a", "b"]), ignored(true, &["c"])];
    report
}

/// A format with sentences says what a run leaves alone, and a format with data has its numbers.
#[test]
fn every_format_names_the_rules_in_force_and_counts_what_they_hide() {
    let words = "1,000 hooks left out: --hooks include; 2 differences ignored by rules; \
                 left alone: c of 1 ClusterRole (HorizontalPodAutoscaler); \
                 2 ignore rules and 3 readiness rules of rules.yaml in force, 4 manifests with an ignore annotation";
    let data = |report: &Value| {
        let configuration = json!({"file": "rules.yaml", "rules": 2, "readinessRules": 3, "annotated": 4});
        report["configuration"] == configuration && report["summary"]["hooks"] == 1_000
    };
    for command in [Command::Diff, Command::Apply, Command::Status] {
        let report = ruled(command);
        assert_eq!(left_alone(&report).as_deref(), Some(words));
        let contexts = ["eu", "us"].map(|context| ContextReport {
            context: Some(context.to_owned()),
            server: None,
            report: report.clone(),
        });
        let reports = Reports::of(command, contexts.to_vec(), Vec::new());
        for format in FORMATS {
            let single = one(format, &report);
            let both = all(format, &reports);
            let times = match format.name {
                "json" => usize::from(data(&serde_json::from_str(&single).unwrap())),
                "yaml" => usize::from(data(&parsers::yaml(&single))),
                "jsonl" => usize::from(data(&serde_json::from_str::<Value>(&single).unwrap()["report"])),
                "prometheus" => [
                    ("rules", "ignore\"} 2"),
                    ("rules", "readiness\"} 3"),
                    ("rules", "annotation\"} 4"),
                    ("hooks_left_out", "} 1000"),
                ]
                .iter()
                .filter(|(metric, end)| {
                    let start = format!("kubectl_reconcile_{metric}{{");
                    single.lines().any(|line| line.starts_with(&start) && line.ends_with(end))
                })
                .count(),
                // The summary has a line for what is left alone, with the flag that shows it.
                "text" | "html" | "markdown" if command != Command::Status => {
                    let (hooks, rest) = words.split_once("; ").unwrap();
                    let (ignored, rules) = rest.split_at(rest.find("; 2 ignore rules").unwrap());
                    assert_eq!(single.matches(hooks).count(), 1, "{}: {single}", format.name);
                    let ignored = ignored.replace("left alone: ", "");
                    let ignored = format!("left alone: {}; --explain-ignores)", ignored.trim_end_matches(')'));
                    assert_eq!(single.matches(ignored.as_str()).count(), 1, "{}: {single}", format.name);
                    single.replace('\\', "").matches(rules.trim_start_matches("; ")).count()
                }
                _ => single.matches(words).count(),
            };
            let expected = match format.name {
                "prometheus" => 4,
                // Names alone: `Output` says it on standard error.
                _ => usize::from(format.has_remarks),
            };
            assert_eq!(times, expected, "{} {command:?}: {single}", format.name);
            assert!(!format.has_remarks || both.matches("rules.yaml").count() >= 2, "{}: {both}", format.name);
            (parsers::of(format.name))(&single);
        }
    }
    assert_eq!(left_alone(&quiet()), None);
}

/// Nobody can open standard input: what Helm rendered is at its template. A file stays what it is.
#[test]
fn what_helm_rendered_to_standard_input_is_at_its_template() {
    let template = "pay/templates/web.yaml";
    let located = |file: &str| {
        let mut report = diff("plain");
        report.objects.retain(|object| object.key.name == "web" && object.key.gvk.kind == "Deployment");
        let source = report.objects[0].source.as_mut().unwrap();
        (source.file, source.line, source.template) = (file.into(), 10, Some(template.into()));
        report
    };
    let stream = located("stdin");
    let file = located("out.yaml");
    for format in FORMATS {
        let of_stream = one(format, &stream);
        let of_file = one(format, &file);
        let has = |text: &str| (of_stream.contains(text), of_file.contains(text));
        match format.name {
            "json" | "yaml" => assert_eq!((has(template), has("stdin")), ((true, true), (true, false))),
            "name" | "unified" | "prometheus" | "jsonl" => assert_eq!(has(template), (false, false), "{}", format.name),
            name => {
                assert_eq!(has(template), (true, false), "{name}: {of_stream}");
                assert_eq!(has("out.yaml"), (false, true), "{name}: {of_file}");
                assert!(!of_stream.contains("stdin"), "{name}: {of_stream}");
            }
        }
        (parsers::of(format.name))(&of_stream);
    }
    assert!(one(named("text"), &stream).lines().any(|line| line.ends_with(template)));
    assert!(one(named("github"), &stream).contains("file=pay/templates/web.yaml,title="));
    let sarif: Value = serde_json::from_str(&one(named("sarif"), &stream)).unwrap();
    let expected = json!({"artifactLocation": {"uri": template, "uriBaseId": "%SRCROOT%"}});
    assert_eq!(sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"], expected);
    let gitlab: Value = serde_json::from_str(&one(named("gitlab"), &stream)).unwrap();
    let at = gitlab.as_array().unwrap().iter().find(|issue| issue["location"]["path"] == template).unwrap();
    assert_eq!(at["location"]["lines"]["begin"], 1);
}

#[test]
fn only_the_chosen_differences_fail_a_test_case() {
    let mut report = diff("plain");
    report.fail_on = vec!["pruned"];
    let suite = parsers::junit(&one(named("junit"), &report));
    // `web` has a pruned field, and `old` is pruned; what could not be compared is always an error.
    assert_eq!((suite.failures, suite.errors), (2, 1));
}

/// A report with 25 objects that differ in several fields.
fn many_differ() -> Report {
    let mut report = diff("plain");
    let object = report.objects[1].clone();
    report.objects = (0..25)
        .map(|number| {
            let mut one = object.clone();
            one.key.name = format!("web-{number}");
            one
        })
        .collect();
    report
}

/// With a base, the changes of the manifests come before those that were in the cluster already.
#[test]
fn an_object_is_one_annotation_in_whichever_parts_its_differences_are() {
    let mut report = Report { base: Some(BaseInfo { from: "base.yaml".to_owned(), revision: None }), ..many_differ() };
    report.objects.iter_mut().for_each(|object| object.diff.base = Some(BaseState::Differs));
    let text = one(named("github"), &report);
    let warnings: Vec<&str> = text.lines().filter(|line| line.starts_with("::warning ")).collect();
    assert_eq!(warnings.len(), 10, "{text}");
    assert!(warnings[0].contains("image: ") && warnings[0].contains("already differs in the cluster: "), "{text}");
    assert!(warnings[9].contains("title=16 more"), "{}", warnings[9]);
    assert_eq!(text.matches("web-24%3A update").count() + text.matches("web-24: update").count(), 1, "{text}");
}

/// The objects that only the base has share one annotation, which counts all of them.
#[test]
fn objects_that_the_manifests_no_longer_have_are_one_annotation() {
    let object = |number| ObjectKey { name: format!("gone-{number}"), ..diff("plain").objects[0].key.clone() };
    let source = Source { file: "base.yaml".into(), line: 1, template: None, document: 1, items: Vec::new() };
    let dropped: Vec<DroppedObject> =
        (0..150).map(|number| DroppedObject::new(&object(number), source.clone())).collect();
    let report = quiet().with_rest_of_base(dropped, None);
    let text = one(named("github"), &report);
    let notices: Vec<&str> = text.lines().collect();
    assert_eq!(notices.len(), 2, "{text}");
    assert!(notices[0].contains("ConfigMap shop/gone-0: no longer in the manifests"), "{text}");
    assert!(notices[0].ends_with("%0A… 130 more"), "{text}");
    assert!(notices[1].ends_with("::150 objects are no longer in the manifests, and stay"), "{text}");
}

#[test]
fn the_tenth_annotation_names_what_github_would_not_show() {
    let report = many_differ();
    let text = one(named("github"), &report);
    let warnings: Vec<&str> = text.lines().filter(|line| line.starts_with("::warning ")).collect();
    assert_eq!(warnings.len(), 10);
    assert!(warnings[0].starts_with("::warning file=deploy/web.yaml,line=18,title=Deployment shop/web-0%3A update::"));
    assert!(warnings[9].contains("title=16 more") && warnings[9].contains("web-24"), "{}", warnings[9]);
}

#[test]
fn a_comment_is_never_too_long_and_says_what_is_left_out() {
    let mut report = diff("plain");
    let object = report.objects[1].clone();
    let numbered = |number: usize| {
        let mut object = object.clone();
        object.messages.warnings = vec![format!("it is number {number}")];
        object
    };
    report.objects = (0..2_000).map(numbered).collect();
    let comment = one(named("markdown"), &report);
    let length = comment.chars().count();
    assert!((60_000..=65_536).contains(&length), "{length}");
    let last = comment.lines().last().unwrap();
    assert!(last.contains("left out, as a comment has at most 65,536 characters: "), "{last}");
    assert!(last.contains("2000 objects with their differences") || last.contains("objects"), "{last}");
    parsers::markdown(&comment);
}

#[test]
fn the_same_finding_has_the_same_number_in_every_run() {
    let fingerprints = |report: &Report| -> Vec<String> {
        let issues: Value = serde_json::from_str(&one(named("gitlab"), report)).unwrap();
        let issues = issues.as_array().unwrap();
        issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap().to_owned()).collect()
    };
    let report = diff("plain");
    let mut later = report.clone();
    // The line and the live value of a field moved.
    later.objects[1].diff.changes[0].live = Some(json!(9).into());
    later.objects[1].details.lines.clear();
    later.objects[1].diff.ignored[0].paths.push(FieldPath::of(&["spec", "other"]));
    let first = fingerprints(&report);
    assert_eq!(first, fingerprints(&later));
    let unique: std::collections::BTreeSet<&String> = first.iter().collect();
    assert_eq!(unique.len(), first.len());
}

#[test]
fn the_facts_are_the_same_in_every_format() {
    let report = diff("plain");
    for format in FORMATS.iter().filter(|format| !["text", "jsonl", "name"].contains(&format.name)) {
        let shown = one(format, &report);
        for name in ["web", "scaled", "migrate", "odd", "old", "tls"] {
            assert!(shown.contains(name), "{}: {name}", format.name);
        }
    }
}

#[test]
fn every_format_shows_every_context() {
    let reports = several("plain");
    for format in FORMATS.iter().filter(|format| !["text", "name"].contains(&format.name)) {
        let shown = all(format, &reports);
        assert!(shown.contains("cannot connect") || format.name == "prometheus", "{}", format.name);
        let contexts = reports.contexts.iter().filter(|one| shown.contains(one.name())).count();
        // In sync, a context has nothing to show in a patch or in annotations.
        assert!(contexts == 3 || ["unified", "github", "gitlab"].contains(&format.name), "{}: {shown}", format.name);
        (parsers::of(format.name))(&shown);
    }
}
