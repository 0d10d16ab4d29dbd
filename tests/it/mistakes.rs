//! Mistakes in manifests are reported at their lines, in words that help, and without a line of a Secret.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::control_plane::{Fault, Proxy, Run, Workspace, definition, is_before};

/// What a person at a terminal sees, with the namespace by a name that is the same in every run.
fn seen(run: &Run, ws: &Workspace) -> String {
    format!("{}{}", run.stderr, run.stdout)
        .replace(ws.namespace(), "shop-01")
        .replace(ws.plane().url(), "https://10.0.0.1:6443")
}

/// Each manifest in `testdata/mistakes`, beside what is said of it.
#[test]
fn messages_say_where_and_what_to_do() {
    if is_before(37, "the messages are those of the newest version") {
        return;
    }
    let ws = Workspace::new();
    ws.secret("swordfish-trombones");
    ws.secret("471100815");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/mistakes");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".yaml").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() >= 20);
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for name in names {
            let file = format!("{name}.yaml");
            ws.write(&file, &fs::read_to_string(folder.join(&file)).unwrap());
            let run = ws.reconcile(["diff", "-f", &file]);
            assert!(matches!(run.code, 2 | 4), "{run}");
            insta::assert_snapshot!(name, seen(&run, &ws));
        }
    });
}

#[test]
fn the_report_has_the_place_of_each_mistake() {
    let ws = Workspace::new();
    ws.write("shop.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata:\n  a: yes\n  b: 1\n");
    let run = ws.reconcile(["diff", "-f", "shop.yaml"]).exits_with(4);
    let error = &run.object("ConfigMap", "shop")["error"];
    assert_eq!(error["reason"], "Invalid");
    assert_eq!([&error["file"], &error["line"], &error["column"]], [&json!("shop.yaml"), &json!(5), &json!(6)]);
    let places: Vec<_> = error["mistakes"].as_array().unwrap().iter().map(|mistake| &mistake["line"]).collect();
    assert_eq!(places, [5, 6]);
    assert!(!run.report().to_string().contains("valueUnstructured"));
}

#[test]
fn mistakes_of_the_input_have_their_place_in_the_report() {
    let ws = Workspace::new();
    ws.write("shop.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop, labels: {a: yes}}\n");
    let run = ws.reconcile(["diff", "-f", "shop.yaml"]).exits_with(2);
    let error = &run.report()["errors"][0];
    assert_eq!([&error["file"], &error["line"], &error["column"]], [&json!("shop.yaml"), &json!(3), &json!(36)]);
    assert_eq!(run.report()["verdict"], "invalid");
}

/// The server counts the items of the merged list, where those of others come first.
#[test]
fn positions_in_merged_lists_lead_to_the_manifests_own_items() {
    let ws = Workspace::new();
    let with = |containers: &str| {
        format!(
            "apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: $NS}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
{containers}"
        )
    };
    ws.apply_as(
        "others",
        &with("      - {name: proxy, image: 'shop/proxy:1'}\n      - {name: web, image: 'shop/web:1'}\n"),
    );
    ws.write(
        "web.yaml",
        &with("      - name: web\n        image: shop/web:1\n        ports:\n        - containerPort: 99999\n"),
    );
    let run = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(4);
    let error = &run.object("Deployment", "web")["error"];
    assert_eq!((&error["line"], &error["column"]), (&json!(13), &json!(26)), "{error:#}");
}

#[test]
fn one_mistake_leaves_all_other_objects_compared_and_applied() {
    let ws = Workspace::new();
    ws.write("bad.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata: {a: yes}\n");
    ws.write("good.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\ndata: {a: 'yes'}\n");
    let run = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(run.object("ConfigMap", "good")["outcome"], "created");
    assert_eq!(run.object("ConfigMap", "bad")["outcome"], "failed");
    assert!(run.stdout.contains("bad.yaml:4:11: `data.a`: expected a string, found a boolean"), "{run}");
}

/// The server names what all versions have alike as if it were no version's.
#[test]
fn a_mistake_in_the_schema_of_a_definition_is_shown_where_it_is() {
    let ws = Workspace::new();
    ws.write("crd.yaml", &definition("Widget", "properties: {size: {type: intger}}"));
    let run = ws.reconcile(["diff", "-f", "crd.yaml"]).exits_with(4);
    let path = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.type";
    assert!(run.stdout.contains(&format!("crd.yaml:18:39: `{path}` cannot be `intger`\n")), "{run}");
    assert!(run.stdout.contains("hint: did you mean `integer`?"), "{run}");
}

