//! Fields and their managers: manual changes are reverted; fields of appliers and controllers are conflicts.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

/// A workspace where the Deployment `web` is in sync.
fn with_web() -> Workspace {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws
}

fn owners(ws: &Workspace, pointer: &str) -> Vec<String> {
    owners_of(ws, "Deployment", "web", pointer)
}

/// The owners of a field of an object: `manager operation`.
pub fn owners_of(ws: &Workspace, kind: &str, name: &str, pointer: &str) -> Vec<String> {
    let object = ws.get(kind, name);
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let owning = entries.iter().filter(|entry| entry["fieldsV1"].pointer(pointer).is_some());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut owners: Vec<_> =
        owning.map(|entry| format!("{} {}", text(&entry["manager"]), text(&entry["operation"]))).collect();
    owners.sort();
    owners
}

const SCALED_BY_ARGO: &str =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 6, selector: {matchLabels: {app: web}},
      template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'shop/web:1.2'}]}}}}";

#[test]
fn a_dropped_field_disappears() {
    let ws = with_web();
    ws.write("web.yaml", &WEB.replaced(", tier: front", "").replaced(", {name: LANG, value: en}", ""));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let item = "spec.template.spec.containers[name=web].env[name=LANG]";
    assert_eq!(diff.changes("Deployment", "web"), ["pruned metadata.labels.tier".to_owned(), format!("pruned {item}")]);
    let change = diff.change("Deployment", "web", "metadata.labels.tier");
    assert_eq!((&change["live"], change.get("desired"), &change["op"]), (&json!("front"), None, &json!("remove")));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let web = ws.get("Deployment", "web");
    assert_eq!(web["metadata"]["labels"], json!({"app": "web"}));
    assert_eq!(web["spec"]["template"]["spec"]["containers"][0]["env"], json!([{"name": "LOG", "value": "info"}]));
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_dropped_field_goes_back_to_the_servers_default_and_the_diff_says_so() {
    let ws = with_web();
    ws.write("web.yaml", &WEB.replaced("  replicas: 2\n", ""));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["pruned spec.replicas"]);
    let change = diff.change("Deployment", "web", "spec.replicas");
    assert_eq!((&change["live"], &change["desired"]), (&json!(2), &json!(1)));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], change["desired"]);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_dropped_field_disappears_even_when_a_manual_manager_owns_it_too() {
    let ws = with_web();
    // An update owns what it changes, so the manual change goes there and back; our apply of the same values then shares them.
    for (tier, replicas) in [("back", 5), ("front", 2)] {
        ws.patch_as("kubectl-patch", "deployment/web", &json!({"metadata": {"labels": {"tier": tier}}}));
        ws.scale("deployment/web", u32::try_from(replicas).unwrap());
    }
    ws.apply_as("kubectl-reconcile", WEB);
    assert_eq!(owners(&ws, "/f:spec/f:replicas").len(), 2, "{:?}", owners(&ws, "/f:spec/f:replicas"));
    ws.write("web.yaml", &WEB.replaced(", tier: front", "").replaced("  replicas: 2\n", ""));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["pruned metadata.labels.tier", "pruned spec.replicas"]);
    assert_eq!(diff.change("Deployment", "web", "spec.replicas")["desired"], 1, "the server's default comes back");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let web = ws.get("Deployment", "web");
    assert_eq!((&web["metadata"]["labels"], &web["spec"]["replicas"]), (&json!({"app": "web"}), &json!(1)));
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

