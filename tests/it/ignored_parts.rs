//! Ignored parts of lists that the API replaces as a whole: the part keeps its live value, and the rest of the list is compared and
//! written.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::control_plane::{ANY_FIELDS, Fault, Proxy, Replaced, Run, Workspace};

/// A kind like `HTTPRoute`: a list of rules with lists of backends, without keys.
const ROUTE: &str = "
properties:
  rules:
    type: array
    items:
      type: object
      properties:
        path: {type: string}
        backends:
          type: array
          items:
            type: object
            properties:
              name: {type: string}
              port: {type: integer, default: 80}
              weight: {type: integer}
";

const BACKENDS: &str = "[{name: old, weight: 100}, {name: new, weight: 0}]";

fn canary(rule: &str) -> String {
    format!(
        "apiVersion: $NS.example.com/v1
kind: Route
metadata: {{name: canary, annotations: {{kubectl-reconcile/ignore: '{rule}'}}}}
spec:
  rules:
  - {{path: /, backends: {BACKENDS}}}
  - {{path: /api, backends: [{{name: api, port: 8080, weight: 1}}]}}
"
    )
}

const WEIGHTS: &str = "spec.rules[*].backends[*].weight";

/// A cluster with the route, and weights that its controller has moved.
fn moved_weights(rule: &str) -> Workspace {
    let ws = Workspace::new();
    ws.define("Route", ROUTE);
    ws.write("it/route.yaml", &canary(rule));
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    move_weights(&ws, 70);
    ws
}

fn object(ws: &Workspace) -> String {
    ws.fill_in("routes.$NS.example.com/canary")
}

fn move_weights(ws: &Workspace, old: u32) {
    let weight = |at: u32, weight: u32| json!({"op": "replace", "path": format!("/spec/rules/0/backends/{at}/weight"), "value": weight});
    json_patch(ws, &object(ws), "flagger", &json!([weight(0, old), weight(1, 100 - old)]));
}

#[track_caller]
fn json_patch(ws: &Workspace, object: &str, manager: &str, patch: &Value) {
    let flags = ["--type=json", "--field-manager", manager, "-p", &patch.to_string()];
    ws.kubectl([&["patch", object][..], &flags].concat()).exits_with(0);
}

fn rules(ws: &Workspace) -> Value {
    ws.get(&ws.fill_in("Route.$NS.example.com"), "canary")["spec"]["rules"].clone()
}

fn weights(ws: &Workspace) -> Vec<i64> {
    let backends = rules(ws)[0]["backends"].as_array().unwrap().clone();
    backends.iter().map(|backend| backend["weight"].as_i64().unwrap()).collect()
}

/// Nothing is shown, and an apply writes nothing.
#[track_caller]
fn is_quiet(ws: &Workspace) -> Run {
    let diff = ws.reconcile(["diff", "-f", "it"]).exits_with(0);
    assert_eq!(diff.changes("Route", "canary"), [""; 0], "{diff}");
    let read_only = ws.reconcile(["diff", "-f", "it", "--evidence=read-only"]).exits_with(0);
    assert_eq!(read_only.object("Route", "canary")["ignored"], diff.object("Route", "canary")["ignored"]);
    let apply = ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    assert_eq!(apply.writes(), 0, "{apply}");
    diff
}

#[test]
fn the_part_that_a_controller_changes_stays() {
    let ws = moved_weights(WEIGHTS);
    let diff = is_quiet(&ws);
    let ignored = &diff.object("Route", "canary")["ignored"][0];
    let paths = ["spec.rules[0].backends[0].weight", "spec.rules[0].backends[1].weight"];
    assert_eq!(ignored["paths"], json!(paths), "{diff}");
    assert_eq!(ignored["managers"][paths[0]], json!(["flagger"]), "{diff}");
    assert!(!diff.stdout.contains("as a whole"), "{diff}");
    assert_eq!(weights(&ws), [70, 30]);
}

#[test]
fn the_rest_of_the_list_is_healed_and_the_part_stays() {
    let ws = moved_weights(WEIGHTS);
    let port = json!([{"op": "replace", "path": "/spec/rules/0/backends/1/port", "value": 9999}]);
    json_patch(&ws, &object(&ws), "kubectl-edit", &port);
    for evidence in ["--evidence=auto", "--evidence=server", "--evidence=read-only"] {
        let diff = ws.reconcile(["diff", "-f", "it", evidence]).exits_with(1);
        let expected = ["changedByOther spec.rules[0].backends[1].port"];
        assert_eq!(diff.changes("Route", "canary"), expected, "{diff}");
    }
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    assert_eq!(rules(&ws)[0]["backends"][1], json!({"name": "new", "port": 80, "weight": 30}));
    assert_eq!(weights(&ws), [70, 30]);
    is_quiet(&ws);
    // The controller goes on.
    move_weights(&ws, 40);
    is_quiet(&ws);
    assert_eq!(weights(&ws), [40, 60]);
}

