//! The law of `own`, at random: nothing but the record of owners changes, an apply by the new owner without force is refused for no field
//! that was equal, and a second run writes nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::values;
use crate::control_plane::{Replaced, Rng, Run, Workspace};
use crate::manifests::WEB;

const SHOP: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {a: '1', b: '2'}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: metrics, port: 9090}]
---
";

/// The fields for which an apply without force is refused, as the report writes them.
fn refused_fields(apply: &Run) -> Vec<String> {
    let lines = apply.stderr.lines().filter_map(|line| {
        let path = line.trim().strip_prefix("- .").or_else(|| Some(line.rsplit_once(": .")?.1))?;
        Some(path.replace('"', ""))
    });
    lines.collect()
}

/// Somebody changes something: with or without a change of a value, by hand, as an applier, as a controller.
fn disturb(ws: &Workspace, rng: &mut Rng) {
    let managers = ["helm", "argocd-controller", "kustomize-controller", "old-controller", "kubectl-edit", "kubectl"];
    match rng.below(8) {
        0 => ws.scale("deployment/web", rng.pick(&[2, 2, 5]).to_owned()),
        1 => {
            let image = rng.pick(&["web=shop/web:1.2", "web=shop/web:1.3"]);
            ws.kubectl(["set", "image", "deployment/web", *image]).exits_with(0);
        }
        2 => {
            let label = rng.pick(&["tier=front", "tier=back", "extra=yes"]);
            ws.kubectl(["label", "--overwrite", "deployment/web", *label]).exits_with(0);
        }
        3 => {
            let data = json!({"data": {"a": *rng.pick(&["1", "9"]), "c": "3"}});
            ws.patch_as(rng.pick::<&str>(&managers[3..5]), "configmap/settings", &data);
        }
        4 => ws.apply_as(rng.pick::<&str>(&managers[..4]), &format!("{SHOP}{WEB}")),
        5 => {
            let other = WEB.replaced("cpu: 100m", "cpu: '0.1'").replaced("replicas: 2", "replicas: 3");
            ws.apply_as(rng.pick::<&str>(&managers[..4]), &other);
        }
        6 => {
            let port = json!({"spec": {"ports": [{"name": "http", "port": 80, "targetPort": 8080},
                {"name": "metrics", "port": 9090}, {"name": "debug", "port": 6060}]}});
            ws.patch_as(rng.pick::<&str>(&managers[2..5]), "service/web", &port);
        }
        _ => {
            let env = json!({"spec": {"template": {"spec": {"containers": [
                {"name": "web", "env": [{"name": "LOG", "value": *rng.pick(&["info", "debug"])}]}]}}}});
            let patch = env.to_string();
            let flags = ["patch", "deployment/web", "--field-manager", *rng.pick(&managers), "-p", &patch];
            ws.kubectl(flags).exits_with(0);
        }
    }
}

/// A number of the environment, which chooses the cases: `OWN_CASES`, `OWN_SEED`.
fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

#[test]
fn nothing_but_owners_changes_and_the_new_owner_can_apply() {
    let seed = number("OWN_SEED", 7);
    for case in 0..number("OWN_CASES", 8) {
        let rng = &mut Rng::new((seed * 1000 + case) as u64);
        let ws = Workspace::new();
        ws.write("shop.yaml", &format!("{SHOP}{WEB}"));
        let made: &[&str] = match rng.below(3) {
            0 => &["create", "-f", "shop.yaml"],
            1 => &["apply", "-f", "shop.yaml"],
            _ => &["apply", "--server-side", "--field-manager", "helm", "-f", "shop.yaml"],
        };
        ws.kubectl(made).exits_with(0);
        for _ in 0..rng.below(6) {
            disturb(&ws, rng);
        }
        let manager = *rng.pick(&["helm", "kustomize-controller", "kubectl-reconcile"]);
        let mut arguments = vec!["-f", "shop.yaml", "--field-manager", manager];
        if rng.chance(40) {
            arguments.extend(["--release", *rng.pick(&["*", "argocd-*", "old-controller,helm"])]);
        }
        let all = [("ConfigMap", "settings"), ("Service", "web"), ("Deployment", "web")];
        let before = all.map(|(kind, name)| values(&ws, kind, name));
        let run = ws.reconcile([&["own"], &arguments[..]].concat());
        let context = format!("case {case} of seed {seed}: {run}");
        assert_eq!(all.map(|(kind, name)| values(&ws, kind, name)), before, "{context}");
        let differing: Vec<String> = all
            .iter()
            .flat_map(|(kind, name)| run.object(kind, name)["changes"].as_array().unwrap())
            .map(|change| change["path"].as_str().unwrap().to_owned())
            .collect();
        let code = if differing.is_empty() { 0 } else { 4 };
        assert_eq!(run.code, code, "{context}");
        let flags = ["apply", "--server-side", "--dry-run=server", "--field-manager", manager, "-f", "shop.yaml"];
        for path in refused_fields(&ws.kubectl(flags)) {
            let is_known = |known: &String| path.starts_with(known.as_str()) || known.starts_with(&path);
            assert!(differing.iter().any(is_known), "{path} was equal, and an apply is refused: {context}");
        }
        let versions = ws.all_resource_versions();
        assert_eq!(ws.reconcile([&["own"], &arguments[..]].concat()).exits_with(code).writes(), 0, "{context}");
        assert_eq!(ws.all_resource_versions(), versions, "{context}");
    }
}