#[test]
fn custom_resources_are_explained_by_their_own_types() {
    let ws = Workspace::new();
    let group = format!("{}.example.com", ws.namespace());
    ws.define(
        "Widget",
        "
properties:
  size: {type: integer, minimum: 1}
  colour: {type: string, enum: [red, blue]}
required: [size]
",
    );
    let widget = |spec: &str| {
        ws.write("w.yaml", &format!("apiVersion: {group}/v1\nkind: Widget\nmetadata: {{name: w}}\nspec:\n{spec}"));
        let run = ws.reconcile(["diff", "-f", "w.yaml"]).exits_with(4);
        let mistakes = run.object("Widget", "w")["error"]["mistakes"].as_array().unwrap().clone();
        let shown = mistakes.iter().map(|mistake| {
            let text = |name: &str| mistake[name].as_str().unwrap_or_default();
            format!("{}:{} {} / {}", mistake["line"], mistake["column"], text("message"), text("hint"))
        });
        shown.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(widget("  sise: 3\n  size: 3\n"), "5:3 unknown field `sise` in `spec` / did you mean `size`?");
    assert_eq!(
        widget("  size: 0\n  colour: rad\n"),
        "5:9 `spec.size` cannot be `0`: should be greater than or equal to 1 / \n\
         6:11 `spec.colour` cannot be `rad` / did you mean `red`? the server takes `red`, `blue`"
    );
    assert_eq!(
        widget("  colour: red\n"),
        "4:1 `spec.size` is missing / see what belongs there with `kubectl explain widget.spec.size`"
    );
    assert_eq!(widget("  size: 3.5\n"), "5:9 `spec.size`: must be of type integer / ");
    // Before that moment has passed, nothing but what the server says is a mistake.
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "GET", "/openapi/v3", Fault::Answer(404, Vec::new(), "404 page not found".to_owned()));
    ws.write(
        "w.yaml",
        &format!("apiVersion: {group}/v1\nkind: Widget\nmetadata: {{name: w}}\nspec:\n  size: 3\n  sise: 3\n"),
    );
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", "w.yaml"]).exits_with(4);
    assert_eq!(diff.object("Widget", "w")["error"]["message"], "unknown field `sise` in `spec`", "{diff}");
}

/// An item that leaves a key out is not the first one that has the others.
#[test]
fn an_unknown_field_is_in_the_item_whose_keys_the_server_names() {
    let ws = Workspace::new();
    ws.define(
        "Widget",
        "properties: {items: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name, proto], items: {
          type: object, required: [name], properties: {name: {type: string}, proto: {type: string, default: TCP}, val: {type: integer}}}}}",
    );
    let widget = "apiVersion: $NS.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n  items:\n  - {name: x, val: 9}\n  - val: 9\n    foo: 1\n";
    ws.write("w.yaml", widget);
    let run = ws.reconcile(["diff", "-f", "w.yaml"]).exits_with(4);
    let error = &run.object("Widget", "w")["error"];
    let missing = "`spec.items[proto=TCP]` has no `name`, which identifies the items of its list";
    if error["message"] == missing && is_before(37, "1.30 looks for the keys of items first") {
        return;
    }
    assert_eq!(error["message"], "unknown field `foo` in `spec.items[proto=TCP]`", "{run}");
    assert_eq!((&error["line"], &error["column"]), (&json!(8), &json!(5)), "{run}");
}

/// The server complains of each key. Searching for all of them in the manifest would take minutes.
#[test]
fn of_many_mistakes_the_first_hundred_are_shown() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let keys: Vec<String> = (0..3_000).map(|number| format!("'a {number}': ''")).collect();
    let keys = keys.join(", ");
    ws.write("it.yaml", &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it}}, data: {{{keys}}}}}"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let error = &diff.object("ConfigMap", "it")["error"];
    assert_eq!(error["mistakes"].as_array().unwrap().len(), 100);
    assert!(error["message"].as_str().unwrap().ends_with("; and 2900 more"), "{}", error["message"]);
}

#[test]
fn a_misspelt_built_in_kind_is_found_without_a_server() {
    let ws = Workspace::new();
    let object = |api_version: &str, kind: &str| {
        format!("{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: {}}}}}\n---\n", kind.to_lowercase())
    };
    let kinds =
        [("apps/v1", "Deploymnet"), ("v1", "ConfigMpa"), ("apps/v1", "Ingress"), ("batch/v2", "Job"), ("v1", "Sensor")];
    ws.write("it.yaml", &kinds.map(|(api_version, kind)| object(api_version, kind)).concat());
    ws.write("own.yaml", &object("example.com/v1", "Deploymnet"));
    ws.write("empty.yaml", "{apiVersion: v1, kind: List, items: []}");
    let run =
        ws.reconcile(["diff", "-f", "it.yaml", "-f", "own.yaml", "--live", "empty.yaml", "-n", "shop"]).exits_with(4);
    let hints = [
        "did you mean `Deployment`?",
        "did you mean `ConfigMap`?",
        "`Ingress` is in `networking.k8s.io/v1`",
        "`Job` is in `batch/v1`",
        "check `apiVersion` and `kind`",
    ];
    for ((api_version, kind), hint) in kinds.into_iter().zip(hints) {
        let object = run.object(kind, &kind.to_lowercase());
        assert_eq!(
            (&object["action"], &object["error"]["reason"]),
            (&json!("unknown"), &json!("UnknownKind")),
            "{run}"
        );
        assert_eq!(object["error"]["message"], format!("`{kind}` is not a built-in kind of `{api_version}`"), "{run}");
        assert_eq!(object["error"]["hint"], hint, "{run}");
    }
    assert_eq!(run.report()["summary"]["create"], 1, "a custom resource may be new: {run}");
}