#[test]
fn a_manual_manager_that_is_overruled_owns_nothing_of_ours_afterwards() {
    let ws = with_web();
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    ws.kubectl(["label", "deployment/web", "tier=back", "owner=me", "--overwrite"]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(owners(&ws, "/f:metadata/f:labels/f:tier"), ["kubectl-reconcile Apply"]);
    let image = r#"/f:spec/f:template/f:spec/f:containers/k:{"name":"web"}/f:image"#;
    assert_eq!(owners(&ws, image), ["kubectl-reconcile Apply"]);
    assert_eq!(owners(&ws, "/f:metadata/f:labels/f:owner"), ["kubectl-label Update"], "what is not ours stays theirs");
    // So that it goes when the manifest drops it.
    ws.write("web.yaml", &WEB.replaced(", tier: front", ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("Deployment", "web")["metadata"]["labels"], json!({"app": "web", "owner": "me"}));
}

#[test]
fn a_dropped_field_that_another_applier_owns_too_is_released() {
    let ws = with_web();
    ws.apply_as("gitops", &SCALED_BY_ARGO.replaced("replicas: 6", "replicas: 2"));
    ws.write("web.yaml", &WEB.replaced("  replicas: 2\n", ""));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("Deployment", "web"), ["released spec.replicas"]);
    assert_eq!(diff.change("Deployment", "web", "spec.replicas")["managers"][0]["manager"], "gitops");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "adopted");
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
    assert_eq!(owners(&ws, "/f:spec/f:replicas"), ["gitops Apply"]);
    assert_eq!(ws.reconcile(["diff", "-f", "."]).exits_with(0).changes("Deployment", "web"), [""; 0]);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

/// What holds for every conflict: it is named, the object is left alone, all others are applied.
#[track_caller]
fn is_a_conflict(ws: &Workspace, owner: (&str, &str, &str), live: u32) -> Run {
    ws.write("other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {a: b}}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Deployment", "web")["action"], "update");
    assert_eq!(diff.changes("Deployment", "web"), ["conflict spec.replicas"]);
    let change = diff.change("Deployment", "web", "spec.replicas");
    assert_eq!((&change["live"], &change["desired"]), (&json!(live), &json!(2)));
    let conflicts = diff.object("Deployment", "web")["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 1, "{conflicts:#?}");
    assert_eq!(conflicts[0]["path"], "spec.replicas");
    let (manager, operation, subresource) = owner;
    assert_eq!(
        (&conflicts[0]["manager"], &conflicts[0]["operation"], &conflicts[0]["subresource"]),
        (&json!(manager), &json!(operation), &json!(subresource))
    );
    assert_eq!(diff.report()["summary"]["conflict"], 1);

    let before = ws.resource_version("Deployment", "web");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.each("outcome"), ["ConfigMap other: created", "Deployment web: conflict"]);
    assert!(apply.stdout.contains("spec.replicas") && apply.stdout.contains(manager), "{apply}");
    assert_eq!(ws.resource_version("Deployment", "web"), before);
    diff
}

#[test]
fn what_another_applier_changed_is_a_conflict_until_forced() {
    let ws = with_web();
    ws.apply_as("gitops", SCALED_BY_ARGO);
    is_a_conflict(&ws, ("gitops", "Apply", ""), 6);
    let forced = ws.reconcile(["diff", "-f", ".", "--force-conflicts"]).exits_with(1);
    assert_eq!(forced.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
    let apply = ws.reconcile(["apply", "-f", ".", "--force-conflicts"]).exits_with(0);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "updated");
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
    assert_eq!(owners(&ws, "/f:spec/f:replicas"), ["kubectl-reconcile Apply"]);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn what_a_controller_changed_is_a_conflict() {
    let ws = with_web();
    ws.patch_as("rollouts-controller", "deployment/web", &json!({"spec": {"replicas": 9}}));
    let diff = is_a_conflict(&ws, ("rollouts-controller", "Update", ""), 9);
    assert!(diff.stdout.contains("hint:"), "{diff}");
}

#[test]
fn what_the_autoscaler_changed_is_a_conflict_although_scaling_by_hand_is_none() {
    let ws = with_web();
    let patch = json!({"spec": {"replicas": 8}}).to_string();
    let scale = ["patch", "deployment/web", "--subresource=scale", "--type=merge", "-p", &patch];
    let manager = ["--field-manager=kube-controller-manager"];
    ws.kubectl([&scale[..], &manager].concat()).exits_with(0);
    is_a_conflict(&ws, ("kube-controller-manager", "Update", "scale"), 8);
}

#[test]
fn with_none_even_manual_managers_keep_what_they_changed() {
    let ws = with_web();
    ws.scale("deployment/web", 5);
    let before = ws.resource_version("Deployment", "web");
    let diff = ws.reconcile(["diff", "-f", ".", "--force-conflicts=none"]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["conflict spec.replicas"]);
    assert_eq!(diff.stdout.matches("spec.replicas").count(), 1, "one conflict, reported once: {diff}");
    let conflict = &diff.object("Deployment", "web")["conflicts"][0];
    let owner = &diff.change("Deployment", "web", "spec.replicas")["managers"][0];
    for manager in [conflict, owner] {
        assert_eq!((&manager["manager"], &manager["manual"]), (&json!("kubectl"), &json!(true)), "{manager}");
    }
    let apply = ws.reconcile(["apply", "-f", ".", "--force-conflicts=none"]).exits_with(4);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "conflict");
    assert_eq!(ws.resource_version("Deployment", "web"), before);
}

#[test]
fn another_spelling_of_the_same_amount_is_no_conflict() {
    let ws = with_web();
    ws.write("web.yaml", &WEB.replaced("cpu: 100m, memory: 64Mi", "cpu: '1', memory: 1Gi"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let claim = SCALED_BY_ARGO
        .replaced("replicas: 6, ", "")
        .replaced("image: 'shop/web:1.2'", "image: 'shop/web:1.2', resources: {requests: {cpu: '1', memory: 1Gi}}");
    ws.apply_as("gitops", &claim);
    ws.write("web.yaml", &WEB.replaced("cpu: 100m, memory: 64Mi", "cpu: 1000m, memory: 1024Mi"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object("Deployment", "web")["conflicts"], json!([]));
    let before = ws.resource_version("Deployment", "web");
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    assert_eq!(ws.resource_version("Deployment", "web"), before);
    let cpu = r#"/f:spec/f:template/f:spec/f:containers/k:{"name":"web"}/f:resources/f:requests/f:cpu"#;
    assert_eq!(owners(&ws, cpu), ["gitops Apply", "kubectl-reconcile Apply"], "nobody lost it");
    // With a change elsewhere in the object, too.
    ws.scale("deployment/web", 3);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(owners(&ws, cpu).len(), 2);
}

#[test]
fn equal_values_of_two_appliers_are_shared_without_a_conflict() {
    let ws = with_web();
    ws.apply_as("gitops", &SCALED_BY_ARGO.replaced("replicas: 6", "replicas: 2"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("Deployment", "web"), [""; 0]);
    assert_eq!(owners(&ws, "/f:spec/f:replicas").len(), 2);
}

#[test]
fn equal_texts_of_a_secret_are_shared_and_the_other_applier_is_not_locked_out() {
    let ws = Workspace::new();
    let texts = "{apiVersion: v1, kind: Secret, metadata: {name: login}, stringData: {token: hunter2, user: jane}}";
    ws.write("login.yaml", texts);
    let flux = ["apply", "--server-side", "--field-manager=flux", "-f", "login.yaml"];
    ws.kubectl(flux).exits_with(0);
    for force in ["manual", "none"] {
        ws.reconcile(["diff", "-f", ".", &format!("--force-conflicts={force}")]).exits_with(0);
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let owners = |field: &str| owners_of(&ws, "Secret", "login", &format!("/f:{field}/f:token"));
    assert_eq!(
        (owners("stringData"), owners("data")),
        (vec!["flux Apply".into()], vec!["kubectl-reconcile Apply".into()])
    );
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).report()["requests"]["write"], 0);
    ws.kubectl(flux).exits_with(0);

    ws.write("login.yaml", &texts.replaced("hunter2", "hunter3"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Secret", "login")["conflicts"][0]["manager"], "flux", "{diff}");
    ws.reconcile(["apply", "-f", ".", "--force-conflicts"]).exits_with(0);
    assert_eq!((owners("stringData"), owners("data")), (vec!["kubectl-reconcile Apply".into()], vec![]));
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).report()["requests"]["write"], 0);
}

#[test]
fn other_managers_of_ours_are_other_owners() {
    let ws = with_web();
    let diff = ws.reconcile(["diff", "-f", ".", "--field-manager=second"]).exits_with(0);
    assert_eq!(diff.changes("Deployment", "web"), ["adopted"]);
    ws.reconcile(["apply", "-f", ".", "--field-manager=second"]).exits_with(0);
    assert_eq!(owners(&ws, "/f:spec/f:replicas"), ["kubectl-reconcile Apply", "second Apply"]);
    ws.write("web.yaml", &WEB.replaced("replicas: 2", "replicas: 3"));
    let diff = ws.reconcile(["diff", "-f", ".", "--field-manager=second"]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["conflict spec.replicas"]);
    ws.reconcile(["diff", "-f", ".", "--field-manager=kubectl"]).exits_with(2);
}

/// Where no value differs, or nobody is recorded, the server refuses an apply that takes nothing all the same.
#[test]
fn without_a_takeover_every_conflict_is_reported() {
    let ws = Workspace::new();
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: password}, stringData: {password: swordfish}}";
    let service = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {sessionAffinityConfig: null, ports: [{port: 80}]}}";
    for manifest in [secret, service] {
        ws.apply_as("gitops", manifest);
    }
    ws.kubectl(["create", "configmap", "banner", "--from-literal=text=old"]).exits_with(0);
    ws.kubectl(["create", "service", "clusterip", "bare", "--tcp=80"]).exits_with(0);
    let nobody = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
    ws.kubectl(["patch", "configmap", "banner", "--type=json", "-p", nobody]).exits_with(0);
    ws.kubectl(["patch", "service", "bare", "--type=json", "-p", nobody]).exits_with(0);
    // A selector is replaced as a whole.
    ws.write(
        "bare.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: bare}, spec: {selector: {app: bare, tier: web}, ports: [{port: 80, name: '80'}]}}",
    );
    ws.write("secret.yaml", secret);
    ws.write("service.yaml", &service.replaced("metadata: {name: web}", "metadata: {name: web, labels: {app: web}}"));
    ws.write("banner.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: banner}, data: {text: new}}");

    let none = ["-f", ".", "--force-conflicts=none"];
    let diff = ws.reconcile([&["diff"], &none[..]].concat()).exits_with(1);
    assert_eq!(diff.changes("Secret", "password"), ["adopted"], "in `data`, the server takes it");
    assert_eq!(
        diff.changes("Service", "web"),
        ["unrecorded metadata.labels.app", "conflict spec.sessionAffinityConfig"]
    );
    assert_eq!(diff.changes("ConfigMap", "banner"), ["conflict data.text"]);
    assert_eq!(diff.changes("Service", "bare"), ["conflict spec.selector.tier"]);
    assert_eq!(diff.object("ConfigMap", "banner")["conflicts"][0]["manager"], "before-first-apply");
    let apply = ws.reconcile([&["apply"], &none[..]].concat()).exits_with(4);
    assert_eq!(
        apply.each("outcome"),
        ["ConfigMap banner: conflict", "Secret password: adopted", "Service bare: conflict", "Service web: conflict"]
    );
    assert_eq!(apply.writes(), 1, "{apply}");

    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", ".", "--force-conflicts=none"]).exits_with(0);
}

/// The server takes an empty list or map that others own, without recording it as ours.
#[test]
fn who_takes_nothing_takes_no_empty_list_either() {
    let ws = Workspace::new();
    let labels = "labels: {a: b}";
    let manifest = |metadata: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it, {metadata}}}}}");
    let none = ["-f", ".", "--force-conflicts=none"];
    for (filled, empty) in [
        ("finalizers: [example.com/x]", "finalizers: []"),
        ("annotations: {c: d}", "annotations: {}"),
        ("ownerReferences: [{apiVersion: v1, kind: Node, name: a, uid: b}]", "ownerReferences: []"),
    ] {
        ws.stdin(&manifest(&format!("{labels}, {filled}"))).kubectl(["create", "-f", "-"]).exits_with(0);
        ws.write("it.yaml", &manifest(&format!("{labels}, {filled}")));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.write("it.yaml", &manifest(&format!("{labels}, {empty}")));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        // Who created the object still owns the list, with nothing in it.
        let server = ws.kubectl([
            "apply",
            "--server-side",
            "--dry-run=server",
            "--field-manager=kubectl-reconcile",
            "-f",
            "it.yaml",
        ]);
        let (codes, changes) = if empty.ends_with('}') {
            ([0, 0], vec![])
        } else {
            ([1, 4], vec![format!("conflict metadata.{}", empty.trim_end_matches(": []"))])
        };
        assert_eq!(server.code, i32::from(!changes.is_empty()), "{server}");
        for evidence in ["auto", "server", "read-only"] {
            let evidence = format!("--evidence={evidence}");
            let diff = ws.reconcile([&["diff", &evidence], &none[..]].concat()).exits_with(codes[0]);
            assert_eq!(diff.changes("ConfigMap", "it"), changes, "{diff}");
        }
        assert_eq!(ws.reconcile([&["apply"], &none[..]].concat()).exits_with(codes[1]).writes(), 0);
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
        ws.kubectl(["delete", "configmap", "it"]).exits_with(0);
    }
}

