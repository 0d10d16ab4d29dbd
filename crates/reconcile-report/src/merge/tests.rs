use reconcile_core::object::Shard;
use serde_json::{Value, json};

use super::*;
use crate::formats::json::render;
use crate::view::View;

/// A report with objects that are in sync: these ConfigMaps with their positions, all of them in the shard.
fn report(shard: Option<Shard>, verdict: &str, code: u8, objects: &[(String, usize)]) -> Value {
    let objects: Vec<Value> = objects
        .iter()
        .map(|(name, place)| {
            let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": name,
                                    "source": {"file": "a.yaml", "line": 1}, "action": "none", "changes": [], "conflicts": [],
                                    "warnings": []});
            if shard.is_some() {
                object["position"] = json!(place);
            }
            object
        })
        .collect();
    let mut summary = json!({"objects": objects.len(), "inSync": objects.len()});
    for name in [
        "create",
        "update",
        "replace",
        "needsReplace",
        "protected",
        "delete",
        "unknown",
        "proven",
        "conflict",
        "adopted",
        "addedItems",
        "unmanaged",
        "unmanagedManual",
        "ignored",
        "hooks",
    ] {
        summary[name] = json!(0);
    }
    summary["sides"] = json!({"manifest": 0, "cluster": 0, "either": 0, "both": 0});
    let mut report = json!({
        "apiVersion": "kubectl-reconcile/v1", "kind": "Report", "command": "diff", "verdict": verdict, "exitCode": code,
        "cluster": {"context": "prod", "server": "https://prod"}, "summary": summary,
        "requests": {"get": 1, "list": 2, "dryRun": 0, "write": 0, "other": 1}, "objects": objects, "errors": [],
    });
    if let Some(shard) = shard {
        report["shard"] = json!(shard);
    }
    report
}

/// The reports of twelve objects in the order of their plan, divided into this many shards.
fn shards(count: u32) -> Vec<Value> {
    let whole: Vec<(String, usize)> = (0..12).map(|place| (format!("m-{place}"), place)).collect();
    let part = |index: u32| {
        let shard = Shard { index, count };
        let is_ours = |(name, _): &&(String, usize)| {
            let gvk = structured_merge::GroupVersionKind::new("v1", "ConfigMap");
            shard.has(&structured_merge::ObjectKey { gvk, namespace: Some("shop".into()), name: name.clone() })
        };
        let ours: Vec<(String, usize)> = whole.iter().filter(is_ours).cloned().collect();
        report(Some(shard), "inSync", 0, &ours)
    };
    (0..count).map(part).collect()
}

fn merge(reports: &[Value]) -> Result<Reports, String> {
    let part =
        |(number, report): (usize, &Value)| MergeInput::read(&format!("{number}.json"), report.to_string().as_bytes());
    let parts: Result<Vec<Vec<MergeInput>>, Diagnostic> = reports.iter().enumerate().map(part).collect();
    parts.and_then(|parts| merged(parts.into_iter().flatten().collect())).map_err(|diagnostic| diagnostic.to_string())
}

#[test]
fn objects_that_are_the_same_in_several_reports_share_their_memory() {
    let mut other = report(None, "inSync", 0, &[("a".into(), 0), ("b".into(), 1)]);
    other["objects"][1]["source"]["line"] = json!(2);
    let reports = [report(None, "inSync", 0, &[("a".into(), 0), ("b".into(), 1)]), other];
    let mut shared = SharedObjects::default();
    let read = reports.map(|report| {
        let mut parts = MergeInput::read("a.json", report.to_string().as_bytes()).unwrap();
        for part in &mut parts {
            shared.share(part);
        }
        parts.pop().unwrap().report
    });
    let [one, mut other] = read;
    let is_shared =
        |at: usize, other: &Report| std::ptr::eq(&raw const *one.objects[at], &raw const *other.objects[at]);
    assert_eq!([is_shared(0, &other), is_shared(1, &other)], [true, false]);

    other.objects[0].position = Some(3);
    assert_eq!((is_shared(0, &other), one.objects[0].position), (false, None), "a change is that of one report");
}

fn whole(reports: &[Value]) -> Report {
    merge(reports).unwrap().only().cloned().unwrap()
}

