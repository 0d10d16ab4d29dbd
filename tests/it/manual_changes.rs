//! Changes by hand that the server would not accept together with the manifest: they go with the apply. And those that it accepts
//! and nobody asked for: they are counted.

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Fault, Proxy, Replaced, Run, Workspace, definition, is_before};
use crate::manifests::WEB;

const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80, targetPort: 8080}
";

const POD: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  strategy: {type: Recreate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      volumes: [{name: data, emptyDir: {}}]
      containers:
      - name: web
        image: shop/web:1
        env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        ports: [{name: http, containerPort: 8080}]
        livenessProbe: {httpGet: {port: 8080}}
        volumeMounts: [{name: data, mountPath: /data}]
";

fn patched(ws: &Workspace, object: &str, patch: &Value) {
    ws.kubectl(["patch", object, "--type=json", "-p", &patch.to_string()]).exits_with(0);
}

/// The difference is an update, applying it brings the values back, and then there is nothing more to do.
#[track_caller]
fn heals(ws: &Workspace, kind: &str, before: &Value) -> Run {
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object(kind, "web")["action"], "update", "{diff}");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object(kind, "web")["outcome"], "updated", "{apply}");
    assert_eq!(ws.get(kind, "web")["spec"], *before, "{apply}");
    let after = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(
        (&after.report()["summary"]["proven"], &after.report()["summary"]["addedItems"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    diff
}

#[test]
fn a_node_port_that_is_left_to_the_server_stays_where_a_name_is_put_right() {
    let ws = Workspace::new();
    let ports = "- {name: http, port: 80, targetPort: 8080, nodePort: null}\n  - {name: dns, port: 53, protocol: UDP, nodePort: }";
    let service = SERVICE.replace("- {name: http, port: 80, targetPort: 8080}", ports);
    for kind in ["NodePort", "LoadBalancer"] {
        ws.write("web.yaml", &service.replace("spec:\n", &format!("spec:\n  type: {kind}\n")));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let before = ws.get("Service", "web")["spec"].clone();
        assert_eq!(ws.reconcile(["diff", "-f", "."]).exits_with(0).report()["summary"]["proven"], 1);
        patched(&ws, "service/web", &json!([{"op": "replace", "path": "/spec/ports/0/name", "value": "web"}]));
        let diff = heals(&ws, "Service", &before);
        assert_eq!(diff.changes("Service", "web"), ["changedByOther spec.ports[port=80,protocol=TCP].name"], "{diff}");
    }
    // Without node ports there is nothing to keep.
    ws.write("web.yaml", &service);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let ports = ws.get("Service", "web")["spec"]["ports"].clone();
    assert!(ports.as_array().unwrap().iter().all(|port| port.get("nodePort").is_none()), "{ports}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_port_that_was_edited_by_hand_heals() {
    let named = SERVICE.to_owned();
    let unnamed = SERVICE.replaced("name: http, ", "");
    for manifest in [named, unnamed] {
        let ws = Workspace::new();
        ws.write("web.yaml", &manifest);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let before = ws.get("Service", "web")["spec"].clone();
        patched(&ws, "service/web", &json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]));
        let diff = heals(&ws, "Service", &before);
        let item = |port: u32| format!("spec.ports[port={port},protocol=TCP]");
        assert_eq!(
            diff.changes("Service", "web"),
            [format!("absent {}", item(80)), format!("changedByOther {}", item(81))]
        );
        let foreign = diff.change("Service", "web", &item(81));
        assert_eq!((&foreign["op"], &foreign["managers"][0]["manager"]), (&json!("remove"), &json!("kubectl-patch")));
        assert_eq!(diff.change("Service", "web", &item(80))["op"], "add");
    }
}

/// The server refuses the apply while the edit stands, so that a patch is tried; meanwhile somebody else writes.
#[test]
fn an_edit_heals_although_the_object_changes_while_the_server_is_asked() {
    let ws = Workspace::new();
    ws.write("web.yaml", SERVICE);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    patched(&ws, "service/web", &json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]));
    let proxy = Proxy::new(&ws);
    let changed = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Conflict", "code": 409,
        "message": "the object has been modified"});
    let headers = vec![("content-type", "application/json".to_owned())];
    proxy.inject(1, "PATCH", "services dryRun !force", Fault::Answer(409, headers, changed.to_string()));
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Service", "web")["action"], "update", "{diff}");
    let trials =
        proxy.requests().iter().filter(|request| request.starts_with("PATCH") && !request.contains("force")).count();
    // The second one is accepted, and the third one shows that nothing less is.
    assert_eq!(trials, 3, "{:#?}", proxy.requests());
}

