//! `own` in several contexts and shards, beside other writers, with an audit log, and with the permissions of its role.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{applied_as, is_settled, owners, transfer, values};
use crate::contexts::Fleet;
use crate::control_plane::{ControlPlane, Fault, Proxy, Request, Run, Workspace, is_before, wait_until};
use crate::manifests::WEB;
use crate::stored::stored_by;

/// The report of one context.
#[track_caller]
fn of<'r>(run: &'r Run, context: &str) -> &'r Value {
    let contexts = run.report()["contexts"].as_array().unwrap_or_else(|| panic!("no contexts in the report of {run}"));
    contexts.iter().find(|one| one["context"] == context).unwrap_or_else(|| panic!("no {context} in {run}"))
}

#[test]
fn each_context_is_handed_over_by_itself() {
    let fleet = Fleet::new();
    let text = fs::read_to_string(fleet.eu.folder().join("web.yaml")).unwrap();
    for ws in [&fleet.eu, &fleet.us] {
        ws.stdin(&text).kubectl(["create", "-f", "-"]).exits_with(0);
    }
    fleet.us.patch_as("kubectl-edit", "configmap/banner", &json!({"data": {"text": "bye"}}));
    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    let own = |contexts: &str, flags: &[&str]| {
        let contexts = format!("--context={contexts}");
        fleet.eu.as_user("admin").reconcile([&["own", "-f", "web.yaml", &kubeconfig, &contexts], flags].concat())
    };
    let shown = own("eu,us", &["--dry-run"]).exits_with(4);
    assert_eq!((&of(&shown, "eu")["verdict"], &of(&shown, "us")["verdict"]), (&json!("drift"), &json!("incomplete")));
    own("eu", &["--dry-run"]).exits_with(1);
    let run = own("eu,us,down", &[]).exits_with(4);
    let verdicts = ["eu", "us", "down"].map(|context| &of(&run, context)["verdict"]);
    assert_eq!(verdicts, [&json!("applied"), &json!("incomplete"), &json!("unreachable")], "{run}");
    let us = of(&run, "us")["objects"].as_array().unwrap();
    let banner = us.iter().find(|object| object["name"] == "banner").unwrap();
    assert_eq!((&banner["transfers"], &banner["changes"][0]["path"]), (&json!([]), &json!("data.text")));
    assert!(shown.stdout.contains("to adopt") && !shown.stdout.contains("no change in any"), "{shown}");
    assert!(run.stdout.contains("adopted") && !run.stdout.contains("no change in any"), "{run}");
    assert!(run.stdout.contains("# eu (https") && run.stdout.contains("kubectl-create → kubectl-reconcile"), "{run}");
    for ws in [&fleet.eu, &fleet.us] {
        assert_eq!(owners(ws, "ConfigMap", "settings", "/f:data/f:colour"), ["kubectl-reconcile Apply"]);
    }
    assert_eq!(owners(&fleet.us, "ConfigMap", "banner", "/f:data/f:text"), ["kubectl-edit Update"]);
    assert_eq!(own("eu", &[]).exits_with(0).writes(), 0);
    let refused = own("eu,us", &["--audit-log", "audit.log"]).exits_with(2);
    assert!(refused.stderr.contains("`--audit-log` and several contexts cannot be combined"), "{refused}");
}

/// The lines about objects do not wait for one that has no turn.
#[test]
fn each_object_has_its_line_although_others_cannot_be_handed_over() {
    let ws = Workspace::new();
    let map = |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{a: b}}}}");
    for name in ["b1", "b2", "d1"] {
        ws.stdin(&map(name)).kubectl(["create", "-f", "-"]).exits_with(0);
    }
    for name in ["a0", "b1", "b2", "c0", "d1"] {
        ws.write(format!("{name}.yaml"), &map(name));
    }
    let run = ws.reconcile(["own", "-f", "."]).exits_with(4);
    let lines: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("adopted ")).collect();
    let expected = ["b1", "b2", "d1"].map(|name| ws.fill_in(&format!("adopted ConfigMap $NS/{name}")));
    assert_eq!(lines, expected, "{run}");
    assert!(run.stdout.contains("3 fields of 3 objects now belong to kubectl-reconcile"), "{run}");
}

