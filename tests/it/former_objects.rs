//! What somebody changed by hand in the former object of one under a new name is told as their change, whatever else is known of it: ignore
//! rules, a baseline, an audit log, shards.

use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace};

const A: &str = "hcm-84c9dfhgtd";
const B: &str = "hcm-h56kmt2b4c";
/// Flags of a run over a set.
const SET: [&str; 3] = ["--prune", "--applyset", "hset"];

/// A ConfigMap with a mode, and a Deployment that uses it.
fn write(ws: &Workspace, name: &str, mode: &str) {
    let text = format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{LOG: info, MODE: {mode}}}}}\n---\n\
         {{apiVersion: apps/v1, kind: Deployment, metadata: {{name: hd}}, spec: {{selector: {{matchLabels: {{app: hd}}}}, \
         template: {{metadata: {{labels: {{app: hd}}}}, spec: {{containers: [{{name: hd, image: shop/hd:1, \
         envFrom: [{{configMapRef: {{name: {name}}}}}]}}]}}}}}}}}\n"
    );
    ws.write("h/all.yaml", &text);
}

/// Both were applied, and somebody changes `LOG` by hand.
fn changed_by_hand(flags: &[&str]) -> Workspace {
    let ws = Workspace::new();
    write(&ws, A, "a");
    run(&ws, "apply", flags).exits_with(0);
    ws.patch_as("kubectl-patch", &format!("configmap/{A}"), &json!({"data": {"LOG": "debug"}}));
    ws
}

fn run(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command, "-f", "h"], flags].concat())
}

/// The change of `LOG` in the object under the new name.
#[track_caller]
fn log_of(run: &Run) -> &Value {
    assert_eq!(run.object("ConfigMap", B)["renamedFrom"], A, "{run}");
    run.change("ConfigMap", B, "data.LOG")
}

/// Asserts that `LOG` is a change of the cluster by the one who made it.
#[track_caller]
fn is_by_hand(run: &Run) {
    let log = log_of(run);
    let found = (&log["class"], &log["side"], &log["managers"][0]["manager"]);
    assert_eq!(found, (&json!("changedByOther"), &json!("cluster"), &json!("kubectl-patch")), "{run}");
    assert_eq!(run.object("ConfigMap", B)["side"], "both", "{run}");
}

/// The new object is created as a whole, so that an apply loses what a rule ignores in the former one.
#[test]
fn an_ignore_rule_hides_no_change_of_the_former_object() {
    let fields = "fields: [data.LOG], reason: of the operators";
    let base = ["--base", "base"];
    for (rule, flags) in [
        (fields, &SET[..]),
        (fields, &[]),
        ("fields: [data.LOG], managers: [kubectl-patch]", &SET),
        ("managers: [kubectl-patch]", &[]),
        (fields, &base),
    ] {
        let ws = changed_by_hand(if flags == base { &[] } else { flags });
        ws.write("base/all.yaml", &std::fs::read_to_string(ws.folder().join("h/all.yaml")).unwrap());
        let rules = format!(
            "{{apiVersion: kubectl-reconcile/v1, kind: Config, ignore: [{{target: {{kind: ConfigMap, name: hcm-*}}, {rule}}}]}}"
        );
        ws.write("h/.kubectl-reconcile.yaml", &rules);
        // Under its own name, the rule leaves it alone.
        run(&ws, "diff", flags).exits_with(0);
        write(&ws, B, "b");
        let diff = run(&ws, "diff", &[flags, &["--fail-on", "cluster"]].concat()).exits_with(1);
        is_by_hand(&diff);
        assert!(!diff.stderr.contains("matches no field"), "{rule}: {diff}");
        assert!(!diff.stdout.contains("without a base"), "{rule}: {diff}");
        // As without the rule, neither is touched.
        let apply = run(&ws, "apply", &[flags, &["--only", "manifest"]].concat()).exits_with(4);
        assert!(!apply.stderr.contains("matches no field"), "{rule}: {apply}");
        assert_eq!(ws.get("configmap", A)["data"], json!({"LOG": "debug", "MODE": "a"}), "{rule}: {apply}");
        assert!(ws.find("ConfigMap", B).is_none(), "{rule}: {apply}");
        run(&ws, "apply", flags).exits_with(0);
        assert_eq!(ws.get("configmap", B)["data"], json!({"LOG": "info", "MODE": "b"}), "{rule}");
    }
}