#[test]
fn a_port_of_an_object_that_is_wholly_in_hands_heals() {
    for how in ["create", "apply"] {
        let ws = Workspace::new();
        ws.write("web.yaml", SERVICE);
        ws.kubectl([how, "-f", "web.yaml"]).exits_with(0);
        let before = ws.get("Service", "web")["spec"].clone();
        patched(&ws, "service/web", &json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]));
        heals(&ws, "Service", &before);
    }
}

#[test]
fn whatever_hands_put_in_the_way_of_a_deployment_goes() {
    let container = "/spec/template/spec/containers/0";
    let replace = |path: &str, value: Value| json!([{"op": "replace", "path": path, "value": value}]);
    for patch in [
        replace(&format!("{container}/ports/0/containerPort"), json!(8081)),
        replace(&format!("{container}/env/0"), json!({"name": "A", "value": "by hand"})),
        replace("/spec/template/spec/volumes/0", json!({"name": "data", "hostPath": {"path": "/x"}})),
        replace(&format!("{container}/livenessProbe"), json!({"tcpSocket": {"port": 8080}})),
        replace("/spec/strategy", json!({"type": "RollingUpdate"})),
    ] {
        let ws = Workspace::new();
        ws.write("web.yaml", POD);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let before = ws.get("Deployment", "web")["spec"].clone();
        patched(&ws, "deployment/web", &patch);
        heals(&ws, "Deployment", &before);
    }
}

/// Fields that exclude each other, each with its manifest, what somebody makes of the object, and what stays of it.
const EXCLUSIVE: [(&str, &str, &str); 6] = [
    (
        "PodDisruptionBudget",
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}}",
        r#"{"spec": {"minAvailable": null, "maxUnavailable": 2, "unhealthyPodEvictionPolicy": "AlwaysAllow"}}"#,
    ),
    (
        "Job",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {suspend: true, template: {spec: {restartPolicy: Never,
          containers: [{name: a, image: 'a:1', env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}}}}",
        r#"{"spec": {"ttlSecondsAfterFinished": 5}}"#,
    ),
    (
        "Ingress",
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {defaultBackend: {service: {name: a, port: {name: http}}}}}",
        r#"{"spec": {"defaultBackend": {"service": {"port": {"name": null, "number": 80}}}}}"#,
    ),
    (
        "PersistentVolume",
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAME}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: a, hostPath: {path: /a}}}",
        r#"{"spec": {"persistentVolumeReclaimPolicy": "Delete"}}"#,
    ),
    (
        "Deployment",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
          spec: {volumes: [{name: v, configMap: {name: c}}], containers: [{name: a, image: 'a:1', livenessProbe: {httpGet: {port: 1}}}]}}}}",
        r#"{"spec": {"template": {"spec": {"volumes": [{"name": "v", "configMap": null, "secret": {"secretName": "s"}}],
          "containers": [{"name": "a", "livenessProbe": {"httpGet": null, "tcpSocket": {"port": 1}}}]}}}}"#,
    ),
    (
        "HorizontalPodAutoscaler",
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a},
          metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}}",
        r#"{"spec": {"minReplicas": 2}}"#,
    ),
];

#[test]
fn what_excludes_a_field_of_the_manifest_goes_whatever_the_server_says() {
    for (kind, manifest, patch) in EXCLUSIVE {
        if kind == "Ingress" && is_before(31, "the port of an Ingress is recorded field by field") {
            continue;
        }
        let ws = Workspace::new();
        let name = if kind == "PersistentVolume" { ws.namespace() } else { "web" };
        ws.write("web.yaml", &manifest.replace("NAME", name));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let flags = if kind == "Deployment" { "--type=strategic" } else { "--type=merge" };
        ws.kubectl(["patch", kind, name, flags, "-p", patch]).exits_with(0);
        let diff = ws.reconcile(["diff", "-f", "."]);
        assert!(diff.code < 2, "{diff}");
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
        if kind == "PodDisruptionBudget" {
            let spec = ws.get(kind, name)["spec"].clone();
            assert_eq!((&spec["minAvailable"], spec.get("maxUnavailable")), (&json!(1), None));
            assert_eq!(spec["unhealthyPodEvictionPolicy"], "AlwaysAllow", "it excludes nothing");
        }
    }
}

