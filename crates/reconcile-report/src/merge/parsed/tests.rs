use serde_json::{Value, json};

use super::*;
use crate::formats::json::render;
use crate::merge::MergeInput;
use crate::view::View;

/// A report with everything that one can have.
fn full() -> Value {
    let owner = json!({"manager": "kubectl-edit", "operation": "Update", "subresource": "", "time": "2026-11-20T10:00:00Z", "manual": true});
    let changes = json!([
        {"path": "", "op": "add", "class": "missing", "side": "either", "desired": {"a": [1, 2.5, null, {"b": true}], "z": "é\u{202e}"}},
        {"path": "spec.x[name=web].y[=\"v\"][\"a.b/c\"][0]", "op": "change", "class": "changedByOther", "side": "both", "live": null,
         "desired": {"redacted": "#1"}, "base": null, "managers": [owner]},
        {"path": "spec", "op": "move", "class": "reordered", "side": "either", "live": [2, 1], "desired": [1, 2]},
        {"path": "data", "op": "remove", "class": "pruned", "side": "manifest", "live": ""},
    ]);
    let mut conflict = json!({"path": "spec.replicas"});
    conflict.as_object_mut().unwrap().extend(owner.as_object().unwrap().clone());
    conflict.as_object_mut().unwrap().remove("manual");
    json!({
        "apiVersion": "kubectl-reconcile/v1", "kind": "Report", "tool": {"name": "kubectl-reconcile", "version": "0.0.7"},
        "time": "2026-11-20T10:00:00Z", "command": "apply", "verdict": "incomplete", "exitCode": 4,
        "failOn": ["drift", "manual"], "base": {"from": "main", "revision": "4711"},
        "cluster": {"context": "prod", "server": "https://example.com", "version": "v1.36.3"},
        "shard": {"index": 1, "of": 4},
        "configuration": {"file": ".kubectl-reconcile.yaml", "rules": 2, "readinessRules": 3, "annotated": 1, "unmatched": ["a.yaml:3"]},
        "applySet": {"id": "applyset-x-v1", "parent": {"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "set",
                     "action": "update"}, "deletesIn": ["other"], "prunedBy": {"index": 2, "of": 4}},
        "summary": {"objects": 2, "inSync": 0, "create": 1, "update": 0, "replace": 0, "needsReplace": 0, "protected": 0, "delete": 0, "unknown": 1,
                    "sides": {"manifest": 0, "cluster": 0, "either": 0, "both": 1}, "proven": 0,
                    "conflict": 1, "adopted": 0, "addedItems": 1, "unmanaged": 5, "unmanagedManual": 2, "ignored": 3, "hooks": 2, "kept": 0,
                    "readiness": {"current": 0, "inProgress": 1, "failed": 0, "terminating": 0, "notFound": 0, "unknown": 0}},
        "requests": {"get": 1, "list": 2, "dryRun": 3, "write": 4, "watch": 5, "other": 6},
        "objects": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web",
             "source": {"file": "deploy/web.yaml", "line": 12, "template": "pay/templates/web.yaml"}, "position": 7, "action": "create", "evidence": "local",
             "base": "differs", "side": "both", "changes": changes, "conflicts": [conflict], "addedItems": ["spec.x[name=other]"],
             "ignored": [{"rule": "a.yaml:1", "reason": "noise", "paths": ["spec.a", "spec.b"]},
                         {"rule": "HorizontalPodAutoscaler web", "builtIn": true, "paths": ["spec.replicas"]}],
             "warnings": ["odd"], "reason": "because", "hint": "do this", "outcome": "skipped",
             "readiness": {"state": "inProgress", "message": "not yet"}, "changedDuringRun": true},
            {"apiVersion": "v1", "kind": "Namespace", "name": "shop", "action": "unknown", "changes": [], "conflicts": [],
             "warnings": [], "error": {"reason": "Forbidden", "message": "no", "hint": "ask", "file": "a.yaml", "line": 3, "column": 5,
             "mistakes": [{"file": "a.yaml", "line": 3, "column": 5, "message": "wrong", "hint": "right"}, {"message": "also"}]}},
        ],
        "unmanaged": [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "stray"}],
        "warnings": ["something"],
        "errors": [{"file": "b.yaml", "message": "broken"}, {"file": "c.yaml", "line": 1, "column": 2, "message": "bad", "hint": "good"}],
    })
}

fn read(text: &str) -> Result<Report, String> {
    let mut all = MergeInput::read("it.json", text.as_bytes()).map_err(|diagnostic| diagnostic.to_string())?;
    Ok(all.remove(0).report)
}

/// As a map and as text: the order of the fields is part of the comparison.
#[test]
fn what_is_read_is_written_alike() {
    let whole = full();
    let text = render(&read(&whole.to_string()).unwrap().into(), &View::default());
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), whole);
    assert_eq!(render(&read(&text).unwrap().into(), &View::default()), text);
}

