//! One rich scenario at several widths, with and without colours: the snapshots in `testdata/text` are read by people.

mod definitions;
mod samples;

use std::path::Path;

use reconcile_core::compare::{Action, Conflict, Effect, EffectKind, Evidence, FieldChange, ObjectDiff, Replacement};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::owners::{AuditAnswer, User};
use reconcile_core::pass::{Outcome, TurnResult};
use reconcile_core::text::width;
use serde_json::json;

use super::*;
use crate::model::{Command, FailOn, ObjectReport, Report};
use crate::theme::{THEMES, paint, plain};
use crate::view::{Sort, View};
use samples::*;

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/text"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn drift_reads_well_at_every_width() {
    for columns in [60, 100, 200] {
        let text = plain(&whole(&report(), &view(columns)));
        snapshot(&format!("drift-{columns}"), &text);
        let coloured = paint(&whole(&report(), &view(columns)), Some(&THEMES[0]));
        snapshot(&format!("drift-{columns}-coloured"), &coloured.replace('\u{1b}', "␛"));
    }
}

#[test]
fn lines_fit_and_nothing_touches() {
    for columns in [60, 80, 100, 200] {
        let text = plain(&whole(&report(), &view(columns)));
        let (lines, summary) = text.split_at(text.find("\n1 to create").unwrap());
        for line in lines.lines().filter(|line| !line.contains("hint: ") && !line.starts_with("~ CustomResource")) {
            assert!(width(line) <= columns, "{columns}: {line}");
            assert_eq!(line.trim_end(), line);
        }
        assert!(summary.contains("35 not compared") && summary.contains("3 in sync"), "{summary}");
    }
}

#[test]
fn what_the_server_warned_of_is_shown_of_objects_that_it_refused() {
    let refused = |name: &str, notes: &[&str]| {
        let mut object = object((APPS, "Deployment"), name, ("web.yaml", 1), fields(Vec::new()));
        let diagnostic = Diagnostic::new(Code::Failed, "it is denied");
        let notes = notes.iter().map(|note| (*note).to_owned()).collect();
        object.settle(&TurnResult { notes, ..TurnResult::failed(diagnostic) });
        object
    };
    let report = |objects| Report::compared(Command::Apply, objects, &FailOn::default());
    let lines = |objects| {
        let text = plain(&outcomes::left(&report(objects), &view(100)));
        text.lines().filter(|line| *line == "    warning: this is watched").count()
    };
    assert_eq!(lines(vec![refused("a", &["this is watched"])]), 1);
    assert_eq!(lines(vec![refused("a", &["this is watched"]), refused("b", &["this is watched"])]), 1, "once for both");
    assert_eq!(lines(vec![refused("a", &["this is watched"]), refused("b", &[])]), 1);
}

/// The owner of a change begins in the line of its value or below it, near to it, and is never cut on its left.
#[test]
fn owners_are_near_their_values_at_every_width() {
    let user = |name: &str| User { name: format!("{name}@example.com"), ..User::default() };
    let mut edited = by("kubectl-edit", change(&["spec", "replicas"], json!(5), json!(2)));
    edited.managers[0].users =
        AuditAnswer::possible(vec![user("anna.lindberg"), user("ben.okafor"), user("carla.moreno")]);
    let long = by(&"operator".repeat(16), change(&["spec", "paused"], json!(true), json!(false)));
    let args = json!(["run", "--a", "--b", "--c"]);
    let command = by("kubectl-edit", change(&["spec", "command"], args, json!(["run", "--a", "--b"])));
    let image =
        by("helm", change(&["spec", "image"], json!("registry.example.com/team/shop/web:1.2"), json!("web:1.3")));
    let changes = vec![edited, long, command, image];
    let web = object((APPS, "Deployment"), "web", ("web.yaml", 1), fields(changes).by_drift());
    for columns in [60, 80, 100, 200] {
        let text = plain(&object_text(&web, &view(columns)));
        let mut owners = 0;
        for line in text.lines() {
            assert!(width(line) <= columns, "{columns}: {text}");
            let Some((value, owner)) = line.split_once("by ") else { continue };
            owners += 1;
            let gap = value.len() - value.trim_end().len();
            assert!(value.trim().is_empty() || (2..=20).contains(&gap), "{columns}: {text}");
            assert!(
                ["kubectl-edit", "operator", "helm"].iter().any(|name| owner.starts_with(name)),
                "{columns}: {text}"
            );
        }
        assert_eq!(owners, 4, "{columns}: {text}");
        for name in ["anna.lindberg@example.com", "carla.moreno@example.com", "2026-11-21T18:15:08Z"] {
            assert!(text.contains(name), "{columns}: {text}");
        }
        for list in [r#"[run, "--a", "--b", "--c"]"#, r#"[run, "--a", "--b"]"#] {
            assert!(text.contains(list), "{columns}: {text}");
        }
    }
}

