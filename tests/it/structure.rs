//! What an object has to look like, and what is left out of one.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};

fn config_map(metadata: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{{metadata}}}, data: {{a: b}}}}\n")
}

fn messages(run: &Run) -> Vec<&str> {
    run.report()["errors"].as_array().unwrap().iter().map(|error| error["message"].as_str().unwrap()).collect()
}

/// `kubectl get -o yaml` is input like any other: what the server wrote is left out, and reported once for each object.
#[test]
fn what_kubectl_prints_is_in_sync_with_where_it_came_from() {
    let ws = Workspace::new();
    ws.write(
        "web.yaml",
        "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1.2'}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: $NS}
spec: {selector: {app: web}, ports: [{port: 80}]}
",
    );
    let printed = || ws.kubectl(["get", "deployment/web", "service/web", "-o", "yaml"]).exits_with(0).stdout;
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    let run = ws.stdin(&printed()).reconcile(["diff", "-f", "-"]).exits_with(0);
    assert_eq!(
        run.object("Service", "web")["warnings"],
        json!(["left out, as the server and kubectl write it themselves: `metadata.creationTimestamp`, \
                `metadata.resourceVersion`, `metadata.uid`, `status`"])
    );
    // The copy of the manifest that client-side apply keeps is not taken for a part of it.
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    let text = printed();
    assert!(text.contains("last-applied-configuration"));
    let run = ws.stdin(&text).reconcile(["diff", "-f", "-"]);
    let warnings = run.object("Deployment", "web")["warnings"].as_array().unwrap().clone();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].as_str().unwrap().contains("the annotation `kubectl.kubernetes.io/last-applied-configuration`")
    );

    let forms = [
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: $NS, creationTimestamp: null}\nstatus: {}\n",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: $NS}\nstatus: null\n",
    ];
    for form in forms {
        let run = ws.stdin(form).reconcile(["diff", "-f", "-"]).exits_with(0);
        assert_eq!(
            run.object("Namespace", ws.namespace())["warnings"],
            json!([]),
            "nothing was said, nothing is left out"
        );
    }
}

/// A kind without the status subresource keeps its status: it is a field like any other.
#[test]
fn the_status_of_a_kind_without_the_subresource_is_kept() {
    let ws = Workspace::new();
    ws.write(
        "crd.yaml",
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: plains.$NS.example.com}
spec:
  group: $NS.example.com
  names: {kind: Plain, plural: plains}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
",
    );
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    ws.write("plain.yaml", "apiVersion: $NS.example.com/v1\nkind: Plain\nmetadata: {name: p}\nstatus: {phase: Done}\n");
    ws.reconcile(["apply", "-f", "plain.yaml"]).exits_with(0);
    let live = ws.get(&format!("Plain.{}.example.com", ws.namespace()), "p");
    assert_eq!(live["status"]["phase"], "Done");
    assert_eq!(ws.reconcile(["diff", "-f", "plain.yaml"]).exits_with(0).object("Plain", "p")["warnings"], json!([]));
}

/// What is refused here is refused by the server, too, and nothing else is.
#[test]
fn names_and_labels_are_refused_as_the_server_refuses_them() {
    let ws = Workspace::new();
    let long = "a".repeat(64);
    let names = ["web", "1a", "a.b", "Web", "a_b", "a:b", "-a", "a..b", "\"a b\"", &long];
    let labels = [
        "a: b",
        "a: \"\"",
        "A.b_c: V1",
        "\"a b\": c",
        "a: \"y y\"",
        "a: -b",
        "A.B/c: d",
        "x.y/c: d",
        "x/y/z: d",
        "\"\": d",
        "a: null",
    ];
    let mut objects: Vec<(String, String)> = Vec::new();
    for name in names {
        for (api_version, kind) in
            [("v1", "ConfigMap"), ("rbac.authorization.k8s.io/v1", "Role"), ("policy/v1", "PodDisruptionBudget")]
        {
            objects.push((
                kind.to_owned(),
                format!("{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: {name}}}}}\n"),
            ));
        }
        let service =
            format!("{{apiVersion: v1, kind: Service, metadata: {{name: {name}}}, spec: {{ports: [{{port: 80}}]}}}}\n");
        objects.push(("Service".to_owned(), service));
    }
    for label in labels {
        objects.push(("ConfigMap".to_owned(), config_map(&format!("name: labelled, labels: {{{label}}}"))));
        objects.push(("ConfigMap".to_owned(), config_map(&format!("name: noted, annotations: {{{label}}}"))));
    }
    for (kind, object) in objects {
        let ours = ws.stdin(&object).reconcile(["diff", "-f", "-"]);
        let theirs = ws.stdin(&object).kubectl(["apply", "--server-side", "--dry-run=server", "-f", "-"]);
        // A Service's name may be refused by the server alone: its rule differs between releases.
        let agree =
            if kind == "Service" { ours.code != 4 || theirs.code != 0 } else { (ours.code == 4) == (theirs.code != 0) };
        assert!(agree && [1, 4].contains(&ours.code), "{object}: {ours}\n{theirs}");
    }
}

