//! `blame`: the owners of fields are those that `managedFields` names, read here once more in another way.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace, definition, wait_until};
use crate::manifests::WEB;

fn blame(ws: &Workspace, words: &[&str]) -> Vec<Value> {
    let run = ws.reconcile([&["blame"][..], words, &["-o", "json"]].concat()).exits_with(0);
    serde_json::from_str(&run.stdout).unwrap()
}

/// The fields of an object: the path, and the managers with their operation, subresource and time.
fn owners(object: &Value) -> Vec<(String, Vec<String>)> {
    let field = |field: &Value| {
        let managers = field["managers"].as_array().unwrap().iter();
        let text = |owner: &Value, name: &str| owner[name].as_str().unwrap_or_default().to_owned();
        let owner = |owner: &Value| {
            ["manager", "operation", "subresource", "time"]
                .map(|name| text(owner, name))
                .join(" ")
                .trim_end()
                .to_owned()
        };
        let mut managers: Vec<String> = managers.map(owner).collect();
        managers.sort();
        (field["path"].as_str().unwrap().to_owned(), managers)
    };
    object["fields"].as_array().unwrap().iter().map(field).collect()
}

/// The same from the `managedFields` of the live object, by walking the object and each entry side by side.
fn expected(live: &Value) -> Vec<(String, Vec<String>)> {
    let mut object = live.clone();
    let managed = object["metadata"]["managedFields"].take();
    object["metadata"].as_object_mut().unwrap().remove("managedFields");
    object.as_object_mut().unwrap().remove("status");
    let entries: Vec<(String, &Value)> = managed
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default();
            let owner = ["manager", "operation", "subresource", "time"].map(text).join(" ");
            (owner.trim_end().to_owned(), &entry["fieldsV1"])
        })
        .collect();
    let mut found = Vec::new();
    walk(
        &object,
        "",
        &entries.iter().map(|(owner, fields)| (owner.as_str(), Some(*fields))).collect::<Vec<_>>(),
        &mut found,
    );
    found
}

/// The entries at a value: the part of their fields, or none where the claim is on a value above that is replaced as a whole.
type At<'e> = Vec<(&'e str, Option<&'e Value>)>;

fn walk(value: &Value, path: &str, at: &At<'_>, found: &mut Vec<(String, Vec<String>)>) {
    let below = |keys: &dyn Fn(&str) -> bool, is_whole: bool| -> At<'_> {
        at.iter()
            .filter_map(|(owner, fields)| match fields {
                None => Some((*owner, None)),
                Some(Value::Object(map)) if map.is_empty() => is_whole.then_some((*owner, None)),
                Some(fields) => {
                    let (_, child) = fields.as_object()?.iter().find(|(key, _)| keys(key))?;
                    Some((*owner, Some(child)))
                }
            })
            .collect()
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, child) in map {
                let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                let next = match plain {
                    true if path.is_empty() => name.clone(),
                    true => format!("{path}.{name}"),
                    false => format!("{path}[{}]", Value::from(name.as_str())),
                };
                let key = format!("f:{name}");
                walk(child, &next, &below(&|own| own == key, path.ends_with("elector")), found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let keys = at
                .iter()
                .flat_map(|(_, fields)| fields.iter().filter_map(|fields| fields.as_object()))
                .flat_map(|map| map.keys())
                .find(|key| key.starts_with("k:") || key.starts_with("v:"));
            for (index, item) in items.iter().enumerate() {
                let (step, name) = match keys {
                    Some(key) if key.starts_with("k:") => {
                        let named: Value = serde_json::from_str(&key[2..]).unwrap();
                        let own: serde_json::Map<String, Value> =
                            named.as_object().unwrap().keys().map(|key| (key.clone(), item[key].clone())).collect();
                        let text = |value: &Value| value.as_str().map_or(value.to_string(), ToOwned::to_owned);
                        let shown: Vec<String> =
                            own.iter().map(|(key, value)| format!("{key}={}", text(value))).collect();
                        (format!("[{}]", shown.join(",")), Some(Value::Object(own)))
                    }
                    Some(_) => (format!("[={item}]"), Some(item.clone())),
                    None => (format!("[{index}]"), None),
                };
                let is_it = |own: &str| {
                    let text = own.strip_prefix("k:").or_else(|| own.strip_prefix("v:"));
                    name.is_some() && text.and_then(|text| serde_json::from_str(text).ok()) == name
                };
                walk(item, &format!("{path}{step}"), &below(&is_it, name.is_none()), found);
            }
        }
        _ => {
            let mut owners: Vec<String> = at.iter().map(|(owner, _)| (*owner).to_owned()).collect();
            owners.sort();
            found.push((path.to_owned(), owners));
        }
    }
}