#[test]
fn the_sentence_about_readiness_is_broken_at_blanks() {
    let message = "1 of 2 replicas are updated: Pod web-7d9c: no node is suitable: 0/3 nodes are available: 3 node(s) did not match";
    let mut web = object(
        (APPS, "Deployment"),
        "web",
        ("web.yaml", 1),
        ObjectDiff { action: Action::Update, ..fields(Vec::new()) },
    );
    web.run.readiness = serde_json::from_value(json!({"state": "inProgress", "message": message})).unwrap();
    let report = Report::observed(Command::Status, vec![web]);
    for columns in [40, 60, 100, 200] {
        let text = plain(&readiness::whole(&report, &view(columns)));
        assert!(text.lines().all(|line| width(line) <= columns), "{columns}: {text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.starts_with(&format!("in progress Deployment shop/web: {message} ")), "{columns}: {text}");
    }
}

#[test]
fn an_object_that_changed_since_the_plan_is_left_with_its_sign_and_said_once() {
    let mut web = object(
        (APPS, "Deployment"),
        "web",
        ("web.yaml", 1),
        fields(vec![change(&["spec", "a"], json!(1), json!(2))]).by_drift(),
    );
    let error =
        Diagnostic::new(Code::Conflict, "changed since the plan: left unchanged").with_hint("review the new plan");
    (web.run.outcome, web.messages.error) = (Some(Outcome::Failed), Some(Box::new(error)));
    web.messages.reason = Some("changed since the plan".to_owned());
    assert!(plain(&object_text(&web, &view(100))).starts_with("! Deployment shop/web"));
    let left =
        plain(&outcomes::left(&Report::compared(Command::Apply, vec![web.clone()], &FailOn::default()), &view(100)));
    assert_eq!(left, "failed Deployment shop/web: changed since the plan\n    hint: review the new plan\n");
    let mut api = web.clone();
    api.key.name = "api".to_owned();
    let left =
        plain(&outcomes::left(&Report::compared(Command::Apply, vec![api, web], &FailOn::default()), &view(100)));
    assert!(left.starts_with("failed 2 objects: changed since the plan "), "{left}");
    assert!(left.contains("    hint: review the new plan\n"), "{left}");
}

#[test]
fn everything_is_shown_on_request() {
    let text = plain(&whole(&report(), &View { full: true, ..view(100) }));
    for shown in ["ServiceAccount shop/kyverno-0", "kyverno.yaml:818", "field113:", "quiet-2", "targetPort: 5775"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(!text.contains("--full"), "{text}");
    let text = plain(&whole(&report(), &View { verbosity: 1, ..view(100) }));
    assert!(text.contains("Service shop/quiet-0") && text.contains("objects: warning: left out"), "{text}");
    let text = plain(&whole(&report(), &View { summary: true, ..view(100) }));
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "1 to create; 4 to update: 1 changed in the manifests, 1 in the cluster, 2 in both; 3 in sync",
            "not done: 35 not compared, 1 in conflict, 1 needs --replace=immutable",
        ]
    );
}

