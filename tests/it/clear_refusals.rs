//! Refusals of the server and states of objects, each with the fact that its reader needs.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace, definition, is_before, resource};

fn error<'r>(run: &'r Run, kind: &str, name: &str) -> &'r Value {
    &run.object(kind, name)["error"]
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn a_claim_that_was_expanded_is_not_offered_for_deletion() {
    let ws = Workspace::new();
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: SIZE}}}}";
    ws.write("claim.yaml", &claim.replaced("SIZE", "2Gi"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("claim.yaml", &claim.replaced("SIZE", "1Gi"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let shown = &diff.stdout;
    assert!(shown.contains("a claim cannot shrink: write `2Gi` into the manifest"), "{diff}");
    assert!(
        !shown.contains("kubectl-reconcile/replace") && !shown.contains("--replace") && !shown.contains("replacing it"),
        "{diff}"
    );
    ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    // Another field of a claim is still a matter of its annotation.
    ws.write("claim.yaml", &claim.replaced("SIZE", "2Gi").replaced("storageClassName: a", "storageClassName: b"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert!(diff.stdout.contains("kubectl-reconcile/replace"), "{diff}");
}

#[test]
fn a_binding_to_a_role_that_does_not_exist_names_the_role_at_its_line() {
    let ws = Workspace::new();
    ws.allow("limited", "get,list,create,patch", "rolebindings");
    ws.write(
        "binding.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: crew}\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: ghost\nsubjects: [{kind: User, name: ann, apiGroup: rbac.authorization.k8s.io}]\n",
    );
    let apply = ws.as_user("limited").reconcile(["apply", "-f", "."]).exits_with(4);
    let error = error(&apply, "RoleBinding", "crew");
    assert_eq!(error["message"], "the Role `ghost` of `roleRef` does not exist", "{apply}");
    assert_eq!((&error["line"], text(&error["file"])), (&json!(7), "./binding.yaml"), "{apply}");
}

#[test]
fn a_denial_by_a_policy_names_the_policy_and_is_no_mistake() {
    let ws = Workspace::new();
    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS-max}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations: [{expression: '!has(object.data) || size(object.data) < 2', message: one key is enough}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS-max}
spec: {policyName: $NS-max, validationActions: [Deny]}
";
    ws.stdin(policy).kubectl(["apply", "--server-side", "-f", "-"]).exits_with(0);
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b, c: d}}");
    let denied = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(100));
        ws.reconcile(["diff", "-f", "."]).code == 4
    });
    assert!(denied, "the policy takes effect");
    let name = ws.fill_in("$NS-max");
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "."]).exits_with(4);
        let error = error(&run, "ConfigMap", "it");
        let message = format!("refused by ValidatingAdmissionPolicy `{name}` (binding `{name}`): one key is enough");
        assert_eq!(error["message"], message, "{run}");
        assert_eq!(error.get("mistakes"), None, "{run}");
        assert!(!run.stdout.contains("mistake"), "{run}");
    }
}

#[test]
fn an_object_that_is_too_large_is_measured() {
    let ws = Workspace::new();
    let map = |kind: &str, field: &str, bytes: usize| {
        format!("{{apiVersion: v1, kind: {kind}, metadata: {{name: it}}, {field}: {{a: {}}}}}", "x".repeat(bytes))
    };
    for (kind, field, bytes, shown) in [
        ("ConfigMap", "data", 1_572_864, "1.5 MiB of at most 1 MiB"),
        ("ConfigMap", "data", 1_048_577, "1048577 bytes of at most 1048576 bytes"),
        ("Secret", "stringData", 2_097_152, "2 MiB of at most 1 MiB"),
        ("ConfigMap", "data", 4_194_304, "4 MiB of at most 3 MiB"),
    ] {
        ws.write("it.yaml", &map(kind, field, bytes));
        for command in ["diff", "apply"] {
            let run = ws.reconcile([command, "-f", "."]).exits_with(4);
            let error = error(&run, kind, "it");
            assert_eq!(error["message"], format!("the object is too large: {shown}"), "{kind} {bytes}");
            assert_eq!(error.get("mistakes"), None, "{kind} {bytes}");
            assert!(text(&error["hint"]).contains("split it"), "{kind} {bytes}");
        }
    }
}

