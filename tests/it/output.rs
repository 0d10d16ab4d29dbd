//! What is printed: the report's fields, exit codes, colours, formats, and the same bytes in every run.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Workspace};
use crate::manifests::{SHOP, WEB};

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value} is no object")).keys().map(String::as_str).collect()
}

/// A workspace with one object to update, one to create and one that cannot be compared.
fn mixed() -> Workspace {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("kubectl-edit", "deployment/web", &json!({"spec": {"replicas": 5}}));
    ws.write("new.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {a: b}}");
    ws.write("odd.yaml", "{apiVersion: example.com/v1, kind: Whatsit, metadata: {name: odd}}");
    ws
}

#[test]
fn the_report_has_the_fields_of_the_contract() {
    let ws = mixed();
    let run = ws.reconcile(["diff", "-f", ".", "-o", "json"]).exits_with(4);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        keys(&report),
        [
            "apiVersion",
            "kind",
            "tool",
            "time",
            "command",
            "verdict",
            "exitCode",
            "cluster",
            "summary",
            "requests",
            "objects",
            "errors"
        ]
        .into()
    );
    assert_eq!(report["tool"], json!({"name": "kubectl-reconcile", "version": env!("CARGO_PKG_VERSION")}));
    assert_eq!(
        (&report["apiVersion"], &report["kind"], &report["command"], &report["verdict"], &report["exitCode"]),
        (&json!("kubectl-reconcile/v1"), &json!("Report"), &json!("diff"), &json!("incomplete"), &json!(4))
    );
    assert_eq!(report["cluster"]["context"], "tests");
    assert_eq!(report["cluster"]["server"], ws.plane().url());
    assert!(report["cluster"]["version"].as_str().unwrap().starts_with("v1."));
    let counts = [
        "objects",
        "inSync",
        "create",
        "update",
        "replace",
        "needsReplace",
        "protected",
        "delete",
        "unknown",
        "sides",
        "proven",
        "conflict",
        "adopted",
        "addedItems",
        "unmanaged",
        "unmanagedManual",
        "ignored",
        "hooks",
    ];
    assert_eq!(keys(&report["summary"]), counts.into());
    assert_eq!(keys(&report["requests"]), ["get", "list", "dryRun", "write", "other"].into());
    assert_eq!(report["errors"], json!([]));

    let web = run.object("Deployment", "web");
    let fields = [
        "apiVersion",
        "kind",
        "namespace",
        "name",
        "source",
        "resourceVersion",
        "action",
        "evidence",
        "side",
        "changes",
        "conflicts",
        "effects",
        "warnings",
    ];
    assert_eq!(keys(web), fields.into());
    assert_eq!((&web["source"]["file"], &web["source"]["line"]), (&json!("./web.yaml"), &json!(2)));
    assert_eq!((&web["action"], &web["evidence"]), (&json!("update"), &json!("server")));
    let change = &web["changes"][0];
    assert_eq!(keys(change), ["path", "op", "class", "side", "live", "desired", "managers"].into());
    assert_eq!(keys(&change["managers"][0]), ["manager", "operation", "subresource", "time", "manual"].into());
    assert_eq!((&change["op"], &change["live"], &change["desired"]), (&json!("change"), &json!(5), &json!(2)));

    let odd = run.object("Whatsit", "odd");
    assert!(odd.get("evidence").is_none() && odd.get("outcome").is_none(), "{odd:#}");
    assert!(odd["error"]["reason"].is_string() && odd["error"]["message"].is_string());
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.each("outcome"), ["ConfigMap new: created", "Deployment web: updated", "Whatsit odd: skipped"]);
}

