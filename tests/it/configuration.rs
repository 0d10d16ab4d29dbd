//! What a team settles in `.kubectl-reconcile.yaml`, where it is found, and that every report names it.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::control_plane::{Workspace, program};

/// What every configuration begins with.
const CONFIG: &str = "apiVersion: kubectl-reconcile/v1\nkind: Config\n";
const MANIFEST: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: $NS}, data: {a: '1'}}\n";
/// A rule that is in force, and one that is not any more.
const RULES: &str = "ignore:
- {target: {kind: Deployment}, fields: [spec.replicas], reason: scaled}
- {target: {kind: Service}, jsonPointers: [/spec/ports/0], expires: 2020-01-31}
";

/// A workspace with a manifest in `deploy` and a configuration beside it.
fn with(configuration: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("deploy/settings.yaml", MANIFEST);
    ws.write("deploy/.kubectl-reconcile.yaml", &format!("{CONFIG}{configuration}"));
    ws
}

#[test]
fn every_report_names_the_file_and_the_rules_in_force() {
    let ws = with(RULES);
    let expected = json!({"file": "deploy/.kubectl-reconcile.yaml", "rules": 1, "readinessRules": 0, "annotated": 0});
    let diff = ws.reconcile(["diff", "-f", "deploy", "-o", "json"]).exits_with(1);
    assert_eq!(diff.report()["configuration"], expected);
    let expired = "deploy/.kubectl-reconcile.yaml:5:3: this ignore rule expired on 2020-01-31 and is no longer applied: \
                   remove the rule, or extend `expires`";
    let unmatched =
        "an ignore rule matches no field of the manifests or their live objects: `deploy/.kubectl-reconcile.yaml:4:3`";
    assert_eq!(diff.report()["warnings"], json!([expired, unmatched]));
    let text = ws.reconcile(["diff", "-f", "deploy"]).exits_with(1);
    assert!(text.stdout.contains("1 ignore rule of deploy/.kubectl-reconcile.yaml in force\n"), "{text}");
    assert!(text.stderr.contains(expired), "{text}");
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    for command in ["apply", "status", "diff"] {
        let run = ws.reconcile([command, "-f", "deploy", "-o", "json"]).exits_with(0);
        assert_eq!(run.report()["configuration"], expected, "{command}");
    }
    ws.write("empty.yaml", "");
    let offline = ws.reconcile(["diff", "-f", "deploy", "--live", "empty.yaml", "-o", "json"]).exits_with(1);
    assert_eq!(offline.report()["configuration"], expected);
    let none = ws.reconcile(["diff", "-f", "deploy", "--no-config", "-o", "json"]).exits_with(0);
    assert_eq!((&none.report()["configuration"], &none.report()["warnings"]), (&Value::Null, &Value::Null));
    let plain = ws.reconcile(["diff", "-f", "deploy", "--no-config"]).exits_with(0);
    assert!(!plain.stdout.contains("kubectl-reconcile.yaml"), "{plain}");
    ws.reconcile(["diff", "-f", "deploy", "--no-config", "--config", "deploy/.kubectl-reconcile.yaml"]).exits_with(2);
}

#[test]
fn a_configuration_at_the_root_of_the_repository_counts_and_none_beyond_it() {
    let ws = Workspace::new();
    ws.write("repository/team/deploy/settings.yaml", MANIFEST);
    ws.write(".kubectl-reconcile.yaml", &format!("{CONFIG}surprise: yes\n"));
    ws.write("repository/.git/HEAD", "");
    let root = ws.write("repository/.kubectl-reconcile.yaml", CONFIG);
    let diff =
        |flags: &[&str]| ws.reconcile([&["diff", "-f", "repository/team/deploy", "-o", "json"][..], flags].concat());
    let run = diff(&["-v"]).exits_with(1);
    assert_eq!(run.report()["configuration"]["file"], "repository/.kubectl-reconcile.yaml");
    assert!(run.stderr.contains(&format!("using the configuration {}", root.display())), "{run}");
    let text = ws.reconcile(["diff", "-f", "repository/team/deploy"]).exits_with(1);
    assert!(text.stdout.contains("configured by repository/.kubectl-reconcile.yaml, without ignore rules\n"), "{text}");
    assert!(!text.stderr.contains("using the configuration"), "{text}");
    fs::remove_file(root).unwrap();
    // The one in the working directory is no part of the repository of the manifests, and is used as the last resort.
    assert_eq!(diff(&[]).exits_with(2).report()["errors"][0]["message"], "unknown key `surprise` in the configuration");
}

#[test]
fn mistakes_stop_the_run_with_their_places() {
    let ws = with("ignroe: []\n");
    for command in ["diff", "apply", "status"] {
        let run = ws.reconcile([command, "-f", "deploy", "-o", "json"]).exits_with(2);
        let error = &run.report()["errors"][0];
        assert_eq!(
            (&error["file"], &error["line"], &error["column"], &error["message"]),
            (
                &json!("deploy/.kubectl-reconcile.yaml"),
                &json!(3),
                &json!(1),
                &json!("unknown key `ignroe` in the configuration")
            )
        );
        assert!(run.stderr.contains("did you mean `ignore`?"), "{run}");
    }
    ws.reconcile(["snapshot", "-f", "deploy"]).exits_with(2);
    assert!(ws.find("ConfigMap", "settings").is_none());
}

