//! `resolve`: one question for each difference, and nothing is written before the last one.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::contexts::Fleet;
use crate::control_plane::{Caller, Fault, Proxy, Replaced, Run, Running, Workspace, wait_until};
use crate::manifests::WITH_SETTINGS;

/// A ConfigMap with four fields.
const MAP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  a: ours   # the first
  b: ours
  c: ours
  d: ours
";

const HEAD: &str = "apiVersion: kubectl-reconcile/v1\nkind: Config\n";
const CONFIG: &str = ".kubectl-reconcile.yaml";

/// A workspace with an applied manifest in `settings.yaml`, of which somebody has changed these fields.
fn changed(fields: &[&str]) -> Workspace {
    let ws = Workspace::new();
    ws.write("settings.yaml", MAP);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    change(&ws, "settings", fields);
    ws
}

fn change(ws: &Workspace, name: &str, fields: &[&str]) {
    let data: serde_json::Map<String, Value> =
        fields.iter().map(|field| ((*field).to_owned(), json!("theirs"))).collect();
    ws.patch_as("kubectl-edit", &format!("configmap/{name}"), &json!({ "data": data }));
}

fn answering<'a>(ws: &'a Workspace, answers: &str) -> Caller<'a> {
    ws.as_user("admin").stdin(answers).on_terminal()
}

fn resolve(ws: &Workspace, answers: &str) -> Run {
    answering(ws, answers).reconcile(["resolve", "-f", ".", "--color=never"])
}

fn data(ws: &Workspace, name: &str) -> Value {
    ws.get("ConfigMap", name)["data"].clone()
}

fn file(ws: &Workspace, name: &str) -> String {
    fs::read_to_string(ws.folder().join(name)).unwrap()
}

/// The names of all files, and their contents.
fn files(ws: &Workspace) -> Vec<(String, String)> {
    let names = fs::read_dir(ws.folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<_> = names.map(|name| (name.clone(), file(ws, &name))).collect();
    files.sort();
    files
}

#[test]
fn each_answer_does_what_it_says() {
    let ws = changed(&["a"]);
    let run = resolve(&ws, "a\ny\n").exits_with(0);
    assert!(run.stderr.contains("Difference 1 of 1") && run.stderr.contains("[a,p,i,s,q,?]"), "{run}");
    assert!(run.stderr.contains("~ update ConfigMap") && run.stdout.contains("updated ConfigMap"), "{run}");
    assert_eq!((&data(&ws, "settings")["a"], file(&ws, "settings.yaml").as_str()), (&json!("ours"), MAP));

    let ws = changed(&["a"]);
    let versions = ws.all_resource_versions();
    let run = resolve(&ws, "p\ny\n").exits_with(0);
    assert!(run.stderr.contains("+  a: theirs   # the first") && run.stderr.contains("Write 1 file? [y/N]"), "{run}");
    assert_eq!(file(&ws, "settings.yaml"), MAP.replaced("a: ours", "a: theirs"));
    assert_eq!(ws.all_resource_versions(), versions, "the cluster stays as it is");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);

    let ws = changed(&["a"]);
    let versions = ws.all_resource_versions();
    let run = resolve(&ws, "i\n\ni\nset by the importer\ny\n").exits_with(0);
    assert!(run.stderr.contains("a rule needs a reason") && run.stderr.contains("is new"), "{run}");
    assert!(run.stderr.contains("created ./.kubectl-reconcile.yaml"), "{run}");
    assert!(file(&ws, CONFIG).contains("reason: set by the importer"), "{}", file(&ws, CONFIG));
    assert_eq!((ws.all_resource_versions(), file(&ws, "settings.yaml").as_str()), (versions, MAP));
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    // The rule is no wider than what it was made for.
    change(&ws, "settings", &["b"]);
    ws.reconcile(["diff", "-f", "."]).exits_with(1);

    let ws = changed(&["a"]);
    let versions = ws.all_resource_versions();
    let before = files(&ws);
    let run = resolve(&ws, "s\n").exits_with(1);
    assert!(run.stderr.contains("nothing was changed") && !run.stderr.contains("[y/N]"), "{run}");
    assert_eq!((ws.all_resource_versions(), files(&ws)), (versions, before));
}