#[track_caller]
fn owners_are_those_of_the_server(ws: &Workspace, kind: &str, name: &str) -> Vec<(String, Vec<String>)> {
    let live = ws.get(kind, name);
    let objects = blame(ws, &[&format!("{kind}/{name}")]);
    let found = owners(&objects[0]);
    assert_eq!(found, expected(&live), "{live:#}");
    found
}

#[track_caller]
fn managers_of<'f>(found: &'f [(String, Vec<String>)], path: &str) -> Vec<&'f str> {
    let (_, managers) = found.iter().find(|(own, _)| own == path).unwrap_or_else(|| panic!("{path}: {found:#?}"));
    managers.iter().map(|owner| owner.split(' ').next().unwrap()).collect()
}

#[test]
fn every_field_of_a_workload_has_the_owners_that_the_server_records() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 7);
    ws.kubectl(["label", "deployment/web", "team=a"]).exits_with(0);
    ws.patch_as("kubectl-edit", "deployment/web", &json!({"spec": {"paused": true}}));
    ws.apply_as(
        "gitops",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: $NS, labels: {team: a, example.com/x: b}}}",
    );
    let found = owners_are_those_of_the_server(&ws, "Deployment", "web");
    assert_eq!(managers_of(&found, "spec.replicas"), ["kubectl"]);
    assert_eq!(managers_of(&found, "metadata.labels.team"), ["gitops", "kubectl-label"]);
    assert_eq!(managers_of(&found, "metadata.labels[\"example.com/x\"]"), ["gitops"]);
    assert_eq!(managers_of(&found, "spec.paused"), ["kubectl-edit"]);
    assert!(managers_of(&found, "spec.progressDeadlineSeconds").is_empty(), "a default of the server");
    let scaled = blame(&ws, &["deploy/web"]);
    let replicas =
        scaled[0]["fields"].as_array().unwrap().iter().find(|field| field["path"] == "spec.replicas").unwrap();
    assert_eq!(replicas["managers"][0]["subresource"], "scale");
    assert!(replicas["managers"][0].get("time").is_none() || replicas["managers"][0]["time"].is_string());
    let text = ws.reconcile(["blame", "deployment", "web"]).exits_with(0);
    assert!(
        text.stdout.lines().any(|line| line.starts_with("kubectl (scale)") && line.ends_with("  replicas: 7")),
        "{text}"
    );
    assert!(
        text.stdout.lines().any(|line| line.starts_with("-  ") && line.contains("progressDeadlineSeconds:")),
        "{text}"
    );
    assert!(!text.stdout.contains("managedFields") && !text.stdout.contains("status:"), "{text}");
    let mine = ws.reconcile(["blame", "deployment", "web", "--manager", "kubectl-l*,kubectl-e*"]).exits_with(0);
    let fields = ["paused: true", "team: a"].map(|field| mine.stdout.contains(field));
    assert!(
        fields == [true, true] && !mine.stdout.contains("replicas") && mine.stdout.contains("metadata:\n"),
        "{mine}"
    );
}

#[test]
fn keyed_lists_sets_and_atomic_lists_have_owners_item_by_item_or_as_a_whole() {
    let ws = Workspace::new();
    ws.write(
        "service.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: web, finalizers: [example.com/a]}, spec: {ports: [{name: a, port: 80}, {name: b, port: 81}], selector: {app: web}, externalIPs: [10.1.1.1]}}",
    );
    ws.reconcile(["apply", "-f", "service.yaml"]).exits_with(0);
    ws.apply_as(
        "other",
        "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: $NS, finalizers: [example.com/b]}, spec: {ports: [{name: c, port: 82}]}}",
    );
    let found = owners_are_those_of_the_server(&ws, "Service", "web");
    assert_eq!(managers_of(&found, "spec.ports[port=80,protocol=TCP].name"), ["kubectl-reconcile"]);
    assert_eq!(managers_of(&found, "spec.ports[port=82,protocol=TCP].name"), ["other"]);
    assert_eq!(managers_of(&found, "metadata.finalizers[=\"example.com/b\"]"), ["other"]);
    assert_eq!(managers_of(&found, "spec.externalIPs[0]"), ["kubectl-reconcile"]);
    ws.kubectl(["patch", "service/web", "--type=merge", "-p", "{\"metadata\": {\"finalizers\": null}}"]).exits_with(0);
}

