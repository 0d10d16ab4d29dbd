//! `diff --baseline`: known differences do not fail a run, and every format says that there are some.

use reconcile_report::formats::FORMATS;
use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1', b: '2', c: '3'}}";

/// A ConfigMap of which somebody has changed `a`, and a baseline that knows it.
fn settled() -> Workspace {
    let ws = Workspace::new();
    ws.write("deploy/settings.yaml", SETTINGS);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    edit(&ws, &json!({"a": "edited"}));
    ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
    ws
}

fn edit(ws: &Workspace, data: &Value) {
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": data}));
}

#[track_caller]
fn against(ws: &Workspace, flags: &[&str]) -> Run {
    ws.reconcile([&["diff", "-f", "deploy", "--baseline", "baseline.json"], flags].concat())
}

/// The known and the gone differences.
fn counts(run: &Run) -> (u64, u64) {
    let summary = &run.report()["summary"];
    (summary["known"].as_u64().unwrap(), summary["resolved"].as_u64().unwrap())
}

/// Writes the baseline after an edit of its text.
fn tamper(ws: &Workspace, edit: impl FnOnce(&mut Value)) {
    let file = ws.folder().join("baseline.json");
    let mut report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    edit(&mut report);
    std::fs::write(file, report.to_string()).unwrap();
}

/// A container may be called `1`, and is not the one that a number would name.
#[test]
fn a_list_item_with_the_name_of_a_number_is_the_same_in_a_baseline_and_in_a_plan() {
    let ws = Workspace::new();
    let web = WEB.replaced("- name: web", "- name: '1'").replaced("name: proxy", "name: 'true'");
    ws.write("deploy/web.yaml", &web);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    ws.write("deploy/web.yaml", &web.replaced("shop/web:1.2", "shop/web:1.3").replaced("shop/proxy:3", "shop/proxy:4"));
    let diff = ["diff", "-f", "deploy", "-q", "-o", "json=baseline.json", "--save-plan", "plan.json"];
    let run = ws.reconcile(diff).exits_with(1);
    for name in ["1", "true"] {
        run.change("Deployment", "web", &format!("spec.template.spec.containers[name=\"{name}\"].image"));
    }
    assert_eq!(counts(&against(&ws, &[]).exits_with(0)), (2, 0));
    let apply = ws.reconcile(["apply", "-f", "deploy", "--plan", "plan.json"]).exits_with(0);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "updated", "{apply}");
}

#[test]
fn only_new_differences_fail() {
    let ws = settled();
    let known = against(&ws, &[]).exits_with(0);
    assert_eq!(counts(&known), (1, 0));
    assert_eq!((&known.report()["verdict"], &known.report()["exitCode"]), (&json!("drift"), &json!(0)));
    assert_eq!(known.change("ConfigMap", "settings", "data.a")["known"], true);
    assert!(known.stdout.contains("1 known difference: --show-known") && !known.stdout.contains("data.a"), "{known}");
    let shown = against(&ws, &["--show-known"]).exits_with(0);
    assert!(shown.stdout.contains("data.a"), "{shown}");

    edit(&ws, &json!({"b": "edited"}));
    let new = against(&ws, &[]).exits_with(1);
    assert_eq!(counts(&new), (1, 0));
    assert_eq!(new.change("ConfigMap", "settings", "data.b").get("known"), None);
    assert!(new.stdout.contains("data.b") && !new.stdout.contains("data.a"), "{new}");
    for (gate, code) in [("cluster", 1), ("manifest", 0), ("changedByOther", 1), ("manual", 1), ("replace", 0)] {
        against(&ws, &["--fail-on", gate]).exits_with(code);
    }

    // Another value is another difference, and one that is gone is counted.
    edit(&ws, &json!({"a": "edited again", "b": "2"}));
    let other = against(&ws, &[]).exits_with(1);
    assert_eq!(counts(&other), (0, 1));
    assert!(other.stdout.contains("1 difference of the baseline is gone"), "{other}");
    edit(&ws, &json!({"a": "1"}));
    assert_eq!(counts(&against(&ws, &[]).exits_with(0)), (0, 1));
}

