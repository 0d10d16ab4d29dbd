//! The formats for other programs, of real runs: what they show, where they are written, and what a program shows in their place.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use reconcile_report::formats::FORMATS;
use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace};
use crate::manifests::WEB;

/// The names of the formats for other programs.
fn formats() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().filter(|format| !format.is_text()).map(|format| format.name)
}

/// A workspace with drift by hand, a changed Secret, an object to create and one that cannot be compared.
fn shop() -> Workspace {
    let ws = Workspace::new();
    let pin = ws.secret("tomatillo-471");
    ws.write("web.yaml", WEB);
    let secret = |pin: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: login}}\nstringData: {{pin: {pin}, same: {pin}}}\n")
    };
    ws.write("secret.yaml", &secret(&pin));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 5);
    let other = ws.secret("pattypan-815");
    ws.write("secret.yaml", &secret(&other).replace(&format!("same: {other}"), &format!("same: {pin}")));
    ws.write("new.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {a: b}}");
    ws.write("odd.yaml", "{apiVersion: example.com/v1, kind: Whatsit, metadata: {name: odd}}");
    ws
}

#[test]
fn every_format_shows_a_real_run_and_no_secret() {
    let ws = shop();
    for format in formats() {
        let run = ws.reconcile(["diff", "-f", ".", "-o", format]).exits_with(4);
        // A line that is no name would end up in a pipe.
        let error = "error: Whatsit odd: the server has no kind `Whatsit` in `example.com/v1`\n";
        assert_eq!(run.stderr, if format == "name" { error } else { "" }, "{format}");
        for name in ["web", "login", "new", "odd"] {
            // The names are those of objects that differ, and of `odd` nobody knows.
            if (format, name) == ("name", "odd") {
                continue;
            }
            assert!(run.stdout.contains(name), "{format}: {name}: {run}");
        }
        // Events have times, and requests are counted.
        if !["jsonl", "json", "yaml", "html", "prometheus", "markdown"].contains(&format) {
            assert_eq!(ws.reconcile(["diff", "-f", ".", "-o", format]).stdout, run.stdout, "{format}");
        }
    }
}

#[test]
fn several_formats_are_written_at_once_whole_or_not_at_all() {
    let ws = shop();
    fs::create_dir(ws.folder().join(".git")).unwrap();
    let run = ws.reconcile(["diff", "-f", ".", "-o", "text", "-o", "junit=drift.xml", "-o", "sarif=drift.sarif"]);
    assert!(run.exits_with(4).stdout.contains("spec.replicas"));
    let file = |name: &str| fs::read_to_string(ws.folder().join(name)).unwrap();
    assert!(file("drift.xml").starts_with("<?xml"));
    let sarif: Value = serde_json::from_str(&file("drift.sarif")).unwrap();
    // The drift is on the line of the field: what a review shows.
    let line = WEB.lines().position(|line| line.contains("replicas: 2")).unwrap() + 1;
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let of_replicas =
        results.iter().find(|one| one["message"]["text"].as_str().unwrap().contains("spec.replicas")).unwrap();
    let place = &of_replicas["locations"][0]["physicalLocation"];
    assert_eq!((&place["artifactLocation"]["uri"], &place["region"]["startLine"]), (&json!("web.yaml"), &json!(line)));

    let same = ws.reconcile(["diff", "-f", ".", "-o", "junit=drift.xml", "-o", "sarif=drift.xml"]).exits_with(2);
    assert!(same.stderr.contains("two reports cannot share a file"), "{same}");
    assert!(file("drift.xml").starts_with("<?xml"));
    let before = ws.all_resource_versions();
    ws.reconcile(["apply", "-f", "new.yaml", "-o", "markdown=none/report.md"]).exits_with(2);
    ws.reconcile(["apply", "-f", "new.yaml", "-o", "jsonl", "-o", "github"]).exits_with(2);
    assert_eq!(ws.all_resource_versions(), before);
}