#[test]
fn the_shards_of_a_run_become_the_run() {
    let mut parts = shards(4);
    parts.reverse();
    for part in &mut parts {
        part["summary"]["hooks"] = json!(3);
    }
    let together = whole(&parts);
    let names: Vec<String> = together.objects.iter().map(|object| object.key.name.clone()).collect();
    assert_eq!(names, (0..12).map(|place| format!("m-{place}")).collect::<Vec<_>>());
    assert_eq!((together.summary.objects, together.summary.in_sync, together.requests.list), (12, Some(12), 8));
    assert_eq!((together.shard, together.exit_code), (None, 0));
    assert_eq!(together.summary.hooks, 3, "each shard leaves out the hooks of the whole input");
    assert!(!render(&together.into(), &View::default()).contains("\"place\""));
}

/// Each shard reads a kind in a version that is deprecated, and one is told of it for an object.
#[test]
fn warnings_of_the_server_are_counted_as_in_one_run() {
    let deprecated = "v1 Endpoints is deprecated";
    let mut parts = shards(3);
    for (number, part) in parts.iter_mut().enumerate() {
        part["warnings"] = json!([format!("ours {number}"), "ours", deprecated]);
        part["summary"]["warnings"] = json!(1);
    }
    let together = whole(&parts);
    let warnings = ["ours 0", "ours", deprecated, "ours 1", "ours 2"];
    assert_eq!((together.summary.warnings, together.warnings), (1, warnings.map(ToOwned::to_owned).to_vec()));

    parts[1]["objects"][0]["warnings"] = json!([deprecated, "of the object"]);
    parts[1]["objects"][0]["serverWarnings"] = json!(2);
    (parts[1]["warnings"], parts[1]["summary"]["warnings"]) = (json!(["ours 1", "ours"]), json!(2));
    let together = whole(&parts);
    let warnings = ["ours 0", "ours", "ours 1", "ours 2"];
    assert_eq!((together.summary.warnings, together.warnings), (2, warnings.map(ToOwned::to_owned).to_vec()));
}

#[test]
fn one_report_alone_stays_what_it_is() {
    let alone = report(None, "inSync", 0, &[("a".into(), 0)]);
    assert_eq!(serde_json::to_value(whole(std::slice::from_ref(&alone))).unwrap(), alone);
}

#[test]
fn a_merged_report_has_the_earliest_time_and_the_program_that_merged() {
    let mut parts = shards(3);
    for (part, time) in parts.iter_mut().zip(["2026-11-20T10:00:05Z", "2026-11-20T10:00:03Z"]) {
        (part["time"], part["tool"]) = (json!(time), json!({"name": "kubectl-reconcile", "version": "0.0.1"}));
    }
    let together = serde_json::to_value(whole(&parts)).unwrap();
    assert_eq!(
        (&together["time"], &together["tool"]["version"]),
        (&parts[1]["time"], &json!(env!("CARGO_PKG_VERSION")))
    );
    // Contexts keep their own.
    let mut clusters = [report(None, "inSync", 0, &[]), report(None, "inSync", 0, &[])];
    for (cluster, second) in clusters.iter_mut().zip([7, 4]) {
        cluster["cluster"]["context"] = json!(format!("c{second}"));
        cluster["time"] = json!(format!("2026-11-20T10:00:0{second}Z"));
        cluster["tool"] = json!({"name": "kubectl-reconcile", "version": format!("0.0.{second}")});
    }
    let reports = serde_json::to_value(merge(&clusters).unwrap()).unwrap();
    assert_eq!(reports["time"], clusters[1]["time"]);
    for (read, written) in clusters.iter().zip(reports["contexts"].as_array().unwrap()) {
        assert_eq!((&written["time"], &written["tool"]), (&read["time"], &read["tool"]));
    }
}

#[test]
fn the_worst_result_is_that_of_all() {
    let ranked = [
        ("inSync", 0),
        ("drift", 1),
        ("notReady", 5),
        ("unreachable", 3),
        ("incomplete", 4),
        ("invalid", 2),
        ("interrupted", 130),
    ];
    for pair in ranked.windows(2) {
        let mut parts = shards(2);
        for (part, (verdict, code)) in parts.iter_mut().zip(pair) {
            (part["verdict"], part["exitCode"]) = (json!(verdict), json!(code));
        }
        assert_eq!(whole(&parts).exit_code, pair[1].1, "{pair:?}");
    }
}

