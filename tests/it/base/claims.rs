//! Whose change it is where a map was empty, where one is replaced as a whole, and where the server had set a default.

use serde_json::{Value, json};

use crate::control_plane::{Replaced as _, Run, Workspace};
use crate::manifests::WEB;

const CPU: &str = "resources.limits.cpu";

fn web(resources: &str) -> String {
    WEB.replaced("resources: {requests: {cpu: 100m, memory: 64Mi}}", resources)
}

/// The class and the side of a change.
fn of(run: &Run, kind: &str, name: &str, path: &str) -> (Value, Value) {
    let change = run.change(kind, name, path);
    (change["class"].clone(), change["side"].clone())
}

/// A chart that has `resources: {}`, and somebody who set a limit by hand.
#[test]
fn an_empty_map_of_the_base_has_nothing_of_what_a_hand_put_into_it() {
    for empty in ["resources: {}", "resources:"] {
        let ws = Workspace::new();
        ws.write("old/web.yaml", &web(empty));
        ws.write("new/web.yaml", &web("resources: {limits: {cpu: 500m}}"));
        ws.reconcile(["apply", "-f", "old"]).exits_with(0);
        ws.kubectl(["set", "resources", "deployment/web", "--limits=cpu=4"]).exits_with(0);
        let path = format!("spec.template.spec.containers[name=web].{CPU}");
        let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "both"]).exits_with(1);
        assert_eq!(of(&diff, "Deployment", "web", &path), (json!("changedByOther"), json!("both")), "{empty}: {diff}");
        assert!(diff.stdout.contains("overwrites kubectl-set"), "{diff}");
        for gate in ["cluster,either", "manual"] {
            ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", gate]).exits_with(1);
        }
        ws.reconcile(["apply", "-f", "new", "--base", "old", "--only", "manifest"]).exits_with(0);
        assert_eq!(
            ws.get("Deployment", "web").pointer("/spec/template/spec/containers/0/resources/limits/cpu"),
            Some(&json!("4"))
        );
    }
}

/// kubectl writes `annotations: {}` into its copy of each manifest that has none.
#[test]
fn an_empty_map_of_the_last_apply_has_nothing_of_what_a_hand_put_into_it() {
    let map = |annotations: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it{annotations}}}, data: {{a: b}}}}\n")
    };
    let ws = Workspace::new();
    ws.write("it.yaml", &map(""));
    ws.kubectl(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.write("it.yaml", &map(", annotations: {team: dev}"));
    let new = ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(1);
    assert_eq!(
        of(&new, "ConfigMap", "it", "metadata.annotations.team"),
        (json!("pending"), json!("manifest")),
        "{new}"
    );
    ws.kubectl(["annotate", "configmap/it", "team=ops"]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "it.yaml", "--fail-on", "cluster"]).exits_with(1);
    let change = diff.change("ConfigMap", "it", "metadata.annotations.team");
    assert_eq!(
        (&change["class"], &change["managers"][0]["manager"]),
        (&json!("changedByOther"), &json!("kubectl-annotate"))
    );
}

const SERVICE: &str = "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {selector: {app: x, tier: web}, ports: [{port: 80}]}}\n";

/// The owner of a `selector` owns all of it, also what it has taken out.
#[test]
fn who_wrote_a_map_as_a_whole_has_left_out_what_it_lacks() {
    let ws = Workspace::new();
    ws.write("it.yaml", SERVICE);
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    let removal = json!([{"op": "remove", "path": "/spec/selector/tier"}]).to_string();
    ws.kubectl(["patch", "service/it", "--type=json", "-p", &removal]).exits_with(0);
    ws.write("old/it.yaml", SERVICE);
    for (gate, base) in
        [("cluster", &[][..]), ("manual", &[]), ("cluster", &["--base", "old"]), ("manual", &["--base", "old"])]
    {
        let diff = ws.reconcile([&["diff", "-f", "it.yaml", "--fail-on", gate], base].concat()).exits_with(1);
        let found = of(&diff, "Service", "it", "spec.selector.tier");
        assert_eq!(found, (json!("changedByOther"), json!("cluster")), "{diff}");
        assert!(diff.stdout.contains("+ spec.selector.tier: web  left out by kubectl-patch"), "{diff}");
    }
    ws.write("pulled.yaml", SERVICE);
    ws.reconcile(["pull", "-f", "pulled.yaml"]).exits_with(0);
    let pulled = std::fs::read_to_string(ws.folder().join("pulled.yaml")).unwrap();
    assert!(pulled.contains("selector: {app: x}"), "{pulled}");
    ws.reconcile(["apply", "-f", "it.yaml", "--only", "cluster"]).exits_with(0);
    assert_eq!(ws.get("Service", "it")["spec"]["selector"]["tier"], "web");
}

/// Nobody has touched the map since client-side apply wrote it.
#[test]
fn what_is_new_in_a_map_of_the_last_apply_is_of_the_manifest() {
    let ws = Workspace::new();
    ws.write("it.yaml", &SERVICE.replaced(", tier: web", ""));
    ws.kubectl(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.write("it.yaml", SERVICE);
    let diff = ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(1);
    assert_eq!(of(&diff, "Service", "it", "spec.selector.tier"), (json!("pending"), json!("manifest")), "{diff}");
}

/// Helm 3 owns the defaults of the objects that it created.
#[test]
fn a_value_in_place_of_a_default_is_of_the_manifest_though_it_is_the_default_of_others() {
    let ws = Workspace::new();
    ws.write("old/web.yaml", WEB);
    ws.write(
        "new/web.yaml",
        &WEB.replaced("image: shop/web:1.2", "image: shop/web:1.2\n        imagePullPolicy: Always"),
    );
    ws.kubectl(["create", "--field-manager=helm", "-f", "old/web.yaml"]).exits_with(0);
    let path = "spec.template.spec.containers[name=web].imagePullPolicy";
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "manifest"]).exits_with(1);
    assert_eq!(diff.change("Deployment", "web", path)["side"], "manifest", "{diff}");
    ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "cluster,either"]).exits_with(0);
}

/// The server set it with what somebody chose, and takes it out with that.
#[test]
fn what_goes_with_a_hand_edit_is_not_overwritten_by_a_change_elsewhere() {
    let service = |labels: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: it{labels}}}, spec: {{sessionAffinity: None, ports: [{{port: 80}}]}}}}\n"
        )
    };
    let ws = Workspace::new();
    ws.write("old/it.yaml", &service(""));
    ws.write("new/it.yaml", &service(", labels: {r: v2}"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.kubectl(["patch", "service/it", "-p", r#"{"spec": {"sessionAffinity": "ClientIP"}}"#]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "both"]).exits_with(0);
    assert_eq!(diff.change("Service", "it", "spec.sessionAffinityConfig")["side"], "cluster", "{diff}");
}
