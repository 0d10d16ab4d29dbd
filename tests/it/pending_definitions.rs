//! Custom resources that the server refuses while the input changes their definition: what the change cannot cure is no difference to
//! show, and what it can cure is one.

use crate::control_plane::{Replaced, Run, Workspace, definition, resource, wait_until};

const VALVE: &str = "
x-kubernetes-validations: [{rule: self.min <= self.max, message: the least is above the most}, {rule: self.max < LIMIT, message: too much}]
properties:
  min: {type: integer}
  max: {type: integer}
  size: {type: string, enum: [SIZES]}
";

fn valve(name: &str, spec: &str) -> String {
    resource("Valve", name, spec)
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

/// What the server takes now, the changed definition refuses: a field that it drops, and another type.
#[test]
fn an_object_that_the_changed_definition_refuses_is_not_in_sync() {
    let edits = [
        ("size: {type: string, enum: [small]}", "dimension: {type: string}", "unknown field `size` in `spec`"),
        ("size: {type: string, enum: [small]}", "size: {type: integer}", "`spec.size`: "),
    ];
    for (from, to, message) in edits {
        let ws = Workspace::new();
        let schema =
            "properties:\n  min: {type: integer}\n  max: {type: integer}\n  size: {type: string, enum: [small]}\n";
        ws.write("crd.yaml", &definition("Valve", schema));
        ws.write("it.yaml", &valve("it", "min: 1, size: small"));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.write("crd.yaml", &definition("Valve", &schema.replaced(from, to)));
        // A new object, and one that changes, meet the same.
        ws.write("new.yaml", &valve("new", "min: 2, size: small"));
        for spec in ["min: 1, size: small", "min: 3, size: small"] {
            ws.write("it.yaml", &valve("it", spec));
            let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
            is_refused(&diff, "it", message);
            is_refused(&diff, "new", message);
        }
        ws.write("it.yaml", &valve("it", "min: 1, size: small"));
        ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
        // The server publishes the type a little later.
        wait_until("the new type is published", || {
            ws.reconcile(["diff", "-f", "it.yaml"]).object("Valve", "it")["action"] == "unknown"
        });
        let after = ws.reconcile(["diff", "-f", "."]).exits_with(4);
        is_refused(&after, "it", message);
        is_refused(&after, "new", message);
    }
}

/// A field that a definition requires now is missed only where something changes beside it.
#[test]
fn what_a_changed_definition_requires_is_missed_where_something_changes() {
    let ws = Workspace::new();
    let schema = "properties:\n  min: {type: integer}\n  max: {type: integer}\n  zones:\n    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [name]\n    items: {type: object, required: [name], properties: {name: {type: string}, at: {type: string}, size: {type: integer}}}\n";
    ws.write("crd.yaml", &definition("Valve", schema));
    let zones = "zones: [{name: a, size: 1}, {name: b, size: 1, at: x}]";
    ws.write("it.yaml", &valve("it", &format!("min: 1, {zones}")));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let required = schema
        .replaced("properties:\n  min:", "required: [max]\nproperties:\n  min:")
        .replaced("required: [name]", "required: [name, at]");
    let edits = [
        (format!("min: 1, {zones}"), None),
        (format!("min: 2, {zones}"), Some("`spec.max` is missing")),
        (format!("min: 2, max: 3, {zones}"), None),
        (format!("min: 1, max: 3, {}", zones.replaced("name: b, size: 1", "name: b, size: 2")), None),
        (
            format!("min: 1, max: 3, {}", zones.replaced("name: a, size: 1", "name: a, size: 2")),
            Some("`spec.zones[name=a].at` is missing"),
        ),
    ];
    let says = |expected: &[Option<&str>]| {
        for ((spec, _), message) in edits.iter().zip(expected) {
            ws.write("it.yaml", &valve("it", spec));
            let diff = ws.reconcile(["diff", "-f", "."]);
            match message {
                Some(message) => is_refused(&diff, "it", message),
                None => assert_ne!(diff.object("Valve", "it")["action"], "unknown", "{diff}"),
            }
        }
    };
    let expected: Vec<_> = edits.iter().map(|(_, message)| *message).collect();
    ws.write("crd.yaml", &definition("Valve", &required));
    says(&expected);
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    // The server's own word.
    says(&expected);
}

/// What an update changes has to be as the changed definition demands, and the server has to be able to read the live object by it.
#[test]
fn an_update_that_the_changed_definition_refuses_is_not_shown_as_one() {
    const SCHEMA: &str = "properties:
  name: {type: string}
  kind: {type: string, enum: [p]}
  port: {type: string}
  tags: {type: array, items: {type: string}}
  in: {type: object, properties: {a: {type: string}, b: {type: string}}}
";
    const LIVE: [&str; 5] = ["name: AB", "kind: p", "port: '80'", "tags: [X]", "in: {a: x, b: w}"];
    let name = ("name: {type: string}", "name: {type: string, pattern: '^[a-z]*$'}");
    let kind = ("kind: {type: string, enum: [p]}", "kind: {type: string, enum: [p, q]}");
    let tags = ("items: {type: string}", "items: {type: string, enum: [Z]}");
    let inner = ("in: {type: object", "in: {type: object, required: [b]");
    let port = ("port: {type: string}", "port: {type: integer}");
    // The edit of the definition, the line of the object that changes, and what is wrong with it then.
    let edits = [
        (name, LIVE[0], "name: AC", "`spec.name` cannot be `AC`"),
        (name, LIVE[2], "port: '81'", ""),
        (tags, LIVE[3], "tags: [X, Z]", "cannot be `X`"),
        (kind, LIVE[1], "kind: zzz", "`spec.kind` cannot be `zzz`"),
        (kind, LIVE[1], "kind: q", ""),
        (inner, LIVE[4], "in: {a: x}", "`spec.in.b`"),
        (inner, LIVE[4], "in: {a: z, b: w}", ""),
        (port, LIVE[2], "port: 80", "the live object does not fit its type in the input: `spec.port`"),
    ];
    for ((from, to), before, after, message) in edits {
        let ws = Workspace::new();
        ws.write("crd.yaml", &definition("Valve", SCHEMA));
        ws.write("it.yaml", &valve("it", &LIVE.join(", ")));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.write("it.yaml", &valve("it", &LIVE.join(", ").replaced(before, after)));
        ws.write("crd.yaml", &definition("Valve", &SCHEMA.replaced(from, to)));
        let diff = ws.reconcile(["diff", "-f", "."]);
        if message.is_empty() {
            assert_eq!(diff.exits_with(1).object("Valve", "it")["action"], "update");
            ws.reconcile(["apply", "-f", "."]).exits_with(0);
        } else {
            let diff = diff.exits_with(4);
            is_refused(&diff, "it", message);
            assert_eq!(diff.stdout.contains("a mistake in the manifest"), (from, to) != port, "{diff}");
            ws.reconcile(["apply", "-f", "."]).exits_with(4);
            // The server's own word.
            let apply =
                ["apply", "--server-side", "--force-conflicts", "--field-manager=kubectl-reconcile", "-f", "it.yaml"];
            wait_until("the server refuses it", || !ws.kubectl(apply).stdout.contains("serverside-applied"));
        }
    }
}

/// The server does not let what the whole object requires be as it was.
#[test]
fn an_object_without_what_its_kind_requires_now_is_refused() {
    let ws = Workspace::new();
    let schema = "properties: {size: {type: integer}}";
    let required = definition("Valve", schema).replaced(
        "        type: object\n        properties:\n",
        "        type: object\n        required: [spec]\n        properties:\n",
    );
    let bare = "{apiVersion: $NS.example.com/v1, kind: Valve, metadata: {name: it, labels: {a: b}}}";
    ws.write("crd.yaml", &definition("Valve", schema));
    ws.write("it.yaml", bare);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("crd.yaml", &required);
    is_refused(&ws.reconcile(["diff", "-f", "."]).exits_with(4), "it", "`spec` is missing");
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    wait_until("the new type is published", || {
        ws.reconcile(["diff", "-f", "it.yaml"]).object("Valve", "it")["action"] == "unknown"
    });
    is_refused(&ws.reconcile(["diff", "-f", "."]).exits_with(4), "it", "`spec` is missing");
}