/// A record of owners that was lost (a backup that was put back, an older cluster) makes one owner of everything, with the copy of
/// client-side apply among it. What was there before us is not ours to remove, now or later.
#[test]
fn labels_of_others_survive_a_lost_record_of_owners() {
    let ws = Workspace::new();
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: banner}, data: {text: hello}}";
    let former = manifest.replaced("text: hello", "text: hello, dropped: since");
    ws.stdin(&former).kubectl(["apply", "-f", "-"]).exits_with(0);
    let theirs = json!({"metadata": {"labels": {"theirs": "x"}, "annotations": {"theirs": "y"}, "finalizers": ["example.com/guard"]}});
    ws.patch_as("robot", "configmap/banner", &theirs);
    let nobody = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
    ws.kubectl(["patch", "configmap", "banner", "--type=json", "-p", nobody]).exits_with(0);
    ws.write("banner.yaml", manifest);
    for (changes, writes) in [(vec!["adopted"], 1), (vec![], 0)] {
        for evidence in ["auto", "server", "read-only"] {
            let diff = ws.reconcile(["diff", "-f", ".", &format!("--evidence={evidence}")]).exits_with(0);
            assert_eq!(diff.changes("ConfigMap", "banner"), changes, "{diff}");
        }
        let apply = ws.reconcile(["apply", "-f", ".", "--evidence=server"]).exits_with(0);
        assert_eq!(apply.writes(), writes, "{apply}");
    }
    let live = ws.get("ConfigMap", "banner");
    assert_eq!(live["data"], json!({"text": "hello", "dropped": "since"}));
    let metadata = &live["metadata"];
    assert_eq!(metadata["labels"], theirs["metadata"]["labels"]);
    assert_eq!(metadata["annotations"]["theirs"], "y");
    assert_eq!(metadata["finalizers"], theirs["metadata"]["finalizers"]);
    ws.patch_as("robot", "configmap/banner", &json!({"metadata": {"finalizers": null}}));
}

