//! `--context` with several contexts: each is a run of its own, and all of them are one report.

use std::net::TcpListener;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{fs, thread};

use reconcile_report::formats::FORMATS;
use serde_json::{Value, json};

use crate::control_plane::{Caller, ControlPlane, Run, Workspace};

const MANIFESTS: &str = "
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {colour: red}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: banner}, data: {text: hello}}
";

/// A second API server, and the kubeconfig of a third one that does not run any more.
fn others() -> &'static (Arc<ControlPlane>, String) {
    static OTHERS: OnceLock<(Arc<ControlPlane>, String)> = OnceLock::new();
    OTHERS.get_or_init(|| {
        let stopped = thread::spawn(|| {
            let plane = ControlPlane::private();
            plane.kubeconfig("admin", plane.url(), "default")
        });
        let second = ControlPlane::private();
        (second, stopped.join().expect("the third API server"))
    })
}

/// A workspace on the first server (`eu`), one on the second (`us`), and a kubeconfig with both and the stopped one (`down`).
pub struct Fleet {
    pub eu: Workspace,
    pub us: Workspace,
}

impl Fleet {
    pub fn new() -> Fleet {
        let fleet = Fleet { eu: Workspace::new(), us: Workspace::on(&others().0) };
        fleet.eu.write("web.yaml", MANIFESTS);
        fleet.with_users(&[]);
        fleet
    }

    /// Writes the kubeconfig. Contexts of these names lead to the second server, as these users.
    fn with_users(&self, users: &[(&str, Value)]) {
        let admin = |ws: &Workspace| ws.plane().kubeconfig("admin", ws.plane().url(), ws.namespace());
        let mut config = json!({"apiVersion": "v1", "kind": "Config", "clusters": [], "users": [], "contexts": []});
        let mut add = |name: &str, text: &str, user: Option<&Value>| {
            let mut one: Value = serde_json::from_str(text).unwrap();
            for (list, entry) in [("clusters", "cluster"), ("users", "user"), ("contexts", "context")] {
                let entry = if list == "users" { user.unwrap_or(&one[list][0][entry]) } else { &one[list][0][entry] };
                let entry = entry.clone();
                one[list][0] = json!({"name": name, &list[..list.len() - 1]: entry});
            }
            one["contexts"][0]["context"]["cluster"] = name.into();
            one["contexts"][0]["context"]["user"] = name.into();
            for list in ["clusters", "users", "contexts"] {
                config[list].as_array_mut().unwrap().push(one[list][0].clone());
            }
        };
        add("eu", &admin(&self.eu), None);
        add("us", &admin(&self.us), None);
        add("us-again", &admin(&self.us), None);
        add("down", &others().1, None);
        for (name, user) in users {
            add(name, &admin(&self.us), Some(user));
        }
        fs::write(self.kubeconfig(), config.to_string()).unwrap();
    }

    pub fn kubeconfig(&self) -> String {
        self.eu.home().join("fleet.kubeconfig").display().to_string()
    }

    fn run(&self, command: &str, contexts: &str, flags: &[&str]) -> Run {
        self.run_as(&self.eu.as_user("admin"), command, contexts, flags)
    }

    fn run_as(&self, caller: &Caller<'_>, command: &str, contexts: &str, flags: &[&str]) -> Run {
        let kubeconfig = format!("--kubeconfig={}", self.kubeconfig());
        let contexts = format!("--context={contexts}");
        caller.reconcile([&[command, "-f", "web.yaml", &kubeconfig, &contexts], flags].concat())
    }

    fn colours(&self) -> [Option<Value>; 2] {
        [&self.eu, &self.us].map(|ws| Some(ws.find("ConfigMap", "settings")?["data"]["colour"].clone()))
    }
}

/// The report of one context.
#[track_caller]
fn of<'r>(run: &'r Run, context: &str) -> &'r Value {
    let contexts = run.report()["contexts"].as_array().unwrap_or_else(|| panic!("no contexts in the report of {run}"));
    contexts.iter().find(|one| one["context"] == context).unwrap_or_else(|| panic!("no {context} in {run}"))
}