#[test]
fn shards_come_to_the_same_as_one_run() {
    let ws = Workspace::new();
    for number in 0..12 {
        let map = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}, data: {{a: b}}}}");
        ws.write(format!("m-{number}.yaml"), &map);
    }
    ws.kubectl(["create", "-f", "."]).exits_with(0);
    let names = |run: &Run| -> BTreeSet<String> {
        let given = run.objects().iter().filter(|object| object["transfers"] != json!([]));
        given.map(|object| object["name"].as_str().unwrap().to_owned()).collect()
    };
    let whole = names(&ws.reconcile(["own", "-f", ".", "--dry-run"]).exits_with(1));
    assert_eq!(whole.len(), 12);
    let mut all = BTreeSet::new();
    let mut reports = vec!["report".to_owned(), "merge".to_owned()];
    for shard in ["0/3", "1/3", "2/3"] {
        let shown = names(&ws.reconcile(["own", "-f", ".", "--dry-run", "--shard", shard]).exits_with(1));
        let run = ws.reconcile(["own", "-f", ".", "--shard", shard]).exits_with(0);
        assert_eq!((names(&run), run.report()["shard"]["of"].as_u64()), (shown.clone(), Some(3)), "{run}");
        assert!(shown.iter().all(|name| all.insert(name.clone())), "twice: {run}");
        let file = format!("shard-{}.json", &shard[..1]);
        fs::write(ws.home().join(&file), run.report().to_string()).unwrap();
        reports.push(ws.home().join(&file).display().to_string());
    }
    assert_eq!(all, whole);
    let merged = ws.reconcile(&reports).exits_with(0);
    assert!(merged.stdout.contains("12 fields of 12 objects now belong to kubectl-reconcile"), "{merged}");
    is_settled(&ws, &["-f", "."]);
}

/// A Deployment of Helm whose replicas kubectl owns, with the value of the manifest.
fn scaled_and_back(ws: &Workspace) {
    ws.write("web.yaml", WEB);
    applied_as(ws, "helm", "web.yaml").exits_with(0);
    ws.scale("deployment/web", 5);
    ws.scale("deployment/web", 2);
}

const TO_HELM: [&str; 5] = ["own", "-f", "web.yaml", "--field-manager", "helm"];

/// Runs `own` while somebody patches the Deployment just before a request of it reaches the server.
fn meanwhile(ws: &Workspace, request: &str, patch: Value) -> Run {
    let proxy = Proxy::new(ws);
    let plane = ControlPlane::shared();
    let address = ws.fill_in("/apis/apps/v1/namespaces/$NS/deployments/web?fieldManager=kubectl-edit");
    let edit = move || drop(plane.api().json_patch(&address, &patch).unwrap());
    proxy.inject(1, "PATCH", request, Fault::After(Arc::new(edit)));
    let run = ws.through(&proxy.url()).reconcile(TO_HELM);
    assert_eq!(proxy.clear(), Vec::<String>::new(), "{run}");
    run
}