/// Everybody who may write annotations can forge that copy: what others set is not removed because of it.
#[test]
fn a_copy_that_cannot_be_read_makes_nothing_ours_to_remove() {
    let ws = Workspace::new();
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: banner}, data: {text: hello}}";
    let copy = "kubectl.kubernetes.io/last-applied-configuration=2Gi";
    let nobody = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
    ws.write("banner.yaml", manifest);
    for is_recorded in [true, false] {
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.kubectl(["annotate", "configmap", "banner", "theirs=y", copy]).exits_with(0);
        if !is_recorded {
            ws.kubectl(["patch", "configmap", "banner", "--type=json", "-p", nobody]).exits_with(0);
        }
        for text in ["hello", "changed"] {
            ws.write("banner.yaml", &manifest.replaced("hello", text));
            for _ in 0..2 {
                ws.reconcile(["apply", "-f", ".", "--evidence=server"]).exits_with(0);
                assert_eq!(ws.get("ConfigMap", "banner")["metadata"]["annotations"]["theirs"], "y", "{is_recorded}");
            }
            assert_eq!(ws.reconcile(["apply", "-f", ".", "--evidence=server"]).exits_with(0).writes(), 0);
        }
        ws.kubectl(["delete", "configmap", "banner"]).exits_with(0);
    }
}

