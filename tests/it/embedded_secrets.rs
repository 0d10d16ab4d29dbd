//! Secrets inside of other objects, as maps and as texts: no output of any command has their values. The harness looks for the
//! registered values, and for their base64, in all output of every run.

use std::fs;

use serde_json::{Value, json};

use crate::control_plane::{Fault, Proxy, Run, Workspace, base64, definition_with_status};

/// A kind that carries objects, as `ManifestWork`, `Template` and Crossplane's `Object` do.
const PARCEL: &str = "
properties:
  size: {type: integer, maximum: 9}
  keyed:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items:
      type: object
      required: [name]
      properties:
        name: {type: string}
        object: {type: object, x-kubernetes-preserve-unknown-fields: true}
  manifests: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

fn defined() -> Workspace {
    let ws = Workspace::new();
    ws.define("Parcel", PARCEL);
    ws
}

/// A Secret with this value, which is registered.
fn secret(ws: &Workspace, value: &str) -> Value {
    let encoded = ws.secret(&base64(value.as_bytes()));
    let value = ws.secret(value);
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "inner", "annotations": {"copy": value}},
           "data": {"key": encoded}, "stringData": {"plain": value}})
}

fn parcel(ws: &Workspace, inner: &Value) -> Value {
    let spec = json!({"size": 1, "manifests": [{"kind": "ConfigMap", "data": {"open": "shown"}}, inner],
                      "keyed": [{"name": "a", "object": inner}]});
    json!({"apiVersion": ws.fill_in("$NS.example.com/v1"), "kind": "Parcel", "metadata": {"name": "it"}, "spec": spec})
}

/// A ConfigMap with a text that holds a Secret, and with a text that only refers to one.
fn texts(inner: &Value) -> Value {
    let data = json!({"objects.json": inner.to_string(), "values.yaml": "valuesFrom:\n- {kind: Secret, name: data}\n"});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "texts"}, "data": data})
}

fn write(ws: &Workspace, objects: &[Value]) {
    let texts: Vec<String> = objects.iter().map(ToString::to_string).collect();
    ws.write("it.yaml", &texts.join("\n---\n"));
}

/// Runs all commands in all formats. Returns the text of the last `diff`.
fn show_in_every_way(ws: &Workspace) -> Run {
    for format in [
        "text",
        "unified",
        "json",
        "yaml",
        "jsonl",
        "name",
        "markdown",
        "junit",
        "sarif",
        "github",
        "gitlab",
        "prometheus",
        "html",
    ] {
        ws.reconcile(["diff", "-f", "it.yaml", "--show-unmanaged", "--full", "-o", format]);
    }
    ws.reconcile(["status", "-f", "it.yaml", "-v", "9"]);
    ws.reconcile(["snapshot", "-f", "it.yaml", "--file", "live.yaml"]);
    ws.reconcile(["diff", "-f", "it.yaml", "--evidence=server", "-v", "9"]);
    ws.reconcile(["diff", "-f", "it.yaml"])
}