#[test]
fn custom_resources_have_the_owners_of_their_definition() {
    let ws = Workspace::new();
    let vat = definition("Vat", "
properties:
  taps: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id], items: {type: object, required: [id], properties: {id: {type: string}, size: {type: integer, default: 3}}}}
  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  notes: {type: array, items: {type: string}}
");
    ws.write("crd.yaml", &vat.replaced("plural: vats", "plural: vats, shortNames: [vt]"));
    ws.reconcile(["apply", "-f", "crd.yaml", "--wait"]).exits_with(0);
    ws.wait_for_types();
    let vat = "{apiVersion: $NS.example.com/v1, kind: Vat, metadata: {name: a}, spec: {taps: [{id: x}, {id: z2, size: 5}], tags: [one], notes: [m, o]}}";
    ws.write("vat.yaml", vat);
    ws.reconcile(["apply", "-f", "vat.yaml"]).exits_with(0);
    ws.apply_as(
        "other",
        "{apiVersion: $NS.example.com/v1, kind: Vat, metadata: {name: a, namespace: $NS}, spec: {taps: [{id: z}], tags: [two]}}",
    );
    let found = owners_are_those_of_the_server(&ws, "Vat", "a");
    assert_eq!(managers_of(&found, "spec.taps[id=z].id"), ["other"]);
    assert_eq!(managers_of(&found, "spec.taps[id=z2].size"), ["kubectl-reconcile"]);
    assert!(managers_of(&found, "spec.taps[id=x].size").is_empty(), "a default");
    assert_eq!(managers_of(&found, "spec.tags[=\"two\"]"), ["other"]);
    assert_eq!(managers_of(&found, "spec.notes[1]"), ["kubectl-reconcile"]);
    for named in
        ["vt/a", "vats/a", "vat/a", &ws.fill_in("vats.$NS.example.com/a"), &ws.fill_in("vt.v1.$NS.example.com/a")]
    {
        assert_eq!(blame(&ws, &[named])[0]["kind"], "Vat", "{named}");
    }
    let crd = blame(&ws, &[&ws.fill_in("crd/vats.$NS.example.com")]);
    assert_eq!(crd[0]["kind"], "CustomResourceDefinition");
}

#[test]
fn signs_compare_the_live_object_with_its_manifest() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.write("new.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1', b: x}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 7);
    ws.kubectl(["label", "deployment/web", "team=a"]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"b": "y", "c": "z"}}));
    let text = ws.reconcile(["blame", "-f", "."]).exits_with(0);
    assert!(text.stdout.contains("\n---\n"), "{text}");
    let sign = |end: &str| {
        let line = text.stdout.lines().find(|line| line.ends_with(end)).unwrap_or_else(|| panic!("{end}: {text}"));
        line.chars().next().unwrap()
    };
    for (end, expected) in [
        ("kind: Deployment", '='),
        ("replicas: 7", '~'),
        ("team: a", '+'),
        ("  a: \"1\"", '='),
        ("  b: \"y\"", '~'),
        ("  c: z", '+'),
        ("progressDeadlineSeconds: 600", '+'),
    ] {
        assert_eq!(sign(end), expected, "{end}: {text}");
    }
    let objects = blame(&ws, &["-f", "new.yaml"]);
    let fields = objects[0]["fields"].as_array().unwrap();
    let of = |path: &str| fields.iter().find(|field| field["path"] == path).unwrap()["manifest"].clone();
    assert_eq!([of("data.a"), of("data.b"), of("data.c")], [json!("same"), json!("differs"), json!("absent")]);
    // What differs is what `diff` shows.
    let diff = ws.reconcile(["diff", "-f", "new.yaml"]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "settings")["changes"].as_array().unwrap().len(), 1);
}

