//! `--audit-log`: the users are those of the real events of the server, found here once more in another way.

use reconcile_core::object::usual_plurals;
use reconcile_report::formats::FORMATS;
use serde_json::{Value, json};

use crate::contexts::Fleet;
use crate::control_plane::{Replaced, Run, Workspace, definition, gzip, resource};
use crate::manifests::WEB;

const SETTINGS: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {tier: front}}, data: {a: '1', b: '2'}}";
const DIFF: [&str; 5] = ["diff", "-f", "deploy", "--audit-log", "audit.log"];

/// A Deployment and a ConfigMap that were applied, and users who may change them.
fn applied() -> Workspace {
    let ws = Workspace::new();
    ws.write("deploy/web.yaml", WEB);
    ws.write("deploy/settings.yaml", SETTINGS);
    for user in ["editor", "limited"] {
        ws.allow(
            user,
            "get,create,patch,update,delete,deletecollection",
            "configmaps,deployments.apps,deployments.apps/scale,pods,pods/eviction",
        );
    }
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    ws
}

/// Writes the log of what happens during `action`.
fn log(ws: &Workspace, action: impl FnOnce()) -> Vec<Value> {
    let ((), text) = ws.audit_log_during(action);
    std::fs::write(ws.folder().join("audit.log"), &text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Changes a value of the ConfigMap as a user, under the name of a manager.
fn edit(ws: &Workspace, user: &str, manager: &str, value: &str) {
    let patch = json!({"data": {"a": value}}).to_string();
    let words = ["patch", "configmap/settings", "--type=merge", "--field-manager", manager, "-p", &patch];
    ws.as_user(user).kubectl(words).exits_with(0);
}

/// The names of the users of a manager: the one who wrote, or those who may have.
fn users(owner: &Value) -> (Option<String>, Vec<String>) {
    let name = |user: &Value| user["name"].as_str().unwrap().to_owned();
    let users = owner["users"].as_array().into_iter().flatten().map(name).collect();
    (owner.get("user").map(name), users)
}

#[track_caller]
fn are(owner: &Value, only: Option<&str>, several: &[&str]) {
    let (user, users) = users(owner);
    assert_eq!(
        (user.as_deref(), users.iter().map(String::as_str).collect::<Vec<_>>()),
        (only, several.to_vec()),
        "{owner:#}"
    );
}

fn change<'r>(run: &'r Run, path: &str) -> &'r Value {
    run.change("ConfigMap", "settings", path)
}

/// The second at which an entry of our own manager ends, so that the next write is in another one.
fn next_second() {
    std::thread::sleep(std::time::Duration::from_millis(1_100));
}

#[test]
fn the_user_behind_a_manual_change_is_named_with_the_event() {
    let ws = applied();
    let events = log(&ws, || edit(&ws, "editor", "kubectl-edit", "edited"));
    let run = ws.reconcile(DIFF).exits_with(1);
    let owner = &change(&run, "data.a")["managers"][0];
    let patches = |event: &&Value| event["verb"] == "patch" && event["objectRef"]["namespace"] == ws.namespace();
    let [event] = events.iter().filter(patches).collect::<Vec<_>>()[..] else { panic!("{events:#?}") };
    let user = &owner["user"];
    assert_eq!(user["name"], "editor", "{owner:#}");
    assert_eq!(user["groups"], event["user"]["groups"]);
    for field in ["sourceIPs", "userAgent", "auditID"] {
        assert_eq!(user[field], event[field], "{field}");
    }
    let time = |time: &Value| time.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(time(&user["time"]), time(&event["requestReceivedTimestamp"]));
    assert_eq!((user.get("verb"), owner.get("users")), (None, None));
    let at = owner["time"].as_str().unwrap();
    assert!(run.stdout.contains(&format!("by kubectl-edit {at}, editor\n")), "{run}");
    // Without the log, the report is the same but for the user.
    let without = ws.reconcile(["diff", "-f", "deploy"]).exits_with(1);
    assert_eq!(change(&without, "data.a")["managers"][0].get("user"), None);

    // The same with a snapshot, and with a compressed log.
    ws.reconcile(["snapshot", "-f", "deploy", "--file", "live.yaml"]).exits_with(0);
    let offline = ws.reconcile([&DIFF[..], &["--live", "live.yaml", "-n", "$NS"]].concat()).exits_with(1);
    assert_eq!(&change(&offline, "data.a")["managers"][0], owner);
    let log = ws.folder().join("audit.log");
    std::fs::write(&log, gzip(&std::fs::read(&log).unwrap())).unwrap();
    let compressed = ws.reconcile(DIFF).exits_with(1);
    assert_eq!(&change(&compressed, "data.a")["managers"][0], owner);
}

