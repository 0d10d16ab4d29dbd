//! `--from`: manifests that the cluster keeps, as Helm and client-side `kubectl apply` leave them.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Replaced, Run, Workspace, base64, definition, gzip, wait_until};
use crate::helm::{rendered, without_hooks};

/// The record of a release as Helm makes it (`pkg/storage/driver`): JSON, compressed, in base64.
fn record(name: &str, revision: u32, status: &str, manifest: &str) -> Value {
    json!({
        "name": name, "namespace": "shop", "version": revision,
        "info": {"first_deployed": "2026-11-20T10:00:00Z", "last_deployed": "2026-11-21T10:00:00Z", "status": status,
                 "notes": "thanks"},
        "chart": {"metadata": {"name": "pay", "version": "2.4.0"}, "values": {"token": "value-of-the-chart"}, "templates": []},
        "config": {"token": "value-of-the-user"},
        "manifest": manifest,
        "hooks": [{"name": "pay-migrate", "kind": "Job", "path": "pay/templates/migrate.yaml",
                   "manifest": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: pay-migrate}\n", "events": ["pre-install"]}],
    })
}

/// A record as Helm stores it, with this kind of storage.
fn object_of_record(kind: &str, (name, revision, status): (&str, u32, &str), content: &[u8]) -> Value {
    let release = base64(content);
    let labels = json!({"owner": "helm", "name": name, "status": status, "version": revision.to_string()});
    let metadata = json!({"name": format!("sh.helm.release.v1.{name}.v{revision}"), "labels": labels});
    let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
    if kind == "Secret" {
        object["type"] = json!("helm.sh/release.v1");
        object["data"] = json!({"release": base64(release.as_bytes())});
    } else {
        object["data"] = json!({"release": release});
    }
    object
}

/// Stores a record as Helm does, with this kind of storage.
pub fn store(ws: &Workspace, kind: &str, about: (&str, u32, &str), content: &[u8]) {
    let object = object_of_record(kind, about, content);
    ws.stdin(&object.to_string()).kubectl(["create", "--field-manager", "helm", "-f", "-"]).exits_with(0);
}

/// Stores a revision of a release with the method by which Helm wrote its objects.
pub fn stored_by(ws: &Workspace, name: &str, (revision, status): (u32, &str), method: Option<&str>, manifest: &str) {
    let mut record = record(name, revision, status, manifest);
    if let Some(method) = method {
        record["apply_method"] = json!(method);
    }
    store(ws, "Secret", (name, revision, status), &gzip(record.to_string().as_bytes()));
}

/// The Secret with the record of a deployed release of one revision.
pub fn stored_release(name: &str, manifest: &str) -> Value {
    let content = gzip(record(name, 1, "deployed", manifest).to_string().as_bytes());
    object_of_record("Secret", (name, 1, "deployed"), &content)
}

pub fn stored(ws: &Workspace, kind: &str, name: &str, revision: u32, status: &str, manifest: &str) {
    let content = gzip(record(name, revision, status, manifest).to_string().as_bytes());
    store(ws, kind, (name, revision, status), &content);
}

/// A release with two revisions, of which the second is deployed and installed.
fn released(kind: &str) -> Workspace {
    let ws = Workspace::new();
    for value in ["value-of-the-chart", "value-of-the-user", "cmVkaXMtb2YtcGF5LTEyMw==", "redis-of-pay-123"] {
        ws.secret(value);
    }
    let manifest = ws.fill_in(&without_hooks(&rendered("2.4.0")));
    stored(&ws, kind, "pay", 1, "superseded", &manifest.replaced("replicas: 2", "replicas: 1"));
    stored(&ws, kind, "pay", 2, "deployed", &manifest);
    ws.apply_as("helm", &manifest);
    ws
}

fn from(ws: &Workspace, source: &str) -> Run {
    ws.reconcile(["diff", "--from", source])
}

#[test]
fn what_helm_stored_is_compared_with_what_is_there() {
    for kind in ["Secret", "ConfigMap"] {
        let ws = released(kind);
        let same = from(&ws, "helm/pay").exits_with(0);
        assert_eq!(same.report()["summary"]["inSync"], 12, "{same}");
        assert_eq!(same.writes(), 0);

        ws.scale("deployment/pay", 5);
        let drift = from(&ws, "helm/pay").exits_with(1);
        assert_eq!(drift.changes("Deployment", "pay"), ["changedByOther spec.replicas"]);
        let source = &drift.object("Deployment", "pay")["source"];
        assert_eq!(
            (&source["file"], &source["template"]),
            (&json!("helm/pay@2"), &json!("pay/templates/deployment.yaml"))
        );
        assert!(drift.stdout.contains("pay/templates/deployment.yaml"), "{drift}");
        // An earlier revision is what a rollback would restore.
        let earlier = from(&ws, "helm/pay@1").exits_with(1);
        assert_eq!(earlier.change("Deployment", "pay", "spec.replicas")["desired"], 1);
    }
}

#[test]
fn other_commands_read_it_too_and_those_that_write_refuse_it() {
    let ws = released("Secret");
    let status = ws.reconcile(["status", "--from", "helm/pay"]).exits_with(5);
    assert_eq!(status.report()["summary"]["objects"], 12);
    let snapshot = ws.reconcile(["snapshot", "--from", "helm/pay"]).exits_with(0);
    assert!(snapshot.stdout.contains("name: pay-worker") && !snapshot.stdout.contains("sh.helm"), "{snapshot}");
    let access = ws.reconcile(["access", "--from", "helm/pay", "--for", "diff"]).exits_with(0);
    assert!(access.stdout.contains("poddisruptionbudgets"), "{access}");
    let before = ws.all_resource_versions();
    let pull = ws.reconcile(["pull", "--from", "helm/pay@1"]).exits_with(2);
    assert!(pull.stderr.contains("`pull` cannot take its manifests from the cluster"), "{pull}");
    assert!(pull.stderr.contains("`helm rollback pay 1`"), "{pull}");
    for command in [&["apply"][..], &["diff", "--apply"]] {
        let refused = ws.reconcile(command.iter().chain(&["--from", "helm/pay@1"])).exits_with(2);
        assert!(refused.stderr.contains("only the deployed one, 2, can be restored"), "{refused}");
        assert!(refused.stderr.contains("`helm rollback pay 1 -n"), "{refused}");
    }
    assert_eq!(ws.all_resource_versions(), before);
    let offline = ws.reconcile(["diff", "--from", "helm/pay", "--live", "live.yaml"]).exits_with(2);
    assert!(offline.stderr.contains("`--live` replaces the cluster"), "{offline}");
}

#[test]
fn the_latest_deployed_revision_counts_and_others_have_to_be_named() {
    let ws = Workspace::new();
    let map = |value: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{a: {value}}}\n");
    for (revision, status) in
        [(1, "superseded"), (2, "deployed"), (10, "deployed"), (11, "failed"), (12, "pending-upgrade")]
    {
        stored(&ws, "Secret", "two", revision, status, &map(&format!("v{revision}")));
    }
    stored(&ws, "Secret", "none", 3, "uninstalling", &map("x"));
    stored(&ws, "Secret", "none", 4, "failed", &map("x"));
    let source = |run: &Run| run.object("ConfigMap", "a")["source"]["file"].as_str().unwrap().to_owned();
    assert_eq!(source(&from(&ws, "helm/two").exits_with(1)), "helm/two@10");
    for (revision, _) in [(1, ""), (11, ""), (12, "")] {
        let name = format!("helm/two@{revision}");
        assert_eq!(source(&from(&ws, &name).exits_with(1)), name);
    }
    let none = from(&ws, "helm/none").exits_with(2);
    assert!(
        none.stderr.contains("no revision of release `none`")
            && none.stderr.contains("`4 (failed)`, `3 (uninstalling)`"),
        "{none}"
    );
    assert!(none.stderr.contains("--from helm/none@4"), "{none}");
    let missing = from(&ws, "helm/two@7").exits_with(2);
    assert!(missing.stderr.contains("has no revision 7"), "{missing}");
    let unknown = from(&ws, "helm/other").exits_with(2);
    assert!(unknown.stderr.contains("there is no release `other`"), "{unknown}");
    for wrong in ["helm/", "helm/a,owner!=helm", "helm/a@x", "chart"] {
        from(&ws, wrong).exits_with(2);
    }
}