#[test]
fn a_missing_shard_is_named_and_makes_the_report_incomplete() {
    let mut parts = shards(4);
    parts.remove(2);
    let report = whole(&parts);
    assert_eq!(
        (report.exit_code, report.errors[0].to_string()),
        (4, "the report of shard `2/4` is missing".to_owned())
    );
    parts.remove(0);
    assert_eq!(whole(&parts).errors[0].to_string(), "the reports of 2 shards are missing: `0/4`, `2/4`");
    (parts[0]["verdict"], parts[0]["exitCode"]) = (json!("interrupted"), json!(130));
    assert_eq!(whole(&parts).exit_code, 130);
    let alone = [report_of_many()];
    assert!(whole(&alone).errors[0].to_string().starts_with("the reports of 9999 shards are missing: `1/10000`,"));
}

fn report_of_many() -> Value {
    report(Some(Shard { index: 0, count: 10_000 }), "inSync", 0, &[])
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let parts = shards(4);
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut parts = parts.clone();
        change(&mut parts);
        merge(&parts).map(|_| ()).unwrap_err()
    };
    assert_eq!(with(&|parts| parts.push(parts[1].clone())), "shard 1/4 is in both 1.json and 4.json");
    assert_eq!(
        with(&|parts| parts[1]["command"] = json!("apply")),
        "0.json and 1.json are reports of different commands"
    );
    let reported = with(&|parts| parts[1] = report(Some(Shard { index: 1, count: 3 }), "inSync", 0, &[]));
    assert!(reported.contains("is one of 3 shards"), "{reported}");
    let reported = with(&|parts| parts[1] = report(None, "inSync", 0, &[]));
    assert!(reported.ends_with("are both about prod, and 1.json is not a shard"), "{reported}");
    let reported = with(&|parts| {
        let stolen = parts[0]["objects"][0].clone();
        parts[1]["objects"][0] = stolen;
    });
    assert!(reported.ends_with("in 1.json is not an object of shard 1/4"), "{reported}");
    let reported = with(&|parts| parts[1]["objects"][0]["position"] = parts[0]["objects"][0]["position"].clone());
    assert!(reported.starts_with("0.json and 1.json are about different inputs"), "{reported}");
    assert!(with(&|parts| parts[1]["failOn"] = json!(["manual"])).contains("fail on different classes"));
    assert!(with(&|parts| parts[1]["base"] = json!({"from": "v1"})).contains("compare with different bases"));
    assert_eq!(merge(&[]).map(|_| ()).unwrap_err(), "there is no report");
}

#[test]
fn an_error_in_a_file_has_its_location() {
    let text = "{\n  \"kind\": \"Report\",\n  \"command\": 3\n}";
    let diagnostic = MergeInput::read("a.json", text.as_bytes()).unwrap_err();
    assert!(diagnostic.to_string().starts_with("a.json:3:"), "{diagnostic}");
    assert!(!diagnostic.message.contains("line 3"), "{diagnostic}");
}

#[test]
fn clusters_stand_side_by_side() {
    let mut parts = shards(2);
    for part in shards(2) {
        let mut other = part.clone();
        other["cluster"] = json!({"context": "test", "server": "https://test"});
        parts.push(other);
    }
    parts.push(json!({"apiVersion": "kubectl-reconcile/v1", "kind": "Report", "command": "diff", "verdict": "unreachable", "exitCode": 3,
                      "summary": parts[0]["summary"], "requests": parts[0]["requests"], "objects": [], "errors": [{"message": "down"}]}));
    parts[4]["summary"]["objects"] = json!(0);
    let reports = merge(&parts).unwrap();
    assert!(reports.only().is_none());
    let names: Vec<&str> = reports.contexts.iter().map(ContextReport::name).collect();
    assert_eq!(names, ["prod", "test", "4.json"]);
    assert_eq!((reports.contexts[1].report.objects.len(), reports.exit_code), (12, 3));
    // And again, as a document of its own.
    let text = render(&reports, &View::default());
    let again = merged(MergeInput::read("all.json", text.as_bytes()).unwrap()).unwrap();
    assert_eq!(render(&again, &View::default()), text);
}