#[test]
fn a_report_is_printed_for_input_that_cannot_be_read_and_for_no_cluster() {
    let ws = Workspace::new();
    ws.write("web.yaml", "a: b: c");
    let run = ws.reconcile(["diff", "-f", ".", "-o", "json"]).exits_with(2);
    assert_eq!((&run.report()["verdict"], &run.report()["exitCode"]), (&json!("invalid"), &json!(2)));
    let error = &run.report()["errors"][0];
    assert_eq!((&error["file"], &error["line"]), (&json!("./web.yaml"), &json!(1)));
    assert!(error["column"].is_number() && error["message"].is_string(), "{error}");
    ws.write("web.yaml", WEB);
    let run = ws.through("https://127.0.0.1:1").reconcile(["diff", "-f", ".", "-o", "json"]).exits_with(3);
    assert_eq!((&run.report()["verdict"], &run.report()["exitCode"]), (&json!("unreachable"), &json!(3)));
    assert!(run.report()["errors"][0]["message"].as_str().unwrap().contains("127.0.0.1:1"));
}

#[test]
fn two_runs_print_the_same_bytes() {
    let ws = Workspace::new();
    ws.write("shop.yaml", SHOP);
    ws.write("web.yaml", WEB);
    let same = |flags: &[&str]| {
        let mut outputs = (0..3).map(|_| {
            let run = ws.reconcile([&["diff", "-f", "."][..], flags].concat());
            let mut report = run.report().clone();
            for field in ["requests", "time"] {
                report.as_object_mut().unwrap().remove(field);
            }
            (if flags.is_empty() { run.stdout } else { String::new() }, report.to_string())
        });
        let first = outputs.next().unwrap();
        assert!(outputs.all(|output| output == first), "{flags:?}");
    };
    same(&[]);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    same(&[]);
    for name in ["configmap/settings", "secret/credentials", "service/web", "role/web", "cronjob/report"] {
        ws.kubectl(["delete", name]).exits_with(0);
    }
    ws.scale("deployment/web", 9);
    same(&[]);
    same(&["-o", "json"]);
}

/// The oracle for the time is `date`; for its format, RFC 3339 in UTC.
#[test]
fn a_report_has_the_time_at_which_the_run_began() {
    let now = |format: &str| {
        let date = Command::new("date").args(["-u", format]).output().unwrap();
        String::from_utf8(date.stdout).unwrap().trim().to_owned()
    };
    let ws = Workspace::new();
    ws.write("web.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}");
    let before = now("+%Y-%m-%dT%H:%M:%SZ");
    let run = ws.reconcile(["diff", "-f", ".", "-o", "json"]).exits_with(1);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let time = report["time"].as_str().unwrap();
    assert!((before.as_str()..=now("+%Y-%m-%dT%H:%M:%SZ").as_str()).contains(&time), "{before} {time}");

    // The same for every format that has a time, and for a run that ends before it compares anything.
    let at = |epoch: &str| ws.env("SOURCE_DATE_EPOCH", epoch);
    for format in ["json", "yaml", "markdown", "html", "jsonl"] {
        let run = at("1700000000").reconcile(["diff", "-f", ".", "-o", format]).exits_with(1);
        assert!(run.stdout.contains("2023-11-14T22:13:20Z"), "{run}");
    }
    let run = at("1700000000").reconcile(["diff", "-f", "none.yaml", "-o", "json"]).exits_with(2);
    assert!(run.stdout.contains("2023-11-14T22:13:20Z"), "{run}");
    for wrong in ["yesterday", "-1", "99999999999999999999"] {
        let run = at(wrong).reconcile(["diff", "-f", "."]).exits_with(2);
        assert!(run.stderr.contains("`SOURCE_DATE_EPOCH` is not a time") && run.stderr.contains("hint: "), "{run}");
    }
    at("").reconcile(["diff", "-f", "."]).exits_with(1);
}