/// Who is recorded for all that is in an object without a record owns nothing that a new object has as well.
#[test]
fn what_a_new_object_has_is_nobodys_without_a_record() {
    const MANIFESTS: [(&str, &str, &str, &str); 4] = [
        (
            "limitrange",
            "{apiVersion: v1, kind: LimitRange, metadata: {name: it}, spec: {limits: VALUE}}",
            "null",
            "[{type: Pod, max: {cpu: '2'}}]",
        ),
        (
            "role",
            "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: it}, rules: VALUE}",
            "null",
            "[{apiGroups: [''], resources: [pods], verbs: [get]}]",
        ),
        (
            "networkpolicy",
            "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: it}, spec: {podSelector: VALUE}}",
            "{}",
            "{matchLabels: {app: web}}",
        ),
        // A pointer, which a new object does not have.
        (
            "poddisruptionbudget",
            "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: it}, spec: {selector: VALUE}}",
            "{}",
            "{matchLabels: {app: web}}",
        ),
    ];
    let ws = Workspace::new();
    let nobody = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
    for (kind, manifest, live, wanted) in MANIFESTS {
        ws.stdin(&manifest.replace("VALUE", live)).kubectl(["create", "-f", "-"]).exits_with(0);
        ws.kubectl(["patch", kind, "it", "--type=json", "-p", nobody]).exits_with(0);
        ws.write("it.yaml", &manifest.replace("VALUE", wanted));
        let server = ws.kubectl(["apply", "--server-side", "--dry-run=server", "-f", "it.yaml"]);
        let diff = ws.reconcile(["diff", "-f", ".", "--force-conflicts=none"]).exits_with(1);
        let conflicts = diff.report()["objects"][0]["conflicts"].as_array().map(Vec::len);
        assert_eq!(conflicts, Some(usize::from(kind == "poddisruptionbudget")), "{diff}");
        assert_eq!(server.code == 0, conflicts == Some(0), "{kind}: {server}");
        let apply = ws.reconcile(["apply", "-f", ".", "--force-conflicts=none"]);
        assert_eq!(apply.code, if server.code == 0 { 0 } else { 4 }, "{kind}: {apply}");
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
    }
}