#[test]
fn a_manager_of_the_part_is_no_conflict_for_the_rest() {
    let ws = moved_weights(WEIGHTS);
    ws.write("it/route.yaml", &canary(WEIGHTS).replaced("path: /api", "path: /v2"));
    let none = ws.reconcile(["diff", "-f", "it", "--force-conflicts=none"]).exits_with(1);
    assert_eq!(none.object("Route", "canary")["conflicts"][0]["path"], "spec.rules", "{none}");
    let diff = ws.reconcile(["diff", "-f", "it"]).exits_with(1);
    assert_eq!(diff.changes("Route", "canary"), ["changedByOther spec.rules[1].path"], "{diff}");
    assert_eq!(diff.object("Route", "canary")["conflicts"], json!([]));
    let apply = ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["Route canary: updated"], "{apply}");
    assert_eq!((rules(&ws)[1]["path"].as_str(), weights(&ws)), (Some("/v2"), vec![70, 30]));
    is_quiet(&ws);
}

#[test]
fn an_applier_of_the_list_keeps_it_while_only_the_part_differs() {
    let ws = moved_weights(WEIGHTS);
    let theirs = canary(WEIGHTS)
        .replaced("weight: 100", "weight: 20")
        .replaced("weight: 0", "weight: 80")
        .replaced(", annotations: {kubectl-reconcile/ignore: 'spec.rules[*].backends[*].weight'}", "");
    ws.apply_as("gitops", &theirs);
    is_quiet(&ws);
    // Without force, as nobody is in its way.
    let flags = ["apply", "--server-side", "--field-manager", "gitops", "-f", "-"];
    ws.stdin(&theirs.replaced("weight: 20", "weight: 10")).kubectl(flags).exits_with(0);
    is_quiet(&ws);
    assert_eq!(weights(&ws), [10, 80]);
}

#[test]
fn lists_of_different_lengths_are_ignored_as_a_whole_with_a_warning() {
    let ws = moved_weights(WEIGHTS);
    // The inner list: the rest of the outer one is still healed.
    let third = canary(WEIGHTS)
        .replaced("{name: new, weight: 0}]", "{name: new, weight: 0}, {name: third, weight: 0}]")
        .replaced("path: /api", "path: /v2");
    ws.write("it/route.yaml", &third);
    let diff = ws.reconcile(["diff", "-f", "it"]).exits_with(1);
    assert_eq!(diff.changes("Route", "canary"), ["changedByOther spec.rules[1].path"], "{diff}");
    let warning = "`spec.rules[0].backends` is ignored as a whole: an ignore rule names a part of its items, and the manifest has 3 of them while the cluster has 2";
    assert!(diff.stdout.contains(warning), "{diff}");
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    assert_eq!((rules(&ws)[1]["path"].as_str(), weights(&ws)), (Some("/v2"), vec![70, 30]));
    let quiet = is_quiet(&ws);
    assert!(quiet.stdout.contains(warning), "{quiet}");
    // The outer list.
    let before = rules(&ws);
    ws.write("it/route.yaml", &(third + "  - {path: /more, backends: []}\n"));
    let quiet = is_quiet(&ws);
    let warning = "`spec.rules` is ignored as a whole: an ignore rule names a part of its items, and the manifest has 3 of them while the cluster has 2";
    assert!(quiet.stdout.contains(warning), "{quiet}");
    assert_eq!(rules(&ws), before);
}

#[test]
fn a_list_that_does_not_exist_is_created_and_one_that_the_manifest_drops_stays() {
    let ws = moved_weights(WEIGHTS);
    json_patch(&ws, &object(&ws), "kubectl-edit", &json!([{"op": "remove", "path": "/spec/rules"}]));
    ws.reconcile(["diff", "-f", "it"]).exits_with(1);
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    assert_eq!(weights(&ws), [100, 0]);
    is_quiet(&ws);
    let (head, _) = canary(WEIGHTS).split_once("spec:").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    ws.write("it/route.yaml", &(head + "spec: {}\n"));
    let quiet = is_quiet(&ws);
    let warning =
        "`spec.rules` is ignored as a whole: an ignore rule names a part of it, and the manifest does not have it";
    assert!(quiet.stdout.contains(warning), "{quiet}");
    assert_eq!(weights(&ws), [100, 0]);
}

