//! The words in which each version of Kubernetes refuses objects, and what is said about them. `testdata/refusals` has objects that are
//! refused, and the answers of each version (`1.N.json`, by method and path).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::control_plane::{Fault, Proxy, Replaced as _, Run, Workspace, definition, wait_until};

/// A user who may read everything, and write nothing but roles and bindings.
const READER: &str = "reader";
/// The newest version.
const NEWEST: &str = "1.37";

/// The request that is in conflict with another applier. `diff --from helm` reads its answer.
const CONTESTED: &str = "PATCH /api/v1/namespaces/$NS/configmaps/contested";
/// Objects about which the versions themselves say different things, so that only their actions are the same: the name of the immutable
/// field (since 1.35), the size of a claim (until 1.30), the value that a rule or a bound refuses (since 1.34 and 1.35), and a sentence that
/// is quoted as it is.
const DIFFERENT: [&str; 5] = [
    "PersistentVolumeClaim claim",
    "StatefulSet fixed-service",
    "Widget rule-that-does-not-hold",
    "PodDisruptionBudget one-of-two",
    "ServiceAccount live-of-wrong-type",
];

/// An answer of a server, with the namespace as `$NS`.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Refusal {
    code: u16,
    body: String,
}

/// The first refusal of each request, by its method and path.
type Refusals = BTreeMap<String, Refusal>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/refusals")
}

fn manifests(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

/// Whatever the version of the server, the same is said about an object as with the answers of each other version.
/// `UPDATE_REFUSALS=1 cargo test --test it refusals` writes the answers of the version.
#[test]
fn the_words_of_each_version_are_understood_alike() {
    let ws = refusing();
    let proxy = Proxy::new(&ws);
    let said = said(&ws, &proxy);
    let kubectl = ws.through(&proxy.url()).kubectl(["apply", "--server-side", "-f", "contested.yaml"]);
    assert!(kubectl.stderr.contains("1 conflict"), "{kubectl}");
    let seen = refusals(&ws, &proxy);
    let version = std::env::var("TEST_KUBERNETES").unwrap_or_else(|_| NEWEST.to_owned());
    if std::env::var_os("UPDATE_REFUSALS").is_some() {
        let text = serde_json::to_string_pretty(&seen).unwrap();
        fs::write(folder().join(format!("{version}.json")), text + "\n").unwrap();
    }
    assert!(seen.len() > 50, "{:#?}", seen.keys());
    let mut versions = 0;
    for of in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        let Some(of) = of.strip_suffix(".json") else { continue };
        versions += 1;
        let refusals: Refusals = serde_json::from_str(&manifests(&format!("{of}.json"))).unwrap();
        let conflict: Value = serde_json::from_str(&refusals[CONTESTED].body).unwrap();
        let cause = &conflict["details"]["causes"][0];
        assert_eq!(
            (&cause["message"], &cause["field"]),
            (&json!("conflict with \"tower\""), &json!(".data.a")),
            "{of}"
        );
        answering(&ws, &proxy, &refusals);
        let replayed = self::said(&ws, &proxy);
        let unasked = proxy.clear();
        assert!(
            unasked.iter().all(|request| request.starts_with("GET") || request.contains("contested")),
            "{unasked:?}"
        );
        let is_same = |object: &String, said: &[Value; 6]| {
            let replayed = &replayed[object];
            replayed == said || DIFFERENT.contains(&&**object) && replayed[0] == said[0]
        };
        let differs = said.iter().filter(|(object, said)| !is_same(object, said));
        let differs: Vec<String> = differs
            .map(|(object, said)| format!("{object}\n  {version}: {said:?}\n  {of}: {:?}", replayed.get(object)))
            .collect();
        assert!(differs.is_empty(), "{}", differs.join("\n"));
    }
    assert!(versions >= 6);
}