/// Objects of six kinds, with what their records may differ in: lists by key, atomic lists, quantities, and texts that the server moves.
fn estate(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let (name, labels) = (format!("o-{number}"), "labels: {app: web, tier: front}");
        let _ = match number % 6 {
            0 => writeln!(text, "---\n{}", WEB.replaced("name: web\n", &format!("name: {name}\n"))),
            1 => writeln!(
                text,
                "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, {labels}}}, data: {{a: '1', b: '2'}}}}"
            ),
            2 => writeln!(
                text,
                "---\n{{apiVersion: v1, kind: Service, metadata: {{name: {name}, {labels}}}, spec: {{selector: {{app: web}}, \
                 ports: [{{name: http, port: 80, targetPort: 8080}}, {{name: metrics, port: 9090}}]}}}}"
            ),
            3 => writeln!(
                text,
                "---\n{{apiVersion: v1, kind: Secret, metadata: {{name: {name}, {labels}}}, data: {{a: MQ==}}, stringData: {{b: two}}}}"
            ),
            4 => writeln!(
                text,
                "---\n{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {{name: {name}, {labels}}}, \
                 rules: [{{apiGroups: [''], resources: [pods], verbs: [get, list]}}]}}"
            ),
            _ => writeln!(
                text,
                "---\n{{apiVersion: v1, kind: LimitRange, metadata: {{name: {name}, {labels}}}, \
                 spec: {{limits: [{{type: Container, default: {{cpu: 100m, memory: 64Mi}}}}]}}}}"
            ),
        };
    }
    text
}

const KINDS: &str = "deployments,configmaps,services,secrets,roles,limitranges";

