//! `--shard`: several runs over the same manifests, each with its own part of the objects, come to the same as one run.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use crate::control_plane::{Fault, Proxy, Run, Workspace, definition};

const SHARDS: u32 = 4;

/// The arguments of one shard.
fn arguments<'a>(words: &[&'a str], shard: &'a str) -> Vec<&'a str> {
    words.iter().copied().chain(["--shard", shard]).collect()
}

fn names(of: u32) -> Vec<String> {
    (0..of).map(|index| format!("{index}/{of}")).collect()
}

/// Runs all shards at the same time.
fn at_once(ws: &Workspace, words: &[&str], of: u32) -> Vec<Run> {
    let names = names(of);
    thread::scope(|scope| {
        let runs: Vec<_> = names.iter().map(|shard| scope.spawn(|| ws.reconcile(arguments(words, shard)))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// Merges the reports of runs.
fn merged(ws: &Workspace, runs: &[Run], more: &[&str]) -> Run {
    let mut words = vec!["report".to_owned(), "merge".to_owned()];
    for (number, run) in runs.iter().enumerate() {
        let path = ws.home().join(format!("part-{number}.json"));
        fs::write(&path, run.report().to_string()).unwrap();
        words.push(path.display().to_string());
    }
    words.extend(more.iter().map(|word| (*word).to_owned()));
    ws.reconcile(words)
}

/// A report without what depends on how the work is shared.
fn facts(report: &Value) -> Value {
    let mut facts = report.clone();
    let fields = facts.as_object_mut().unwrap();
    fields.remove("requests");
    fields.remove("time");
    facts
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

/// 2,000 objects in ten namespaces of their own; the namespaces and a kind with its objects are in the input.
fn estate(ws: &Workspace) {
    let mut text = String::new();
    for number in 0..10 {
        let _ = writeln!(text, "{{apiVersion: v1, kind: Namespace, metadata: {{name: $NS-{number}}}}}\n---");
    }
    text.push_str(&definition("Widget", "properties: {size: {type: integer}}"));
    text.push_str("---\n");
    for number in 0..1989 {
        let namespace = format!("$NS-{}", number % 10);
        let _ = match number % 20 {
            0 => writeln!(
                text,
                "{{apiVersion: $NS.example.com/v1, kind: Widget, metadata: {{name: o-{number}, namespace: {namespace}}}, spec: {{size: {number}}}}}\n---"
            ),
            1 => writeln!(
                text,
                "{{apiVersion: v1, kind: Service, metadata: {{name: o-{number}, namespace: {namespace}}}, spec: {{selector: {{app: o}}, ports: [{{port: 80}}]}}}}\n---"
            ),
            2 => writeln!(
                text,
                "{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: o-{number}, namespace: {namespace}, annotations: {{config.kubernetes.io/depends-on: '/namespaces/{namespace}/ConfigMap/o-{}'}}}}}}\n---",
                number + 1 - number % 10 + 10
            ),
            _ => writeln!(
                text,
                "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: o-{number}, namespace: {namespace}}}, data: {{a: '{number}'}}}}\n---"
            ),
        };
    }
    ws.write("estate.yaml", &text);
}

#[test]
fn four_shards_of_2_000_objects_come_to_the_same_as_one_run() {
    let ws = Workspace::new();
    estate(&ws);
    let diff = ["diff", "-f", "estate.yaml"];

    // Nothing is there yet: what is to be created in namespaces and of kinds that other shards create.
    let whole = ws.reconcile(diff).exits_with(1);
    let parts = at_once(&ws, &diff, SHARDS);
    assert_eq!(facts(&document(&merged(&ws, &parts, &["-o", "json"]).exits_with(1))), facts(whole.report()));
    for (part, name) in parts.iter().zip(0..) {
        assert_eq!(part.report()["shard"], json!({"index": name, "of": SHARDS}));
        let objects = part.report()["summary"]["objects"].as_u64().unwrap();
        assert!((400..600).contains(&objects), "{objects}");
        assert!(part.stdout.contains(&format!("shard {name}/{SHARDS}: ")), "{}", part.stdout.lines().last().unwrap());
    }

    // One pass of each at the same time is a whole pass.
    let applied = at_once(&ws, &["apply", "-f", "estate.yaml"], SHARDS);
    for run in &applied {
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    let report = document(&merged(&ws, &applied, &["-o", "json"]).exits_with(0));
    assert_eq!((&report["verdict"], &report["summary"]["objects"]), (&json!("applied"), &json!(2000)));
    let again = ws.reconcile(["apply", "-f", "estate.yaml"]).exits_with(0);
    assert_eq!(again.writes(), 0);

    // Some drift, of which each shard finds its own.
    for number in [3, 4, 5, 6, 7, 8, 9] {
        let namespace = ws.fill_in(&format!("$NS-{}", number % 10));
        let name = format!("configmap/o-{number}");
        let patch = json!({"data": {"a": "other"}}).to_string();
        ws.kubectl(["patch", &name, "-n", &namespace, "--type=merge", "-p", &patch, "--field-manager=someone"])
            .exits_with(0);
    }
    let whole = ws.reconcile(diff).exits_with(1);
    assert_eq!(whole.report()["summary"]["update"], 7);
    let parts = at_once(&ws, &diff, SHARDS);
    let together = merged(&ws, &parts, &["-o", "json", "-o", "text=together.txt"]).exits_with(1);
    assert_eq!(facts(&document(&together)), facts(whole.report()));
    assert_eq!(fs::read_to_string(ws.folder().join("together.txt")).unwrap(), whole.stdout);
}

/// Which shard has an object, by the documented rule, calculated by other programs.
fn shard_of(key: &str, of: u64) -> u64 {
    let sum =
        std::process::Command::new("sh").args(["-c", "printf %s \"$1\" | sha256sum | cut -c-16", "sh", key]).output();
    let sum = String::from_utf8(sum.unwrap().stdout).unwrap();
    u64::from_str_radix(sum.trim(), 16).unwrap() % of
}

/// Names that belong to this shard of two, as config maps of the namespace.
fn names_in(ws: &Workspace, shard: u64) -> impl Iterator<Item = String> {
    let namespace = ws.namespace().to_owned();
    (0..)
        .map(|number| format!("m-{number}"))
        .filter(move |name| shard_of(&format!("/ConfigMap/{namespace}/{name}"), 2) == shard)
}

fn map(name: &str, more: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}{more}}}, data: {{a: b}}}}\n---\n")
}

#[test]
fn a_part_is_what_the_documented_hash_says() {
    let ws = Workspace::new();
    let (ours, theirs): (Vec<String>, Vec<String>) =
        (names_in(&ws, 1).take(3).collect(), names_in(&ws, 0).take(2).collect());
    ws.write("a.yaml", &ours.iter().chain(&theirs).map(|name| map(name, "")).collect::<String>());
    let run = ws.reconcile(["diff", "-f", "a.yaml", "--shard", "1/2"]).exits_with(1);
    let mut expected: Vec<String> = ours.iter().map(|name| format!("ConfigMap {name}: create")).collect();
    expected.sort();
    assert_eq!(run.each("action"), expected);
    let empty = ws.stdin(&map(&theirs[0], "")).reconcile(["diff", "-f", "-", "--shard=1/2"]).exits_with(0);
    assert_eq!(empty.report()["summary"]["objects"], 0, "an empty part is in sync");
    ws.stdin(&map(&theirs[0], "")).reconcile(["apply", "-f", "-", "--shard=1/2", "--wait"]).exits_with(0);
    ws.stdin(&map(&theirs[0], "")).reconcile(["status", "-f", "-", "--shard=1/2"]).exits_with(0);
    // What is no input at all is still a mistake.
    ws.stdin("").reconcile(["diff", "-f", "-", "--shard=1/2"]).exits_with(2);
    ws.stdin("").reconcile(["diff", "-f", "-", "--shard=1/2", "--allow-empty"]).exits_with(0);

    let snapshot = ws.reconcile(["apply", "-f", "a.yaml"]).exits_with(0);
    drop(snapshot);
    let captured = ws.reconcile(["snapshot", "-f", "a.yaml", "--shard", "0/2"]).exits_with(0).stdout;
    assert_eq!(captured.matches("kind: ConfigMap").count(), 2, "{captured}");
    ws.write("live.yaml", &captured);
    ws.reconcile(["diff", "-f", "a.yaml", "--live", "live.yaml", "-n", "$NS", "--shard", "0/2"]).exits_with(0);
    ws.reconcile(["diff", "-f", "a.yaml", "--live", "live.yaml", "-n", "$NS"]).exits_with(1);
}

#[test]
fn what_is_no_part_is_a_mistake_of_the_command_line() {
    let ws = Workspace::new();
    ws.write("a.yaml", &map("a", ""));
    for (shard, message) in [
        ("4/4", "the last one is `3/4`"),
        ("1", "as in `0/4`"),
        ("/4", "JOB_COMPLETION_INDEX"),
        ("x/4", "is not a number"),
        ("0/0", "at least one"),
    ] {
        for command in ["diff", "apply", "status", "snapshot"] {
            let run = ws.reconcile([command, "-f", "a.yaml", "--shard", shard]).exits_with(2);
            assert!(run.stderr.contains(message) && run.stderr.contains("--shard"), "{run}");
        }
    }
    ws.write(".kubectl-reconcile.yaml", "apiVersion: kubectl-reconcile/v1\nkind: Config\ndefaults: {shard: 0/2}\n");
    let run = ws.reconcile(["diff", "-f", "a.yaml"]).exits_with(2);
    assert!(run.stderr.contains("`defaults` cannot set `--shard`"), "{run}");
}

/// The namespace is in one part, and what lives in it in the other, which does not wait for ever.
#[test]
fn what_another_part_has_to_create_first_is_waited_for() {
    let ws = Workspace::new();
    let namespace = ws.fill_in("$NS-x");
    let holder = shard_of(&format!("/Namespace//{namespace}"), 2);
    let name = (0..100)
        .map(|n| format!("m-{n}"))
        .find(|name| shard_of(&format!("/ConfigMap/{namespace}/{name}"), 2) != holder)
        .unwrap();
    ws.write(
        "a.yaml",
        &format!(
            "{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}}}}}\n---\n{}",
            map(&name, &format!(", namespace: {namespace}"))
        ),
    );
    let first = format!("{holder}/2");
    let second = format!("{}/2", 1 - holder);
    let alone = ws.reconcile(["apply", "-f", "a.yaml", "--shard", &second, "--wait", "--timeout", "1s"]).exits_with(4);
    let object = alone.object("ConfigMap", &name);
    let reason = format!("it needs Namespace {namespace}, which is not in the cluster yet: shard {first} has it");
    assert_eq!((&object["outcome"], &object["reason"]), (&json!("skipped"), &json!(reason)));
    assert_eq!(alone.report()["summary"]["objects"], 1, "the other part's object is not reported");
    let runs = at_once(&ws, &["apply", "-f", "a.yaml"], 2);
    assert_eq!(runs.iter().map(|run| run.code).collect::<Vec<_>>(), [0, 0]);
    ws.reconcile(["diff", "-f", "a.yaml"]).exits_with(0);
}

/// What an author says comes first comes first, also in another part.
#[test]
fn dependencies_hold_across_parts() {
    let ws = Workspace::new();
    let first = names_in(&ws, 0).next().unwrap();
    let second = names_in(&ws, 1).next().unwrap();
    let depends = format!(", annotations: {{config.kubernetes.io/depends-on: /namespaces/$NS/ConfigMap/{first}}}");
    ws.write("a.yaml", &(map(&second, &depends) + &map(&first, "")));
    let alone = ws.reconcile(["apply", "-f", "a.yaml", "--shard=1/2", "--wait", "--timeout=1s"]).exits_with(4);
    assert_eq!(alone.object("ConfigMap", &second)["outcome"], "skipped");
    ws.reconcile(["apply", "-f", "a.yaml", "--shard=0/2"]).exits_with(0);
    ws.reconcile(["apply", "-f", "a.yaml", "--shard=1/2"]).exits_with(0);
    let order = |objects: &Run| objects.each("name");
    let parts = at_once(&ws, &["diff", "-f", "a.yaml"], 2);
    let together = merged(&ws, &parts, &["-o", "json"]).exits_with(0);
    let whole = ws.reconcile(["diff", "-f", "a.yaml"]).exits_with(0);
    assert_eq!(order(&Run { report: Some(document(&together)), ..together.clone() }), order(&whole));
}

/// The shard that prunes takes kinds off the list, if they go.
#[test]
fn no_part_says_that_the_list_changes_where_nothing_goes() {
    let ws = Workspace::new();
    let set = ["--prune", "--applyset", "set"];
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    let other = ws.write("b.yaml", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: b}}");
    ws.reconcile([&["apply", "-f", "."], &set[..]].concat()).exits_with(0);
    fs::remove_file(other).unwrap();
    let words = |more: &[&'static str]| [&["diff", "-f", "."], &set[..], more].concat();
    for (more, one, all) in [(&["--only", "manual"][..], "none", "none"), (&[], "update", "update")] {
        let parts = at_once(&ws, &words(more), 2);
        let mut actions: Vec<&Value> = parts.iter().map(|run| &run.report()["applySet"]["parent"]["action"]).collect();
        actions.sort_by_key(ToString::to_string);
        assert_eq!(actions, ["none", one], "{more:?}");
        let merge = merged(&ws, &parts, &["-o", "json"]);
        assert_eq!(document(&merge)["applySet"]["parent"]["action"], all, "{merge}");
    }
}

/// Only the part that has the parent prunes, and only what no part names; it waits for the others before.
#[test]
fn one_part_prunes_what_no_part_names() {
    let ws = Workspace::new();
    let set = ["--prune", "--applyset", "set"];
    let holder = shard_of(&ws.fill_in("/Secret/$NS/set"), 2);
    let kept: Vec<String> = names_in(&ws, 0).take(3).chain(names_in(&ws, 1).take(3)).collect();
    let gone: Vec<String> = names_in(&ws, 0).skip(3).take(2).chain(names_in(&ws, 1).skip(3).take(2)).collect();
    let write = |names: &mut dyn Iterator<Item = &String>| {
        ws.write("a.yaml", &names.map(|name| map(name, "")).collect::<String>())
    };
    write(&mut kept.iter().chain(&gone));
    let words = |command: &'static str| [&[command, "-f", "a.yaml"], &set[..]].concat();
    for run in at_once(&ws, &words("apply"), 2) {
        assert_eq!(run.code, 0, "{run}");
    }
    write(&mut kept.iter());
    let whole = ws.reconcile(words("diff")).exits_with(1);
    let parts = at_once(&ws, &words("diff"), 2);
    assert_eq!(facts(&document(&merged(&ws, &parts, &["-o", "json"]).exits_with(1))), facts(whole.report()));
    assert_eq!(whole.report()["summary"]["delete"], 4);
    let index = usize::try_from(holder).unwrap();
    assert_eq!(parts[index].report()["summary"]["delete"], 4);
    assert_eq!(parts[1 - index].report()["summary"]["delete"], 0);
    assert_eq!(parts[1 - index].report()["applySet"]["prunedBy"], json!({"index": holder, "of": 2}));
    assert!(parts[1 - index].stdout.contains(&format!("shard {holder}/2 prunes")), "{}", parts[1 - index]);

    // What another part has not applied may be what replaces a member: nothing is pruned before it is there.
    let new = names_in(&ws, 1 - holder).nth(7).unwrap();
    write(&mut kept.iter().chain([&new]));
    let own = format!("--shard={holder}/2");
    let other = format!("--shard={}/2", 1 - holder);
    let held = ws.reconcile([&words("apply")[..], &[&own, "--wait", "--timeout=1s"]].concat()).exits_with(4);
    let reason = &held.object("ConfigMap", &gone[0])["reason"];
    assert_eq!(
        *reason,
        format!("nothing is pruned, because another shard has not applied ConfigMap {}/{new} yet", ws.namespace())
    );
    ws.reconcile([&words("apply")[..], &[&other]].concat()).exits_with(0);
    ws.reconcile([&words("apply")[..], &[&own]].concat()).exits_with(0);
    for (names, is_there) in [(&kept, true), (&gone, false)] {
        assert!(names.iter().all(|name| ws.find("ConfigMap", name).is_some() == is_there));
    }
    assert_eq!(ws.reconcile(words("apply")).exits_with(0).writes(), 0);
}

/// What `--only` leaves, no part creates: it holds no deletion up.
#[test]
fn what_every_part_leaves_is_not_waited_for() {
    let ws = Workspace::new();
    let words = ["apply", "-f", "a.yaml", "--prune", "--applyset", "set"];
    let holder = shard_of(&ws.fill_in("/Secret/$NS/set"), 2);
    let names: Vec<String> = names_in(&ws, 1 - holder).take(2).chain(names_in(&ws, holder).take(2)).collect();
    let write = |names: &[String]| ws.write("a.yaml", &names.iter().map(|name| map(name, "")).collect::<String>());
    write(&names);
    ws.reconcile(words).exits_with(0);
    ws.delete(&format!("configmap/{}", names[0]));
    write(&names[..3]);
    let own = format!("--shard={holder}/2");
    ws.reconcile([&words[..], &[&own, "--only", "manifest", "--wait", "--timeout=1s"]].concat()).exits_with(0);
    assert!(ws.find("ConfigMap", &names[3]).is_none());
    assert!(ws.find("ConfigMap", &names[0]).is_none());
}

/// Secrets are not paired across parts, and keep their place among the deletions.
#[test]
fn deletions_are_in_the_order_of_one_run() {
    let ws = Workspace::new();
    let set = ["--prune", "--applyset", "set"];
    let object =
        |kind: &str, more: &str| format!("{{apiVersion: v1, kind: {kind}, metadata: {{name: it}}{more}}}\n---\n");
    let kinds = [("Secret", ""), ("ServiceAccount", ""), ("Service", ", spec: {ports: [{port: 80}]}")];
    let all: String = kinds.iter().map(|(kind, more)| object(kind, more)).collect();
    ws.write("a.yaml", &(object("ConfigMap", "") + &all));
    let apply = |runs: &[Run]| document(&merged(&ws, runs, &["-o", "json"]))["applySet"]["parent"]["action"].clone();
    assert_eq!(apply(&at_once(&ws, &[&["apply", "-f", "a.yaml"], &set[..]].concat(), 3)), "create");
    ws.write("a.yaml", &object("ConfigMap", ""));
    let words = [&["diff", "-f", "a.yaml"], &set[..]].concat();
    let whole = ws.reconcile(&words).exits_with(1);
    let together = merged(&ws, &at_once(&ws, &words, 3), &["-o", "json"]);
    assert_eq!(facts(&document(&together)), facts(whole.report()));
}

/// Both list the same kinds before they begin.
#[test]
fn another_part_of_the_run_is_nobody_else() {
    let ws = Arc::new(Workspace::new());
    let set = ["apply", "-f", "a.yaml", "--prune", "--applyset", "set"];
    let holder = shard_of(&ws.fill_in("/Secret/$NS/set"), 2);
    let maps: String = names_in(&ws, 0).take(1).chain(names_in(&ws, 1).take(1)).map(|name| map(&name, "")).collect();
    let object = |kind: &str| format!("{{apiVersion: v1, kind: {kind}, metadata: {{name: it}}}}\n");
    ws.write("a.yaml", &format!("{maps}{}", object("Secret")));
    ws.reconcile(set).exits_with(0);
    ws.write("a.yaml", &format!("{maps}{}", object("ServiceAccount")));
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    let part = format!("--shard={}/2", 1 - holder);
    let event = move || drop(other.reconcile([&set[..], &[&part]].concat()));
    proxy.inject(1, "GET", "secrets/set", Fault::After(Arc::new(event)));
    let own = format!("--shard={holder}/2");
    let apply = ws.through(&proxy.url()).reconcile([&set[..], &[&own]].concat()).exits_with(0);
    assert_eq!(proxy.clear(), [""; 0]);
    assert!(!apply.stderr.contains("somebody else"), "{apply}");
    assert_eq!(ws.reconcile(set).exits_with(0).writes(), 0, "{apply}");
}

#[test]
fn rules_and_unmanaged_objects_are_those_of_all_parts() {
    let ws = Workspace::new();
    let names: Vec<String> = names_in(&ws, 0).take(2).chain(names_in(&ws, 1).take(2)).collect();
    ws.write("a.yaml", &names.iter().map(|name| map(name, "")).collect::<String>());
    ws.reconcile(["apply", "-f", "a.yaml"]).exits_with(0);
    for name in ["stray-1", "stray-2", "stray-3"] {
        ws.kubectl(["create", "configmap", name]).exits_with(0);
    }
    ws.kubectl(["create", "secret", "generic", "mine"]).exits_with(0);
    ws.patch_as("someone", &format!("configmap/{}", names[0]), &json!({"data": {"a": "x"}}));
    ws.write(
        ".kubectl-reconcile.yaml",
        &format!("apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- {{target: {{kind: ConfigMap, name: {}}}, fields: [data.a]}}\n- {{target: {{kind: Pod}}, fields: [spec.x]}}\n", names[0]),
    );
    let words = ["diff", "-f", "a.yaml", "--report-unmanaged"];
    let whole = ws.reconcile(words).exits_with(0);
    assert!(whole.stderr.contains("an ignore rule matches no field"), "{whole}");
    let parts = at_once(&ws, &words, 2);
    assert!(parts.iter().all(|part| !part.stderr.contains("matches no field")));
    let together = merged(&ws, &parts, &["-o", "json"]).exits_with(0);
    assert_eq!(facts(&document(&together)), facts(whole.report()));
    assert_eq!(document(&together)["unmanaged"].as_array().unwrap().len(), 4);
}

/// One shard deletes what another one would leave.
#[test]
fn what_a_shard_deletes_is_not_said_to_stay() {
    let ws = Workspace::new();
    let names: Vec<String> = names_in(&ws, 0).take(2).chain(names_in(&ws, 1).take(2)).collect();
    let write = |file: &str, names: &[&String]| {
        ws.write(file, &names.iter().map(|name| map(name, "")).collect::<String>());
    };
    write("old/a.yaml", &names.iter().collect::<Vec<_>>());
    write("new/a.yaml", &[&names[0], &names[2]]);
    let set = ["--prune", "--applyset", "set"];
    ws.reconcile([&["apply", "-f", "old"], &set[..]].concat()).exits_with(0);
    let words = [&["diff", "-f", "new", "--base", "old"], &set[..]].concat();
    let whole = ws.reconcile(&words).exits_with(1);
    let together = merged(&ws, &at_once(&ws, &words, 2), &["-o", "json"]).exits_with(1);
    assert_eq!(facts(&document(&together)), facts(whole.report()));
}

/// A report of one cluster is what it was, and several are the document of a run in several contexts.
#[test]
fn reports_are_read_and_shown_as_they_were() {
    let ws = Workspace::new();
    let value = ws.secret("fleet-secret-value");
    ws.write(
        "a.yaml",
        &format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: key}}, stringData: {{a: {value}}}}}\n---\n{}",
            map("a", "")
        ),
    );
    ws.reconcile(["apply", "-f", "a.yaml"]).exits_with(0);
    ws.patch_as("someone", "configmap/a", &json!({"data": {"b": "x\u{202e}]]>`|\n</script>", "a": "\u{1b}[31m"}}));
    ws.patch_as("someone", "secret/key", &json!({"stringData": {"a": "other", "b": value}}));
    let run = ws.reconcile(["diff", "-f", "a.yaml", "--show-unmanaged", "-o", "json=one.json"]).exits_with(1);
    let merge = |more: &[&str]| ws.reconcile([&["report", "merge", "one.json"], more].concat());
    let written = fs::read_to_string(ws.folder().join("one.json")).unwrap();
    assert_eq!(merge(&["-o", "json"]).exits_with(1).stdout, written, "byte by byte");
    assert_eq!(merge(&[]).exits_with(1).stdout, run.stdout);
    assert_eq!(merge(&["-q"]).exits_with(1).stdout, "");

    let other = written.replace("\"server\": \"https://", "\"server\": \"https://other.");
    assert_ne!(other, written);
    ws.write("two.json", &other);
    let both = merge(&["two.json", "-o", "json"]).exits_with(1);
    assert_eq!((&document(&both)["kind"], &document(&both)["summary"]["contexts"]), (&json!("Reports"), &json!(2)));
    assert!(merge(&["two.json"]).exits_with(1).stdout.contains("2 contexts: 2 with drift"));

    ws.write("broken.json", "{\n\"kind\": \"Report\"");
    let broken = merge(&["broken.json"]).exits_with(2);
    assert!(broken.stderr.starts_with("error: broken.json:2:") && broken.stderr.lines().count() == 1, "{broken}");
    for (file, message) in [
        ("none.json", "cannot be read"),
        ("/dev/zero", "larger than"),
        ("a.yaml", "not a report"),
        (".", "cannot be read"),
    ] {
        let run = merge(&[file]).exits_with(2);
        assert!(run.stderr.contains(message), "{run}");
    }
    let twice = merge(&["one.json"]).exits_with(2);
    assert!(twice.stderr.contains("is not a shard"), "{twice}");
}