#[test]
fn a_rule_for_managers_leaves_them_the_list_that_they_own() {
    let ws = moved_weights("spec.nothing");
    let rule = format!("{{target: {{}}, fields: ['{WEIGHTS}'], managers: [flagger]}}");
    let config = format!("apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- {rule}\n");
    ws.write(".kubectl-reconcile.yaml", &config);
    let diff = is_quiet(&ws);
    assert!(!diff.stdout.contains("as a whole"), "{diff}");
    ws.write("it/route.yaml", &canary("spec.nothing").replaced("path: /api", "path: /v2"));
    let stays = |diff: &Run| {
        assert_eq!(diff.changes("Route", "canary"), ["conflict spec.rules[1].path"], "{diff}");
        let conflict = &diff.object("Route", "canary")["conflicts"][0];
        assert_eq!((conflict["path"].as_str(), conflict["manager"].as_str()), (Some("spec.rules"), Some("flagger")));
        let warning = "`spec.rules` stays as it is: an ignore rule for its managers names a part of it, and ends once an apply has written the rest";
        assert!(diff.stdout.contains(warning), "{diff}");
        assert_eq!((rules(&ws)[1]["path"].as_str(), weights(&ws)), (Some("/api"), vec![70, 30]));
    };
    for evidence in ["--evidence=auto", "--evidence=server", "--evidence=read-only"] {
        stays(&ws.reconcile(["diff", "-f", "it", evidence]).exits_with(1));
    }
    stays(&ws.reconcile(["apply", "-f", "it"]).exits_with(4));
    // A manager whose changes count as manual is no exception.
    ws.write(".kubectl-reconcile.yaml", &format!("{config}manualManagers: [flagger]\n"));
    stays(&ws.reconcile(["apply", "-f", "it"]).exits_with(4));
    // Without `managers`, the rule holds after the apply as well.
    let without = config.replaced(", managers: [flagger]", "");
    ws.write(".kubectl-reconcile.yaml", &without);
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    assert_eq!((rules(&ws)[1]["path"].as_str(), weights(&ws)), (Some("/v2"), vec![70, 30]));
    is_quiet(&ws);
}

#[test]
fn force_takes_the_list_from_the_managers_of_a_rule_and_says_what_follows() {
    let ws = moved_weights("spec.nothing");
    let rule = format!("{{target: {{}}, fields: ['{WEIGHTS}'], managers: [flagger]}}");
    ws.write(
        ".kubectl-reconcile.yaml",
        &format!("apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- {rule}\n"),
    );
    ws.write("it/route.yaml", &canary("spec.nothing").replaced("path: /api", "path: /v2"));
    let apply = ws.reconcile(["apply", "-f", "it", "--force-conflicts"]).exits_with(0);
    assert!(apply.stdout.contains("the next apply resets the ignored part"), "{apply}");
    assert_eq!((rules(&ws)[1]["path"].as_str(), weights(&ws)), (Some("/v2"), vec![70, 30]));
    let diff = ws.reconcile(["diff", "-f", "it"]).exits_with(1);
    assert_eq!(diff.changes("Route", "canary").len(), 2, "{diff}");
}

/// An applier means the whole list, and not only the part of it.
#[test]
fn what_an_applier_set_in_the_rest_is_a_conflict() {
    let ws = Workspace::new();
    let ingress = "
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: it, annotations: {kubectl-reconcile/ignore: 'spec.rules[*].http.paths[*].backend.service.name'}}
spec:
  rules:
  - host: a.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: blue, port: {number: 80}}}}]}
";
    ws.write("it/ingress.yaml", ingress);
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    ws.apply_as("argocd-controller", &ingress.replaced("blue", "green").replaced("number: 80", "number: 81"));
    let service = || ws.get("Ingress", "it")["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"].clone();
    let theirs = json!({"name": "green", "port": {"number": 81}});
    for evidence in ["--evidence=auto", "--evidence=server", "--evidence=read-only"] {
        let diff = ws.reconcile(["diff", "-f", "it", evidence]).exits_with(1);
        let port = "conflict spec.rules[0].http.paths[0].backend.service.port.number";
        assert_eq!(diff.changes("Ingress", "it"), [port], "{diff}");
        assert_eq!(diff.object("Ingress", "it")["conflicts"][0]["manager"], "argocd-controller", "{diff}");
    }
    ws.reconcile(["apply", "-f", "it"]).exits_with(4);
    assert_eq!(service(), theirs);
    ws.reconcile(["apply", "-f", "it", "--force-conflicts"]).exits_with(0);
    assert_eq!(service(), json!({"name": "green", "port": {"number": 80}}));
}