/// The time for the first question does not grow with the square of the differences: it is that of all edits at once.
#[test]
fn many_differences_of_one_file_are_found_at_once() {
    let ws = Workspace::new();
    let map = |number: u32| {
        let text = "x".repeat(900);
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{number}}}\ndata:\n  a: ours\n  text: {text}\n")
    };
    ws.write("maps.yaml", &(0..200).map(map).collect::<Vec<_>>().join("---\n"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for number in 0..200 {
        change(&ws, &format!("m{number}"), &["a"]);
    }
    // Other work on the machine only makes single runs longer.
    let timed = |run: &dyn Fn() -> Run| {
        let once = || {
            let start = std::time::Instant::now();
            run();
            start.elapsed()
        };
        (0..3).map(|_| once()).min().unwrap_or_default()
    };
    let pull = timed(&|| ws.reconcile(["pull", "-f", ".", "--dry-run"]).exits_with(1));
    let asked = timed(&|| resolve(&ws, "q\n").exits_with(1));
    assert!(asked < pull * 5, "{asked:?} for the first question, {pull:?} for all edits");
}

#[test]
fn one_object_can_have_every_answer() {
    let ws = changed(&["a", "b", "c", "d"]);
    let run = resolve(&ws, "a\np\ni\nlater\ns\ny\n").exits_with(1);
    assert!(run.stderr.contains("Write 2 files") && run.stderr.contains("1 difference stays as it is"), "{run}");
    assert!(run.stdout.contains("1 updated") && !run.stdout.contains("ignored by a rule"), "{run}");
    assert_eq!(data(&ws, "settings"), json!({"a": "ours", "b": "theirs", "c": "theirs", "d": "theirs"}));
    assert_eq!(file(&ws, "settings.yaml"), MAP.replaced("b: ours", "b: theirs"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let changes = diff.object("ConfigMap", "settings")["changes"].as_array().unwrap().clone();
    let drift: Vec<&Value> = changes.iter().filter(|one| one["class"] == "changedByOther").collect();
    assert_eq!(drift.iter().map(|one| &one["path"]).collect::<Vec<_>>(), ["data.d"], "{diff}");
    assert_eq!(drift[0]["managers"][0]["manager"], "kubectl-edit", "what was skipped keeps its owner");
}

#[test]
fn the_last_answer_can_be_changed() {
    let ws = changed(&["a", "b", "c"]);
    let run = resolve(&ws, "s\np\nb\na\nb\nb\na\na\ns\ny\n").exits_with(1);
    assert_eq!(run.stderr.matches("Difference 1 of 3").count(), 2, "{run}");
    assert_eq!(run.stderr.matches("Difference 2 of 3").count(), 4, "{run}");
    assert!(run.stderr.contains("[a,p,i,s,A,q,?]") && run.stderr.contains("[a,p,i,s,b,A,q,?]"), "{run}");
    assert_eq!(data(&ws, "settings"), json!({"a": "ours", "b": "ours", "c": "theirs", "d": "ours"}));
    assert_eq!(file(&ws, "settings.yaml"), MAP);
    // The first question has nothing before it.
    let run = resolve(&changed(&["a"]), "b\n?\nq\n").exits_with(1);
    assert_eq!(run.stderr.matches("b is not offered: there is no answer yet").count(), 2, "{run}");
    assert!(run.stderr.contains("A is not offered: no later difference is of this kind"), "{run}");
}

/// The last question shows what would be done; nothing was done yet, so that every answer before it can still be changed.
#[test]
fn the_last_answer_can_be_changed_at_the_last_question() {
    let ws = changed(&["a", "b"]);
    let run = resolve(&ws, "a\np\nb\na\ny\n").exits_with(0);
    assert_eq!(run.stderr.matches("Difference 2 of 2").count(), 2, "{run}");
    assert!(run.stderr.contains("Write 1 file, and apply") && run.stderr.contains("Apply this to"), "{run}");
    assert!(run.stderr.contains("[y/N] (b: back)"), "{run}");
    assert_eq!((&data(&ws, "settings")["b"], file(&ws, "settings.yaml").as_str()), (&json!("ours"), MAP));

    // Back to the first answer; what was pulled or ignored before leaves no trace.
    let ws = changed(&["a", "b"]);
    let run = resolve(&ws, "p\ni\nlater\nb\nb\ns\np\nb\na\nyes\n").exits_with(1);
    assert_eq!(run.stderr.matches("Difference 1 of 2").count(), 2, "{run}");
    assert_eq!(data(&ws, "settings"), json!({"a": "theirs", "b": "ours", "c": "ours", "d": "ours"}), "{run}");
    assert_eq!(files(&ws), [("settings.yaml".to_owned(), MAP.to_owned())], "{run}");

    // Back from an answer for all of a kind is back to its question; and one question has a way back as well.
    let ws = changed(&["a", "b", "c"]);
    let run = resolve(&ws, "A\na\nb\nA\np\ny\n").exits_with(0);
    assert_eq!(run.stderr.matches("Difference 1 of 3").count(), 2, "{run}");
    assert_eq!(file(&ws, "settings.yaml").matches("theirs").count(), 3, "{run}");
    let ws = changed(&["a"]);
    let versions = ws.all_resource_versions();
    let run = resolve(&ws, "a\nb\ns\n").exits_with(1);
    assert!(run.stderr.contains("nothing was changed"), "{run}");
    assert_eq!(ws.all_resource_versions(), versions);
    // The end of the input is no answer, and another letter is a no.
    for answers in ["a\nb\n\u{4}", "a\nb\na\nx\n", "a\nb\nq\n"] {
        assert!(resolve(&ws, answers).exits_with(1).stderr.contains("nothing was changed"));
    }
    assert_eq!(ws.all_resource_versions(), versions);
}

#[test]
fn one_answer_can_be_for_all_of_a_kind() {
    let ws = changed(&["a", "b", "c", "d"]);
    ws.write("other.yaml", &MAP.replaced("name: settings", "name: other"));
    let run = resolve(&ws, "s\np\nA\ny\n").exits_with(1);
    assert!(run.stderr.contains("the same for 2 others of this kind"), "{run}");
    assert!(run.stderr.contains("Difference 3 of 5") && !run.stderr.contains("Difference 4 of 5"), "{run}");
    let theirs = ["a", "b", "c", "d"].map(|field| format!("  {field}: theirs"));
    assert!(theirs.iter().all(|line| file(&ws, "settings.yaml").contains(line)), "{run}");
    assert_eq!(ws.find("ConfigMap", "other"), None, "a missing object is of another kind");

    // Without an answer of this kind before it, `A` asks for one.
    let ws = changed(&["a", "b", "c"]);
    let run = resolve(&ws, "A\nb\nA\na\ny\n").exits_with(0);
    assert!(run.stderr.contains("Resolve this and 2 others of its kind? [a,p,i,s,b,q,?]"), "{run}");
    assert_eq!(data(&ws, "settings"), json!({"a": "ours", "b": "ours", "c": "ours", "d": "ours"}));

    // One rule for all of them, for one reason; and back from there is back to all of them.
    let ws = changed(&["a", "b", "c"]);
    let run = resolve(&ws, "A\ns\n").exits_with(1);
    assert!(run.stderr.contains("nothing was changed"), "{run}");
    resolve(&ws, "A\ni\nfor later\ny\n").exits_with(0);
    assert_eq!(file(&ws, CONFIG).matches("for later").count(), 1, "{}", file(&ws, CONFIG));
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn what_cannot_take_the_answer_for_all_is_asked_about() {
    let ws = Workspace::new();
    ws.write("maps.yaml", MAP);
    ws.write(
        "list.json",
        r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "stringData": {"a": "1"}}"#,
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    change(&ws, "settings", &["a", "b"]);
    ws.patch_as("kubectl-edit", "secret/key", &json!({"data": {"a": "Mg=="}}));
    let run = resolve(&ws, "p\nA\ns\ny\n");
    let secret = run.stderr.split("Difference").find(|part| part.contains("Secret")).unwrap_or_default();
    assert!(secret.contains("[a,"), "the value of a Secret cannot be pulled, so it is asked about: {run}");
}

#[test]
fn quitting_and_a_no_change_nothing() {
    for (answers, code) in
        [("q\n", 1), ("a\nq\n", 1), ("p\n\u{4}", 1), ("a\np\nn\n", 1), ("i\nx\na\n\n", 1), ("i\n\u{4}", 1)]
    {
        let ws = changed(&["a", "b"]);
        let versions = ws.all_resource_versions();
        let before = files(&ws);
        let run = resolve(&ws, answers).exits_with(code);
        assert!(run.stderr.contains("nothing was changed"), "{run}");
        assert_eq!((ws.all_resource_versions(), files(&ws)), (versions, before), "{answers:?}");
    }
}

#[test]
fn ctrl_c_before_the_last_question_is_answered_changes_nothing() {
    for answers in ["", "a\np\n"] {
        let ws = changed(&["a", "b"]);
        let versions = ws.all_resource_versions();
        let before = files(&ws);
        let proxy = Proxy::new(&ws);
        let running: Running =
            answering(&ws, answers).through(&proxy.url()).start_reconcile(["resolve", "-f", ".", "--color=never"]);
        wait_until("the comparison", || proxy.requests().iter().any(|request| request.starts_with("PATCH")));
        running.interrupt();
        running.finish().exits_with(130);
        assert_eq!((ws.all_resource_versions(), files(&ws)), (versions, before));
    }
}

#[test]
fn without_a_terminal_or_a_single_cluster_nothing_is_asked() {
    let ws = changed(&["a"]);
    let run = ws.stdin("a\ny\n").reconcile(["resolve", "-f", "."]).exits_with(2);
    for part in ["on a terminal", "hint: ", "`apply`", "`pull`", "--suggest-ignores"] {
        assert!(run.stderr.contains(part), "{run}");
    }
    answering(&ws, MAP).reconcile(["resolve", "-f", "-"]).exits_with(2);
    answering(&ws, "").reconcile(["resolve", "-f", ".", "--evidence=read-only"]).exits_with(2);
    let fleet = Fleet::new();
    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    let run = answering(&fleet.eu, "").reconcile(["resolve", "-f", ".", &kubeconfig, "--context=eu,us"]).exits_with(2);
    assert!(run.stderr.contains("`resolve` takes a single context"), "{run}");
    answering(&ws, "").reconcile(["resolve", "--from", "last-applied"]).exits_with(2);
    assert_eq!(data(&ws, "settings")["a"], "theirs");
}

#[test]
fn nothing_to_resolve_is_nothing_to_ask() {
    let ws = changed(&[]);
    let run = resolve(&ws, "").exits_with(0);
    assert!(!run.stderr.contains("Difference"), "{run}");
}

#[test]
fn equal_differences_of_several_objects_are_one_question() {
    let ws = Workspace::new();
    for name in ["one", "two", "three"] {
        ws.write(format!("{name}.yaml"), &MAP.replaced("name: settings", &format!("name: {name}")));
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for name in ["one", "two", "three"] {
        change(&ws, name, &["a"]);
    }
    change(&ws, "two", &["b"]);
    let run = resolve(&ws, "p\na\ny\n").exits_with(0);
    assert!(run.stderr.contains("Difference 2 of 2") && run.stderr.contains("Write 3 files"), "{run}");
    for name in ["one", "two", "three"] {
        assert!(file(&ws, &format!("{name}.yaml")).contains("a: theirs   # the first"), "{run}");
        assert_eq!(data(&ws, name), json!({"a": "theirs", "b": "ours", "c": "ours", "d": "ours"}), "{run}");
    }
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_missing_object_is_created_or_stays_missing() {
    for (answers, code) in [("p\n?\na\ny\n", 0), ("s\n", 1)] {
        let ws = changed(&[]);
        ws.delete("configmap/settings");
        let run = resolve(&ws, answers).exits_with(code);
        assert!(run.stderr.contains("[a,s,q,?]"), "{run}");
        assert_eq!(run.stderr.contains("p is not offered: the object as a whole is missing"), code == 0, "{run}");
        assert_eq!(ws.find("ConfigMap", "settings").is_some(), code == 0);
        assert_eq!(file(&ws, "settings.yaml"), MAP);
    }
}

#[test]
fn an_object_under_a_new_name_is_resolved_by_its_differences_from_the_former_one() {
    let kustomization =
        "resources: [web.yaml]\nconfigMapGenerator:\n- name: settings\n  literals:\n  - a=ours\n  - b=ours\n";
    for (answers, code) in [("a\na\ny\n", 0), ("p\ns\ny\n", 1)] {
        let ws = Workspace::new();
        ws.write("web.yaml", WITH_SETTINGS);
        ws.write("kustomization.yaml", kustomization);
        ws.reconcile(["apply", "-k", "."]).exits_with(0);
        let of_web = || {
            let container = &ws.get("deployment", "web")["spec"]["template"]["spec"]["containers"][0];
            container["envFrom"][0]["configMapRef"]["name"].as_str().unwrap().to_owned()
        };
        let former = of_web();
        change(&ws, &former, &["a", "b"]);
        // As after a pull of the first one alone.
        ws.write("kustomization.yaml", &kustomization.replaced("a=ours", "a=theirs"));
        let run = answering(&ws, answers).reconcile(["resolve", "-k", ".", "--color=never"]).exits_with(code);
        assert!(run.stderr.contains("Difference 1 of 2") && run.stderr.contains("data.b: theirs → ours"), "{run}");
        if code == 0 {
            assert!(run.stderr.contains("+ create ConfigMap") && of_web() != former, "{run}");
            assert_eq!(data(&ws, &of_web()), json!({"a": "theirs", "b": "ours"}));
        } else {
            assert_eq!((of_web(), file(&ws, "kustomization.yaml").matches("theirs").count()), (former, 2), "{run}");
        }
    }
}

#[test]
fn an_object_under_a_new_name_is_applied_as_a_whole_or_not_at_all() {
    let kustomization =
        "resources: [web.yaml]\nconfigMapGenerator:\n- name: settings\n  literals:\n  - a=ours\n  - b=ours\n";
    // The third question is about the reference in the Deployment.
    for (answers, refusal, code) in [
        ("p\na\ns\na\ns\ny\n", "and another difference of it is not applied", 1),
        ("a\np\na\na\ny\n", "and another difference of it is applied", 0),
        ("a\ni\na\na\ny\n", "and another difference of it is applied", 0),
        ("i\na\na\na\ny\n", "gives the object another name", 0),
    ] {
        let ws = Workspace::new();
        ws.write("web.yaml", WITH_SETTINGS);
        ws.write("kustomization.yaml", kustomization);
        ws.reconcile(["apply", "-k", "."]).exits_with(0);
        ws.write("kustomization.yaml", &kustomization.replace("ours", "new"));
        let run = answering(&ws, answers).reconcile(["resolve", "-k", ".", "--color=never"]).exits_with(code);
        assert!(run.stderr.contains(refusal), "{run}");
        let pulled = usize::from(answers.starts_with('p'));
        assert_eq!(file(&ws, "kustomization.yaml").matches("ours").count(), pulled, "{run}");
        if pulled == 1 {
            assert!(run.stderr.contains("a is not offered: it follows ConfigMap"), "{run}");
        } else {
            assert_eq!(ws.reconcile(["diff", "-k", "."]).code, 0, "{run}");
        }
    }
}

#[test]
fn an_object_whose_references_stay_is_not_held_back_by_what_is_not_created() {
    let kustomization = "resources: [web.yaml]\nconfigMapGenerator:\n- name: settings\n  literals: [a=ours]\n";
    // The content of the ConfigMap, the replicas of the Deployment, and its reference.
    for answers in ["s\na\ns\ny\n", "p\na\ns\ny\n"] {
        let ws = Workspace::new();
        ws.write("web.yaml", WITH_SETTINGS);
        ws.write("kustomization.yaml", kustomization);
        ws.reconcile(["apply", "-k", "."]).exits_with(0);
        ws.write("kustomization.yaml", &kustomization.replaced("ours", "new"));
        ws.scale("deployment/web", 3);
        let run = answering(&ws, answers).reconcile(["resolve", "-k", ".", "--color=never"]).exits_with(1);
        assert_eq!(ws.get("deployment", "web")["spec"]["replicas"], 0, "{run}");
    }
}

#[test]
fn what_is_pulled_alone_gets_a_place_of_its_own() {
    let ws = Workspace::new();
    let web = |name: &str| WITH_SETTINGS.replaced("metadata: {name: web}\n", &format!("metadata: {{name: {name}}}\n"));
    ws.write("kustomization.yaml", "resources: [a.yaml, b.yaml]\n");
    ws.write("a.yaml", &web("a"));
    ws.write("b.yaml", &web("b"));
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    for name in ["a", "b"] {
        ws.kubectl(["set", "image", &format!("deployment/{name}"), "web=shop/web:2"]).exits_with(0);
    }
    // Together they would be one entry of `images`.
    let run = answering(&ws, "p\ns\ny\n").reconcile(["resolve", "-k", ".", "--color=never"]).exits_with(1);
    assert_eq!(file(&ws, "a.yaml"), web("a").replaced("image: shop/web", "image: \"shop/web:2\""), "{run}");
    assert_eq!(
        (file(&ws, "b.yaml"), file(&ws, "kustomization.yaml")),
        (web("b"), "resources: [a.yaml, b.yaml]\n".to_owned())
    );
}

#[test]
fn what_needs_a_skipped_object_is_not_created() {
    let ws = Workspace::new();
    let inside = "{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: $NS-new}}";
    ws.write("it.yaml", &format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: $NS-new}}}}\n---\n{inside}\n"));
    let run = resolve(&ws, "s\na\ny\n").exits_with(4);
    assert!(run.stdout.contains("it needs Namespace"), "{run}");
    let run = resolve(&ws, "a\na\ny\n").exits_with(0);
    assert!(run.stdout.contains("created ConfigMap"), "{run}");
}

#[test]
fn fields_of_another_applier_are_not_taken_and_do_not_hold_the_rest_back() {
    let ws = changed(&["b"]);
    let theirs = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: applied}}";
    let flags = ["apply", "--server-side", "--force-conflicts", "--field-manager=other", "-f", "-"];
    ws.stdin(theirs).kubectl(flags).exits_with(0);
    let run = resolve(&ws, "a\ns\na\ny\n").exits_with(1);
    assert!(run.stderr.contains("a is not offered: `other` owns the field"), "{run}");
    assert_eq!(data(&ws, "settings"), json!({"a": "applied", "b": "ours", "c": "ours", "d": "ours"}), "{run}");
    let run = answering(&ws, "a\ny\n").reconcile(["resolve", "-f", ".", "--force-conflicts"]).exits_with(0);
    assert_eq!(data(&ws, "settings")["a"], "ours", "{run}");
}

#[test]
fn an_immutable_field_needs_its_flag() {
    let ws = Workspace::new();
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: fixed}, immutable: true, data: {a: ours}}";
    ws.write("fixed.yaml", map);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("fixed.yaml", &map.replaced("ours", "new"));
    let run = resolve(&ws, "a\np\ny\n").exits_with(0);
    assert!(run.stderr.contains("only `--replace=immutable` deletes and recreates it"), "{run}");
    assert!(file(&ws, "fixed.yaml").contains("a: ours"), "{run}");
    ws.write("fixed.yaml", &map.replaced("ours", "new"));
    let flags = ["resolve", "-f", ".", "--replace=immutable", "--color=never"];
    let run = answering(&ws, "a\ny\n").reconcile(flags).exits_with(0);
    assert!(run.stderr.contains("-/+ replace ConfigMap"), "{run}");
    assert_eq!(data(&ws, "fixed")["a"], "new", "{run}");
}

