//! What autoscalers and injectors change is theirs: not shown as drift, not reset, and everything beside it is still compared.

use serde_json::json;

use crate::control_plane::{ANY_FIELDS, ControlPlane, Replaced, Request, Workspace, base64, definition, wait_until};
use crate::manifests::WEB;

const AUTOSCALER: &str = "
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 4
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
";

fn replicas(ws: &Workspace) -> i64 {
    ws.get("Deployment", "web")["spec"]["replicas"].as_i64().unwrap()
}

/// Nothing is shown, an apply writes nothing, and the replicas stay.
#[track_caller]
fn is_left_alone(ws: &Workspace, replicas_now: i64) {
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("Deployment", "web"), [""; 0], "{diff}");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.writes(), 0, "{apply}");
    assert_eq!(replicas(ws), replicas_now);
}

#[test]
fn what_a_running_autoscaler_changes_is_its_own_and_drift_beside_it_heals() {
    let ws = Workspace::on(&ControlPlane::full());
    ws.write("web.yaml", WEB);
    ws.write("autoscaler.yaml", AUTOSCALER);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    wait_until("the autoscaler scales to its minimum", || replicas(&ws) == 4);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let ignored = &diff.object("Deployment", "web")["ignored"][0];
    assert_eq!(ignored["rule"], format!("HorizontalPodAutoscaler {}/web", ws.namespace()), "{diff}");
    assert_eq!(ignored["paths"], json!(["spec.replicas"]));
    is_left_alone(&ws, 4);

    ws.patch_as("kubectl-edit", "deployment/web", &json!({"metadata": {"labels": {"tier": "theirs"}}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther metadata.labels.tier"], "{diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    is_left_alone(&ws, 4);

    let ignoring = ws.reconcile(["diff", "-f", ".", "--autoscalers=ignore"]).exits_with(1);
    assert_eq!(ignoring.changes("Deployment", "web"), ["conflict spec.replicas"], "{ignoring}");
}

#[test]
fn the_first_apply_leaves_the_replicas_of_a_workload_that_is_scaled_already() {
    let ws = Workspace::new();
    ws.kubectl(["apply", "-f", ws.write("old.yml", WEB).to_str().unwrap()]).exits_with(0);
    std::fs::remove_file(ws.folder().join("old.yml")).unwrap();
    ws.apply_as("platform", AUTOSCALER);
    ws.scale("deployment/web", 7);
    ws.write("web.yaml", &WEB.replaced("image: shop/web:1.2", "image: shop/web:1.3"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(
        diff.changes("Deployment", "web"),
        ["pending spec.template.spec.containers[name=web].image"],
        "the autoscaler is not in the input: {diff}"
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    is_left_alone(&ws, 7);
}

#[test]
fn an_autoscaler_that_is_only_in_the_input_counts_for_what_exists() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 7);
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.write("autoscaler.yaml", AUTOSCALER);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Deployment", "web")["action"], "none", "{apply}");
    is_left_alone(&ws, 7);
}

/// Until it is gone, the autoscaler would set them again.
#[test]
fn replicas_that_are_left_to_an_autoscaler_which_is_pruned_are_told() {
    let ws = Workspace::new();
    let prune = |command| ws.reconcile([command, "-f", ".", "--prune", "--applyset=web"]);
    ws.write("web.yaml", WEB);
    let autoscaler = ws.write("autoscaler.yaml", AUTOSCALER);
    prune("apply").exits_with(0);
    ws.scale("deployment/web", 4);
    std::fs::remove_file(autoscaler).unwrap();
    let warning = ws.fill_in(
        "Deployment $NS/web: HorizontalPodAutoscaler $NS/web is deleted. The next apply sets these fields: `spec.replicas`",
    );
    for (command, code) in [("diff", 1), ("apply", 0)] {
        let run = prune(command).exits_with(code);
        assert_eq!(run.report()["warnings"], json!([warning]), "{run}");
    }
    assert_eq!(replicas(&ws), 4);
    assert_eq!(prune("apply").exits_with(0).report().get("warnings"), None);
    assert_eq!(replicas(&ws), 2);
}

/// Nobody takes the claim of its controller away.
#[test]
fn the_controller_of_an_autoscaler_which_is_pruned_is_named_with_the_flag_that_takes_its_field() {
    let ws = Workspace::new();
    let prune = |command| ws.reconcile([command, "-f", ".", "--prune", "--applyset=web"]);
    ws.write("web.yaml", WEB);
    let autoscaler = ws.write("autoscaler.yaml", AUTOSCALER);
    prune("apply").exits_with(0);
    let scale = ["patch", "deployment/web", "--subresource=scale", "--type=merge"];
    let manager = ["--field-manager=kube-controller-manager", "-p", r#"{"spec": {"replicas": 6}}"#];
    ws.kubectl([&scale[..], &manager].concat()).exits_with(0);
    std::fs::remove_file(autoscaler).unwrap();
    for (command, code) in [("diff", 1), ("apply", 0)] {
        let warnings = prune(command).exits_with(code).report()["warnings"].to_string();
        assert!(warnings.contains("`kube-controller-manager` still owns these fields"), "{warnings}");
    }
    assert_eq!(prune("apply").exits_with(4).object("Deployment", "web")["outcome"], "conflict");
    ws.reconcile(["apply", "-f", ".", "--prune", "--applyset=web", "--force-conflicts"]).exits_with(0);
    assert_eq!(replicas(&ws), 2);
}

#[test]
fn a_workload_that_somebody_scaled_to_zero_has_drifted() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.write("autoscaler.yaml", AUTOSCALER);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    // The server records no owner of a zero that was set by `scale`.
    assert_eq!(diff.changes("Deployment", "web"), ["unrecorded spec.replicas"], "the autoscaler does nothing: {diff}");
}

#[test]
fn without_the_right_to_list_autoscalers_their_changes_are_shown_with_a_warning() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.apply_as("platform", AUTOSCALER);
    ws.scale("deployment/web", 7);
    ws.allow("limited", "get,list,patch", "deployments.apps");
    let diff = ws.as_user("limited").reconcile(["diff", "-f", "."]).exits_with(1);
    let warnings = diff.report()["warnings"].to_string();
    let permission = format!("`list` on `horizontalpodautoscalers.autoscaling` in the namespace `{}`", ws.namespace());
    assert!(
        warnings.contains("HorizontalPodAutoscalers cannot be listed, so that their changes are shown as drift"),
        "{warnings}"
    );
    assert!(warnings.contains(&permission), "{warnings}");
    ws.scale("deployment/web", 2);
    let equal = ws.as_user("limited").reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(equal.report().get("warnings"), None, "nothing differs: {equal}");
    ws.scale("deployment/web", 7);
    let quiet = ws.as_user("limited").reconcile(["diff", "-f", ".", "--autoscalers=ignore"]).exits_with(1);
    assert_eq!(quiet.report().get("warnings"), None, "{quiet}");
    // The autoscaler of the input is known without a list, and its changes are left alone.
    ws.write("autoscaler.yaml", AUTOSCALER);
    ws.allow("limited", "get,patch", "horizontalpodautoscalers.autoscaling");
    let known = ws.as_user("limited").reconcile(["diff", "-f", "."]);
    assert_eq!(known.changes("Deployment", "web"), [""; 0], "{known}");
    assert!(!known.report().to_string().contains("shown as drift"), "{known}");
}

#[test]
fn a_certificate_authority_that_is_injected_is_not_drift() {
    let ws = Workspace::new();
    let name = format!("hook-{}", ws.namespace());
    let hook = format!(
        "{{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {{name: {name}}},
        webhooks: [{{name: a.example.com, clientConfig: {{url: 'https://localhost/', caBundle: Cg==}}, failurePolicy: Ignore,
        sideEffects: None, admissionReviewVersions: [v1], rules: [], matchPolicy: Exact}}]}}"
    );
    ws.write("hook.yaml", &hook);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let inject = |manager: &str, bundle: &str| {
        let patch = json!({"webhooks": [{"name": "a.example.com", "clientConfig": {"caBundle": bundle}}]}).to_string();
        let object = format!("validatingwebhookconfiguration/{name}");
        ws.kubectl(["patch", &object, "--type=strategic", "--field-manager", manager, "-p", &patch]).exits_with(0);
    };
    inject("cert-manager-cainjector", "Qg==");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object("ValidatingWebhookConfiguration", &name)["ignored"][0]["rule"], "built in", "{diff}");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.writes(), 0, "{apply}");
    // A webhook that injects its own certificate has a name that nobody knows.
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    inject("webhook-of-my-own", "RA==");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    inject("kubectl-patch", "Qw==");
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.delete(&format!("validatingwebhookconfiguration/{name}"));
}