#[test]
fn the_same_change_of_many_objects_is_shown_once() {
    let bump = || change(&["metadata", "labels", "helm.sh/chart"], json!("shop-2.4.0"), json!("shop-2.4.1"));
    let one = |at: u32, more: Vec<FieldChange>| {
        let changes = [vec![bump()], more].concat();
        object((APPS, "Deployment"), &format!("d{at}"), ("a.yaml", at), fields(changes).by_drift())
    };
    let mut objects: Vec<ObjectReport> = (1..=30).map(|at| one(at, Vec::new())).collect();
    objects[2] = one(3, vec![change(&["spec", "replicas"], json!(2), json!(3))]);
    objects[3].messages.warnings.push("odd".to_owned());
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    let text = plain(&whole(&report, &view(100)));
    let expected = [
        "~ 30 Deployments                                                            a.yaml:1, 2, 3 … 27 more",
        "    metadata.labels[\"helm.sh/chart\"]: shop-2.4.0 → shop-2.4.1",
        "    Deployment shop/d1, shop/d2, shop/d3, shop/d4, shop/d5 … 25 more",
        "~ Deployment shop/d3                                                                        a.yaml:3",
        "    spec.replicas: 2 → 3",
        "~ Deployment shop/d4                                                                        a.yaml:4",
        "    warning: odd",
        "30 to update: all changed in the manifests; 0 in sync",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    let full = plain(&whole(&report, &View { full: true, ..view(100) }));
    assert!(full.contains("    Deployment shop/d30  ") && full.matches("shop-2.4.1").count() == 1, "{full}");
    let each = plain(&whole(&report, &View { sort: Sort::Object, ..view(100) }));
    assert_eq!((each.matches("shop-2.4.1").count(), each.matches("~ Deployment").count()), (30, 30));
}

/// As of a user who may read and not patch.
#[test]
fn the_same_warning_of_many_objects_with_the_same_change_is_shown_once() {
    let mut objects: Vec<ObjectReport> = (1..=4)
        .map(|at| {
            let changes = vec![change(&["spec", "replicas"], json!(2), json!(3))];
            let mut object =
                object((APPS, "Deployment"), &format!("d{at}"), ("a.yaml", at), fields(changes).by_drift());
            object.messages.warnings.push("compared locally".to_owned());
            object
        })
        .collect();
    objects[3].messages.warnings.push("odd".to_owned());
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    let expected = [
        "~ 4 Deployments                                                              a.yaml:1, 2, 3 … 1 more",
        "    spec.replicas: 2 → 3",
        "    Deployment shop/d1, shop/d2, shop/d3, shop/d4",
        "~ 3 objects: warning: compared locally                                                a.yaml:1, 2, 3",
        "    Deployment shop/d1, shop/d2, shop/d3",
        "~ Deployment shop/d4                                                                        a.yaml:4",
        "    warning: compared locally",
        "    warning: odd",
        "4 to update: all changed in the manifests; 0 in sync",
    ];
    let text = plain(&whole(&report, &view(100)));
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn the_same_conflict_of_many_objects_is_shown_once() {
    let mut objects: Vec<ObjectReport> = (0..4)
        .map(|at| {
            let mut object = samples::conflicting();
            object.key.name = format!("api-{at}");
            object
        })
        .collect();
    // A conflict that no change names, and a change of its own.
    for object in &mut objects {
        let Conflict { owner, .. } = object.diff.conflicts[0].clone();
        object.diff.conflicts.push(Conflict { path: path(&["spec", "paused"]), owner });
    }
    objects[2].diff.changes.push(change(&["spec", "minReadySeconds"], json!(2), json!(3)));
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    let text = plain(&whole(&report, &view(100)));
    let expected = [
        "! 4 Deployments                                              deploy/api.yaml:1",
        "    spec.replicas: 9 → 2                                          conflict with keda-operator 2026-11-21T18:15:08Z",
        "    conflict: spec.paused is owned by keda-operator 2026-11-21T18:15:08Z",
        "    Deployment shop/api-0, shop/api-1, shop/api-2, shop/api-3",
        "    hint: leave the field out of the manifest if its owner should keep it, or take it with",
        "          `--force-conflicts`",
        "! Deployment shop/api-2                                                           deploy/api.yaml:1",
        "    spec.minReadySeconds: 2 → 3",
        "0 in sync",
        "not done: 4 in conflict",
    ];
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.lines().map(squeezed).collect::<Vec<_>>(), expected.map(squeezed));
}

#[test]
fn all_of_a_grant_is_shown_at_every_width() {
    let rule = |verb: &str| {
        let resources = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
        json!({"apiGroups": ["admissionregistration.k8s.io"], "resources": resources, "verbs": [verb]})
    };
    let rules = change(&["rules"], json!([rule("patch")]), json!([rule("update")]));
    let verdict = || fields(vec![rules.clone()]).by_drift();
    let hooks = object(("rbac.authorization.k8s.io/v1", "Role"), "hooks", ("a.yaml", 1), verdict());
    let shown = |columns: usize| plain(&object_text(&hooks, &view(columns)));
    let expected = [
        "~ Role shop/hooks                                   a.yaml:1",
        "    rules (grants)",
        "      + mutatingwebhookconfigurations,",
        "          validatingwebhookconfigurations: update",
        "          (admissionregistration.k8s.io)",
        "      - mutatingwebhookconfigurations,",
        "          validatingwebhookconfigurations: patch",
        "          (admissionregistration.k8s.io)",
    ];
    assert_eq!(shown(60).lines().collect::<Vec<_>>(), expected);
    for columns in [20, 60, 80, 100] {
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(shown(columns)), words(shown(200)));
    }
}