/// Every field but the ones that may be left out is needed, and no other is known.
#[test]
fn what_is_no_report_is_refused() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut document = full();
        change(&mut document);
        read(&document.to_string()).map(|_| ()).unwrap_err()
    };
    for (pointer, value, reported) in [
        ("/apiVersion", json!("kubectl-reconcile/v2"), "`kubectl-reconcile/v2` is not `kubectl-reconcile/v1`"),
        ("/kind", json!("AccessReport"), "`AccessReport` is not `Report`"),
        ("/kind", json!(null), "invalid type: null"),
        ("/command", json!("access"), "unknown variant `access`"),
        ("/time", json!("yesterday"), "the time of a run is not a time of RFC 3339"),
        ("/tool", json!({"name": "kubectl-reconcile"}), "missing field `version`"),
        ("/exitCode", json!(0), "the exit code 0 does not belong to its verdict"),
        ("/exitCode", json!(4096), "u8"),
        ("/failOn/0", json!("drft"), "`drft` is not a class of differences"),
        ("/shard/index", json!(4), "there is no shard 4/4"),
        ("/shard/of", json!(-1), "u32"),
        ("/summary/objects", json!(3), "it counts 3 objects and has 2"),
        ("/objects/0/changes/1/path", json!("spec..x"), "it is not the path of a field"),
        ("/objects/0/addedItems/0", json!("]"), "it is not the path of a field"),
        ("/objects/1/error/reason", json!("Sorry"), "`Sorry` is not a reason of an error"),
        ("/objects/1/error/mistakes/0", json!({}), "missing field `message`"),
        ("/objects/0/source", json!({"file": "a", "line": 1, "document": 3}), "unknown field `document`"),
        ("/objects/0", json!([]), "invalid type: sequence"),
        ("/errors", json!({}), "invalid type: map"),
    ] {
        let message = refused(&|document| *document.pointer_mut(pointer).unwrap() = value.clone());
        assert!(message.contains(reported), "{pointer}: {message}");
    }
    let message = refused(&|document| document["verdicts"] = json!(1));
    assert!(message.contains("unknown field `verdicts`"), "{message}");
    let message = refused(&|document| document["objects"][1]["acton"] = json!("create"));
    assert!(message.contains("unknown field `acton`, expected one of `apiVersion`, `kind`,"), "{message}");
    for (text, reported) in [
        ("", "EOF"),
        ("[]", "invalid type: sequence"),
        ("{}", "missing field"),
        ("{\"kind\": \"Report\", \"kind\": \"Report\"}", "duplicate field"),
        ("nonsense", "expected"),
        (r#"{"kind": "Reports", "apiVersion": "kubectl-reconcile/v1"}"#, "missing field"),
    ] {
        let message = read(text).unwrap_err();
        assert!(message.contains(reported), "{text}: {message}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = full().to_string().replace("\"desired\":[1,2]", &format!("\"desired\":{deep}"));
    for text in [&deep, &nested] {
        assert!(read(text).is_err());
    }
    assert!(read(&nested).unwrap_err().contains("recursion limit"));
}

fn read_again(document: &Value) -> String {
    parsed(document.to_string().as_bytes()).unwrap_err().to_string()
}

#[test]
fn the_reports_of_several_contexts_are_read_one_by_one() {
    let one = |context: &str, server: Option<&str>| {
        let mut report = full();
        report["context"] = json!(context);
        if let Some(server) = server {
            report["server"] = json!(server);
        }
        report
    };
    let contexts = json!([one("a", Some("https://a")), one("b", None)]);
    let mut document = json!({"apiVersion": "kubectl-reconcile/v1", "kind": "Reports", "command": "apply", "verdict": "incomplete",
                          "exitCode": 4, "summary": {}, "contexts": contexts});
    let Ok(Parsed::Several(read)) = parsed(document.to_string().as_bytes()) else { panic!("{document}") };
    let names: Vec<_> = read.contexts.iter().map(|one| (one.context.as_str(), one.server.as_deref())).collect();
    assert_eq!(names, [("a", Some("https://a")), ("b", None)]);
    document["contexts"][1].as_object_mut().unwrap().remove("context");
    assert!(read_again(&document).contains("missing field `context`"));
    document["contexts"][1] = one("b", None);
    document["contexts"][1]["contexts"] = json!([]);
    assert!(read_again(&document).contains("unknown field `contexts`"));
    let twice = document.to_string().replacen("\"context\":\"a\"", "\"context\":\"a\",\"context\":\"b\"", 1);
    assert!(parsed(twice.as_bytes()).unwrap_err().to_string().contains("duplicate field `context`"));
}