/// Nothing of a record is quoted: the values of the chart are in it.
#[test]
fn a_record_that_cannot_be_used_is_named_and_not_quoted() {
    let ws = Workspace::new();
    let secret = ws.secret("hunter2-in-a-broken-record");
    let bomb = gzip(&vec![b' '; 40 << 20]);
    let wrong = json!({"name": "other", "version": 1, "manifest": secret}).to_string();
    let unpacked = json!({"name": "unpacked", "config": {"password": secret}}).to_string();
    for (name, content, reason) in [
        ("bomb", bomb, "it has more than 32 MiB"),
        ("cut", gzip(wrong.as_bytes())[..20].to_vec(), "its compressed content is broken"),
        ("other-one", gzip(wrong.as_bytes()), "it is the record of another release or revision"),
        ("unpacked", unpacked.into_bytes(), "it has no release in JSON"),
    ] {
        store(&ws, "Secret", (name, 1, "deployed"), &content);
        let run = from(&ws, &format!("helm/{name}")).exits_with(2);
        let record =
            format!("Secret {}/sh.helm.release.v1.{name}.v1 cannot be read as a release: {reason}", ws.namespace());
        assert!(run.stderr.contains(&record), "{run}");
    }
    let deep = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {}\n", "[".repeat(5_000));
    stored(&ws, "Secret", "deep", 1, "deployed", &deep);
    let run = from(&ws, "helm/deep").exits_with(2);
    assert!(run.stderr.contains("helm/deep@1:4"), "{run}");
    stored(&ws, "Secret", "empty", 1, "deployed", "");
    let run = from(&ws, "helm/empty").exits_with(2);
    assert!(run.stderr.contains("no objects found in the input"), "{run}");
}

#[test]
fn somebody_who_may_not_read_secrets_gets_a_warning() {
    let ws = released("Secret");
    ws.allow("reader", "get,list", "configmaps");
    let run = ws.as_user("reader").reconcile(["diff", "--from", "helm/pay"]).exits_with(4);
    assert!(run.stderr.contains("the records of release `pay`") && run.stderr.contains("cannot be read"), "{run}");
    let run = ws.as_user("reader").reconcile(["diff", "--from", "helm/pay@2"]).exits_with(4);
    assert!(run.stderr.contains("cannot be read"), "{run}");
    // Records in ConfigMaps can be read without Secrets.
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    stored(&ws, "ConfigMap", "open", 1, "deployed", map);
    ws.as_user("reader").reconcile(["diff", "--from", "helm/open", "--evidence=read-only"]).exits_with(1);
}

#[test]
fn what_kubectl_applied_last_is_compared_with_what_is_there() {
    let ws = Workspace::new();
    let value = ws.secret("applied-by-kubectl");
    ws.write("map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: map, labels: {app: a}}, data: {a: one}}");
    ws.write(
        "secret.yaml",
        &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: s}}, stringData: {{a: {value}}}}}"),
    );
    ws.write("role.yaml", "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: []}");
    ws.kubectl(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["create", "configmap", "other"]).exits_with(0);
    let same = from(&ws, "last-applied").exits_with(0);
    assert_eq!(same.each("action"), ["ConfigMap map: none", "Secret s: none"], "{same}");
    ws.kubectl(["patch", "configmap", "map", "-p", r#"{"data":{"a":"two"}}"#]).exits_with(0);
    let drift = from(&ws, "last-applied").exits_with(1);
    assert_eq!(drift.changes("ConfigMap", "map"), ["changedByOther data.a"]);
    assert_eq!(drift.object("ConfigMap", "map")["source"]["file"], "last-applied");

    let run = |flags: &[&str]| ws.reconcile(["diff", "--from", "last-applied"].iter().chain(flags));
    for kinds in ["roles", "role", "Role", "roles.rbac.authorization.k8s.io"] {
        assert_eq!(run(&["--kinds", kinds]).exits_with(0).each("action"), ["Role r: none"]);
    }
    assert_eq!(run(&["-l", "app=a"]).exits_with(1).each("action"), ["ConfigMap map: update"]);
    // Objects of other tests are among them, so that any result is possible.
    let all = run(&["-A", "--kinds", "configmaps,roles"]);
    let is_ours = |object: &&Value| object["name"] == "map" && object["namespace"] == ws.namespace();
    assert!(all.report()["objects"].as_array().unwrap().iter().any(|object| is_ours(&object)), "{all}");
    let short = run(&["--kinds", "cm"]).exits_with(1);
    assert_eq!(short.report()["objects"], run(&["--kinds", "configmaps"]).exits_with(1).report()["objects"]);
    let none = run(&["--kinds", "services"]).exits_with(2);
    assert!(none.stderr.contains("no object of these kinds in namespace"), "{none}");
    assert!(run(&["--kinds", "confgmaps"]).exits_with(2).stderr.contains("did you mean `configmaps`?"));
    ws.reconcile(["apply", "--from", "last-applied"]).exits_with(2);
    ws.allow("reader", "get,list", "configmaps");
    let forbidden = ws.as_user("reader").reconcile(["diff", "--from", "last-applied"]).exits_with(4);
    assert!(forbidden.stderr.contains("objects of kind `Secret` cannot be listed"), "{forbidden}");
    assert_eq!(forbidden.each("action"), ["ConfigMap map: update"], "what may be listed is compared");
    for flags in [&["-A"][..], &["--kinds", "pods"]] {
        let alone = ws.reconcile(["diff", "-f", "map.yaml"].iter().chain(flags)).exits_with(2);
        assert!(alone.stderr.contains("`--from last-applied`"), "{alone}");
    }
}

/// The annotation is a text that anybody who may write the object chooses.
#[test]
fn an_annotation_about_another_object_does_not_count() {
    let ws = Workspace::new();
    let annotated = |name: &str, text: &str| {
        ws.kubectl(["create", "configmap", name]).exits_with(0);
        let annotation = format!("kubectl.kubernetes.io/last-applied-configuration={text}");
        ws.kubectl(["annotate", "configmap", name, &annotation]).exits_with(0);
    };
    let about = |kind: &str, namespace: &str, name: &str| {
        json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}}).to_string()
    };
    annotated("good", &about("ConfigMap", "", "good"));
    annotated("named", &about("ConfigMap", "", "good"));
    annotated("elsewhere", &about("ConfigMap", "kube-system", "elsewhere"));
    annotated("kind", &about("Secret", "", "kind"));
    annotated("broken", "{");
    annotated("deep", &format!("{}{}", "[".repeat(9_000), "]".repeat(9_000)));
    let run = ws.reconcile(["diff", "--from", "last-applied", "--kinds", "configmaps"]).exits_with(4);
    assert_eq!(run.each("action"), ["ConfigMap broken: unknown", "ConfigMap deep: unknown", "ConfigMap good: none"]);
    for name in ["named", "elsewhere", "kind"] {
        let warning = format!("ConfigMap {}/{name} is left out: its annotation", ws.namespace());
        assert!(run.stderr.matches(&warning).count() == 1, "{run}");
        assert!(run.report()["warnings"].to_string().contains(&warning), "{run}");
    }
    ws.delete("configmap/broken");
    ws.delete("configmap/deep");
    ws.reconcile(["diff", "--from", "last-applied", "--kinds", "configmaps"]).exits_with(0);
    ws.delete("configmap/good");
    let run = ws.reconcile(["diff", "--from", "last-applied", "--kinds", "configmaps"]).exits_with(2);
    assert!(run.stderr.contains("has an annotation of its own: ConfigMap "), "{run}");
}

