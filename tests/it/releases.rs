//! `--from helm`: the report names the releases that the cluster keeps, one of them or all.

use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace, wait_until};
use crate::stored::{store, stored, stored_release};

fn map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: {value}}}\n")
}

/// Stores a deployed release of one ConfigMap, and installs it.
fn installed(ws: &Workspace, kind: &str, release: &str) {
    stored(ws, kind, release, 1, "deployed", &map(release, "one"));
    ws.apply_as("helm", &ws.fill_in(&map(release, "one").replace("{name: ", "{namespace: $NS, name: ")));
}

fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn the_report_names_the_release_and_a_newer_revision_that_failed() {
    for kind in ["Secret", "ConfigMap"] {
        let ws = Workspace::new();
        installed(&ws, kind, "podinfo");
        let run = ws.reconcile(["diff", "--from", "helm/podinfo"]).exits_with(0);
        let expected = json!({
            "name": "podinfo", "namespace": ws.namespace(), "revision": 1, "chart": "pay", "version": "2.4.0",
            "status": "deployed", "time": "2026-11-21T10:00:00Z",
        });
        assert_eq!(run.report()["release"], expected, "{run}");
        assert_eq!(run.stderr.lines().next(), Some("release podinfo revision 1 (pay-2.4.0)"), "{run}");

        stored(&ws, kind, "podinfo", 2, "failed", &map("podinfo", "two"));
        for command in ["diff", "status", "snapshot", "blame"] {
            let run = ws.reconcile([command, "--from", "helm/podinfo"]).exits_with(0);
            let line = "release podinfo revision 1 (pay-2.4.0); revision 2 failed";
            assert_eq!(run.stderr.lines().next(), Some(line), "{run}");
        }
        for source in ["helm/podinfo", "helm/podinfo@1"] {
            let run = ws.reconcile(["diff", "--from", source]).exits_with(0);
            assert_eq!(run.report()["release"]["newer"], json!({"revision": 2, "status": "failed"}), "{run}");
            for command in ["status", "own"] {
                let run = ws.reconcile([command, "--from", source]).exits_with(0);
                assert!(run.stderr.contains("release podinfo revision 1 (pay-2.4.0); revision 2 failed"), "{run}");
            }
        }
        let named = ws.reconcile(["diff", "--from", "helm/podinfo@2"]).exits_with(1);
        assert_eq!(named.stderr.lines().next(), Some("release podinfo revision 2 failed (pay-2.4.0)"), "{named}");
    }
}

/// As in charts whose leader election, or whose `RoleBinding` to `extension-apiserver-authentication-reader`, is in `kube-system`.
#[test]
fn the_namespace_chooses_the_release_and_its_objects_keep_theirs() {
    let (ws, other) = (Workspace::new(), Workspace::new());
    let metadata = |name: &str, namespace: &str| {
        let annotations = format!(
            "annotations: {{meta.helm.sh/release-name: adapter, meta.helm.sh/release-namespace: {}}}",
            ws.namespace()
        );
        format!("metadata: {{name: {name}{namespace}, {annotations}}}")
    };
    let elsewhere = format!(", namespace: {}", other.namespace());
    let cluster = ws.fill_in("$NS-adapter");
    let manifest = format!(
        "{}---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n{}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}}\n\
         ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n{}\nrules: []\n",
        map("own", "one"),
        metadata("adapter-auth-reader", &elsewhere),
        metadata(&cluster, ""),
    );
    stored(&ws, "Secret", "adapter", 1, "deployed", &manifest);
    ws.stdin(&manifest).kubectl(["apply", "--server-side", "--field-manager=helm", "-f", "-"]);
    for flags in [&["-n", ws.namespace()][..], &[]] {
        for command in ["diff", "status", "blame", "snapshot", "access"] {
            let run = ws.reconcile([&[command, "--from", "helm/adapter"], flags].concat());
            assert!(run.code == 0 && !run.stderr.contains("does not match the namespace"), "{run}");
        }
        let run = ws.reconcile([&["diff", "--from", "helm/adapter"], flags].concat()).exits_with(0);
        assert_eq!(run.report()["summary"]["inSync"], 3, "{run}");
        assert_eq!(run.object("RoleBinding", "adapter-auth-reader")["namespace"], other.namespace());
        assert_eq!(run.object("ConfigMap", "own")["namespace"], ws.namespace());
    }
    ws.kubectl(["delete", "clusterrole", &cluster]).exits_with(0);
}

