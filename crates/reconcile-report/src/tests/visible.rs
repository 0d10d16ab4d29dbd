//! The differences inside of values, in every format for people.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use reconcile_core::compare::{Action, Class, Evidence, FieldChange, ObjectDiff};
use reconcile_core::manifest::Packed;
use reconcile_core::manifest::Source;
use reconcile_core::object::certificates;
use serde_json::{Value, json};
use structured_merge::{Change, FieldPath, GroupVersionKind, ObjectKey, Op};

use super::formats::one_in;
use crate::formats::FORMATS;
use crate::model::{Command, FailOn, ObjectReport, Report};
use crate::view::View;

/// The formats for people, which show values as they are read.
const READ: [&str; 7] = ["text", "markdown", "html", "github", "gitlab", "junit", "sarif"];

fn report(kind: (&str, &str), changes: &[(&[&str], Value, Value)]) -> Report {
    let changes = changes.iter().map(|(path, live, desired)| {
        FieldChange::new(
            Change { path: FieldPath::of(path), op: Op::Change, from: Some(live.clone()), to: Some(desired.clone()) },
            Class::Pending,
        )
    });
    let diff = ObjectDiff { changes: changes.collect(), ..ObjectDiff::in_sync(Evidence::Server) };
    let key = ObjectKey {
        gvk: GroupVersionKind::new(kind.0, kind.1),
        namespace: Some("shop".to_owned()),
        name: "it".to_owned(),
    };
    let source = Some(Source { file: "it.yaml".into(), line: 1, document: 1, template: None, items: Vec::new() });
    let mut object = ObjectReport::unwanted(&key, diff.by_drift());
    object.source = source;
    Report::compared(Command::Diff, vec![object], &FailOn::default())
}

fn data(live: &str, desired: &str) -> Report {
    report(("v1", "ConfigMap"), &[(&["data", "a"], json!(live), json!(desired))])
}

/// The output of each of these formats, without markup.
fn shown<'f>(report: &'f Report, names: &'f [&str]) -> impl Iterator<Item = (&'static str, String)> + 'f {
    shown_in(report, names, View::default())
}