/// Paired by position, each item would get the weight of another one.
#[test]
fn items_that_have_moved_are_not_mixed() {
    let ws = moved_weights(WEIGHTS);
    let swapped = "[{name: new, weight: 0}, {name: old, weight: 100}]";
    ws.write("it/route.yaml", &canary(WEIGHTS).replaced(BACKENDS, swapped).replaced("path: /api", "path: /v2"));
    let diff = ws.reconcile(["diff", "-f", "it"]).exits_with(1);
    assert_eq!(diff.changes("Route", "canary"), ["changedByOther spec.rules[1].path"], "{diff}");
    let warning = "`spec.rules[0].backends` is ignored as a whole: an ignore rule names a part of its items, which have another order in the manifest than in the cluster";
    assert!(diff.stdout.contains(warning), "{diff}");
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    let backends = json!([{"name": "old", "port": 80, "weight": 70}, {"name": "new", "port": 80, "weight": 30}]);
    assert_eq!((rules(&ws)[1]["path"].as_str(), &rules(&ws)[0]["backends"]), (Some("/v2"), &backends));
    is_quiet(&ws);
}

#[test]
fn the_part_that_changes_between_comparison_and_write_keeps_its_newest_value() {
    let ws = Arc::new(moved_weights(WEIGHTS));
    ws.write("it/route.yaml", &canary(WEIGHTS).replaced("path: /api", "path: /v2"));
    let proxy = Proxy::new(&ws);
    let controller = Arc::clone(&ws);
    let event = move || move_weights(&controller, 55);
    proxy.inject(1, "PATCH", "!dryRun fieldValidation", Fault::After(Arc::new(event)));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "it"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["Route canary: updated"], "{apply}");
    assert_eq!((rules(&ws)[1]["path"].as_str(), weights(&ws)), (Some("/v2"), vec![55, 45]));
    is_quiet(&ws);
}

#[test]
fn plans_and_pull_leave_the_part_alone() {
    let ws = moved_weights(WEIGHTS);
    ws.write("it/route.yaml", &canary(WEIGHTS).replaced("path: /api", "path: /v2"));
    ws.reconcile(["diff", "-f", "it", "--save-plan", "plan.json"]).exits_with(1);
    move_weights(&ws, 45);
    let apply = ws.reconcile(["apply", "-f", "it", "--plan", "plan.json"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["Route canary: updated"], "{apply}");
    assert_eq!((rules(&ws)[1]["path"].as_str(), weights(&ws)), (Some("/v2"), vec![45, 55]));
    let port = json!([{"op": "replace", "path": "/spec/rules/1/backends/0/port", "value": 9090}]);
    json_patch(&ws, &object(&ws), "kubectl-edit", &port);
    ws.reconcile(["pull", "-f", "it"]).exits_with(0);
    let text = std::fs::read_to_string(ws.folder().join("it/route.yaml")).unwrap();
    let expected = canary(WEIGHTS).replaced("path: /api", "path: /v2").replaced("port: 8080", "port: 9090");
    assert_eq!(text, ws.fill_in(&expected));
    ws.reconcile(["diff", "-f", "it"]).exits_with(0);
}

#[test]
fn without_types_all_lists_have_positions_only() {
    let ws = Workspace::new();
    ws.define("Route", &[ANY_FIELDS, ROUTE].concat());
    let route = |rule: &str, pools: &str| {
        format!(
            "{{apiVersion: $NS.example.com/v1, kind: Route, metadata: {{name: canary, annotations: {{kubectl-reconcile/ignore: '{rule}'}}}}, spec: {{pools: {pools}}}}}"
        )
    };
    let pools = "[{name: a, weight: 1, size: 1}, {name: b, weight: 1, size: 1}]";
    let spec = |ws: &Workspace| ws.get(&ws.fill_in("Route.$NS.example.com"), "canary")["spec"]["pools"].clone();
    let set = |at: usize, name: &str, value: u32| json!({"op": "replace", "path": format!("/spec/pools/{at}/{name}"), "value": value});
    for rule in ["spec.pools[1].weight", "spec.pools[name=b].weight"] {
        ws.write("it/route.yaml", &route(rule, pools));
        ws.reconcile(["apply", "-f", "it"]).exits_with(0);
        json_patch(&ws, &object(&ws), "flagger", &json!([set(1, "weight", 9)]));
        is_quiet(&ws);
        json_patch(&ws, &object(&ws), "kubectl-edit", &json!([set(0, "weight", 8), set(1, "size", 8)]));
        let diff = ws.reconcile(["diff", "-f", "it"]).exits_with(1);
        let expected = ["changedByOther spec.pools[0].weight", "changedByOther spec.pools[1].size"];
        assert_eq!(diff.changes("Route", "canary"), expected, "{diff}");
        ws.reconcile(["apply", "-f", "it"]).exits_with(0);
        let healed = json!([{"name": "a", "weight": 1, "size": 1}, {"name": "b", "weight": 9, "size": 1}]);
        assert_eq!(spec(&ws), healed, "{rule}");
        is_quiet(&ws);
    }
    // An item that is selected by its name is at another position.
    ws.write("it/route.yaml", &route("spec.pools[name=b].weight", "[{name: b, weight: 1}, {name: a, weight: 1}]"));
    let quiet = is_quiet(&ws);
    let warning = "`spec.pools` is ignored as a whole: an ignore rule selects items that have other positions in the manifest than in the cluster";
    assert!(quiet.stdout.contains(warning), "{quiet}");
}

#[test]
fn names_in_the_live_object_are_harmless_in_warnings() {
    let ws = Workspace::new();
    ws.define("Route", &[ANY_FIELDS, ROUTE].concat());
    let name = "\u{1b}[31m::error::\u{202e}x";
    let route = |items: &Value| {
        json!({"apiVersion": "$NS.example.com/v1", "kind": "Route", "metadata": {"name": "canary",
        "annotations": {"kubectl-reconcile/ignore": "spec.maps[*].*[*].weight"}}, "spec": {"maps": [{name: items, "n": 1}]}})
    };
    ws.write("it/route.json", &route(&json!([{"weight": 1}])).to_string());
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    ws.write("it/route.json", &route(&json!([{"weight": 1}, {"weight": 1, "n": 2}])).to_string());
    let quiet = is_quiet(&ws);
    assert!(quiet.stdout.contains("is ignored as a whole"), "{quiet}");
    assert!(!quiet.stdout.contains(['\u{1b}', '\u{202e}']), "{quiet}");
}

#[test]
fn rules_of_roles_and_paths_of_ingresses_have_parts() {
    let ws = Workspace::new();
    let role = "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: it, annotations: {kubectl-reconcile/ignore: 'rules[1].verbs'}}
rules:
- {apiGroups: [''], resources: [pods], verbs: [get]}
- {apiGroups: [''], resources: [configmaps], verbs: [get]}
";
    let ingress = "
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: it, annotations: {kubectl-reconcile/ignore: 'spec.rules[*].http.paths[*].backend.service.name'}}
spec:
  rules:
  - host: a.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: blue, port: {number: 80}}}}]}
