//! What a CustomResourceDefinition may do that somebody proposes, or that somebody else has in the cluster.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Fault, Proxy, Replaced, Run, Workspace, is_before, resource, wait_until};

const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: 'PLURAL.GROUP'
  annotations: {api-approved.kubernetes.io: 'unapproved, for a test'}
spec:
  group: 'GROUP'
  scope: Cluster
  names: {kind: KIND, plural: 'PLURAL', singular: thing, listKind: Things}
  versions:
  - name: v9
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

fn definition(plural: &str, group: &str, kind: &str) -> String {
    DEFINITION.replaced("PLURAL", plural).replaced("GROUP", group).replaced("KIND", kind)
}

fn object(group: &str, kind: &str) -> String {
    format!("{{apiVersion: '{group}/v9', kind: {kind}, metadata: {{name: it}}}}")
}

/// Waits until the server serves a definition. `kubectl wait` fails as long as the definition has no conditions at all.
fn wait_until_established(ws: &Workspace, name: &str) {
    let wait = ["wait", "--for=condition=Established", &format!("crd/{name}"), "--timeout=5s"];
    wait_until("the definition is established", || ws.kubectl(wait).code == 0);
}

/// Permissions that the printed roles grant, as `RESOURCE.GROUP VERBS`.
fn granted(run: &Run) -> Vec<String> {
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"));
    let all = report["roles"].as_array().unwrap().iter();
    let rules = all.flat_map(|role| role["rules"].as_array().into_iter().flatten());
    let rule = |rule: &Value| {
        let texts = |key: &str| -> String {
            let texts = rule[key].as_array().into_iter().flatten().filter_map(Value::as_str);
            texts.collect::<Vec<_>>().join(",")
        };
        format!("{}.{} {}", texts("resources"), texts("apiGroups"), texts("verbs"))
    };
    rules.map(rule).collect()
}

#[test]
fn a_definition_that_the_server_refuses_grants_nothing_and_is_named_with_its_line() {
    let ws = Workspace::new();
    // The first line with a mistake, and a mistake with its line.
    for (plural, group, first, line, message) in [
        ("*", "example.com", 5, 10, "`*` cannot be the plural name of a CustomResourceDefinition"),
        ("things", "*", 5, 8, "`*` cannot be the group of a CustomResourceDefinition"),
        ("things", "apps", 8, 8, "`apps` cannot be the group of a CustomResourceDefinition"),
    ] {
        ws.write("crd.yaml", &definition(plural, group, "Thing"));
        ws.write("it.yaml", &object(group, "Thing"));
        ws.kubectl(["create", "--dry-run=server", "-f", "crd.yaml"]).exits_with(1);
        let access = ws.reconcile(["access", "-f", ".", "--for=apply", "-o", "json"]);
        assert_eq!(access.code, 4, "{access}");
        assert_eq!(granted(&access), [""; 0], "{access}");
        assert!(access.stderr.contains(&format!("crd.yaml:{first}:")), "{access}");
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
        let error = &diff.object("CustomResourceDefinition", &format!("{plural}.{group}"))["error"];
        let mistakes = error["mistakes"].as_array().cloned().unwrap_or_else(|| vec![error.clone()]);
        let is_named = |mistake: &Value| mistake["message"] == message && mistake["line"] == line;
        assert!(mistakes.iter().any(is_named), "{error}");
        assert_eq!(diff.object("Thing", "it")["error"]["reason"], "UnknownKind", "{diff}");
    }
    let other = definition("things", "example.com", "Thing").replaced("name: 'things", "name: 'others");
    ws.write("crd.yaml", &other);
    ws.kubectl(["create", "--dry-run=server", "-f", "crd.yaml"]).exits_with(1);
    let diff = ws.reconcile(["diff", "-f", "crd.yaml"]).exits_with(4);
    let error = &diff.object("CustomResourceDefinition", "others.example.com")["error"];
    let message = "`others.example.com` cannot be the name of this CustomResourceDefinition";
    assert_eq!(error["message"], message, "{diff}");
}

/// The server would serve such a kind, as another version of its own group, and its permissions would be those on the resource that
/// has the name already.
#[test]
fn a_definition_takes_no_resource_over() {
    let plane = ControlPlane::private();
    let ws = Workspace::on(&plane);
    let group = "rbac.authorization.k8s.io";
    let plural = "clusterrolebindings";
    ws.write("crd.yaml", &definition(plural, group, "Thing"));
    ws.write("it.yaml", &object(group, "Thing"));
    ws.kubectl(["create", "--dry-run=server", "-f", "crd.yaml"]).exits_with(0);
    let access = || ws.reconcile(["access", "-f", ".", "--for=apply", "-o", "json"]);
    let proposed = access();
    assert_eq!(proposed.code, 4, "{proposed}");
    let own = ["customresourcedefinitions.apiextensions.k8s.io get,create,patch"];
    assert_eq!(granted(&proposed), own, "{proposed}");
    let hint = format!("does not count, because `{group}` is an API group of Kubernetes itself");
    assert!(proposed.stderr.contains(&hint), "{proposed}");

    ws.kubectl(["create", "-f", "crd.yaml"]).exits_with(0);
    wait_until_established(&ws, &format!("{plural}.{group}"));
    let live = access();
    assert_eq!((live.code, granted(&live)), (4, own.map(ToOwned::to_owned).to_vec()), "{live}");

    let taken = "things.$NS.example.com";
    ws.write("crd.yaml", &definition("things", "$NS.example.com", "Thing"));
    ws.kubectl(["create", "-f", "crd.yaml"]).exits_with(0);
    wait_until_established(&ws, taken);
    ws.write("crd.yaml", &definition("things", "$NS.example.com", "Other"));
    ws.write("it.yaml", &object("$NS.example.com", "Other"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let why = ws.fill_in("the server has `things` as the plural name of `Thing` in `$NS.example.com`");
    let hint = diff.object("Other", "it")["error"]["hint"].as_str().unwrap_or_default().to_owned();
    assert!(hint.ends_with(&why), "{hint}");
    ws.kubectl(["delete", "crd", &ws.fill_in(taken)]).exits_with(0);
}

/// A definition of 600 KB, which each of its versions repeats in discovery.
fn huge() -> String {
    let mut names = String::new();
    for number in 0..9000 {
        let _ = write!(
            names,
            "{}a{number:05}{}",
            if number == 0 { "" } else { "," },
            "abcdefghij".repeat(6).get(..57).unwrap()
        );
    }
    let schema = "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}";
    let mut versions = String::new();
    for number in 1..=30 {
        let _ = writeln!(versions, "  - {{name: v{number}, served: true, storage: {}, schema: {schema}}}", number == 1);
    }
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: giants.example.com}}\nspec:\n  \
         group: example.com\n  scope: Namespaced\n  names: {{kind: Giant, plural: giants, shortNames: [{names}]}}\n  versions:\n{versions}"
    )
}