#[test]
fn everybody_who_wrote_since_our_apply_is_named_and_nobody_else() {
    let ws = applied();
    let lines = |ws: &Workspace| {
        let text = std::fs::read_to_string(ws.folder().join("audit.log")).unwrap();
        text.split_inclusive('\n').rev().collect::<String>()
    };
    log(&ws, || {
        edit(&ws, "limited", "kubectl-edit", "before");
        next_second();
        ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
        next_second();
        edit(&ws, "editor", "kubectl-edit", "after");
        // No write, or none under this name, or none of this object.
        ws.as_user("reader")
            .kubectl(["label", "configmap/settings", "x=y", "--field-manager=kubectl-edit"])
            .exits_with(1);
        let dry = ["annotate", "configmap/settings", "x=y", "--field-manager=kubectl-edit", "--dry-run=server"];
        ws.as_user("limited").kubectl(dry).exits_with(0);
        ws.as_user("limited").kubectl(["create", "configmap", "other", "--field-manager=kubectl-edit"]).exits_with(0);
    });
    let run = ws.reconcile(DIFF).exits_with(1);
    are(&change(&run, "data.a")["managers"][0], Some("editor"), &[]);
    // A write that changes nothing leaves the time as it is, and could have left a time that is not its own.
    let first = std::fs::read_to_string(ws.folder().join("audit.log")).unwrap();
    next_second();
    log(&ws, || edit(&ws, "limited", "kubectl-edit", "after"));
    std::fs::write(ws.folder().join("audit.log"), first + &lines(&ws)).unwrap();
    let both = ["limited", "editor"];
    are(&change(&ws.reconcile(DIFF).exits_with(1), "data.a")["managers"][0], None, &both);

    let first = std::fs::read_to_string(ws.folder().join("audit.log")).unwrap();
    next_second();
    log(&ws, || edit(&ws, "limited", "kubectl-edit", "and again"));
    // The first part is another file, and the lines of the second have another order.
    std::fs::write(ws.folder().join("first.log"), first).unwrap();
    std::fs::write(ws.folder().join("audit.log"), lines(&ws)).unwrap();
    let run = ws.reconcile([&DIFF[..], &["--audit-log", "first.log"]].concat()).exits_with(1);
    are(&change(&run, "data.a")["managers"][0], None, &["limited", "editor"]);
    assert!(run.stdout.contains(", perhaps limited or editor\n"), "{run}");
    // The last write is missing in the first file: nothing can be said.
    let run = ws.reconcile(["diff", "-f", "deploy", "--audit-log", "first.log"]).exits_with(1);
    are(&change(&run, "data.a")["managers"][0], None, &[]);
}

/// Whoever may write an object may write any manager's name next to a field.
#[test]
fn an_innocent_user_is_not_named_for_sure() {
    let ws = applied();
    next_second();
    log(&ws, || {
        let label = ["label", "configmap/settings", "x=z", "--field-manager=kubectl-edit"];
        ws.as_user("editor").kubectl(label).exits_with(0);
        next_second();
        edit(&ws, "limited", "somebody", "evil");
        let mut map = ws.get("configmaps", "settings");
        let entries = map["metadata"]["managedFields"].as_array_mut().unwrap();
        let at = |entries: &[Value], name: &str| entries.iter().position(|entry| entry["manager"] == name).unwrap();
        entries.remove(at(entries, "somebody"));
        let edited = at(entries, "kubectl-edit");
        entries[edited]["fieldsV1"]["f:data"] = json!({"f:a": {}});
        let path = ws.fill_in("/api/v1/namespaces/$NS/configmaps/settings");
        ws.as_user("limited").stdin(&map.to_string()).kubectl(["replace", "--raw", &path, "-f", "-"]).exits_with(0);
    });
    let by_edit = |owners: &Value| {
        let owners = owners.as_array().unwrap();
        owners.iter().find(|owner| owner["manager"] == "kubectl-edit").unwrap().clone()
    };
    let run = ws.reconcile(DIFF).exits_with(1);
    are(&by_edit(&change(&run, "data.a")["managers"]), None, &["limited", "editor"]);
    assert!(run.stdout.contains(", perhaps limited or editor\n"), "{run}");
    let run = ws.reconcile(["blame", "configmap/settings", "--audit-log", "audit.log", "-o", "json"]).exits_with(0);
    let objects: Value = serde_json::from_str(&run.stdout).unwrap();
    let field = objects[0]["fields"].as_array().unwrap().iter().find(|field| field["path"] == "data.a").unwrap();
    are(&by_edit(&field["managers"]), None, &["limited", "editor"]);
}

