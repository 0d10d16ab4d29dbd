//! Fields without a value (`tuning:`): what kubectl's own writes leave out is left out here, with a word to the author, and what
//! the server keeps is kept.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Workspace, definition, resource};

const GADGET_SCHEMA: &str = "
properties:
  size: {type: integer}
  tuning: {type: object, properties: {a: {type: string}}}
  tags: {type: array, items: {type: string}}
  steps: {type: array, items: {type: object, properties: {name: {type: string}, run: {type: string}}}}
  map: {type: object, additionalProperties: {type: string}}
  maybe: {type: string, nullable: true}
  defaulted: {type: string, default: given}
  either: {type: string, default: given, nullable: true}
  open: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

const GADGET: &str = "
apiVersion: $NS.example.com/v1
kind: Gadget
metadata: {name: g, annotations: null}
spec:
  size: 1
  tuning:
  tags: null
  steps: [{name: a, run: }]
  map: {a: x, b: ~}
  maybe: null
  defaulted: null
  open: {a: null, b: {c: null}, d: [null, {e: null}]}
";

/// A null in a map of strings is the empty string, also where the live object does not have the map.
#[test]
fn a_null_in_a_map_that_the_live_object_lacks_is_the_empty_string() {
    let ws = Workspace::new();
    let service = "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {ports: [{port: 80}]}}";
    ws.write("live.yaml", service);
    ws.kubectl(["apply", "--server-side", "--field-manager=other", "-f", "live.yaml"]).exits_with(0);
    let wanted = service
        .replaced("name: it", "name: it, labels: {new: null}")
        .replaced("spec: {", "spec: {selector: {a: null}, ");
    ws.write("it.yaml", &wanted);
    for evidence in ["auto", "server", "read-only"] {
        let diff = ws.reconcile(["diff", "-f", "it.yaml", "--evidence", evidence]).exits_with(1);
        let added = ["metadata.labels.new", "spec.selector.a"]
            .map(|path| diff.change("Service", "it", path)["desired"].clone());
        assert_eq!(added, [json!(""), json!("")], "{evidence}: {diff}");
    }
}

#[track_caller]
fn gadget(ws: &Workspace, name: &str) -> Value {
    ws.get(&ws.fill_in("Gadget.$NS.example.com"), name)
}

/// What `diff` and `apply` say of the gadget in the end, and the warnings about it.
#[track_caller]
fn settles(ws: &Workspace) {
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = ws.all_resource_versions();
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object("Gadget", "g")["action"], "none", "{diff}");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!((apply.writes(), ws.all_resource_versions()), (0, before), "{apply}");
}

#[test]
fn a_new_kind_and_its_resource_with_nulls_are_created_at_once() {
    let ws = Workspace::new();
    ws.write("1.yaml", &definition("Gadget", GADGET_SCHEMA));
    ws.write("2.yaml", GADGET);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Gadget", "g")["outcome"], "created", "{apply}");
    let warnings = apply.object("Gadget", "g")["warnings"].to_string();
    for (line, rest) in [
        (7, "`spec.tuning` has no value and is left out: write a value or delete the line"),
        (8, "`spec.tags` has no value and is left out: write `[]` or delete the line"),
        (9, "`spec.steps[0].run` has no value and is left out: write a value or delete the line"),
        (10, "`spec.map.b` has no value and is left out: write a value or delete the line"),
    ] {
        assert!(warnings.contains(&format!("2.yaml:{line}: {rest}")), "{rest}: {warnings}");
    }
    for kept in ["spec.maybe", "spec.defaulted", "spec.open"] {
        assert!(!warnings.contains(kept), "{warnings}");
    }
    // As kubectl leaves it.
    let ours = gadget(&ws, "g")["spec"].clone();
    ws.write("other/3.yaml", &GADGET.replaced("name: g,", "name: other,"));
    ws.kubectl(["create", "-f", "other/3.yaml"]).exits_with(0);
    assert_eq!(ours, gadget(&ws, "other")["spec"]);
    settles(&ws);
    // With the types that the server has published meanwhile, too.
    ws.wait_for_types();
    settles(&ws);
    ws.write("1.yaml", "");
    settles(&ws);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object("Gadget", "g")["evidence"], "proven", "{diff}");
    // Who may be null and is not has no default put in his place.
    for value in ["null", "given", "null"] {
        ws.write("2.yaml", &format!("{GADGET}  either: {value}\n"));
        ws.reconcile(["diff", "-f", "."]).exits_with(1);
        settles(&ws);
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
        assert_eq!(diff.object("Gadget", "g")["evidence"], "proven", "{diff}");
    }
    assert_eq!(gadget(&ws, "g")["spec"]["either"], Value::Null);
}