/// The name of a field manager is anybody's choice, so it does not decide whom the API server trusts.
#[test]
fn a_certificate_authority_that_the_manifest_sets_is_compared_unless_it_asks_for_injection() {
    let ws = Workspace::new();
    let name = format!("pinned-{}", ws.namespace());
    let hook = |annotations: &str| {
        format!(
            "{{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration,
            metadata: {{name: {name}, annotations: {{{annotations}}}}},
            webhooks: [{{name: a.example.com, clientConfig: {{url: 'https://localhost/', caBundle: {}}}, failurePolicy: Ignore,
            sideEffects: None, admissionReviewVersions: [v1], rules: [], matchPolicy: Exact}}]}}",
            bundle("ours")
        )
    };
    ws.write("hook.yaml", &hook(""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let patch =
        json!({"webhooks": [{"name": "a.example.com", "clientConfig": {"caBundle": bundle("theirs")}}]}).to_string();
    let object = format!("validatingwebhookconfiguration/{name}");
    ws.kubectl(["patch", &object, "--type=strategic", "--field-manager=cainjector", "-p", &patch]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(
        diff.changes("ValidatingWebhookConfiguration", &name),
        ["conflict webhooks[name=a.example.com].clientConfig.caBundle"]
    );
    ws.write("hook.yaml", &hook("cert-manager.io/inject-ca-from: shop/serving"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object("ValidatingWebhookConfiguration", &name)["ignored"][0]["rule"], "built in", "{diff}");
    ws.delete(&object);
}

/// A bundle that has the form of a certificate, which is all that the API server looks at here.
fn bundle(text: &str) -> String {
    base64(format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", base64(text.as_bytes())).as_bytes())
}

/// The kinds of KEDA and of the vertical autoscaler, as far as they matter here.
fn other_kinds() -> String {
    let scaled_object = definition("ScaledObject", ANY_FIELDS)
        .replaced("$NS.example.com", "keda.sh")
        .replaced("name: v1", "name: v1alpha1");
    let approved = "autoscaling.k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}";
    let vertical = definition("VerticalPodAutoscaler", ANY_FIELDS)
        .replaced("$NS.example.com}", approved)
        .replaced("$NS.example.com", "autoscaling.k8s.io");
    [scaled_object, vertical].join("---\n")
}

#[test]
fn keda_and_the_vertical_autoscaler_are_left_alone_as_well() {
    // A server of its own: everybody's workloads would be looked for in these kinds.
    let ws = Workspace::on(&ControlPlane::private());
    ws.stdin(&other_kinds()).reconcile(["apply", "-f", "-", "--wait"]).exits_with(0);
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 0);
    let resources = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "web", "resources": {"requests": {"cpu": "300m", "memory": "64Mi"}}},
    ]}}}});
    let recommend = |manager: &str| {
        let patch = ["patch", "deployment", "web", "--type=strategic", "--field-manager", manager, "-p"];
        ws.kubectl([&patch[..], &[resources.to_string().as_str()]].concat()).exits_with(0);
    };
    recommend("vpa-updater");
    let cpu = "spec.template.spec.containers[name=web].resources.requests.cpu";
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(
        diff.changes("Deployment", "web"),
        ["unrecorded spec.replicas".to_owned(), format!("conflict {cpu}")],
        "{diff}"
    );

    // KEDA turns a workload off and on again.
    let scaled = "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: web}, spec: {scaleTargetRef: {name: web}}}";
    ws.apply_as("platform", scaled);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), [format!("conflict {cpu}")], "{diff}");
    assert_eq!(diff.object("Deployment", "web")["ignored"][0]["rule"], format!("ScaledObject {}/web", ws.namespace()));

    let vertical = "{apiVersion: autoscaling.k8s.io/v1, kind: VerticalPodAutoscaler, metadata: {name: web},
        spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, updatePolicy: {updateMode: MODE}}}";
    ws.apply_as("platform", &vertical.replaced("MODE", "'Off'"));
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.apply_as("platform", &vertical.replaced("MODE", "Auto"));
    is_left_alone(&ws, 0);
    let requests = || {
        ws.get("Deployment", "web")["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"].clone()
    };
    assert_eq!(requests(), "300m");

    // What a person changes there is drift all the same.
    recommend_other(&ws);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), [format!("changedByOther {cpu}")], "{diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(requests(), "100m");
}