fn keys(object: &Value) -> Vec<&String> {
    object.as_object().unwrap().keys().collect()
}

#[test]
fn each_context_is_compared_and_one_that_is_down_hides_nothing() {
    let fleet = Fleet::new();
    fleet.run("apply", "eu", &[]).exits_with(0);
    let run = fleet.run("diff", "eu,us,down", &[]).exits_with(3);
    let report = run.report();
    assert_eq!(
        (&report["kind"], &report["verdict"], &report["exitCode"]),
        (&json!("Reports"), &json!("unreachable"), &json!(3))
    );
    assert_eq!(report["summary"]["verdicts"], json!({"inSync": 1, "drift": 1, "unreachable": 1}));
    assert_eq!((&report["summary"]["objects"], &report["summary"]["create"]), (&json!(4), &json!(2)));
    for (context, verdict, code, server) in
        [("eu", "inSync", 0, fleet.eu.plane().url()), ("us", "drift", 1, fleet.us.plane().url())]
    {
        let one = of(&run, context);
        assert_eq!(
            (&one["verdict"], &one["exitCode"], &one["server"]),
            (&json!(verdict), &json!(code), &json!(server))
        );
        assert_eq!((&one["kind"], &one["cluster"]["context"]), (&json!("Report"), &json!(context)));
    }
    let down = of(&run, "down");
    assert_eq!((&down["verdict"], &down["objects"]), (&json!("unreachable"), &json!([])));
    assert!(down["errors"][0]["message"].as_str().unwrap().contains("cannot connect"), "{run}");

    // One section for each context in their order, and then where the objects differ.
    let places: Vec<usize> = [
        "# eu (https",
        "# us (https",
        "# down (https",
        "3 contexts: 1 unreachable, 1 with changes, 1 without differences",
    ]
    .iter()
    .map(|text| run.stdout.find(text).unwrap_or_else(|| panic!("no `{text}` in {run}")))
    .collect();
    assert!(places.is_sorted(), "{run}");
    let row = run.stdout.lines().find(|line| line.starts_with("ConfigMap settings ")).unwrap_or_default();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["ConfigMap", "settings", "in", "sync", "create"], "{run}");
    assert!(run.stderr.contains("[down] error: cannot connect"), "{run}");

    // The others are applied, and a second pass has nothing to do.
    let run = fleet.run("apply", "*", &[]).exits_with(3);
    assert_eq!(of(&run, "us")["verdict"], "applied");
    assert_eq!(fleet.colours(), [Some(json!("red")), Some(json!("red"))]);
    let run = fleet.run("diff", "eu,us", &[]).exits_with(0);
    assert!(run.stdout.contains("2 objects need no change in any of these contexts"), "{run}");
    let run = fleet.run("status", "eu,us,down", &[]).exits_with(3);
    assert_eq!(
        (&of(&run, "us")["verdict"], &run.report()["summary"]["readiness"]["current"]),
        (&json!("ready"), &json!(4))
    );
    assert!(run.stdout.contains("2 objects are ready in all of the contexts that were looked at"), "{run}");
}

/// A base is read once, and decides in each context; so does the choice of what is resolved.
#[test]
fn a_base_and_a_choice_hold_for_each_context() {
    let fleet = Fleet::new();
    fleet.eu.write("old.yaml", MANIFESTS);
    fleet.run("apply", "eu,us", &[]).exits_with(0);
    fleet.us.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"colour": "blue"}}));
    fleet.eu.write("web.yaml", &MANIFESTS.replace("hello", "good evening"));
    let flags = ["--base", "old.yaml", "--only", "cluster"];
    let run = fleet.run("diff", "eu,us", &flags).exits_with(1);
    for (context, left, update) in [("eu", 1, 0), ("us", 1, 1)] {
        let one = of(&run, context);
        assert_eq!((&one["summary"]["left"], &one["summary"]["update"]), (&json!(left), &json!(update)), "{run}");
        assert_eq!((&one["base"], &one["only"]), (&json!({"from": "old.yaml"}), &json!(["cluster"])), "{run}");
    }
    fleet.run("apply", "eu,us", &flags).exits_with(0);
    assert_eq!(fleet.colours(), [Some(json!("red")), Some(json!("red"))]);
    for ws in [&fleet.eu, &fleet.us] {
        assert_eq!(ws.get("ConfigMap", "banner")["data"]["text"], "hello");
    }
}