/// A placeholder, which an injector replaces that comes later. The server does not establish such a definition, however long one waits.
#[test]
fn a_definition_that_waits_for_its_ca_bundle_is_written_and_named() {
    if is_before(31, "a definition with such a bundle is established, and each request for its kind fails") {
        return;
    }
    let ws = Workspace::new();
    let group = ws.fill_in("$NS.example.com");
    let conversion = "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: Cg==, service: {name: x, namespace: x}}}}\n  versions:\n";
    let held = definition("things", &group, "Thing").replaced("  versions:\n", conversion);
    ws.write(
        "crd.yaml",
        &held.replaced("annotations", "labels").replaced("api-approved.kubernetes.io: 'unapproved, for a test'", ""),
    );
    ws.write("map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}");
    let reason = "is not served: The conversion webhook CABundle is invalid";
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert!(apply.stderr.contains(reason), "{apply}");
    assert!(apply.stdout.contains("2 created"), "{apply}");
    let again = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(again.writes(), 0, "{again}");

    ws.kubectl(["delete", "-f", "crd.yaml"]).exits_with(0);
    ws.write("thing.yaml", &object(&group, "Thing"));
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("CustomResourceDefinition", &format!("things.{group}"))["outcome"], "created", "{apply}");
    let thing = apply.object("Thing", "it");
    assert_eq!((&thing["outcome"], &thing["error"]["reason"]), (&json!("skipped"), &json!("UnknownKind")), "{apply}");
    assert!(thing["error"]["message"].as_str().is_some_and(|message| message.contains(reason)), "{apply}");
}

#[test]
fn a_huge_definition_of_somebody_else_stops_nobody() {
    let plane = ControlPlane::private();
    let ws = Workspace::on(&plane);
    ws.stdin(&huge()).kubectl(["create", "-f", "-"]).exits_with(0);
    wait_until_established(&ws, "giants.example.com");
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}");
    ws.write("giant.yaml", "{apiVersion: example.com/v30, kind: Giant, metadata: {name: it}, spec: {a: b}}");
    ws.kubectl(["diff", "-f", "it.yaml"]).exits_with(1);
    let (diff, memory) = ws.start_reconcile(["diff", "-f", "."]).finish_measured();
    assert_eq!(diff.code, 1, "{diff}");
    assert_eq!(diff.each("action"), ["ConfigMap it: create", "Giant it: create"], "{diff}");
    assert!(memory < 200, "{memory} MiB");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);

    // The same without aggregated discovery.
    let proxy = Proxy::new(&ws);
    proxy.inject(999, "GET", "/api", Fault::PlainJson);
    let (legacy, memory) = ws.through(&proxy.url()).start_reconcile(["diff", "-f", "."]).finish_measured();
    assert_eq!(legacy.code, 0, "{legacy}");
    assert!(memory < 200, "{memory} MiB");
}

/// Kinds graduate: the new version has a field that the old one lacks, and records of owners are in the old one.
#[test]
fn a_custom_resource_moves_to_a_version_with_a_new_field() {
    for edited in [false, true] {
        let ws = Workspace::new();
        let text = "{type: string}";
        let version = |name: &str, storage: bool, fields: &str| {
            format!(
                "{{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{fields}}}}}}}}}}}}}"
            )
        };
        let (old, new) = (
            version("v1beta1", false, &format!("size: {text}, other: {text}")),
            version("v1", true, &format!("size: {text}, other: {text}, extra: {text}")),
        );
        ws.write("crd.yaml", &format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: gears.$NS.example.com}},
               spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: gears, kind: Gear}}, versions: [{old}, {new}]}}}}"
        ));
        ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
        wait_until_established(&ws, &ws.fill_in("gears.$NS.example.com"));
        ws.wait_for_types();
        ws.write(
            "g.yaml",
            "{apiVersion: $NS.example.com/v1beta1, kind: Gear, metadata: {name: g}, spec: {size: small}}",
        );
        ws.reconcile(["apply", "-f", "g.yaml"]).exits_with(0);
        if edited {
            let resource = ws.fill_in("gears.v1beta1.$NS.example.com/g");
            ws.kubectl(["patch", &resource, "--type=merge", "-p", r#"{"spec": {"size": "large", "other": "x"}}"#])
                .exits_with(0);
        }
        ws.write(
            "g.yaml",
            "{apiVersion: $NS.example.com/v1, kind: Gear, metadata: {name: g}, spec: {size: small, extra: more}}",
        );
        let diff = ws.reconcile(["diff", "-f", "g.yaml"]).exits_with(1);
        assert_eq!(diff.object("Gear", "g")["action"], "update", "{diff}");
        ws.reconcile(["apply", "-f", "g.yaml"]).exits_with(0);
        let resource = ws.fill_in("gears.$NS.example.com");
        let spec = ws.get(&resource, "g")["spec"].clone();
        assert_eq!((&spec["size"], &spec["extra"]), (&"small".into(), &"more".into()), "{spec}");
        assert_eq!(spec.get("other").is_some(), edited, "what others added stays: {spec}");
        ws.reconcile(["diff", "-f", "g.yaml"]).exits_with(0);
        assert_eq!(ws.reconcile(["apply", "-f", "g.yaml"]).exits_with(0).writes(), 0);
        // A field that no version has is still a mistake at its line.
        ws.write(
            "g.yaml",
            "{apiVersion: $NS.example.com/v1, kind: Gear, metadata: {name: g}, spec: {size: small, extar: more}}",
        );
        let wrong = ws.reconcile(["diff", "-f", "g.yaml"]).exits_with(4);
        assert!(wrong.stdout.contains("unknown field `extar`"), "{wrong}");
    }
}

