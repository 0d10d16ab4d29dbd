//! Items that somebody added to lists of the manifests: they are pulled as a person would write them, without what the server sets.

use serde_json::json;

use super::{TIDY, applied, is_settled, patched, text};
use crate::control_plane::{Replaced, Workspace, definition};
use crate::manifests::WEB;

#[test]
fn an_added_container_is_pulled_without_the_defaults_of_the_server() {
    let ws = applied(TIDY);
    let mut container = json!({
        "name": "log", "image": "shop/log:2", "ports": [{"containerPort": 9000}, {"containerPort": 53, "protocol": "UDP"}],
        "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "livenessProbe": {"httpGet": {"path": "/", "port": 9000}, "periodSeconds": 5},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": "config", "mountPath": "/etc/log"}],
    });
    let volume = json!({"name": "config", "configMap": {"name": "log"}});
    patched(
        &ws,
        "deployment/web",
        &json!([
            {"op": "add", "path": "/spec/template/spec/containers/-", "value": container},
            {"op": "add", "path": "/spec/template/spec/volumes", "value": [volume]},
        ]),
    );
    let run = ws.reconcile(["pull", "-f", ".", "--class", "unmanaged"]).exits_with(0);
    let written = text(&ws);
    assert!(written.starts_with(TIDY.trim_end()), "{run}");
    let added = kube_yaml::read(written.as_bytes(), kube_yaml::Validation::Strict).documents[0].value.clone();
    let pod = &added["spec"]["template"]["spec"];
    container["livenessProbe"]["httpGet"] = json!({"port": 9000});
    assert_eq!(pod["containers"][2], container, "{run}");
    assert_eq!(pod["volumes"], json!([volume]), "{run}");
    is_settled(&ws, &[("Deployment", "web")]);
    let again = ws.reconcile(["pull", "-f", ".", "--class", "unmanaged"]).exits_with(0);
    assert!(again.stdout.contains("nothing to pull"), "{again}");
}

#[test]
fn added_fields_with_the_values_of_the_server_are_left_out() {
    let ws = applied(TIDY);
    let probe = json!({"tcpSocket": {"port": 8080}, "failureThreshold": 3, "initialDelaySeconds": 7});
    patched(
        &ws,
        "deployment/web",
        &json!([{"op": "add", "path": "/spec/template/spec/containers/0/livenessProbe", "value": probe}]),
    );
    let run = ws.reconcile(["pull", "-f", ".", "--class", "unmanaged"]).exits_with(0);
    let written = text(&ws);
    assert!(written.contains("initialDelaySeconds: 7") && written.contains("port: 8080"), "{run}");
    for default in ["failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds"] {
        assert!(!written.contains(default), "{run}");
    }
    is_settled(&ws, &[("Deployment", "web")]);
}

#[test]
fn added_ports_are_pulled_in_the_style_of_their_neighbours() {
    let service = "\
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports:
    - name: http   # for people
      port: 80
";
    let ws = applied(service);
    for port in
        [json!({"name": "a", "port": 81}), json!({"name": "b", "port": 82, "targetPort": "b", "protocol": "UDP"})]
    {
        patched(&ws, "service/web", &json!([{"op": "add", "path": "/spec/ports/-", "value": port}]));
    }
    ws.reconcile(["pull", "-f", ".", "--class", "unmanaged"]).exits_with(0);
    let added =
        "    - name: a\n      port: 81\n    - name: b\n      port: 82\n      protocol: UDP\n      targetPort: b\n";
    assert_eq!(text(&ws), format!("{service}{added}"));
    is_settled(&ws, &[("Service", "web")]);
}

