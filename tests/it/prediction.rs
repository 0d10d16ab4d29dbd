//! The diff before an apply says exactly what the apply does: the live object with the changes of the report is the object that
//! is there afterwards.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Workspace};
use crate::manifests::WEB;

/// One step of a path of the report.
#[derive(Debug)]
enum Step {
    Field(String),
    /// The values that the keys of an item have.
    Item(Vec<(String, Value)>),
    Member(Value),
    Position(usize),
}

/// Reads a path: names joined by dots, `["strange.key"]`, `[k1=v1,k2=v2]`, `[="v"]` and `[0]`.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let quoted = inner.strip_prefix('"').map(|text| text.find("\"]").unwrap() + 2);
            let end = quoted.unwrap_or_else(|| inner.find(']').unwrap());
            let inside = &inner[..end];
            let after = &inner[end + 1..];
            rest = after.strip_prefix('.').unwrap_or(after);
            steps.push(if inside.starts_with('"') {
                Step::Field(serde_json::from_str(inside).unwrap())
            } else if let Some(member) = inside.strip_prefix('=') {
                Step::Member(serde_json::from_str(member).unwrap())
            } else if let Ok(position) = inside.parse() {
                Step::Position(position)
            } else {
                let key = |pair: &str| {
                    let (name, value) = pair.split_once('=').unwrap();
                    (name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| json!(value)))
                };
                Step::Item(inside.split(',').map(key).collect())
            });
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Field(rest[..end].to_owned()));
            rest = rest[end..].strip_prefix('.').unwrap_or(&rest[end..]);
        }
    }
    steps
}

/// Puts a value at a path, or takes away what is there.
fn set(value: &mut Value, path: &[Step], to: Option<&Value>) {
    let (step, rest) = path.split_first().expect("a path into an object");
    match step {
        Step::Field(name) => {
            if value.is_null() {
                *value = json!({});
            }
            let fields = value.as_object_mut().unwrap();
            match (rest.is_empty(), to) {
                (true, Some(to)) => drop(fields.insert(name.clone(), to.clone())),
                (true, None) => drop(fields.remove(name)),
                (false, _) => set(fields.entry(name).or_insert(Value::Null), rest, to),
            }
        }
        Step::Position(position) => match rest {
            [] => value[*position] = to.unwrap().clone(),
            rest => set(&mut value[*position], rest, to),
        },
        Step::Item(_) | Step::Member(_) => {
            if value.is_null() {
                *value = json!([]);
            }
            let is_it = |item: &Value| match step {
                Step::Item(keys) => keys.iter().all(|(name, key)| item[name] == *key),
                Step::Member(member) => item == member,
                _ => false,
            };
            let items = value.as_array_mut().unwrap();
            let found = items.iter().position(is_it);
            match (rest.is_empty(), to, found) {
                (true, Some(to), None) => items.push(to.clone()),
                (true, Some(to), Some(at)) => items[at] = to.clone(),
                (true, None, at) => drop(items.remove(at.unwrap())),
                (false, _, at) => set(&mut items[at.unwrap()], rest, to),
            }
        }
    }
}

/// The object without what the server owns, and with lists in an order of their own: new items may stand anywhere.
fn essence(object: &Value) -> Value {
    match object {
        Value::Object(fields) => {
            let server = ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "status"];
            let kept = fields.iter().filter(|(name, _)| !server.contains(&name.as_str()));
            let kept = kept.map(|(name, value)| (name.clone(), essence(value)));
            // Maps that became empty may stay or go.
            Value::Object(kept.filter(|(_, value)| *value != json!({}) && *value != json!([])).collect())
        }
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(essence).collect();
            items.sort_by_key(ToString::to_string);
            Value::Array(items)
        }
        scalar => scalar.clone(),
    }
}