#[test]
fn a_mistake_in_a_manifest_is_an_error_of_the_test_report_of_apply_too() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, spec: {}}");
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "it.yaml", "-o", "junit"]).exits_with(4);
        assert!(run.stdout.contains(r#"skipped="0" failures="0" errors="1""#), "{run}");
    }
}

#[test]
fn paths_are_shown_from_the_root_of_the_repository() {
    let ws = shop();
    let deploy = ws.folder();
    fs::create_dir(deploy.join(".git")).unwrap();
    let file = deploy.join("web.yaml").display().to_string();
    for path in ["web.yaml", "./web.yaml", file.as_str()] {
        let run = ws.reconcile(["diff", "-f", path, "-o", "github"]).exits_with(1);
        assert!(run.stdout.starts_with("::warning file=web.yaml,line="), "{path}: {run}");
    }
    // The texts of a Secret are compared in `data`.
    ws.write("texts.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: texts}\nstringData:\n  a: one\n  b: two\n");
    ws.reconcile(["apply", "-f", "texts.yaml"]).exits_with(0);
    ws.patch_as("kubectl-patch", "secret/texts", &json!({"data": {"b": "dGhyZWU="}}));
    let run = ws.reconcile(["diff", "-f", "texts.yaml", "-o", "github"]).exits_with(1);
    assert!(run.stdout.starts_with("::warning file=texts.yaml,line=6,"), "{run}");
}

/// The oracle: what `kubectl diff` shows of the same objects, but for what the server counts up.
#[test]
fn a_patch_has_the_lines_of_kubectl_diff() {
    let ws = shop();
    let lines = |run: &Run| -> Vec<String> {
        let is_change = |line: &&str| {
            (line.starts_with('-') || line.starts_with('+')) && !line.starts_with("---") && !line.starts_with("+++")
        };
        let counted = |line: &&str| !line.contains("generation: ");
        run.stdout.lines().filter(is_change).filter(counted).map(|line| line.replace(['"', '\''], "")).collect()
    };
    for file in ["web.yaml", "secret.yaml"] {
        let ours = ws.reconcile(["diff", "-f", file, "-o", "unified"]).exits_with(1);
        let flags = ["diff", "--server-side", "--force-conflicts", "--field-manager=kubectl-reconcile", "-f", file];
        let theirs = ws.kubectl(flags).exits_with(1);
        assert_eq!(lines(&ours), lines(&theirs), "{ours}\n{theirs}");
        assert!(!lines(&ours).is_empty());
    }
    let new = ws.reconcile(["diff", "-f", "new.yaml", "-o", "unified"]).exits_with(1).stdout;
    assert!(new.contains("\n--- /dev/null\n+++ MERGED/v1.ConfigMap."), "{new}");
}

#[test]
fn a_patch_has_colours_on_a_terminal_only_and_the_same_characters() {
    let ws = shop();
    let patch =
        |color: &str| ws.reconcile(["diff", "-f", "web.yaml", "-o", "unified", "--color", color]).exits_with(1).stdout;
    let plain = patch("auto");
    let colored = patch("always");
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert!(colored.contains("\u{1b}[1m--- LIVE/") && colored.contains("\u{1b}[36m@@ "), "{colored}");
    assert!(colored.contains("\u{1b}[31m-") && colored.contains("\u{1b}[32m+"), "{colored}");
    let mut parts = colored.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    assert_eq!(parts.fold(first, |text, part| text + part.split_once('m').unwrap().1), plain);
}