/// A port without a protocol is of TCP: one of UDP beside it is another item.
#[test]
fn a_port_of_another_protocol_is_an_item_of_its_own() {
    let head = "\
apiVersion: v1
kind: Service
metadata: {name: dns}
spec:
  selector: {app: dns}
  ports:
    - name: stream
      port: 53
";
    let ws = applied(head);
    let port =
        json!([{"op": "add", "path": "/spec/ports/-", "value": {"name": "packet", "port": 53, "protocol": "UDP"}}]);
    patched(&ws, "service/dns", &port);
    let run = ws.reconcile(["pull", "-f", ".", "--class", "unmanaged"]).exits_with(0);
    assert_eq!(text(&ws), format!("{head}    - name: packet\n      port: 53\n      protocol: UDP\n"), "{run}");
    is_settled(&ws, &[("Service", "dns")]);
    // Each change reaches the item that has it.
    let names = json!([
        {"op": "replace", "path": "/spec/ports/0/targetPort", "value": 5300},
        {"op": "replace", "path": "/spec/ports/1/targetPort", "value": 5301},
    ]);
    ws.write(
        "manifests.yaml",
        &format!(
            "{head}      targetPort: 1\n    - name: packet\n      port: 53\n      protocol: UDP\n      targetPort: 2\n"
        ),
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    patched(&ws, "service/dns", &names);
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert_eq!(
        text(&ws),
        format!(
            "{head}      targetPort: 5300\n    - name: packet\n      port: 53\n      protocol: UDP\n      targetPort: 5301\n"
        ),
        "{run}"
    );
}

/// An item with all of the keys is meant before one that leaves a key to the server.
#[test]
fn an_item_is_told_from_one_that_leaves_out_a_key() {
    let ws = Workspace::new();
    ws.define("Gate", "properties: {items: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name, side], items: {type: object, required: [name], properties: {name: {type: string}, side: {type: string, default: in}, size: {type: integer}}}}}");
    let head = ws.fill_in(
        "apiVersion: $NS.example.com/v1\nkind: Gate\nmetadata: {name: gate}\nspec:\n  items:\n  - {name: a, size: 1}\n",
    );
    ws.write("manifests.yaml", &format!("{head}  - {{name: a, side: out, size: 2}}\n"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let size = json!([{"op": "replace", "path": "/spec/items/1/size", "value": 3}]);
    ws.kubectl(["patch", "gate", "gate", "--type=json", "-p", &size.to_string()]).exits_with(0);
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert_eq!(text(&ws), format!("{head}  - {{name: a, side: out, size: 3}}\n"), "{run}");
    let removal = json!([{"op": "remove", "path": "/spec/items/1"}]);
    ws.kubectl(["patch", "gate", "gate", "--type=json", "-p", &removal.to_string()]).exits_with(0);
    let run = ws.reconcile(["pull", "-f", ".", "--class", "absent"]).exits_with(0);
    assert_eq!(text(&ws), head, "{run}");
}

#[test]
fn a_removed_item_that_stays_is_pulled_back_as_it_was_written() {
    let ws = applied(TIDY);
    ws.write("manifests.yaml", &TIDY.replaced("        - {name: proxy, image: 'shop/proxy:3'}\n", ""));
    ws.reconcile(["pull", "-f", ".", "--class", "pruned"]).exits_with(0);
    let written = text(&ws);
    assert!(written.contains("name: proxy") && !written.contains("imagePullPolicy"), "{written}");
    is_settled(&ws, &[("Deployment", "web")]);
}

#[test]
fn an_item_with_another_key_is_pulled_with_the_removal_of_the_former_one_or_not_at_all() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports:\n  - {name: http, port: 80}\n  - {name: m, port: 90}\n";
    let ws = applied(service);
    patched(&ws, "service/web", &json!([{"op": "replace", "path": "/spec/ports/1/port", "value": 91}]));
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(4);
    let flag = run.stdout.split("whose removal was not chosen: choose both with `--class ").nth(1);
    let flag = flag.and_then(|rest| rest.split('`').next()).unwrap_or_else(|| panic!("{run}"));
    assert_eq!(text(&ws), service, "two ports of one name are no Service");
    ws.reconcile(["pull", "-f", ".", "--class", flag]).exits_with(0);
    assert!(text(&ws).contains("port: 91") && !text(&ws).contains("port: 90"), "{}", text(&ws));
}

#[test]
fn an_added_item_is_put_where_the_live_list_has_it() {
    let ws = applied(TIDY);
    let container = |name: &str| json!({"name": name, "image": "shop/x:1"});
    let add = |index: usize, name: &str| json!({"op": "add", "path": format!("/spec/template/spec/containers/{index}"), "value": container(name)});
    // Two before the first, of which the names are in another order, and one between the others.
    patched(&ws, "deployment/web", &json!([add(0, "a"), add(0, "b"), add(3, "c")]));
    ws.reconcile(["pull", "-f", ".", "--class", "unmanaged"]).exits_with(0);
    let written = text(&ws);
    let names = ["name: b\n", "name: a\n", "# the server itself", "name: web\n", "name: c\n", "{name: proxy"];
    let places: Vec<Option<usize>> = names
        .iter()
        .map(|name| written.find("containers:").and_then(|at| Some(at + written[at..].find(name)?)))
        .collect();
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}: {written}");
    is_settled(&ws, &[("Deployment", "web")]);
}

/// Items move with their comments, and the order of the manifest is the live one then.
#[test]
fn a_list_takes_the_order_of_the_live_one() {
    let ws = applied(TIDY);
    let env = json!([{"name": "LANG", "value": "en"}, {"name": "LOG", "value": "info"}]);
    patched(
        &ws,
        "deployment/web",
        &json!([{"op": "replace", "path": "/spec/template/spec/containers/0/env", "value": env}]),
    );
    ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert_eq!(text(&ws), TIDY, "the order is not chosen by default");
    let run = ws.reconcile(["pull", "-f", ".", "--class", "reordered"]).exits_with(0);
    let expected = TIDY.replaced(
        "            - name: LOG\n              value: info\n            - name: LANG\n              value: en\n",
        "            - name: LANG\n              value: en\n            - name: LOG\n              value: info\n",
    );
    assert_eq!(text(&ws), expected, "{run}");
    is_settled(&ws, &[("Deployment", "web")]);
}

/// Who may write a live object must not decide what later runs compare, order, leave out or delete.
#[test]
fn metadata_that_is_obeyed_is_pulled_only_by_its_name() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map\n  annotations:\n    kubectl-reconcile/ignore: data.b\ndata:\n  a: one\n";
    let ws = applied(manifest);
    ws.kubectl(["create", "configmap", "rogue"]).exits_with(0);
    let owner = ws.get("ConfigMap", "rogue");
    let obeyed = json!({
        "kubectl-reconcile/replace": "allow", "helm.sh/hook": "test", "helm.sh/resource-policy": "keep", "note": "tenant",
        "config.kubernetes.io/depends-on": "/namespaces/x/ConfigMap/y", "cert-manager.io/inject-ca-from": "a/b",
        "kubectl-reconcile/ignore": "data",
    });
    ws.patch_as("kubectl-edit", "configmap/map", &json!({
        "metadata": {
            "annotations": obeyed, "labels": {"applyset.kubernetes.io/part-of": "x"}, "finalizers": ["example.com/tenant"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "rogue", "uid": owner["metadata"]["uid"]}],
        },
        "data": {"a": "two"},
    }));
    let flags = ["pull", "-f", ".", "--class", "changedByOther,conflict,unmanaged"];
    let run = ws.reconcile([&flags[..], &["--field", "metadata.**"]].concat());
    assert!(run.code != 0 || text(&ws) == manifest.replace("data.b\n", "data.b\n    note: tenant\n"), "{run}");
    for wide in [
        &[][..],
        &["--field", "metadata.annotations"],
        &["--field", "metadata.annotations[*]"],
        &["--field", "metadata"],
        &["--field", "metadata.ownerReferences[*].name"],
        &["--field", "metadata.*"],
    ] {
        let run = ws.reconcile([&flags[..], wide].concat());
        let written = text(&ws);
        for name in
            ["replace", "helm.sh", "depends-on", "inject-ca", "applyset", "ignore: data\n", "finalizers", "rogue"]
        {
            assert!(!written.contains(name), "{name} {wide:?}: {run}\n{written}");
        }
    }
    assert!(text(&ws).contains("note: tenant") && text(&ws).contains("a: two"));
    let named = ["--field", "metadata.annotations[\"kubectl-reconcile/ignore\"]"];
    let run = ws.reconcile([&flags[..], &named].concat()).exits_with(0);
    assert!(text(&ws).contains("kubectl-reconcile/ignore: data\n"), "{run}");
    let run = ws.reconcile([&flags[..], &["--field", "metadata.finalizers"]].concat());
    assert!(text(&ws).contains("example.com/tenant"), "{run}");
}