#[test]
fn text_names_the_cluster_once() {
    let ws = mixed();
    let line = format!("context tests ({})", ws.plane().url());
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    assert_eq!(diff.stdout.lines().last(), Some(line.as_str()));
    assert!(!diff.stderr.contains("context tests"), "{diff}");
    let apply = ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    assert_eq!(apply.stderr.lines().next(), Some(line.as_str()));
    assert!(!apply.stdout.contains("context tests"), "{apply}");
    // A log of an apply names it, whatever is on standard output; a file has no standard error.
    let apply = ws.reconcile(["apply", "-f", "web.yaml", "-o", "json", "-o", "text=apply.txt"]).exits_with(0);
    assert_eq!(apply.stderr.lines().next(), Some(line.as_str()));
    assert_eq!(fs::read_to_string(ws.folder().join("apply.txt")).unwrap().lines().last(), Some(line.as_str()));
    assert_eq!(ws.reconcile(["apply", "-f", "web.yaml", "-q"]).exits_with(0).stderr, "");
    let comment = ws.reconcile(["diff", "-f", ".", "-o", "markdown"]).exits_with(4).stdout;
    let url = ws.plane().url();
    assert!(comment.lines().nth(2).unwrap().starts_with(&format!("context `tests` (`{url}`), 20")), "{comment}");
}

#[test]
fn objects_stand_in_the_order_in_which_they_are_applied_whatever_the_order_of_the_input() {
    let ws = Workspace::new();
    ws.write("a.yaml", WEB);
    ws.write("b.yaml", SHOP);
    let one = ws.reconcile(["diff", "-f", "a.yaml", "-f", "b.yaml"]).exits_with(1);
    let other = ws.reconcile(["diff", "-f", "b.yaml", "-f", "a.yaml"]).exits_with(1);
    assert_eq!(one.each("action"), other.each("action"));
    assert_eq!(one.stdout, other.stdout);
}

