//! Valid configurations, and the diagnostics of invalid ones.

mod agreement;
mod search;

use clap::CommandFactory as _;
use serde_json::json;

use super::*;
use crate::commands::Cli;

/// Adds the two lines that every configuration has.
fn whole(text: &str) -> String {
    format!("apiVersion: kubectl-reconcile/v1\nkind: Config\n{text}")
}

fn parse(text: &str) -> Result<Configuration, Vec<String>> {
    let parsed = Configuration::parse(&Cli::command(), &"c.yaml".into(), text.as_bytes().to_vec());
    parsed.map_err(|diagnostics| {
        let with_hint =
            |diagnostic: &Diagnostic| format!("{diagnostic} ~ {}", diagnostic.hint.as_deref().unwrap_or_default());
        diagnostics.iter().map(with_hint).collect()
    })
}

#[track_caller]
fn accepted(text: &str) -> Configuration {
    parse(&whole(text)).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

/// The errors without their hints; lines are counted after the two that every configuration has.
#[track_caller]
fn refused(text: &str) -> Vec<String> {
    let errors = parse(&whole(text)).err().unwrap_or_else(|| panic!("accepted: {text}"));

    let relative = |error: &String| {
        let (location, message) = error.split_once(": ").unwrap();
        let mut parts = location.split(':').skip(1).map(|number| number.parse::<usize>().unwrap());
        let line = parts.next().unwrap();
        let column = parts.next().unwrap();
        format!("{}:{column} {}", line - 2, message.split(" ~ ").next().unwrap())
    };
    errors.iter().map(relative).collect()
}

#[test]
fn settings_are_read() {
    let configuration = accepted("manualManagers: [k9s, lens]");
    assert_eq!(configuration.manual_managers, BTreeSet::from(["k9s".to_owned(), "lens".to_owned()]));
    assert_eq!(accepted("# nothing yet"), Configuration::default());
    assert_eq!(accepted("manualManagers:\nignore:\nreadiness:\ndefaults:\n"), Configuration::default());
}

#[test]
fn a_configuration_says_what_it_is() {
    let refused = |text: &str| parse(text).unwrap_err();
    let hint = "a configuration begins with `apiVersion: kubectl-reconcile/v1` and `kind: Config`";
    assert_eq!(refused("# empty\n"), [format!("c.yaml: the configuration is empty ~ {hint}")]);
    assert_eq!(refused("manualManagers: [k9s]"), [format!("c.yaml:1:1: `apiVersion` and `kind` are missing ~ {hint}")]);
    assert_eq!(refused("kind: Config"), [format!("c.yaml:1:1: `apiVersion` is missing ~ {hint}")]);
    assert_eq!(
        refused("apiVersion: kubectl-reconcile/v2\nkind: ConfigMap\n"),
        [
            format!("c.yaml:1:13: `apiVersion` of a configuration is `kubectl-reconcile/v1` ~ {hint}"),
            format!("c.yaml:2:7: `kind` of a configuration is `Config` ~ {hint}"),
        ]
    );
    assert_eq!(
        refused("[k9s]"),
        ["c.yaml:1:1: the configuration is a mapping, not a list ~ write one `key: value` per line"]
    );
    assert_eq!(
        refused(&whole("---\nkind: Config\n")),
        ["c.yaml:4:1: a configuration is one document ~ take the `---` out"]
    );
    assert_eq!(refused("manualManagers: [\n").len(), 1);
}

#[test]
fn every_mistake_is_reported_at_its_place_with_a_suggestion() {
    assert_eq!(
        parse(&whole("manualManager: [k9s]\nmanualManagers: k9s\n")).unwrap_err(),
        [
            "c.yaml:3:1: unknown key `manualManager` in the configuration ~ did you mean `manualManagers`?",
            "c.yaml:4:17: `manualManagers` is a list, not a string ~ write `manualManagers: [k9s]`",
        ]
    );
    assert_eq!(refused("manualManagers: [k9s, 1]"), ["1:23 expected the name of a field manager"]);
    assert_eq!(
        parse(&whole("hand: []")).unwrap_err(),
        ["c.yaml:3:1: unknown key `hand` in the configuration ~ \
          the keys are: `apiVersion`, `kind`, `expect`, `manualManagers`, `ignore`, `readiness`, `defaults`"]
    );
}

#[test]
fn keys_are_texts_that_occur_once() {
    assert_eq!(
        parse(&whole("defaults: {n: x}\n")).unwrap_err(),
        [
            "c.yaml:3:12: the key `n` is a boolean without quotes, and becomes `false` ~ quote it to use its text: `\"n\"`"
        ]
    );
    assert_eq!(
        parse(&whole("manualManagers: [a]\nmanualManagers: [b]\n")).unwrap_err(),
        ["c.yaml:4:1: the key `manualManagers` is set twice in this mapping ~ keep one of them"]
    );
}

#[test]
fn ignore_rules_are_read() {
    let configuration = accepted(
        "ignore:
- target: {group: apps, kind: Deployment, namespace: shop-*, name: web, labelSelector: 'app=web,tier!=test'}
  fields: [spec.replicas, 'spec.template.spec.containers[name=app].image', 'metadata.annotations[*]']
  managers: [some-controller]
  reason: scaled
  expires: 2027-01-31
- {kind: Service, name: web, jsonPointers: [/spec/ports/0], jqPathExpressions: ['.metadata.annotations[\"a/b\"]'], managedFieldsManagers: [x]}
- {target: {kind: HelmRelease}, paths: [/spec/replicas]}
- {target: {}, managers: [sidecar-*]}
",
    );
    let [first, second, third, fourth] = configuration.ignore.as_slice() else { panic!("{configuration:?}") };
    assert_eq!(first.fields.len(), 3);
    assert_eq!((first.managers.len(), first.reason.as_deref()), (1, Some("scaled")));
    assert_eq!(first.expires, Some(jiff::civil::date(2027, 1, 31)));
    assert_eq!(first.location.to_string(), "c.yaml:4:3");
    assert_eq!((second.fields.len(), second.managers.len()), (2, 1));
    assert!(second.target.kind.as_ref().unwrap().matches("Service"));
    assert_eq!(third.fields.len(), 1);
    assert!(fourth.fields.is_empty() && fourth.target.kind.is_none());
}

#[test]
fn mistakes_of_ignore_rules_are_reported_at_their_places() {
    let rule = |text: &str| refused(&format!("ignore:\n- {{{text}}}"));
    assert_eq!(refused("ignore: {}"), ["1:9 `ignore` is a list, not a mapping"]);
    assert_eq!(refused("ignore: [1]"), ["1:10 an ignore rule is a mapping, not a number"]);
    assert_eq!(rule("target: {}"), ["2:3 an ignore rule must have `fields`, `managers` or both"]);
    assert_eq!(rule("fields: [spec.a]"), ["2:3 an ignore rule must have a `target`"]);
    assert_eq!(rule("target: {}, fields: []"), ["2:24 `fields` is empty"]);
    assert_eq!(rule("target: {knd: A}, fields: [spec.a]"), ["2:13 unknown key `knd` in a target"]);
    assert_eq!(
        rule("target: {}, kind: A, fields: [spec.a]"),
        ["2:16 the objects are named twice: here and under `target`"]
    );
    assert_eq!(
        rule("target: {name: 'web|api'}, fields: [spec.a]"),
        ["2:19 `web|api` is not a glob: only `*` and `?` stand for other characters"]
    );
    assert_eq!(rule("target: {name: 1}, fields: [spec.a]"), ["2:19 `name` must be a string"]);
    assert_eq!(
        rule("target: {labelSelector: 'a b'}, fields: [spec.a]"),
        ["2:28 `a b` is not a label selector: expected `=`, `!=`, `in`, `notin`, `>` or `<`, found `b`"]
    );
    assert_eq!(
        rule("target: {}, fields: [kind, metadata]"),
        [
            "2:25 `kind` cannot be ignored: it identifies the object",
            "2:31 `metadata` would cover `metadata.name`, which cannot be ignored: it identifies the object",
        ]
    );
    assert_eq!(
        rule("target: {}, jqPathExpressions: ['.a | .b']"),
        ["2:36 `.a | .b` is not a plain path of jq, and only plain paths are supported"]
    );
    assert_eq!(rule("target: {}, fields: [spec.a], expires: soon"), ["2:43 `expires` must be a date"]);
    assert_eq!(rule("target: {}, fields: [spec.a], expires: 2027-02-30"), ["2:43 `expires` must be a date"]);
    assert_eq!(rule("target: {}, fields: [spec.a], managers: ['']"), ["2:45 expected the name of a field manager"]);
    assert_eq!(
        rule(&format!("target: {{}}, fields: [{}]", vec!["spec.a"; 51].join(","))),
        ["2:16 `fields` has 51 items, and at most 50 are allowed",]
    );
    let many = format!("ignore: [{}]", vec!["{target: {}, fields: [a]}"; 501].join(","));
    assert_eq!(refused(&many), ["1:1 `ignore` has 501 items, and at most 500 are allowed"]);
}

#[test]
fn readiness_rules_are_read() {
    let text = "readiness:\n- target: {group: example.com, kind: Database}\n  current: status.phase == \"Ready\"\n  failed: 'false'\n";
    let configuration = accepted(text);
    let [rule] = configuration.readiness.as_slice() else { panic!("{configuration:?}") };
    assert_eq!(rule.current.text(), "status.phase == \"Ready\"");
    assert!(rule.in_progress.is_none() && rule.failed.is_some());
    let rule = |text: &str| refused(&format!("readiness:\n- {{{text}}}"));
    assert_eq!(rule("target: {kind: A}, failed: a"), ["2:3 a readiness rule has a `current`"]);
    assert_eq!(rule("target: {}, current: a"), ["2:3 a readiness rule must have a `target` with a `kind`"]);
    assert_eq!(rule("target: {kind: A}, current: true"), ["2:32 `current` must be a string, not a boolean"]);
    assert_eq!(rule("target: {kind: A}, curent: a, current: b"), ["2:23 unknown key `curent` in a readiness rule"]);
}

#[test]
fn an_expression_is_checked_when_it_is_read() {
    let rule = |expression: &str| {
        refused(&format!("readiness:\n- target: {{kind: A}}\n  current: 'true'\n  inProgress: {expression}\n"))
    };
    assert_eq!(
        rule("status.phase = 1"),
        ["4:15 `inProgress`: not a valid CEL expression: token recognition error at: '= ' (at its character 14)"]
    );
    assert_eq!(rule("status.phase.matches('a')"), ["4:15 `inProgress`: there is no function `matches`"]);
    let long = format!("'{}'", "a".repeat(2001));
    assert_eq!(rule(&long), ["4:15 `inProgress`: the expression is longer than 2000 bytes"]);
    let block = rule("|\n    status.phase ==\n      == 1");
    let [message] = block.as_slice() else { panic!("{block:?}") };
    assert!(
        message.starts_with("4:3 `inProgress`: ") && message.ends_with("(at its line 2, character 3)"),
        "{message}"
    );
    let many = "readiness:\n".to_owned() + &"- {target: {kind: A}, current: a}\n".repeat(101);
    assert_eq!(refused(&many), ["1:1 `readiness` has 101 items, and at most 100 are allowed"]);
}

#[test]
fn defaults_are_flags_as_if_they_were_typed() {
    let configuration =
        accepted("defaults: {show-unmanaged: true, wait: false, evidence: read-only, v: 6, request-timeout: 1m}");
    let arguments: Vec<_> = configuration.defaults.iter().flat_map(|default| &default.arguments).collect();
    assert_eq!(
        json!(arguments.iter().map(|argument| argument.to_str()).collect::<Vec<_>>()),
        json!(["--evidence=read-only", "--request-timeout=1m", "--show-unmanaged", "--v=6"])
    );
}

#[test]
fn a_default_that_is_wrong_or_dangerous_is_refused_with_the_reason() {
    assert_eq!(
        parse(&whole("defaults: {show-unmanged: true}")).unwrap_err(),
        ["c.yaml:3:12: `defaults`: there is no flag `--show-unmanged` ~ did you mean `show-unmanaged`?"]
    );
    assert_eq!(refused("defaults: {evidence: maybe}"), ["1:22 `--evidence`: `maybe` is not one of its values"]);
    for (text, values) in [
        ("defaults: {evidence: maybe}", "the values are `auto`, `server` and `read-only`"),
        ("defaults: {sort: size}", "the values are `plan`, `kind`, `namespace`, `source` and `object`"),
        ("defaults: {force-conflicts: true}", "the values are `manual` and `none`"),
        ("defaults: {full: maybe}", "write `full: true` or `full: false`"),
        ("defaults: {request-timeout: maybe}", "write `request-timeout: DURATION`"),
        ("defaults: {hooks: no}", "the only value is `skip`"),
        ("defaults: {color: yes}", "the values are `auto`, `always` and `never`"),
    ] {
        let errors = parse(&whole(text)).unwrap_err();
        assert!(errors[0].ends_with(&format!(" ~ {values}")), "{errors:?}");
    }
    let hint = parse(&whole("defaults: {fail-on: drft}")).unwrap_err().remove(0);
    assert!(hint.contains(" ~ the values are `drift`, "), "{hint}");
    assert_eq!(refused("defaults: {v: -1}"), ["1:15 `--v`: `-1` is not a number from 0 to 255"]);
    assert_eq!(refused("defaults: {full: 'yes'}"), ["1:18 `--full` cannot have this value"]);
    assert!(refused("defaults: {request-timeout: soon}")[0].starts_with("1:29 `--request-timeout`: `soon`"));
    assert_eq!(
        refused("defaults: {force-conflicts: all}"),
        ["1:29 `defaults` cannot set `--force-conflicts` to `all`: it takes fields from other managers"]
    );
    assert_eq!(
        refused("defaults: {validate: warn}"),
        [
            "1:22 `defaults` cannot set `--validate` to `warn`: a proposed change could hide mistakes in manifests with it"
        ]
    );
    for (text, typed) in [
        ("fail-on: drft", "drft"),
        ("fail-on: 'drift,drft'", "drft"),
        ("fail-on: [drift, drft]", "drft"),
        ("hooks: no", "no"),
        ("hooks: off # not yet", "off"),
        ("validate: x", "x"),
        ("replace: alway", "alway"),
        ("force-conflicts: x", "x"),
        ("color: yes", "yes"),
        ("evidence: 0x10", "0x10"),
    ] {
        let flag = text.split(':').next().unwrap();
        for text in [format!("defaults:\n  {text}"), format!("defaults: {{{text}\n}}")] {
            let errors = refused(&text);
            assert!(errors[0].ends_with(&format!(" `--{flag}`: `{typed}` is not one of its values")), "{errors:?}");
        }
    }
    for flag in [
        "namespace",
        "output",
        "quiet",
        "summary",
        "server",
        "token",
        "kubeconfig",
        "context",
        "cluster",
        "user",
        "as",
        "insecure-skip-tls-verify",
        "applyset-recover",
        "prune",
        "prune-allow",
        "config",
        "no-config",
        "exit-zero",
        "live",
        "adopt",
        "apply",
        "selector",
        "include-secrets",
        "field-manager",
    ] {
        let errors = refused(&format!("defaults: {{{flag}: x}}"));
        assert!(errors[0].starts_with(&format!("1:12 `defaults` cannot set `--{flag}`: ")), "{errors:?}");
    }
}

#[test]
fn what_fails_a_run_can_only_grow() {
    for drift in ["drift", "[drift]", "[unmanagedObjects, drift]", "'manual,drift'"] {
        assert_eq!(accepted(&format!("defaults: {{fail-on: {drift}}}")).defaults.len(), 1, "{drift}");
    }
    for less in ["replace", "[replace]", "[]", "'replace,manual'", "[unmanagedObjects]"] {
        assert_eq!(
            refused(&format!("defaults: {{fail-on: {less}}}")),
            ["1:21 `defaults` cannot set `--fail-on` without `drift`: a proposed change could hide drift with it"],
            "{less}"
        );
    }
}

#[test]
fn unmanaged_objects_are_those_of_the_namespaces_of_the_manifests() {
    let arguments =
        |value: &str| accepted(&format!("defaults: {{report-unmanaged: {value}}}")).defaults[0].arguments.clone();
    assert_eq!(arguments("true"), ["--report-unmanaged"]);
    assert!(arguments("false").is_empty());
    for (names, column) in [("kube-system", 30), ("[kube-system]", 30), ("'true'", 30)] {
        let [error] = &refused(&format!("defaults: {{report-unmanaged: {names}}}"))[..] else { panic!("{names}") };
        assert!(error.starts_with(&format!("1:{column} `defaults` cannot set `--report-unmanaged`")), "{error}");
    }
}