#[test]
fn a_secret_inside_of_another_object_is_never_shown() {
    let ws = defined();
    let first = secret(&ws, "inside-of-the-first-object");
    let second = secret(&ws, "inside-of-the-second-object");
    write(&ws, &[parcel(&ws, &first), texts(&first)]);
    let diff = show_in_every_way(&ws).exits_with(1);
    let desired = &diff.object("Parcel", "it")["changes"][0]["desired"]["spec"];
    assert_eq!(desired["manifests"][0]["data"]["open"], "shown");
    assert_eq!(desired["manifests"][1]["data"]["key"], desired["keyed"][0]["object"]["stringData"]["plain"]);
    assert_eq!(desired["manifests"][1]["metadata"]["name"], "inner");
    ws.reconcile(["apply", "-f", "it.yaml", "-v", "9"]).exits_with(0);
    show_in_every_way(&ws).exits_with(0);

    write(&ws, &[parcel(&ws, &second), texts(&second)]);
    let diff = show_in_every_way(&ws).exits_with(1);
    let change = diff.change("Parcel", "it", "spec.keyed[name=a].object.data.key");
    assert!(change["live"]["redacted"].is_string() && change["live"] != change["desired"], "{change}");
    let change = diff.change("ConfigMap", "texts", "data[\"objects.json\"]");
    assert!(change["live"]["redacted"].is_string() && change["live"] != change["desired"], "{change}");
    ws.reconcile(["apply", "-f", "it.yaml", "-v", "9"]).exits_with(0);

    // Copies that kubectl keeps in an annotation, and fields that others change and add.
    write(&ws, &[parcel(&ws, &first), texts(&first)]);
    ws.kubectl(["apply", "-f", "it.yaml", "--force-conflicts", "--server-side=false"]);
    let more = json!({"spec": {"keyed": [{"name": "b", "object": second}]}});
    ws.patch_as("kubectl-edit", &ws.fill_in("parcels.$NS.example.com/it"), &more);
    ws.patch_as("kubectl-edit", "configmap/texts", &json!({"data": {"more.yaml": second.to_string()}}));
    show_in_every_way(&ws);

    let snapshot = fs::read_to_string(ws.folder().join("live.yaml")).unwrap();
    assert!(snapshot.contains("open: shown") && snapshot.contains("values.yaml"), "{snapshot}");
    for value in ["inside-of-the-first-object", "inside-of-the-second-object"] {
        assert!(!snapshot.contains(value) && !snapshot.contains(&base64(value.as_bytes())), "{snapshot}");
    }
    let offline = ws.reconcile(["diff", "-f", "it.yaml", "--live", "live.yaml"]).exits_with(4);
    for (kind, name) in [("Parcel", "it"), ("ConfigMap", "texts")] {
        assert_eq!(offline.object(kind, name)["error"]["reason"], "ValuesWithheld", "{offline}");
    }
}

/// A refusal of a webhook with this message.
fn refusal(message: &str) -> Fault {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden",
        "message": format!("admission webhook \"quote.example.com\" denied the request: {message}"),
    });
    Fault::Answer(403, vec![("Content-Type", "application/json".to_owned())], status.to_string())
}

#[test]
fn refusals_that_quote_a_secret_inside_of_an_object_are_not_repeated() {
    let ws = defined();
    let value = "quoted-from-inside-of-an-object";
    let inner = secret(&ws, value);
    write(&ws, &[parcel(&ws, &inner), texts(&inner)]);
    for (message, is_repeated) in [
        (format!("the value {value} is weak"), false),
        (format!("data: {}", base64(value.as_bytes())), false),
        (inner.to_string(), false),
        ("the size is wrong".to_owned(), true),
    ] {
        for command in ["diff", "apply"] {
            let proxy = Proxy::new(&ws);
            proxy.inject(9, "PATCH", "/it?", refusal(&message));
            proxy.inject(9, "PATCH", "/texts?", refusal(&message));
            let run = ws.through(&proxy.url()).reconcile([command, "-f", "it.yaml", "-v", "9"]).exits_with(4);
            for (kind, name) in [("Parcel", "it"), ("ConfigMap", "texts")] {
                let error = run.object(kind, name)["error"].to_string();
                assert!(error.contains("quote.example.com") && error.contains("Forbidden"), "{error}");
                assert_eq!(error.contains("the size is wrong"), is_repeated, "{error}");
            }
        }
    }
    // A conversion webhook answers a read.
    for command in ["diff", "apply"] {
        let proxy = Proxy::new(&ws);
        proxy.inject(9, "GET", "/it", refusal(&format!("cannot convert {value}")));
        ws.through(&proxy.url()).reconcile([command, "-f", "it.yaml", "-v", "9"]).exits_with(4);
    }
    // The types of the server itself: the message quotes the whole value.
    let mut wrong = parcel(&ws, &inner);
    wrong["spec"]["keyed"][0]["object"] = json!([inner]);
    write(&ws, &[wrong]);
    show_in_every_way(&ws).exits_with(4);
}

/// A kind with `stringData` in it, of which the server demands that its values are letters.
const DRAWER: &str = "
properties:
  stringData: {type: object, additionalProperties: {type: string, pattern: '^([a-z ]+|my\\s.*)$'}}