#[test]
fn what_kubectl_made_of_nulls_is_in_sync_and_adopted() {
    for how in [&["create"][..], &["apply"], &["apply", "--server-side=false"]] {
        let ws = Workspace::new();
        ws.define("Gadget", GADGET_SCHEMA);
        // kubectl apply sends no null at all.
        let open = GADGET
            .replaced("  maybe: null\n", "")
            .replaced("open: {a: null, b: {c: null}, d: [null, {e: null}]}", "open: {a: x}");
        ws.write("2.yaml", if how[0] == "apply" { &open } else { GADGET });
        ws.kubectl([how, &["-f", "2.yaml"]].concat()).exits_with(0);
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
        assert_eq!(diff.changes("Gadget", "g"), ["adopted"], "{diff}");
        settles(&ws);
    }
}

#[test]
fn a_null_where_another_value_is_live_takes_it_out_as_kubectl_apply_does() {
    let ws = Workspace::new();
    ws.define("Gadget", GADGET_SCHEMA);
    ws.write("2.yaml", &GADGET.replaced("  tuning:\n", "  tuning: {a: x}\n"));
    settles(&ws);
    ws.write("2.yaml", GADGET);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Gadget", "g"), ["pruned spec.tuning"], "{diff}");
    settles(&ws);
    assert_eq!(gadget(&ws, "g")["spec"].get("tuning"), None);
}

#[test]
fn an_apply_that_the_server_refuses_leaves_owners_as_they_are() {
    let ws = Workspace::new();
    // A null in a list is always refused, and a rule that only a change meets as well.
    let schema = GADGET_SCHEMA.replaced(
        "size: {type: integer}",
        "size: {type: integer, x-kubernetes-validations: [{rule: 'self >= oldSelf'}]}",
    );
    ws.define("Gadget", &schema);
    ws.write("2.yaml", &GADGET.replaced("size: 1", "size: 3"));
    ws.kubectl(["create", "-f", "2.yaml"]).exits_with(0);
    let before = gadget(&ws, "g");
    for refused in [GADGET.to_owned(), GADGET.replaced("tags: null", "tags: [a, null]").replaced("size: 1", "size: 3")]
    {
        ws.write("2.yaml", &refused);
        let diff = ws.reconcile(["diff", "-f", "."]);
        let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
        assert_eq!(gadget(&ws, "g"), before, "{apply}");
        assert_eq!(ws.reconcile(["diff", "-f", "."]).report()["objects"], diff.report()["objects"]);
    }
}