/// A query that looks like a dry run, or like another manager, and is none for the server.
#[test]
fn a_query_is_read_as_the_server_reads_it() {
    for query in [
        "fieldManager=kubectl-edit&dryRun=All;",
        "fieldManager=kubectl-edit&dryRun=All%zz",
        "fieldManager=kubectl-edit&dryRun;=All",
    ] {
        let ws = applied();
        next_second();
        log(&ws, || {
            let label = ["label", "configmap/settings", "x=z", "--field-manager=kubectl-edit"];
            ws.as_user("editor").kubectl(label).exits_with(0);
            let path = ws.fill_in(&format!("/api/v1/namespaces/$NS/configmaps/settings?{query}"));
            let change = json!([{"op": "replace", "path": "/data/a", "value": "evil"}]);
            ws.plane().api().json_patch(&path, &change).unwrap();
        });
        let run = ws.reconcile(DIFF).exits_with(1);
        let owners = change(&run, "data.a")["managers"].as_array().unwrap();
        let owner = owners.iter().find(|owner| owner["manager"] == "kubectl-edit").unwrap();
        let (user, several) = users(owner);
        assert_eq!((user, several.len()), (None, 2), "{query}: {run}");
    }
}

#[test]
fn a_line_that_is_skipped_ends_certainty() {
    let ws = applied();
    log(&ws, || edit(&ws, "editor", "kubectl-edit", "edited"));
    let path = ws.folder().join("audit.log");
    let text = std::fs::read_to_string(&path).unwrap();
    let long = format!("{{\"requestObject\": \"{}\"}}\n", "\\u003c".repeat(3 << 20));
    for (content, warning) in [
        (format!("{text}{long}"), "1 line is longer than 16 MiB, skipped"),
        (format!("{text}{{\"kind\": \"Event\"}}\n"), "1 line is no event of `audit.k8s.io/v1`, skipped"),
        (format!("{text}{}", &text[..100]), "the last line is not complete, skipped"),
    ] {
        std::fs::write(&path, content).unwrap();
        let run = ws.reconcile(DIFF).exits_with(1);
        are(&change(&run, "data.a")["managers"][0], None, &["editor"]);
        assert!(run.report()["warnings"].to_string().contains(warning), "{run}");
        assert!(run.stdout.contains(", perhaps editor\n"), "{run}");
    }
}

#[test]
fn scaling_impersonation_and_user_agents_are_understood() {
    let ws = applied();
    log(&ws, || {
        ws.as_user("editor").kubectl(["scale", "deployment/web", "--replicas=7"]).exits_with(0);
        let patch = json!({"data": {"a": "edited"}}).to_string();
        let words = [
            "patch",
            "configmap/settings",
            "--type=merge",
            "-p",
            &patch,
            "--as",
            "jane@example.com",
            "--as-group",
            "system:masters",
        ];
        ws.kubectl(words).exits_with(0);
    });
    let run = ws.reconcile(DIFF).exits_with(1);
    let replicas = &run.change("Deployment", "web", "spec.replicas")["managers"][0];
    assert_eq!((&replicas["subresource"], replicas.get("time")), (&json!("scale"), None));
    are(replicas, Some("editor"), &[]);
    assert!(run.stdout.contains("by kubectl (scale), editor\n"), "{run}");
    let owner = &change(&run, "data.a")["managers"][0];
    are(owner, Some("jane@example.com"), &[]);
    assert_eq!(owner["user"]["impersonatedBy"], ws.admin());
    assert_eq!(owner["user"]["groups"][0], "system:masters");
    assert!(run.stdout.contains(&format!("jane@example.com (impersonated by {})", ws.admin())), "{run}");

    // A client that does not name its manager is known by its user agent.
    let ws = applied();
    log(&ws, || {
        let path = ws.fill_in("/api/v1/namespaces/$NS/configmaps/settings");
        let metadata = json!({"name": "settings", "labels": {"tier": "front"}});
        let object =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "replaced", "b": "2"}});
        let object = object.to_string();
        ws.as_user("editor").stdin(&object).kubectl(["replace", "--raw", &path, "-f", "-"]).exits_with(0);
    });
    let owner = &change(&ws.reconcile(DIFF).exits_with(1), "data.a")["managers"][0].clone();
    assert_eq!(owner["manager"], "kubectl");
    are(owner, Some("editor"), &[]);
}