/// The list is somebody's addition as little as it is the manifest's: each of its items has an owner.
#[test]
fn of_a_list_that_the_manifest_lacks_only_the_items_of_hands_are_pulled() {
    let (before, rest) = TIDY.split_once("          env:\n").unwrap();
    let (_, after) = rest.split_once("          ports:").unwrap();
    let ws = applied(&format!("{before}          ports:{after}"));
    let set = |variable: &str, flags: &[&str]| {
        ws.kubectl([&["set", "env", "deployment/web", "-c", "web", variable], flags].concat()).exits_with(0);
    };
    set("TRACE=on", &["--field-manager=injector"]);
    set("A=1", &[]);
    set("B=2", &[]);
    let shown = ws.reconcile(["diff", "-f", ".", "--show-unmanaged"]).exits_with(0);
    let of = |name: &str| {
        shown.change("Deployment", "web", &format!("spec.template.spec.containers[name=web].env[name={name}]"))
    };
    assert_eq!(
        (&of("TRACE")["managers"][0]["manager"], &of("A")["managers"][0]["manager"]),
        (&json!("injector"), &json!("kubectl-set")),
        "{shown}"
    );
    ws.reconcile(["pull", "-f", ".", "--class", "unmanaged"]).exits_with(0);
    let written = text(&ws);
    let env = "          env:\n            - name: \"A\"\n              value: \"1\"\n            - name: \"B\"\n              value: \"2\"\n";
    assert!(written.contains(env) && !written.contains("TRACE"), "{written}");
    is_settled(&ws, &[("Deployment", "web")]);
}