/// The objects by kind and name, without what `own` changes; and their versions.
fn all(ws: &Workspace) -> (BTreeMap<String, Value>, BTreeMap<String, Value>) {
    let list = ws.kubectl(["get", KINDS, "-o", "json"]).exits_with(0);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let (mut objects, mut versions) = (BTreeMap::new(), BTreeMap::new());
    for mut object in list["items"].as_array().unwrap().iter().cloned() {
        let key = format!("{} {}", object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("managedFields");
        versions.insert(key.clone(), metadata.remove("resourceVersion").unwrap());
        objects.insert(key, object);
    }
    (objects, versions)
}

/// Somebody writes to a part of the objects at once.
fn disturb_many(ws: &Workspace, rng: &mut Rng, documents: &[&str], round: usize) {
    let chosen: Vec<&str> = documents.iter().copied().filter(|_| rng.chance(40)).collect();
    let text = chosen.join("\n---\n");
    if chosen.is_empty() {
        return;
    }
    let file = format!("part-{round}.yaml");
    let manager = *rng.pick(&["helm", "argocd-controller", "kustomize-controller", "old-controller", "kubectl-edit"]);
    let apply = ["apply", "--server-side", "--force-conflicts", "--field-manager", manager, "-f", &file];
    match rng.below(6) {
        0 => {
            ws.write(&file, &text);
            ws.kubectl(apply).exits_with(0);
        }
        1 => {
            let others = [("replicas: 2", "replicas: 3"), ("cpu: 100m", "cpu: '0.1'"), ("a: '1'", "a: '9'")];
            let (from, to) = *rng.pick(&others);
            ws.write(&file, &text.replace(from, to));
            ws.kubectl(apply).exits_with(0);
        }
        2 => {
            ws.write(&file, &text);
            ws.kubectl(["apply", "-f", &file]).exits_with(0);
        }
        3 => {
            ws.write(&file, &text);
            let label = *rng.pick(&["tier=front", "tier=back", "extra=yes"]);
            ws.kubectl(["label", "--overwrite", "--field-manager", manager, "-f", &file, label]).exits_with(0);
        }
        4 => {
            // The object forgets its owners, and the next apply finds `before-first-apply`.
            for document in chosen.iter().take(12) {
                ws.stdin(document).kubectl(["patch", "-f", "-", "--type=json", "-p", RESET]).exits_with(0);
            }
        }
        _ => {
            ws.write(&file, &text);
            let annotation = format!("note={round}");
            ws.kubectl(["annotate", "--overwrite", "--field-manager", manager, "-f", &file, &annotation]).exits_with(0);
        }
    }
}

const RESET: &str = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;

/// The law over many objects in one run.
#[test]
fn the_law_holds_for_two_hundred_objects_of_one_run() {
    let seed = number("OWN_SEED", 7);
    let ws = Workspace::new();
    let rng = &mut Rng::new(seed as u64);
    let text = estate(210);
    let documents: Vec<&str> = text.split("---\n").filter(|document| !document.trim().is_empty()).collect();
    ws.write("all.yaml", &text);
    ws.kubectl(["create", "-f", "all.yaml"]).exits_with(0);
    for round in 0..12 {
        disturb_many(&ws, rng, &documents, round);
    }
    let manager = *rng.pick(&["helm", "kustomize-controller", "kubectl-reconcile"]);
    let arguments = ["own", "-f", "all.yaml", "--field-manager", manager, "--release", "argocd-*,old-controller"];
    let (before, _) = all(&ws);
    let run = ws.reconcile(arguments);
    assert!(run.code == 0 || run.code == 4, "{run}");
    let (after, versions) = all(&ws);
    assert_eq!(after, before, "seed {seed}: {}", run.stdout);
    let reports = run.objects();
    assert_eq!(reports.len(), 210);
    assert!(reports.iter().all(|object| object["error"].is_null()), "seed {seed}: {run}");
    let is_equal = |object: &Value| object["changes"].as_array().unwrap().is_empty();
    let (mut equal, mut count) = (String::new(), 0);
    for (number, document) in documents.iter().enumerate() {
        let name = format!("o-{number}");
        let object = reports.iter().find(|object| object["name"] == name.as_str()).unwrap();
        if is_equal(object) {
            let _ = writeln!(equal, "{document}\n---");
            continue;
        }
        count += 1;
        let differing: Vec<String> = object["changes"].as_array().unwrap().iter().map(path).collect();
        let flags = ["apply", "--server-side", "--dry-run=server", "--field-manager", manager, "-f", "-"];
        for path in refused_fields(&ws.stdin(document).kubectl(flags)) {
            let is_known = |known: &String| path.starts_with(known.as_str()) || known.starts_with(&path);
            assert!(differing.iter().any(is_known), "seed {seed}: {path} was equal, and an apply is refused: {object}");
        }
    }
    assert!(count > 10 && count < 200, "seed {seed}: {count} objects differ");
    ws.write("equal.yaml", &equal);
    let flags = ["apply", "--server-side", "--field-manager", manager, "-f", "equal.yaml"];
    ws.kubectl([&flags[..], &["--dry-run=server"]].concat()).exits_with(0);
    let second = ws.reconcile(arguments).exits_with(if count > 0 { 4 } else { 0 });
    assert_eq!(second.writes(), 0, "seed {seed}: {second}");
    assert_eq!(all(&ws).1, versions, "seed {seed}");
    // With nobody else, the new owner really goes on with other values.
    let run = ws.reconcile([&arguments[..5], &["--release", "*"]].concat());
    let (after, _) = all(&ws);
    assert_eq!(after, before, "seed {seed}: {}", run.stdout);
    let is_alone =
        |name: String| run.objects().iter().any(|object| object["name"] == name.as_str() && is_equal(object));
    let alone = documents.iter().enumerate().filter(|(number, _)| is_alone(format!("o-{number}")));
    let alone: Vec<&str> = alone.map(|(_, document)| *document).collect();
    assert!(alone.len() > 50, "seed {seed}: {}", alone.len());
    ws.write("equal.yaml", &alone.join("\n---\n").replace("tier: front", "tier: new"));
    ws.kubectl(flags).exits_with(0);
}

fn path(change: &Value) -> String {
    change["path"].as_str().unwrap().to_owned()
}