#[test]
fn quiet_prints_no_text_but_the_reports_asked_for() {
    let ws = mixed();
    let run = ws.reconcile(["diff", "-f", ".", "-q"]).exits_with(4);
    assert_eq!(run.stdout, "");
    assert_eq!(run.report()["exitCode"], 4);
    let run = ws.reconcile(["diff", "-f", ".", "-q", "-o", "json"]).exits_with(4);
    assert_eq!(run.report()["exitCode"], 4);
    let run = ws.reconcile(["apply", "-f", "new.yaml", "-q"]).exits_with(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn exit_zero_changes_drift_only() {
    let ws = mixed();
    ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    let run = ws.reconcile(["diff", "-f", "web.yaml", "--exit-zero"]).exits_with(0);
    assert_eq!((&run.report()["verdict"], &run.report()["exitCode"]), (&json!("drift"), &json!(0)));
    ws.reconcile(["diff", "-f", ".", "--exit-zero"]).exits_with(4);
    ws.reconcile(["diff", "-f", "missing.yaml", "--exit-zero"]).exits_with(2);
    ws.through("https://127.0.0.1:1").reconcile(["diff", "-f", "web.yaml", "--exit-zero"]).exits_with(3);
}

#[test]
fn a_report_in_a_file_leaves_the_text_on_stdout() {
    let ws = mixed();
    let alone = ws.reconcile(["diff", "-f", ".", "-o", "text"]).exits_with(4);
    let run = ws.reconcile(["diff", "-f", ".", "-o", "json=report.json", "-o", "text=report.txt"]).exits_with(4);
    assert_eq!(run.stdout, alone.stdout);
    let file = |name: &str| fs::read_to_string(ws.folder().join(name)).unwrap();
    let report: Value = serde_json::from_str(&file("report.json")).unwrap();
    assert_eq!(report["exitCode"], 4);
    assert_eq!(file("report.txt"), alone.stdout);
    let two = ws.reconcile(["diff", "-f", ".", "-o", "json", "-o", "text"]).exits_with(2);
    assert!(two.stderr.contains("hint:"), "{two}");
    let unwritable = ws.reconcile(["diff", "-f", "new.yaml", "-o", "json=missing/report.json"]).exits_with(2);
    assert!(unwritable.stderr.contains("missing/report.json"), "{unwritable}");
    let before = ws.all_resource_versions();
    let missing = ["apply", "-f", "new.yaml", "-o", "json=missing/report.json"];
    assert!(ws.reconcile(missing).exits_with(2).stderr.contains("missing/report.json"));
    ws.reconcile(["apply", "-f", "new.yaml", "-o", "json=."]).exits_with(2);
    ws.reconcile(["snapshot", "-f", "new.yaml", "--file", "missing/live.yaml"]).exits_with(2);
    assert_eq!(ws.all_resource_versions(), before, "nothing is written where the report could not be");
    let left: Vec<_> = fs::read_dir(ws.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

#[test]
fn colours_have_their_switches() {
    let ws = mixed();
    let is_coloured = |flags: &[&str], variables: &[(&str, &str)]| {
        let caller = variables.iter().fold(ws.stdin(""), |caller, (name, value)| caller.env(name, value));
        caller.reconcile([&["diff", "-f", "web.yaml"][..], flags].concat()).exits_with(1).stdout.contains('\u{1b}')
    };
    assert!(!is_coloured(&[], &[]), "a pipe is no terminal");
    assert!(is_coloured(&["--color=always"], &[]));
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "0")]));
    assert!(!is_coloured(&["--color=never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(is_coloured(&["--color=always"], &[("NO_COLOR", "1")]), "a flag is more than a variable");
    let plain = ws.reconcile(["diff", "-f", "web.yaml"]).stdout;
    let coloured = ws.reconcile(["diff", "-f", "web.yaml", "--color=always"]).stdout;
    let mut text = String::new();
    let mut escape = false;
    for character in coloured.chars() {
        match character {
            '\u{1b}' => escape = true,
            'm' if escape => escape = false,
            other if !escape => text.push(other),
            _ => {}
        }
    }
    assert_eq!(text, plain, "colour carries no meaning of its own");
}

#[test]
fn live_values_cannot_play_with_the_terminal() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let evil = "x\u{1b}[2J\u{202e}gnp.exe\u{7}\r";
    ws.patch_as("agent", "configmap/it", &json!({"data": {"a": evil, "evil": evil}}));
    let diff = ws.reconcile(["diff", "-f", ".", "--show-unmanaged"]).exits_with(1);
    for character in ['\u{1b}', '\u{202e}', '\u{7}', '\r'] {
        assert!(!diff.stdout.contains(character), "{character:?} in {diff}");
    }
    let value = &diff.change("ConfigMap", "it", "data.a")["live"];
    assert_eq!(value, evil, "a report for machines has the value itself");
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let ws = Workspace::new();
    for number in 0..300 {
        let manifest = format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}, data: {{a: '{}'}}}}",
            "x".repeat(2000)
        );
        ws.write(format!("m-{number}.yaml"), &manifest);
    }
    ws.write("live.yaml", "");
    let program = env!("CARGO_BIN_EXE_kubectl-reconcile");
    for format in ["text", "json"] {
        let line = format!("'{program}' diff -f . --live live.yaml -o {format}; echo $? >code");
        let mut child = Command::new("sh")
            .args(["-c", &format!("({line}) | head -c 10 >/dev/null")])
            .current_dir(ws.folder())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
        child.wait().unwrap();
        assert_eq!(stderr, "", "{format}");
        assert_eq!(fs::read_to_string(ws.folder().join("code")).unwrap().trim(), "1", "{format}: the verdict stays");
    }
}

