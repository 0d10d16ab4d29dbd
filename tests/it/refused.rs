//! What the API refuses of an object, what no request may be made of, and what is only there twice.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace, wait_until};

fn config(metadata: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{{metadata}}}, data: {{a: b}}}}\n")
}

fn warnings<'r>(run: &'r Run, kind: &str, name: &str) -> Vec<&'r str> {
    let warnings = run.object(kind, name)["warnings"].as_array().unwrap();
    warnings.iter().map(|warning| warning.as_str().unwrap()).collect()
}

#[test]
fn identical_copies_count_once_and_both_places_are_reported() {
    let ws = Workspace::new();
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: b}}\n";
    ws.write("a.yaml", &format!("{}---\n{secret}", config("name: a")));
    ws.write("b.yaml", &format!("---\n{}---\n{secret}---\n{}", config("name: a"), config("name: a, namespace: $NS")));
    let diff = ws.reconcile(["diff", "-f", "a.yaml", "-f", "b.yaml"]).exits_with(1);
    assert_eq!(diff.report()["summary"]["objects"], 2, "{diff}");
    let found = warnings(&diff, "ConfigMap", "a");
    assert_eq!(found.len(), 2, "{diff}");
    let of_config =
        "ConfigMap a is defined twice, first at a.yaml:1: the copies are identical, and one of them is used";
    assert_eq!(found[0], format!("b.yaml:2:1: {of_config}"));
    assert!(found[1].starts_with("b.yaml:6:1: ConfigMap ") && found[1].contains("first at a.yaml:1"), "{diff}");
    assert_eq!(warnings(&diff, "Secret", "s").len(), 1);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.report()["requests"]["write"], 2, "{apply}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);

    ws.write("b.yaml", &config("name: a, labels: {x: z}"));
    let run = ws.reconcile(["diff", "-f", "a.yaml", "-f", "b.yaml"]).exits_with(2);
    let error = &run.report()["errors"][0];
    assert_eq!((&error["file"], &error["line"]), (&json!("b.yaml"), &json!(1)), "{run}");
    assert!(error["message"].as_str().unwrap().ends_with("first at a.yaml:1"), "{run}");
}

/// Objects that the API would refuse, each with the place of what it would refuse.
fn bad() -> Vec<(&'static str, String, &'static str, u32)> {
    let many = format!("name: bad\n  annotations:\n    a: {}", "x".repeat(270_000));
    let block = |metadata: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  {metadata}\n");
    vec![
        ("name", block("name: Bad_Name"), "`Bad_Name` cannot be the name of a ConfigMap", 4),
        ("label value", block("name: bad\n  labels:\n    a: b\n    c: -d"), "the label `c` cannot have this value", 7),
        ("label key", block("name: bad\n  labels:\n    a b: c"), "`a b` cannot be the key of a label", 6),
        (
            "annotation key",
            block("name: bad\n  annotations:\n    a/b/c: d"),
            "`a/b/c` cannot be the key of an annotation",
            6,
        ),
        ("annotations", block(&many), "the annotations are too long", 5),
        (
            "article",
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: Bad\n".to_owned(),
            "`Bad` cannot be the name of an Ingress",
            4,
        ),
        (
            "plural",
            "apiVersion: v1\nkind: Endpoints\nmetadata:\n  name: Bad\n".to_owned(),
            "`Bad` cannot be the name of an Endpoints object",
            4,
        ),
    ]
}

fn refused(run: &Run) -> &Value {
    let objects = run.report()["objects"].as_array().unwrap();
    objects.iter().find(|object| object["action"] == "unknown").unwrap_or_else(|| panic!("{run}"))
}

#[test]
fn what_the_api_refuses_spoils_its_own_object_and_no_other() {
    let ws = Workspace::new();
    for (what, text, message, line) in bad() {
        ws.write("bad.yaml", &text);
        ws.write("good.yaml", &config("name: good"));
        ws.write("none.yaml", "");
        for more in [&["--live", "none.yaml"][..], &[], &["--evidence=server"], &["--evidence=read-only"]] {
            let run = ws.reconcile([&["diff", "-f", "bad.yaml", "-f", "good.yaml"], more].concat()).exits_with(4);
            let error = &refused(&run)["error"];
            assert_eq!((&error["reason"], &error["message"]), (&json!("Invalid"), &json!(message)), "{what}: {run}");
            assert_eq!((&error["file"], &error["line"]), (&json!("bad.yaml"), &json!(line)), "{what}: {run}");
            assert!(error["column"].is_u64() && error["mistakes"][0]["hint"].is_string(), "{what}: {run}");
            assert_eq!(run.object("ConfigMap", "good")["action"], "create", "{what}: {run}");
        }
    }
}