#[test]
fn a_field_of_a_controller_that_excludes_one_is_named_and_taken_if_forced() {
    let env = "{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}";
    let manifest = format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}},
          spec: {{containers: [{{name: a, image: 'a:1', env: [{env}]}}]}}}}}}}}"
    );
    let budget = "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}}";
    let value = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/env/0", "value": {"name": "A", "value": "x"}}]);
    let most = json!([{"op": "remove", "path": "/spec/minAvailable"}, {"op": "add", "path": "/spec/maxUnavailable", "value": 2}]);
    for (kind, text, patch) in [("Deployment", manifest.as_str(), value), ("PodDisruptionBudget", budget, most)] {
        let ws = Workspace::new();
        ws.write("web.yaml", text);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let patch = patch.to_string();
        ws.kubectl(["patch", kind, "web", "--type=json", "--field-manager=some-operator", "-p", &patch]).exits_with(0);
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
        let hint = diff.object(kind, "web")["error"]["hint"].as_str().unwrap_or_default().to_owned();
        assert!(hint.contains("`some-operator`") && hint.contains("`--force-conflicts`"), "{diff}");
        ws.reconcile(["apply", "-f", "."]).exits_with(4);
        assert_eq!(
            ws.reconcile(["diff", "-f", ".", "--force-conflicts"]).exits_with(1).object(kind, "web")["action"],
            "update"
        );
        ws.reconcile(["apply", "-f", ".", "--force-conflicts"]).exits_with(0);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
    }
}

/// The server blames the request and the list of references, which the manifest has.
#[test]
fn a_limit_below_the_request_and_a_second_controller_go() {
    let deployment =
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}},
      template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: 'a:1' RESOURCES}]}}}}";
    let ws = Workspace::new();
    ws.write("web.yaml", &deployment.replaced("RESOURCES", ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["set", "resources", "deployment/web", "--limits=memory=64Mi"]).exits_with(0);
    ws.write("web.yaml", &deployment.replaced("RESOURCES", ", resources: {requests: {memory: 128Mi}}"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert!(diff.stdout.contains("limits"), "{diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let container = || ws.get("Deployment", "web")["spec"]["template"]["spec"]["containers"][0].clone();
    assert_eq!(container()["resources"], json!({"requests": {"memory": "128Mi"}}));
    ws.reconcile(["diff", "-f", "."]).exits_with(0);

    let ws = Workspace::new();
    let reference = |name: &str, uid: u8| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": format!("00000000-0000-4000-8000-0000000000{uid:02}"), "controller": true});
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "ownerReferences": [reference("a", 1)]}});
    ws.write("web.yaml", &config.to_string());
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let patch = |flags: &[&str]| {
        let patch = json!({"metadata": {"ownerReferences": [reference("b", 2)]}}).to_string();
        let args = [&["patch", "configmap/web", "--type=merge", "-p", patch.as_str()], flags].concat();
        ws.kubectl(args).exits_with(0);
    };
    patch(&[]);
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "web")["metadata"]["ownerReferences"], json!([reference("a", 1)]));
    patch(&["--field-manager=some-operator"]);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let error = &diff.object("ConfigMap", "web")["error"];
    assert_eq!(error.get("mistakes"), None, "{diff}");
    assert!(error["hint"].as_str().unwrap().contains("`some-operator`"), "{diff}");
}