#[test]
fn an_annotation_hides_no_change_of_the_former_object() {
    let ws = Workspace::new();
    let annotated = |name: &str, mode: &str| {
        write(&ws, name, mode);
        let text = std::fs::read_to_string(ws.folder().join("h/all.yaml")).unwrap();
        let with = format!("{{name: {name}, annotations: {{kubectl-reconcile/ignore: data.LOG}}}}, data");
        ws.write("h/all.yaml", &text.replacen(&format!("{{name: {name}}}, data"), &with, 1));
    };
    annotated(A, "a");
    run(&ws, "apply", &SET).exits_with(0);
    ws.patch_as("kubectl-patch", &format!("configmap/{A}"), &json!({"data": {"LOG": "debug"}}));
    run(&ws, "diff", &SET).exits_with(0);
    annotated(B, "b");
    is_by_hand(&run(&ws, "diff", &[&SET[..], &["--fail-on", "cluster"]].concat()).exits_with(1));
}

#[test]
fn a_baseline_of_the_former_object_knows_its_differences_under_the_new_name() {
    for flags in [&SET[..], &[]] {
        let ws = changed_by_hand(flags);
        run(&ws, "diff", &[flags, &["-q", "-o", "json=hb.json"]].concat()).exits_with(1);
        write(&ws, B, "b");
        let against = |baseline: &str, more: &[&str]| {
            run(&ws, "diff", &[flags, &["--baseline", baseline, "--fail-on", "cluster"], more].concat())
        };
        let diff = against("hb.json", &["-o", "json=next.json"]).exits_with(0);
        assert_eq!(log_of(&diff)["known"], true, "{diff}");
        assert_eq!(diff.change("ConfigMap", B, "data.MODE").get("known"), None, "{diff}");
        let summary = &diff.report()["summary"];
        assert_eq!((&summary["known"], &summary["resolved"]), (&json!(1), &json!(0)), "{diff}");
        // The next content is the same object as well.
        write(&ws, "hcm-g9c8b2kmtd", "c");
        let next = against("next.json", &[]).exits_with(0);
        let change = |path: &str| next.change("ConfigMap", "hcm-g9c8b2kmtd", path).get("known").is_some();
        assert_eq!([change("data.LOG"), change("data.MODE")], [true, false], "{next}");
        // Another value is another difference.
        write(&ws, B, "b");
        ws.patch_as("kubectl-patch", &format!("configmap/{A}"), &json!({"data": {"LOG": "trace"}}));
        let other = against("hb.json", &[]).exits_with(1);
        let summary = &other.report()["summary"];
        assert_eq!((&summary["known"], &summary["resolved"]), (&json!(0), &json!(1)), "{other}");
    }
}