/// The output of each of these formats in a view, without markup.
fn shown_in<'f>(
    report: &'f Report,
    names: &'f [&str],
    view: View,
) -> impl Iterator<Item = (&'static str, String)> + 'f {
    let formats = FORMATS.iter().filter(|format| names.contains(&format.name));
    formats.map(move |format| {
        let text = one_in(format, report, &view);
        let text = match format.name {
            "html" => text.replace("<b>", "").replace("</b>", "").replace("&quot;", "\""),
            "junit" => text.replace("&quot;", "\""),
            "sarif" | "gitlab" => text.replace("\\\"", "\""),
            _ => text,
        };
        (format.name, text)
    })
}

#[test]
fn structured_text_is_shown_by_its_paths() {
    let live = json!({"rate": {"burst": 500, "per": "x".repeat(200)}, "list": [{"name": "a", "v": 1}]}).to_string();
    let desired =
        format!("{:#}\n", json!({"rate": {"burst": 200, "per": "x".repeat(200)}, "list": [{"name": "a", "v": 2}]}));
    let report = report(("v1", "ConfigMap"), &[(&["data", "app.json"], json!(live), json!(desired))]);
    for (name, text) in shown(&report, &READ) {
        let reported = "data[\"app.json\"] list[name=a].v: 1 → 2; rate.burst: 500 → 200";
        match name {
            "markdown" => assert!(
                text.contains("# JSON\n-list[name=a].v: 1\n+list[name=a].v: 2\n-rate.burst: 500\n+rate.burst: 200\n"),
                "{text}"
            ),
            "html" => assert!(
                text.contains("<del>rate.burst: 500</del>") && text.contains("<ins>rate.burst: 200</ins>"),
                "{text}"
            ),
            "text" => assert!(
                text.contains("data[\"app.json\"] (JSON)\n") && text.contains("rate.burst: 500 → 200\n"),
                "{text}"
            ),
            _ => assert!(text.contains(reported), "{name}: {text}"),
        }
        let cell = "| update | `data[\"app.json\"] list[name=a].v: 1 → 2; and 1 more` |";
        assert!(name != "markdown" || text.contains(cell), "{text}");
        assert!(!text.contains("xxxx"), "{name}: what is equal is not shown: {text}");
    }
}

#[test]
fn text_of_several_lines_is_shown_by_the_first_that_differs() {
    let line = |timeout: &str| format!("    proxy_set_header X-{} on; timeout {timeout};\n", "y".repeat(150));
    let file = |timeout: &str, end: &str| {
        format!(
            "worker_processes auto;\nevents {{\n  worker_connections 1024;\n}}\nhttp {{\n  server {{\n{}  }}\n}}\n{end}",
            line(timeout)
        )
    };
    let report = data(&file("90s", "# a\nb\n"), &file("30s", "# c\nd\n"));
    for (name, text) in shown(&report, &["github", "gitlab", "junit", "sarif"]) {
        assert!(text.contains("data.a line 7: …"), "{name}: {text}");
        assert!(text.contains("timeout 90s; → …") && text.contains("timeout 30s;; 3 lines differ"), "{name}: {text}");
    }
    let inserted = data("a\nb\n", "a\nnew line\nb\n");
    let removed = data("a\nold line\nb\n", "a\nb\n");
    let indented = data("a\n  b\n", "a\n    b\n");
    for (report, line) in [
        (inserted, "data.a line 2: + new line"),
        (removed, "data.a line 2: - old line"),
        (indented, "data.a line 2: another indentation"),
    ] {
        let (_, text) = shown(&report, &["github"]).next().unwrap();
        assert!(text.contains(&format!("{line}\n")), "{text}");
    }
}

#[test]
fn nothing_is_shown_of_text_of_which_only_the_layout_differs() {
    for (live, desired, what) in [
        (
            json!({"key": "value", "list": [1]}).to_string(),
            format!("{:#}", json!({"list": [1], "key": "value"})),
            "JSON",
        ),
        ("key: value\nlist: [1]\n".to_owned(), "# a comment\nlist:\n- 1\nkey: \"value\"\n".to_owned(), "YAML"),
        ("key = \"value\"\n".to_owned(), "# a comment\nkey=\"value\"\n".to_owned(), "TOML"),
    ] {
        let report = data(&live, &desired);
        for (name, text) in shown(&report, &READ) {
            assert!(text.contains(&format!("only the layout of the {what} differs")), "{name}: {text}");
            assert!(!text.contains("value\"") && !text.contains("a comment"), "{name}: {text}");
        }
        for (name, text) in shown(&report, &["json", "yaml"]) {
            assert!(text.contains("value") && !text.contains("only the layout"), "{name}: {text}");
        }
    }
}

/// A certificate as redaction leaves it.
fn certificate(number: &str, until: &str, names: &[&str]) -> Value {
    json!({"redacted": number, "certificates": [{
        "subject": "CN=shop", "issuer": "CN=ca", "notBefore": "2026-01-01T00:00:00Z", "notAfter": until, "names": names,
        "serial": "01", "sha256": number,
    }]})
}

#[test]
fn certificates_of_secrets_are_shown_by_their_names_and_dates() {
    let old = certificate("#1", "2026-12-01T00:00:00Z", &["shop.example.com"]);
    let new = certificate("#2", "2027-12-01T00:00:00Z", &["shop.example.com", "www.shop.example.com"]);
    let key = json!({"redacted": "#3"});
    let other = json!({"redacted": "#4"});
    let report = report(("v1", "Secret"), &[(&["data", "tls.crt"], old, new), (&["data", "tls.key"], key, other)]);
    for (name, text) in shown(&report, &READ) {
        for part in ["2026-12-01T00:00:00Z", "2027-12-01T00:00:00Z", "expires", "www.shop.example.com", "(secret #3)"] {
            assert!(text.contains(part), "{name}: {part} in {text}");
        }
        assert!(!text.contains("(secret #1)"), "{name}: {text}");
    }
}

/// A certificate in PEM.
fn pem() -> String {
    let mut params = rcgen::CertificateParams::new(["shop.example.com".to_owned()]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::CommonName, "shop");
    params.not_after = rcgen::date_time_ymd(2027, 12, 1);
    params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().pem()
}

#[test]
fn certificates_of_new_objects_are_summarised() {
    let pem = pem();
    let bundle = STANDARD.encode(&pem);
    let sentence = "certificate CN=shop by CN=shop, until 2027-12-01T00:00:00Z, for shop.example.com";
    let secret = json!({"redacted": "#1", "certificates": certificates(&pem)});
    let key = json!({"redacted": "#2"});
    for (kind, object) in [
        (("v1", "Secret"), json!({"data": {"tls.crt": secret, "tls.key": key}})),
        (("v1", "ConfigMap"), json!({"data": {"ca.crt": pem}})),
        (("example.com/v1", "Webhook"), json!({"spec": {"clientConfig": {"caBundle": bundle, "url": "https://it"}}})),
    ] {
        let mut report = report(kind, &[]);
        report.objects[0].diff.action = Action::Create;
        report.objects[0].diff.changes = vec![FieldChange::missing(object.clone())];
        let full = View { full: true, ..View::default() };
        for (name, text) in shown_in(&report, &["text", "markdown", "html"], full.clone()) {
            assert!(text.contains(sentence), "{name}: {text}");
            assert!(!text.contains("BEGIN") && !text.contains("LS0tLS"), "{name}: {text}");
        }
        // A part of an object that is added or kept.
        let part = object.as_object().unwrap().values().next().unwrap().clone();
        for class in [Class::Pending, Class::Unmanaged] {
            let change = &mut report.objects[0].diff.changes[0];
            (change.path, change.op, change.class) = (FieldPath::of(&["it"]), Op::Add, class);
            (change.live, change.desired) = match class {
                Class::Pending => (None, Some(part.clone().into())),
                _ => (Some(part.clone().into()), None),
            };
            report.objects[0].diff.action = Action::Update;
            for (name, text) in shown_in(&report, &["text", "markdown", "html"], full.clone()) {
                assert!(text.contains(sentence) && !text.contains("LS0tLS"), "{name}: {class:?} {text}");
            }
            for (name, text) in shown(&report, &["github", "gitlab", "junit", "sarif"]) {
                assert!(text.contains("certificate CN=shop by") && !text.contains("LS0tLS"), "{name}: {text}");
            }
        }
        if kind.1 != "Secret" {
            let exact = shown(&report, &["json"]).next().unwrap().1;
            assert!(exact.contains("BEGIN") || exact.contains("LS0tLS"), "{exact}");
        }
    }
}

#[test]
fn lists_in_a_value_have_no_quotes_that_the_other_side_has_not() {
    let old = certificate("#1", "2026-12-01T00:00:00Z", &["shop.example.com"]);
    let new = certificate("#2", "2026-12-01T00:00:00Z", &["shop.example.com", "www.shop.example.com"]);
    let report = report(("v1", "Secret"), &[(&["data", "tls.crt"], old, new)]);
    let (_, text) = shown(&report, &["text"]).next().unwrap();
    assert!(text.contains("      names: shop.example.com → shop.example.com, www.shop.example.com\n"), "{text}");
}

/// Somebody gives an object the form of a redacted certificate, to hide a difference.
#[test]
fn what_only_looks_like_a_redacted_certificate_is_shown() {
    let forged = |port: u16| {
        let mut value = certificate("#1", "2026-12-01T00:00:00Z", &[]);
        value["port"] = port.into();
        value
    };
    let report = report(("example.com/v1", "It"), &[(&["spec", "a"], forged(80), forged(443))]);
    for (name, text) in shown(&report, &READ) {
        assert!(text.contains("80") && text.contains("443") && !text.contains("only the layout"), "{name}: {text}");
    }
}

#[test]
fn rules_are_shown_by_what_they_grant() {
    let rule = |resources: &[&str], verbs: &[&str]| json!({"apiGroups": [""], "resources": resources, "verbs": verbs});
    let live = json!([rule(&["pods", "services"], &["get", "list"]), rule(&["persistentvolumeclaims"], &["delete"])]);
    let desired = json!([rule(&["services", "secrets"], &["list", "get"]), rule(&["pods"], &["get", "list"])]);
    let kind = ("rbac.authorization.k8s.io/v1", "Role");
    let changed = report(kind, &[(&["rules"], live.clone(), desired)]);
    for (name, text) in shown(&changed, &READ) {
        let added = "secrets: get, list (core) ⚠ secrets";
        let removed = "persistentvolumeclaims: delete (core)";
        match name {
            "text" => {
                assert!(text.contains(&format!("    rules (grants)\n      + {added}\n      - {removed}\n")), "{text}");
            }
            "markdown" => assert!(text.contains(&format!("# grants\n+{added}\n-{removed}\n")), "{text}"),
            "html" => assert!(text.contains(&format!("<ins>{added}</ins>")) && text.contains(removed), "{text}"),
            _ => assert!(text.contains(&format!("rules: + {added}; - {removed}")), "{name}: {text}"),
        }
        assert!(!text.contains("services"), "{name}: {text}");
    }
    let split = json!([
        rule(&["persistentvolumeclaims"], &["delete"]),
        rule(&["services"], &["get", "list"]),
        rule(&["pods"], &["list", "get"])
    ]);
    let rewritten = report(kind, &[(&["rules"], live, split)]);
    for (name, text) in shown(&rewritten, &READ) {
        assert!(text.contains("the same grants, written otherwise") && !text.contains("services"), "{name}: {text}");
    }
    assert_eq!(rewritten.summary.update, Some(1), "it is drift nevertheless");
    for format in FORMATS.iter().filter(|format| ["text", "markdown", "html"].contains(&format.name)) {
        let text = one_in(format, &rewritten, &View { full: true, ..View::default() });
        assert!(text.contains("services"), "{}: {text}", format.name);
    }
}

/// The removed and the added lines that a format shows, without markup.
fn signed_lines<'t>(format: &str, text: &'t str) -> [Vec<&'t str>; 2] {
    let marked = |sign: char, open: &str, close: &str| -> Vec<&'t str> {
        if format == "html" {
            text.split(open).skip(1).filter_map(|rest| rest.split(close).next()).collect()
        } else {
            text.lines().filter_map(|line| line.trim_start().strip_prefix(sign)).filter(|line| *line != "++").collect()
        }
    };
    [marked('-', "<del>", "</del>"), marked('+', "<ins>", "</ins>")]
}