/// After a write through the scale subresource the owner that the server invented has two entries, of which it counts the last.
#[test]
fn of_two_entries_of_one_owner_the_last_counts() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    let nobody = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", nobody]).exits_with(0);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    let replicas = ws.get("Deployment", "web")["spec"]["replicas"].as_u64().unwrap();
    ws.scale("deployment/web", u32::try_from(replicas).unwrap());
    let entries = ws.get("Deployment", "web")["metadata"]["managedFields"].as_array().unwrap().clone();
    let invented = |entry: &&Value| entry["manager"] == "before-first-apply";
    assert_eq!(entries.iter().filter(invented).count(), 2, "{entries:?}");

    ws.write("web.yaml", &WEB.replaced("shop/web:1.2", "shop/web:1.3"));
    let unforced =
        ["apply", "--server-side", "--dry-run=server", "--field-manager=kubectl-reconcile", "-f", "web.yaml"];
    ws.kubectl(unforced).exits_with(1);
    let diff = ws.reconcile(["diff", "-f", "web.yaml", "--force-conflicts=none"]).exits_with(1);
    let paths: Vec<_> = diff.object("Deployment", "web")["conflicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].clone())
        .collect();
    assert_eq!(paths, [json!("spec.template.spec.containers[name=web].image")], "{diff}");
}