";

#[test]
fn texts_that_spell_a_value_otherwise_are_not_repeated() {
    let ws = Workspace::new();
    ws.stdin(&definition_with_status("Drawer", DRAWER)).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.wait_for_types();
    let drawer = |value: &str| {
        let object = json!({"apiVersion": ws.fill_in("$NS.example.com/v1"), "kind": "Drawer", "metadata": {"name": "it"},
                            "spec": {"stringData": {"password": value}}});
        write(&ws, &[object]);
    };
    // The server escapes these in its messages as Go does.
    for hidden in ["\u{a0}", "\u{7f}", "\u{1}", "\u{200b}", "\u{202e}", "&"] {
        ws.secret("spelt-otherwise");
        drawer(&format!("no{hidden}spelt-otherwise"));
        let run = show_in_every_way(&ws).exits_with(4);
        assert_eq!(run.object("Drawer", "it")["error"]["reason"], "Invalid", "{run}");
    }
    // What shows a status collapses white space and cuts long texts off.
    let long = format!("my {}", "cut-off-behind-its-beginning-".repeat(20));
    for value in ["my  collapsed-value", "my\tcollapsed-value", &long] {
        ws.secret("collapsed-value");
        ws.secret("cut-off-behind-its-beginning");
        drawer(value);
        ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
        let message = format!("cannot log in with {value}");
        let condition = json!({"type": "Ready", "status": "False", "reason": "Login", "message": message});
        let patch = json!({"status": {"conditions": [condition]}}).to_string();
        let name = ws.fill_in("drawers.$NS.example.com");
        ws.kubectl(["patch", &name, "it", "--type=merge", "--subresource=status", "-p", &patch]).exits_with(0);
        show_in_every_way(&ws).exits_with(0);
        let blame = ws.reconcile(["blame", "-f", "it.yaml", "--status"]).exits_with(0);
        assert!(blame.stdout.contains("reason: Login"), "{blame}");
        let snapshot = fs::read_to_string(ws.folder().join("live.yaml")).unwrap();
        assert!(snapshot.contains("reason: Login") && snapshot.contains("redacted"), "{snapshot}");
        for part in ["collapsed-value", "cut-off-behind"] {
            assert!(!snapshot.contains(part), "{snapshot}");
        }
    }
}

#[test]
fn nothing_of_an_object_is_in_the_cache() {
    let ws = defined();
    let mut it = parcel(&ws, &secret(&ws, "is-not-in-the-cache"));
    it["metadata"]["name"] = json!("name-of-an-object");
    write(&ws, &[it]);
    for command in ["diff", "apply", "status"] {
        ws.reconcile([command, "-f", "it.yaml", "--cache-dir", "cache"]);
    }
    let mut folders = vec![ws.folder().join("cache")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            for word in ["is-not-in-the-cache", &base64(b"is-not-in-the-cache"), "name-of-an-object", "Bearer"] {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
        }
    }
    assert!(files > 0);
}

/// A kind with lists whose items are values themselves, or have keys that are.
const CABINET: &str = "
properties:
  size: {type: integer}
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  keyed:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [k]
    items:
      type: object
      required: [k]
      properties: {k: {type: string}, v: {type: string}, w: {type: string}, all: {type: array, items: {type: string}}}
";

/// The text of a Secret with this value, which is registered.
fn text(ws: &Workspace, value: &str) -> String {
    format!("kind: Secret\nstringData:\n  a: {}\n", ws.secret(value))
}

fn cabinet(ws: &Workspace, spec: &Value) -> Value {
    json!({"apiVersion": ws.fill_in("$NS.example.com/v1"), "kind": "Cabinet", "metadata": {"name": "it"}, "spec": spec})
}