#[test]
fn defaults_are_as_if_typed_and_what_is_typed_wins() {
    let ws = with("defaults: {evidence: read-only, timeout: 1s, recursive: true}\n");
    ws.write("deploy/more/other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: $NS}}\n");
    let run = ws.reconcile(["diff", "-f", "deploy", "-o", "json"]).exits_with(1);
    assert_eq!(run.report()["objects"].as_array().unwrap().len(), 2, "recursive");
    assert_eq!(run.object("ConfigMap", "settings")["evidence"], "local");
    let run =
        ws.reconcile(["diff", "-f", "deploy", "--evidence=server", "-o", "text", "-o", "json=r.json"]).exits_with(1);
    assert!(run.stdout.starts_with("+ ConfigMap"), "{run}");
    let report: Value = serde_json::from_str(&fs::read_to_string(ws.folder().join("r.json")).unwrap()).unwrap();
    assert_eq!(report["objects"][0]["evidence"], "server");
    assert!(ws.reconcile(["apply", "-f", "deploy"]).exits_with(2).stderr.contains("`apply` writes"));
    ws.reconcile(["apply", "-f", "deploy", "--evidence", "auto"]).exits_with(0);
    ws.write(
        "deploy/.kubectl-reconcile.yaml",
        &format!("{CONFIG}defaults: {{server: 'https://evil.example', exit-zero: true, namespace: kube-system}}\n"),
    );
    let run = ws.reconcile(["diff", "-f", "deploy"]).exits_with(2);
    assert!(run.stderr.contains("deploy/.kubectl-reconcile.yaml:3:12: `defaults` cannot set `--server`"), "{run}");
    assert!(run.stderr.contains("deploy/.kubectl-reconcile.yaml:3:44: `defaults` cannot set `--exit-zero`"), "{run}");
    assert!(run.stderr.contains("`defaults` cannot set `--namespace`: it decides where objects are written"), "{run}");
}

#[test]
fn the_configuration_in_force_is_shown_and_can_be_used_again() {
    let ws = with(&format!("manualManagers: [k9s]\n{RULES}defaults: {{show-unmanaged: true}}\n"));
    let view = ws.reconcile(["config", "view", "-f", "deploy"]).exits_with(0);
    let expected = "# deploy/.kubectl-reconcile.yaml, found next to the manifests
# The ignore rule at deploy/.kubectl-reconcile.yaml:6:3 expired on 2020-01-31 and is not in force.
apiVersion: kubectl-reconcile/v1
kind: Config
manualManagers:
- k9s
ignore:
- target:
    kind: Deployment
  fields:
  - spec.replicas
  reason: scaled
defaults:
  show-unmanaged: true
";
    assert_eq!(view.stdout, expected);
    ws.write("again.yaml", &view.stdout);
    let again = ws.reconcile(["config", "view", "--config", "again.yaml"]).exits_with(0);
    let body = |text: &str| {
        text.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect::<String>()
    };
    assert_eq!(body(&again.stdout), body(expected));
    let json: Value =
        serde_json::from_str(&ws.reconcile(["config", "view", "-f", "deploy", "-o", "json"]).exits_with(0).stdout)
            .unwrap();
    assert_eq!(
        (&json["file"], &json["origin"]),
        (&json!("deploy/.kubectl-reconcile.yaml"), &json!("found next to the manifests"))
    );
    assert_eq!(json["ignore"][0]["place"], "deploy/.kubectl-reconcile.yaml:5:3");
    assert_eq!(json["expired"][0]["jsonPointers"], json!(["/spec/ports/0"]));
    let none = ws.reconcile(["config", "view", "-f", "deploy", "--no-config"]).exits_with(0);
    assert_eq!(none.stdout, format!("# No configuration file is in force.\n{CONFIG}"));
    ws.reconcile(["config", "view", "--config", "missing.yaml"]).exits_with(2);
    let schema = ws.reconcile(["config", "schema"]).exits_with(0).stdout;
    assert_eq!(schema, fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/config.json")).unwrap());
}

#[test]
fn the_annotation_of_a_manifest_is_checked_where_it_is_written() {
    let ws = Workspace::new();
    let manifest =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  annotations:\n    kubectl-reconcile/ignore: ";
    for (fields, message) in [
        ("spec..a", "`spec..a` is not a field: expected the name of a field, found `.`"),
        ("data,kind", "`kind` cannot be ignored: it identifies the object"),
        ("','", "the annotation `kubectl-reconcile/ignore` names no field"),
    ] {
        ws.write("settings.yaml", &format!("{manifest}{fields}\n"));
        let error =
            ws.reconcile(["diff", "-f", "settings.yaml", "-o", "json"]).exits_with(2).report()["errors"][0].clone();
        assert_eq!((&error["message"], &error["line"], &error["column"]), (&json!(message), &json!(6), &json!(31)));
    }
    ws.write("settings.yaml", &format!("{manifest}data.a\n"));
    let diff = ws.reconcile(["diff", "-f", "settings.yaml"]).exits_with(1);
    assert!(diff.stdout.contains("1 manifest with an ignore annotation\n"), "{diff}");
    let diff = ws.reconcile(["diff", "-f", "settings.yaml", "-o", "json"]).exits_with(1);
    assert_eq!(diff.report()["configuration"], json!({"rules": 0, "readinessRules": 0, "annotated": 1}));
}

/// An object with an ignored field that somebody changed; the configuration has a rule and readiness rules.
fn hidden() -> Workspace {
    let ws = with(
        "ignore: [{target: {kind: ConfigMap}, fields: [data.a]}]\nreadiness: [{target: {kind: Job}, current: 'true'}]\n",
    );
    ws.write("deploy/settings.yaml", &annotated("data.b"));
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    ws.kubectl(["patch", "configmap", "settings", "-p", r#"{"data":{"a":"hand","b":"hand"}}"#]).exits_with(0);
    ws
}

fn annotated(fields: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: settings, namespace: $NS, \
         annotations: {{kubectl-reconcile/ignore: {fields}}}}}, data: {{a: '1', b: '1'}}}}\n"
    )
}