#[test]
fn all_releases_of_a_namespace_are_one_run() {
    let ws = Workspace::new();
    installed(&ws, "Secret", "pay");
    installed(&ws, "ConfigMap", "web");
    stored(&ws, "Secret", "pay", 2, "failed", &map("pay", "two"));
    stored(&ws, "Secret", "gone", 1, "uninstalled", &map("gone", "one"));
    stored(&ws, "Secret", "never", 1, "pending-install", &map("never", "one"));
    ws.patch_as("kubectl-edit", "configmap/web", &json!({"data": {"a": "two"}}));

    let (run, requests) = ws.requests_during(|| ws.reconcile(["diff", "--from", "helm"]).exits_with(1));
    let releases = run.report()["releases"].as_array().unwrap();
    let names: Vec<&str> = releases.iter().map(|release| text(release, "/name")).collect();
    assert_eq!(names, ["pay", "web"], "{run}");
    assert_eq!(releases[0]["newer"], json!({"revision": 2, "status": "failed"}));
    assert!(run.report().get("release").is_none(), "{run}");
    assert_eq!(run.object("ConfigMap", "web")["release"], json!({"name": "web", "namespace": ws.namespace()}));
    assert_eq!(run.changes("ConfigMap", "web"), ["changedByOther data.a"]);
    assert_eq!(run.object("ConfigMap", "web")["changes"][0]["side"], "cluster");
    assert_eq!(run.object("ConfigMap", "pay")["action"], "none");
    assert_eq!(run.report()["summary"]["notDeployed"], 2, "{run}");
    assert_eq!(run.report()["base"]["from"], "helm");
    let ns = ws.namespace();
    let lines: Vec<&str> = run.stderr.lines().take(3).collect();
    let expected = [
        format!("release {ns}/pay revision 1 (pay-2.4.0); revision 2 failed"),
        format!("release {ns}/web revision 1 (pay-2.4.0)"),
        "2 releases are not deployed".to_owned(),
    ];
    assert_eq!(lines, expected, "{run}");
    assert!(run.stdout.contains(&format!("release {ns}/web")), "{run}");
    // One LIST of each kind of record.
    let lists = |kind: &str| {
        let is_it = |uri: &str| uri.contains(&format!("/{kind}?")) && uri.contains("owner");
        requests.iter().filter(|request| request.verb == "list" && is_it(&request.uri)).count()
    };
    assert_eq!((lists("secrets"), lists("configmaps")), (1, 1));

    for command in ["status", "blame", "snapshot", "access"] {
        ws.reconcile([command, "--from", "helm"]).exits_with(0);
    }
    let filtered = ws.reconcile(["diff", "--from", "helm", "--fail-on", "cluster,either"]).exits_with(1);
    assert!(filtered.stderr.contains("not deployed"), "{filtered}");
    ws.kubectl(["delete", "configmap", "web"]).exits_with(0);
    let gone = ws.reconcile(["diff", "--from", "helm"]).exits_with(1);
    assert!(gone.stdout.contains(&format!("{ns}/web  deleted in the cluster, release {ns}/web")), "{gone}");
}

#[test]
fn a_release_that_cannot_be_read_is_told_and_the_others_are_compared() {
    let ws = Workspace::new();
    let secret = ws.secret("hunter2-in-one-of-many-releases");
    installed(&ws, "Secret", "pay");
    let broken = json!(["list", 1, secret]).to_string();
    store(&ws, "Secret", ("list", 1, "deployed"), broken.as_bytes());
    stored(&ws, "Secret", "text", 1, "deployed", &format!("a: [{secret}"));
    let run = ws.reconcile(["diff", "--from", "helm"]).exits_with(4);
    assert_eq!(run.object("ConfigMap", "pay")["action"], "none", "{run}");
    let errors = run.report()["errors"].to_string();
    assert!(errors.contains("sh.helm.release.v1.list.v1 cannot be read as a release"), "{run}");
    assert!(errors.contains("release `text` of namespace"), "{run}");
    assert_eq!(run.stderr.matches("sh.helm.release.v1.list.v1 cannot be read as a release").count(), 1, "{run}");
    assert_eq!(run.stderr.matches("release `text` of namespace").count(), 1, "{run}");
    for command in ["status", "blame", "snapshot", "access"] {
        let run = ws.reconcile([command, "--from", "helm"]).exits_with(4);
        assert_eq!(run.stderr.matches("sh.helm.release.v1.list.v1 cannot be read").count(), 1, "{run}");
    }
    // Two releases that define an object differently do not spoil the others either.
    stored(&ws, "Secret", "copy", 1, "deployed", &map("pay", "two"));
    let run = ws.reconcile(["diff", "--from", "helm"]).exits_with(4);
    let message = text(run.object("ConfigMap", "pay"), "/error/message").to_owned();
    let ns = ws.namespace();
    assert_eq!(message, format!("the releases {ns}/copy and {ns}/pay define it differently"), "{run}");
}