#[test]
fn values_of_secrets_are_never_pulled_or_shown() {
    let ws = Workspace::new();
    ws.secret("correct-horse-battery");
    ws.secret("a-new-password-of-somebody");
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: it}, stringData: {password: correct-horse-battery}}";
    ws.write("it.yaml", secret);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let theirs = json!({"stringData": {"password": "a-new-password-of-somebody", "other": "correct-horse-battery"}});
    ws.patch_as("kubectl-edit", "secret/it", &theirs);
    let run = resolve(&ws, "p\ns\ns\n").exits_with(1);
    assert!(run.stderr.contains("[r,i,s,q,?]") && run.stderr.contains("[a,i,s,b,q,?]"), "{run}");
    assert!(run.stderr.contains("p is not offered: secret values are not written into manifests"), "{run}");
    let run = resolve(&ws, "i\nrotated by hand\ni\nrotated by hand\ny\n").exits_with(0);
    assert!(run.stderr.contains("rotated by hand") && file(&ws, CONFIG).contains("kind: Secret"), "{run}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    fs::remove_file(ws.folder().join(CONFIG)).unwrap();
    resolve(&ws, "r\na\ny\n").exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert!(ws.get("secret", "it")["data"].get("other").is_none());
}

/// What hands added is removed with `r`; an addition that the server does not let go is no question, and holds nothing else back.
#[test]
fn what_was_added_by_hand_can_be_removed() {
    let ws = changed(&["a"]);
    ws.kubectl(["label", "configmap/settings", "x=y", "z=y"]).exits_with(0);
    let run = resolve(&ws, "a\na\nr\n?\ns\ny\n").exits_with(1);
    assert!(run.stderr.contains("[r,p,i,s,b,A,q,?]"), "{run}");
    assert!(run.stderr.contains("r - remove: it goes from the cluster, as the manifest does not have it"), "{run}");
    assert_eq!(ws.get("configmap", "settings")["metadata"]["labels"], json!({"z": "y"}), "{run}");
    let run = resolve(&ws, "r\ny\n").exits_with(0);
    assert!(ws.get("configmap", "settings")["metadata"].get("labels").is_none(), "{run}");
    resolve(&ws, "").exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"immutable": true, "metadata": {"labels": {"x": "y"}}}));
    resolve(&ws, "").exits_with(0);
}