/// The server knows the kind once the definition is applied. Mistakes are found before anything is.
#[test]
fn a_resource_is_checked_against_its_definition_in_the_same_input() {
    let ws = Workspace::new();
    let schema = "{type: object, properties: {spec: {type: object, properties: {size: {type: integer}, open: {type: object, x-kubernetes-preserve-unknown-fields: true}, map: {type: object, additionalProperties: {type: string}}}}}}";
    let crd = format!(
        "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: cogs.$NS.example.com}},
           spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: cogs, kind: Cog}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}]}}}}"
    );
    ws.write("crd.yaml", &crd);
    let cog = "apiVersion: $NS.example.com/v1\nkind: Cog\nmetadata: {name: a, labels: {a: b}}\nspec:\n  size: SIZE\n  MORE\n  open: {anything: [1]}\n  map: {a: b}\n";
    ws.write("cog.yaml", &cog.replace("SIZE", "'3'").replace("MORE", "siez: 3"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let mistakes = diff.object("Cog", "a")["error"]["mistakes"].clone();
    let found: Vec<_> =
        mistakes.as_array().unwrap().iter().map(|one| (one["line"].clone(), one["message"].clone())).collect();
    assert_eq!(found.len(), 2, "{diff}");
    assert_eq!(found[0].0, 5);
    assert!(found[0].1.as_str().unwrap().contains("`spec.size`"), "{diff}");
    assert_eq!(found[1], (6.into(), "unknown field `siez` in `spec`".into()));
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(4).object("Cog", "a")["outcome"], "skipped");
    // The server's own judgement once the definition is there.
    wait_until_established(&ws, &ws.fill_in("cogs.$NS.example.com"));
    ws.wait_for_types();
    ws.reconcile(["diff", "-f", "."]).exits_with(4);
    ws.write("cog.yaml", &cog.replace("SIZE", "3").replace("  MORE\n", ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    // Without mistakes, both are created in one pass.
    ws.write(
        "crd.yaml",
        &crd.replaced("cogs.$NS", "cams.$NS").replaced("plural: cogs, kind: Cog", "plural: cams, kind: Cam"),
    );
    ws.write("cog.yaml", &cog.replaced("kind: Cog", "kind: Cam").replace("SIZE", "3").replace("  MORE\n", ""));
    assert_eq!(ws.reconcile(["diff", "-f", "."]).exits_with(1).object("Cam", "a")["action"], "create");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
}

/// Since 1.37, the server keeps the records of owners as they are if it cannot convert a custom resource to the version of one of them; it
/// used to drop them. A change that they lack was not made in the manifests.
#[test]
fn a_record_that_the_server_could_not_update_is_not_believed() {
    let ws = Workspace::new();
    ws.write(
        "crd.yaml",
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: cogs.$NS.example.com}, spec: {
           group: $NS.example.com, scope: Namespaced, names: {plural: cogs, kind: Cog}, versions: [
             {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {
               spec: {type: object, properties: {size: {type: string}, other: {type: string}}}}}}},
             {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
               spec: {type: object, properties: {size: {type: string}, other: {type: string}, extra: {type: string}}}}}}}]}}",
    );
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    wait_until_established(&ws, &ws.fill_in("cogs.$NS.example.com"));
    ws.wait_for_types();
    let manifest = |version: &str, name: &str, spec: &str| {
        let text = "{apiVersion: $NS.example.com/VERSION, kind: Cog, metadata: {name: NAME}, spec: SPEC}";
        text.replaced("VERSION", version).replaced("NAME", name).replaced("SPEC", spec)
    };
    let patch = |name: &str, patch: &str| {
        let resource = ws.fill_in(&format!("cogs.v1.$NS.example.com/{name}"));
        ws.kubectl(["patch", &resource, "--type=merge", "-p", patch]).exits_with(0);
    };
    let change_in = |name: &str, flags: &[&str]| {
        let diff = ws.reconcile([&["diff", "-f", "cog.yaml"], flags].concat()).exits_with(1);
        let changes = diff.object("Cog", name)["changes"].as_array().expect("changes").clone();
        changes.into_iter().find(|change| change["path"] == "spec.size").unwrap_or_else(|| panic!("{diff}"))
    };
    let change = |name: &str| change_in(name, &[]);
    // The other version lacks the new field, so that the record in it stays as it is while `size` changes.
    ws.write("cog.yaml", &manifest("v1beta1", "changed", "{size: small}"));
    ws.reconcile(["apply", "-f", "cog.yaml"]).exits_with(0);
    patch("changed", r#"{"spec": {"size": "large", "extra": "x"}}"#);
    ws.write("cog.yaml", &manifest("v1", "changed", "{size: small}"));
    let changed = change("changed");
    assert_eq!((&changed["class"], &changed["side"]), (&"unrecorded".into(), &"either".into()), "{changed}");
    // Without a dry run, the type of the other version tells it.
    ws.reconcile(["snapshot", "-f", "cog.yaml", "--file", "state.yaml"]).exits_with(0);
    for flags in [&["--evidence", "read-only"][..], &["--live", "state.yaml"]] {
        let changed = change_in("changed", flags);
        assert_eq!((&changed["class"], &changed["side"]), (&"unrecorded".into(), &"either".into()), "{changed}");
    }

    // The object can be converted again, and the record names a field that is gone.
    ws.write("cog.yaml", &manifest("v1beta1", "removed", "{size: small, other: a}"));
    ws.reconcile(["apply", "-f", "cog.yaml"]).exits_with(0);
    patch("removed", r#"{"spec": {"size": null, "extra": "x"}}"#);
    patch("removed", r#"{"spec": {"extra": null}}"#);
    let removed = change("removed");
    assert_ne!((&removed["class"], &removed["side"]), (&"pending".into(), &"manifest".into()), "{removed}");
    assert_eq!(removed["side"], "either", "{removed}");

    // A record that was written says which side moved.
    ws.write("cog.yaml", &manifest("v1beta1", "recorded", "{size: small}"));
    ws.reconcile(["apply", "-f", "cog.yaml"]).exits_with(0);
    ws.write("cog.yaml", &manifest("v1beta1", "recorded", "{size: large}"));
    let recorded = change("recorded");
    assert_eq!((&recorded["class"], &recorded["side"]), (&"pending".into(), &"manifest".into()), "{recorded}");
    ws.write("cog.yaml", &manifest("v1", "recorded", "{size: large}"));
    ws.reconcile(["snapshot", "-f", "cog.yaml", "--file", "state.yaml"]).exits_with(0);
    for flags in [&[][..], &["--evidence", "read-only"], &["--live", "state.yaml"]] {
        let recorded = change_in("recorded", flags);
        assert_eq!((&recorded["class"], &recorded["side"]), (&"pending".into(), &"manifest".into()), "{recorded}");
    }
}

/// What the server says of the values once the definition is in force is found before it is.
#[test]
fn values_are_checked_against_the_definition_in_the_same_input() {
    let ws = Workspace::new();
    let spec = r"{type: object, required: [size, mode, given], minProperties: 2, properties: {
        size: {type: integer, minimum: 1, maximum: 9}, ratio: {type: number, minimum: 0, exclusiveMinimum: true, maximum: 1},
        even: {type: integer, multipleOf: 2}, mode: {type: string, enum: [fast, slow]}, level: {type: integer, enum: [1, 2]},
        given: {type: string, default: 'yes'}, name: {type: string, minLength: 2, maxLength: 5, pattern: '^[a-z\d]+$'},
        hosts: {type: array, minItems: 1, maxItems: 2, items: {type: object, required: [host], properties: {host: {type: string}, port: {type: integer, maximum: 100}}}},
        limits: {type: object, maxProperties: 1, additionalProperties: {type: integer, minimum: 0}}}}";
    let crd = format!(
        "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: cogs.$NS.example.com}},
           spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: cogs, kind: Cog}}, versions: [{{name: v1, served: true, storage: true,
             schema: {{openAPIV3Schema: {{type: object, required: [spec], properties: {{spec: {spec}}}}}}}}}]}}}}"
    );
    ws.write("crd.yaml", &crd);
    let cog = |name: &str, spec: &str| {
        format!("apiVersion: $NS.example.com/v1\nkind: Cog\nmetadata: {{name: {name}}}\n{spec}\n")
    };
    let cases = [
        ("none", ""),
        ("fields", "spec: {size: 10, ratio: 0, even: 3, mode: fats, level: 3, name: A, hosts: []}"),
        ("bounds", "spec: {size: 0, ratio: 1.5, mode: slow, name: abcdef, hosts: [{host: a}, {port: 101}, {host: c}]}"),
        ("inner", "spec: {size: 3, limits: {a: -1, b: 2}, hosts: [{}]}"),
        ("few", "spec: {}"),
        ("wrong", "spec: {size: 1, mode: slow, name: a-b}"),
        ("fraction", "spec: {size: 1.5, mode: slow, limits: {a: 2.5}}"),
        (
            "good",
            "spec: {size: 3, mode: slow, ratio: 1, even: 4, name: a1, level: 2, hosts: [{host: a, port: 100}], limits: {a: 0}}",
        ),
    ];
    ws.write("cogs.yaml", &cases.map(|(name, spec)| cog(name, spec)).join("---\n"));
    let mistakes = |run: &Run| -> Vec<Value> {
        let of = |name: &str| run.object("Cog", name)["error"]["mistakes"].clone();
        cases.map(|(name, _)| of(name)).to_vec()
    };
    let before = ws.reconcile(["diff", "-f", "crd.yaml", "-f", "cogs.yaml"]).exits_with(4);
    assert_eq!(before.object("Cog", "good")["action"], "create");
    // No server is needed for it.
    ws.write("none.yaml", "");
    let offline = ws.reconcile(["diff", "--live", "none.yaml", "-f", "crd.yaml", "-f", "cogs.yaml"]).exits_with(4);
    assert_eq!(offline.object("Cog", "good")["action"], "create");
    assert_eq!(mistakes(&offline), mistakes(&before));
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    wait_until_established(&ws, &ws.fill_in("cogs.$NS.example.com"));
    ws.wait_for_types();
    let after = ws.reconcile(["diff", "-f", "crd.yaml", "-f", "cogs.yaml"]).exits_with(4);
    assert_eq!(after.object("Cog", "good")["action"], "create");
    let words_differ = is_before(34, "the words for mistakes in custom resources are those of newer versions");
    // `kubectl explain` knows the kind once its definition is there.
    let hints = |mistakes: &[Value]| -> Vec<String> {
        let all = mistakes.iter().filter_map(Value::as_array).flatten();
        let hints = all.filter_map(|mistake| mistake["hint"].as_str());
        hints.filter(|hint| hint.starts_with("see what belongs there ")).map(ToOwned::to_owned).collect()
    };
    let (early, late) = (hints(&mistakes(&before)), hints(&mistakes(&after)));
    assert!(!early.is_empty() && early.len() == late.len(), "{early:?} {late:?}");
    let place =
        ws.fill_in("see what belongs there in the CustomResourceDefinition `cogs.$NS.example.com` of the input");
    assert!(early.iter().all(|hint| *hint == place), "{early:?}");
    assert!(late.iter().all(|hint| hint.contains("`kubectl explain cog")), "{late:?}");
    let mistakes = |run: &Run| -> Vec<Value> {
        let mut all = mistakes(run);
        for mistake in all.iter_mut().filter_map(Value::as_array_mut).flatten() {
            let is_place = |hint: &Value| hint.as_str().is_some_and(|hint| hint.starts_with("see what belongs there "));
            if mistake.get("hint").is_some_and(is_place) {
                mistake.as_object_mut().unwrap().remove("hint");
            }
        }
        all
    };
    let place = |mistake: &Value| format!("{}:{}", mistake["line"], mistake["column"]);
    let places = |mistakes: &Value| mistakes.as_array().map(|all| all.iter().map(place).collect::<Vec<_>>());
    for ((name, _), (before, after)) in cases.iter().zip(mistakes(&before).into_iter().zip(mistakes(&after))) {
        if words_differ {
            assert_eq!(places(&before), places(&after), "{name}");
        } else {
            assert_eq!(before, after, "{name}");
        }
        assert_eq!(before.is_null(), *name == "good", "{name}");
    }
}