/// Which side moved is another question than whether two values differ: a base answers it, and makes no difference new.
#[test]
fn a_difference_is_known_whether_or_not_a_run_has_a_base() {
    let ws = Workspace::new();
    ws.write("old/settings.yaml", SETTINGS);
    ws.write("deploy/settings.yaml", &SETTINGS.replaced("b: '2'", "b: '3', new: '1'"));
    ws.kubectl(["create", "-f", "old"]).exits_with(0);
    ws.kubectl(["patch", "configmap/settings", "--type=json", "-p", r#"[{"op": "remove", "path": "/data/c"}]"#]);
    edit(&ws, &json!({"a": "edited"}));
    let base = ["--base", "old"];
    for (first, second) in [(&[][..], &base[..]), (&base, &[]), (&base, &["--base", "deploy"]), (&[], &[])] {
        let made = [&["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"], first].concat();
        ws.reconcile(made).exits_with(1);
        let known = against(&ws, second).exits_with(0);
        assert_eq!(counts(&known), (4, 0), "{first:?} {second:?}: {known}");
    }
    ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
    edit(&ws, &json!({"a": "edited again"}));
    let new = against(&ws, &base).exits_with(1);
    assert_eq!(counts(&new), (3, 1), "{new}");
    assert_eq!(new.change("ConfigMap", "settings", "data.a")["side"], "cluster", "{new}");
    // Without a base in either of them, the class counts: we have taken the field meanwhile.
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
    edit(&ws, &json!({"b": "edited"}));
    edit(&ws, &json!({"b": "2"}));
    assert_eq!(counts(&against(&ws, &[]).exits_with(1)), (1, 1));
    assert_eq!(counts(&against(&ws, &base).exits_with(0)), (2, 0));
}

#[test]
fn every_format_says_that_differences_are_known() {
    let ws = settled();
    edit(&ws, &json!({"b": "edited"}));
    for format in FORMATS {
        let run = against(&ws, &["-o", format.name]).exits_with(1);
        match format.name {
            "json" | "yaml" | "jsonl" => assert!(run.stdout.contains("known"), "{run}"),
            "prometheus" => assert!(run.stdout.contains("state=\"known\"} 1\n"), "{run}"),
            // Names alone have no place for it.
            "name" => assert!(run.stderr.contains("1 known difference: --show-known"), "{run}"),
            _ => assert!(run.stdout.contains("1 known difference: --show-known"), "{}: {run}", format.name),
        }
        if !format.has_known {
            assert!(format.shows_versions || !run.stdout.contains("data.a"), "{}: {run}", format.name);
        }
    }
}

#[test]
fn a_missing_object_is_known_until_its_manifest_changes() {
    let ws = settled();
    let banner = "{apiVersion: v1, kind: ConfigMap, metadata: {name: banner}, data: {text: hello}}";
    ws.write("deploy/banner.yaml", banner);
    against(&ws, &[]).exits_with(1);
    ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
    assert_eq!(counts(&against(&ws, &[]).exits_with(0)), (2, 0));
    ws.write("deploy/banner.yaml", &banner.replaced("hello", "goodbye"));
    assert_eq!(counts(&against(&ws, &[]).exits_with(1)), (1, 1));
    // A baseline does not change what `apply` does.
    let apply = ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap banner: created", "ConfigMap settings: updated"]);
    assert_eq!(counts(&against(&ws, &[]).exits_with(0)), (0, 2));
    ws.reconcile(["apply", "-f", "deploy", "--baseline", "baseline.json"]).exits_with(2);
}

/// The numbers of redacted values say nothing about another run.
#[test]
fn a_secret_is_known_until_somebody_writes_it() {
    let ws = settled();
    let [ours, theirs, others] =
        ["ours-of-baseline", "theirs-of-baseline", "others-of-baseline"].map(|value| ws.secret(value));
    ws.write(
        "deploy/login.yaml",
        &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: login}}, stringData: {{password: {ours}}}}}"),
    );
    ws.reconcile(["apply", "-f", "deploy/login.yaml"]).exits_with(0);
    let edit = |value: &str| ws.patch_as("kubectl-edit", "secret/login", &json!({"stringData": {"password": value}}));
    edit(&theirs);
    ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
    // Nothing tells whether the value of the manifest is the former one: it is neither known nor gone.
    assert_eq!(counts(&against(&ws, &[]).exits_with(1)), (1, 0));
    // A value that only the cluster has is the same until somebody writes it.
    ws.write("deploy/login.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: login}, type: Opaque}");
    ws.reconcile(["diff", "-f", "deploy", "-q", "--show-unmanaged", "-o", "json=baseline.json"]).exits_with(1);
    let known = |run: &Run| {
        let changes = run.object("Secret", "login")["changes"].as_array().unwrap();
        changes.iter().filter(|change| change["known"] == true).count()
    };
    let before = known(&against(&ws, &["--show-unmanaged"]).exits_with(0));
    edit(&others);
    assert_eq!((before, known(&against(&ws, &["--show-unmanaged"]))), (2, 1));
}