/// A report that belongs to the run of the others.
#[test]
fn a_shard_that_reached_no_cluster_is_there() {
    let mut parts = shards(2);
    parts[1].as_object_mut().unwrap().remove("cluster");
    (parts[1]["verdict"], parts[1]["exitCode"], parts[1]["objects"]) = (json!("unreachable"), json!(3), json!([]));
    parts[1]["summary"]["objects"] = json!(0);
    let report = whole(&parts);
    assert_eq!((report.exit_code, report.errors.len()), (3, 0));
    assert_eq!(report.cluster.unwrap().context.as_deref(), Some("prod"));
}

#[test]
fn numbers_of_secrets_are_never_taken_for_those_of_another_shard() {
    let mut parts = shards(2);
    for part in &mut parts {
        let secret = json!({"a": {"redacted": "#1"}, "b": [{"redacted": "#2"}, {"redacted": "mine"}, {"redacted": "#1", "more": 1}]});
        let values = json!([{"path": "data", "op": "change", "class": "pending", "live": {"redacted": "#1"}, "desired": secret}]);
        (part["objects"][0]["changes"], part["objects"][0]["action"]) = (values, json!("update"));
        (part["verdict"], part["exitCode"]) = (json!("drift"), json!(1));
    }
    let report = whole(&parts);
    let changed = report.objects.iter().filter(|object| !object.diff.changes.is_empty());
    let values: Vec<String> =
        changed.map(|object| object.diff.changes[0].live.clone().unwrap()["redacted"].to_string()).collect();
    assert_eq!(values.len(), 2);
    assert!(values.contains(&"\"#1@0\"".to_owned()) && values.contains(&"\"#1@1\"".to_owned()), "{values:?}");
    let text = render(&report.into(), &View::default());
    assert!(text.contains("#2@1") && text.contains("\"mine\"") && text.contains("\"#1\""), "{text}");
    assert_eq!(serde_json::to_value(whole(&parts[..1])).unwrap()["exitCode"], 4);
}

#[test]
fn rules_that_match_nothing_are_those_of_all_shards() {
    let with = |unmatched: [Value; 2]| {
        let mut parts = shards(2);
        for (part, unmatched) in parts.iter_mut().zip(unmatched) {
            part["configuration"] = json!({"file": "c.yaml", "rules": 2, "annotated": 1});
            if !unmatched.is_null() {
                part["configuration"]["unmatched"] = unmatched;
            }
        }
        whole(&parts)
    };
    let report = with([json!(["c.yaml:1", "c.yaml:2"]), json!(["c.yaml:2"])]);
    assert_eq!(report.warnings, ["an ignore rule matches no field of the manifests or their live objects: `c.yaml:2`"]);
    assert_eq!(report.configuration.map(|one| (one.annotated, one.unmatched)), Some((2, None)));
    assert!(with([json!(["c.yaml:1"]), json!(["c.yaml:2"])]).warnings.is_empty());
    assert!(with([json!(["c.yaml:1"]), Value::Null]).warnings.is_empty());
}

/// A report in sync with two objects.
fn in_sync() -> Value {
    report(None, "inSync", 0, &[("a".into(), 0), ("b".into(), 1)])
}

/// A run that decides by the same facts has no report like these.
#[test]
fn a_report_that_claims_a_better_result_than_it_holds_is_refused() {
    let differs = "ConfigMap shop/b differs";
    let is_undone = "ConfigMap shop/b could not be compared or applied";
    let removed = json!([{"path": "data.a", "op": "remove", "class": "pruned", "live": "x"}]);
    let stray = json!([{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "stray"}]);
    let applied = |field: &str, value: &str| json!({"/command": "apply", "/verdict": "applied", field: value});
    for (changes, reported) in [
        (json!({"/objects/1/action": "create"}), differs),
        (json!({"/objects/1/action": "delete"}), differs),
        (json!({"/objects/1/changes": removed}), differs),
        (json!({"/objects/1/action": "unknown"}), is_undone),
        (json!({"/objects/1/error": {"reason": "Failed", "message": "no"}}), is_undone),
        (json!({"/objects/1/outcome": "failed"}), is_undone),
        (json!({"/objects/1/readiness": {"state": "failed", "message": "no"}}), "ConfigMap shop/b is not ready"),
        (json!({"/errors": [{"message": "down"}]}), "it has errors"),
        (json!({"/errors": [{"message": "down"}], "/verdict": "drift", "/exitCode": 1}), "it has errors"),
        (applied("/objects/1/action", "update"), differs),
        (applied("/objects/1/outcome", "conflict"), is_undone),
        (json!({"/command": "status"}), "does not say whether ConfigMap shop/a is ready"),
        (json!({"/verdict": "drift", "/failOn": ["replace"], "/objects/1/action": "replace"}), differs),
        (json!({"/failOn": ["unmanagedObjects"], "/unmanaged": stray}), "it has unmanaged objects"),
    ] {
        let mut claimed = in_sync();
        for (place, value) in changes.as_object().unwrap() {
            let (parent, field) = place.rsplit_once('/').unwrap();
            claimed.pointer_mut(parent).unwrap()[field] = value.clone();
        }
        let message = merge(&[claimed]).map(|_| ()).unwrap_err();
        assert!(message.starts_with("0.json: the report contradicts itself: it "), "{changes}: {message}");
        assert!(message.contains(reported), "{changes}: {message}");
    }
}