/// Every kind of type that the server names with its field, and the same manifests without asking it.
#[test]
fn wrong_types_are_found_without_a_server_too() {
    let ws = Workspace::new();
    let pod = |rest: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: NAME}}\nspec:\n  selector: {{matchLabels: {{a: b}}}}\n{rest}"
        )
    };
    let container = |rest: &str| {
        pod(&format!(
            "  template:\n    metadata: {{labels: {{a: b}}}}\n    spec:\n      containers:\n      - name: web\n        image: web:1\n{rest}"
        ))
    };
    let plain = |kind: &str, rest: &str| format!("{kind}\nmetadata: {{name: NAME}}\n{rest}");
    let manifests = [
        (
            "number",
            pod(
                "  replicas: \"3\"\n  template: {spec: {containers: [{name: a, image: b}]}, metadata: {labels: {a: b}}}\n",
            ),
        ),
        (
            "boolean",
            pod(
                "  paused: \"true\"\n  template: {spec: {containers: [{name: a, image: b}]}, metadata: {labels: {a: b}}}\n",
            ),
        ),
        ("text", container("        env: [{name: A, value: 1}, {name: B, value: true}]\n")),
        ("list", container("        args: run\n")),
        ("item", container("        command: [sh, 5]\n")),
        ("map", container("        resources: [1]\n")),
        ("data", plain("apiVersion: v1\nkind: ConfigMap", "data: {a: 1, b: yes}\n")),
        ("ports", plain("apiVersion: v1\nkind: Service", "spec: {ports: [{port: \"80\"}], selector: [a]}\n")),
        ("rules", plain("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role", "rules: {verbs: get}\n")),
        ("job", plain("apiVersion: batch/v1\nkind: CronJob", "spec: {schedule: 5, suspend: 1, jobTemplate: {}}\n")),
    ];
    ws.write("empty.yaml", "");
    for (name, manifest) in manifests {
        ws.write("it.yaml", &manifest.replace("NAME", name));
        let error = |flags: &[&str]| {
            let run = ws.reconcile([&["diff", "-f", "it.yaml", "-o", "json", "-n", ws.namespace()], flags].concat());
            let mut error = run.exits_with(4).report()["objects"][0]["error"].clone();
            error.as_object_mut().unwrap().remove("code");
            error
        };
        let server = error(&["--evidence=server"]);
        assert!(server["message"].as_str().unwrap().contains("expected "), "{server}");
        assert_eq!(error(&["--live", "empty.yaml"]), server, "{name}");
        assert_eq!(error(&["--evidence=read-only"]), server, "{name}");
    }

    // What only the server can judge is left to it.
    for fine in [
        "        resources: {limits: {cpu: 1, memory: 1Gi}}\n",
        "        imagee: a\n",
        "        ports: [{containerPort: 80}]\n",
    ] {
        ws.write("it.yaml", &container(fine).replace("NAME", "fine"));
        ws.reconcile(["diff", "-f", "it.yaml", "--live", "empty.yaml"]).exits_with(1);
    }
    // An existing object, and a field that is not sent.
    ws.write(
        "it.yaml",
        &pod("  replicas: 3\n  template: {spec: {containers: [{name: a, image: b}]}, metadata: {labels: {a: b}}}\n")
            .replace("NAME", "web"),
    );
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.write(
        "it.yaml",
        &fs::read_to_string(ws.folder().join("it.yaml")).unwrap().replace("replicas: 3", "replicas: \"3\""),
    );
    let run = ws.reconcile(["diff", "-f", "it.yaml", "--evidence=read-only"]).exits_with(4);
    assert!(run.stdout.contains("leave the quotes out"), "{run}");
    ws.write(
        ".kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore: [{target: {}, fields: [spec.replicas]}]\n",
    );
    ws.reconcile(["diff", "-f", "it.yaml", "--evidence=read-only"]).exits_with(0);
}