/// The most common change of a strategy. The server refuses it beside the default that it set itself.
#[test]
fn a_default_that_excludes_a_field_of_the_manifest_goes_in_one_apply() {
    let deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {STRATEGY selector: {matchLabels: {a: b}},
      template: {metadata: {labels: {a: b}}, spec: {VOLUMES containers: [{name: a, image: 'a:1'}]}}}}";
    let with = |strategy: &str, volumes: &str| deployment.replaced("STRATEGY", strategy).replaced("VOLUMES", volumes);
    let volume = "volumes: [{name: v}],";
    for (before, after) in [
        (with("", ""), with("strategy: {type: Recreate},", "")),
        (with("", ""), with("strategy: {type: Recreate, rollingUpdate: null},", "")),
        (with("strategy: {type: RollingUpdate},", ""), with("strategy: {type: Recreate},", "")),
        (with("", volume), with("", "volumes: [{name: v, configMap: {name: c}}],")),
    ] {
        let ws = Workspace::new();
        ws.write("web.yaml", &before);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.write("web.yaml", &after);
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
        assert_eq!(diff.object("Deployment", "web")["action"], "update", "{diff}");
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
        let spec = ws.get("Deployment", "web")["spec"].clone();
        if after.contains("Recreate") {
            assert_eq!(spec["strategy"], json!({"type": "Recreate"}));
        }
    }
}

#[test]
fn what_others_than_hands_put_in_the_way_is_no_mistake_of_the_manifest() {
    let ws = Workspace::new();
    ws.write("web.yaml", SERVICE);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let patch = json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]).to_string();
    let by = |manager: &str| {
        ws.kubectl(["patch", "service/web", "--type=json", "--field-manager", manager, "-p", &patch]).exits_with(0);
    };
    by("robot");
    let before = ws.all_resource_versions();
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let error = &diff.object("Service", "web")["error"];
    assert_eq!(error.get("mistakes"), None, "{diff}");
    assert!(diff.stdout.contains("cannot compare: the server would refuse the result: "), "{diff}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("`spec.ports[port=81,protocol=TCP]` (set by `robot`)"), "{hint}");
    ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(ws.all_resource_versions(), before);
    // Nor is it where nothing may be taken from manual managers.
    ws.write("web.yaml", &SERVICE.replaced("name: http, ", ""));
    let diff = ws.reconcile(["diff", "-f", ".", "--force-conflicts=none"]).exits_with(4);
    assert_eq!(diff.object("Service", "web")["error"].get("mistakes"), None, "{diff}");
    // A mistake of the manifest itself stays one, at its place.
    ws.write("web.yaml", &SERVICE.replaced("targetPort: 8080", "targetPort: 808000"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    assert!(diff.stdout.contains("a mistake in the manifest"), "{diff}");
    assert!(diff.stdout.contains("web.yaml:8:40"), "{diff}");
}

#[test]
fn a_version_that_objects_may_be_stored_in_is_to_be_kept() {
    let ws = Workspace::new();
    let widget = definition("Widget", ANY_FIELDS);
    ws.write("crd.yaml", &widget.replaced("name: v1\n", "name: v1beta1\n"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("crd.yaml", &widget);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let error = &diff.object("CustomResourceDefinition", &ws.fill_in("widgets.$NS.example.com"))["error"];
    assert_eq!(error.get("mistakes"), None, "{diff}");
    assert!(error["message"].as_str().unwrap().starts_with("the server would refuse the result: "), "{diff}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("keep it in `spec.versions` with `served: false`") && hint.contains("`v1beta1`"), "{hint}");
    assert!(!diff.stdout.contains("kubectl replace"), "{diff}");
}

#[test]
fn items_added_manually_beside_those_of_the_manifest_are_counted() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let rename = |at: &str, name: &str| json!([{"op": "replace", "path": format!("/spec/template/spec/containers/{at}"), "value": name}]);
    patched(&ws, "deployment/web", &rename("1/name", "proxyx"));
    patched(&ws, "deployment/web", &rename("0/env/0/name", "LOGX"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let object = diff.object("Deployment", "web");
    let container = "spec.template.spec.containers";
    assert_eq!(
        object["addedItems"],
        json!([format!("{container}[name=proxyx]"), format!("{container}[name=web].env[name=LOGX]")]),
        "{diff}"
    );
    assert_eq!(diff.report()["summary"]["addedItems"], 2);
    let clause = "left alone: 1 container, 1 environment variable added by hand (--show-unmanaged)";
    assert!(diff.stdout.contains(clause), "{diff}");
    let shown = ws.reconcile(["diff", "-f", ".", "--show-unmanaged"]).exits_with(0);
    assert!(shown.changes("Deployment", "web").contains(&format!("unmanaged {container}[name=proxyx]")), "{shown}");
    // What a controller adds is its own business.
    let patch =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "image": "mesh:1"}]}}}}).to_string();
    ws.kubectl(["patch", "deployment/web", "--field-manager=injector", "-p", &patch]).exits_with(0);
    assert_eq!(ws.reconcile(["diff", "-f", "."]).exits_with(0).report()["summary"]["addedItems"], 2);
}