#[test]
fn what_the_api_refuses_is_not_written_nor_is_what_needs_it() {
    let ws = Workspace::new();
    ws.write(
        "all.yaml",
        "
{apiVersion: v1, kind: ServiceAccount, metadata: {name: bot, labels: {a: -b}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {serviceAccountName: bot, containers: [{name: web, image: web}]}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: last, annotations: {config.kubernetes.io/depends-on: /namespaces/$NS/ServiceAccount/bot}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: good}}
",
    );
    let (apply, requests) = ws.requests_during(|| ws.reconcile(["apply", "-f", "all.yaml"]));
    let outcome = |kind: &str, name: &str| apply.object(kind, name)["outcome"].as_str().unwrap().to_owned();
    assert_eq!(apply.code, 4, "{apply}");
    assert_eq!(outcome("ServiceAccount", "bot"), "skipped", "{apply}");
    assert_eq!(outcome("Pod", "web"), "skipped", "{apply}");
    assert_eq!(outcome("ConfigMap", "last"), "skipped", "{apply}");
    assert_eq!(outcome("ConfigMap", "good"), "created", "{apply}");
    assert!(apply.object("Pod", "web")["reason"].as_str().unwrap().contains("bot"), "{apply}");
    assert!(!requests.iter().any(|request| request.uri.contains("bot")), "{requests:#?}");
    for command in ["status", "snapshot"] {
        let run = ws.reconcile([command, "-f", "all.yaml"]).exits_with(4);
        assert!(format!("{run}").contains("the label `a` cannot have this value"), "{run}");
    }
}

#[test]
fn a_name_that_no_url_can_hold_is_an_error_of_the_input() {
    let ws = Workspace::new();
    for name in ["a/b", "a%2fb", ".", ".."] {
        for kind in ["v1, kind: ConfigMap", "rbac.authorization.k8s.io/v1, kind: Role", "example.com/v1, kind: Odd"] {
            ws.write("a.yaml", &format!("{{apiVersion: {kind}, metadata: {{name: '{name}'}}}}"));
            let run = ws.reconcile(["diff", "-f", "a.yaml"]).exits_with(2);
            assert!(run.report()["errors"][0]["column"].is_u64(), "{run}");
        }
    }
}

/// What could lead a request elsewhere, and what the API would refuse.
const NAMESPACES: [&str; 8] = ["shop/widgets/w#", "a?dryRun=", "..", "Shop", "a.b", "-a", "a b", "a%2fb"];

#[test]
fn every_namespace_is_a_dns_label_whatever_the_kind() {
    let ws = Workspace::new();
    let kinds =
        ["v1, kind: ConfigMap", "example.com/v1, kind: NobodyKnows", "rbac.authorization.k8s.io/v1, kind: ClusterRole"];
    for namespace in NAMESPACES {
        for kind in kinds {
            let manifest =
                format!("apiVersion: {}\nmetadata:\n  name: a\n  namespace: '{namespace}'\n", kind.replace(", ", "\n"));
            ws.write("a.yaml", &manifest);
            for command in ["diff", "apply", "status", "snapshot"] {
                let (run, requests) = ws.requests_during(|| ws.reconcile([command, "-f", "a.yaml"]));
                assert_eq!(run.code, 2, "{run}");
                let place = format!("a.yaml:5:14: `{namespace}` cannot be a namespace");
                assert!(run.stderr.contains(&place), "{run}");
                assert!(!requests.iter().any(|request| request.is_write() || request.is_dry_run()), "{requests:#?}");
            }
        }
    }
    ws.write("a.yaml", &config("name: a, namespace: ''"));
    ws.reconcile(["apply", "-f", "a.yaml"]).exits_with(0);
    assert!(ws.find("ConfigMap", "a").is_some(), "none is that of the context, as for kubectl");
}