#[test]
fn an_object_that_finalizers_hold_names_them() {
    let ws = Workspace::new();
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, finalizers: [example.com/hold]}, data: {a: b}}";
    ws.write("it.yaml", map);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["delete", "configmap", "it", "--wait=false"]).exits_with(0);
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "."]).exits_with(4);
        let error = error(&run, "ConfigMap", "it");
        assert_eq!(error["message"], "it is being deleted, and waits for its finalizer `example.com/hold`", "{run}");
        assert!(text(&error["hint"]).contains("`metadata.finalizers`"), "{run}");
    }
    ws.patch_as("kubectl-edit", "configmap/it", &json!({"metadata": {"finalizers": null}}));
}

#[test]
fn a_namespace_that_is_being_deleted_is_named() {
    let ws = Workspace::new();
    let name = format!("{}-gone", ws.namespace());
    ws.write("it.yaml", &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it, namespace: {name}}}}}"));
    ws.write("secret.yaml", &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it, namespace: {name}}}}}"));
    ws.kubectl(["create", "namespace", &name]).exits_with(0);
    ws.kubectl(["delete", "namespace", &name, "--wait=false"]).exits_with(0);
    for (command, kind) in [("diff", "ConfigMap"), ("diff", "Secret"), ("apply", "ConfigMap"), ("apply", "Secret")] {
        let run = ws.reconcile([command, "-f", "."]).exits_with(4);
        let error = error(&run, kind, "it");
        assert_eq!(error["reason"], "Terminating", "{run}");
        assert_eq!(error["message"], format!("namespace `{name}` is being deleted"), "{run}");
        assert_eq!(error["hint"], "run again when it is gone", "{run}");
    }
}

/// The server takes out a field that does not fit another one that changes, and refuses it in the next apply.
#[test]
fn what_the_server_takes_out_and_refuses_to_take_back_is_a_failure() {
    let ws = Workspace::new();
    let service = "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {type: NodePort, externalTrafficPolicy: Local, ports: [{port: 80}]}}";
    ws.write("it.yaml", service);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &service.replaced("type: NodePort, ", ""));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let policy = diff.change("Service", "it", "spec.externalTrafficPolicy");
    assert_eq!((&policy["class"], policy.get("side")), (&json!("consequence"), None), "{diff}");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    let message = text(&error(&apply, "Service", "it")["message"]).to_owned();
    assert!(
        message.starts_with("it was updated without what the server refuses: `spec.externalTrafficPolicy`"),
        "{apply}"
    );
    assert_eq!(ws.get("Service", "it")["spec"]["type"], "ClusterIP");
}

#[test]
fn a_required_field_that_the_manifest_no_longer_has_is_to_be_put_back() {
    let ws = Workspace::new();
    let pod = "containers: [{name: a, image: 'shop/it:1'}]";
    let cron = format!(
        "{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: it}}, spec: {{schedule: '0 0 1 1 *', jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, {pod}}}}}}}}}}}}}"
    );
    for apply in [["reconcile", "apply"], ["kubectl", "apply"]] {
        ws.write("it.yaml", &cron);
        if apply[0] == "kubectl" {
            ws.kubectl(["apply", "-f", "it.yaml"]).exits_with(0);
        } else {
            ws.reconcile(["apply", "-f", "."]).exits_with(0);
        }
        ws.write("it.yaml", &cron.replaced("restartPolicy: Never, ", ""));
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
        let hint = text(&error(&diff, "CronJob", "it")["hint"]);
        assert!(
            hint.ends_with("restartPolicy`, which the manifest no longer has: put it back into the manifest"),
            "{diff}"
        );
        ws.kubectl(["delete", "cronjob", "it"]).exits_with(0);
    }
}

#[test]
fn a_kubeconfig_without_a_current_context_names_its_contexts() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    let context = |name: &str| format!("{{name: {name}, context: {{cluster: a, user: a}}}}");
    let config = ws.write(
        "kubeconfig",
        &format!(
            "{{apiVersion: v1, kind: Config, clusters: [{{name: a, cluster: {{server: 'https://127.0.0.1:1'}}}}], users: [{{name: a, user: {{}}}}], contexts: [{}, {}]}}",
            context("one"),
            context("two")
        ),
    );
    let kubeconfig = format!("--kubeconfig={}", config.display());
    let run = ws.reconcile(["diff", "-f", "it.yaml", &kubeconfig]).exits_with(2);
    assert!(run.stderr.contains("has no current context") && run.stderr.contains("`--context`: `one`, `two`"), "{run}");
}