/// Each object is in one count of the first two lines.
#[test]
fn the_counts_of_the_summary_add_up() {
    let counts = |line: &str| -> usize {
        let clauses =
            line.split([';', ',', ':']).filter(|clause| !clause.contains("changed in") && !clause.contains(" in the "));
        let clauses = clauses.filter(|clause| !clause.contains(" in both") && !clause.contains(" in one of"));
        clauses.filter_map(|clause| clause.trim().split(' ').next()?.replace(',', "").parse::<usize>().ok()).sum()
    };
    let mut objects = report().objects;
    let text = |objects: &[ObjectReport]| {
        let report = Report::compared(Command::Diff, objects.to_vec(), &FailOn::default());
        plain(&summary(&report, &view(100)))
    };
    while !objects.is_empty() {
        let text = text(&objects);
        assert_eq!(text.lines().take(2).map(counts).sum::<usize>(), objects.len(), "{text}");
        objects.remove(objects.len() / 2);
    }
    assert_eq!(text(&[]), "0 in sync\n");
}

#[test]
fn known_differences_are_counted_and_not_shown() {
    let mut known = settings();
    known.diff.changes.iter_mut().for_each(|change| change.known = true);
    let report = Report::compared(Command::Diff, vec![known, web()], &FailOn::default()).with_baseline(0);
    let text = plain(&whole(&report, &view(100)));
    assert!(
        text.contains("2 to update: all changed in both; 0 in sync\n4 known differences: --show-known\n"),
        "{text}"
    );
    assert!(!text.contains("ConfigMap"), "{text}");
    let text = plain(&whole(&report, &View { show_known: true, ..view(100) }));
    assert!(text.contains("0 in sync\n4 known differences\n"), "{text}");
    let marked = text.lines().filter(|line| line.ends_with("  known") || line.ends_with(", known")).count();
    assert_eq!(marked, 4, "{text}");
}

#[test]
fn a_known_conflict_is_shown_of_an_object_with_other_differences() {
    let shown = |others: &[FieldChange]| {
        let mut object = samples::conflicting();
        object.diff.changes.iter_mut().for_each(|change| change.known = true);
        object.diff.changes.extend_from_slice(others);
        let report = Report::compared(Command::Diff, vec![object], &FailOn::default()).with_baseline(0);
        plain(&whole(&report, &view(100)))
    };
    let text = shown(&[change(&["spec", "minReadySeconds"], json!(2), json!(3))]);
    assert!(text.starts_with("! Deployment shop/api"), "{text}");
    for part in
        ["spec.minReadySeconds: 2 → 3", "conflict: spec.replicas is owned by keda-operator", "hint: leave the field"]
    {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("9 → 2"), "{text}");
    let text = shown(&[]);
    assert!(!text.contains("shop/api"), "{text}");
}