#[test]
fn a_hint_names_some_of_many_values() {
    let ws = Workspace::new();
    let values: Vec<String> = (1000..4000).map(|at| format!("v{at}")).collect();
    let list = values.join(", ");
    ws.write(
        "crd.yaml",
        &format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: cogs.$NS.example.com}},
               spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: cogs, kind: Cog}}, versions: [{{name: v1, served: true, storage: true,
                 schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{
                   modes: {{type: array, items: {{type: string, enum: [{list}]}}}}}}}}}}}}}}}}]}}}}"
        ),
    );
    ws.write(
        "cog.yaml",
        "{apiVersion: $NS.example.com/v1, kind: Cog, metadata: {name: it}, spec: {modes: [fast, v3999, slow]}}",
    );
    let named: Vec<String> = values.iter().take(20).map(|value| format!("`{value}`")).collect();
    let hint = format!("the server takes {} and 2,980 more", named.join(", "));
    let check = |files: &[&str]| {
        let run = ws.reconcile([&["diff"], files].concat()).exits_with(4);
        let mistakes = run.object("Cog", "it")["error"]["mistakes"].as_array().cloned().unwrap_or_default();
        assert_eq!(mistakes.len(), 2, "{run}");
        assert!(mistakes.iter().all(|mistake| mistake["hint"] == hint), "{run}");
    };
    ws.write("none.yaml", "");
    check(&["--live", "none.yaml", "-f", "crd.yaml", "-f", "cog.yaml"]);
    check(&["-f", "crd.yaml", "-f", "cog.yaml"]);
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    wait_until_established(&ws, &ws.fill_in("cogs.$NS.example.com"));
    ws.wait_for_types();
    check(&["-f", "cog.yaml"]);
}