#[test]
fn values_of_secrets_are_never_shown() {
    let ws = Workspace::new();
    let (first, second, third) =
        (ws.secret("blamed-hunter-1"), ws.secret("blamed-hunter-2"), ws.secret("blamed-hunter-3"));
    ws.write(
        "key.yaml",
        &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: key}}, stringData: {{a: {first}}}}}"),
    );
    ws.kubectl(["apply", "-f", "key.yaml"]).exits_with(0);
    ws.write(
        "list.yaml",
        &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: list}}, data: {{s.yaml: '{{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {{\"name\": \"x\"}}, \"stringData\": {{\"p\": \"{second}\"}}}}'}}}}"),
    );
    ws.kubectl(["apply", "-f", "list.yaml"]).exits_with(0);
    ws.write(
        "own.yaml",
        &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: own}}, stringData: {{p: {third}}}}}"),
    );
    ws.reconcile(["apply", "-f", "own.yaml"]).exits_with(0);
    for words in [&["secret/key", "secret/own", "configmap/list"][..], &["-f", "."]] {
        for format in ["text", "json"] {
            let run = ws.reconcile([&["blame", "-o", format, "--full"][..], words].concat()).exits_with(0);
            for value in [&first, &second, &third] {
                assert!(!run.stdout.contains(value.as_str()), "{run}");
            }
            assert!(run.stdout.contains(if format == "text" { "(secret #" } else { "\"redacted\"" }), "{run}");
        }
    }
    let own = blame(&ws, &["-f", "own.yaml"]);
    let value = own[0]["fields"].as_array().unwrap().iter().find(|field| field["path"] == "data.p").unwrap();
    assert_eq!((&value["managers"][0]["manager"], &value["manifest"]), (&json!("kubectl-reconcile"), &json!("same")));
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_shown() {
    let ws = Workspace::new();
    ws.kubectl(["create", "configmap", "here", "--from-literal=a=b"]).exits_with(0);
    let missing = ws.reconcile(["blame", "cm/gone", "cm/here"]).exits_with(4);
    assert!(missing.stderr.contains(&ws.fill_in("error: ConfigMap $NS/gone: it does not exist")), "{missing}");
    assert!(missing.stdout.contains("a: b"), "{missing}");
    let json = ws.reconcile(["blame", "cm", "gone", "here", "-o", "json"]).exits_with(4);
    let objects: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(objects[0]["error"]["reason"], "NotFound");
    assert!(objects[1].get("error").is_none());
    let refused = ws.as_user("limited").reconcile(["blame", "cm/here"]).exits_with(4);
    assert!(refused.stderr.contains("cannot get resource \"configmaps\""), "{refused}");
    for (words, said) in [
        (&["blame", "deploymnt/web"][..], "did you mean `deployments`?"),
        (&["blame", "nothing/web"], "the server has no resource `nothing`"),
        (&["blame", "cm"], "`cm` names no object"),
        (&["blame", "cm/../x"], "does not name an object"),
        (&["blame", "cm/here", "-f", "x.yaml"], "cannot be used with"),
        (&["blame"], "required"),
    ] {
        let run = ws.reconcile(words).exits_with(2);
        assert!(run.stderr.contains(said) && run.stdout.is_empty(), "{run}");
    }
    let unreachable = ws.through("https://127.0.0.1:1").reconcile(["blame", "cm/here"]).exits_with(3);
    assert!(unreachable.stdout.is_empty(), "{unreachable}");
}

#[test]
fn the_status_is_shown_on_request_and_other_namespaces_by_their_flag() {
    let ws = Workspace::new();
    let status = ws.reconcile(["blame", "namespace", ws.namespace(), "--status"]).exits_with(0);
    assert!(status.stdout.contains("phase: Active"), "{status}");
    let other = ws.reconcile(["blame", "-n", "default", "svc/kubernetes", "-o", "json"]).exits_with(0);
    let objects: Value = serde_json::from_str(&other.stdout).unwrap();
    assert_eq!(objects[0]["namespace"], "default");
}