#[test]
fn an_owner_that_does_not_exist_is_named_before_the_garbage_collector_acts() {
    let ws = Workspace::new();
    ws.kubectl(["create", "configmap", "owner"]).exits_with(0);
    let uid = ws.get("ConfigMap", "owner")["metadata"]["uid"].as_str().unwrap().to_owned();
    let owned = |name: &str, uid: &str| {
        let owner = format!("{{apiVersion: v1, kind: ConfigMap, name: {name}, uid: {uid}}}");
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it, ownerReferences: [{owner}]}}}}")
    };
    let gone = "11111111-2222-3333-4444-555555555555";
    for (name, uid, is_missing) in
        [("owner", uid.as_str(), false), ("owner", gone, true), ("nobody", uid.as_str(), true)]
    {
        ws.write("it.yaml", &owned(name, uid));
        for command in ["diff", "apply"] {
            let run = ws.reconcile([command, "-f", "."]);
            assert!(run.code < 2, "{run}");
            let warnings = run.object("Secret", "it")["warnings"].to_string();
            assert_eq!(warnings.contains("the garbage collector deletes it"), is_missing, "{run}");
            assert!(!is_missing || warnings.contains(&format!("/{name} with the uid `{uid}`")), "{run}");
        }
    }
}

#[test]
fn a_name_that_nothing_in_the_object_has_is_said_to_be_missing() {
    let ws = Workspace::new();
    let field = "spec.template.spec.containers[name=a].volumeMounts[mountPath=/d].name";
    let templates = json!([{"metadata": {"name": "claim"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]);
    for (kind, volumes, name, hint) in [
        ("Deployment", json!([{"name": "data", "emptyDir": {}}]), "nope", "the Pod has `data`"),
        ("Deployment", json!([{"name": "data", "emptyDir": {}}]), "dta", "did you mean `data`? the Pod has `data`"),
        ("Deployment", json!([]), "nope", "the Pod has no `volumes`"),
        ("StatefulSet", json!([]), "clam", "did you mean `claim`? the Pod has `claim`"),
    ] {
        let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "it"}, "spec": {
            "selector": {"matchLabels": {"app": "it"}},
            "template": {"metadata": {"labels": {"app": "it"}}, "spec": {
                "volumes": volumes,
                "containers": [{"name": "a", "image": "a", "volumeMounts": [{"name": name, "mountPath": "/d"}]}]}}}});
        if kind == "StatefulSet" {
            if is_before(37, "templates of StatefulSets without the names of their volumes") {
                continue;
            }
            object["spec"]["volumeClaimTemplates"] = templates.clone();
        }
        ws.write("it.yaml", &object.to_string());
        for command in ["diff", "apply"] {
            let run = ws.reconcile([command, "-f", "."]).exits_with(4);
            let error = error(&run, kind, "it");
            assert_eq!(error["message"], format!("`{field}`: not found: `{name}`"), "{run}");
            assert_eq!(error["mistakes"][0]["hint"], hint, "{run}");
        }
    }
}

/// The server names no field for `oneOf` and its like: only its text has the path.
#[test]
fn a_value_that_fits_none_of_several_schemas_is_found_at_its_line() {
    const SCHEMA: &str = "
properties:
  rules:
    type: array
    items:
      type: object
      properties: {exact: {type: string}, prefix: {type: string}}
      oneOf: [{required: [exact]}, {required: [prefix]}]
  either: {type: object, properties: {a: {type: integer}, b: {type: integer}}, anyOf: [{required: [a]}, {required: [b]}]}
  not: {type: object, properties: {a: {type: integer}}, not: {required: [a]}}
";
    let ws = Workspace::new();
    ws.define("Route", SCHEMA);
    let route = |spec: &str| {
        format!(
            "apiVersion: $NS.example.com/v1\nkind: Route\nmetadata: {{name: it}}\nspec:\n  rules:\n  - exact: a\n{spec}"
        )
    };
    let (both, rules) =
        ("  - exact: a\n    prefix: b\n", "`spec.rules[1]`: must validate one and only one schema (oneOf)");
    let edits = [
        (both, 7, rules),
        ("  - {}\n", 7, "`spec.rules[1].exact` is missing"),
        ("  either: {}\n", 7, "`spec.either.a` is missing"),
        ("  not: {a: 1}\n", 7, "`spec.not`: must not validate the schema (not)"),
    ];
    for (spec, line, message) in edits {
        ws.write("it.yaml", &route(spec));
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
        let error = error(&diff, "Route", "it");
        let error = error["mistakes"].get(0).unwrap_or(error);
        assert!(text(&error["message"]).starts_with(message), "{diff}");
        assert_eq!(error["line"], line, "{diff}");
    }
}