#[test]
fn what_somebody_changes_meanwhile_stays_with_them_and_the_rest_is_given() {
    // Before the attempt, which is no apply, and before the write.
    for request in ["deployments/web dryRun !force", "deployments/web !dryRun"] {
        // Another field: the replicas are given all the same.
        let ws = Workspace::new();
        scaled_and_back(&ws);
        let note = json!([{"op": "add", "path": "/metadata/annotations", "value": {"note": "x"}}]);
        let run = meanwhile(&ws, request, note).exits_with(0);
        assert_eq!(run.object("Deployment", "web")["outcome"], "adopted", "{run}");
        assert_eq!(owners(&ws, "Deployment", "web", "/f:spec/f:replicas"), ["helm Apply"]);
        assert_eq!(ws.get("Deployment", "web")["metadata"]["annotations"]["note"], "x");

        // The field itself: it differs now, and nothing is left to give.
        let ws = Workspace::new();
        scaled_and_back(&ws);
        let replicas = json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]);
        let run = meanwhile(&ws, request, replicas.clone()).exits_with(4);
        let web = run.object("Deployment", "web");
        assert_eq!((&web["outcome"], &web["transfers"]), (&json!("unchanged"), &json!([])), "{run}");
        assert_eq!((&web["changes"][0]["live"], &web["changedDuringRun"]), (&json!(7), &json!(true)), "{run}");
        assert!(run.stdout.contains("1 field differs, and stays with the present owners"), "{run}");
        assert_eq!(run.report()["verdict"], "incomplete");
        assert_eq!(owners(&ws, "Deployment", "web", "/f:spec/f:replicas"), ["kubectl-edit Update"]);

        // One of several fields.
        let ws = Workspace::new();
        scaled_and_back(&ws);
        ws.kubectl(["label", "deployment/web", "tier=back", "--overwrite"]).exits_with(0);
        ws.kubectl(["label", "deployment/web", "tier=front", "--overwrite"]).exits_with(0);
        let run = meanwhile(&ws, request, replicas).exits_with(4);
        let paths: Vec<&Value> =
            run.object("Deployment", "web")["transfers"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
        assert_eq!(paths, [&json!("metadata.labels.tier")], "{run}");
        assert_eq!(run.object("Deployment", "web")["outcome"], "adopted");
        assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 7);
    }
}

#[test]
fn an_object_that_is_deleted_meanwhile_is_told() {
    let ws = Workspace::new();
    scaled_and_back(&ws);
    let proxy = Proxy::new(&ws);
    let kubectl = ws.plane().kubectl();
    let kubeconfig = ws.as_user("admin").kubeconfig();
    let namespace = ws.namespace().to_owned();
    let delete = move || {
        let status = std::process::Command::new(&kubectl)
            .args(["delete", "deployment", "web", "-n", &namespace, "--kubeconfig"])
            .arg(&kubeconfig)
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()));
    };
    proxy.inject(1, "PATCH", "deployments/web !dryRun", Fault::After(Arc::new(delete)));
    let run = ws.through(&proxy.url()).reconcile(TO_HELM).exits_with(4);
    assert_eq!(run.object("Deployment", "web")["outcome"], "failed", "{run}");
    assert_eq!(ws.find("Deployment", "web"), None);
}

/// A policy that changes each ConfigMap of the namespace whenever it is updated.
const POLICY: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: $NS-stamps}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]
  matchConditions: [{name: here, expression: \"object.metadata.namespace == '$NS'\"}]
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{metadata: Object.metadata{labels: {'stamped': 'yes'}}}\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: $NS-stamps}
spec: {policyName: $NS-stamps}
";

#[test]
fn an_object_of_which_a_value_would_change_is_left_as_it_was() {
    if is_before(36, "there is no MutatingAdmissionPolicy in `admissionregistration.k8s.io/v1`") {
        return;
    }
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}");
    ws.write("b.yaml", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: b, labels: {a: b}}}");
    ws.kubectl(["create", "-f", "."]).exits_with(0);
    ws.stdin(&ws.fill_in(POLICY)).kubectl(["apply", "--server-side", "-f", "-"]).exits_with(0);
    let stamps = || {
        let probe =
            ws.kubectl(["annotate", "configmap/a", "probe=yes", "--dry-run=server", "--overwrite", "-o", "json"]);
        probe.stdout.contains("stamped")
    };
    wait_until("the server knows the policy", stamps);
    let before = values(&ws, "ConfigMap", "a");
    let shown = ws.reconcile(["own", "-f", ".", "--dry-run"]).exits_with(4);
    let run = ws.reconcile(["own", "-f", "."]).exits_with(4);
    let policies = "mutatingadmissionpolicybinding,mutatingadmissionpolicy";
    ws.kubectl(["delete", policies, "$NS-stamps"]).exits_with(0);
    for run in [&shown, &run] {
        let error = run.object("ConfigMap", "a")["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(error, "the server would change values of the object if its owners were written", "{run}");
    }
    assert_eq!(
        (run.object("ConfigMap", "a")["outcome"].as_str(), values(&ws, "ConfigMap", "a")),
        (Some("failed"), before)
    );
    assert_eq!(owners(&ws, "ConfigMap", "a", "/f:data/f:a"), ["kubectl-create Update"]);
    assert_eq!(run.object("ServiceAccount", "b")["outcome"], "adopted", "the others are given: {run}");
}