#[test]
fn one_context_is_reported_as_ever() {
    let fleet = Fleet::new();
    let plain = fleet.run("diff", "eu", &[]).exits_with(1);
    let glob = fleet.run("diff", "e*", &[]).exits_with(1);
    assert_eq!((keys(plain.report()), &plain.stdout), (keys(glob.report()), &glob.stdout));
    assert_eq!((&plain.report()["kind"], &glob.report()["cluster"]["context"]), (&json!("Report"), &json!("eu")));
}

#[test]
fn each_context_has_its_own_credentials_and_the_worst_result_counts() {
    let fleet = Fleet::new();
    let script = |name: &str, text: &str| {
        let path = fleet.eu.home().join(name);
        fs::write(
            &path,
            format!("#!/bin/sh\necho run >> {}\n{text}\n", fleet.eu.home().join(format!("{name}.runs")).display()),
        )
        .unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": path, "interactiveMode": "Never"}})
    };
    let reader = fleet.us.plane().kubeconfig("reader", fleet.us.plane().url(), fleet.us.namespace());
    let reader: Value = serde_json::from_str(&reader).unwrap();
    let token = fleet.eu.secret(reader["users"][0]["user"]["token"].as_str().unwrap());
    let credential =
        json!({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": token}});
    let powerless = script("powerless", &format!("echo '{credential}'"));
    let broken = script("broken", "exit 7");
    fleet.with_users(&[("powerless", powerless), ("broken", broken)]);

    let run = fleet.run("diff", "eu,powerless,broken,us", &[]).exits_with(4);
    let verdicts = ["eu", "powerless", "broken", "us"].map(|context| of(&run, context)["verdict"].clone());
    assert_eq!(verdicts, ["drift", "incomplete", "unreachable", "drift"]);
    assert_eq!(of(&run, "powerless")["objects"][0]["error"]["reason"], "Forbidden", "{run}");
    assert!(run.stderr.contains("[broken] error: the credential plugin"), "{run}");
    for name in ["powerless", "broken"] {
        let runs = fs::read_to_string(fleet.eu.home().join(format!("{name}.runs"))).unwrap();
        assert_eq!(runs.lines().count(), 1, "{name}");
    }
}

#[test]
fn plugins_that_may_ask_run_one_after_the_other() {
    let fleet = Fleet::new();
    let log = fleet.eu.home().join("plugins.log");
    let path = fleet.eu.home().join("asking");
    let text = format!("#!/bin/sh\necho begin >> {0}\nsleep 0.3\necho end >> {0}\nexit 7\n", log.display());
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let user = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": path, "interactiveMode": "IfAvailable",
    }});
    fleet.with_users(&[("ask-1", user.clone()), ("ask-2", user.clone()), ("ask-3", user)]);
    let caller = fleet.eu.as_user("admin").on_terminal();
    fleet.run_as(&caller, "diff", "ask-*", &[]).exits_with(3);
    assert_eq!(fs::read_to_string(&log).unwrap(), "begin\nend\n".repeat(3));
}