#[test]
fn a_rendered_manifest_is_not_edited() {
    let ws = Workspace::new();
    ws.write("settings.yaml", &format!("---\n# Source: shop/templates/map.yaml\n{MAP}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    change(&ws, "settings", &["a"]);
    let run = resolve(&ws, "?\nq\n").exits_with(1);
    assert!(run.stderr.contains("[a,i,s,q,?]") && run.stderr.contains("shop/templates/map.yaml"), "{run}");
    assert!(run.stderr.contains("q - quit: change nothing at all"), "{run}");
    let flags = ["resolve", "-f", ".", "--no-config", "--color=never"];
    let run = answering(&ws, "?\nq\n").reconcile(flags).exits_with(1);
    assert!(run.stderr.contains("[a,s,q,?]") && run.stderr.contains("`--no-config` leaves"), "{run}");
}

#[test]
fn a_configuration_with_comments_stays_byte_for_byte_elsewhere() {
    let ws = changed(&["a"]);
    let head = format!("# Rules of the shop\r\n\r\n{}", HEAD.replace('\n', "\r\n"));
    let own = "ignore:\r\n  # the importer\r\n  - target: {kind: 'ConfigMap', name: other}   # one\r\n    fields: [data.a]\r\n";
    let tail = "\r\n# who changes by hand\r\nmanualManagers: [ k9s ]   # for now\r\n";
    ws.write(CONFIG, &format!("{head}{own}{tail}"));
    resolve(&ws, "i\nit's \"theirs\": # and [stays]\ny\n").exits_with(0);
    let text = file(&ws, CONFIG);
    let added = text.strip_prefix(&format!("{head}{own}")).and_then(|rest| rest.strip_suffix(tail));
    let added = added.unwrap_or_else(|| panic!("{text}"));
    assert!(added.starts_with("  - target:\r\n") && added.lines().count() < 14, "{added}");
    let read = kube_yaml::read(text.as_bytes(), kube_yaml::Validation::Strict).documents;
    assert_eq!(read[0].value["ignore"][1]["reason"], "it's \"theirs\": # and [stays]", "{text}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn hostile_names_and_values_do_nothing_to_the_terminal_or_the_files() {
    let ws = changed(&[]);
    let value = "\u{1b}]0;title\u{7}\u{202e}\n::error::x\n---\nkind: Secret\n";
    let patch = json!({"data": {"a": value}, "metadata": {"annotations": {"a/b": value}}});
    ws.patch_as("::error::%0a#*", "configmap/settings", &patch);
    ws.write(CONFIG, &format!("{HEAD}manualManagers: ['::error::%0a#*']\n"));
    let run = resolve(&ws, "i\n?\np\np\ny\n").exits_with(0);
    assert!(run.stderr.contains("i is not offered: a rule cannot name the field manager"), "{run}");
    assert!(!run.stderr.contains(['\u{7}', '\u{202e}']) && !run.stderr.contains("\u{1b}]"), "{run}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let read = kube_yaml::read(file(&ws, "settings.yaml").as_bytes(), kube_yaml::Validation::Strict).documents;
    assert_eq!((read.len(), &read[0].value["data"]["a"]), (1, &json!(value)));
}

/// Who may write a live object must not decide what later runs compare, order, leave out or delete.
#[test]
fn metadata_that_is_obeyed_is_not_pulled() {
    let ws = Workspace::new();
    let map = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {tier: ours}
  annotations: {kubectl-reconcile/prune: keep, note: ours, config.kubernetes.io/depends-on: /namespaces/$NS/ConfigMap/one}
  finalizers: [example.com/ours]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}
";
    ws.write("settings.yaml", map);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let theirs = json!({"metadata": {
        "annotations": {"kubectl-reconcile/prune": "theirs", "config.kubernetes.io/depends-on": "theirs", "note": "theirs"},
        "finalizers": ["example.com/theirs"],
    }});
    ws.patch_as("kubectl-edit", "configmap/settings", &theirs);
    let before = file(&ws, "settings.yaml");
    let run = resolve(&ws, "p\ns\np\ns\np\np\ns\ns\ny\n");
    assert!(run.stderr.contains("p is not offered: it controls what later runs do"), "{run}");
    assert!(run.stderr.contains("Difference 5 of 5"), "{run}");
    assert_eq!(file(&ws, "settings.yaml"), before.replaced("note: ours", "note: theirs"), "{run}");
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"metadata": {"finalizers": null}}));
}