#[track_caller]
fn no_removed_line_reads_as_an_added_one(live: &[String], desired: &[String]) {
    let text = |lines: &[String]| format!("first: a\nit {}\nlast: z\n", lines.join("\nit "));
    let report = data(&text(live), &text(desired));
    for (name, text) in shown(&report, &["text", "markdown", "html"]) {
        let [removed, added] = signed_lines(name, &text);
        assert!(removed.len() >= live.len() && added.len() >= desired.len(), "{name}: {text}");
        for line in &removed {
            assert!(!added.contains(line), "{name}: {line:?} is on both sides: {text}");
        }
    }
}

#[test]
fn long_lines_next_to_each_other_are_cut_around_their_differences() {
    let line = |middle: &str, tail: &str| {
        let same = "add_header X-Frame-Options DENY; ".repeat(5);
        format!("{same}{middle}{same}{tail}")
    };
    let old = [line("timeout 90s;", ""), line("limit 5;", "")];
    no_removed_line_reads_as_an_added_one(&old, &[line("timeout 30s;", ""), line("limit 9;", "")]);
    // One of the lines is gone, and the others changed in their middle.
    no_removed_line_reads_as_an_added_one(&old, &[line("limit 9;", "")]);
    no_removed_line_reads_as_an_added_one(&[line("limit 5;", "")], &[line("limit 7;", ""), line("limit 9;", "")]);
    let three = [line("a", "1"), line("a", "2"), line("a", "3")];
    no_removed_line_reads_as_an_added_one(&three, &[line("b", "3"), line("b", "1")]);
    let long = |middle: &str| format!("{}{middle}{}", "x".repeat(3_000), "y".repeat(3_000));
    no_removed_line_reads_as_an_added_one(&[long("1"), long("2")], &[long("3")]);
}