#[test]
fn those_who_deleted_an_object_or_removed_a_field_are_named() {
    let ws = applied();
    next_second();
    log(&ws, || {
        ws.as_user("editor").kubectl(["delete", "deployment/web"]).exits_with(0);
        ws.as_user("limited").kubectl(["label", "configmap/settings", "tier-"]).exits_with(0);
    });
    let run = ws.reconcile(DIFF).exits_with(1);
    let missing = &run.object("Deployment", "web")["changes"][0];
    assert_eq!(
        (&missing["class"], &missing["removedBy"]["user"]["verb"]),
        (&json!("missing"), &json!("delete")),
        "{run}"
    );
    are(&missing["removedBy"], Some("editor"), &[]);
    let absent = change(&run, "metadata.labels.tier");
    assert_eq!(
        (&absent["class"], &absent["removedBy"]["users"][0]["verb"]),
        (&json!("absent"), &json!("patch")),
        "{run}"
    );
    are(&absent["removedBy"], None, &["limited"]);
    assert!(
        run.stdout.contains("    deleted by editor at 20") && run.stdout.contains("perhaps removed by limited at 20"),
        "{run}"
    );
    for format in FORMATS.iter().filter(|format| !["jsonl", "name", "prometheus", "unified"].contains(&format.name)) {
        let shown = ws.reconcile([&DIFF[..], &["-o", format.name]].concat()).exits_with(1);
        assert!(shown.stdout.contains("editor") && shown.stdout.contains("limited"), "{shown}");
    }

    // An earlier deletion was of an object that was created again, and the deletion of a collection names no object.
    let ws = applied();
    log(&ws, || {
        ws.as_user("editor").kubectl(["delete", "configmap/settings"]).exits_with(0);
        ws.as_user("editor").kubectl(["create", "configmap", "settings"]).exits_with(0);
        let path = ws.fill_in("/api/v1/namespaces/$NS/configmaps");
        ws.as_user("limited").kubectl(["delete", "--raw", &path]).exits_with(0);
    });
    let run = ws.reconcile(DIFF).exits_with(1);
    are(&run.object("ConfigMap", "settings")["changes"][0]["removedBy"], None, &["limited"]);
    let ws = applied();
    log(&ws, || {
        let path = ws.fill_in("/api/v1/namespaces/$NS/configmaps");
        ws.as_user("limited").kubectl(["delete", "--raw", &path]).exits_with(0);
    });
    let run = ws.reconcile(DIFF).exits_with(1);
    are(&run.object("ConfigMap", "settings")["changes"][0]["removedBy"], None, &["limited"]);
    assert!(run.stdout.contains("    perhaps deleted by limited at 20"), "{run}");
}