#[test]
fn a_namespace_of_a_flag_or_a_context_is_a_dns_label_too() {
    let ws = Workspace::new();
    ws.write("a.yaml", &config("name: a"));
    ws.write("none.yaml", "");
    for namespace in NAMESPACES {
        for more in [&[][..], &["--live", "none.yaml"]] {
            let flag = format!("--namespace={namespace}");
            let run = ws.reconcile([&["diff", "-f", "a.yaml", &flag], more].concat()).exits_with(2);
            assert!(run.stderr.contains(&format!("`--namespace`: `{namespace}` cannot be a namespace")), "{run}");
        }
        let context = json!({
            "current-context": "dev", "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
            "contexts": [{"name": "dev", "context": {"cluster": "c", "namespace": namespace}}],
        });
        ws.write("kube.yaml", &context.to_string());
        let run = ws.reconcile(["diff", "-f", "a.yaml", "--kubeconfig", "kube.yaml"]).exits_with(2);
        assert!(run.stderr.contains("context `dev` in ") && run.stderr.contains("kube.yaml"), "{run}");
        assert!(run.stderr.contains(&format!("`{namespace}` cannot be a namespace")), "{run}");
    }
    let apply = ws.reconcile(["apply", "-f", "a.yaml", "-n", "namespaces/$NS"]).exits_with(0);
    assert_eq!(apply.object("ConfigMap", "a")["namespace"], ws.namespace(), "kubectl takes the prefix, too");
    ws.write("a.yaml", &config("name: a, namespace: $NS"));
    for flag in ["", "$NS", "ns/$NS"] {
        ws.reconcile(["diff", "-f", "a.yaml", "-n", flag]).exits_with(0);
    }
}

/// kubectl gets the same refusal, without a word about the way out.
#[test]
fn a_record_in_a_version_that_a_definition_dropped_is_reported_with_a_hint() {
    let ws = Workspace::new();
    let schema = "schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}";
    let definition = |versions: &str| {
        format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: gauges.$NS.example.com}},
  spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: gauges, kind: Gauge}}, versions: [{versions}]}}}}"
        )
    };
    let new = format!("{{name: v1, served: true, storage: true, {schema}}}");
    let old = format!("{{name: v1alpha1, served: true, storage: false, {schema}}}");
    let gauge = |version: &str, size: u32| {
        format!("{{apiVersion: $NS.example.com/{version}, kind: Gauge, metadata: {{name: a}}, spec: {{size: {size}}}}}")
    };
    ws.write("definition.yaml", &definition(&format!("{old}, {new}")));
    ws.kubectl(["apply", "--server-side", "-f", "definition.yaml"]).exits_with(0);
    ws.kubectl(["wait", "--for=condition=Established", "-f", "definition.yaml", "--timeout=60s"]).exits_with(0);
    ws.wait_for_types();
    ws.write("old.yaml", &gauge("v1alpha1", 1));
    ws.kubectl(["apply", "--server-side", "--field-manager=tower", "-f", "old.yaml"]).exits_with(0);
    ws.write("definition.yaml", &definition(&new));
    ws.kubectl(["apply", "--server-side", "-f", "definition.yaml"]).exits_with(0);
    ws.write("new.yaml", &gauge("v1", 2));
    wait_until("the server has dropped the version", || {
        let kubectl = ws.kubectl(["apply", "--server-side", "--dry-run=server", "-f", "new.yaml"]);
        kubectl.stderr.contains("invalid group/version")
    });

    let diff = ws.reconcile(["diff", "-f", "new.yaml"]).exits_with(4);
    let error = &diff.object("Gauge", "a")["error"];
    assert!(error["message"].as_str().unwrap().contains("invalid group/version"), "{error:#}");
    let hint = error["hint"].as_str().unwrap();
    let patch = hint.split('\'').nth(1).unwrap();
    ws.kubectl(["patch", "-f", "new.yaml", "--type=merge", "-p", patch]).exits_with(0);
    ws.reconcile(["apply", "-f", "new.yaml"]).exits_with(0);
    ws.reconcile(["diff", "-f", "new.yaml"]).exits_with(0);
}

/// The manifest is right: a message that it does not fit its fields would lead to the wrong place.
#[test]
fn a_live_object_that_does_not_fit_its_type_is_not_blamed_on_the_manifest() {
    let ws = Workspace::new();
    let robot = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}, secrets: VALUE}";
    ws.stdin(&robot.replaced("VALUE", "[{name: ''}]")).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.write("robot.yaml", &robot.replaced("VALUE", "[{name: token}]"));
    let kubectl = ws.kubectl(["apply", "--server-side", "--dry-run=server", "-f", "robot.yaml"]);
    assert!(kubectl.code == 1 && kubectl.stderr.contains(".secrets: element 0"), "{kubectl}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let error = &diff.object("ServiceAccount", "robot")["error"];
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("the live object itself")), "{error:#}");
    // What is alike is sent as it is written live; a key is not.
    ws.write("robot.yaml", &robot.replaced("VALUE", "[{name: ''}]"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let error = &diff.object("ServiceAccount", "robot")["error"];
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("the live object itself")), "{error:#}");
    ws.write("robot.yaml", &robot.replaced("VALUE", "[{name: token}]"));
    let mend = r#"[{"op": "replace", "path": "/secrets", "value": []}]"#;
    ws.kubectl(["patch", "serviceaccount", "robot", "--type=json", "-p", mend]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
}