const LEFT_ALONE: &str = "2 differences ignored by rules; 1 ignore rule and 1 readiness rule of \
                          deploy/.kubectl-reconcile.yaml in force, 1 manifest with an ignore annotation";

#[test]
fn without_a_configuration_no_annotation_hides_a_difference() {
    let ws = hidden();
    let differs = |flags: &[&str]| {
        let code = i32::from(!flags.is_empty());
        let run = ws.reconcile([&["diff", "-f", "deploy", "-o", "json"][..], flags].concat()).exits_with(code);
        if code == 0 { Vec::new() } else { run.changes("ConfigMap", "settings") }
    };
    assert_eq!(differs(&[]), [""; 0]);
    assert_eq!(differs(&["--no-config"]), ["changedByOther data.a", "changedByOther data.b"]);
    assert_eq!(differs(&["--no-ignore-annotations"]), ["changedByOther data.b"]);
    let config = "deploy/.kubectl-reconcile.yaml";
    let both = ["diff", "-f", "deploy", "-o", "json", "--no-ignore-annotations", "--config", config];
    let run = ws.reconcile(both).exits_with(1);
    let expected = json!({"file": config, "rules": 1, "readinessRules": 1, "annotated": 0});
    assert_eq!(run.report()["configuration"], expected);
    let applied = ws.reconcile(["apply", "-f", "deploy", "--no-config"]).exits_with(0);
    assert!(applied.report().get("configuration").is_none(), "{applied}");
    assert_eq!(ws.get("ConfigMap", "settings")["data"], json!({"a": "1", "b": "1"}));
}

#[test]
fn every_format_of_a_run_names_the_rules_that_hid_its_drift() {
    let ws = hidden();
    for format in ["text", "unified", "markdown", "junit", "sarif", "github", "gitlab", "html"] {
        let run = ws.reconcile(["diff", "-f", "deploy", "-o", format]).exits_with(0);
        // Formats with a summary have a line for each part.
        let parts: Vec<&str> = match format {
            "text" | "markdown" | "html" => LEFT_ALONE.split("; ").collect(),
            _ => vec![LEFT_ALONE],
        };
        assert!(parts.iter().all(|part| run.stdout.contains(part)), "{format}: {run}");
        assert!(!run.stderr.contains("ignore rule"), "{format}: {run}");
    }
    let status = ws.reconcile(["status", "-f", "deploy"]).exits_with(0);
    assert!(
        status.stdout.ends_with(
            "; 1 ignore rule and 1 readiness rule of deploy/.kubectl-reconcile.yaml in force, \
        1 manifest with an ignore annotation\n"
        ),
        "{status}"
    );
}

#[test]
fn where_nothing_else_names_the_rules_standard_error_does() {
    let ws = hidden();
    // `Workspace::reconcile` would ask for a report as well.
    let printed = |flags: &[&str]| {
        let user = ws.as_user("admin");
        let mut command = Command::new(program("kubectl-reconcile"));
        command.args(["diff", "-f", "deploy"]).args(flags).current_dir(ws.folder());
        command.env("HOME", ws.home()).env("KUBECONFIG", user.kubeconfig());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{flags:?}: {output:?}");
        [output.stdout, output.stderr].map(|stream| String::from_utf8(stream).unwrap())
    };
    let note = format!("{LEFT_ALONE}\n");
    for flags in [&["-q"][..], &["-o", "name"], &["-o", "name", "-o", "json=r.json"], &["-q", "-o", "name=names"]] {
        assert_eq!(printed(flags), ["", &note], "{flags:?}");
    }
    for flags in [&["-q", "-o", "json=r.json"][..], &["-q", "--no-config", "--exit-zero"]] {
        assert_eq!(printed(flags), ["", ""], "{flags:?}");
    }
    assert_eq!(printed(&["-o", "name=names"])[1], "", "the text says it");
}