/// A definition that claims a built-in kind says nothing about its objects, without a server either.
#[test]
fn no_definition_of_the_input_is_that_of_a_built_in_kind() {
    let ws = Workspace::new();
    let schema =
        "{type: object, properties: {spec: {type: object, properties: {replicas: {type: integer, maximum: 1}}}}}";
    ws.write(
        "crd.yaml",
        &format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: deployments.apps}},
               spec: {{group: apps, scope: Namespaced, names: {{plural: deployments, kind: Deployment}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}]}}}}"
        ),
    );
    ws.write("web.yaml", crate::manifests::WEB);
    ws.write("none.yaml", "");
    let diff = ws.reconcile(["diff", "--live", "none.yaml", "-f", "crd.yaml", "-f", "web.yaml"]).exits_with(4);
    assert_eq!(diff.object("Deployment", "web")["action"], "create", "{diff}");
}

const GEARS: &str = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gears.$NS.example.com}, spec: {
  group: $NS.example.com, scope: Namespaced, names: {plural: gears, kind: Gear}, versions: [{name: v1, served: true, storage: true,
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      tags: {type: array, x-kubernetes-list-type: set, items: {type: string}},
      ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, protocol],
              items: {type: object, required: [port], properties: {port: {type: integer}, protocol: {type: string, default: TCP}}}},
      parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],
              items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}},
      inner: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}";

/// An apply reads lists of type set and map into items with different keys. No server is needed to know that.
#[test]
fn items_with_the_same_key_are_found_without_a_server() {
    let ws = Workspace::new();
    ws.write("crd.yaml", GEARS);
    ws.write("none.yaml", "");
    let gear = |name: &str, spec: &str| {
        ws.fill_in(&format!("apiVersion: $NS.example.com/v1\nkind: Gear\nmetadata: {{name: {name}}}\nspec: {spec}\n"))
    };
    let finalizers = "finalizers: [example.com/a, example.com/b, example.com/a, example.com/a]";
    let texts = [
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: finalized, {finalizers}}}\n"),
        "apiVersion: v1\nkind: Service\nmetadata: {name: ports}\nspec:\n  ports:\n  - port: 80\n  - {port: 80, protocol: TCP}\n  - {port: 80, protocol: UDP}\n".to_owned(),
        gear("tags", "{tags: [a, b, a]}"),
        gear("ports", "{ports: [{port: 80}, {port: 81}, {port: 80, protocol: TCP}]}"),
        gear("keyless", "{parts: [{name: a}, {size: 1}]}"),
        gear("embedded", &format!("{{inner: {{apiVersion: v1, kind: Pod, metadata: {{{finalizers}}}}}}}")),
        gear("good", "{tags: [a, b], ports: [{port: 80}, {port: 80, protocol: UDP}], parts: [{name: a}, {name: b}]}"),
    ];
    ws.write("all.yaml", &texts.join("---\n"));
    let names = [("ConfigMap", "finalized"), ("Service", "ports")];
    let gears = ["tags", "ports", "keyless", "embedded"].map(|name| ("Gear", name));
    let wrong: Vec<(&str, &str)> = names.into_iter().chain(gears).collect();
    let mistakes = |run: &Run| -> Vec<Value> {
        assert_eq!(run.object("Gear", "good")["action"], "create", "{run}");
        wrong.iter().map(|(kind, name)| run.object(kind, name)["error"].clone()).collect()
    };
    let offline = ["diff", "-f", "crd.yaml,all.yaml", "--live", "none.yaml", "-n", "$NS"];
    let before = mistakes(&ws.reconcile(offline).exits_with(4));
    let message = before[0]["message"].as_str().unwrap();
    assert!(message.starts_with("`metadata.finalizers` has `example.com/a` twice, first at "), "{message}");
    // Without a server, but not without its types.
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    wait_until_established(&ws, &ws.fill_in("gears.$NS.example.com"));
    ws.wait_for_types();
    let online = ws.reconcile(["diff", "-f", "crd.yaml,all.yaml"]).exits_with(4);
    assert_eq!(before, mistakes(&online), "{online}");
    assert_eq!(before, mistakes(&ws.reconcile(offline).exits_with(4)));
    // An object that exists keeps such a list no better.
    ws.write("live.yaml", &gear("tags", "{tags: [a]}"));
    let live = ws.reconcile(["diff", "-f", "crd.yaml,all.yaml", "--live", "live.yaml", "-n", "$NS"]).exits_with(4);
    assert_eq!(before[2], live.object("Gear", "tags")["error"], "{live}");
}

