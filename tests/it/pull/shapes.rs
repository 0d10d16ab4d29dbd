//! A property over the usual shapes of kustomizations: each of 100 random live changes is pulled with exactly its value, or refused with a
//! reason that names the place.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{patched, pulled};
use crate::control_plane::{Rng, Workspace};

/// A tree and the overlay in it.
struct Shape {
    name: &'static str,
    overlay: &'static str,
    files: Vec<(&'static str, String)>,
}

fn deployment(name: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  annotations: {{example.com/team: front}}\nspec:\n  replicas: 1\n  \
         minReadySeconds: 1\n  revisionHistoryLimit: 5   # enough\n  selector:\n    matchLabels: {{app: {name}}}\n  template:\n    \
         metadata:\n      labels: {{app: {name}}}\n    spec:\n      terminationGracePeriodSeconds: 20\n      containers:\n      - name: app\n        \
         image: shop/{name}:1.0\n        env:\n        - name: LOG\n          value: info\n        - {{name: LANG, value: en}}\n"
    )
}

fn service(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec:\n  selector: {{app: {name}}}\n  ports:\n  - name: http\n    port: 80\n    \
         targetPort: 8080\n"
    )
}

fn shapes() -> Vec<Shape> {
    let base = |resources: &str| format!("resources:\n{resources}");
    let app = || vec![("base/web.yaml", deployment("web")), ("base/service.yaml", service("web"))];
    let base_and_three = [
        app(),
        vec![
            ("base/kustomization.yaml", base("- web.yaml\n- service.yaml\n")),
            ("overlays/dev/kustomization.yaml", "resources: [../../base]\nnamePrefix: dev-\n".to_owned()),
            ("overlays/staging/kustomization.yaml", "resources: [../../base]\nnamePrefix: staging-\n".to_owned()),
            (
                "overlays/prod/kustomization.yaml",
                "resources:\n- ../../base\nnamePrefix: prod-\nimages:\n- name: shop/web\n  newTag: '1.5'\npatches:\n- path: web.yaml\n"
                    .to_owned(),
            ),
            (
                "overlays/prod/web.yaml",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  minReadySeconds: 10\n".to_owned(),
            ),
        ],
    ]
    .concat();
    let components = [
        app(),
        vec![
            ("base/kustomization.yaml", base("- web.yaml\n- service.yaml\n")),
            (
                "prod/kustomization.yaml",
                "resources: [../base]\ncomponents:\n- cache\n- ../shared\nlabels:\n- pairs: {tier: front}\n".to_owned(),
            ),
            (
                "prod/cache/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [map.yaml]\npatches:\n- patch: |-\n    \
                 apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {revisionHistoryLimit: 3}\n"
                    .to_owned(),
            ),
            ("prod/cache/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cache}\ndata:\n  size: '4'\n".to_owned()),
            (
                "shared/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: Deployment}\n  \
                 patch: '[{\"op\": \"replace\", \"path\": \"/spec/template/spec/terminationGracePeriodSeconds\", \"value\": 45}]'\n"
                    .to_owned(),
            ),
        ],
    ]
    .concat();
    let generators = vec![
        (
            "kustomization.yaml",
            "resources: [web.yaml]\nconfigMapGenerator:\n- name: settings\n  literals:\n  - COLOUR=green\n  - SIZE=4\n- name: files\n  \
             files: [app.conf]\n  envs: [web.env]\nnameSuffix: -v1\n"
                .to_owned(),
        ),
        ("web.yaml", deployment("web")),
        ("app.conf", "port = 1\n".to_owned()),
        ("web.env", "MODE=fast\n# the rest\nLEVEL=3\n".to_owned()),
    ];
    let json_patches = [
        app(),
        vec![
            ("base/kustomization.yaml", base("- web.yaml\n- service.yaml\n")),
            (
                "prod/kustomization.yaml",
                "resources: [../base]\npatches:\n- path: web.json\n  target: {kind: Deployment, name: web}\n- target: {kind: Service, name: web}\n  \
                 patch: |-\n    - op: replace\n      path: /spec/ports/0/targetPort\n      value: 9000\n"
                    .to_owned(),
            ),
            (
                "prod/web.json",
                "[\n  {\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 3},\n  {\"op\": \"add\", \"path\": \
                 \"/spec/template/spec/containers/0/env/0\", \"value\": {\"name\": \"EXTRA\", \"value\": \"yes\"}}\n]\n"
                    .to_owned(),
            ),
        ],
    ]
    .concat();
    let rendered = ["web", "api"].map(|name| {
        format!(
            "---\n# Source: shop/templates/{name}.yaml\n{}---\n# Source: shop/templates/{name}-svc.yaml\n{}",
            deployment(name),
            service(name)
        )
    });
    let chart = vec![
        ("base/kustomization.yaml", base("- rendered.yaml\n")),
        ("base/rendered.yaml", rendered.concat()),
        (
            "prod/kustomization.yaml",
            "resources: [../base]\nreplicas:\n- name: web\n  count: 2\ncommonAnnotations: {example.com/env: prod}\n"
                .to_owned(),
        ),
    ];
    vec![
        Shape { name: "base and three overlays", overlay: "overlays/prod", files: base_and_three },
        Shape { name: "components", overlay: "prod", files: components },
        Shape { name: "generators with hashes", overlay: ".", files: generators },
        Shape { name: "JSON patches", overlay: "prod", files: json_patches },
        Shape { name: "the output of a chart", overlay: "prod", files: chart },
    ]
}