/// Creates a ConfigMap with this annotation of `kubectl apply`.
fn annotated(ws: &Workspace, name: &str, configuration: &Value) {
    let metadata = json!({"name": name, "labels": {"part": name}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "live"}});
    ws.stdin(&map.to_string()).kubectl(["create", "-f", "-"]).exits_with(0);
    let annotation = format!("kubectl.kubernetes.io/last-applied-configuration={configuration}");
    ws.kubectl(["annotate", "configmap", name, &annotation]).exits_with(0);
}

/// The configuration of a ConfigMap.
fn configuration(name: &str, metadata: &Value) -> Value {
    let mut configuration =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "live"}});
    configuration["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    configuration
}

#[test]
fn an_annotation_speaks_for_its_object_alone() {
    let (ws, other) = (Workspace::new(), Workspace::new());
    other.kubectl(["create", "configmap", "settings", "--from-literal=account=DE-4711-of-pay"]).exits_with(0);
    let settings = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": other.namespace()}, "data": {"account": "?"}});
    let mut list = configuration("list", &json!({}));
    list["items"] = json!([settings]);
    annotated(&ws, "list", &list);
    for command in ["diff", "status", "snapshot", "blame"] {
        let run = ws.reconcile([command, "--from", "last-applied", "--kinds", "cm", "--allow-empty"]).exits_with(0);
        assert!(!format!("{}{}", run.stdout, run.stderr).contains("4711"), "{run}");
    }
    // A configuration without a namespace is that of its object, and not of one in the namespace of the context.
    annotated(&ws, "a", &configuration("a", &json!({})));
    annotated(&other, "a", &configuration("a", &json!({"namespace": other.namespace()})));
    let run = other.reconcile(["diff", "--from", "last-applied", "--kinds", "cm", "-A", "-l", "!x"]);
    let mut found = Vec::new();
    for object in run.report()["objects"].as_array().unwrap().iter().filter(|object| object["name"] == "a") {
        found.push((object["namespace"].as_str().unwrap(), object["action"].as_str().unwrap()));
    }
    for namespace in [ws.namespace(), other.namespace()] {
        assert!(found.contains(&(namespace, "none")), "{run}");
    }
    assert!(!run.stderr.contains("defined twice"), "{run}");
}