/// A workspace in which the objects of the manifests are refused.
fn refusing() -> Workspace {
    let ws = Workspace::new();
    let colour =
        "{type: string, enum: [red, blue], x-kubernetes-validations: [{rule: self == oldSelf, message: it stays}]}";
    ws.define(
        "Widget",
        &format!(
            "
required: [size]
properties:
  size: {{type: integer, minimum: 1, x-kubernetes-validations: [{{rule: self < 9, message: it is too large}}]}}
  colour: {colour}
  code: {{type: string, pattern: '^[a-z]+$', minLength: 2}}
  names: {{type: array, minItems: 1, items: {{type: string}}}}
"
        ),
    );
    with_record_in_dropped_version(&ws);
    ws.kubectl(["label", "namespace", ws.namespace(), "pod-security.kubernetes.io/enforce=baseline"]).exits_with(0);
    ws.stdin(&manifests("cluster.yaml")).kubectl(["create", "-f", "-"]).exits_with(0);
    // No controller counts here.
    let counted = r#"{"status": {"hard": {"services.nodeports": "0"}, "used": {"services.nodeports": "0"}}}"#;
    let quota = ["patch", "resourcequota", "no-node-ports", "--subresource=status", "--type=merge", "-p", counted];
    ws.kubectl(quota).exits_with(0);
    ws.apply_as("tower", "{apiVersion: v1, kind: ConfigMap, metadata: {name: contested}, data: {a: theirs}}");
    let kinds = "configmaps,secrets,roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io";
    ws.allow(READER, "get,list", kinds);
    ws.allow(READER, "create,patch", "roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io");
    for name in ["manifests.yaml", "of-others.yaml", "contested.yaml"] {
        ws.write(name, &manifests(name));
    }
    wait_until("the policy, the webhook and the quota take effect", || {
        let words = ["nothing is right", "failed calling webhook", "exceeded quota"];
        let run = ws.kubectl(["apply", "--server-side", "--dry-run=server", "-f", "manifests.yaml"]);
        words.iter().all(|words| run.stderr.contains(words))
    });
    ws
}

/// Has a Gauge with a record of owners in a version that its definition no longer has.
fn with_record_in_dropped_version(ws: &Workspace) {
    let new = definition("Gauge", "properties: {size: {type: integer}}");
    let version = new.split_once("  - name: v1\n").unwrap().1.replaced("storage: true", "storage: false");
    let old = format!("{new}  - name: v1alpha1\n{version}");
    ws.stdin(&old).kubectl(["apply", "--server-side", "-f", "-"]).exits_with(0);
    ws.wait_for_types();
    let gauge = |version: &str| {
        ws.fill_in(&format!(
            "{{apiVersion: $NS.example.com/{version}, kind: Gauge, metadata: {{name: record-in-dropped-version}}, spec: {{size: 1}}}}"
        ))
    };
    wait_until("the old version is served", || {
        let apply = ["apply", "--server-side", "--field-manager=tower", "-f", "-"];
        ws.stdin(&gauge("v1alpha1")).kubectl(apply).code == 0
    });
    ws.stdin(&new).kubectl(["apply", "--server-side", "-f", "-"]).exits_with(0);
    wait_until("the server has dropped the version", || {
        let apply = ["apply", "--server-side", "--dry-run=server", "-f", "-"];
        ws.stdin(&gauge("v1")).kubectl(apply).stderr.contains("invalid group/version")
    });
}

/// What is said about each object: its action, error, reason, hint and warnings, and the evidence.
fn said(ws: &Workspace, proxy: &Proxy) -> BTreeMap<String, [Value; 6]> {
    let administrator = ws.through(&proxy.url());
    let reader = ws.as_user(READER).through(&proxy.url());
    let mut said = BTreeMap::new();
    for (caller, file) in [(administrator, "manifests.yaml"), (reader, "of-others.yaml")] {
        let run: Run = caller.reconcile(["diff", "-f", file, "--evidence=server"]).exits_with(4);
        for object in run.objects() {
            let name = format!("{} {}", object["kind"].as_str().unwrap(), object["name"].as_str().unwrap());
            let of_object = ["action", "error", "reason", "hint", "warnings", "evidence"];
            said.insert(name, of_object.map(|field| object[field].clone()));
        }
    }
    said
}

/// The first refusal of each object and list.
fn refusals(ws: &Workspace, proxy: &Proxy) -> Refusals {
    let mut refusals = Refusals::new();
    for refusal in proxy.refusals() {
        let request = refusal.request.split_once('?').map_or(&*refusal.request, |(path, _)| path);
        let body = refusal.body.replace(ws.namespace(), "$NS");
        refusals.entry(request.replace(ws.namespace(), "$NS")).or_insert(Refusal { code: refusal.code, body });
    }
    let is_parsed =
        |request: &String, code: u16| request.starts_with("PATCH ") || request.starts_with("GET ") && code != 404;
    refusals.retain(|request, refusal| is_parsed(request, refusal.code));
    refusals
}

/// Answers the requests as another version did.
fn answering(ws: &Workspace, proxy: &Proxy, refusals: &Refusals) {
    for (request, Refusal { code, body }) in refusals {
        let (method, path) = request.split_once(' ').unwrap();
        let headers = vec![("Content-Type", "application/json".to_owned())];
        let fault = Fault::Answer(*code, headers, ws.fill_in(body));
        proxy.inject(1, method, &ws.fill_in(&format!("{path}?")), fault);
    }
}