/// Exit code 1 means drift, and nothing was compared.
#[cfg(unix)]
#[test]
fn a_program_that_cannot_start_is_not_mistaken_for_drift() {
    let ws = Workspace::new();
    let program = env!("CARGO_BIN_EXE_kubectl-reconcile");
    // One file beside the standard streams is enough for the loader, and not for the runtime.
    let line = format!("ulimit -n 4; exec '{program}' diff -f .");
    let output = Command::new("sh").args(["-c", &line]).current_dir(ws.folder()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: the program cannot start: "), "{stderr}");
    assert!(stderr.contains("hint: check the limits of this process"), "{stderr}");
}

/// The pager gets what stdout would get, and only where a person reads it and nothing is written.
#[cfg(unix)]
#[test]
fn on_a_terminal_long_text_goes_through_the_pager_of_the_person() {
    let ws = mixed();
    let paged = || fs::read_to_string(ws.folder().join("paged.txt")).unwrap_or_default();
    let shown = |pager: &str, arguments: &[&str], code: i32| {
        let _ = fs::remove_file(ws.folder().join("paged.txt"));
        let caller = ws
            .as_user("admin")
            .printing_on_terminal()
            .env("KUBECTL_RECONCILE_PAGER", pager)
            .env("NO_COLOR", "1")
            .env("PAGER", "false");
        let run = caller.reconcile(arguments).exits_with(code);
        (run.stderr, paged())
    };
    let (terminal, text) = shown("tee paged.txt", &["diff", "-f", "web.yaml"], 1);
    assert!(text.contains("5 → 2") && terminal.contains("5 → 2"), "{terminal}");
    for arguments in [&["diff", "-f", "web.yaml", "--no-pager"][..], &["diff", "-f", "web.yaml", "-o", "json"]] {
        let (terminal, text) = shown("tee paged.txt", arguments, 1);
        assert_eq!(text, "", "{arguments:?}: {terminal}");
        assert!(terminal.contains("replicas"), "{terminal}");
    }
    // None is wanted, there is none, or it goes away at once: the verdict is the same.
    for pager in ["cat", "", "no-such-pager -x", "true"] {
        let (terminal, _) = shown(pager, &["diff", "-f", "web.yaml"], 1);
        assert!(pager == "true" || terminal.contains("5 → 2"), "{pager}: {terminal}");
    }
    let (terminal, text) = shown("tee paged.txt", &["apply", "-f", "web.yaml"], 0);
    assert_eq!(text, "", "what writes is not paged: {terminal}");
    assert!(terminal.contains("updated Deployment"), "{terminal}");
}

/// A pager waits for somebody to quit it, and needs a terminal that moves its cursor: a pipeline with a terminal would wait for ever.
#[cfg(unix)]
#[test]
fn where_nobody_is_at_the_terminal_there_is_no_pager() {
    let ws = mixed();
    for (variables, is_paged) in [
        (&[("CI", "true")][..], false),
        (&[("CI", "1")], false),
        (&[("TERM", "dumb")], false),
        (&[("TERM", "")], false),
        (&[("CI", "")], true),
        (&[("CI", "false")], true),
    ] {
        let _ = fs::remove_file(ws.folder().join("paged.txt"));
        let caller = ws.as_user("admin").printing_on_terminal().env("PAGER", "tee paged.txt");
        let caller = variables.iter().fold(caller, |caller, (name, value)| caller.env(name, value));
        let run = caller.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
        assert_eq!(ws.folder().join("paged.txt").exists(), is_paged, "{variables:?}: {run}");
        let is_plain = variables.iter().any(|(name, _)| *name == "TERM");
        assert_eq!(!run.stderr.contains("\u{1b}["), is_plain, "colours: {variables:?}: {run}");
    }
}

/// The pager quits with what is typed on the terminal, so input from elsewhere leaves nobody to quit it.
#[cfg(unix)]
#[test]
fn with_standard_input_from_elsewhere_there_is_no_pager() {
    let ws = mixed();
    let manifests = fs::read_to_string(ws.folder().join("web.yaml")).unwrap();
    let caller = ws.as_user("admin").stdin(&manifests).printing_on_terminal_alone().env("PAGER", "tee paged.txt");
    let run = caller.reconcile(["diff", "-f", "-"]).exits_with(1);
    assert!(run.stderr.contains("replicas"), "{run}");
    assert!(!ws.folder().join("paged.txt").exists(), "{run}");
}

#[test]
fn lines_are_as_wide_as_the_variable_says() {
    let ws = mixed();
    let text = |columns: &str| {
        let caller = ws.stdin("").env("COLUMNS", columns);
        caller.reconcile(["diff", "-f", "web.yaml"]).exits_with(1).stdout
    };
    for (columns, width) in [("60", 60), ("140", 140), ("", 100), ("0", 100), ("wide", 100)] {
        let text = text(columns);
        let head = text.lines().next().unwrap();
        assert_eq!(head.chars().count(), width, "{columns}: {text}");
        assert!(head.ends_with("  web.yaml:2"), "{text}");
    }
}

#[test]
fn names_are_printed_as_kubectl_prints_them() {
    let ws = mixed();
    let diff = ws.reconcile(["diff", "-f", ".", "-o", "name"]).exits_with(4);
    let mut names: Vec<&str> = diff.stdout.lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["configmap/new", "deployment.apps/web"]);
    let kubectl = ws.kubectl(["get", "deployment", "-o", "name"]).exits_with(0);
    assert_eq!(kubectl.stdout.trim(), "deployment.apps/web");
    let apply = ws.reconcile(["apply", "-f", ".", "-o", "name"]).exits_with(4);
    assert_eq!(apply.stdout.lines().count(), 2, "{apply}");
    assert_eq!(ws.reconcile(["apply", "-f", ".", "-o", "name"]).exits_with(4).stdout, "", "nothing was done");
}

