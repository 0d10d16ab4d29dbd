//! Custom resources that the server refuses while the input changes their definition: what the change cannot cure is no difference to
//! show, and what it can cure is one.

use crate::control_plane::{Replaced, Run, Workspace, definition, wait_until};

const VALVE: &str = "
x-kubernetes-validations: [{rule: self.min <= self.max, message: the least is above the most}, {rule: self.max < LIMIT, message: too much}]
properties:
  min: {type: integer}
  max: {type: integer}
  size: {type: string, enum: [SIZES]}
";

fn valve(name: &str, spec: &str) -> String {
    format!("{{apiVersion: $NS.example.com/v1, kind: Valve, metadata: {{name: {name}}}, spec: {{{spec}}}}}")
}

fn valves(limit: &str, sizes: &str) -> String {
    definition("Valve", &VALVE.replaced("LIMIT", limit).replaced("SIZES", sizes))
}

/// A workspace with a valve, whose definition gets another limit and another size.
fn with_valve() -> Workspace {
    let ws = Workspace::new();
    ws.write("crd.yaml", &valves("10", "small"));
    ws.write("it.yaml", &valve("it", "min: 1, max: 2, size: small"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("crd.yaml", &valves("100", "small, large"));
    ws
}

#[track_caller]
fn is_refused(run: &Run, name: &str, message: &str) {
    let object = run.object("Valve", name);
    assert_eq!(object["action"], "unknown", "{run}");
    assert!(object["error"].to_string().contains(message), "{run}");
    assert!(!run.stdout.contains("compared locally"), "{run}");
}

#[test]
fn what_a_changed_definition_allows_is_compared_locally() {
    let ws = with_valve();
    for spec in ["min: 1, max: 2, size: large", "min: 1, max: 50, size: small", "min: 1, max: 50, size: large, new: 1"]
    {
        if spec.contains("new") {
            ws.write(
                "crd.yaml",
                &valves("100", "small, large").replaced("  min:", "  new: {type: integer}\n              min:"),
            );
        }
        ws.write("it.yaml", &valve("it", spec));
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
        let object = diff.object("Valve", "it");
        assert_eq!((&object["action"], &object["evidence"]), (&"update".into(), &"local".into()), "{diff}");
        assert!(diff.stdout.contains("compared locally, until its CustomResourceDefinition is changed"), "{diff}");
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_rule_that_stays_as_it_is_is_not_cured_by_another_change() {
    let ws = with_valve();
    ws.write("it.yaml", &valve("it", "min: 5, max: 2, size: small"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    is_refused(&diff, "it", "the least is above the most");
    // Neither is a value whose bounds stay.
    ws.write("crd.yaml", &valves("100", "small"));
    ws.write("it.yaml", &valve("it", "min: 1, max: 2, size: large"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    is_refused(&diff, "it", "`spec.size` cannot be `large`");
}

#[test]
fn a_quota_and_a_policy_are_not_cured_by_a_definition() {
    let ws = with_valve();
    let quota = ws.fill_in("count/valves.$NS.example.com");
    ws.kubectl(["create", "quota", "valves", &format!("--hard={quota}=1")]).exits_with(0);
    let status = format!(r#"{{"status": {{"hard": {{"{quota}": "1"}}, "used": {{"{quota}": "1"}}}}}}"#);
    ws.kubectl(["patch", "quota", "valves", "--subresource=status", "--type=merge", "-p", &status]).exits_with(0);
    let second = valve("second", "min: 1, max: 2, size: small");
    wait_until("the quota is in force", || {
        ws.stdin(&second).kubectl(["create", "--dry-run=server", "-f", "-"]).stderr.contains("exceeded quota")
    });
    ws.write("second.yaml", &second);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    is_refused(&diff, "second", "exceeded quota");
    ws.write("second.yaml", "");

    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [$NS.example.com], apiVersions: ['*'], operations: [CREATE, UPDATE], resources: ['*']}]}
  validations: [{expression: object.spec.max < 5, message: not that much, reason: Invalid}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $NS}
spec: {policyName: $NS, validationActions: [Deny]}
";
    ws.stdin(policy).kubectl(["create", "-f", "-"]).exits_with(0);
    let more = valve("it", "min: 1, max: 7, size: small");
    wait_until("the policy is in force", || {
        let run =
            ws.stdin(&more).kubectl(["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-"]);
        run.stderr.contains("not that much")
    });
    ws.write("it.yaml", &more);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    is_refused(&diff, "it", "not that much");
    ws.kubectl(["delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", ws.namespace()]).exits_with(0);
}