#[test]
fn an_annotation_that_cannot_be_read_affects_its_object_alone() {
    let ws = Workspace::new();
    annotated(&ws, "good", &configuration("good", &json!({"labels": {"part": "good"}})));
    let depends = |on: &str| json!({"annotations": {"config.kubernetes.io/depends-on": on}});
    let itself = ws.fill_in("/namespaces/$NS/ConfigMap/itself");
    for (name, metadata) in [
        ("labels", json!({"labels": 5})),
        ("namespace", json!({"namespace": 7})),
        ("ignore", json!({"annotations": {"kubectl-reconcile/ignore": "[[[["}})),
        ("depends", depends("!!!")),
        ("itself", depends(&itself)),
    ] {
        annotated(&ws, name, &configuration(name, &metadata));
    }
    let flags = ["diff", "--from", "last-applied", "--kinds", "configmaps"];
    let run = ws.reconcile(flags).exits_with(4);
    let names = ["depends", "good", "ignore", "itself", "labels", "namespace"];
    let actions = names.map(|name| format!("ConfigMap {name}: {}", if name == "good" { "none" } else { "unknown" }));
    assert_eq!(run.each("action"), actions, "{run}");
    let message = run.object("ConfigMap", "labels")["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("its annotation `kubectl.kubernetes.io/last-applied-configuration` cannot be read: "),
        "{run}"
    );
    // The labels of the object choose it, as those of the configuration are not known.
    ws.reconcile([&flags[..], &["-l", "part=good"]].concat()).exits_with(0);
    ws.reconcile([&flags[..], &["-l", "part=labels"]].concat()).exits_with(4);
    for command in ["status", "snapshot", "blame"] {
        ws.reconcile([command, "--from", "last-applied", "--kinds", "cm"]).exits_with(4);
    }
    for name in names.into_iter().filter(|name| *name != "good") {
        ws.delete(&format!("configmap/{name}"));
    }
    // Objects that wait for each other do no harm: nothing is applied.
    for (name, on) in [("one", "two"), ("two", "one")] {
        let on = ws.fill_in(&format!("/namespaces/$NS/ConfigMap/{on}"));
        annotated(&ws, name, &configuration(name, &depends(&on)));
    }
    let run = ws.reconcile(flags);
    assert_eq!(run.each("action").len(), 3, "{run}");
}