#[test]
fn an_interrupted_run_begins_no_further_context_and_reports_all_of_them() {
    let fleet = Fleet::new();
    // It takes connections, and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("https://{}", silent.local_addr().unwrap());
    let log = fleet.eu.home().join("plugins.log");
    let path = fleet.eu.home().join("plugin");
    let credential = json!({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "abc"},
    });
    fs::write(&path, format!("#!/bin/sh\necho run >> {}\necho '{credential}'\n", log.display())).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": path, "interactiveMode": "Never"});
    let contexts: Vec<Value> = (1..=12)
        .map(|at| json!({"name": format!("silent-{at:02}"), "context": {"cluster": "c", "user": "u"}}))
        .collect();
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "contexts": contexts,
        "clusters": [{"name": "c", "cluster": {"server": server}}], "users": [{"name": "u", "user": {"exec": exec}}],
    });
    fs::write(fleet.kubeconfig(), config.to_string()).unwrap();

    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    let caller = fleet.eu.as_user("admin");
    let running = caller.start_reconcile(["diff", "-f", "web.yaml", &kubeconfig, "--context=silent-*"]);
    let begun = || fs::read_to_string(&log).unwrap_or_default().lines().count();
    let deadline = Instant::now() + Duration::from_mins(1);
    while begun() < 8 {
        assert!(Instant::now() < deadline, "only {} contexts were begun", begun());
        thread::sleep(Duration::from_millis(20));
    }
    running.interrupt();
    let run = running.finish().exits_with(130);
    assert_eq!(begun(), 8, "{run}");
    assert_eq!(run.report()["summary"]["verdicts"], json!({"interrupted": 12}), "{run}");
}

#[test]
fn what_is_asked_once_holds_for_all_contexts() {
    let fleet = Fleet::new();
    let typing = |answer: &str| fleet.eu.as_user("admin").stdin(answer).on_terminal();
    let run = fleet.run_as(&typing("n\n"), "apply", "eu,us,down", &["--confirm"]).exits_with(3);
    assert_eq!(run.stderr.matches("[y/N]").count(), 1, "{run}");
    let question = run.stderr.lines().find(|line| line.contains("[y/N]")).unwrap();
    for part in ["2 contexts", "`eu` (https://", "`us` (https://"] {
        assert!(question.contains(part), "{run}");
    }
    assert_eq!((of(&run, "us")["verdict"].clone(), fleet.colours()), (json!("drift"), [None, None]));

    let run = fleet.run_as(&typing("y\n"), "apply", "eu,us", &["--confirm"]).exits_with(0);
    assert_eq!(run.stderr.matches("[y/N]").count(), 1, "{run}");
    assert_eq!(run.stdout.matches("+ ConfigMap").count(), 4, "what would be done is shown once: {run}");
    assert_eq!(run.stdout.matches("created ConfigMap").count(), 4, "{run}");
    assert_eq!(fleet.colours(), [Some(json!("red")), Some(json!("red"))]);
    let run = fleet.run_as(&typing(""), "apply", "eu,us", &["--confirm"]).exits_with(0);
    assert!(!run.stderr.contains("[y/N]"), "nothing to do is nothing to ask: {run}");
}

/// Nothing makes a Deployment ready on these servers: the context without differences waits, and the question does not.
#[test]
fn the_question_does_not_wait_for_contexts_that_only_wait() {
    let fleet = Fleet::new();
    fleet.eu.write(
        "web.yaml",
        "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1'}]}
",
    );
    fleet.run("apply", "eu", &[]).exits_with(0);
    let caller = fleet.eu.as_user("admin").stdin("n\n").on_terminal();
    let run = fleet.run_as(&caller, "apply", "eu,us", &["--confirm", "--wait", "--timeout=15s"]).exits_with(5);
    let question = run.stderr.find("[y/N]");
    let end = run.stderr.find("not ready after 15s");
    assert!(question.is_some() && question < end, "{run}");
    assert_eq!(["eu", "us"].map(|context| of(&run, context)["verdict"].clone()), ["notReady", "drift"]);
}

#[test]
fn more_contexts_than_are_worked_on_at_once_are_asked_about_together() {
    let fleet = Fleet::new();
    let names: Vec<String> = (1..=10).map(|at| format!("copy-{at:02}")).collect();
    let admin: Value =
        serde_json::from_str(&fleet.us.plane().kubeconfig("admin", fleet.us.plane().url(), fleet.us.namespace()))
            .unwrap();
    let users: Vec<(&str, Value)> =
        names.iter().map(|name| (name.as_str(), admin["users"][0]["user"].clone())).collect();
    fleet.with_users(&users);
    let caller = fleet.eu.as_user("admin").stdin("n\n").on_terminal();
    let run = fleet.run_as(&caller, "apply", "copy-*", &["--confirm"]).exits_with(1);
    assert!(run.stderr.contains("10 contexts") && run.stderr.matches("[y/N]").count() == 1, "{run}");
    assert_eq!(fleet.colours(), [None, None]);
    assert!(run.stderr.contains("the same cluster and namespace: `copy-01`, `copy-02`"), "{run}");
}