#[test]
fn an_audit_log_names_the_user_who_changed_the_former_object() {
    for flags in [&SET[..], &[]] {
        let ws = Workspace::new();
        write(&ws, A, "a");
        run(&ws, "apply", flags).exits_with(0);
        ws.allow("editor", "get,patch", "configmaps");
        let ((), text) = ws.audit_log_during(|| {
            let patch = ["patch", "configmap", A, "--field-manager=kubectl-patch", "-p", r#"{"data":{"LOG":"debug"}}"#];
            ws.as_user("editor").kubectl(patch).exits_with(0);
        });
        std::fs::write(ws.folder().join("audit.log"), text).unwrap();
        let audited = [flags, &["--audit-log", "audit.log"]].concat();
        let before = run(&ws, "diff", &audited).exits_with(1);
        let before = before.change("ConfigMap", A, "data.LOG")["managers"].clone();
        assert_eq!(before[0]["user"]["name"], "editor", "{before}");
        write(&ws, B, "b");
        let after = run(&ws, "diff", &audited).exits_with(1);
        assert_eq!(log_of(&after)["managers"], before, "{after}");
        assert!(after.stdout.contains(", editor"), "{after}");
    }
}

/// Compares shard by shard, and merges the reports. Returns the number of shards that failed, and the merged report.
fn in_shards(ws: &Workspace, flags: &[&str], count: usize) -> (usize, Run) {
    let mut failed = 0;
    let mut merge = ["report", "merge", "-o", "text", "-o", "json=merged.json"].map(str::to_owned).to_vec();
    for shard in 0..count {
        let (part, file) = (format!("{shard}/{count}"), format!("{shard}.json"));
        let diff = run(ws, "diff", &[flags, &["-q", "--shard", &part, "-o", &format!("json={file}")]].concat());
        failed += usize::from(diff.code == 1);
        merge.push(file);
    }
    let merged = ws.reconcile(merge).exits_with(1);
    let text = std::fs::read_to_string(ws.folder().join("merged.json")).unwrap();
    (failed, Run { report: serde_json::from_str(&text).unwrap(), ..merged })
}

#[test]
fn each_shard_tells_what_was_changed_in_the_former_object() {
    for flags in [&SET[..], &[], &["--live", "live.yaml", "-n", "$NS"]] {
        let set = if flags == SET { flags } else { &[] };
        let ws = changed_by_hand(set);
        let live = ws.kubectl(["get", "configmap,deployment", "-o", "yaml", "--show-managed-fields"]).exits_with(0);
        ws.write("live.yaml", &live.stdout);
        write(&ws, B, "b");
        let manual = [flags, &["--fail-on", "manual"]].concat();
        let whole = run(&ws, "diff", &manual).exits_with(1);
        is_by_hand(&whole);
        for count in 2..=5 {
            let (failed, merged) = in_shards(&ws, &manual, count);
            assert_eq!(failed, 1, "{count}");
            is_by_hand(&merged);
            let told = |run: &Run| {
                let fields = |object: &Value| ["name", "action", "side", "changes"].map(|field| object[field].clone());
                let objects: Vec<_> = run.objects().iter().map(fields).collect();
                (objects, run.report()["summary"]["sides"].clone())
            };
            assert_eq!(told(&merged), told(&whole), "{count}");
            assert!(!merged.stdout.contains("all changed in the manifests"), "{merged}");
        }
    }
}

/// Only the shard that prunes lists the members of the set.
#[test]
fn each_shard_finds_the_former_member_of_a_set_that_nothing_refers_to() {
    let ws = Workspace::new();
    let write = |hash: &str, mode: &str| {
        let one = |kind: &str, stem: &str| {
            let data = if kind == "Secret" { "stringData" } else { "data" };
            format!(
                "{{apiVersion: v1, kind: {kind}, metadata: {{name: {stem}-{hash}}}, {data}: {{LOG: info, MODE: {mode}}}}}\n---\n"
            )
        };
        let stems = ["one", "two", "three"];
        let text: String = stems.iter().flat_map(|stem| [one("ConfigMap", stem), one("Secret", stem)]).collect();
        ws.write("h/all.yaml", &text);
    };
    write("84c9dfhgtd", "aaaaaaaa");
    run(&ws, "apply", &SET).exits_with(0);
    let edit = |value: &str| json!({"data": {"LOG": value}});
    ws.patch_as("kubectl-patch", "configmap/two-84c9dfhgtd", &edit("debug"));
    ws.patch_as("kubectl-patch", "secret/three-84c9dfhgtd", &edit("ZGVidWc="));
    write("h56kmt2b4c", "bbbbbbbb");
    let flags = [&SET[..], &["--prune-allow", "most"]].concat();
    let told = |run: &Run| {
        let change = |change: &Value| {
            let by = change["managers"][0]["manager"].as_str().unwrap_or("-");
            format!("{} {} {by}", change["path"], change["side"])
        };
        let told = |object: &Value| {
            let changes: Vec<String> = object["changes"].as_array().into_iter().flatten().map(change).collect();
            format!(
                "{} {} {} {} {changes:?}",
                object["kind"], object["name"], object["renamedFrom"], object["deletion"]
            )
        };
        run.objects().iter().map(told).collect::<std::collections::BTreeSet<_>>()
    };
    let whole = run(&ws, "diff", &flags).exits_with(1);
    assert_eq!(whole.report()["summary"]["update"], 6, "{whole}");
    let (_, merged) = in_shards(&ws, &flags, 3);
    assert_eq!(told(&merged), told(&whole), "{merged}");
}

/// Without its manifest, nothing tells which annotations of a Secret may be shown.
#[test]
fn annotations_of_a_secret_under_a_new_name_are_compared() {
    let ws = Workspace::new();
    let write = |hash: &str, by_us: &str| {
        let annotations = format!("{{by-nobody: the same, by-hand: ours, by-us: {by_us}}}");
        let metadata = format!("{{name: hs-{hash}, annotations: {annotations}}}");
        let text =
            format!("{{apiVersion: v1, kind: Secret, metadata: {metadata}, stringData: {{password: of-{hash}}}}}\n");
        ws.write("h/all.yaml", &text);
    };
    write("84c9dfhgtd", "before");
    run(&ws, "apply", &SET).exits_with(0);
    let by_hand = json!({"metadata": {"annotations": {"by-hand": "theirs"}}});
    ws.patch_as("kubectl-patch", "secret/hs-84c9dfhgtd", &by_hand);
    write("h56kmt2b4c", "after");
    for command in ["diff", "apply"] {
        let run = run(&ws, command, &SET);
        let secret = run.object("Secret", "hs-h56kmt2b4c");
        assert_eq!(secret["renamedFrom"], "hs-84c9dfhgtd", "{run}");
        let changes = secret["changes"].as_array().into_iter().flatten();
        let found: Vec<(&Value, &Value)> = changes.map(|change| (&change["path"], &change["side"])).collect();
        let [password, by_hand, by_us] =
            ["data.password", "metadata.annotations.by-hand", "metadata.annotations.by-us"].map(Value::from);
        let [ours, theirs] = ["manifest", "cluster"].map(Value::from);
        assert_eq!(found, [(&password, &ours), (&by_hand, &theirs), (&by_us, &ours)], "{command}: {run}");
        assert!(!run.stdout.contains("theirs"), "{run}");
    }
}

#[test]
fn no_rule_is_suggested_for_an_object_under_a_new_name() {
    let ws = changed_by_hand(&[]);
    write(&ws, B, "b");
    let suggested = run(&ws, "diff", &["--suggest-ignores"]).exits_with(1);
    let notes: Vec<&str> = suggested.stdout.lines().filter(|line| line.starts_with("# Not covered: ")).collect();
    let map = ws.fill_in(&format!("ConfigMap $NS/{B}: each change gives the object another name"));
    let reference = ws.fill_in(&format!(": it follows ConfigMap $NS/{B}, which gets a new name"));
    assert!(matches!(notes[..], [one, other] if one.contains(&map) && other.ends_with(&reference)), "{suggested}");
    // The rules hide what they can, and nothing is left that the comments do not name.
    ws.write("s.yaml", &suggested.stdout);
    let diff = run(&ws, "diff", &["--config", "s.yaml"]).exits_with(1);
    is_by_hand(&diff);
}

/// The former object is kept by its annotation; the new one is created as a whole all the same.
#[test]
fn a_member_that_is_kept_is_a_former_object_as_well() {
    let ws = changed_by_hand(&SET);
    ws.kubectl(["annotate", "configmap", A, "kubectl-reconcile/prune=keep"]).exits_with(0);
    ws.write("base/all.yaml", &std::fs::read_to_string(ws.folder().join("h/all.yaml")).unwrap());
    write(&ws, B, "b");
    let gate = ["--base", "base", "--fail-on", "both,cluster"];
    let diff = run(&ws, "diff", &[&SET[..], &gate].concat()).exits_with(1);
    is_by_hand(&diff);
    assert!(diff.object("ConfigMap", A)["reason"].as_str().is_some_and(|reason| reason.starts_with("kept because")));
    let apply = run(&ws, "apply", &SET).exits_with(0);
    assert_eq!(apply.object("ConfigMap", B)["renamedFrom"], A, "{apply}");
    assert_eq!(apply.report()["summary"]["kept"], 1, "{apply}");
    assert_eq!(run(&ws, "apply", &SET).exits_with(0).writes(), 0);
}

/// What is left because of a former object was left when the plan was saved, and nothing has changed since.
#[test]
fn a_plan_holds_where_a_former_object_is_left() {
    for base in [&[][..], &["--base", "base"]] {
        let ws = changed_by_hand(&SET);
        ws.write("base/all.yaml", &std::fs::read_to_string(ws.folder().join("h/all.yaml")).unwrap());
        write(&ws, B, "b");
        ws.write("h/other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: hother}, data: {a: b}}");
        let flags = [&SET[..], &["--only", "manifest,either"], base].concat();
        run(&ws, "diff", &[&flags[..], &["--save-plan", "plan.json"]].concat()).exits_with(1);
        // The Deployment needs what is left.
        let apply = run(&ws, "apply", &[&flags[..], &["--plan", "plan.json"]].concat()).exits_with(4);
        assert_eq!(apply.object("ConfigMap", "hother")["outcome"], "created", "{apply}");
        assert_eq!(apply.object("Deployment", "hd")["outcome"], "skipped", "{apply}");
        assert!(!apply.stdout.contains("since the plan"), "{apply}");
    }
}