#[test]
fn a_manager_that_owns_nothing_is_named_and_hands_are_shown_alone() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/web", "*=shop/web:hotfix"]).exits_with(0);
    ws.patch_as("some-operator", "deployment/web", &json!({"metadata": {"annotations": {"a": "1"}}}));

    let nobody = ws.reconcile(["blame", "deploy/web", "--manager", "nobody,some-*"]).exits_with(0);
    let said = "warning: `--manager nobody`: this manager owns no field of these objects\n";
    assert_eq!((nobody.stderr.as_str(), nobody.stdout.contains("a: ")), (said, true), "{nobody}");

    let hand = ws.reconcile(["blame", "deploy/web", "--by-hand"]).exits_with(0);
    assert!(hand.stdout.contains("kubectl-set") && hand.stdout.contains("image: shop/web:hotfix"), "{hand}");
    assert!(!hand.stdout.contains("kubectl-reconcile") && !hand.stdout.contains("some-operator"), "{hand}");
    let json = &blame(&ws, &["-f", "web.yaml", "--by-hand"])[0]["fields"];
    assert!(json.as_array().unwrap().iter().all(|field| field["managers"][0]["manager"] == "kubectl-set"), "{json}");

    ws.write(
        ".kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1\nkind: Config\nmanualManagers: [some-operator]\n",
    );
    let run = ws.reconcile(["blame", "-f", "web.yaml", "--by-hand"]).exits_with(0);
    assert!(run.stdout.contains("some-operator"), "{run}");
}

#[test]
fn the_objects_of_a_file_are_shown_without_a_cluster() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.kubectl(["create", "configmap", "other", "--from-literal=a=b"]).exits_with(0);
    ws.scale("deployment/web", 5);
    let kinds = ["get", "deployments,configmaps", "-o", "yaml", "--show-managed-fields"];
    ws.write("live.yaml", &ws.kubectl(kinds).exits_with(0).stdout);
    let live: Value = blame(&ws, &["deploy/web"])[0].clone();

    let offline = |words: &[&str]| {
        let words = [&["blame", "--live", "live.yaml", "--kubeconfig", "none", "-o", "json"], words].concat();
        let run = ws.reconcile(words).exits_with(0);
        serde_json::from_str::<Vec<Value>>(&run.stdout).unwrap()
    };
    let (namespace, all) = (ws.namespace(), offline(&[]));
    assert!(all.len() >= 2 && all.iter().any(|one| one["name"] == "other"), "{all:?}");
    assert!(offline(&["-n", "elsewhere"]).is_empty());
    for words in [&["deploy/web", "-n", namespace][..], &["deployments", "web", "-n", namespace]] {
        assert_eq!(offline(words), std::slice::from_ref(&live));
    }
    let signs = offline(&["-f", "web.yaml", "-n", namespace]);
    let replicas = signs[0]["fields"].as_array().unwrap().iter().find(|field| field["path"] == "spec.replicas");
    assert_eq!(replicas.unwrap()["manifest"], "differs", "{signs:?}");

    let gone = ws.reconcile(["blame", "--live", "live.yaml", "cm/gone", "-n", namespace]).exits_with(4);
    assert!(gone.stderr.contains("cm/gone") || gone.stderr.contains("gone: it does not exist"), "{gone}");
    let unknown = ws.reconcile(["blame", "--live", "live.yaml", "gear/a"]).exits_with(2);
    assert!(unknown.stderr.contains("`gear` is neither a built-in resource nor one of the file"), "{unknown}");
    ws.reconcile(["blame", "--live", "live.yaml", "--from", "last-applied"]).exits_with(2);
}

#[test]
fn text_of_others_stays_harmless_and_fits_the_width() {
    let ws = Workspace::new();
    let value = format!("\u{1b}[2J\u{202e}{}", "wide ".repeat(60));
    let manager = "a manager with a name that is as long as names of managers are allowed to be, which is 128 characters, and not one more";
    ws.kubectl(["create", "configmap", "odd", &format!("--from-literal=a={value}")]).exits_with(0);
    ws.patch_as(manager, "configmap/odd", &json!({"data": {"b": "::error::x\n##vso[task]", "k-u": "line\n  two\n"}}));
    for columns in ["60", "100"] {
        let text = ws.env("COLUMNS", columns).reconcile(["blame", "cm/odd"]).exits_with(0);
        assert!(!text.stdout.contains(['\u{1b}', '\u{202e}']), "{text}");
        assert!(!text.stdout.lines().any(|line| line.starts_with("::") || line.starts_with("##vso")), "{text}");
        let widest = text.stdout.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{widest}: {text}");
    }
    let full = ws.reconcile(["blame", "cm/odd", "--full"]).exits_with(0);
    assert!(
        full.stdout.contains(manager)
            && full.stdout.contains(value.trim_start_matches(['\u{1b}', '\u{202e}', '[', '2', 'J'])),
        "{full}"
    );
}