/// An object that does not exist has no version, by which a redacted value would be known.
#[test]
fn a_secret_without_a_version_is_not_known() {
    let ws = settled();
    let [first, second] = ["first-of-baseline", "second-of-baseline"].map(|value| ws.secret(value));
    let login = |value: &str| {
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: login}}, stringData: {{password: {value}}}}}")
    };
    ws.write("deploy/login.yaml", &login(&first));
    ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
    ws.write("deploy/login.yaml", &login(&second));
    assert_eq!(counts(&against(&ws, &[]).exits_with(1)), (1, 0));
}

#[test]
fn a_baseline_of_another_cluster_is_refused() {
    let ws = settled();
    let server = ws.plane().url().to_owned();
    let moved = |report: &mut Value| report["cluster"]["server"] = "https://elsewhere:6443".into();
    // The first report has the uid already.
    tamper(&ws, moved);
    against(&ws, &[]).exits_with(0);
    tamper(&ws, |report| drop(report["cluster"].as_object_mut().unwrap().remove("uid")));
    let refused = against(&ws, &[]).exits_with(2);
    assert!(refused.stderr.contains("baseline.json"), "{refused}");
    assert!(
        refused.stderr.contains(&format!("the baseline is of `https://elsewhere:6443`, and this run is of `{server}`")),
        "{refused}"
    );
    // A cluster is known by its uid, also behind another URL.
    let uid = ws.get("Namespace", "kube-system")["metadata"]["uid"].clone();
    tamper(&ws, |report| report["cluster"] = json!({"server": "https://moved:6443", "uid": uid}));
    against(&ws, &[]).exits_with(0);
    tamper(&ws, |report| report["cluster"]["uid"] = "00000000-0000-0000-0000-000000000000".into());
    against(&ws, &[]).exits_with(2);
    // Nobody who may not read it is refused for that.
    tamper(&ws, |report| report["cluster"]["server"] = server.as_str().into());
    ws.allow("reader", "get,list,patch", "configmaps");
    ws.as_user("reader").reconcile(["diff", "-f", "deploy", "--baseline", "baseline.json"]).exits_with(0);
    ws.write("empty.yaml", "");
    against(&ws, &["--live", "empty.yaml"]).exits_with(2);
}

#[test]
fn a_file_that_is_no_report_of_a_diff_is_refused() {
    let ws = settled();
    for text in ["", "{}", "[]", "{\"kind\": \"Report\"}", "apiVersion: v1"] {
        ws.write("baseline.json", text);
        let run = against(&ws, &[]).exits_with(2);
        assert!(run.stderr.contains("baseline.json"), "{text}: {run}");
    }
    ws.reconcile(["apply", "-f", "deploy", "-o", "json=baseline.json"]).exits_with(0);
    let run = against(&ws, &[]).exits_with(2);
    assert!(run.stderr.contains("not the report of a `diff`") && run.stderr.contains("hint: "), "{run}");
    std::fs::remove_file(ws.folder().join("baseline.json")).unwrap();
    against(&ws, &[]).exits_with(2);
    ws.reconcile(["diff", "-f", "deploy", "--show-known"]).exits_with(2);
}

#[test]
fn the_configuration_cannot_choose_a_baseline() {
    let ws = settled();
    let config = "apiVersion: kubectl-reconcile/v1\nkind: Config\ndefaults: {baseline: baseline.json}\n";
    ws.write("deploy/.kubectl-reconcile.yaml", config);
    ws.reconcile(["diff", "-f", "deploy"]).exits_with(2);
}