#[test]
fn a_secret_that_is_a_part_of_a_path_is_never_shown() {
    let ws = Workspace::new();
    ws.define("Cabinet", CABINET);
    let [first, second, third] =
        ["columbine-of-the-first", "larkspur-of-the-second", "marigold-of-the-third"].map(|value| text(&ws, value));
    let of = |text: &str, v: &str| json!({"size": 1, "set": [text, "open"], "keyed": [{"k": text, "v": v}, {"k": "open", "v": "1"}]});
    let name = ws.fill_in("cabinets.$NS.example.com/it");
    write(&ws, &[cabinet(&ws, &of(&first, "1"))]);
    ws.write("base.yaml", &cabinet(&ws, &of(&first, "1")).to_string());
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    show_in_every_way(&ws);

    // The manifest has others, and so have a user, and a manager that applies.
    write(&ws, &[cabinet(&ws, &of(&second, "1"))]);
    let more = json!([{"op": "add", "path": "/spec/set/-", "value": third},
        {"op": "add", "path": "/spec/keyed/-", "value": {"k": third, "v": "3"}},
        {"op": "replace", "path": "/spec/keyed/1/v", "value": "9"}]);
    ws.kubectl(["patch", &name, "--type=json", "--field-manager=kubectl-edit", "-p", &more.to_string()]).exits_with(0);
    let diff = show_in_every_way(&ws).exits_with(1);
    for path in ["spec.set[=\"(secret)\"]", "spec.keyed[k=\"(secret)\"]", "spec.keyed[k=open].v"] {
        diff.change("Cabinet", "it", path);
    }
    let change = diff.changes("Cabinet", "it");
    assert!(change.iter().any(|change| change.ends_with("spec.set[=\"(secret)\"]")), "{change:?}");
    for words in [
        &["diff", "--base", "base.yaml", "--show-unmanaged", "--full"][..],
        &["diff", "--only", "manifest", "--base", "base.yaml"],
        &["diff", "--remove-added"],
        &["status"],
        &["blame"],
        &["pull", "--dry-run", "--class=pruned,pending,changedByOther,unmanaged,absent"],
        &["pull", "--dry-run", "--class=pruned,pending,changedByOther,unmanaged,absent", "-o", "json"],
        &["apply", "--dry-run", "-v", "9"],
    ] {
        ws.reconcile([words, &["-f", "it.yaml"]].concat());
    }
    let rules = ws.reconcile(["diff", "-f", "it.yaml", "--suggest-ignores"]);
    assert!(!rules.stdout.contains("- spec.set[=\"(secret)\"]"), "{rules}");

    // Conflicts, owners that are given to another, rules, and what a base has and others keep.
    let theirs = cabinet(&ws, &json!({"keyed": [{"k": first, "w": "theirs", "all": ["a", "b"]}]}));
    ws.apply_as("operator", &theirs.to_string());
    let mut ours = of(&first, "1");
    ours["keyed"][0]["w"] = json!("ours");
    ours["keyed"][0]["all"] = json!(["c"]);
    write(&ws, &[cabinet(&ws, &ours)]);
    show_in_every_way(&ws);
    let diff = ws.reconcile(["diff", "-f", "it.yaml", "--force-conflicts=none"]);
    let conflicts = diff.object("Cabinet", "it")["conflicts"].to_string();
    assert!(conflicts.contains("(secret)"), "{diff}");
    for manager in ["kubectl-edit", "operator"] {
        for format in ["text", "json"] {
            ws.reconcile(["own", "-f", "it.yaml", "--dry-run", "--from", manager, "-o", format]);
        }
    }
    ws.write("config.yaml", &ws.fill_in("apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- target: {kind: Cabinet}\n  fields: ['spec.keyed[*].w', 'spec.keyed[*].all[0]']\n  reason: theirs\n"));
    for format in ["text", "json", "html", "markdown"] {
        ws.reconcile(["diff", "-f", "it.yaml", "--config", "config.yaml", "--explain-ignores", "-o", format]);
    }
    let ignored = ws.reconcile(["diff", "-f", "it.yaml", "--config", "config.yaml"]);
    assert!(ignored.object("Cabinet", "it")["ignored"].to_string().contains("(secret)"), "{ignored}");
    let mut kept = cabinet(&ws, &json!({"size": 1, "set": ["open"]}));
    kept["metadata"]["name"] = json!("kept");
    write(&ws, &[kept.clone()]);
    kept["spec"]["set"] = json!([first, "open"]);
    ws.write("base.yaml", &kept.to_string());
    ws.apply_as("operator", &kept.to_string());
    let told = ws.reconcile(["diff", "-f", "it.yaml", "--base", "base.yaml", "--exit-zero"]).exits_with(0);
    assert!(told.object("Cabinet", "kept")["warnings"].to_string().contains("(secret)"), "{told}");

    // A refusal is about a field of the item, whose key is not told.
    let mut wrong = of(&second, "1");
    wrong["keyed"][0]["v"] = json!(1);
    wrong["set"] = json!([second, second]);
    write(&ws, &[cabinet(&ws, &wrong)]);
    show_in_every_way(&ws).exits_with(4);
}

