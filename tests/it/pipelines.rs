//! Nothing that others wrote is a command of the pipeline that prints it: in no format of any command, on no stream and in no file. The
//! harness looks for such commands in all output of every run; here, everything tries to be one.

use std::fs;

use reconcile_report::formats::FORMATS;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::control_plane::scripted::{Seen, Server, answer};
use crate::control_plane::{Rng, Workspace, pipeline_commands};

/// Commands of all runners, and parts of them, of which the printed text might make whole ones.
const PARTS: [&str; 34] = [
    "##[error]x",
    "##[stop-commands]t",
    "##vso[task.complete result=Succeeded;]",
    "##teamcity[buildStatus status='SUCCESS']",
    "::error::x",
    "::stop-commands::t",
    "section_start:1700000000:a\r\u{1b}[0K",
    "section_end:1700000000:a\r\u{1b}[0K",
    "#",
    "##",
    "###",
    "[",
    "]",
    "[a.b]",
    "vso",
    "vso[a.b]",
    ":",
    "::",
    "\n",
    "\r",
    "\r\n",
    "\u{1b}",
    "\u{1b}[0m",
    "\u{ad}",
    "\u{200b}",
    "\u{202e}",
    "\u{600}",
    "\u{a0}",
    "\u{3000}",
    " ",
    "\t",
    "\u{85}",
    "\u{2028}",
    "word",
];

fn hostile(rng: &mut Rng) -> String {
    (0..=rng.below(5)).map(|_| *rng.pick(&PARTS)).collect()
}

/// A text that the API server takes for the name of a field manager, and of other things on one line.
fn printable(rng: &mut Rng) -> String {
    hostile(rng).chars().filter(|c| matches!(c, ' '..='~')).chain(['x']).take(100).collect()
}

/// A ConfigMap; a name that is none is a mistake, which is quoted.
fn config_map(rng: &mut Rng, name: &str) -> Value {
    let data: serde_json::Map<String, Value> =
        (0..4).map(|at| (format!("{at}{}", hostile(rng)), hostile(rng).into())).collect();
    let lines: Vec<String> = (0..8).map(|_| hostile(rng)).collect();
    let metadata =
        json!({"name": name, "namespace": "shop", "annotations": {format!("a{}", hostile(rng)): hostile(rng)}});
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
    object["data"]["lines"] = lines.join("\n").into();
    object["data"]["json"] = json!({hostile(rng): {hostile(rng): hostile(rng)}}).to_string().into();
    object
}