#[test]
fn an_owner_with_a_negative_position_keeps_its_conflict_and_its_record() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let scale = json!({"spec": {"replicas": 7}}).to_string();
    ws.kubectl(["patch", "deployment/web", "--field-manager=autoscaler", "--type=merge", "-p", &scale]).exits_with(0);
    let entries = ws.get("Deployment", "web")["metadata"]["managedFields"].as_array().unwrap().clone();
    let at = entries.iter().position(|entry| entry["manager"] == "autoscaler").unwrap();
    let path = format!("/metadata/managedFields/{at}/fieldsV1/f:spec/f:args");
    patched(&ws, "deployment/web", &json!([{"op": "add", "path": path, "value": {"i:-1": {}}}]));
    let record = |ws: &Workspace| {
        let entries = ws.get("Deployment", "web")["metadata"]["managedFields"].as_array().unwrap().clone();
        entries.into_iter().find(|entry| entry["manager"] == "autoscaler").unwrap()
    };
    let odd = record(&ws);
    assert!(odd.to_string().contains("i:-1"), "{odd}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Deployment", "web")["conflicts"][0]["manager"], "autoscaler", "{diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(4);
    // A takeover from a manual manager writes the record of the others as it is.
    ws.write("web.yaml", &WEB.replaced("  replicas: 2\n", ""));
    ws.patch_as("kubectl-edit", "deployment/web", &json!({"metadata": {"labels": {"tier": "back"}}}));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(record(&ws), odd);
}

#[test]
fn an_owner_that_cannot_be_read_leaves_the_object_uncompared() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, namespace: x}, data: {a: '1'}}");
    ws.write(
        "live/it.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, namespace: x, managedFields: [{manager: robot, operation: Update,
          apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:data': {'k:{': {}}}}]}, data: {a: '2'}}",
    );
    let diff = ws.reconcile(["diff", "-f", "it.yaml", "--live", "live/it.yaml"]).exits_with(4);
    let error = &diff.object("ConfigMap", "it")["error"];
    assert_eq!(error["reason"], "UnreadableOwners", "{diff}");
    assert!(error["message"].as_str().unwrap().contains("`robot`"), "{diff}");
}

#[test]
fn a_failed_apply_gives_back_what_it_took_over_from_manual_managers() {
    let ws = Workspace::new();
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: '1', b: '2'}}";
    ws.write("it.yaml", manifest);
    ws.kubectl(["create", "-f", "it.yaml"]).exits_with(0);
    ws.write("it.yaml", &manifest.replaced("'2'", "'3'"));
    let before = ws.get("ConfigMap", "it");
    let proxy = Proxy::new(&ws);
    let refusal = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Invalid", "code": 422,
        "message": "ConfigMap \"it\" is invalid: data.b: Forbidden: not today",
        "details": {"name": "it", "kind": "ConfigMap", "causes": [{"reason": "FieldValueForbidden", "message": "Forbidden: not today", "field": "data.b"}]}});
    let json = vec![("content-type", "application/json".to_owned())];
    proxy.inject(1, "PATCH", "configmaps/it force=true !dryRun", Fault::Answer(422, json, refusal.to_string()));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("ConfigMap", "it")["outcome"], "failed", "{apply}");
    let after = ws.get("ConfigMap", "it");
    assert_eq!(after["metadata"]["managedFields"], before["metadata"]["managedFields"], "{apply}");
    assert_eq!(after["data"], before["data"]);
    // It took over, was refused, and gave back.
    assert_eq!(proxy.requests().iter().filter(|one| one.starts_with("PATCH") && !one.contains("dryRun")).count(), 3);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}