/// A release names what it likes. It speaks for its own namespace, and for objects that name it.
#[test]
fn a_release_shows_nothing_of_objects_that_do_not_name_it() {
    let (ws, other) = (Workspace::new(), Workspace::new());
    other.kubectl(["create", "configmap", "settings", "--from-literal=account=DE-4711-of-pay"]).exits_with(0);
    let map = |name: &str, namespace: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {namespace}}}\ndata: {{account: '?'}}\n"
        )
    };
    let manifest =
        [map("settings", other.namespace()), map("own", ws.namespace()), map("new", other.namespace())].join("---\n");
    stored(&ws, "Secret", "app", 1, "deployed", &manifest);
    ws.kubectl(["create", "configmap", "own"]).exits_with(0);
    let source = ["--from", "helm/app"];
    let diff = |more: &[&str]| ws.reconcile([&["diff"], &source[..], more].concat());
    // `-n` names the release. Its objects are where its manifest says.
    for flags in [
        &[][..],
        &["-n", ws.namespace()],
        &["--evidence=server"],
        &["--evidence=read-only"],
        &["--fail-on=unmanagedObjects"],
    ] {
        let run = diff(flags).exits_with(4);
        assert_eq!(run.object("ConfigMap", "settings")["action"], "unknown", "{run}");
        assert_eq!(run.object("ConfigMap", "own")["action"], "update", "{run}");
        assert!(!format!("{}{}", run.stdout, run.stderr).contains("4711"), "{run}");
        let message = run.object("ConfigMap", "settings")["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("it does not belong to release `app` of namespace"), "{run}");
        assert!(!run.stdout.contains("kube-root-ca.crt"), "{run}");
    }
    for (command, code) in [("status", 4), ("blame", 4), ("snapshot", 4)] {
        let run = ws.reconcile([&[command], &source[..]].concat()).exits_with(code);
        assert!(!format!("{}{}", run.stdout, run.stderr).contains("4711"), "{run}");
    }
    let annotate = |release: &str, namespace: &str| {
        let (release, namespace) =
            (format!("meta.helm.sh/release-name={release}"), format!("meta.helm.sh/release-namespace={namespace}"));
        other.kubectl(["annotate", "--overwrite", "configmap", "settings", &release, &namespace]).exits_with(0);
    };
    annotate("app", other.namespace());
    diff(&[]).exits_with(4);
    annotate("app", ws.namespace());
    let run = diff(&[]).exits_with(1);
    assert_eq!(run.changes("ConfigMap", "settings").len(), 1, "{run}");
}