/// Diffs, applies, and holds the one against the other.
#[track_caller]
fn is_kept(ws: &Workspace, what: &str, kind: &str, name: &str) {
    let before = ws.get(kind, name);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let mut predicted = before;
    for change in diff.object(kind, name)["changes"].as_array().unwrap() {
        let is_drift = !["released", "overridden", "unmanaged", "adopted"].contains(&change["class"].as_str().unwrap());
        if is_drift && change["op"] != "move" {
            set(&mut predicted, &steps(change["path"].as_str().unwrap()), change.get("desired"));
        }
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let mut after = essence(&ws.get(kind, name));
    for object in [&mut after, &mut predicted] {
        if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
    }
    assert_eq!(essence(&after), essence(&predicted), "{what}: {diff}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

const DROPPED: [(&str, &str, &str); 7] = [
    ("replicas", "  replicas: 2\n", ""),
    ("a label", ", tier: front", ""),
    ("a variable", "{name: LOG, value: info}, ", ""),
    ("arguments", "        args: [--port, '8080', --verbose]\n", ""),
    ("resources", "        resources: {requests: {cpu: 100m, memory: 64Mi}}\n", ""),
    ("ports", "        ports: [{containerPort: 8080}]\n", ""),
    ("a container", "      - {name: proxy, image: 'shop/proxy:3'}\n", ""),
];

#[test]
fn what_the_manifest_drops_goes_as_predicted() {
    for (what, from, to) in DROPPED {
        let ws = Workspace::new();
        ws.write("web.yaml", WEB);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        assert!(WEB.contains(from));
        ws.write("web.yaml", &WEB.replaced(from, to));
        is_kept(&ws, what, "Deployment", "web");
    }
}

#[test]
fn what_the_manifest_drops_since_client_side_apply_goes_as_predicted() {
    for (what, from, to) in DROPPED {
        let ws = Workspace::new();
        ws.write("web.yaml", WEB);
        ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
        ws.write("web.yaml", &WEB.replaced(from, to));
        is_kept(&ws, what, "Deployment", "web");
    }
}

#[test]
fn what_the_manifest_drops_beside_a_manual_manager_goes_as_predicted() {
    for (what, from, to) in DROPPED {
        let ws = Workspace::new();
        ws.write("web.yaml", WEB);
        // Created by hand, and the same values applied by us: both own every field.
        ws.kubectl(["create", "-f", "web.yaml"]).exits_with(0);
        ws.apply_as("kubectl-reconcile", WEB);
        ws.write("web.yaml", &WEB.replaced(from, to));
        is_kept(&ws, what, "Deployment", "web");
    }
}

#[test]
fn what_was_changed_from_outside_goes_back_as_predicted() {
    for (what, patch) in [
        (
            "scalars",
            json!([{"op": "replace", "path": "/spec/replicas", "value": 9}, {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "x"}]),
        ),
        (
            "removals",
            json!([{"op": "remove", "path": "/spec/template/spec/containers/1"}, {"op": "remove", "path": "/spec/template/spec/containers/0/ports"}, {"op": "remove", "path": "/metadata/labels"}]),
        ),
        (
            "additions",
            json!([{"op": "add", "path": "/spec/template/spec/containers/0/env/0", "value": {"name": "X", "value": "y"}}, {"op": "replace", "path": "/spec/template/spec/containers/0/env/1/value", "value": "z"}]),
        ),
        (
            "another strategy",
            json!([{"op": "replace", "path": "/spec/strategy", "value": {"type": "Recreate"}}, {"op": "replace", "path": "/spec/replicas", "value": 1}]),
        ),
        (
            "a value from elsewhere",
            json!([{"op": "replace", "path": "/spec/template/spec/containers/0/env/0", "value": {"name": "LOG", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}}]),
        ),
        (
            "an order",
            json!([{"op": "move", "from": "/spec/template/spec/containers/0/env/1", "path": "/spec/template/spec/containers/0/env/0"}]),
        ),
    ] {
        let ws = Workspace::new();
        ws.write("web.yaml", WEB);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &patch.to_string()]).exits_with(0);
        if what == "a value from elsewhere" {
            // A variable has either, and the server refuses both: what a manual manager alone owns goes.
            let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
            let source =
                diff.change("Deployment", "web", "spec.template.spec.containers[name=web].env[name=LOG].valueFrom");
            assert_eq!((&source["op"], &source["managers"][0]["manager"]), (&json!("remove"), &json!("kubectl-patch")));
            ws.reconcile(["apply", "-f", "."]).exits_with(0);
            ws.reconcile(["diff", "-f", "."]).exits_with(0);
            continue;
        }
        is_kept(&ws, what, "Deployment", "web");
    }
}

#[test]
fn a_changed_manifest_is_applied_as_predicted() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for (from, to) in [
        ("replicas: 2", "replicas: 2\n  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}"),
        ("image: shop/web:1.2", "image: shop/web:1.3\n        imagePullPolicy: Always"),
        ("[{containerPort: 8080}]", "[{containerPort: 8080, name: http}, {containerPort: 8080, protocol: UDP}]"),
        ("cpu: 100m", "cpu: 0.25"),
        (
            "[{name: LOG, value: info}, ",
            "[{name: EXTRA, valueFrom: {configMapKeyRef: {name: a, key: b}}}, {name: LOG, value: info}, ",
        ),
    ] {
        assert!(WEB.contains(from));
        ws.write("web.yaml", &WEB.replaced(from, to));
        is_kept(&ws, to, "Deployment", "web");
    }
    ws.write("web.yaml", WEB);
    is_kept(&ws, "back to the first", "Deployment", "web");
}