#[test]
fn none_at_all_is_an_error() {
    let ws = Workspace::new();
    let none = ws.reconcile(["diff", "--from", "helm"]).exits_with(2);
    let ns = ws.namespace();
    assert!(none.stderr.contains(&format!("there is no deployed release in namespace `{ns}`")), "{none}");
    stored(&ws, "Secret", "gone", 1, "uninstalled", &map("gone", "one"));
    let none = ws.reconcile(["diff", "--from", "helm"]).exits_with(2);
    assert!(none.stderr.contains("and 1 release is not deployed"), "{none}");
    ws.reconcile(["diff", "--from", "helm", "--allow-empty"]).exits_with(0);
}

#[test]
fn releases_of_all_namespaces_keep_their_namespaces() {
    let (ws, other) = (Workspace::new(), Workspace::new());
    for place in [&ws, &other] {
        installed(place, "Secret", "pay");
    }
    other.patch_as("kubectl-edit", "configmap/pay", &json!({"data": {"a": "two"}}));
    // Releases of other tests are among them, so that any result is possible.
    let run = ws.reconcile(["diff", "--from", "helm", "-A"]);
    let own = |ns: &str| -> Value {
        let is_it = |object: &&Value| object["namespace"] == ns && object["name"] == "pay";
        let objects = run.report()["objects"].as_array().unwrap().iter();
        objects.clone().find(is_it).cloned().unwrap_or_else(|| panic!("{run}"))
    };
    assert_eq!(own(ws.namespace())["action"], "none");
    assert_eq!(own(other.namespace())["action"], "update");
    assert_eq!(own(other.namespace())["release"]["namespace"], other.namespace());
    let alone = ws.reconcile(["diff", "--from", "helm/pay", "-A"]).exits_with(2);
    assert!(alone.stderr.contains("`--all-namespaces` needs `--from helm`"), "{alone}");
}

/// Two hundred releases among two thousand other objects.
#[test]
fn many_releases_are_listed_once() {
    let ws = Workspace::new();
    let mut objects = String::new();
    for number in 0..200 {
        let name = format!("r{number}");
        objects.push_str(&[format!("{}\n---\n", stored_release(&name, &map(&name, "one")))].concat());
    }
    for number in 0..2_000 {
        objects.push_str(
            &[format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: other-{number}}}}}\n---\n")].concat(),
        );
    }
    ws.write("all.yaml", &objects);
    ws.reconcile(["apply", "-f", "all.yaml", "--quiet"]).exits_with(0);
    let (run, requests): (Run, _) = ws.requests_during(|| ws.reconcile(["diff", "--from", "helm"]).exits_with(1));
    assert_eq!(run.report()["summary"]["create"], 200, "{}", run.stderr);
    let of_records = |request: &&_| -> bool {
        let request: &crate::control_plane::Request = request;
        request.uri.contains("/secrets?") && request.uri.contains("owner")
    };
    let lists: Vec<&str> = requests.iter().filter(of_records).map(|request| request.uri.as_str()).collect();
    assert_eq!(lists.len(), 1, "{lists:?}");
    assert!(run.stderr.starts_with("200 releases\n"), "{}", run.stderr);
}

/// What `access` prints is enough for a run over all releases.
#[test]
fn the_roles_of_access_are_enough_for_all_releases() {
    let ws = Workspace::new();
    installed(&ws, "Secret", "pay");
    installed(&ws, "ConfigMap", "web");
    let user = ws.fill_in("$NS-all-releases");
    let subject = format!("User:{user}");
    let access = |more: &[&str]| {
        let flags = ["access", "--from", "helm", "--name", &user, "--subject", &subject];
        ws.reconcile([&flags[..], more].concat())
    };
    let roles = access(&[]).exits_with(0);
    ws.stdin(&roles.stdout).kubectl(["apply", "-f", "-"]).exits_with(0);
    wait_until("the server knows the roles", || access(&["--as", &user]).code == 0);
    ws.reconcile(["diff", "--from", "helm", "--evidence=read-only", "--as", &user]).exits_with(0);
    // Without one of the lists, nobody knows which releases there are.
    ws.allow("reader", "get,list", "configmaps");
    let run = ws.as_user("reader").reconcile(["diff", "--from", "helm", "--evidence=read-only"]).exits_with(4);
    assert!(run.stderr.contains("the records of releases in the Secrets of namespace"), "{run}");
    assert_eq!(run.object("ConfigMap", "web")["action"], "none");
    // Without any of them, the storage is named that Helm uses by default.
    let run = ws.as_user("editor").reconcile(["diff", "--from", "helm"]).exits_with(4);
    assert!(run.stderr.contains("the records of releases in the Secrets of namespace"), "{run}");
}