/// The type of an embedded object has to be there, and its metadata follow the rules of all objects.
#[test]
fn embedded_objects_are_checked_against_the_definition_in_the_same_input() {
    let ws = Workspace::new();
    ws.write("crd.yaml", GEARS);
    ws.write("none.yaml", "");
    let cases = [
        ("untyped", "{metadata: {name: a}}"),
        ("empty", "{apiVersion: '', kind: ''}"),
        ("badly-typed", "{apiVersion: a/b/c, kind: a b}"),
        ("misnamed", "{apiVersion: v1, kind: Pod, metadata: {name: a/b, namespace: A_b}}"),
        ("labels", "{apiVersion: v1, kind: Pod, metadata: {labels: {a b: c, d: 'e f'}}}"),
        ("annotations", "{apiVersion: v1, kind: Pod, metadata: {annotations: {a b: c}}}"),
        ("fields", "{apiVersion: v1, kind: Pod, metadata: {labels: {a: 1}, lables: {}}}"),
        (
            "good",
            "{apiVersion: v1, kind: Pod, metadata: {name: A_b, labels: {a: ''}, annotations: {A/b: ' '}}, spec: 1}",
        ),
    ];
    let gears = cases.map(|(name, inner)| {
        format!("apiVersion: $NS.example.com/v1\nkind: Gear\nmetadata: {{name: {name}}}\nspec:\n  inner: {inner}\n")
    });
    ws.write("gears.yaml", &gears.join("---\n"));
    let places = |run: &Run| -> Vec<Vec<String>> {
        assert_eq!(run.object("Gear", "good")["action"], "create", "{run}");
        let of = |error: &Value| -> Vec<String> {
            let all = error["mistakes"].as_array().cloned().unwrap_or_else(|| vec![error.clone()]);
            let mut places: Vec<String> = all.iter().map(|one| format!("{}:{}", one["line"], one["column"])).collect();
            places.dedup();
            places
        };
        cases[..7].iter().map(|(name, _)| of(&run.object("Gear", name)["error"])).collect()
    };
    let before = ws.reconcile(["diff", "-f", "crd.yaml,gears.yaml"]).exits_with(4);
    let offline = ws.reconcile(["diff", "-f", "crd.yaml,gears.yaml", "--live", "none.yaml", "-n", "$NS"]).exits_with(4);
    for name in ["untyped", "empty", "misnamed"] {
        assert_eq!(before.object("Gear", name)["error"], offline.object("Gear", name)["error"]);
    }
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    wait_until_established(&ws, &ws.fill_in("gears.$NS.example.com"));
    ws.wait_for_types();
    let after = ws.reconcile(["diff", "-f", "crd.yaml,gears.yaml"]).exits_with(4);
    assert_eq!(places(&before), places(&after), "{before}{after}");
    assert_eq!(places(&offline), places(&after), "{offline}{after}");
}

/// An upgrade brings a version and objects in it. They exist already, in the version that the server serves.
#[test]
fn objects_in_a_version_that_the_same_input_brings_are_compared_with_those_that_exist() {
    for drops_old in [false, true] {
        let ws = Workspace::new();
        let version = |name: &str, served: bool, storage: bool, fields: &str| {
            format!(
                "{{name: {name}, served: {served}, storage: {storage}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{fields}}}}}}}}}}}}}"
            )
        };
        let crd = |versions: &str| {
            format!(
                "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: cams.$NS.example.com}},
                   spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: cams, kind: Cam}}, versions: [{versions}]}}}}"
            )
        };
        let old = "size: {type: string}, lobes: {type: array, items: {type: object, properties: {name: {type: string}, lift: {type: integer}}, required: [name]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]}";
        let new = format!("{old}, extra: {{type: string}}");
        let cam = |name: &str, version: &str, spec: &str| {
            format!(
                "{{apiVersion: $NS.example.com/{version}, kind: Cam, metadata: {{name: {name}}}, spec: {spec}}}\n---\n"
            )
        };
        ws.write("crd.yaml", &crd(&version("v1beta1", true, true, old)));
        let lobes = "lobes: [{name: a, lift: 1}, {name: b, lift: 2}]";
        let cams = |version: &str, size: &str| {
            [
                cam("same", version, &format!("{{size: small, {lobes}}}")),
                cam("moved", version, &format!("{{size: {size}, {lobes}}}")),
            ]
            .concat()
        };
        ws.write("cams.yaml", &cams("v1beta1", "small"));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
        let edited = ws.fill_in("cams.v1beta1.$NS.example.com/moved");
        let patch = r#"[{"op": "replace", "path": "/spec/lobes/1/lift", "value": 7}]"#;
        ws.kubectl(["patch", &edited, "--type=json", "-p", patch]).exits_with(0);
        ws.write("former/cams.yaml", &cams("v1beta1", "small"));

        let both = [version("v1beta1", !drops_old, false, old), version("v1", true, true, &new)].join(", ");
        ws.write("crd.yaml", &crd(&both));
        ws.write("cams.yaml", &(cams("v1", "large") + &cam("new", "v1", "{size: small, extra: x}")));
        let reconcile = |words: &[&str]| ws.reconcile([words, &["-f", "crd.yaml", "-f", "cams.yaml"]].concat());
        let diff = reconcile(&["diff"]).exits_with(1);
        let action = |name: &str| diff.object("Cam", name)["action"].clone();
        assert_eq!([action("same"), action("moved"), action("new")], ["none", "update", "create"], "{diff}");
        let paths = |object: &Value| -> Vec<(String, String)> {
            let of = |change: &Value| {
                (change["path"].as_str().unwrap().to_owned(), change["side"].as_str().unwrap().to_owned())
            };
            object["changes"].as_array().unwrap().iter().map(of).collect()
        };
        let expected = [("spec.lobes[name=b].lift", "cluster"), ("spec.size", "manifest")];
        let expected = expected.map(|(path, side)| (path.to_owned(), side.to_owned()));
        assert_eq!(paths(diff.object("Cam", "moved")), expected, "{diff}");
        assert_eq!(diff.object("Cam", "moved")["evidence"], "local", "{diff}");
        let base = reconcile(&["diff", "--base", "former"]).exits_with(1);
        assert_eq!(paths(base.object("Cam", "moved")), expected, "{base}");

        let run = if drops_old {
            reconcile(&["apply"])
        } else {
            reconcile(&["diff", "--save-plan", "plan"]).exits_with(1);
            reconcile(&["apply", "--plan", "plan"])
        };
        let run = run.exits_with(0);
        assert_eq!(run.object("Cam", "same")["outcome"], "adopted", "{run}");
        assert_eq!(run.object("Cam", "moved")["outcome"], "updated", "{run}");
        ws.wait_for_types();
        reconcile(&["diff"]).exits_with(0);
        assert_eq!(ws.get(&ws.fill_in("cams.$NS.example.com"), "moved")["spec"]["lobes"][1]["lift"], 2);
    }
}