";
    ws.write("it/role.yaml", role);
    ws.write("it/ingress.yaml", ingress);
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    let set = |path: &str, value: &Value| json!({"op": "replace", "path": path, "value": value});
    let service = "/spec/rules/0/http/paths/0/backend/service";
    json_patch(&ws, "role/it", "operator", &json!([set("/rules/1/verbs", &json!(["get", "list"]))]));
    json_patch(&ws, "ingress/it", "operator", &json!([set(&format!("{service}/name"), &json!("green"))]));
    ws.reconcile(["diff", "-f", "it"]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "it"]).exits_with(0).writes(), 0);
    json_patch(&ws, "role/it", "kubectl-edit", &json!([set("/rules/0/verbs", &json!(["*"]))]));
    json_patch(&ws, "ingress/it", "kubectl-edit", &json!([set(&format!("{service}/port/number"), &json!(81))]));
    let diff = ws.reconcile(["diff", "-f", "it"]).exits_with(1);
    assert_eq!(diff.changes("Role", "it"), ["changedByOther rules"], "{diff}");
    let port = "changedByOther spec.rules[0].http.paths[0].backend.service.port.number";
    assert_eq!(diff.changes("Ingress", "it"), [port], "{diff}");
    // `pull` takes the verbs of the first rule only.
    ws.reconcile(["pull", "-f", "it/role.yaml"]).exits_with(0);
    let pulled = std::fs::read_to_string(ws.folder().join("it/role.yaml")).unwrap();
    assert!(pulled.contains("resources: [configmaps], verbs: [get]"), "{pulled}");
    assert!(pulled.contains('*'), "{pulled}");
    ws.write("it/role.yaml", role);
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    let role = ws.get("Role", "it")["rules"].clone();
    assert_eq!((&role[0]["verbs"], &role[1]["verbs"]), (&json!(["get"]), &json!(["get", "list"])));
    let backend = ws.get("Ingress", "it")["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"].clone();
    assert_eq!(backend, json!({"name": "green", "port": {"number": 80}}));
    assert_eq!(ws.reconcile(["apply", "-f", "it"]).exits_with(0).writes(), 0);
}