#[test]
fn helms_empty_fields_are_proven() {
    let ws = Workspace::new();
    ws.write(
        "web.yaml",
        "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: , annotations: }
spec:
  replicas: 1
  strategy:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: , creationTimestamp: }
    spec:
      serviceAccountName:
      securityContext:
      initContainers:
      nodeSelector:
      affinity:
      tolerations:
      volumes:
      imagePullSecrets:
      containers:
      - name: web
        image: shop/web:1
        command:
        args:
        env: [{name: A, value: }, {name: B, valueFrom: }]
        envFrom:
        ports:
        resources:
        securityContext:
        livenessProbe:
        lifecycle:
        volumeMounts:
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: web, annotations: }, data: , binaryData: }
---
{apiVersion: v1, kind: Secret, metadata: {name: web}, data: , stringData: , type: Opaque}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, annotations: }, secrets: , imagePullSecrets: }
---
apiVersion: v1
kind: Service
metadata: {name: web, annotations: }
spec:
  selector: {app: web}
  externalIPs:
  loadBalancerSourceRanges:
  ports: [{name: a, port: 80, targetPort: 0}, {name: b, port: 81, targetPort: , appProtocol: , nodePort: }]
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web}, rules: }
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {matchLabels: }, ingress: , egress: , policyTypes: }}
",
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", ".", "-v"]).exits_with(0);
    let asked: Vec<_> = diff.each("evidence").into_iter().filter(|one| !one.ends_with("proven")).collect();
    // The policy types are filled in by a default.
    assert_eq!(asked, ["NetworkPolicy web: server"], "{diff}");
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    // What others put where the manifest has nothing is not touched, and proven still.
    ws.patch_as("robot", "deployment/web", &json!({"metadata": {"annotations": {"a": "b"}}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    // The null, which was ours, was replaced: the server has it recorded as ours again.
    assert_eq!(diff.changes("Deployment", "web"), ["adopted"], "{diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object("Deployment", "web")["evidence"], "proven", "{diff}");
    assert_eq!(ws.get("Deployment", "web")["metadata"]["annotations"], json!({"a": "b"}));
}

/// A null or an empty map owns the map or list as a whole. Beside a record in another version of the API, what nobody owns in it goes
/// with the next apply.
#[test]
fn what_nobody_owns_in_an_empty_map_goes_beside_a_record_in_another_version() {
    const SCALER: &str = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: it},
        spec: {maxReplicas: 3, behavior: {}, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: it}}}";
    const LABEL: &str =
        "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: it, labels: {a: b}}}";
    let ws = Workspace::new();
    ws.write("it.yaml", SCALER);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let changes = || {
        ["auto", "server"].map(|evidence| {
            let diff = ws.reconcile(["diff", "-f", ".", &format!("--evidence={evidence}")]);
            diff.changes("HorizontalPodAutoscaler", "it")
        })
    };
    assert_eq!(changes(), [[""; 0]; 2]);
    ws.apply_as("other", LABEL);
    // The server's own word.
    let apply = ["apply", "--server-side", "--dry-run=server", "--field-manager=kubectl-reconcile", "-f", "it.yaml"];
    let after = ws.kubectl([&apply[..], &["-o", "json"]].concat()).exits_with(0);
    let after: Value = serde_json::from_str(&after.stdout).unwrap();
    assert_eq!(after["spec"].get("behavior"), None, "{after:#}");
    assert_eq!(changes(), [["pruned spec.behavior"]; 2]);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(changes(), [["overridden spec.behavior"]; 2]);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

/// The server gives such a key its default only after it has taken the key of the item from the manifest.
#[test]
fn a_null_in_the_key_of_a_list_is_left_out_although_it_has_a_default() {
    let ws = Workspace::new();
    let schema = "properties: {items: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name, proto], items: {
      type: object, required: [name], properties: {name: {type: string}, proto: {type: string, default: TCP}, size: {type: integer, default: 1}}}}}";
    ws.define("Gadget", schema);
    let gadget = "apiVersion: $NS.example.com/v1\nkind: Gadget\nmetadata: {name: g}\nspec:\n  items:\n  - {name: one, proto: null, size: null}\n";
    ws.write("it.yaml", gadget);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let warnings = apply.object("Gadget", "g")["warnings"].to_string();
    let warning = "it.yaml:6: `spec.items[0].proto` has no value and is left out: write a value or delete the line";
    assert!(warnings.contains(warning) && !warnings.contains("size"), "{warnings}");
    settles(&ws);
}