/// The places of values that people change, by the kind of the object, and whether they are numbers.
const CHANGED: [(&str, &str, bool); 12] = [
    ("Deployment", "/spec/replicas", true),
    ("Deployment", "/spec/minReadySeconds", true),
    ("Deployment", "/spec/revisionHistoryLimit", true),
    ("Deployment", "/spec/template/spec/terminationGracePeriodSeconds", true),
    ("Deployment", "/spec/template/spec/containers/0/image", false),
    ("Deployment", "/spec/template/spec/containers/0/env/0/value", false),
    ("Deployment", "/metadata/annotations/example.com~1team", false),
    ("Deployment", "/metadata/labels/tier", false),
    ("Service", "/spec/ports/0/targetPort", true),
    ("ConfigMap", "/metadata/labels/tier", false),
    ("ConfigMap", "/data/*", false),
    ("Service", "/metadata/annotations/example.com~1env", false),
];

/// The objects of a build by kind and name, without the hashes of generated names.
fn objects(built: &str) -> BTreeMap<String, Value> {
    let documents = kube_yaml::read(built.as_bytes(), kube_yaml::Validation::Strict).documents;
    let key =
        |value: &Value| format!("{}/{}", value["kind"].as_str().unwrap(), value["metadata"]["name"].as_str().unwrap());
    documents.into_iter().map(|document| (key(&document.value), document.value)).collect()
}

fn without_hash(name: &str) -> String {
    match name.rsplit_once('-') {
        Some((stem, hash)) if hash.len() == 10 && hash.chars().all(|c| "2456789bcdfghkmt".contains(c)) => {
            stem.to_owned()
        }
        _ => name.to_owned(),
    }
}

/// The values of all leaves by object and pointer.
fn leaves(built: &str) -> BTreeMap<(String, String), Value> {
    fn walk(value: &Value, at: &str, object: &str, found: &mut BTreeMap<(String, String), Value>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    walk(value, &format!("{at}/{key}"), object, found);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    walk(value, &format!("{at}/{index}"), object, found);
                }
            }
            leaf => {
                let leaf = leaf.as_str().map_or_else(|| leaf.clone(), |text| json!(without_hash(text)));
                found.insert((object.to_owned(), at.to_owned()), leaf);
            }
        }
    }
    let mut found = BTreeMap::new();
    for (key, value) in objects(built) {
        walk(&value, "", &without_hash(&key), &mut found);
    }
    found
}

/// A change that was made in the cluster.
struct Made {
    object: String,
    pointer: String,
    value: Value,
}