const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1', b: '2'}}";

#[test]
fn the_audit_log_names_the_people_who_lose_fields() {
    let ws = Workspace::new();
    ws.allow("editor", "get,patch,update", "deployments.apps,deployments.apps/scale");
    ws.allow("limited", "get,patch,update", "configmaps");
    ws.write("web.yaml", &format!("{WEB}---\n{SETTINGS}"));
    applied_as(&ws, "helm", "web.yaml").exits_with(0);
    let ((), log) = ws.audit_log_during(|| {
        for replicas in ["--replicas=5", "--replicas=2"] {
            ws.as_user("editor").kubectl(["scale", "deployment/web", replicas]).exits_with(0);
        }
        for value in ["9", "1"] {
            let patch = json!({"data": {"a": value, "b": "9"}}).to_string();
            ws.as_user("limited").kubectl(["patch", "configmap/settings", "-p", &patch]).exits_with(0);
        }
    });
    fs::write(ws.folder().join("audit.log"), log).unwrap();
    let without = ws.reconcile([&TO_HELM[..], &["--dry-run"]].concat()).exits_with(4);
    assert_eq!(transfer(&without, "Deployment", "web", "spec.replicas").get("owners"), None);
    let flags = ["--audit-log", "audit.log"];
    let shown = ws.reconcile([&TO_HELM[..], &flags, &["--dry-run"]].concat()).exits_with(4);
    let given = ws.reconcile([&TO_HELM[..], &flags].concat()).exits_with(4);
    for run in [&shown, &given] {
        for (kind, name, path, manager, user) in [
            ("Deployment", "web", "spec.replicas", "kubectl", "editor"),
            ("ConfigMap", "settings", "data.a", "kubectl-patch", "limited"),
        ] {
            let transfer = transfer(run, kind, name, path);
            assert_eq!((&transfer["from"], &transfer["owners"][0]["manager"]), (&json!([manager]), &json!(manager)));
            assert_eq!(transfer["owners"][0]["user"]["name"], user, "{transfer:#}");
            assert!(run.stdout.contains(&format!("{manager} ({user}) → helm: 1 field")), "{run}");
        }
        let change = &run.object("ConfigMap", "settings")["changes"][0]["managers"][0];
        assert_eq!(
            (&change["manager"], &change["user"]["name"]),
            (&json!("kubectl-patch"), &json!("limited")),
            "{run}"
        );
    }
    // The report is read again.
    fs::write(ws.folder().join("report.json"), given.report().to_string()).unwrap();
    let again = ws.reconcile(["report", "merge", "report.json"]).exits_with(4);
    assert!(again.stdout.contains("kubectl (editor) → helm"), "{again}");
    ws.reconcile([&TO_HELM[..], &["--audit-log", "none.log"]].concat()).exits_with(2);
}

#[test]
fn a_folder_that_belongs_elsewhere_is_refused() {
    let ws = Workspace::new();
    ws.write("deploy/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}");
    ws.kubectl(["create", "-f", "deploy"]).exits_with(0);
    for (expect, message) in [
        ("contexts: [prod]", "is not expected here, only `prod`"),
        ("servers: ['https://10.1.2.3:6443']", "is not expected here, only `https://10.1.2.3:6443`"),
        ("namespaces: [shop]", "is not expected here, only `shop`"),
    ] {
        let text = format!("apiVersion: kubectl-reconcile/v1\nkind: Config\nexpect: {{{expect}}}\n");
        ws.write("deploy/.kubectl-reconcile.yaml", &text);
        for flags in [&[][..], &["--dry-run"]] {
            let refused = ws.reconcile([&["own", "-f", "deploy"], flags].concat()).exits_with(2);
            assert!(refused.stderr.contains(message), "{refused}");
        }
    }
    assert_eq!(owners(&ws, "ConfigMap", "a", "/f:data/f:a"), ["kubectl-create Update"]);
}