#[test]
fn an_eviction_is_a_deletion_and_finalizers_leave_two_users_possible() {
    let ws = applied();
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: it}, spec: {containers: [{name: a, image: a}]}}";
    ws.write("deploy/pod.yaml", pod);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    let metadata = |finalizers: Value| json!({"metadata": {"finalizers": finalizers}}).to_string();
    let change = |user: &str, patch: &str| {
        ws.as_user(user).kubectl(["patch", "configmap/settings", "--type=merge", "-p", patch]).exits_with(0);
    };
    log(&ws, || {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "it"}}).to_string();
        let path = ws.fill_in("/api/v1/namespaces/$NS/pods/it/eviction");
        ws.as_user("editor").stdin(&eviction).kubectl(["create", "--raw", &path, "-f", "-"]).exits_with(0);
        change("limited", &metadata(json!(["example.com/it"])));
        ws.as_user("editor").kubectl(["delete", "configmap/settings", "--wait=false"]).exits_with(0);
        change("limited", &metadata(json!([])));
    });
    let run = ws.reconcile(DIFF).exits_with(1);
    let removed_by = |kind: &str, name: &str| run.object(kind, name)["changes"][0]["removedBy"].clone();
    are(&removed_by("Pod", "it"), Some("editor"), &[]);
    assert_eq!(removed_by("Pod", "it")["user"]["verb"], "create");
    are(&removed_by("ConfigMap", "settings"), None, &["limited", "editor"]);
}