/// Writes a program that notes what it is given.
fn program(ws: &Workspace, name: &str, end: &str) -> String {
    let path = ws.folder().join(name);
    let notes = ws.home().join("notes");
    let script = format!(
        "#!/bin/sh\nexec >'{}'\nfor argument; do echo \"argument $argument\"; done\nfor last; do :; done\nstat -c %a \"$last\" \"$(dirname \"$last\")\"\ncd \"$last\" && stat -c '%a %n' * && cat *\n{end}\n",
        notes.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn notes(ws: &Workspace) -> String {
    fs::read_to_string(ws.home().join("notes")).unwrap_or_default()
}

/// The folders that a program was given, which are gone by now.
#[track_caller]
fn folders_are_gone(ws: &Workspace) {
    let notes = notes(ws);
    let folders: Vec<&str> = notes
        .lines()
        .filter_map(|line| line.strip_prefix("argument "))
        .filter(|line| line.contains("/kubectl-reconcile-"))
        .collect();
    assert_eq!(folders.len(), 2, "{notes}");
    assert!(folders[0].ends_with("/LIVE") && folders[1].ends_with("/MERGED"));
    for folder in folders {
        assert!(!std::path::Path::new(folder).parent().unwrap().exists(), "{folder}");
    }
}

#[test]
fn an_external_program_shows_the_patch_in_private_folders() {
    let ws = shop();
    let differ = program(&ws, "my differ", "exit 1");
    let command = format!("'{differ}' between --label=\"a b\" '*'");
    let shown = ws.env("KUBECTL_EXTERNAL_DIFF", &command).reconcile(["diff", "-f", ".", "-o", "unified"]).exits_with(4);
    assert_eq!(shown.stdout, "");
    assert!(shown.stderr.starts_with("Whatsit ") && shown.stderr.contains("odd: notCompared: "), "{shown}");
    let noted = notes(&ws);
    assert!(noted.starts_with("argument between\nargument --label=a b\nargument *\nargument /"), "{noted}");
    assert!(noted.contains("\n700\n700\n600 apps.v1.Deployment."), "{noted}");
    assert!(noted.contains("pin: '*** (after)'") || noted.contains("pin: \"*** (after)\""), "{noted}");
    for secret in ["tomatillo", "pattypan", "dG9tYXRpbGxv", "cGF0dHlwYW4"] {
        assert!(!noted.contains(secret), "{noted}");
    }
    folders_are_gone(&ws);
    // A file is a patch in any case, and a program that is not there is known before anything is compared.
    fs::remove_file(ws.home().join("notes")).unwrap();
    let caller = ws.env("KUBECTL_EXTERNAL_DIFF", &command);
    caller.reconcile(["diff", "-f", "web.yaml", "-o", "unified=web.patch"]).exits_with(1);
    caller.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    assert!(fs::read_to_string(ws.folder().join("web.patch")).unwrap().contains("\n--- LIVE/apps.v1.Deployment."));
    assert_eq!(notes(&ws), "");
}

#[test]
fn an_external_program_that_fails_is_reported() {
    let ws = shop();
    let with =
        |value: &str| ws.env("KUBECTL_EXTERNAL_DIFF", value).reconcile(["diff", "-f", "web.yaml", "-o", "unified"]);
    let failed = with(&format!("'{}'", program(&ws, "failing", "exit 3"))).exits_with(2);
    assert!(failed.stderr.contains("failed: exit status: 3"), "{failed}");
    folders_are_gone(&ws);
    for (value, message) in
        [("no-such-differ -u", "`no-such-differ` cannot be run"), ("diff 'x", "a quote is not closed")]
    {
        let refused = with(value).exits_with(2);
        assert!(refused.stderr.contains(message), "{refused}");
    }
    assert!(with("").exits_with(1).stdout.contains("replicas"), "an empty variable names nothing");
    assert!(with("true").exits_with(1).stdout.is_empty(), "drift is drift, whatever the program says");
}

#[test]
fn nothing_is_left_of_an_external_program_that_is_interrupted() {
    let ws = shop();
    let command = format!("'{}'", program(&ws, "slow", "echo ready; exec sleep 60"));
    for presses in [1, 2] {
        let _ = fs::remove_file(ws.home().join("notes"));
        let caller = ws.env("KUBECTL_EXTERNAL_DIFF", &command);
        let run = caller.start_reconcile(["diff", "-f", "web.yaml", "-o", "unified"]);
        let deadline = Instant::now() + Duration::from_mins(1);
        while !notes(&ws).contains("ready") {
            assert!(Instant::now() < deadline, "{}", notes(&ws));
            std::thread::sleep(Duration::from_millis(10));
        }
        for _ in 0..presses {
            run.terminate();
            std::thread::sleep(Duration::from_millis(100));
        }
        run.finish().exits_with(130);
        folders_are_gone(&ws);
    }
}

#[test]
fn every_format_with_the_document_has_the_uid_of_the_cluster() {
    let ws = shop();
    let uid = ws.get("Namespace", "kube-system")["metadata"]["uid"].clone();
    let uid = uid.as_str().unwrap();
    for format in ["json", "yaml", "jsonl"] {
        let run = ws.reconcile(["diff", "-f", ".", "-o", format]).exits_with(4);
        assert!(run.stdout.contains(uid), "{format}: {run}");
    }
}

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn events_are_lines_as_they_happen_and_the_last_is_the_report() {
    let ws = shop();
    let run = ws.reconcile(["apply", "-f", ".", "-o", "jsonl", "-o", "jsonl=events.jsonl"]).exits_with(4);
    let lines = events(&run.stdout);
    assert_eq!(fs::read_to_string(ws.folder().join("events.jsonl")).unwrap(), run.stdout);
    let names: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!((names[0], *names.last().unwrap()), ("began", "report"));
    let at = |event: &str, name: &str| {
        let is_it = |line: &Value| line["event"] == event && line["object"]["name"] == name;
        lines.iter().position(is_it).unwrap_or_else(|| panic!("no {event} of {name} in {run}"))
    };
    let compared = lines.iter().position(|line| line["event"] == "ended" && line["stage"] == "compare").unwrap();
    for name in ["web", "login", "new"] {
        assert!(at("compared", name) < compared && compared < at("written", name), "{run}");
    }
    assert_eq!(lines[at("written", "web")]["object"]["outcome"], "updated");
    assert!(lines[..lines.len() - 1].iter().all(|line| line["time"].as_str().unwrap().ends_with('Z')), "{run}");
    let report = &lines.last().unwrap()["report"];
    assert_eq!(
        (&report["verdict"], &report["exitCode"], report.get("objects")),
        (&json!("incomplete"), &json!(4), None)
    );

    ws.write("live.yaml", "");
    let run = ws.reconcile(["diff", "-f", "new.yaml", "--live", "live.yaml", "-o", "jsonl"]).exits_with(1);
    assert_eq!(
        events(&run.stdout).iter().map(|line| line["event"].clone()).collect::<Vec<_>>(),
        ["compared", "report"]
    );
}

#[test]
fn a_step_summary_is_added_to() {
    let ws = shop();
    let path = ws.folder().join("summary.md");
    fs::write(&path, "# Earlier\n").unwrap();
    let caller = ws.env("GITHUB_STEP_SUMMARY", &path.display().to_string());
    let output = format!("markdown={}", path.display());
    for file in ["web.yaml", "new.yaml"] {
        caller.reconcile(["diff", "-f", file, "-o", &output]).exits_with(1);
    }
    let summary = fs::read_to_string(&path).unwrap();
    assert!(summary.starts_with("# Earlier\n### kubectl reconcile diff: drift\n"), "{summary}");
    assert_eq!(summary.matches("### kubectl reconcile diff").count(), 2, "{summary}");
    // Any other file is replaced.
    let other = format!("markdown={}", ws.folder().join("other.md").display());
    for _ in 0..2 {
        caller.reconcile(["diff", "-f", "web.yaml", "-o", &other]).exits_with(1);
    }
    assert_eq!(fs::read_to_string(ws.folder().join("other.md")).unwrap().matches("### ").count(), 1);
}