#[test]
fn records_of_owners_in_a_snapshot_name_no_part_of_a_secret() {
    let ws = Workspace::new();
    ws.define("Cabinet", CABINET);
    let text = text(&ws, "foxglove-of-the-record");
    let spec = json!({"size": 1, "set": [text, "open"], "keyed": [{"k": text, "v": "1"}, {"k": "open", "v": "1"}]});
    let plain = json!({"apiVersion": ws.fill_in("$NS.example.com/v1"), "kind": "Cabinet", "metadata": {"name": "plain"},
        "spec": {"set": ["open"], "keyed": [{"k": "open", "v": "1"}]}});
    write(&ws, &[cabinet(&ws, &spec), plain]);
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    let more = json!({"spec": {"keyed": [{"k": "open", "v": "2"}, {"k": "other", "v": "1"}]}});
    ws.patch_as("kubectl-edit", &ws.fill_in("cabinets.$NS.example.com/plain"), &more);
    let snapshot = ws.reconcile(["snapshot", "-f", "it.yaml"]).exits_with(0);
    for element in ["v:\"(secret)\"", r#""k:{\"k\":\"(secret)\"}""#, "v:\"open\"", r#""k:{\"k\":\"open\"}""#] {
        assert!(snapshot.stdout.contains(element), "{element}: {snapshot}");
    }
    ws.write("live.yaml", &snapshot.stdout);
    let online = ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(1);
    let offline = ws.reconcile(["diff", "-f", "it.yaml", "--live", "live.yaml", "-n", "$NS"]).exits_with(4);
    assert_eq!(offline.object("Cabinet", "it")["error"]["reason"], "ValuesWithheld", "{offline}");
    for part in ["changes", "addedItems", "conflicts"] {
        assert_eq!(offline.object("Cabinet", "plain")[part], online.object("Cabinet", "plain")[part], "{offline}");
    }
}

/// The warning about what a version loses names fields of another version, of which no value is in the answers.
#[test]
fn a_secret_key_is_left_out_of_a_field_that_a_version_lacks() {
    let ws = Workspace::new();
    let key = text(&ws, "foxglove-of-a-version");
    let version = |name: &str, storage: bool, more: &str| {
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object",
            "properties": {"spec": {"type": "object", "properties": {"keyed": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"],
                    "properties": {"k": {"type": "string"}, (more): {"type": "string"}}}}}}}}}})
    };
    let group = ws.fill_in("$NS.example.com");
    let versions = [version("v1", false, "v"), version("v2", true, "fresh")];
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("drawers.{group}")}, "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": "drawers", "kind": "Drawer"}, "versions": versions}});
    let drawer = |version: &str, item: Value| json!({"apiVersion": format!("{group}/{version}"), "kind": "Drawer", "metadata": {"name": "it"}, "spec": {"keyed": [item]}});
    ws.write("crd.yaml", &crd.to_string());
    ws.write("v2.yaml", &drawer("v2", json!({"k": key, "fresh": "x"})).to_string());
    ws.write("v1.yaml", &drawer("v1", json!({"k": key})).to_string());
    ws.reconcile(["apply", "-f", "crd.yaml", "-f", "v2.yaml"]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "v1.yaml", "--exit-zero"]).exits_with(0);
    let warning = diff.object("Drawer", "it")["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.starts_with("`spec.keyed[k=\"(secret)\"].fresh` of "), "{diff}");
}