fn live(rng: &mut Rng, name: &str) -> Value {
    let mut object = config_map(rng, name);
    let fields = json!({"f:data": {"f:lines": {}, "f:json": {}, format!("f:{}", hostile(rng)): {}}});
    let entry = json!({"manager": hostile(rng), "operation": "Update", "apiVersion": "v1", "time": "2026-11-20T10:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields});
    object["metadata"]["managedFields"] = json!([entry]);
    object["metadata"]["uid"] = "1-2-3".into();
    object["metadata"]["resourceVersion"] = "1".into();
    object
}

fn configuration(rules: &[Value]) -> String {
    json!({"apiVersion": "kubectl-reconcile/v1", "kind": "Config", "ignore": rules}).to_string()
}

/// The annotations of `-o github` are ours; everything in them is escaped.
fn foreign_commands(format: &str, text: &str) -> Vec<String> {
    let is_ours =
        |command: &String| ["::error ", "::warning ", "::notice "].iter().any(|start| command.starts_with(start));
    let has_foreign = |command: &String| {
        let (head, message) = command[2..].split_once("::").unwrap_or_default();
        !pipeline_commands(&format!("x{head}{message}")).is_empty()
    };
    let found = pipeline_commands(text).into_iter();
    found.filter(|command| !(format == "github" && is_ours(command) && !has_foreign(command))).collect()
}

/// Everything that is random, in all formats, as files and on standard output.
#[test]
fn random_text_is_no_command_in_any_format() {
    let ws = Workspace::new();
    for seed in 0..40 {
        let rng = &mut Rng::new(seed);
        let name = if rng.chance(70) { "it".to_owned() } else { hostile(rng) };
        let file: String = hostile(rng).replace('/', "-").chars().take(60).collect();
        ws.write(format!("m/{file}.json"), &config_map(rng, &name).to_string());
        ws.write("live.json", &live(rng, &name).to_string());
        let rule =
            json!({"target": {"kind": "ConfigMap"}, "fields": ["data.json"], "reason": format!("r{}", hostile(rng))});
        ws.write("rules.yaml", &configuration(&[rule]));
        let mut arguments = vec!["diff", "-f", "m", "--live", "live.json", "--show-unmanaged", "-v", "9"];
        let target = |format: &str| ws.home().join(format).display().to_string();
        let outputs: Vec<String> =
            FORMATS.iter().map(|format| format!("-o={}={}", format.name, target(format.name))).collect();
        arguments.extend(outputs.iter().map(String::as_str));
        if seed % 2 == 0 {
            arguments.extend(["--config", "rules.yaml", "--explain-ignores"]);
        }
        if seed % 3 == 0 {
            arguments.push("--color=always");
        }
        let run = ws.env("KUBECONFIG", "/nowhere").reconcile(&arguments);
        assert!([0, 1, 2, 4].contains(&run.code), "{run}");
        for format in FORMATS {
            let text = fs::read_to_string(ws.home().join(format.name)).unwrap_or_default();
            assert_eq!(foreign_commands(format.name, &text), [""; 0], "{} of seed {seed}: {text}", format.name);
            let hidden = text.chars().find(|c| *c != '\n' && *c != '\t' && reconcile_core::text::is_hidden(*c));
            assert_eq!(hidden, None, "{} of seed {seed}: {text}", format.name);
        }
        fs::remove_dir_all(ws.folder().join("m")).unwrap();
    }
}

/// Everything that tenants may write, in all commands.
#[test]
fn objects_and_managers_of_others_are_no_commands_in_any_command() {
    let ws = Workspace::new();
    let rng = &mut Rng::new(99);
    for number in 0..3 {
        let managers =
            [printable(rng), format!("{number}##[error]"), "##vso[task.complete result=Succeeded;]".to_owned()];
        let value = |rng: &mut Rng| json!({"a": hostile(rng), "b": format!("x\n{}", hostile(rng)), "c": "##[error]x ##vso[a.b]y"});
        let map = |data: Value| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it"}, "data": data}).to_string()
        };
        ws.apply_as(&managers[number], &map(value(rng)));
        ws.write("it.json", &map(value(rng)));
        ws.write("new.json", &map(value(rng)).replace("\"it\"", "\"new\""));
        let diff = ["diff", "-f", "."];
        for format in FORMATS {
            ws.reconcile([&diff[..], &["-o", format.name]].concat());
            ws.reconcile([&["apply", "--dry-run", "-f", "."][..], &["-o", format.name]].concat());
        }
        ws.reconcile([&diff[..], &["--color=always"]].concat());
        ws.reconcile([&diff[..], &["--suggest-ignores"]].concat()).exits_with(1);
        ws.reconcile(["apply", "-f", ".", "-v", "9"]).exits_with(4);
        ws.reconcile(["apply", "-f", ".", "--force-conflicts", "--wait"]).exits_with(0);
        ws.reconcile(["status", "-f", "."]).exits_with(0);
        ws.reconcile(["snapshot", "-f", "."]).exits_with(0);
        for output in ["text", "json", "yaml"] {
            ws.reconcile(["access", "-f", ".", "-o", output]);
        }
        let report = ws.home().join("report.json").display().to_string();
        ws.reconcile([&diff[..], &["-o", &format!("json={report}")]].concat());
        ws.reconcile(["report", "merge", &report]);
        ws.reconcile(["report", "merge", &report, "-o", "markdown"]);
        ws.delete("configmap/new");
    }
}

/// An argument may be the name of a file, which the shell has put there.
#[test]
fn wrong_arguments_are_no_commands() {
    let ws = Workspace::new();
    for name in ["##vso[task.complete result=Succeeded;]", "a\n::error::x", "\u{1b}[2J", "##[error]"] {
        for arguments in [
            &["diff", name][..],
            &["diff", "-f", "m", name],
            &[name],
            &["diff", "--sort", name],
            &["diff", "--timeout", name],
        ] {
            let run = ws.reconcile(arguments).exits_with(2);
            // clap leaves out what looks like a colour.
            let is_escaped = run.stderr.contains("\\u{") || run.stderr.contains("\n  | ::error::x");
            assert!(is_escaped || name == "\u{1b}[2J", "{run}");
            assert!(!run.stderr.contains('\u{1b}'), "{run}");
        }
        let report = ws.home().join("report.json").display().to_string();
        let run = ws.reconcile(["diff", "-f", name, "-o", &format!("json={report}")]).exits_with(2);
        // The place of a message is on one line.
        assert!(run.stderr.contains("\\u{") || run.stderr.contains("a\\n::error::x"), "{run}");
    }
    let rule = json!({"target": {"kind": "ConfigMap"}, "fields": [r###"data["##vso[a.b]"]"###], "reason": "##[c]"});
    ws.write("rules.yaml", &configuration(&[rule]));
    for output in ["yaml", "json"] {
        ws.reconcile(["config", "view", "--config", "rules.yaml", "-o", output]).exits_with(0);
    }
}

#[test]
fn the_version_of_a_server_is_no_command_and_hides_nothing() {
    const VERSION: &str = "v1.36.0\u{202e}##[error]\u{1b}[2J";
    let runtime = Runtime::new().unwrap();
    let body = json!({"gitVersion": VERSION, "major": "1", "minor": "36"}).to_string();
    let script = move |_: usize, _: &Seen| answer("200 OK", &["content-type: application/json"], &body);
    let server = runtime.block_on(Server::start(script));
    let ws = Workspace::new();
    for output in ["text", "json", "yaml"] {
        let run =
            ws.through(&format!("http://{}", server.address())).reconcile(["version", "-o", output]).exits_with(0);
        assert!(!run.stdout.contains(['\u{202e}', '\u{1b}']) && run.stdout.contains("v1.36.0\\u"), "{run}");
        let read = kube_yaml::read(run.stdout.as_bytes(), kube_yaml::Validation::Strict).documents;
        assert!(output == "text" || read[0].value["cluster"]["version"] == VERSION, "{run}");
    }
}