#[test]
fn rules_that_are_added_or_gone_are_shown_by_what_they_grant() {
    let rules = || json!([{"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get"]}]);
    let grants = "pods, services: get (core)";
    let kind = ("rbac.authorization.k8s.io/v1", "Role");
    for (op, live, desired, sign) in [
        (Op::Add, None, Some(rules()), '+'),
        (Op::Change, Some(Value::Null), Some(rules()), '+'),
        (Op::Remove, Some(rules()), None, '-'),
    ] {
        let mut report = report(kind, &[(&["rules"], Value::Null, Value::Null)]);
        let change = &mut report.objects[0].diff.changes[0];
        (change.op, change.live, change.desired) = (op, live.map(Packed::tree), desired.map(Packed::tree));
        for (name, text) in shown(&report, &READ) {
            match name {
                "text" => assert!(text.contains(&format!("    rules (grants)\n      {sign} {grants}\n")), "{text}"),
                "markdown" => assert!(text.contains(&format!("# grants\n{sign}{grants}\n")), "{text}"),
                "html" => assert!(text.contains(&format!(">{grants}</")), "{text}"),
                _ => assert!(text.contains(&format!("rules: {sign} {grants}")), "{name}: {text}"),
            }
            assert!(!text.contains("apiGroups"), "{name}: {text}");
        }
    }
    // The rules of other kinds, and no rules at all, are shown as they are.
    for desired in [json!([{"host": "shop.example.com"}]), json!([])] {
        let mut report = report(("networking.k8s.io/v1", "Ingress"), &[(&["spec", "rules"], Value::Null, desired)]);
        let change = &mut report.objects[0].diff.changes[0];
        (change.op, change.live) = (Op::Add, None);
        assert!(shown(&report, &READ).all(|(_, text)| !text.contains("grants")));
    }
}

