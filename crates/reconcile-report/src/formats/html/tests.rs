use reconcile_core::compare::{Class, Conflict, Evidence, FieldChange, ObjectDiff};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::manifest::Source;
use reconcile_core::owners::{AuditAnswer, Owner, User};
use reconcile_core::plan::UnexplainedObject;
use serde_json::{Value, json};
use structured_merge::{Change, FieldPath, GroupVersionKind, ObjectKey, Op, Operation, PathElement};

use super::limits::Limits;
use super::{SCRIPT, STYLE, policy, render, render_within};
use crate::model::{ClusterInfo, Command, ContextReport, FailOn, ObjectReport, Report, Reports};
use crate::view::{Sort, View};

/// Text that would end a script, an attribute, a comment or a line, or deceive a reader.
const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`]]>-->|\u{202e}\u{1b}[2J\u{2028}\n&lt;";

fn object(name: &str, verdict: ObjectDiff) -> ObjectReport {
    let gvk = GroupVersionKind::new("v1", "ConfigMap");
    let key = ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() };
    let source = Some(Source { file: "web.yaml".into(), line: 3, template: None, document: 1, items: Vec::new() });
    let mut object = ObjectReport::unwanted(&key, verdict);
    object.source = source;
    object
}

fn change(field: &str, live: Value, desired: Value) -> FieldChange {
    let path = FieldPath::from(vec![PathElement::Field("data".to_owned()), PathElement::Field(field.to_owned())]);
    let owner = Owner {
        manager: "kubectl-edit".to_owned(),
        operation: Operation::Update,
        subresource: String::new(),
        time: Some("2026-11-21T18:15:08Z".to_owned()),
        manual: true,
        users: AuditAnswer::default(),
    };
    FieldChange::new(Change { path, op: Op::Change, from: Some(live), to: Some(desired) }, Class::ChangedByOther)
        .with_managers(vec![owner])
}

fn changed(name: &str, changes: Vec<FieldChange>) -> ObjectReport {
    object(name, ObjectDiff { changes, ..ObjectDiff::in_sync(Evidence::Server) }.by_drift())
}

fn in_sync(name: &str) -> ObjectReport {
    object(name, ObjectDiff::in_sync(Evidence::Proven))
}

fn page(objects: Vec<ObjectReport>) -> String {
    render(&Report::compared(Command::Diff, objects, &FailOn::default()).into(), &View::default())
}

/// A report with hostile text in every field of the model that holds text from outside.
fn hostile() -> Report {
    let mut object = changed(
        HOSTILE,
        vec![
            change(HOSTILE, json!(HOSTILE), json!("b")),
            change("long", json!(format!("a\n{HOSTILE}")), json!(format!("b\n{HOSTILE}"))),
            change("tree", json!({HOSTILE: [HOSTILE, HOSTILE, HOSTILE]}), json!({HOSTILE: HOSTILE})),
        ],
    );
    let owner = Owner {
        manager: HOSTILE.to_owned(),
        time: Some(HOSTILE.to_owned()),
        users: AuditAnswer::possible(vec![User {
            name: HOSTILE.to_owned(),
            time: HOSTILE.to_owned(),
            ..User::default()
        }]),
        ..object.diff.changes[0].managers[0].clone()
    };
    object.diff.changes[0].managers = vec![owner.clone()];
    object.diff.conflicts = vec![Conflict { path: object.diff.changes[0].path.clone(), owner }];
    let gvk = GroupVersionKind::new(HOSTILE, HOSTILE);
    object.key = ObjectKey { gvk, namespace: Some(HOSTILE.to_owned()), name: HOSTILE.to_owned() };
    object.source = Some(Source { file: HOSTILE.into(), line: 1, template: None, document: 1, items: Vec::new() });
    (object.messages.reason, object.messages.hint) = (Some(HOSTILE.to_owned()), Some(HOSTILE.to_owned()));
    object.messages.warnings = vec![HOSTILE.to_owned()];
    object.diff.added_items = vec![object.diff.changes[0].path.clone()];
    let diagnostic = || Diagnostic::new(Code::Forbidden, HOSTILE).with_hint(HOSTILE);
    let unknown = super::tests::object("unknown", ObjectDiff::unknown(diagnostic()));
    let mut report = Report::compared(Command::Diff, vec![object, unknown], &FailOn::default())
        .with_unmanaged(
            vec![
                (&UnexplainedObject {
                    key: ObjectKey { name: HOSTILE.to_owned(), ..in_sync("x").key.clone() },
                    claim: None,
                })
                    .into(),
            ],
            false,
        )
        .with_errors(vec![diagnostic()]);
    report.warnings = vec![HOSTILE.to_owned()];
    let text = || HOSTILE.to_owned();
    report.cluster = Some(ClusterInfo { context: Some(text()), server: text(), version: Some(text()), uid: None });
    report
}

#[track_caller]
fn is_harmless(page: &str) {
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (1, 1));
    assert_eq!(page.matches("<style").count(), 1);
    assert_eq!(page.matches("<img").count(), 0);
    let hidden = page.chars().find(|c| *c != '\n' && reconcile_core::text::is_hidden(*c));
    assert_eq!(hidden, None);
    // Every tag has only names and quoted values of the program.
    for tag in page.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag) {
        assert!(!tag.contains("onerror") && tag.matches('"').count().is_multiple_of(2), "<{tag}>");
    }
}

#[test]
fn text_of_others_stays_text() {
    let report = hostile();
    is_harmless(&render(&report.clone().into(), &View::default()));
    let in_context = |name: &str| ContextReport {
        context: Some(name.to_owned()),
        server: Some(HOSTILE.to_owned()),
        report: report.clone(),
    };
    let reports = Reports::of(Command::Diff, vec![in_context(HOSTILE), in_context("b")], vec![HOSTILE.to_owned()]);
    is_harmless(&render(&reports, &View::default()));
}

#[test]
fn the_page_loads_nothing_and_runs_only_its_own_script() {
    let page = page(vec![changed("web", vec![change("a", json!(1), json!(2))]), in_sync("db")]);
    let style = page.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).unwrap().0;
    let script = page.split_once("<script>").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    assert_eq!((style, script), (STYLE, SCRIPT), "they are what the policy has the hashes of");
    let policy = policy(style, script).replace('\'', "&#39;");
    assert!(page.contains(&format!("http-equiv=\"Content-Security-Policy\" content=\"{policy}\"")));
    assert!(policy.starts_with("default-src &#39;none&#39;;") && !policy.contains("unsafe"));
    for load in ["src=", "url(", "@import", "http:", "https:", "//cdn", "fetch(", "style=\"", "innerHTML", "eval("] {
        assert!(!page.contains(load), "{load}");
    }
    for handler in ["onclick", "onload", "onerror", "javascript:"] {
        assert!(!page.contains(handler), "{handler}");
    }
}

#[test]
fn an_object_says_what_the_text_says() {
    let page = page(vec![changed("web", vec![change("level", json!("debug one"), json!("debug two"))]), in_sync("db")]);
    let expected = [
        "<h1>Drift</h1><p>1 to update: changed in the cluster; 1 in sync</p>",
        "aria-hidden=\"true\">~</span>",
        "<span class=\"ns\">shop/</span>web</span>",
        "<span class=\"src\">web.yaml:3</span>",
        "<code class=\"p\"><span>data</span>.level</code>",
        "<del>debug <b>one</b></del><i>→</i><ins>debug <b>two</b></ins>",
        "changed by kubectl-edit <time>2026-11-21T18:15:08Z</time>",
        "<span class=\"quiet-count\">1</span> in sync",
    ];
    for text in expected {
        assert!(page.contains(text), "{text} is not in {page}");
    }
}

#[test]
fn lines_are_compared_and_secrets_stay_numbers() {
    let secret = |number: &str| json!({"redacted": number});
    let page = page(vec![
        changed(
            "web",
            vec![change("run.sh", json!("a\nb\n"), json!("a\nc\n")), change("password", secret("#1"), secret("#2"))],
        ),
        object("new", ObjectDiff::create(json!({"data": {"key": secret("#3")}}), Evidence::Server)),
    ]);
    assert!(page.contains("<span>a</span></div><div aria-hidden=\"true\"><span>a</span></div></div>"), "{page}");
    assert!(page.contains("<div class=\"r\"><div><del>b</del></div><div><ins>c</ins></div></div>"), "{page}");
    assert!(page.contains("<del>(secret #<b>1</b>)</del>"), "{page}");
    assert!(page.contains("(secret #3)"), "{page}");
}

#[test]
fn sizes_are_bounded() {
    let lines = |word: &str| (0..20_000).map(|at| format!("{word} {at}\n")).collect::<Vec<_>>().concat();
    let long = changed("long", vec![change("text", json!(lines("a")), json!(lines("b")))]);
    let many = changed("many", (0..500).map(|at| change(&at.to_string(), json!(at), json!(at + 1))).collect());
    let one = page(vec![long, many]);
    assert!(one.len() < 200_000, "{}", one.len());
    for text in ["… 39,800 more lines: --full", "… 300 more changes: --full"] {
        assert!(one.contains(text), "{text}");
    }
    let wide = vec![change("text", json!("x".repeat(300_000)), json!("y".repeat(300_000)))];
    assert!(page(vec![changed("wide", wide)]).len() < 50_000);
}

/// The changes that several objects have in common are written once; each of them keeps a line that links and filters find.
#[test]
fn equal_changes_conflicts_and_diagnostics_are_written_once() {
    let bump = || change("version", json!("2.4.0"), json!("2.4.1"));
    let mut objects: Vec<ObjectReport> = (0..12).map(|at| changed(&format!("web-{at}"), vec![bump()])).collect();
    objects[3].diff.changes.push(change("own", json!(1), json!(2)));
    let conflict = |at: usize| {
        let contested = FieldChange { class: Class::Conflict, ..change("size", json!(1), json!(2)) };
        let mut object = changed(&format!("contested-{at}"), vec![contested]);
        let FieldChange { path, managers, .. } = object.diff.changes[0].clone();
        object.diff.conflicts = vec![Conflict { path, owner: managers[0].clone() }];
        object
    };
    objects.extend((0..3).map(conflict));
    let refused = |at: usize| {
        let message = format!("configmaps \"no-{at}\" is forbidden");
        let hint = "the user needs `get` on `configmaps` in the namespace `shop`: `kubectl reconcile access` shows all that is needed";
        let error = Diagnostic::new(Code::Forbidden, message).with_hint(hint);
        object(&format!("no-{at}"), ObjectDiff::unknown(error))
    };
    objects.extend((0..4).map(refused));
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    let report = report.into();
    let page = |view: &View| render(&report, view);
    let grouped = page(&View::default());
    assert_eq!((grouped.matches("class=\"o group\"").count(), grouped.matches("<li class=\"f\">").count()), (3, 3));
    for text in [
        "<span class=\"name\">12 ConfigMaps</span>",
        "<a href=\"#o0-4\">ConfigMap shop/web-4</a></li></ul><details class=\"others\"><summary>7 more objects</summary>\
         <ul class=\"names\"><li><a href=\"#o0-5\">",
        "<p class=\"diagnostic\">the user needs more permissions (Forbidden)</p>",
        "owned by kubectl-edit",
        "<span class=\"quiet-count\">18</span> shown above, together with others",
    ] {
        assert_eq!(grouped.matches(text).count(), 1, "{text} is not in {grouped}");
    }
    assert_eq!(grouped.matches(" data-groups=\"0\"").count(), 12);
    for at in 0..19 {
        assert_eq!(grouped.matches(&format!(" id=\"o0-{at}\"")).count(), 1, "{at}");
    }
    let full = page(&View { full: true, ..View::default() });
    assert!(full.contains("<a href=\"#o0-11\">") && !full.contains("more objects"), "{full}");
    let each = page(&View { sort: Sort::Object, ..View::default() });
    assert_eq!((each.matches("class=\"o group\"").count(), each.matches("<li class=\"f\">").count()), (0, 16));
    is_harmless(&grouped);
}

/// A screen reader says these names, which are words of people and not of the program.
#[test]
fn controls_have_names_in_plain_words() {
    let page =
        render(&Report::compared(Command::Diff, vec![in_sync("a")], &FailOn::default()).into(), &View::default());
    let names = page.split("aria-label=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let names: Vec<&str> = names.collect();
    assert!(names.contains(&"State") && names.contains(&"Search"), "{names:?}");
    let is_type = |name: &&&str| name.chars().skip(1).any(char::is_uppercase);
    assert_eq!(names.iter().find(is_type), None);
}

#[test]
fn a_page_that_would_be_too_big_keeps_a_line_for_each_object() {
    let objects = (0..100).map(|at| changed(&format!("web-{at}"), vec![change("a", json!(at), json!(-1))])).collect();
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    let view = View::default();
    let limits = Limits { page_bytes: 20_000, ..Limits::of(&view) };
    let bounded = render_within(&report.into(), &view, limits);
    assert_eq!(bounded.matches("its details are left out").count(), 100 - bounded.matches("<del>").count());
    assert!(bounded.contains("web-99</span>") && bounded.contains("its details are left out"), "{bounded}");
}

#[test]
fn contexts_have_sections_and_a_matrix_that_leads_to_their_objects() {
    let in_context = |name: &str, objects| {
        let report = Report::compared(Command::Diff, objects, &FailOn::default());
        ContextReport { context: Some(name.to_owned()), server: None, report }
    };
    let unknown = || object("web", ObjectDiff::unknown(Diagnostic::new(Code::Forbidden, "no")));
    let contexts =
        vec![in_context("eu", vec![in_sync("db"), in_sync("web")]), in_context("us", vec![in_sync("db"), unknown()])];
    let page = render(&Reports::of(Command::Diff, contexts, Vec::new()), &View::default());
    let row = "<tr><th scope=\"row\">ConfigMap shop/web</th><td><a class=\"note\" href=\"#o0-1\">in sync</a></td>\
               <td><a class=\"diagnostic\" href=\"#o1-1\">not compared</a></td></tr>";
    assert!(page.contains(row), "{page}");
    for text in [
        "<h2 id=\"c1\">us</h2>",
        "id=\"o0-1\"",
        "id=\"o1-1\"",
        "1 more object needs no change in any of these contexts",
    ] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    assert!(!page.contains("ConfigMap shop/db"), "what needs nothing anywhere is not in the matrix");
}

/// The hash of a script is an example of the specification, CSP Level 3, 6.7.3.3.
#[test]
fn hashes_are_those_of_the_specification() {
    let policy = policy("", "alert('Hello, world.');");
    assert!(policy.contains("script-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"), "{policy}");
    assert!(policy.contains("style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"), "{policy}");
}