#[test]
fn the_result_of_several_contexts_is_the_worst_of_them() {
    let mut contexts = json!({"apiVersion": "kubectl-reconcile/v1", "kind": "Reports", "command": "diff", "verdict": "inSync",
                              "exitCode": 0, "summary": {}, "contexts": [in_sync()]});
    contexts["contexts"][0]["context"] = json!("prod");
    assert!(merge(std::slice::from_ref(&contexts)).is_ok());
    contexts["verdict"] = json!("drift");
    let message = merge(std::slice::from_ref(&contexts)).map(|_| ()).unwrap_err();
    assert!(message.ends_with("it says `drift` with exit code 0, but the worst context `inSync`"), "{message}");
    contexts["contexts"][0]["objects"][0]["action"] = json!("create");
    let message = merge(&[contexts]).map(|_| ()).unwrap_err();
    assert!(message.contains("in the context `prod`, it says `inSync` with exit code 0, but ConfigMap"), "{message}");
}

/// Reasons that a report does not name: `--exit-zero`, `--strict-ownership`, classes that do not match, a "no" at the terminal, an
/// interruption.
#[test]
fn a_result_that_is_worse_or_explained_by_flags_stays() {
    let with = |command: &str, action: &str, more: Value, verdict: &str, code: u8| {
        let mut it = report(None, verdict, code, &[("a".into(), 0)]);
        (it["command"], it["objects"][0]["action"]) = (json!(command), json!(action));
        it.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let report = whole(&[it]);
        (report.verdict.name(), report.exit_code)
    };
    for (command, action, more, verdict, code) in [
        ("diff", "create", json!({}), "drift", 1),
        ("diff", "create", json!({}), "drift", 0),
        ("diff", "create", json!({"failOn": ["replace"]}), "drift", 0),
        ("diff", "none", json!({}), "drift", 1),
        ("diff", "none", json!({"failOn": ["adopted"]}), "drift", 1),
        ("diff", "none", json!({}), "interrupted", 130),
        ("diff", "create", json!({"errors": [{"message": "down"}]}), "invalid", 2),
        ("apply", "none", json!({}), "applied", 0),
        ("apply", "create", json!({}), "drift", 1),
        ("apply", "none", json!({}), "inSync", 0),
    ] {
        assert_eq!(with(command, action, more, verdict, code), (verdict.to_owned(), code), "{command} {action}");
    }
}

#[test]
fn counts_are_those_of_the_objects() {
    let mut it = report(None, "drift", 1, &[("a".into(), 0), ("b".into(), 1)]);
    it["objects"][1]["action"] = json!("update");
    (it["summary"]["inSync"], it["summary"]["delete"]) = (json!(u64::MAX), json!(7));
    (it["summary"]["unmanaged"], it["summary"]["unmanagedManual"]) = (json!(5), json!(2));
    let summary = whole(&[it]).summary;
    assert_eq!((summary.objects, summary.in_sync, summary.update, summary.delete), (2, Some(1), Some(1), Some(0)));
    assert_eq!(
        (summary.unmanaged, summary.unmanaged_manual),
        (Some(5), Some(2)),
        "reports count fields that they do not list"
    );
}