/// The manifest has dropped the list, and somebody has put another item into it.
#[test]
fn an_item_of_a_list_that_the_manifest_dropped_is_pulled() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["set", "env", "deployment/web", "Z=z"]).exits_with(0);
    let env = "        env: [{name: LOG, value: info}, {name: LANG, value: en}]\n";
    ws.write("web.yaml", &WEB.replaced(env, ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["pull", "-f", ".", "--class", "unmanaged"]).exits_with(0);
    is_settled(&ws, &[("Deployment", "web")]);
    let diff = ws.reconcile(["diff", "-f", ".", "--show-unmanaged"]).exits_with(0);
    assert_eq!(diff.report()["summary"]["unmanaged"], 0, "{diff}");
}

/// In a custom resource, an empty map is another value than none.
#[test]
fn a_map_that_is_gone_from_a_custom_resource_goes_with_its_entries() {
    let schema = "
properties:
  size: {type: integer}
  labels: {type: object, additionalProperties: {type: string}}
  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
";
    let ws = Workspace::new();
    ws.write("crd.yaml", &definition("Hatch", schema));
    let it = "apiVersion: $NS.example.com/v1\nkind: Hatch\nmetadata: {name: it}\nspec:\n  labels:  # of all\n    a: x\n    b: z\n  tags: [c, d]\n  size: 1\n";
    ws.write("it.yaml", it);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let remove =
        |field: &str| patched(&ws, &ws.fill_in("hatchs.$NS.example.com/it"), &json!([{"op": "remove", "path": field}]));
    let pull = || {
        ws.reconcile(["pull", "-f", "it.yaml", "--class", "absent"]).exits_with(0);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
        std::fs::read_to_string(ws.folder().join("it.yaml")).unwrap()
    };
    remove("/spec/labels/a");
    assert!(pull().contains("  labels:  # of all\n    b: z\n"));
    remove("/spec/labels");
    remove("/spec/tags");
    assert!(pull().ends_with("spec:\n  size: 1\n"));
}