#[test]
fn a_hostile_reason_is_one_line_of_text() {
    let ws = changed(&["a"]);
    resolve(&ws, "i\nx: [\u{202e}\t'\" # - {}\ny\n").exits_with(0);
    let text = file(&ws, CONFIG);
    assert!(!text.contains('\u{202e}') && text.lines().filter(|line| line.contains("reason")).count() == 1, "{text}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

/// A run in which something happens before the dry run with this number. The first belongs to the questions, and the second follows the
/// last answer.
fn with_race(
    ws: &Arc<Workspace>,
    answers: &str,
    number: usize,
    race: impl Fn(&Workspace) + Send + Sync + 'static,
) -> Run {
    let proxy = Proxy::new(ws);
    let other = Arc::clone(ws);
    let seen = AtomicUsize::new(0);
    let race = move || {
        if seen.fetch_add(1, Ordering::Relaxed) + 1 == number {
            race(&other);
        }
    };
    proxy.inject(number, "PATCH", "dryRun", Fault::After(Arc::new(race)));
    answering(ws, answers).through(&proxy.url()).reconcile(["resolve", "-f", ".", "--color=never"])
}

#[test]
fn what_changes_on_the_server_in_the_meantime_is_left_alone() {
    let ws = Arc::new(changed(&["a", "b"]));
    let patch = json!({"data": {"a": "later"}});
    let race = move |ws: &Workspace| ws.patch_as("kubectl-edit", "configmap/settings", &patch);
    let run = with_race(&ws, "a\na\ny\n", 2, race).exits_with(4);
    assert!(run.stdout.contains("it changed after it was shown: not written"), "{run}");
    assert_eq!((&data(&ws, "settings")["a"], &data(&ws, "settings")["b"]), (&json!("later"), &json!("theirs")));

    // What was skipped may change: it is nobody's concern in this pass.
    let ws = Arc::new(changed(&["a", "b"]));
    let patch = json!({"data": {"a": "later"}});
    let race = move |ws: &Workspace| ws.patch_as("kubectl-edit", "configmap/settings", &patch);
    let run = with_race(&ws, "s\na\ny\n", 2, race).exits_with(1);
    assert_eq!((&data(&ws, "settings")["a"], &data(&ws, "settings")["b"]), (&json!("later"), &json!("ours")), "{run}");
}

#[test]
fn what_depends_on_a_file_that_could_not_be_written_is_not_applied() {
    let ws = Arc::new(changed(&["a", "b"]));
    ws.write("z.yaml", &MAP.replaced("name: settings", "name: z"));
    ws.reconcile(["apply", "-f", "z.yaml"]).exits_with(0);
    change(&ws, "z", &["c"]);
    let edited = MAP.replaced("# the first", "# edited meanwhile");
    let text = edited.clone();
    let race = move |ws: &Workspace| drop(ws.write("settings.yaml", &text));
    let run = with_race(&ws, "p\na\na\ny\n", 1, race).exits_with(4);
    assert!(run.stderr.contains("has changed since it was read"), "{run}");
    assert!(
        run.stderr.contains("ConfigMap $NS/settings is not applied".replace("$NS", ws.namespace()).as_str()),
        "{run}"
    );
    assert_eq!(file(&ws, "settings.yaml"), edited);
    assert_eq!(data(&ws, "settings"), json!({"a": "theirs", "b": "theirs", "c": "ours", "d": "ours"}));
    assert_eq!(data(&ws, "z")["c"], "ours", "the rest is applied");
}

#[test]
fn a_configuration_that_is_not_used_takes_no_rules() {
    let ws = Arc::new(changed(&["a"]));
    let race = |ws: &Workspace| drop(ws.write(CONFIG, HEAD));
    let run = with_race(&ws, "i\ns\n", 1, race).exits_with(1);
    assert!(run.stderr.contains("i is not offered: ./.kubectl-reconcile.yaml exists and is not used"), "{run}");
    assert_eq!(file(&ws, CONFIG), HEAD);
}

#[test]
fn only_what_was_chosen_is_written() {
    let ws = changed(&["a"]);
    let other = MAP.replaced("name: settings", "name: other");
    ws.stdin(&other).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.write("other.yaml", &other);
    ws.write("third.yaml", &MAP.replaced("name: settings", "name: third"));
    ws.reconcile(["apply", "-f", "third.yaml"]).exits_with(0);
    change(&ws, "third", &["b"]);
    let version = |name: &str| ws.get("ConfigMap", name)["metadata"]["resourceVersion"].clone();
    let before = (version("other"), version("third"));
    let run = resolve(&ws, "a\ns\ny\n").exits_with(1);
    assert_eq!((version("other"), version("third")), before, "{run}");
    assert_eq!((&data(&ws, "settings")["a"], &data(&ws, "third")["b"]), (&json!("ours"), &json!("theirs")), "{run}");
}

/// A Deployment that reads a ConfigMap and a Secret, which all were changed by somebody.
fn with_references() -> Workspace {
    let ws = Workspace::new();
    ws.write("a.yaml", MAP);
    ws.write("b.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: token}, stringData: {a: ours}}");
    let env =
        "envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: token}}], env: [{name: LEVEL, value: info}]";
    let pod = format!("spec: {{containers: [{{name: web, image: 'web:1', {env}}}]}}");
    let template = format!("template: {{metadata: {{labels: {{app: web}}}}, {pod}}}");
    let spec = format!("spec: {{selector: {{matchLabels: {{app: web}}}}, {template}}}");
    ws.write("c.yaml", &format!("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, {spec}}}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    change(&ws, "settings", &["a"]);
    ws.patch_as("kubectl-edit", "secret/token", &json!({"stringData": {"a": "theirs"}}));
    ws.kubectl(["set", "env", "deployment/web", "LEVEL=debug"]).exits_with(0);
    ws
}

fn level(ws: &Workspace) -> Value {
    ws.get("Deployment", "web")["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"].clone()
}

#[test]
fn what_exists_and_stays_as_it_is_holds_nothing_back() {
    for (answers, code) in [("s\ns\na\ny\n", 1), ("p\ns\na\ny\n", 1), ("a\ns\na\ny\n", 1), ("s\na\na\ny\n", 1)] {
        let ws = with_references();
        let run = resolve(&ws, answers).exits_with(code);
        assert_eq!(level(&ws), "info", "{answers:?}: {run}");
        assert!(run.stdout.contains("updated") && !run.stdout.contains("skipped"), "{answers:?}: {run}");
    }
    // What does not exist holds back what needs it.
    let ws = with_references();
    ws.delete("configmap/settings");
    let run = resolve(&ws, "s\ns\na\ny\n").exits_with(4);
    assert!(run.stdout.contains("it needs ConfigMap"), "{run}");
    assert_eq!(level(&ws), "debug", "{run}");
}

#[test]
fn objects_of_an_expected_apply_set_are_not_created_outside_of_it() {
    let ws = changed(&["a"]);
    ws.write(CONFIG, &format!("{HEAD}expect: {{applyset: shop}}\n"));
    ws.write("new.yaml", &MAP.replaced("name: settings", "name: new"));
    let run = resolve(&ws, "a\ns\na\ny\n").exits_with(1);
    assert!(run.stderr.contains("[s,q,?]") && run.stderr.contains("`apply --applyset shop`"), "{run}");
    assert_eq!((ws.find("ConfigMap", "new"), &data(&ws, "settings")["a"]), (None, &json!("ours")), "{run}");
}

#[test]
fn objects_that_cannot_be_compared_do_not_hold_the_rest_back() {
    let ws = changed(&["a"]);
    ws.write("unknown.yaml", "{apiVersion: example.com/v1, kind: Unknown, metadata: {name: it}}");
    let run = resolve(&ws, "a\ny\n").exits_with(4);
    assert!(run.stderr.contains("Unknown"), "{run}");
    assert_eq!(data(&ws, "settings")["a"], "ours", "{run}");
}

/// The two halves of a switch are applied, or pulled, or neither: the server refuses a manifest with both.
#[test]
fn answers_to_the_halves_of_a_switch_agree() {
    const BUDGET: &str = "\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
spec:
  selector: {matchLabels: {app: db}}
  maxUnavailable: 1
";
    let switched = || {
        let ws = Workspace::new();
        ws.write("db.yaml", BUDGET);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let patch = json!([
            {"op": "remove", "path": "/spec/maxUnavailable"},
            {"op": "add", "path": "/spec/minAvailable", "value": "50%"},
        ]);
        ws.kubectl(["patch", "poddisruptionbudget/db", "--type=json", "-p", &patch.to_string()]).exits_with(0);
        ws
    };
    let spec = |ws: &Workspace| ws.get("PodDisruptionBudget", "db")["spec"].clone();

    // What does not agree with the first answer is not offered, and says why.
    for (answers, letters, reason) in [
        ("a\np\nr\ny\n", "[r,b,q,?]", "p is not offered: it goes together with spec.maxUnavailable, which is applied"),
        ("p\nr\np\ny\n", "[p,b,q,?]", "r is not offered: it goes together with spec.maxUnavailable, which is pulled"),
        (
            "s\np\ns\n",
            "[i,s,b,q,?]",
            "p is not offered: it goes together with spec.maxUnavailable, which is not pulled",
        ),
    ] {
        let ws = switched();
        let run = resolve(&ws, answers).exits_with(u8::from(answers.starts_with('s')).into());
        assert!(run.stderr.contains(&format!("Resolve this? {letters} ")), "{run}");
        assert!(run.stderr.contains(reason), "{run}");
        let written = match answers.chars().next() {
            Some('p') => BUDGET.replaced("maxUnavailable: 1", "minAvailable: 50%"),
            _ => BUDGET.to_owned(),
        };
        assert_eq!(file(&ws, "db.yaml"), written, "{run}");
        let is_applied = answers.starts_with('a');
        assert_eq!(spec(&ws)["maxUnavailable"] == 1, is_applied, "{run}");
        assert_eq!(spec(&ws)["minAvailable"] == "50%", !is_applied, "{run}");
        ws.reconcile(["diff", "-f", "."]).exits_with(u8::from(answers.starts_with('s')).into());
    }
}

/// A map or a list that the API replaces as a whole is applied with all of its parts, or not at all.
#[test]
fn answers_about_parts_of_one_value_agree() {
    const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata: {name: it, labels: {tier: front}}
spec:
  selector:
    a: ours
    b: ours
  ports: [{port: 80}]
";
    const JOB: &str = "\
apiVersion: batch/v1
kind: CronJob
metadata: {name: it, labels: {tier: front}}
spec:
  schedule: 0 0 * * *
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: it
            image: it:1
            args:
            - ours
            - ours
";
    let spec = |kind: &str, live: &Value| match kind {
        "Service" => live["spec"]["selector"].clone(),
        _ => live["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["args"].clone(),
    };
    for (kind, manifest, path, theirs) in [
        ("Service", SERVICE, "/spec/selector", json!({"a": "theirs", "b": "theirs"})),
        ("CronJob", JOB, "/spec/jobTemplate/spec/template/spec/containers/0/args", json!(["theirs", "theirs"])),
    ] {
        let changed = || {
            let ws = Workspace::new();
            ws.write("it.yaml", manifest);
            ws.reconcile(["apply", "-f", "."]).exits_with(0);
            let patch = json!([
                {"op": "replace", "path": "/metadata/labels/tier", "value": "back"},
                {"op": "replace", "path": path, "value": theirs},
            ]);
            ws.kubectl(["patch", kind, "it", "--type=json", "-p", &patch.to_string()]).exits_with(0);
            ws
        };
        // The first answer is about the label, which is written on its own.
        for (answers, letters, reason, code) in [
            ("a\np\na\np\ny\n", "[p,i,s,b,A,q,?]", "a is not offered", 0),
            ("a\ns\na\np\ny\n", "[p,i,s,b,A,q,?]", "another difference of it is not applied", 1),
            ("a\ni\nx\na\ns\ny\n", "[p,i,s,b,A,q,?]", "another difference of it is not applied", 1),
            ("s\na\ns\na\ny\n", "[a,b,A,q,?]", "s is not offered", 1),
            ("a\na\np\na\ny\n", "[a,b,A,q,?]", "is written as a whole, and another difference of it is applied", 0),
        ] {
            let ws = changed();
            let run = resolve(&ws, answers).exits_with(code);
            assert!(run.stderr.contains("Difference 3 of 3"), "{run}");
            let letters = letters.replaced("A,", "");
            assert!(run.stderr.contains(&format!("Resolve this? {letters} ")) && run.stderr.contains(reason), "{run}");
            let live = ws.get(kind, "it");
            let is_applied = answers[2..].starts_with('a');
            let expected = if is_applied { theirs.to_string().replaced("theirs", "ours") } else { theirs.to_string() };
            assert_eq!(spec(kind, &live).to_string(), expected, "{run}");
            assert_eq!(live["metadata"]["labels"]["tier"] == "front", answers.starts_with('a'), "{run}");
            let pulled = file(&ws, "it.yaml").matches("theirs").count();
            let asked: Vec<&str> = answers.split('\n').skip(1).collect();
            assert_eq!(
                pulled,
                asked.iter().filter(|answer| **answer == "p").count() * usize::from(!is_applied),
                "{run}"
            );
        }
    }
}

/// A value that another applier owns as a whole is in conflict in each of its parts.
#[test]
fn parts_of_a_value_of_another_applier_are_not_taken() {
    let ws = Workspace::new();
    let service = "{apiVersion: v1, kind: Service, metadata: {name: it, labels: {tier: front}}, spec: {selector: {app: ours}, ports: [{port: 80}]}}";
    ws.write("it.yaml", service);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("kubectl-edit", "service/it", &json!({"metadata": {"labels": {"tier": "back"}}}));
    let theirs = "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {selector: {app: theirs}}}";
    let flags = ["apply", "--server-side", "--force-conflicts", "--field-manager=flux", "-f", "-"];
    ws.stdin(theirs).kubectl(flags).exits_with(0);
    let run = resolve(&ws, "a\na\ns\ny\n").exits_with(1);
    assert!(run.stderr.contains("a is not offered: `flux` owns the field, and only `--force-conflicts`"), "{run}");
    let live = ws.get("Service", "it");
    assert_eq!(
        (&live["spec"]["selector"], &live["metadata"]["labels"]["tier"]),
        (&json!({"app": "theirs"}), &json!("front"))
    );
    answering(&ws, "a\ny\n").reconcile(["resolve", "-f", ".", "--force-conflicts"]).exits_with(0);
    assert_eq!(ws.get("Service", "it")["spec"]["selector"], json!({"app": "ours"}));
}

/// What no rule of ours tells, the server does: a type of a Service without the removal of its port.
#[test]
fn what_makes_the_server_refuse_the_manifest_is_not_pulled() {
    let service = |port: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec:\n  type: NodePort\n  selector: {{app: web}}\n  \
             ports:\n  - {{name: http, port: 80{port}}}\n"
        )
    };
    let ws = Workspace::new();
    ws.write("web.yaml", &service(""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let port = ws.get("Service", "web")["spec"]["ports"][0]["nodePort"].clone();
    let manifest = service(&format!(", nodePort: {port}"));
    ws.write("web.yaml", &manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let patch = json!([
        {"op": "replace", "path": "/spec/type", "value": "ClusterIP"},
        {"op": "remove", "path": "/spec/ports/0/nodePort"},
    ]);
    ws.kubectl(["patch", "service/web", "--type=json", "-p", &patch.to_string()]).exits_with(0);
    let run = resolve(&ws, "s\np\ny\n").exits_with(4);
    assert!(run.stderr.contains("spec.type cannot be pulled: the server would refuse the manifest with it: "), "{run}");
    assert_eq!(file(&ws, "web.yaml"), manifest, "{run}");
    resolve(&ws, "p\np\ny\n").exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}