/// A text that is neither JSON, YAML nor TOML, so that its values are shown.
fn any_text() -> impl Strategy<Value = String> {
    let words = "(a|b| |\"|'|, |;|\u{301}|\u{e9}|e|\u{a0}|\u{200b}|…|日本|👍🏽|\n|\t|#){0,80}";
    prop_oneof![words, "\\PC{0,40}", any::<String>(), "a{0,400}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    /// If both sides read the same in a format, it shows the same for the opposite change.
    #[test]
    fn no_format_shows_the_same_for_both_sides(start in any_text(), a in any_text(), b in any_text(), end in any_text()) {
        let live = format!("it {start}{a}{end}");
        let desired = format!("it {start}{b}{end}");
        prop_assume!(live != desired);
        let report = data(&live, &desired);
        let opposite = data(&desired, &live);
        for ((name, one), (_, other)) in shown(&report, &READ).zip(shown(&opposite, &READ)) {
            prop_assert!(one != other, "{}: {:?} {:?}: {}", name, live, desired, one);
        }
    }

    /// Lines that are alike at both ends, in which words differ, and of which some are only on one side.
    #[test]
    fn no_format_shows_the_same_line_on_both_sides(
        ends in proptest::collection::vec(("[ab ]{50,200}", "[ab ]{50,200}"), 1..3),
        live in proptest::collection::vec((0..3_usize, 0..9_u8), 2..6),
        desired in proptest::collection::vec((0..3_usize, 10..19_u8), 1..6),
    ) {
        let line = |(at, number): &(usize, u8)| {
            let (start, end) = &ends[at % ends.len()];
            format!("{start}<{number}>{end}.")
        };
        let lines = |all: &[(usize, u8)]| all.iter().map(line).collect::<Vec<_>>();
        no_removed_line_reads_as_an_added_one(&lines(&live), &lines(&desired));
    }
}