#[test]
fn the_roles_of_access_are_enough() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let access = |more: &[&str]| {
        ws.reconcile(
            [&["access", "-f", ".", "--for", "blame", "--name", "$NS", "--subject", "User:$NS-reader"][..], more]
                .concat(),
        )
    };
    let roles = access(&[]).exits_with(0);
    assert!(!roles.stdout.contains("patch") && roles.stdout.contains("kubectl reconcile blame"), "{roles}");
    ws.stdin(&roles.stdout).kubectl(["apply", "-f", "-"]).exits_with(0);
    wait_until("the server knows the roles", || access(&["--as", "$NS-reader"]).code == 0);
    let (run, requests): (Run, _) =
        ws.requests_during(|| ws.reconcile(["blame", "-f", ".", "--as", "$NS-reader"]).exits_with(0));
    assert!(requests.iter().all(|request| request.code != 403), "{run}");
}

#[test]
fn types_and_names_are_completed() {
    let ws = Workspace::new();
    ws.kubectl(["create", "configmap", "settings"]).exits_with(0);
    let complete = |words: &[&str]| ws.reconcile([&["__complete", "blame"][..], words].concat()).exits_with(0).stdout;
    assert!(complete(&["deploym"]).lines().any(|line| line == "deployments"));
    assert!(complete(&["configmaps/set"]).lines().any(|line| line == "configmaps/settings"));
    assert!(complete(&["cm", "set"]).lines().any(|line| line == "settings"));
    assert!(!complete(&["nothing/"]).contains('/'));
}

/// Rules hide differences, not owners.
#[test]
fn ignore_rules_hide_no_owner_and_times_are_in_words_on_request() {
    let ws = Workspace::new();
    ws.write("map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {a: one}}");
    ws.write(
        ".kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- {target: {kind: ConfigMap}, fields: [data.a]}\n",
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/map", &json!({"data": {"a": "two"}}));
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let line = |run: &Run, text: &str| -> String {
        let found = text.lines().find(|line| line.trim_end().ends_with("a: two")).map(ToOwned::to_owned);
        found.unwrap_or_else(|| panic!("no line of the field: {run}"))
    };
    let run = ws.reconcile(["blame", "-f", "."]).exits_with(0);
    let plain = line(&run, &run.stdout);
    assert!(plain.starts_with("~ kubectl-edit 20"), "{plain}");
    let flags = ["blame", "-f", ".", "--relative-time", "--no-pager", "--color=never"];
    let run = ws.as_user("admin").printing_on_terminal().reconcile(flags).exits_with(0);
    let relative = line(&run, &run.stderr);
    assert!(relative.starts_with("~ kubectl-edit") && relative.contains(" ago"), "{relative}");
}

#[test]
fn values_that_a_snapshot_withholds_are_not_compared() {
    let ws = Workspace::new();
    let value = ws.secret("withheld-from-blame");
    ws.write(
        "key.yaml",
        &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: key}}, stringData: {{a: {value}}}}}"),
    );
    ws.reconcile(["apply", "-f", "key.yaml"]).exits_with(0);
    for (flags, sign) in [(&[][..], "unknown"), (&["--include-secrets"], "same")] {
        let snapshot = ws.reconcile([&["snapshot", "-f", "key.yaml"][..], flags].concat()).exits_with(0);
        std::fs::write(ws.folder().join("live.yaml"), &snapshot.stdout).unwrap();
        let run = ws.reconcile(["blame", "-f", "key.yaml", "--live", "live.yaml", "-o", "json"]).exits_with(0);
        let objects: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        let fields = objects[0]["fields"].as_array().unwrap();
        let field = fields.iter().find(|field| field["path"] == "data.a").unwrap();
        assert_eq!(field["manifest"], sign, "{run}");
    }
}