#[test]
fn values_of_labels_are_strings_and_metadata_is_a_mapping() {
    let ws = Workspace::new();
    let message = |text: &str| {
        let run = ws.stdin(text).reconcile(["diff", "-f", "-"]).exits_with(2);
        messages(&run).join("; ")
    };
    assert_eq!(
        message(&config_map("name: a, labels: {'on': yes, b: 1}, annotations: {c: [1]}")),
        "`metadata.labels[\"on\"]`: expected a string, found a boolean; \
         `metadata.labels[\"b\"]`: expected a string, found a number; \
         `metadata.annotations[\"c\"]`: expected a string, found a list"
    );
    assert_eq!(
        message("apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}\n"),
        "`apiVersion`: expected a string, found a number"
    );
    assert_eq!(
        message("apiVersion: v1\nkind: [ConfigMap]\nmetadata: {name: a}\n"),
        "`kind`: expected a string, found a list"
    );
    assert_eq!(
        message("apiVersion: v1\nkind: ConfigMap\nmetadata: a\n"),
        "`metadata`: expected a mapping, found a string"
    );
    assert_eq!(
        message("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}\n"),
        "`metadata.name`: expected a string, found a number"
    );
    assert_eq!(message("apiVersion: v1\nkind: ConfigMap\n"), "`metadata.name` is missing");
    assert_eq!(message("- a\n"), "expected an object, found a list");
}

#[test]
fn the_namespace_flag_contradicts_manifests_as_in_kubectl() {
    let ws = Workspace::new();
    ws.write("a.yaml", &config_map("name: a, namespace: elsewhere"));
    let ours = ws.reconcile(["diff", "-n", "$NS", "-f", "a.yaml"]).exits_with(2);
    let theirs = ws.kubectl(["apply", "-n", "$NS", "-f", "a.yaml"]).exits_with(1);
    let message = messages(&ours)[0].to_owned();
    assert!(theirs.stderr.contains(&message), "{theirs}");
    assert_eq!(ours.report()["errors"][0]["column"], json!(66));

    ws.write("b.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS, namespace: elsewhere}}");
    let run = ws.reconcile(["diff", "-n", "$NS", "-f", "b.yaml"]).exits_with(0);
    let warnings = &run.object("Namespace", ws.namespace())["warnings"];
    assert_eq!(warnings, &json!(["`metadata.namespace: elsewhere` is left out, as the kind is cluster-scoped"]));
}

#[test]
fn one_object_in_two_versions_of_its_group_is_there_twice() {
    let ws = Workspace::new();
    let scaler = |version: &str, namespace: &str| {
        format!(
            "{{apiVersion: autoscaling/{version}, kind: HorizontalPodAutoscaler, metadata: {{name: web{namespace}}}}}\n---\n"
        )
    };
    for second in [scaler("v2", ""), scaler("v2", ", namespace: $NS")] {
        ws.write("a.yaml", &scaler("v1", ""));
        ws.write("b.yaml", &second);
        let run = ws.reconcile(["diff", "-f", "a.yaml", "-f", "b.yaml"]).exits_with(2);
        assert!(messages(&run)[0].ends_with("is defined twice, first at a.yaml:1"), "{run}");
        assert_eq!(run.report()["errors"][0]["file"], "b.yaml");
    }
}

#[test]
fn generated_names_are_refused_with_what_to_do() {
    let ws = Workspace::new();
    let run = ws.stdin(&config_map("generateName: a-")).reconcile(["diff", "-f", "-"]).exits_with(2);
    assert_eq!(run.report()["errors"][0]["hint"], "give the object a `metadata.name`");
}

/// kubectl takes everything with `items` for a list, and loses the object around them.
#[test]
fn an_object_with_items_is_no_list() {
    let ws = Workspace::new();
    ws.write("it.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\nitems: []\n");
    let run = ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(2);
    assert_eq!(messages(&run), ["`items` makes kubectl take this ConfigMap for a list and lose the rest of it"]);
    assert_eq!(run.report()["errors"][0]["line"], 4, "{run}");
}

#[test]
fn lists_nest_and_pass_on_their_kind() {
    let ws = Workspace::new();
    let text = "
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata: {name: a}
  - metadata: {name: b}
- {apiVersion: v1, kind: List, items: []}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: c, labels: {x: 1}}
";
    let run = ws.stdin(text).reconcile(["diff", "-f", "-"]).exits_with(2);
    assert_eq!(run.report()["errors"][0]["line"], 13);
    let run = ws.stdin(&text.replaced("x: 1", "x: z")).reconcile(["diff", "-f", "-"]).exits_with(1);
    let lines: Vec<&Value> =
        ["a", "b", "c"].iter().map(|name| &run.object("ConfigMap", name)["source"]["line"]).collect();
    assert_eq!(lines, [8, 9, 11]);
}