/// Who may write a record must not choose the permissions of others.
#[test]
fn records_of_others_grant_nothing_but_to_read() {
    let (ws, other) = (Workspace::new(), Workspace::new());
    let manifest = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: {0}}}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: evil}}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: evil}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: own}}\n",
        other.namespace()
    );
    stored(&ws, "Secret", "app", 1, "deployed", &manifest);
    let items: Value = json!([{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": other.namespace()}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "evil"}}]);
    let mut list = configuration("list", &json!({}));
    list["items"] = items;
    annotated(&ws, "list", &list);
    annotated(&ws, "own", &configuration("own", &json!({})));
    for source in ["helm/app", "helm/app@1", "last-applied"] {
        let base = ["access", "--from", source, "--subject", "ServiceAccount:ci/ci"];
        for more in
            [&[][..], &["--for=diff,blame"], &["--report-unmanaged"], &["--by-name"], &["--create-namespace", "--wait"]]
        {
            let run = ws.reconcile([&base[..], more].concat()).exits_with(0);
            let granted: Vec<&str> = run.stdout.lines().filter(|line| !line.starts_with('#')).collect();
            let granted = granted.join("\n");
            for word in
                ["escalate", "bind\n", "patch", "create", "clusterrole", other.namespace(), "namespace: kube-system"]
            {
                assert!(!granted.contains(word), "{word}: {run}");
            }
            assert!(granted.contains("configmaps"), "{run}");
            // What is printed can be applied, and its comments are comments.
            ws.stdin(&run.stdout).kubectl(["apply", "--dry-run=server", "-f", "-"]).exits_with(0);
            let json = ws.reconcile([&base[..], more, &["-o", "json"]].concat()).exits_with(0);
            let report: Value = serde_json::from_str(&json.stdout).unwrap();
            assert!(!report["roles"].to_string().contains(other.namespace()), "{json}");
            assert_eq!(report["withheld"]["record"].as_str().is_some(), source != "last-applied", "{json}");
        }
        for wrong in ["--for=apply", "--for=diff,resolve", "--for=pull", "--evidence=server"] {
            let run = ws.reconcile(["access", "--from", source, wrong]).exits_with(2);
            assert!(run.stderr.contains("`access --from` prints no roles"), "{run}");
        }
    }
    let run = ws.reconcile(["access", "--from", "helm/app"]).exits_with(0);
    let comment = format!("# Not granted: release `app` of namespace `{}` names objects outside", ws.namespace());
    assert!(run.stdout.contains(&comment), "{run}");
    assert!(run.stdout.contains(&format!("#   namespace: {}", other.namespace())), "{run}");
}

/// Custom resources that declare the category are searched as well, as `kubectl get all` shows them.
#[test]
fn the_kinds_are_those_of_kubectl_get_all() {
    let ws = Workspace::new();
    let dial = definition("Dial", ANY_FIELDS).replaced("plural: dials", "plural: dials, categories: [all, knobs]");
    ws.stdin(&dial).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.kubectl(["wait", "--for=condition=Established", "crd/dials.$NS.example.com", "--timeout=60s"]).exits_with(0);
    let dial = ws.fill_in("{apiVersion: $NS.example.com/v1, kind: Dial, metadata: {name: a}}");
    let service = "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}";
    ws.write("both.yaml", &format!("{dial}\n---\n{service}\n"));
    ws.kubectl(["apply", "-f", "both.yaml"]).exits_with(0);
    let shown = ws.kubectl(["get", "all", "-o", "name"]).exits_with(0);
    assert!(shown.stdout.contains("dial.") && shown.stdout.contains("service/s"), "{shown}");
    assert_eq!(from(&ws, "last-applied").exits_with(0).each("action"), ["Service s: none", "Dial a: none"]);
    ws.stdin(&dial).kubectl(["delete", "-f", "-"]).exits_with(0);
}

/// Fails if the roles of `access` are not enough for a run.
#[track_caller]
fn its_roles_are_enough(ws: &Workspace, purpose: &str, flags: &[&str], run: impl FnOnce(&str) -> Run) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let user = ws.fill_in(&format!("$NS-{purpose}-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
    let subject = format!("User:{user}");
    let access = |more: &[&str]| {
        ws.reconcile([&["access", "--for", purpose, "--name", &user, "--subject", &subject], flags, more].concat())
    };
    let roles = access(&[]).exits_with(0);
    ws.stdin(&roles.stdout).kubectl(["apply", "-f", "-"]).exits_with(0);
    wait_until("the server knows the roles", || access(&["--as", &user]).code == 0);
    let (run, requests) = ws.requests_during(|| run(&user));
    // Records are looked for in Secrets first, and then in ConfigMaps.
    let is_optional = |uri: &str| {
        ["/mutating", "/secrets?labelSelector=owner", "/configmaps?labelSelector=owner", "/secrets/sh.helm"]
            .iter()
            .any(|part| uri.contains(part))
            || uri.ends_with("/namespaces/kube-system")
    };
    let refused = requests.iter().filter(|request| request.code == 403 && !is_optional(&request.uri));
    assert_eq!(refused.map(|request| request.uri.as_str()).collect::<Vec<_>>(), [""; 0], "{flags:?}: {run}\n{roles}");
}

#[test]
fn the_roles_of_access_are_enough_to_read_what_the_cluster_keeps() {
    for kind in ["Secret", "ConfigMap"] {
        let ws = released(kind);
        for source in ["helm/pay", "helm/pay@2"] {
            let flags = ["--from", source];
            its_roles_are_enough(&ws, "diff", &flags, |user| {
                ws.reconcile(["diff", "--from", source, "--evidence=read-only", "--as", user]).exits_with(0)
            });
            its_roles_are_enough(&ws, "blame", &flags, |user| {
                ws.reconcile(["blame", "--from", source, "--as", user]).exits_with(0)
            });
        }
    }
    let ws = Workspace::new();
    ws.write("map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {a: one}}");
    ws.kubectl(["apply", "-f", "."]).exits_with(0);
    for flags in [&["--from", "last-applied"][..], &["--from", "last-applied", "--kinds", "cm,services"]] {
        its_roles_are_enough(&ws, "diff", flags, |user| {
            ws.reconcile([&["diff", "--evidence=read-only"], flags, &["--as", user]].concat()).exits_with(0)
        });
    }
}

#[test]
fn the_roles_of_access_are_enough_to_pull_and_to_resolve() {
    let ws = Workspace::new();
    ws.write("map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata:\n  a: one\n  b: one\n");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/map", &json!({"data": {"a": "two", "b": "two"}}));
    its_roles_are_enough(&ws, "pull", &["-f", "."], |user| {
        ws.reconcile(["pull", "-f", ".", "--field", "data.a", "--as", user]).exits_with(0)
    });
    its_roles_are_enough(&ws, "resolve", &["-f", "."], |user| {
        let terminal = ws.as_user("admin").stdin("a\ny\n").on_terminal();
        terminal.reconcile(["resolve", "-f", ".", "--as", user]).exits_with(0)
    });
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn sources_and_kinds_are_completed() {
    let ws = released("Secret");
    let complete = |words: &[&str]| ws.reconcile([&["__complete"][..], words].concat()).exits_with(0).stdout;
    let lines = |words: &[&str]| complete(words).lines().map(ToOwned::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&["diff", "--from", "helm/p"])[..1], ["helm/pay"]);
    assert_eq!(lines(&["diff", "--from", "la"])[..1], ["last-applied"]);
    let kinds = lines(&["diff", "--from", "last-applied", "--kinds", "secrets,deploym"]);
    assert!(kinds.contains(&"secrets,deployments".to_owned()), "{kinds:?}");
    ws.write("web.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: one}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/web", &json!({"data": {"a": "two"}}));
    let objects = lines(&["pull", "-f", ".", "--object", "configmaps/we"]);
    assert_eq!(objects[..1], ["configmaps/web"]);
    // What is offered is also what `pull` takes.
    for object in ["configmaps/web", "cm/web", "configmap/w*", "ConfigMap/web"] {
        let run = ws.reconcile(["pull", "-f", ".", "--dry-run", "--object", object]).exits_with(1);
        assert!(run.stdout.contains("would pull 1 change"), "{run}");
    }
}

#[test]
fn blame_compares_with_what_helm_stored() {
    let ws = released("Secret");
    ws.scale("deployment/pay", 5);
    let run = ws.reconcile(["blame", "--from", "helm/pay", "-o", "json"]).exits_with(0);
    let objects: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(objects.len(), 12, "{run}");
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment" && object["name"] == "pay").unwrap();
    let field = |path: &str| {
        let fields = deployment["fields"].as_array().unwrap().iter();
        fields.filter(|field| field["path"] == path).map(|field| field["manifest"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(field("spec.replicas"), ["differs"]);
    let text = ws.reconcile(["blame", "--from", "helm/pay"]).exits_with(0);
    assert!(text.stdout.lines().any(|line| line.starts_with("~ kubectl (scale)")), "{text}");
}