/// An apply of the same manifests under another name is refused where the server completes a value that is owned as a whole, and where it
/// writes an amount in another way. The server compares what is sent.
#[test]
fn whether_another_applier_would_be_refused_is_what_the_server_says() {
    const OBJECTS: &str = r"
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: it}, subjects: [{kind: User, name: bob}],
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: it}, spec: {serviceName: it, selector: {matchLabels: {app: it}},
 template: {metadata: {labels: {app: it}}, spec: {containers: [{name: web, image: 'shop/web:1', resources: {limits: {cpu: 1000m}},
  ports: [{containerPort: 80}], env: [{name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}},
 volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {type: NodePort, selector: {app: it}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: it-$NS}, webhooks: [{name: a.example.com,
 clientConfig: {service: {name: it, namespace: nowhere}}, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore,
 rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}]}]}
";
    let ws = Workspace::new();
    ws.write("all.yaml", OBJECTS);
    ws.reconcile(["apply", "-f", "all.yaml"]).exits_with(0);
    let apply =
        ["apply", "--server-side", "--dry-run=server", "--field-manager", "kustomize-controller", "-f", "all.yaml"];
    let refused = ws.kubectl(apply).stderr;
    let of_server: Vec<&str> = refused
        .lines()
        .filter_map(|line| {
            line.strip_prefix("- .").or_else(|| line.split_once("\"kubectl-reconcile\": .").map(|(_, path)| path))
        })
        .collect();
    assert_eq!(of_server.len(), 5, "{refused}");
    let as_other = ["diff", "-f", "all.yaml", "--field-manager", "kustomize-controller", "--force-conflicts=none"];
    for evidence in ["auto", "server", "read-only"] {
        let flags = [&as_other[..], &["--fail-on", "conflict", "--evidence", evidence]].concat();
        let diff = ws.reconcile(flags).exits_with(1);
        let conflicts = diff.objects().iter().flat_map(|object| object["conflicts"].as_array().unwrap());
        let found: Vec<&str> = conflicts.map(|conflict| conflict["path"].as_str().unwrap()).collect();
        let written = of_server.iter().map(|path| path.replace('"', ""));
        let (mut found, mut written) = (found, written.collect::<Vec<_>>());
        found.sort_unstable();
        written.sort_unstable();
        assert_eq!(found, written, "{evidence}: {diff}");
    }
    // Who may take what is only written in another way takes nothing else.
    ws.reconcile(["diff", "-f", "all.yaml", "--field-manager", "kustomize-controller"]).exits_with(0);
    ws.reconcile(["diff", "-f", "all.yaml", "--force-conflicts=none"]).exits_with(0);
    ws.kubectl(["delete", "validatingwebhookconfiguration", "it-$NS"]).exits_with(0);
}

/// Who applied a map that is replaced as a whole owns all of it: each of its parts is named once, as a conflict.
#[test]
fn a_conflict_over_a_whole_value_is_told_with_its_parts_alone() {
    let ws = Workspace::new();
    let service = |name: &str, selector: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: {name}}}, spec: {{selector: {selector}, ports: [{{port: 80}}]}}}}\n"
        )
    };
    let all = |names: &[&str], selector: &str| {
        names.iter().map(|name| service(name, selector)).collect::<Vec<_>>().join("---\n")
    };
    // Three have the change in common, and are told together.
    for names in [&["one"][..], &["a", "b", "c"]] {
        ws.write("it.yaml", &all(names, "{app: ours, more: ours}"));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let theirs = all(names, "{app: theirs, more: theirs}").replace(", ports: [{port: 80}]", "");
        let flags = ["apply", "--server-side", "--force-conflicts", "--field-manager=flux", "-f", "-"];
        ws.stdin(&theirs).kubectl(flags).exits_with(0);
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
        let conflicts = &diff.object("Service", names[0])["conflicts"];
        assert_eq!(
            (conflicts.as_array().unwrap().len(), &conflicts[0]["path"]),
            (1, &json!("spec.selector")),
            "{diff}"
        );
        for format in ["text", "markdown", "html"] {
            for command in ["diff", "apply"] {
                let code = if command == "diff" { 1 } else { 4 };
                let run = ws.reconcile([command, "-f", ".", "-o", format]).exits_with(code);
                assert!(!run.stdout.contains("conflict: "), "{format}: {run}");
                assert!(format != "text" || run.stdout.contains("spec.selector"), "{run}");
            }
        }
    }
}