#[test]
fn flags_that_are_for_one_context_and_names_of_none_are_refused() {
    let fleet = Fleet::new();
    for (contexts, flags, message) in [
        ("eu,us", &["--token=hunter2-of-one"][..], "`--token` and several contexts cannot be combined"),
        ("eu,us", &["--server=https://127.0.0.1:1"], "`--server` and several contexts"),
        ("eu,missing", &[], "context `missing` does not exist"),
        ("x*", &[], "no context of the kubeconfig matches `x*`"),
        ("eu,us", &["--live=web.yaml"], "`--live` and several contexts"),
    ] {
        let run = fleet.run("diff", contexts, flags).exits_with(2);
        assert!(run.stderr.contains(message) && run.stderr.contains("hint: "), "{run}");
        assert_eq!(run.report()["kind"], "Report", "{run}");
    }
    let run = fleet.run("blame", "eu,us", &["--live=web.yaml"]).exits_with(2);
    assert!(run.stderr.contains("`--live` and several contexts") && run.stdout.is_empty(), "{run}");
    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    for command in ["snapshot", "access"] {
        let run = fleet.eu.reconcile([command, "-f", "web.yaml", &kubeconfig, "--context=eu,us"]).exits_with(2);
        assert!(run.stderr.contains(&format!("`{command}` takes a single context")), "{run}");
    }
    let run = fleet.run("diff", "us,us-again", &[]).exits_with(1);
    let warning = "these contexts are the same cluster and namespace: `us`, `us-again`";
    assert!(run.stderr.contains(warning), "{run}");
    assert_eq!(run.report()["warnings"], json!([warning]));
}

/// One cluster has drift, one is in sync, and one cannot be reached: every format says so.
#[test]
fn every_format_has_all_contexts() {
    let fleet = Fleet::new();
    fleet.run("apply", "us", &[]).exits_with(0);
    for format in FORMATS.iter().map(|format| format.name).filter(|name| !["text", "name"].contains(name)) {
        let run = fleet.run("diff", "eu,us,down", &["-o", format]).exits_with(3);
        // What is in sync has nothing to show in a patch and in annotations.
        let quiet = ["unified", "github", "gitlab"].contains(&format);
        for context in ["eu", "down"].iter().chain(if quiet { &[][..] } else { &["us"] }) {
            assert!(run.stdout.contains(context), "{format}: {context}: {run}");
        }
    }
}

#[test]
fn each_context_keeps_manifests_of_its_own() {
    let fleet = Fleet::new();
    fleet.us.write("web.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {a: b}}");
    for ws in [&fleet.eu, &fleet.us] {
        ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    }
    fleet.us.kubectl(["patch", "configmap", "other", "-p", r#"{"data":{"a":"c"}}"#]).exits_with(0);
    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    let flags = ["diff", "--from", "last-applied", "--kinds", "configmaps", "--context=eu,us,down", &kubeconfig];
    let run = fleet.eu.as_user("admin").reconcile(flags).exits_with(3);
    assert_eq!((&of(&run, "eu")["verdict"], &of(&run, "eu")["summary"]["inSync"]), (&json!("inSync"), &json!(2)));
    assert_eq!((&of(&run, "us")["verdict"], &of(&run, "us")["objects"][0]["name"]), (&json!("drift"), &json!("other")));
    assert_eq!(of(&run, "down")["verdict"], "unreachable");
}

#[test]
fn a_baseline_is_about_each_context_by_itself() {
    let fleet = Fleet::new();
    fleet.run("apply", "eu,us", &[]).exits_with(0);
    for ws in [&fleet.eu, &fleet.us] {
        ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"colour": "blue"}}));
    }
    fleet.run("diff", "eu,us", &["-q", "-o", "json=baseline.json"]).exits_with(1);
    let known = fleet.run("diff", "eu,us", &["--baseline", "baseline.json"]).exits_with(0);
    let row = |run: &Run, name: &str| -> Vec<String> {
        let line =
            run.stdout.lines().find(|line| line.starts_with(&format!("ConfigMap {name} "))).map(ToOwned::to_owned);
        let line = line.unwrap_or_else(|| panic!("no row of {name}: {run}"));
        line.split_whitespace().skip(2).map(ToOwned::to_owned).collect()
    };
    fleet.us.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"colour": "green"}}));
    let new = fleet.run("diff", "eu,us", &["--baseline", "baseline.json"]).exits_with(1);
    assert_eq!(row(&new, "settings"), ["known", "update"], "{new}\n{known}");
    // One of them can be looked at alone, and another cluster is not in the file.
    fleet.run("diff", "eu", &["--baseline", "baseline.json"]).exits_with(0);
    fleet.run("diff", "eu", &["-q", "-o", "json=one.json"]).exits_with(1);
    let other = fleet.run("diff", "eu,us", &["--baseline", "one.json"]).exits_with(2);
    assert!(other.stderr.contains("the baseline is of"), "{other}");
}