/// An object that the input leaves out is not an object whose difference is gone.
#[test]
fn a_narrower_input_says_nothing_about_the_other_objects() {
    let ws = settled();
    let banner = "{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, labels: {app: banner}}}";
    ws.write("deploy/banner.yaml", banner);
    ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
    let left_out = "1 difference of the baseline may still be there: this input leaves them out";
    for flags in [&["-f", "deploy/banner.yaml"][..], &["-f", "deploy", "-l", "app=banner"]] {
        let run = ws.reconcile([&["diff", "--baseline", "baseline.json"], flags].concat()).exits_with(0);
        assert_eq!(counts(&run), (1, 0), "{run}");
        assert!(run.stderr.contains(left_out), "{run}");
    }
    let elsewhere = ws.fill_in("$NS-elsewhere");
    ws.kubectl(["create", "namespace", &elsewhere]).exits_with(0);
    let run = ws.reconcile(["diff", "-f", "deploy", "-n", &elsewhere, "--baseline", "baseline.json"]).exits_with(1);
    assert_eq!(run.report()["summary"]["resolved"], 0, "{run}");
    assert!(run.stderr.contains("of the baseline may still be there: this input leaves them out"), "{run}");
    std::fs::remove_file(ws.folder().join("deploy/settings.yaml")).unwrap();
    let removed = against(&ws, &[]).exits_with(0);
    assert_eq!(counts(&removed), (1, 1), "{removed}");
    assert!(!removed.stderr.contains("may still be there"), "{removed}");
}

#[test]
fn each_shard_knows_its_own_differences() {
    let ws = settled();
    for name in ["b", "c", "d", "e", "f"] {
        ws.write(
            format!("deploy/{name}.yaml"),
            &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}"),
        );
    }
    ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
    ws.reconcile(["apply", "-f", "deploy/b.yaml"]).exits_with(0);
    for shard in ["0", "1"] {
        let flag = format!("--shard={shard}/2");
        let report = format!("json={shard}.json");
        against(&ws, &[&flag, "-q", "-o", &report]).exits_with(0);
    }
    let merged = ws.reconcile(["report", "merge", "0.json", "1.json", "-o", "json=merged.json"]).exits_with(0);
    assert!(
        merged.stdout.contains("5 known differences: --show-known; 1 difference of the baseline is gone"),
        "{merged}"
    );
    let report: Value = serde_json::from_slice(&std::fs::read(ws.folder().join("merged.json")).unwrap()).unwrap();
    assert_eq!((&report["summary"]["known"], &report["summary"]["resolved"]), (&json!(5), &json!(1)));
}

/// A name with a hash only looks as if it told the content: whoever writes the manifest chooses both.
#[test]
fn a_name_with_a_hash_makes_no_other_content_known() {
    const OLD: &str = "app-2222222222";
    const NEW: &str = "app-4444444444";
    let user = |name: &str, kind: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, \
             spec: {{containers: [{{name: a, image: 'shop/a:1', envFrom: [{{{kind}Ref: {{name: {name}}}}}]}}]}}}}}}}}"
        )
    };
    for (kind, reference, field) in [("ConfigMap", "configMap", "data"), ("Secret", "secret", "stringData")] {
        let ws = Workspace::new();
        let object = |name: &str, role: &str| {
            format!(
                "{{apiVersion: v1, kind: {kind}, metadata: {{name: {name}}}, {field}: {{role: {role}, same: one}}}}"
            )
        };
        ws.write("deploy/it.yaml", &object(OLD, "old"));
        ws.write("deploy/web.yaml", &user(OLD, reference));
        ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
        ws.write("deploy/it.yaml", &object(NEW, "viewer"));
        ws.write("deploy/web.yaml", &user(NEW, reference));
        let first = ws.reconcile(["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"]).exits_with(1);
        assert_eq!(first.object(kind, NEW)["renamedFrom"], OLD, "{first}");
        let is_hidden = kind == "Secret";
        // What a Secret will hold is hidden, and known from no report.
        against(&ws, &[]).exits_with(i32::from(is_hidden));
        for changed in [object(NEW, "admin"), object(NEW, "viewer").replaced("same: one", "same: two")] {
            ws.write("deploy/it.yaml", &changed);
            against(&ws, &[]).exits_with(1);
            ws.reconcile(["diff", "-f", "deploy/it.yaml", "--baseline", "baseline.json"]).exits_with(1);
        }
    }
}

/// A report has only the size of a large object, which tells nothing about the content.
#[test]
fn a_large_object_is_neither_known_nor_gone_unless_the_baseline_has_it_whole() {
    let ws = Workspace::new();
    let text = "a".repeat(70_000);
    ws.write(
        "deploy/it.yaml",
        &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it}}, data: {{a: {text}}}}}"),
    );
    for (flags, code, expected) in [(&[][..], 1, (0, 0)), (&["--full"], 0, (1, 0))] {
        let write = ["diff", "-f", "deploy", "-q", "-o", "json=baseline.json"];
        ws.reconcile([&write[..], flags].concat()).exits_with(1);
        let run = against(&ws, &[]).exits_with(code);
        assert_eq!(counts(&run), expected, "{run}");
    }
}