/// How a list merges may change with the definition: what an apply does now is not what it does then.
#[test]
fn a_definition_that_changes_how_lists_merge_is_told_before_it_is_applied() {
    let ws = Workspace::new();
    let crd = |list: &str| {
        format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: cogs.$NS.example.com}},
               spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: cogs, kind: Cog}}, versions: [{{name: v1, served: true, storage: true,
                 schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{num: {{type: integer}},
                   rules: {{type: array, {list} items: {{type: object, required: [name], properties: {{name: {{type: string}}, v: {{type: integer}}}}}}}}}}}}}}}}}}}}]}}}}"
        )
    };
    let keyed = "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],";
    let cog = "{apiVersion: $NS.example.com/v1, kind: Cog, metadata: {name: NAME}, spec: {num: NUM, rules: [{name: a, v: 1}, {name: b, v: 2}]}}";
    let cogs = |num: &str| {
        [cog.replace("NAME", "edited").replace("NUM", num), cog.replace("NAME", "same").replace("NUM", "1")]
            .join("\n---\n")
    };
    ws.write("crd.yaml", &crd(keyed));
    ws.write("cogs.yaml", &cogs("1"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.wait_for_types();
    for name in ["edited", "same"] {
        let patch = r#"[{"op": "add", "path": "/spec/rules/-", "value": {"name": "hand", "v": 9}}]"#;
        let resource = ws.fill_in(&format!("cogs.$NS.example.com/{name}"));
        ws.kubectl(["patch", &resource, "--type=json", "-p", patch]).exits_with(0);
    }
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    ws.write("crd.yaml", &crd(""));
    ws.write("cogs.yaml", &cogs("2"));
    let diff = ws.reconcile(["diff", "-f", ".", "--save-plan", "plan"]).exits_with(1);
    for name in ["edited", "same"] {
        let changes = diff.object("Cog", name)["changes"].clone();
        let rules = changes.as_array().unwrap().iter().find(|change| change["path"] == "spec.rules");
        assert!(rules.is_some_and(|change| change["live"].to_string().contains("hand")), "{diff}");
    }
    ws.reconcile(["apply", "-f", ".", "--plan", "plan"]).exits_with(0);
    let rules = ws.get(&ws.fill_in("cogs.$NS.example.com"), "edited")["spec"]["rules"].clone();
    assert_eq!(rules.as_array().unwrap().len(), 2, "{rules}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

/// A definition with these versions, the last of which is stored, and an object in `v1`.
fn pipes(ws: &Workspace, versions: &[(&str, bool)]) {
    let last = versions.len() - 1;
    let version = |(at, (name, served)): (usize, &(&str, bool))| {
        let schema =
            "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: integer}}}}}}";
        format!("{{name: {name}, served: {served}, storage: {}, schema: {schema}}}", at == last)
    };
    let versions: Vec<String> = versions.iter().enumerate().map(version).collect();
    ws.write(
        "it/crd.yaml",
        &format!(
            "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: pipes.$NS.example.com}}
spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: pipes, kind: Pipe}}, versions: [{}]}}
",
            versions.join(", ")
        ),
    );
}