#[test]
fn the_summary_alone_and_the_order_are_flags() {
    let ws = mixed();
    let summary = ws.reconcile(["diff", "-f", ".", "--summary"]).exits_with(4);
    let lines: Vec<&str> = summary.stdout.lines().collect();
    assert_eq!(lines[0], "1 to create; 1 to update: changed in the cluster; 0 in sync");
    assert_eq!((lines[1], lines.len()), ("not done: 1 not compared", 3), "and the context: {summary}");
    let first = |order: &str| {
        let run = ws.reconcile(["diff", "-f", ".", "--sort", order]).exits_with(4);
        let heads: Vec<char> =
            run.stdout.lines().filter_map(|line| line.chars().next()).filter(|c| "+~!".contains(*c)).collect();
        assert_eq!(heads.last(), Some(&'!'), "what needs attention comes last: {run}");
        heads[0]
    };
    assert_eq!((first("kind"), first("source")), ('+', '+'));
    ws.reconcile(["diff", "-f", ".", "--sort", "colour"]).exits_with(2);
    ws.reconcile(["diff", "-f", ".", "--summary", "--full"]).exits_with(2);
}

/// The oracle for what differs is the report, which has all changes of all objects.
#[test]
fn the_same_change_of_many_objects_is_shown_once() {
    let ws = Workspace::new();
    let shop = |chart: &str| -> String {
        let one = |at: usize| {
            let named = WEB.replaced("  name: web\n", &format!("  name: web-{at}\n"));
            named.replaced("tier: front", &format!("chart: {chart}"))
        };
        (0..30).map(one).collect::<Vec<_>>().join("\n---\n")
    };
    ws.write("web.yaml", &shop("shop-2.4.0"));
    ws.reconcile(["apply", "-f", ".", "-q"]).exits_with(0);
    ws.write("web.yaml", &shop("shop-2.4.1"));
    ws.scale("deployment/web-7", 4);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.stdout.matches("shop-2.4.0 → shop-2.4.1").count(), 1, "{diff}");
    assert!(diff.stdout.contains("~ 30 Deployments ") && diff.stdout.contains(" more\n"), "{diff}");
    assert_eq!(diff.stdout.lines().filter(|line| line.starts_with("~ Deployment ")).count(), 1, "{diff}");
    assert_eq!(diff.stdout.matches("spec.replicas: 4 → 2").count(), 1, "{diff}");
    assert!(diff.stdout.contains("30 to update: 29 changed in the manifests, 1 in both; 0 in sync"), "{diff}");
    for at in 0..30 {
        let changes = diff.changes("Deployment", &format!("web-{at}"));
        assert!(changes.contains(&"pending metadata.labels.chart".to_owned()), "{changes:?}");
    }
    let each = ws.reconcile(["diff", "-f", ".", "--sort", "object"]).exits_with(1);
    assert_eq!(each.stdout.matches("shop-2.4.0 → shop-2.4.1").count(), 30, "{each}");
    let comment = ws.reconcile(["diff", "-f", ".", "-o", "markdown"]).exits_with(1).stdout;
    assert_eq!(comment.matches("+shop-2.4.1").count(), 1, "{comment}");
}

