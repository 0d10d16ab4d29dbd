//! Objects of `-k` are named by the files and lines of their resources, as kustomize itself tells them.

use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace};

const WEB: &str = "\
# The shop
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: shop/web}]}
";

fn tree() -> Workspace {
    let ws = Workspace::new();
    ws.write(
        "base/kustomization.yaml",
        "namePrefix: base-\nresources: [web.yaml]\nconfigMapGenerator:\n- {name: settings, literals: [a=b]}\n",
    );
    ws.write("base/web.yaml", WEB);
    ws.write(
        "overlays/prod/kustomization.yaml",
        "namePrefix: prod-\nnameSuffix: -v1\nresources:\n- ../../base\n- map.yaml\npatches:\n- path: patch.yaml\n",
    );
    ws.write("overlays/prod/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n");
    ws.write(
        "overlays/prod/patch.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: base-web}\nspec: {minReadySeconds: 1}\n",
    );
    ws
}

fn sources(run: &Run) -> Vec<(String, Value)> {
    let objects = run.report()["objects"].as_array().unwrap().clone();
    let kind = |object: &Value| object["kind"].as_str().unwrap().to_owned();
    objects.iter().map(|object| (kind(object), json!([object["source"]["file"], object["source"]["line"]]))).collect()
}

#[test]
fn each_object_has_the_file_that_kustomize_tells_and_its_line() {
    let ws = tree();
    let run = ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(1);
    let mut found = sources(&run);
    found.sort_by_key(|(kind, source)| (kind.clone(), source.to_string()));
    let of = |kind: &str| found.iter().filter(|(own, _)| own == kind).map(|(_, source)| source).collect::<Vec<_>>();
    assert_eq!(of("Deployment"), [&json!(["base/web.yaml", 9])], "{run}");
    assert_eq!(of("Service"), [&json!(["base/web.yaml", 2])], "{run}");
    let maps = of("ConfigMap");
    assert_eq!(maps[0][0], "base/kustomization.yaml", "{run}");
    assert_eq!(maps[1], &json!(["overlays/prod/map.yaml", 1]), "{run}");
    assert!(run.stdout.contains("base/web.yaml:9"), "{run}");

    // The oracle: the annotation with which kustomize tells the files.
    let kustomization = ws.folder().join("overlays/prod/kustomization.yaml");
    let text = std::fs::read_to_string(&kustomization).unwrap();
    std::fs::write(&kustomization, format!("buildMetadata: [originAnnotations]\n{text}")).unwrap();
    let built = ws.kubectl(["kustomize", "overlays/prod"]).exits_with(0).stdout;
    for document in kube_yaml::read(built.as_bytes(), kube_yaml::Validation::Strict).documents {
        let object = document.value;
        let origin = object["metadata"]["annotations"]["config.kubernetes.io/origin"].as_str().unwrap();
        let path = origin
            .lines()
            .find_map(|line| line.strip_prefix("path: ").or(line.strip_prefix("configuredIn: ")))
            .unwrap();
        let path = path.replace("../../", "");
        let path = if path.contains('/') { path } else { format!("overlays/prod/{path}") };
        let name = object["metadata"]["name"].as_str().unwrap();
        let source = &run.object(object["kind"].as_str().unwrap(), name)["source"];
        assert_eq!(source["file"], path.as_str(), "{name}: {run}");
    }
    std::fs::write(&kustomization, text).unwrap();

    // No annotation of ours is compared or written.
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    assert_eq!(
        ws.get("Deployment", "prod-base-web-v1")["metadata"]
            .get("annotations")
            .and_then(|all| all.get("config.kubernetes.io/origin")),
        None
    );
    ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(0);
}

#[test]
fn mistakes_are_shown_where_they_are_written() {
    let ws = tree();
    ws.write("base/web.yaml", &WEB.replace("replicas: 1", "replicas: many"));
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-k", "overlays/prod"]).exits_with(4);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(all.contains("base/web.yaml:14"), "{run}");
    }
    ws.write("base/web.yaml", &WEB.replace("  replicas: 1\n", "  replicaas: 1\n"));
    let run = ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(4);
    assert!(run.stdout.contains("base/web.yaml:14"), "{run}");
    // An error of the input itself.
    ws.write("base/web.yaml", &WEB.replace("metadata:\n  name: web\n", "metadata:\n  name: web\n  labels: {a: [b]}\n"));
    let run = ws.reconcile(["diff", "-k", "overlays/prod", "-o", "json"]);
    assert!(run.stdout.contains("base/web.yaml") || run.stdout.contains("kustomize"), "{run}");
}

/// A value that a patch sets is in no file that the resource is in: the kustomization is named, and no line that says something else.
#[test]
fn a_mistake_in_a_patch_is_not_shown_in_the_resource() {
    let ws = tree();
    let patch = |spec: &str| {
        let text = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: base-web}}\nspec: {{{spec}}}\n");
        ws.write("overlays/prod/patch.yaml", &text);
    };
    let error = |run: &Run| {
        let error = &run.object("Deployment", "prod-base-web-v1")["error"];
        (error["file"].clone(), error["line"].clone())
    };
    patch("replicas: three");
    let run = ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(4);
    assert_eq!(error(&run), (json!("overlays/prod/kustomization.yaml"), Value::Null), "{run}");
    assert!(!run.stdout.contains("replicas: 1"), "{run}");
    // A mistake in the resource itself has its line.
    patch("minReadySeconds: 1");
    ws.write("base/web.yaml", &WEB.replace("replicas: 1", "replicas: one"));
    let run = ws.reconcile(["diff", "-k", "overlays/prod"]).exits_with(4);
    assert_eq!(error(&run), (json!("base/web.yaml"), json!(14)), "{run}");
}