/// A person sets the request of a container.
fn recommend_other(ws: &Workspace) {
    ws.kubectl(["set", "resources", "deployment/web", "-c=web", "--requests=cpu=700m,memory=64Mi"]).exits_with(0);
}

/// The lists of autoscalers among requests.
fn lists_of_autoscalers(requests: &[Request]) -> usize {
    requests.iter().filter(|request| request.uri.contains("horizontalpodautoscalers")).count()
}

/// The usual way to hand the replicas to an autoscaler: the manifest no longer has them. The autoscaler is only in the cluster.
#[test]
fn replicas_that_leave_the_manifest_stay_with_the_autoscaler_in_the_cluster() {
    let without = WEB.replaced("  replicas: 2\n", "");
    for write in [&["reconcile", "apply"][..], &["apply"]] {
        let ws = Workspace::new();
        ws.write("web.yaml", WEB);
        match write {
            ["apply"] => ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0),
            _ => ws.reconcile(["apply", "-f", "."]).exits_with(0),
        };
        ws.write("web.yaml", &without);
        let dropped = ws.reconcile(["diff", "-f", "."]).exits_with(1);
        assert_eq!(dropped.changes("Deployment", "web"), ["pruned spec.replicas"], "without an autoscaler: {dropped}");
        ws.apply_as("platform", AUTOSCALER);
        let diff = ws.reconcile(["diff", "-f", "."]);
        assert!(!diff.report().to_string().contains("pruned"), "{write:?} {diff}");
        let ignored = &diff.object("Deployment", "web")["ignored"][0];
        assert_eq!(ignored["rule"], format!("HorizontalPodAutoscaler {}/web", ws.namespace()), "{write:?} {diff}");
        for _ in 0..2 {
            ws.reconcile(["apply", "-f", "."]).exits_with(0);
            assert_eq!(replicas(&ws), 2, "{write:?}");
        }
        is_left_alone(&ws, 2);
        let ignoring = ws.reconcile(["diff", "-f", ".", "--autoscalers=ignore"]).exits_with(1);
        assert_eq!(ignoring.changes("Deployment", "web"), ["pruned spec.replicas"], "{ignoring}");
        // The autoscaler scales: the replicas are its own, and it need not be looked for any more.
        ws.scale("deployment/web", 7);
        let (diff, requests) = ws.requests_during(|| ws.reconcile(["diff", "-f", "."]).exits_with(0));
        assert_eq!(lists_of_autoscalers(&requests), 0, "{diff} {requests:?}");
        is_left_alone(&ws, 7);
    }
}