/// A map from which the last entry of ours is removed is null for the server, whatever the manifest has.
#[test]
fn a_map_that_an_apply_empties_is_said_to_be_null() {
    let ws = Workspace::new();
    ws.define("Gadget", GADGET_SCHEMA);
    let gadget = |spec: &str| {
        format!("apiVersion: $NS.example.com/v1\nkind: Gadget\nmetadata: {{name: g}}\nspec:\n  size: 1\n{spec}")
    };
    for (field, entries) in [("map", "{k: v}"), ("tuning", "{a: x}")] {
        ws.write("it.yaml", &gadget(&format!("  {field}: {entries}\n")));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.write("it.yaml", &gadget(&format!("  {field}: {{}}\n")));
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
        let error = &diff.object("Gadget", "g")["error"];
        let error = error["mistakes"].get(0).unwrap_or(error);
        let message = format!(
            "`spec.{field}` would be null, which its type does not allow: the apply removes all that was in it"
        );
        let hint =
            "delete the line; to keep an empty value, write it into the live object first, as with `kubectl edit`";
        assert_eq!((&error["message"], &error["hint"]), (&json!(message), &json!(hint)), "{diff}");
        assert_eq!(error["line"], 6, "{diff}");
        // What is advised works, for a null as well.
        let live = ws.fill_in("gadgets.$NS.example.com/g");
        let empty = json!([{"op": "replace", "path": format!("/spec/{field}"), "value": {}}]).to_string();
        ws.write("it.yaml", &gadget(&format!("  {field}:\n")));
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
        let warnings = diff.object("Gadget", "g")["warnings"].to_string();
        assert!(
            warnings
                .contains(&format!("`spec.{field}` has no value and is left out: write a value or delete the line")),
            "{warnings}"
        );
        ws.write("it.yaml", &gadget(""));
        settles(&ws);
        ws.write("it.yaml", &gadget(&format!("  {field}: {entries}\n")));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.kubectl(["patch", &live, "--type=json", "-p", &empty]).exits_with(0);
        ws.write("it.yaml", &gadget(&format!("  {field}: {{}}\n")));
        settles(&ws);
        assert_eq!(ws.get(&ws.fill_in("Gadget.$NS.example.com"), "g")["spec"][field], json!({}));
    }
}

/// The manual changes of an object, and a record that somebody cleared, claim the map around the fields that pass to us.
#[test]
fn a_map_that_others_claim_around_our_fields_goes_with_them() {
    let ws = Workspace::new();
    ws.define("Gear", "properties: {size: {type: integer}, mode: {type: string, default: fast}, tuning: {type: object, properties: {deep: {type: object, additionalProperties: {type: integer}}}}}");
    let gear = |more: &str| ws.write("gear.yaml", &resource("Gear", "it", &format!("size: 1{more}")));
    let live = ws.fill_in("gears.$NS.example.com/it");
    let record = json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]).to_string();
    // The server sets a default beside what client-side apply creates, and our first apply is one that drops the map.
    gear(", tuning: {deep: {a: 1}}");
    ws.kubectl(["apply", "-f", "gear.yaml"]).exits_with(0);
    gear("");
    ws.reconcile(["apply", "-f", "gear.yaml"]).exits_with(0);
    assert_eq!(ws.get(&ws.fill_in("Gear.$NS.example.com"), "it")["spec"], json!({"size": 1, "mode": "fast"}));
    ws.kubectl(["delete", &live]).exits_with(0);
    for is_cleared in [false, true] {
        gear(", tuning: {deep: {a: 1}}");
        ws.kubectl(["create", "-f", "gear.yaml"]).exits_with(0);
        if is_cleared {
            ws.kubectl(["patch", &live, "--type=json", "-p", &record]).exits_with(0);
        }
        ws.reconcile(["apply", "-f", "gear.yaml"]).exits_with(0);
        gear("");
        let diff = ws.reconcile(["diff", "-f", "gear.yaml"]).exits_with(1);
        assert_eq!(diff.object("Gear", "it")["changes"][0]["op"], "remove", "{diff}");
        ws.reconcile(["apply", "-f", "gear.yaml"]).exits_with(0);
        assert_eq!(ws.get(&ws.fill_in("Gear.$NS.example.com"), "it")["spec"], json!({"size": 1, "mode": "fast"}));
        ws.reconcile(["diff", "-f", "gear.yaml"]).exits_with(0);
        ws.kubectl(["delete", &live]).exits_with(0);
    }
}