#[test]
fn a_replacement_that_is_not_allowed_needs_attention() {
    let shown = |replacement: Replacement| {
        let mut job = replaced();
        job.diff.replacement = Some(replacement);
        let report = Report::compared(Command::Diff, vec![job, web()], &FailOn::default());
        (plain(&whole(&report, &view(100))), plain(&plan(&report, &view(100))))
    };
    let (text, plan) = shown(Replacement::NeedsFlag);
    let (before, job) = text.split_once("! Job shop/migrate  needs replacement").unwrap();
    assert!(before.starts_with("~ Deployment"), "it comes last: {text}");
    // The hint comes after the changes.
    assert!(job.find("shop/web:1.3").unwrap() < job.find("hint: pass `--replace=immutable`").unwrap(), "{text}");
    assert!(
        plan.ends_with("; 0 in sync\nnot done: 1 needs --replace=immutable\n") && !plan.contains("to replace"),
        "{plan}"
    );
    let (text, plan) = shown(Replacement::Protected);
    assert!(text.contains("! Job shop/migrate  needs replacement"), "{text}");
    assert!(plan.contains("not done: 1 protected against replacement\n"), "{plan}");
    let (text, plan) = shown(Replacement::Allowed);
    assert!(text.contains("-/+ Job shop/migrate "), "{text}");
    assert!(plan.contains("1 to update, 1 to replace: ") && !plan.contains("not done"), "{plan}");
}

#[test]
fn all_of_an_object_to_be_created_is_shown_on_request() {
    let desired =
        json!({"kind": "Secret", "data": {"pin": {"redacted": "#1"}}, "stringData": {"evil": "a\n+ b\u{1b}[2J"}});
    let verdict = ObjectDiff::create(desired, Evidence::Server);
    let secret = object(("v1", "Secret"), "pin", ("a.yaml", 1), verdict);
    assert_eq!(plain(&object_text(&secret, &view(100))).lines().count(), 1);
    let text = plain(&object_text(&secret, &View { full: true, ..view(100) }));
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert!(lines.contains(&"    + kind: Secret") && lines.contains(&"    +   pin: \"***\""), "{text}");
    assert!(lines.iter().all(|line| line.starts_with("    + ")) && !text.contains('\u{1b}'), "{text}");
}

/// One status is said once, whichever code the error has.
#[test]
fn the_code_of_an_error_is_said_once() {
    let shown = |code: Code, message: &str| {
        let unknown = ObjectDiff::unknown(Diagnostic::new(code, message));
        plain(&object_text(&object(("v1", "ConfigMap"), "it", ("a.yaml", 1), unknown), &view(100)))
    };
    let text = shown(Code::Forbidden, "the user cannot list resource \"configmaps\" (403 Forbidden)");
    assert!(text.ends_with("(403 Forbidden)\n"), "{text}");
    assert!(shown(Code::NotFound, "namespace `x` does not exist").ends_with(" does not exist (NotFound)\n"));
}