/// Without a server, a kind has the plural name of its definition, or else one of the two usual ones.
#[test]
fn custom_resources_are_found_in_the_log_without_a_server() {
    let ws = Workspace::new();
    let size = "properties: {size: {type: integer}}";
    ws.write("crd/gateways.yaml", &definition("Gateway", size));
    ws.write("crd/metrics.yaml", &definition("Metric", size).replaced("metrics", "metrices"));
    ws.reconcile(["apply", "-f", "crd"]).exits_with(0);
    ws.wait_for_types();
    let object = |kind: &str| resource(kind, "it", "size: 1");
    ws.write("it/gateway.yaml", &object("Gateway"));
    ws.write("it/metric.yaml", &object("Metric"));
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    let resources = ["gateways", "metrices"].map(|plural| ws.fill_in(&format!("{plural}.$NS.example.com/it")));
    log(&ws, || {
        for resource in &resources {
            let words = ["patch", resource, "--type=merge", "-p", r#"{"spec": {"size": 2}}"#];
            ws.kubectl([&words[..], &["--as", "ops", "--as-group", "system:masters"]].concat()).exits_with(0);
        }
    });
    ws.reconcile(["snapshot", "-f", "it", "--file", "live.yaml"]).exits_with(0);
    let words = ["get", &resources[0], &resources[1], "--show-managed-fields", "-o", "yaml"];
    ws.write("objects.yaml", &ws.kubectl(words).exits_with(0).stdout);
    let user = |live: &str, files: &[&str], kind: &str| {
        let flags = ["--audit-log", "audit.log", "--live", live, "-n", "$NS"];
        let run = ws.reconcile([&["diff"], files, &flags].concat()).exits_with(1);
        users(&run.change(kind, "it", "spec.size")["managers"][0]).0
    };
    let ops = Some("ops".to_owned());
    // The snapshot has the definitions as well.
    assert_eq!(user("live.yaml", &["-f", "it"], "Metric"), ops);
    assert_eq!(user("objects.yaml", &["-f", "it"], "Gateway"), ops);
    assert_eq!(user("objects.yaml", &["-f", "it"], "Metric"), None, "its plural name is not known");
    assert_eq!(user("objects.yaml", &["-f", "it", "-f", "crd"], "Metric"), ops);
}

#[test]
fn blame_names_the_users_as_well() {
    let ws = applied();
    let ((), text) = ws.audit_log_during(|| {
        edit(&ws, "editor", "kubectl-edit", "edited");
        ws.as_user("limited").kubectl(["scale", "deployment/web", "--replicas=7"]).exits_with(0);
    });
    std::fs::write(ws.folder().join("audit.log"), text).unwrap();
    let text = ws.reconcile(["blame", "configmap/settings", "--audit-log", "audit.log"]).exits_with(0);
    let line = text.stdout.lines().find(|line| line.contains("a: edited")).unwrap();
    assert!(line.starts_with("kubectl-edit 20") && line.contains("Z, editor  "), "{text}");
    let run = ws.reconcile(["blame", "-f", "deploy", "--audit-log", "audit.log", "-o", "json"]).exits_with(0);
    let objects: Value = serde_json::from_str(&run.stdout).unwrap();
    let field = |path: &str| {
        let mut all = objects.as_array().unwrap().iter().flat_map(|object| object["fields"].as_array().unwrap());
        all.find(|field| field["path"] == path).unwrap()["managers"][0].clone()
    };
    are(&field("data.a"), Some("editor"), &[]);
    are(&field("spec.replicas"), Some("limited"), &[]);
    // Our own apply is not in this log.
    are(&field("data.b"), None, &[]);
}

#[test]
fn a_log_of_another_cluster_or_without_events_names_nobody() {
    let ws = applied();
    let other = applied();
    edit(&ws, "editor", "kubectl-edit", "edited");
    next_second();
    let ((), text) = other.audit_log_during(|| edit(&other, "limited", "kubectl-edit", "edited"));
    for (log, warning) in [(&*text, "the audit log begins at 2"), ("", "the audit log has no events")] {
        std::fs::write(ws.folder().join("audit.log"), log).unwrap();
        let run = ws.reconcile(DIFF).exits_with(1);
        are(&change(&run, "data.a")["managers"][0], None, &[]);
        assert!(run.stderr.contains(warning), "{run}");
    }

    let broken = format!("{text}not an event\n{{\"verb\": 3}}\n\n{}", &text[..text.len() / 2]);
    std::fs::write(ws.folder().join("audit.log"), &broken).unwrap();
    let run = ws.reconcile(DIFF).exits_with(1);
    let warning = "audit log `audit.log`: 2 lines are no events of `audit.k8s.io/v1`, skipped";
    assert!(run.report()["warnings"].to_string().contains(warning), "{run}");
    assert!(run.stderr.contains("are no events of `audit.k8s.io/v1`, skipped"), "{run}");
}

#[test]
fn logs_that_cannot_be_read_end_the_run_before_anything_is_compared() {
    let ws = applied();
    for (file, reason) in
        [("none.log", "none.log: cannot be read: no such file or directory"), ("deploy", "it is a directory")]
    {
        for command in [&["diff", "-f", "deploy"][..], &["blame", "-f", "deploy"], &["blame", "configmap/settings"]] {
            let (run, requests) = ws.requests_during(|| ws.reconcile([command, &["--audit-log", file]].concat()));
            assert!(run.exits_with(2).stderr.contains(reason), "{reason}");
            assert!(requests.is_empty(), "{requests:#?}");
        }
    }
    ws.reconcile(["diff", "-f", "deploy", "--audit-log", "a", "--apply"]).exits_with(2);

    // The log of one cluster says nothing about another.
    let fleet = Fleet::new();
    fleet.eu.write("audit.log", "");
    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    let words = ["diff", "-f", "web.yaml", "--context=eu,us", "--audit-log", "audit.log", &kubeconfig];
    let run = fleet.eu.reconcile(words).exits_with(2);
    assert!(run.stderr.contains("`--audit-log` and several contexts cannot be combined"), "{run}");
}

#[test]
fn hostile_names_stay_texts_in_every_format() {
    let ws = applied();
    let name = "<script>alert(1)</script> ::error::x ##[error]y `|` [a](b)";
    log(&ws, || {
        let patch = json!({"data": {"a": "edited"}}).to_string();
        let words =
            ["patch", "configmap/settings", "--type=merge", "-p", &patch, "--as", name, "--as-group", "system:masters"];
        ws.kubectl(words).exits_with(0);
        ws.kubectl(["delete", "deployment/web", "--as", name, "--as-group", "system:masters"]).exits_with(0);
    });
    for format in FORMATS {
        let run = ws.reconcile([&DIFF[..], &["-o", format.name]].concat()).exits_with(1);
        assert!(format.name != "html" || !run.stdout.contains("<script>alert(1)"), "{run}");
        assert!(!run.stdout.contains("##["), "{run}");
    }
}

/// Without a server, the plural names of kinds are those that the API machinery guesses.
#[test]
fn built_in_kinds_have_the_plural_names_of_the_convention() {
    let ws = Workspace::new();
    let builtin = structured_merge::builtin();
    let mut seen = 0;
    for resource in ws.plane().api().resources() {
        let is_it =
            |kind: &&structured_merge::KindInfo| kind.gvk.group == resource.group && kind.gvk.kind == resource.kind;
        if builtin.kinds().iter().any(|kind| is_it(&kind)) {
            assert_eq!(usual_plurals(&resource.kind)[0], resource.plural, "{resource:?}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}