#[test]
fn a_null_that_the_server_refuses_is_a_mistake_whatever_is_live() {
    let ws = Workspace::new();
    ws.define(
        "Gear",
        "properties: {size: {type: integer}, mode: {type: string, nullable: true, enum: [fast, none], default: none}}",
    );
    let gear = |mode: &str| ws.write("gear.yaml", &resource("Gear", "it", &format!("size: 1, mode: {mode}")));
    let is_refused = || {
        gear("null");
        for command in ["diff", "apply"] {
            let run = ws.reconcile([command, "-f", "gear.yaml"]).exits_with(4);
            assert_eq!(run.object("Gear", "it")["error"]["line"], 1, "{run}");
        }
    };
    is_refused();
    gear("fast");
    ws.kubectl(["create", "-f", "gear.yaml"]).exits_with(0);
    is_refused();
    gear("fast");
    ws.reconcile(["apply", "-f", "gear.yaml"]).exits_with(0);
    is_refused();
    assert_eq!(ws.get(&ws.fill_in("Gear.$NS.example.com"), "it")["spec"]["mode"], "fast");
}

/// An update takes the empty map that the apply turns into null: it says nothing of the apply after manual claims are ours.
#[test]
fn a_map_that_an_apply_empties_is_refused_beside_a_manual_change() {
    const SCHEMA: &str = "
required: [selector]
properties:
  selector: {type: object, properties: {matchLabels: {type: object, additionalProperties: {type: string}}}}
  size: {type: integer}
";
    let ws = Workspace::new();
    ws.define("Gadget", SCHEMA);
    let gadget = |selector: &str| {
        format!(
            "apiVersion: $NS.example.com/v1\nkind: Gadget\nmetadata: {{name: g}}\nspec:\n  selector: {selector}\n  size: 1\n"
        )
    };
    ws.write("it.yaml", &gadget("{matchLabels: {a: b}}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let live = ws.fill_in("gadgets.$NS.example.com/g");
    ws.kubectl(["patch", &live, "--type=merge", "-p", r#"{"spec": {"size": 2}}"#]).exits_with(0);
    ws.write("it.yaml", &gadget("{}"));
    for run in ["diff", "apply"].map(|command| ws.reconcile([command, "-f", "."]).exits_with(4)) {
        assert_eq!(run.writes(), 0, "{run}");
        let error = &run.object("Gadget", "g")["error"];
        let error = error["mistakes"].get(0).unwrap_or(error);
        assert!(error["message"].to_string().contains("`spec.selector` would be null"), "{run}");
        assert_eq!(error["hint"], "write the empty value into the live object first, as with `kubectl edit`", "{run}");
        assert_eq!(error["line"], 5, "{run}");
    }
}

/// An apply makes a map null that may be null, and empties it only the next time: if the server refuses that, nothing is written.
#[test]
fn an_empty_map_that_the_server_refuses_after_it_was_null_is_not_half_written() {
    let ws = Workspace::new();
    ws.define("Gadget", "properties: {size: {type: integer}, zone: {type: object, nullable: true, required: [name], properties: {name: {type: string}}}}");
    let live = |ws: &Workspace| gadget(ws, "g");
    let gadget =
        |spec: &str| format!("apiVersion: $NS.example.com/v1\nkind: Gadget\nmetadata: {{name: g}}\nspec:\n  {spec}\n");
    ws.write("it.yaml", &gadget("{size: 1, zone: {name: a}}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = live(&ws);
    ws.write("it.yaml", &gadget("{size: 2, zone: {}}"));
    for run in ["diff", "apply"].map(|command| ws.reconcile([command, "-f", "."]).exits_with(4)) {
        assert_eq!(run.writes(), 0, "{run}");
        assert!(run.object("Gadget", "g")["error"].to_string().contains("`spec.zone.name`"), "{run}");
    }
    assert_eq!(live(&ws), before);
    ws.write("it.yaml", &gadget("{size: 2, zone: null}"));
    settles(&ws);
}

/// `kubectl apply` leaves a null in a map out, and an apply on the server stores an empty value: a memory limit of nothing is a limit of 0.
#[test]
fn a_null_in_a_map_of_a_built_in_kind_is_named_with_what_the_server_reads() {
    const POD: &str = "
apiVersion: v1
kind: Pod
metadata:
  name: it
  labels: {a: b, tier: }
spec:
  containers:
  - name: web
    image: shop/web:1
    env: [{name: A, value: }]
    resources:
      limits:
        cpu: 1
        memory:
  nodeSelector: {disk: null}
  tolerations:
";
    let ws = Workspace::new();
    ws.write("it.yaml", POD);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let live = ws.get("Pod", "it");
    let stored = |pointer: &str| live.pointer(pointer).unwrap_or_else(|| panic!("{pointer}: {live:#}"));
    assert_eq!(stored("/metadata/labels/tier"), "");
    assert_eq!(stored("/spec/containers/0/resources/limits/memory"), "0");
    assert_eq!(stored("/spec/nodeSelector/disk"), "");
    let named = [
        (6, "metadata.labels.tier", "\"\""),
        (15, "spec.containers[0].resources.limits.memory", "0"),
        (16, "spec.nodeSelector.disk", "\"\""),
    ];
    let expected = named.map(|(line, path, value)| {
        format!("./it.yaml:{line}: `{path}` has no value, and the server reads it as `{value}`: write a value or delete the line")
    });
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    for run in [apply, diff] {
        assert_eq!(run.object("Pod", "it")["warnings"], json!(expected), "{run}");
    }
}

/// The rules of a definition decide over each half of an apply that empties a map: null first, and then the empty map.
#[test]
fn rules_decide_over_both_halves_of_an_apply_that_empties_a_map() {
    const SCHEMA: &str = "
x-kubernetes-validations: [{rule: '!has(self.size) || self.size != 3 || has(self.labels)', message: labels are needed}]
properties:
  size: {type: integer}
  labels: {type: object, nullable: true, additionalProperties: {type: string}}
  frozen: {type: object, nullable: true, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: self == oldSelf, message: frozen}]}
  full: {type: object, nullable: true, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: size(self) > 0, message: nothing in it}]}
";
    let ws = Workspace::new();
    ws.define("Gadget", SCHEMA);
    let gadget = |spec: &str| resource("Gadget", "g", spec);
    let live = ws.fill_in("gadgets.$NS.example.com/g");
    // What is emptied, what the server says, and whether somebody has changed the size by hand.
    for (field, size, refusal, is_manual) in [
        ("labels", 1, None, false),
        ("labels", 1, None, true),
        ("labels", 3, Some("labels are needed"), false),
        ("labels", 3, Some("labels are needed"), true),
        // The value goes in between, so that nothing is compared with it.
        ("frozen", 1, None, false),
        ("full", 1, Some("nothing in it"), false),
        ("full", 1, Some("nothing in it"), true),
    ] {
        let case = format!("{field} {size} {is_manual}");
        ws.write("it.yaml", &gadget(&format!("size: 2, {field}: {{a: b}}")));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        if is_manual {
            ws.kubectl(["patch", &live, "--type=merge", "-p", r#"{"spec": {"size": 7}}"#]).exits_with(0);
        }
        let before = ws.get(&ws.fill_in("Gadget.$NS.example.com"), "g");
        ws.write("it.yaml", &gadget(&format!("size: {size}, {field}: {{}}")));
        let diff = ws.reconcile(["diff", "-f", "."]);
        let apply = ws.reconcile(["apply", "-f", "."]);
        let after = ws.get(&ws.fill_in("Gadget.$NS.example.com"), "g");
        if let Some(refusal) = refusal {
            let diff = diff.exits_with(4);
            assert!(diff.object("Gadget", "g")["error"].to_string().contains(refusal), "{case}: {diff}");
            assert_eq!((apply.exits_with(4).writes(), after), (0, before), "{case}");
        } else {
            diff.exits_with(1);
            apply.exits_with(0);
            assert_eq!(after["spec"], json!({"size": size, field: {}}), "{case}");
            assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0, "{case}");
        }
        ws.kubectl(["delete", &live]).exits_with(0);
    }
}

/// Without the server as well, a null in a map of a built-in kind is the empty value that the server stores.
#[test]
fn a_null_in_a_map_is_in_sync_without_the_server() {
    let ws = Workspace::new();
    let container = "{name: a, image: b, resources: {requests: {memory: null, cpu: 100m}}}";
    let pod = format!("{{restartPolicy: Never, nodeSelector: {{disk: null}}, containers: [{container}]}}");
    let template = format!("jobTemplate: {{spec: {{template: {{spec: {pod}}}}}}}");
    let objects = [
        format!(
            "{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: it}}, spec: {{schedule: '0 3 * * *', {template}}}}}"
        ),
        "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {selector: {a: null, b: c}, ports: [{port: 80}]}}"
            .to_owned(),
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, binaryData: {a: null, b: YQ==}}".to_owned(),
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: it}, spec: {hard: {pods: null, cpu: 1000m}}}"
            .to_owned(),
    ];
    ws.write("it.yaml", &objects.join("\n---\n"));
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.reconcile(["diff", "-f", "it.yaml", "--evidence=server"]).exits_with(0);
    ws.reconcile(["diff", "-f", "it.yaml", "--evidence=read-only"]).exits_with(0);
    ws.reconcile(["snapshot", "-f", "it.yaml", "--file", "live.snapshot"]).exits_with(0);
    ws.reconcile(["diff", "-f", "it.yaml", "--live", "live.snapshot"]).exits_with(0);
}