#[test]
fn long_values_and_many_changes_are_cut_and_counted() {
    let lines = |salt: usize| (0..400).map(|at| format!("line {}\n", at * salt)).collect::<Vec<_>>().concat();
    let long = change(&["data", "long"], json!(lines(1)), json!(lines(2)));
    let text = plain(&object_text(
        &object(("v1", "ConfigMap"), "it", ("a.yaml", 1), fields(vec![long]).by_drift()),
        &view(100),
    ));
    assert!(text.lines().count() < 50 && text.contains(" more lines: --full"), "{text}");
    let many = (0..500).map(|at| change(&["data", &format!("key{at:03}")], json!("a"), json!("b"))).collect();
    let text =
        plain(&object_text(&object(("v1", "ConfigMap"), "it", ("a.yaml", 1), fields(many).by_drift()), &view(100)));
    assert!(text.contains("… 400 more changes: --full"), "{text}");
    let side = |word: &str| json!(format!("{} {word} {}", "x".repeat(500), "y".repeat(500)));
    let wide = change(&["data", "wide"], side("old"), side("new"));
    let text = plain(&object_text(
        &object(("v1", "ConfigMap"), "it", ("a.yaml", 1), fields(vec![wide]).by_drift()),
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
    let mut hostile = object(("v1", "ConfigMap"), "it", ("a\u{1b}.yaml", 1), fields(changes).by_drift());
    hostile.messages.warnings.push(evil.to_owned());
    let report = Report::compared(Command::Diff, vec![hostile], &FailOn::default());
    for columns in [1, 20, 60, 100] {
        let text = plain(&whole(&report, &view(columns)));
        assert!(!text.chars().any(|c| c != '\n' && reconcile_core::text::is_hidden(c)), "{text:?}");
        assert!(
            !text.lines().any(|line| line.starts_with("~ Deployment") || line.starts_with("    spec.replicas")),
            "{text}"
        );
    }
    let text = plain(&whole(&report, &view(200)));
    assert!(text.contains(r#""\u2026/web:1  by kubectl""#), "three dots of a value are not ours: {text}");
}

#[test]
fn equal_warnings_of_objects_in_sync_are_shown_once() {
    let objects = (0..4).map(|at| {
        let verdict = ObjectDiff::in_sync(Evidence::Proven);
        let mut object = object(("policy/v1", "PodDisruptionBudget"), &format!("p{at}"), ("a.yaml", at), verdict);
        object.messages.warnings.push("it is deprecated".to_owned());
        object
    });
    let text = plain(&whole(&Report::compared(Command::Diff, objects.collect(), &FailOn::default()), &view(100)));
    assert_eq!(text.matches("it is deprecated").count(), 1, "{text}");
    assert!(
        text.starts_with("= 4 objects: warning: it is deprecated") && text.contains("a.yaml:0, 1, 2 … 1 more"),
        "{text}"
    );
}

#[test]
fn effects_in_a_group_name_their_objects() {
    let deployment = |name: &str, effect: Effect| {
        let image = change(&["spec", "template", "spec", "containers", "[name=web]", "image"], json!("a"), json!("b"));
        let diff = ObjectDiff { action: Action::Update, effects: vec![effect], ..fields(vec![image]) };
        object((APPS, "Deployment"), name, ("web.yaml", 1), diff)
    };
    let effect = |pods: u64, message: &str| Effect {
        kind: EffectKind::Rollout,
        pods: Some(pods),
        by: Vec::new(),
        more: 0,
        message: message.to_owned(),
    };
    let restarts = || effect(2, "restarts 2 Pods: rolling update, at most 25 % unavailable");
    let paused = || effect(0, "no rollout: paused");
    let shown = |objects: Vec<ObjectReport>| {
        let report = Report::compared(Command::Diff, objects, &FailOn::default());
        plain(&whole(&report, &view(100)))
    };
    let some = shown(vec![deployment("api", restarts()), deployment("pay", paused()), deployment("web", restarts())]);
    assert!(some.contains("↳ restarts 4 Pods of 2 workloads\n"), "{some}");
    assert!(some.contains("↳ no rollout: paused (Deployment shop/pay)\n"), "{some}");
    let all = shown(["api", "pay", "web"].map(|name| deployment(name, paused())).into());
    assert!(all.contains("↳ no rollout: paused (each of 3)\n"), "{all}");
    let names = ["a", "b", "c", "d", "e"];
    let many = names.map(|name| deployment(name, paused())).into_iter().chain([deployment("web", restarts())]);
    let many = shown(many.collect());
    let expected = "(Deployment shop/a, Deployment shop/b, Deployment shop/c, 2 more)";
    assert!(many.contains(&format!("↳ no rollout: paused {expected}\n")), "{many}");
}
