//! Objects whose names mean something: nothing that the server says of another name is held against a replacement.

use super::*;
use crate::control_plane::definition;

/// Replaces `it.yaml` by this manifest, and checks that `diff` says so and that nothing differs after it.
#[track_caller]
fn is_replaced(ws: &Workspace, kind: &str, name: &str, manifest: &str) {
    let before = uid(ws, kind, name);
    ws.write("it.yaml", manifest);
    let short = kind.split('.').next().unwrap();
    let diff = ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(1);
    assert_eq!(diff.object(short, name)["replacement"], "needsFlag", "{diff}");
    let apply = ws.reconcile(["apply", "-f", "it.yaml", "--replace=immutable"]).exits_with(0);
    assert_eq!(apply.object(short, name)["outcome"], "replaced", "{apply}");
    assert_ne!(uid(ws, kind, name), before, "{apply}");
    ws.reconcile(["diff", "-f", "it.yaml", "--strict-ownership"]).exits_with(0);
}

/// There is one default, and it is the object that goes.
#[test]
fn the_default_priority_class_is_replaced() {
    let ws = Workspace::on(&ControlPlane::private());
    let class = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: normal}, globalDefault: true, value: 1000}";
    ws.write("it.yaml", class);
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    is_replaced(&ws, "PriorityClass", "normal", &class.replaced("1000", "2000"));

    // Another one is in the way of a default.
    let other = class.replaced("name: normal", "name: other").replaced("true", "false");
    ws.write("other.yaml", &other);
    ws.reconcile(["apply", "-f", "other.yaml"]).exits_with(0);
    let before = uid(&ws, "PriorityClass", "other");
    ws.write("other.yaml", &other.replaced("false", "true").replaced("1000", "3000"));
    let apply = ws.reconcile(["apply", "-f", "other.yaml", "--replace=immutable"]).exits_with(4);
    assert!(apply.stdout.contains("PriorityClass normal is already marked as default"), "{apply}");
    assert_eq!(uid(&ws, "PriorityClass", "other"), before);
}

#[test]
fn an_object_whose_name_is_an_address_is_replaced() {
    if is_before(33, "`IPAddress` is in a version of its own") {
        return;
    }
    let ws = Workspace::new();
    let address = "{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: 192.0.2.7, labels: {ipaddress.kubernetes.io/ip-family: IPv4}},
      spec: {parentRef: {resource: services, namespace: $NS, name: one}}}";
    ws.write("it.yaml", address);
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    is_replaced(&ws, "IPAddress", "192.0.2.7", &address.replaced("name: one", "name: two"));
    ws.kubectl(["delete", "ipaddress", "192.0.2.7"]).exits_with(0);
}

#[test]
fn a_custom_resource_with_the_only_name_that_its_rules_allow_is_replaced() {
    let ws = Workspace::new();
    let definition = definition(
        "Single",
        "properties: {mode: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: RULE}]}, row: {type: integer, minimum: 1}}",
    );
    let single = "{apiVersion: $NS.example.com/v1, kind: Single, metadata: {name: default}, spec: {mode: a, row: 1}}";
    let rule = "type: object\n        x-kubernetes-validations: [{rule: \"self.metadata.name == 'default'\", message: there is one}]\n        properties:\n          spec:";
    let definition = definition.replaced("type: object\n        properties:\n          spec:", rule);
    let kind = ws.fill_in("Single.$NS.example.com");
    let mut mode = 0;
    // With the words of the built-in kinds, the server is asked before the deletion alone.
    for message in ["the mode stays", "field is immutable"] {
        ws.write("crd.yaml", &definition.replaced("RULE", message));
        ws.write("it.yaml", &single.replaced("mode: a", &format!("mode: m{mode}")));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        wait_until("the rule is in force", || {
            let text = ws.fill_in(&single.replaced("mode: a", "mode: other"));
            let run =
                ws.stdin(&text).kubectl(["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-"]);
            run.stderr.contains(message)
        });
        mode += 1;
        let other = single.replaced("mode: a", &format!("mode: m{mode}"));
        // A bad value is one under each name.
        let before = uid(&ws, &kind, "default");
        ws.write("it.yaml", &other.replaced("row: 1", "row: 0"));
        let apply = ws.reconcile(["apply", "-f", "it.yaml", "--replace=immutable"]).exits_with(4);
        assert!(apply.stdout.contains("`spec.row` cannot be `0`"), "{apply}");
        assert_eq!(uid(&ws, &kind, "default"), before);
        is_replaced(&ws, &kind, "default", &other);
    }
}

/// A policy that reads the name allows the own one, and a policy that allows no creation at all keeps the object.
#[test]
fn a_policy_on_names_is_asked_about_the_own_name() {
    let ws = Workspace::new();
    let binding = |name: &str, role: &str| {
        format!(
            "{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: {name}}}, subjects: [{{kind: ServiceAccount, name: a}}], \
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}}}"
        )
    };
    ws.write("it.yaml", &binding("team-rb", "view"));
    ws.write("kept.yaml", &binding("kept-rb", "view"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [rbac.authorization.k8s.io], apiVersions: ['*'], operations: [CREATE], resources: [rolebindings]}]}
  validations:
  - {expression: object.metadata.name.endsWith('-rb'), message: the name must end with -rb}
  - {expression: \"object.metadata.name != 'kept-rb'\", message: no more of these}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS}
spec: {policyName: $NS, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}}}
";
    ws.stdin(policy).kubectl(["create", "-f", "-"]).exits_with(0);
    wait_until("the policy is in force", || {
        let run = ws.stdin(&binding("new", "view")).kubectl(["create", "--dry-run=server", "-f", "-"]);
        run.stderr.contains("must end with")
    });
    is_replaced(&ws, "RoleBinding", "team-rb", &binding("team-rb", "edit"));
    let before = uid(&ws, "RoleBinding", "kept-rb");
    ws.write("kept.yaml", &binding("kept-rb", "edit"));
    let apply = ws.reconcile(["apply", "-f", "kept.yaml", "--replace=immutable"]).exits_with(4);
    assert!(apply.stdout.contains("no more of these"), "{apply}");
    assert_eq!(uid(&ws, "RoleBinding", "kept-rb"), before);
    ws.kubectl(["delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", ws.namespace()]).exits_with(0);
}