/// In JSON without a type, inside of a built-in kind, a null is a value. The server refuses every change of this one.
#[test]
fn a_null_in_untyped_json_of_a_built_in_kind_is_a_value() {
    let ws = Workspace::new();
    let revision = |data: &str| {
        format!("{{apiVersion: apps/v1, kind: ControllerRevision, metadata: {{name: it}}, revision: 1, data: {data}}}")
    };
    let values = ["{a: 1}", "{a: 1, b: null}", "{a: {}}", "{a: {b: null}}", "{a: [{}]}", "{a: [{b: null}]}"];
    let ours = "--field-manager=kubectl-reconcile";
    for live in values {
        ws.write("it.yaml", &revision(live));
        ws.kubectl(["apply", "--server-side", ours, "-f", "it.yaml"]).exits_with(0);
        for desired in values {
            ws.write("it.yaml", &revision(desired));
            let server = ws.kubectl(["apply", "--server-side", "--dry-run=server", ours, "-f", "it.yaml"]);
            assert_eq!(server.code == 0, live == desired, "{server}");
            for evidence in ["auto", "server", "read-only"] {
                let diff = ws.reconcile(["diff", "-f", "it.yaml", "--evidence", evidence]);
                assert_eq!(diff.code, i32::from(server.code != 0), "{live} → {desired}: {diff}");
            }
        }
        ws.kubectl(["delete", "-f", "it.yaml"]).exits_with(0);
    }
}