#[test]
fn a_workload_that_never_had_replicas_needs_no_list_of_autoscalers() {
    let ws = Workspace::new();
    let without = WEB.replaced("  replicas: 2\n", "");
    ws.write("web.yaml", &without);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for (manifest, code) in [(without.clone(), 0), (without.replaced("web:1.2", "web:1.3"), 1)] {
        ws.write("web.yaml", &manifest);
        let (diff, requests) = ws.requests_during(|| ws.reconcile(["diff", "-f", "."]).exits_with(code));
        assert_eq!(lists_of_autoscalers(&requests), 0, "{diff} {requests:?}");
    }
}

#[test]
fn without_the_right_to_list_autoscalers_dropped_replicas_come_with_a_warning() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.apply_as("platform", AUTOSCALER);
    ws.write("web.yaml", &WEB.replaced("  replicas: 2\n", ""));
    ws.allow("limited", "get,list,patch", "deployments.apps");
    let diff = ws.as_user("limited").reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["pruned spec.replicas"], "{diff}");
    let warnings = diff.report()["warnings"].to_string();
    assert!(warnings.contains("HorizontalPodAutoscalers cannot be listed"), "{warnings}");
    ws.write("autoscaler.yaml", AUTOSCALER);
    ws.allow("limited", "get,patch", "horizontalpodautoscalers.autoscaling");
    let known = ws.as_user("limited").reconcile(["diff", "-f", "."]);
    assert_eq!(known.changes("Deployment", "web"), [""; 0], "{known}");
    assert!(!known.report().to_string().contains("shown as drift"), "{known}");
}