/// The server reports `oneOf` without a field: the field of another applier that is in the way is named with its owner all the same.
#[test]
fn a_variant_of_another_applier_is_named_with_its_owner() {
    const SCHEMA: &str = "
properties:
  balancer:
    type: object
    properties: {simple: {type: string}, hash: {type: object, properties: {ip: {type: boolean}}}}
    oneOf: [{required: [simple]}, {required: [hash]}]
";
    let ws = Workspace::new();
    ws.define("Rule", SCHEMA);
    let rule = |balancer: &str| resource("Rule", "it", &format!("balancer: {{{balancer}}}"));
    ws.write("it.yaml", &rule("simple: ROUND_ROBIN"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.apply_as("flux", &rule("simple: ROUND_ROBIN"));
    ws.write("it.yaml", &rule("hash: {ip: true}"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let said = error(&diff, "Rule", "it").to_string();
    assert!(said.contains("`spec.balancer`") && !said.contains("<nil>"), "{diff}");
    assert!(said.contains("flux") && said.contains("--force-conflicts"), "{diff}");
    ws.reconcile(["diff", "-f", ".", "--force-conflicts"]).exits_with(1);
    ws.reconcile(["apply", "-f", ".", "--force-conflicts"]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

/// The server's remark that it has not tried the rules of a definition is no complaint.
#[test]
fn rules_that_were_not_tried_are_no_complaint() {
    const SCHEMA: &str = "
x-kubernetes-validations: [{rule: \"!has(self.mode) || self.mode != 'Q'\", message: no Q}]
properties:
  mode: {type: string}
  zone: {type: object, nullable: true, required: [name], properties: {name: {type: string}, size: {type: integer}}}
";
    let ws = Workspace::new();
    ws.define("Zone", SCHEMA);
    let zone = |zone: &str| resource("Zone", "it", &format!("mode: A, zone: {zone}"));
    ws.write("it.yaml", &zone("{name: a, size: 3}"));
    ws.kubectl(["create", "-f", "it.yaml", "--field-manager=kubectl-edit"]).exits_with(0);
    ws.write("it.yaml", &zone("{name: a}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &zone("null"));
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

/// An update takes a value that has become invalid, as long as it stays as it is; an apply that changes it beside the rest does not.
#[test]
fn what_an_update_is_accepted_with_is_not_written_where_the_apply_is_refused() {
    let ws = Workspace::new();
    let nut = |x: &str, name: &str, gone: &str| {
        let item = format!("name: {{type: string{name}}}, proto: {{type: string, default: TCP}}{gone}");
        let list = format!("{{type: array, items: {{type: object, properties: {{{item}}}}}}}");
        let spec = format!("properties: {{x: {{type: array, items: {{type: integer}}{x}}}, list: {list}}}");
        definition("Nut", &spec).replaced(
            "        type: object\n        properties:\n",
            "        type: object\n        x-kubernetes-preserve-unknown-fields: true\n        properties:\n",
        )
    };
    ws.stdin(&nut(", default: [0, 1]", "", ", gone: {type: boolean}")).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.wait_for_types();
    ws.write("nut.yaml", &resource("Nut", "it", "list: [{name: old, gone: true}]"));
    ws.reconcile(["apply", "-f", "nut.yaml"]).exits_with(0);
    ws.stdin(&nut("", ", enum: [x, z]", "")).kubectl(["replace", "-f", "-"]).exits_with(0);
    ws.wait_for_types();
    let kind = ws.fill_in("Nut.$NS.example.com");
    let version = ws.resource_version(&kind, "it");
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "nut.yaml"]).exits_with(4);
        assert!(error(&run, "Nut", "it").to_string().contains("cannot be `old`"), "{run}");
    }
    assert_eq!(ws.resource_version(&kind, "it"), version);
}