/// The server names each object in a message of its own, and all of them are refused for lack of the same permissions.
#[test]
fn refused_permissions_are_reported_together() {
    let ws = Workspace::new();
    let map =
        |at: usize| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{at}}}, data: {{a: b}}}}\n---\n");
    let account = |at: usize| format!("{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: s{at}}}}}\n---\n");
    let secret = |at: usize| format!("{{apiVersion: v1, kind: Secret, metadata: {{name: t{at}}}}}\n---\n");
    ws.write("many.yaml", &(0..6).flat_map(|at| [map(at), account(at), secret(at)]).collect::<String>());
    let nobody = ws.as_user("limited");
    let diff = nobody.reconcile(["diff", "-f", "many.yaml"]).exits_with(4);
    assert_eq!(diff.stdout.matches("! ").count(), 1, "{diff}");
    assert!(diff.stdout.starts_with("! 18 objects: the user needs more permissions (Forbidden) "), "{diff}");
    assert!(diff.stdout.contains("on `configmaps`, `secrets`, `serviceaccounts` in the namespace `"), "{diff}");
    assert!(diff.stdout.contains(" … 13 more\n") || diff.stdout.contains(" … 14 more\n"), "{diff}");
    assert_eq!(diff.stdout.matches("hint: ").count(), 1, "{diff}");
    let each = nobody.reconcile(["diff", "-f", "many.yaml", "--sort=object"]).exits_with(4);
    assert_eq!(each.stdout.matches("! ").count(), 18, "{each}");
    let full = nobody.reconcile(["diff", "-f", "many.yaml", "--full"]).exits_with(4);
    assert!(full.stdout.contains("/s5") && full.stdout.contains("/c0"), "{full}");
    let apply = nobody.reconcile(["apply", "-f", "many.yaml"]).exits_with(4);
    assert!(apply.stdout.contains("skipped 18 objects: the user needs more permissions"), "{apply}");
    let comment = nobody.reconcile(["diff", "-f", "many.yaml", "-o", "markdown"]).exits_with(4);
    assert_eq!(comment.stdout.matches("<details>").count(), 1, "{comment}");
    let page = nobody.reconcile(["diff", "-f", "many.yaml", "-o", "html"]).exits_with(4);
    assert_eq!(page.stdout.matches("the user needs more permissions").count(), 1, "{page}");
}

/// One namespace that is missing is one problem, however many objects are meant for it.
#[test]
fn objects_with_the_same_error_are_reported_together() {
    let ws = Workspace::new();
    let one = |at: usize| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{at}, namespace: nowhere-$NS}}}}\n---\n")
    };
    ws.write("many.yaml", &(0..35).map(one).collect::<String>());
    let diff = ws.reconcile(["diff", "-f", "many.yaml"]).exits_with(4);
    assert_eq!(diff.stdout.matches("does not exist").count(), 1, "{diff}");
    assert!(diff.stdout.starts_with("! 35 objects: namespace `nowhere-"), "{diff}");
    assert!(diff.stdout.contains("many.yaml:1, 3, 5 … 32 more"), "{diff}");
    let full = ws.reconcile(["diff", "-f", "many.yaml", "--full"]).exits_with(4);
    assert!(full.stdout.contains("/c34"), "{full}");
    let apply = ws.reconcile(["apply", "-f", "many.yaml"]).exits_with(4);
    assert_eq!(apply.stdout.matches("does not exist").count(), 1, "{apply}");
    assert!(apply.stdout.contains("failed 35 objects: namespace `nowhere-"), "{apply}");
}