/// kubectl changes the definition, and finds no kind for the object then.
#[test]
fn objects_in_a_version_that_the_definition_of_the_input_no_longer_serves_are_errors() {
    for (versions, hint) in [
        (&[("v1", false), ("v2", true)][..], "write it in `$NS.example.com/v2`, or let the definition serve `v1`"),
        (&[("v2", true)], "write it in `$NS.example.com/v2`, or let the definition serve `v1`"),
        (&[("v1", false), ("v2", false)], "let the definition serve `v1`, or remove the object from the manifests"),
    ] {
        let ws = Workspace::new();
        // `v1` was never stored, so that it can be removed.
        pipes(&ws, &[("v1", true), ("v2", true)]);
        for name in ["same", "other"] {
            ws.write(format!("it/{name}.yaml"), &resource("Pipe", name, "a: 1"));
        }
        let set = ["apply", "-f", "it", "--prune", "--applyset=pipes"];
        ws.reconcile(set).exits_with(0);
        ws.reconcile(["snapshot", "-f", "it", "--file", "state.yaml"]).exits_with(0);
        pipes(&ws, versions);
        ws.write(
            "it/other.yaml",
            "{apiVersion: $NS.example.com/v1, kind: Pipe, metadata: {name: other}, spec: {a: 2}}",
        );
        ws.write("it/new.yaml", "{apiVersion: $NS.example.com/v1, kind: Pipe, metadata: {name: new}, spec: {a: 3}}");
        let message = ws.fill_in("its CustomResourceDefinition in the input no longer serves `$NS.example.com/v1`");
        let hint = ws.fill_in(hint);
        let is_told = |run: &Run| {
            for name in ["same", "other", "new"] {
                let pipe = run.object("Pipe", name);
                assert_eq!(pipe["action"], "unknown", "{run}");
                assert_eq!(
                    (&pipe["error"]["reason"], &pipe["error"]["message"], &pipe["error"]["hint"]),
                    (&json!("UnknownKind"), &json!(message), &json!(hint)),
                    "{run}"
                );
            }
            assert_eq!(
                run.object("CustomResourceDefinition", &ws.fill_in("pipes.$NS.example.com"))["action"],
                "update",
                "{run}"
            );
        };
        for flags in [&[][..], &["--evidence=server"], &["--evidence=read-only"], &["--live", "state.yaml"]] {
            let diff = ws.reconcile([&["diff", "-f", "it"], flags].concat()).exits_with(4);
            is_told(&diff);
        }
        let apply = ws.reconcile(set).exits_with(4);
        is_told(&apply);
        for name in ["same", "other", "new"] {
            assert_eq!(apply.object("Pipe", name)["outcome"], "skipped", "{apply}");
        }
        assert_eq!(
            apply.object("CustomResourceDefinition", &ws.fill_in("pipes.$NS.example.com"))["outcome"],
            "updated",
            "{apply}"
        );
        // Nothing was written or deleted.
        pipes(&ws, &[("v1", true), ("v2", true)]);
        ws.kubectl([
            "apply",
            "--server-side",
            "--force-conflicts",
            "--field-manager=kubectl-reconcile",
            "-f",
            "it/crd.yaml",
        ])
        .exits_with(0);
        let kind = ws.fill_in("pipes.$NS.example.com");
        wait_until("the version is served again", || ws.kubectl(["get", &kind]).code == 0);
        assert_eq!(ws.get(&kind, "same")["spec"]["a"], 1);
        assert_eq!(ws.get(&kind, "other")["spec"]["a"], 1);
    }
}

/// A definition that is not changed goes on serving the version.
#[test]
fn a_definition_that_stays_as_it_is_serves_its_objects() {
    let ws = Workspace::new();
    pipes(&ws, &[("v1", true), ("v2", true)]);
    ws.write("it/same.yaml", "{apiVersion: $NS.example.com/v1, kind: Pipe, metadata: {name: same}, spec: {a: 1}}");
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    let name = ws.fill_in("pipes.$NS.example.com");
    // The server refuses to drop a version that is stored.
    pipes(&ws, &[("v1", true)]);
    let refused = ws.reconcile(["diff", "-f", "it"]).exits_with(4);
    assert_eq!(refused.object("CustomResourceDefinition", &name)["action"], "unknown", "{refused}");
    assert_eq!(refused.object("Pipe", "same")["action"], "none", "{refused}");
    pipes(&ws, &[("v2", true)]);
    let left = ws.reconcile(["diff", "-f", "it", "--only=cluster"]).exits_with(0);
    assert_eq!(left.object("Pipe", "same")["action"], "none", "{left}");
}

/// No answer in a version shows what only another version has, and without a webhook each write in it loses that.
#[test]
fn a_write_in_a_version_without_a_recorded_field_warns_that_it_is_lost() {
    let ws = Workspace::new();
    let version = |name: &str, storage: bool, fields: &str| {
        format!(
            "{{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{{fields}}}}}}}}}}}}}"
        )
    };
    let size = "size: {type: integer}";
    let versions = [version("v1", false, size), version("v2", true, &format!("{size}, fresh: {{type: string}}"))];
    let crd = format!(
        "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: cogs.$NS.example.com}},
           spec: {{group: $NS.example.com, scope: Namespaced, names: {{plural: cogs, kind: Cog}}, versions: [{}]}}}}",
        versions.join(", ")
    );
    let cog = |version: &str, fields: &str| {
        format!(
            "{{apiVersion: $NS.example.com/{version}, kind: Cog, metadata: {{name: it}}, spec: {{size: 1{fields}}}}}"
        )
    };
    ws.write("crd.yaml", &crd);
    ws.write("v2.yaml", &cog("v2", ", fresh: x"));
    ws.write("v1.yaml", &cog("v1", ""));
    ws.reconcile(["apply", "-f", "crd.yaml", "-f", "v2.yaml"]).exits_with(0);
    let expected = ws.fill_in(
        "`spec.fresh` of `$NS.example.com/v2` is no field of `$NS.example.com/v1`: a write in this version loses it, unless a webhook converts it",
    );
    let warnings = |run: &Run| run.object("Cog", "it")["warnings"].clone();
    for evidence in ["auto", "server", "read-only"] {
        let diff = ws.reconcile(["diff", "-f", "v1.yaml", "--evidence", evidence, "--exit-zero"]).exits_with(0);
        assert_eq!(warnings(&diff), json!([expected]), "{evidence}: {diff}");
    }
    // The other version has all fields of this one.
    assert_eq!(warnings(&ws.reconcile(["diff", "-f", "v2.yaml"]).exits_with(0)), json!([]));
    let apply = ws.reconcile(["apply", "-f", "v1.yaml"]).exits_with(0);
    assert_eq!(warnings(&apply), json!([expected]), "{apply}");
    let live = ws.kubectl(["get", "cogs.v2.$NS.example.com", "it", "-o", "jsonpath={.spec}"]).exits_with(0).stdout;
    assert_eq!(live, r#"{"size":1}"#);
    assert_eq!(warnings(&ws.reconcile(["diff", "-f", "v1.yaml"]).exits_with(0)), json!([]));
}