/// Makes a random change; `None` if the object has no such value, or has it changed already.
fn change(
    ws: &Workspace,
    rng: &mut Rng,
    built: &BTreeMap<String, Value>,
    number: usize,
    made: &[Made],
) -> Option<Made> {
    let names: Vec<&String> = built.keys().collect();
    let name = *rng.pick(&names);
    let (kind, pointer, is_number) = *rng.pick(&CHANGED);
    let object = &built[name];
    if object["kind"] != kind {
        return None;
    }
    let pointer = match pointer.strip_suffix("/*") {
        Some(above) => {
            let keys: Vec<&String> = object.pointer(above)?.as_object()?.keys().collect();
            format!("{above}/{}", rng.pick(&keys))
        }
        None => pointer.to_owned(),
    };
    let former = object.pointer(&pointer)?;
    if made.iter().any(|one| one.object == *name && one.pointer == pointer) {
        return None;
    }
    let value = match former.as_str() {
        _ if is_number => json!(50 + number),
        Some(image) if pointer.ends_with("image") => json!(format!("{}:v{number}", image.split(':').next().unwrap())),
        Some(text) if text.contains('\n') => json!(format!("{text}number = {number}\n")),
        _ => json!(format!("v{number}")),
    };
    let (kind, own) = name.split_once('/').unwrap();
    patched(ws, &format!("{kind}/{own}"), &json!([{"op": "replace", "path": pointer, "value": value}]));
    Some(Made { object: name.clone(), pointer, value })
}

#[test]
fn each_of_a_hundred_live_changes_is_pulled_exactly_or_refused_with_its_place() {
    let seed = std::env::var("SHAPES_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_126);
    let (mut pulled_changes, mut refused_changes) = (0, 0);
    for (position, shape) in shapes().into_iter().enumerate() {
        let mut rng = Rng::new(seed + position as u64);
        let ws = Workspace::new();
        let write = || shape.files.iter().for_each(|(file, text)| drop(ws.write(file, text)));
        ws.write(".git/HEAD", "ref: refs/heads/main\n");
        let kustomized = || ws.kubectl(["kustomize", shape.overlay]).exits_with(0).stdout;
        for flags in [&[][..], &["--add-patches"], &["--edit-bases"], &["--add-patches", "--edit-bases"]] {
            write();
            let _ = std::fs::remove_file(ws.folder().join(shape.overlay).join("deployment-patch.yaml"));
            let _ = std::fs::remove_file(ws.folder().join(shape.overlay).join("service-patch.yaml"));
            ws.reconcile(["apply", "-k", shape.overlay, "--force-conflicts"]).exits_with(0);
            let before = kustomized();
            let built = objects(&before);
            let mut made: Vec<Made> = Vec::new();
            for attempt in 0..400 {
                if made.len() == 5 {
                    break;
                }
                made.extend(change(&ws, &mut rng, &built, attempt, &made));
            }
            let context = format!("{} {flags:?} (SHAPES_SEED={seed})", shape.name);
            let run = ws.reconcile([&["pull", "-k", shape.overlay, "-o", "json"], flags].concat());
            let report = pulled(&run);
            let changes: Vec<&Value> = report["objects"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|object| object["changes"].as_array().unwrap())
                .collect();
            assert_eq!(changes.len(), made.len(), "{context}: {run}");
            let accepted = changes.iter().filter(|change| change["accepted"] == true).count();
            for change in changes.iter().filter(|change| change["accepted"] == false) {
                let reason = change["reason"].as_str().unwrap();
                assert!(
                    [".yaml", ".json", ".conf", ".env"].iter().any(|ending| reason.contains(ending)),
                    "{context}: {run}"
                );
                assert!(change.get("file").is_none() && change.get("how").is_none(), "{context}: {run}");
            }
            for change in changes.iter().filter(|change| change["accepted"] == true) {
                assert!(change["file"].is_string() && change["how"].is_string(), "{context}: {run}");
            }
            // The build has exactly the values of as many changes as were accepted.
            let (former, after) = (leaves(&before), leaves(&kustomized()));
            let mut taken = 0;
            let mut expected = former.clone();
            for one in &made {
                let key = (without_hash(&one.object), one.pointer.clone());
                if after.get(&key) == Some(&one.value) {
                    taken += 1;
                    expected.insert(key, one.value.clone());
                }
            }
            assert_eq!(after, expected, "{context}: {run}");
            assert_eq!(taken, accepted, "{context}: {run}");
            pulled_changes += accepted;
            refused_changes += changes.len() - accepted;
        }
    }
    assert_eq!(pulled_changes + refused_changes, 100);
    assert!(pulled_changes > 50, "{pulled_changes}");
}