/// The permissions that the requests of a user needed, as `VERB RESOURCE`.
fn needed(requests: &[Request], user: &str) -> BTreeSet<String> {
    let counts = |request: &&Request| request.user == user && request.code < 300;
    let named = requests.iter().filter(counts).filter_map(|request| {
        let path = request.uri.split('?').next()?;
        let resource = path.split_once("/namespaces/")?.1.split('/').nth(1)?;
        Some(format!("{} {resource}", request.verb))
    });
    named.collect()
}

/// The permissions that a run needs, by the requests of real runs, are those that `access` names for it: no more and no less.
#[test]
fn access_names_the_permissions_that_the_requests_need() {
    let ws = Workspace::new();
    for number in 0..6 {
        let map = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}, data: {{a: b}}}}");
        ws.write(format!("deploy/m-{number}.yaml"), &map);
    }
    ws.write("deploy/web.yaml", WEB);
    ws.kubectl(["create", "-f", "deploy"]).exits_with(0);
    let manifest = fs::read_to_string(ws.folder().join("deploy/web.yaml")).unwrap();
    stored_by(&ws, "web", (1, "deployed"), Some("ssa"), &manifest);
    for (input, user) in [(["-f", "deploy"], "editor"), (["--from", "helm/web"], "limited")] {
        let access =
            |more: &[&str]| ws.reconcile([&["access", "--for", "own", "--name", user], &input[..], more].concat());
        let roles = access(&["--subject", &format!("User:{user}")]).exits_with(0);
        ws.stdin(&roles.stdout).kubectl(["apply", "-f", "-"]).exits_with(0);
        wait_until("the server knows the roles", || access(&["--as", user]).code == 0);
        let report: Value = serde_json::from_str(&access(&["-o", "json"]).exits_with(0).stdout).unwrap();
        let text = |one: &Value| format!("{} {}", one["verb"].as_str().unwrap(), one["resource"].as_str().unwrap());
        let granted: BTreeSet<String> = report["permissions"].as_array().unwrap().iter().map(text).collect();
        let own = |flags: &[&str]| ws.as_user(user).reconcile([&["own"], &input[..], flags].concat());
        let (run, requests) = ws.requests_during(|| {
            own(&["--dry-run"]).exits_with(1);
            own(&[]).exits_with(0)
        });
        assert!(requests.iter().all(|request| request.code != 403), "{requests:#?} {run}");
        // Somebody may change an object while it is written: then it is read again.
        let on_conflict = ["get configmaps", "get deployments"].map(str::to_owned).into();
        let used: BTreeSet<String> = needed(&requests, user).union(&on_conflict).cloned().collect();
        let of_input = |permission: &&String| input[0] == "-f" || !permission.ends_with(" configmaps");
        assert_eq!(granted.iter().collect::<Vec<_>>(), used.iter().filter(of_input).collect::<Vec<_>>(), "{input:?}");
    }
}

#[test]
fn without_permission_an_object_stays_and_the_role_of_access_suffices() {
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}");
    ws.kubectl(["create", "-f", "a.yaml"]).exits_with(0);
    ws.allow("reader", "get,list", "configmaps");
    let run = ws.as_user("reader").reconcile(["own", "-f", "a.yaml"]).exits_with(4);
    assert_eq!(run.object("ConfigMap", "a")["error"]["reason"], "Forbidden");
    assert_eq!(owners(&ws, "ConfigMap", "a", "/f:data/f:a"), ["kubectl-create Update"]);
    let roles = ws.reconcile(["access", "-f", "a.yaml", "--for", "own", "--subject", "User:editor"]);
    assert!(!roles.stdout.contains("create"), "{roles}");
    ws.stdin(&roles.stdout).kubectl(["apply", "-f", "-"]).exits_with(0);
    ws.as_user("editor").reconcile(["own", "-f", "a.yaml"]).exits_with(0);
    assert_eq!(owners(&ws, "ConfigMap", "a", "/f:data/f:a"), ["kubectl-reconcile Apply"]);
}