#[test]
fn blame_shows_one_context_below_the_other() {
    let fleet = Fleet::new();
    fleet.run("apply", "eu,us", &[]).exits_with(0);
    fleet.us.patch_as("kubectl-edit", "configmap/banner", &json!({"data": {"text": "bye"}}));
    let text = fleet.run("blame", "eu,us", &[]).exits_with(0);
    let at = |text: &Run, what: &str| text.stdout.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    let eu = format!("# eu ({})", fleet.eu.plane().url());
    let us = format!("# us ({})", fleet.us.plane().url());
    assert!(at(&text, &eu) < at(&text, "hello") && at(&text, "hello") < at(&text, &us), "{text}");
    assert!(at(&text, &us) < at(&text, "bye") && !text.stdout.contains("contexts:"), "{text}");

    let contexts = |run: &Run| -> Vec<(Value, Value)> {
        let objects: Vec<Value> = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
        objects.iter().map(|object| (object["context"].clone(), object["name"].clone())).collect()
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(Value, Value)> {
        pairs.iter().map(|(context, name)| (json!(context), json!(name))).collect()
    };
    let json = fleet.run("blame", "us,eu", &["-o", "json"]).exits_with(0);
    assert_eq!(contexts(&json), pairs(&[("us", "banner"), ("us", "settings"), ("eu", "banner"), ("eu", "settings")]));
    let one = fleet.run("blame", "us", &["-o", "json"]).exits_with(0);
    assert!(contexts(&one).iter().all(|(context, _)| context.is_null()), "{one}");

    // The worst result counts, and the others are shown.
    let down = fleet.run("blame", "down,us", &["-o", "json"]).exits_with(3);
    assert_eq!(contexts(&down), pairs(&[("us", "banner"), ("us", "settings")]));
    assert!(down.stderr.contains("[down] error: "), "{down}");
    fleet.us.delete("configmap/settings");
    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    let context = "--context=us,down,eu";
    let words = ["blame", "cm/settings", "cm/banner", &kubeconfig, context, "-o", "json"];
    let missing = fleet.eu.as_user("admin").reconcile(words).exits_with(4);
    let expected = [("us", "settings"), ("us", "banner"), ("eu", "settings"), ("eu", "banner")];
    assert_eq!(contexts(&missing), pairs(&expected), "{missing}");
    assert!(missing.stderr.contains("settings: it does not exist"), "{missing}");
}

#[test]
fn a_merge_says_of_each_context_what_is_wrong() {
    let fleet = Fleet::new();
    let first = fleet.run("diff", "eu,us,down", &["--shard=0/2"]).exits_with(3);
    fleet.eu.write("first.json", &first.report().to_string());
    let merge = fleet.eu.reconcile(["report", "merge", "first.json"]).exits_with(4);
    for context in ["eu", "us"] {
        let message = format!("[{context}] error: the report of shard `1/2` is missing");
        assert!(merge.stderr.contains(&message), "{merge}");
    }
    assert!(merge.stderr.contains("[down] error: cannot connect"), "{merge}");
}
