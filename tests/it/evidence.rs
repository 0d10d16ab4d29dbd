//! What a verdict rests on: a proof, the server's answer, or a comparison without it.

use serde_json::json;

use crate::control_plane::{Fault, Proxy, Replaced, Request, Workspace, definition};
use crate::manifests::{SHOP, WEB};

fn kettle() -> String {
    let definition = definition(
        "Kettle",
        "
properties:
  volume: {type: integer}
  cups: {type: array, items: {type: object, required: [name], properties: {name: {type: string}}},
    x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]}
",
    );
    let kettle = "
apiVersion: $NS.example.com/v1
kind: Kettle
metadata: {name: green}
spec: {volume: 2, cups: [{name: one}, {name: two}]}
";
    [&definition, kettle].join("---")
}

/// Values that say no more than nothing does, and one that another of the same manifest overrides.
const REDUNDANT: &str = "
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: $NS}
spec:
  matchingPrecedence: 9000
  priorityLevelConfiguration: {name: exempt}
  rules:
  - subjects: [{kind: Group, group: {name: nobody}}]
    resourceRules: [{verbs: [get], apiGroups: [''], resources: [pods], clusterScope: false, namespaces: ['*']}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pots.$NS.example.com}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {kind: Pot, listKind: PotList, singular: pot, plural: pots}
  versions:
  - name: v1
    served: true
    storage: true
    deprecated: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, nullable: false, properties: {tea: {type: array, uniqueItems: false, items: {type: string}}}}
---
apiVersion: v1
kind: Secret
metadata: {name: both}
data: {a: b2xk, c: Y2Y=}
stringData: {a: new, d: more}
";

#[test]
fn redundant_values_are_proven() {
    let ws = Workspace::new();
    ws.write("redundant.yaml", REDUNDANT);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", ".", "-v"]).exits_with(0);
    assert_eq!(diff.report()["summary"]["proven"], 3, "{diff}");
    assert_eq!(ws.reconcile(["diff", "-f", ".", "--evidence=server"]).exits_with(0).report()["summary"]["inSync"], 3);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    // What is overridden is not read for its meaning, but has to be readable.
    ws.write("redundant.yaml", &REDUNDANT.replace("a: b2xk", "a: '?'"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    assert_eq!(diff.object("Secret", "both")["action"], "unknown", "{diff}");
}

#[test]
fn what_we_applied_is_proven_without_a_question() {
    let ws = Workspace::new();
    ws.write("shop.yaml", SHOP);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let (diff, requests) = ws.requests_during(|| ws.reconcile(["diff", "-f", "."]).exits_with(0));
    assert_eq!(diff.report()["summary"]["proven"], diff.objects().len());
    assert!(!requests.iter().any(Request::is_dry_run), "{requests:#?}");

    let asked = ws.reconcile(["diff", "-f", ".", "--evidence=server"]).exits_with(0);
    assert_eq!(asked.report()["summary"]["proven"], 0);
    assert_eq!(asked.report()["requests"]["dryRun"], asked.objects().len());
}

#[test]
fn read_only_sends_no_patch_and_finds_the_same() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 7);
    let asked = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let arguments = ["diff", "-f", ".", "--evidence=read-only"];
    let (local, requests) = ws.requests_during(|| ws.reconcile(arguments).exits_with(1));
    assert!(!requests.iter().any(|request| request.verb == "patch"), "{requests:#?}");
    assert_eq!(local.object("Deployment", "web")["evidence"], "local");
    assert_eq!(local.object("Deployment", "web")["changes"], asked.object("Deployment", "web")["changes"]);
    let refused = ws.reconcile(["apply", "-f", ".", "--evidence=read-only"]).exits_with(2);
    assert!(refused.stderr.contains("`apply` writes"), "{refused}");
}

#[test]
fn why_an_object_is_not_proven_is_shown_on_demand() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["apply", "-f", "."]).exits_with(0);
    let quiet = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert!(!quiet.stderr.contains("not proven"), "{quiet}");
    let diff = ws.reconcile(["diff", "-f", ".", "-v"]).exits_with(0);
    assert!(diff.stderr.contains("/web: it was not applied under this field manager"), "{diff}");
}

#[test]
fn ownership_alone_is_drift_only_when_that_is_asked_for() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["create", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let strict = ws.reconcile(["diff", "-f", ".", "--strict-ownership"]).exits_with(1);
    assert_eq!(strict.object("Deployment", "web")["action"], "none");
    assert_eq!(strict.report()["verdict"], "drift");
    assert!(strict.stdout.contains("/web  not yet owned by our field manager"), "{strict}");
    let as_format =
        |format: &str| ws.reconcile(["diff", "-f", ".", "--strict-ownership", "-o", format]).exits_with(1).stdout;
    assert_eq!(as_format("name"), "deployment.apps/web\n");
    let patch = as_format("unified");
    assert!(patch.starts_with("# ") && patch.contains("our field manager does not own all of them yet"), "{patch}");
    let suite = as_format("junit=-");
    assert!(suite.contains(r#"failures="1""#), "{suite}");
    assert!(
        suite.contains("our field manager does not own all of them yet") && !suite.contains("the run as a whole"),
        "{suite}"
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", ".", "--strict-ownership"]).exits_with(0);
}

#[test]
fn admission_that_a_proof_leaves_out_is_named() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let webhook = "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: $NS-labels}
webhooks:
- name: labels.example.com
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {url: 'https://127.0.0.1:1/'}
  namespaceSelector: {matchLabels: {nobody: has-this}}
  rules: [{apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], resources: [deployments]}]";
    ws.apply_as("admin", webhook);
    let proxy = Proxy::new(&ws);
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(0);
    ws.kubectl(["delete", "mutatingwebhookconfiguration", "$NS-labels"]).exits_with(0);
    let lists = proxy.requests().into_iter().filter(|request| request.contains("mutatingwebhookconfigurations?limit="));
    assert_eq!(lists.count(), 1, "they are listed page by page");
    assert_eq!(diff.report()["requests"]["list"], 0, "and are none of the objects that are compared");
    let named = ws.fill_in("MutatingWebhookConfiguration $NS-labels may change objects of kind Deployment");
    assert!(diff.stderr.contains(&named), "{diff}");
    let warnings = diff.report()["warnings"].as_array().expect("warnings of the run");
    assert!(warnings.iter().any(|warning| warning.as_str().unwrap().starts_with(&named)), "{warnings:?}");
}

#[test]
fn types_of_custom_resources_are_kept_under_their_hash() {
    let ws = Workspace::new();
    ws.write("kettle.yaml", &kettle());
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.wait_for_types();
    let cache = ws.folder().join("kept");
    let arguments = ["diff", "-f", "kettle.yaml", "--cache-dir", cache.to_str().unwrap()];
    let documents = |requests: &[Request]| requests.iter().filter(|r| r.uri.contains("/openapi/v3/apis")).count();

    let (first, requests) = ws.requests_during(|| ws.reconcile(arguments).exits_with(0));
    assert_eq!(documents(&requests), 1, "{requests:#?}");
    assert_eq!(first.object("Kettle", "green")["evidence"], "proven");
    let (second, requests) = ws.requests_during(|| ws.reconcile(arguments).exits_with(0));
    assert_eq!(documents(&requests), 0, "{requests:#?}");
    assert_eq!(second.report()["objects"], first.report()["objects"]);

    // A broken document is fetched again.
    let folder = cache.join("kubectl-reconcile/types/v4");
    for entry in std::fs::read_dir(&folder).expect("the cache") {
        std::fs::write(entry.unwrap().path(), "{").unwrap();
    }
    let third = ws.reconcile(arguments).exits_with(0);
    assert_eq!(third.object("Kettle", "green")["evidence"], json!("proven"));
}

/// An answer of the server with its body changed.
fn changed(ws: &Workspace, path: &str, change: impl FnOnce(String) -> String) -> Fault {
    let body = ws.kubectl(["get", "--raw", path]).exits_with(0).stdout;
    Fault::Answer(200, vec![("Content-Type", "application/json".to_owned())], change(body))
}

#[test]
fn a_document_that_is_not_the_one_of_its_hash_is_used_once_and_hides_nothing() {
    let ws = Workspace::new();
    ws.write("kettle.yaml", &kettle());
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.wait_for_types();
    let cache = ws.folder().join("kept");
    let arguments = ["diff", "-f", "kettle.yaml", "--cache-dir", cache.to_str().unwrap()];
    let kept = || std::fs::read_dir(cache.join("kubectl-reconcile/types/v4")).map_or(0, Iterator::count);
    let document = ws.fill_in("/openapi/v3/apis/$NS.example.com/v1");
    let through = |path: &str, change: &dyn Fn(String) -> String| {
        let proxy = Proxy::new(&ws);
        let pattern = if path == "/openapi/v3" { "openapi/v3 !apis" } else { path };
        proxy.inject(9, "GET", pattern, changed(&ws, path, change));
        ws.through(&proxy.url()).reconcile(arguments)
    };
    // One byte more is another document that says the same, as of an aggregated API that counts its hash otherwise.
    let padded = |body: String| format!("{body} ");
    // The server's own document without anything that it says of the fields.
    let emptied = |body: String| body.replace("\"properties\"", "\"x-nothing\"");
    let run = through(&document, &padded).exits_with(0);
    assert_eq!((run.object("Kettle", "green")["evidence"].as_str(), kept()), (Some("proven"), 0), "{run}");
    let run = through(&document, &emptied).exits_with(0);
    assert_eq!(kept(), 0, "{run}");

    // An index without a hash, and one with a hash of another kind.
    let without = |body: String| retold(&body, &document, &document);
    let odd = |body: String| retold(&body, &document, &format!("{document}?hash=1234"));
    for index in [&without as &dyn Fn(String) -> String, &odd] {
        let run = through("/openapi/v3", index).exits_with(0);
        assert_eq!(kept(), 0, "{run}");
    }

    ws.patch_as("kubectl-edit", "kettles/green", &json!({"spec": {"volume": 9}}));
    for (path, change) in [
        (document.as_str(), &padded as &dyn Fn(String) -> String),
        (&document, &emptied),
        ("/openapi/v3", &without),
        ("/openapi/v3", &odd),
    ] {
        let run = through(path, change).exits_with(1);
        assert_eq!(
            (run.changes("Kettle", "green"), kept()),
            (vec!["changedByOther spec.volume".to_owned()], 0),
            "{run}"
        );
    }
    ws.reconcile(arguments).exits_with(1);
    assert_eq!(kept(), 1, "the right one is kept");
}

/// An index that names another URL for a document.
fn retold(index: &str, document: &str, url: &str) -> String {
    let mut index: serde_json::Value = serde_json::from_str(index).unwrap();
    let path = document.trim_start_matches("/openapi/v3/");
    index["paths"][path]["serverRelativeURL"] = url.into();
    index.to_string()
}

/// What is a pointer in Go is not the same empty as absent, with or without the server.
#[test]
fn an_empty_class_of_a_claim_is_a_value_without_the_server_as_well() {
    let ws = Workspace::new();
    let claim = |class: &str| {
        format!(
            "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: it}},
              spec: {{{class}accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}"
        )
    };
    let slice = |conditions: &str| {
        format!(
            "{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{name: it}}, addressType: IPv4,
              endpoints: [{{addresses: [10.1.1.1], conditions: {conditions}}}]}}"
        )
    };
    ws.write("claim.yaml", &claim(""));
    ws.write("slice.yaml", &slice("{}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("claim.yaml", &claim("storageClassName: '', "));
    ws.write("slice.yaml", &slice("{ready: false}"));
    for evidence in ["auto", "server", "read-only"] {
        let diff = ws.reconcile(["diff", "-f", ".", &format!("--evidence={evidence}")]).exits_with(1);
        assert_eq!(
            diff.each("action"),
            ["PersistentVolumeClaim it: update", "EndpointSlice it: update"],
            "{evidence}: {diff}"
        );
    }
}

/// The specification of such a request never changes. A proof must not take the values of a manifest for those of the object.
#[test]
fn values_that_the_server_keeps_in_every_update_are_not_proven() {
    const REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQ1VUQ0NBVGtDQVFBd0RERUtNQWdHQTFVRUF3d0JlRENDQVNJd0RRWUpLb1pJaHZjTkFRRUJCUUFEZ2dFUApBRENDQVFvQ2dnRUJBSkt3U1hDcHNMZkhFb2ZPeHU5N0ZENzFVczE5UndHUkRma3VYdjVNQXU3alU0Q3NQUndJCnh3VzVEVFFNMFF3Y1lIUVd1NjBZZ0FiMVBaam9RWjBNQ3VZYTZrSWZiZ2pTcVIyM0lQa2JScXZDVGt4ZjNzRkMKWjNlT0R1dXZlZHZKeHd6M2JGMWhiRmJwTitVWnY5MFpoenQ1NmhBQVcxT0hqZGwyeDZlaWdVeVpxUkNaNEh3OApiOW1wcm5nRkpGSUpaTlF3aFJTNm9JNUQydGdVK01PVnp3VmRtN2hVcHA5NSt6a1dOcUxIek1zd3ZZaXJTRVpoCndiUExWOERPNTQ3UlF4YTZRWjduRWgwaVNtY00vY3ErdmtDUkNMVkdyMi9YQ3NJaGZwUmVhbERmeVM1TzM3bmYKanQyVmxHQmpmSGYrQ0V3cnpmZUFXVm9rclBnczZWT1BUMDhDQXdFQUFhQUFNQTBHQ1NxR1NJYjNEUUVCQ3dVQQpBNElCQVFDTGVYZXVyZXhNa1NsUHlMRXlxQXJFbElxejI0R2dzWDJjck5vV2VWUVQrVlp5cFVyazBzRjU3QnRuCktDNWcxOTg3NE92Yi9kOVNtMXJ3VUJqblI0NzJnTEtpWVBVSFV1Skg1VTJrWHllMWFVVVM0eWJuazltTXNabW0KYmc2amRQNXRPa3FaZUdIMEtIdy93R09OT2lEOUx2WmM1cUZEMTFOUm5ZU1BSa1ZHWEhxZVJQUHk2TXVEdmt1aApVVFBZNHpKWGRGNjRDQTliNnVndGZZd0RzUytiVHA0eVBVdE50NlE2dmpJS1VaMVRsKzc1MS9DejZWK3VucEd2CjhEUEZJT0N1NXpKaElYUzhFNmQxTkJ4QnF5N2xoamJBeDBNVGNmZ1ZmYnNQQ3gzSWFNNzJCelpjQldRRjJ5bXMKaGNkemhod2d6SU9yeFpPQ2FYVmNBelN6TWJEUAotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";
    let ws = Workspace::new();
    let request = format!(
        "{{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {{name: $NS}},
          spec: {{signerName: example.com/one, usages: [client auth], request: {REQUEST}}}}}"
    );
    ws.write("it.yaml", &request);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let same = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(same.object("CertificateSigningRequest", ws.namespace())["evidence"], "proven", "{same}");
    ws.write("it.yaml", &request.replaced("example.com/one", "example.com/two").replaced("client auth", "server auth"));
    for mode in ["auto", "server"] {
        let diff = ws.reconcile(["diff", "-f", ".", "--evidence", mode]).exits_with(0);
        let changes = diff.changes("CertificateSigningRequest", ws.namespace());
        assert_eq!(changes, ["overridden spec.signerName", "overridden spec.usages[0]"], "{mode}: {diff}");
        assert!(diff.stdout.contains("the cluster keeps its own value"), "{diff}");
    }
    let gates = ["diff", "-f", ".", "--fail-on", "overridden"];
    ws.reconcile(gates).exits_with(1);

    ws.write(
        "it.yaml",
        "{apiVersion: v1, kind: Namespace, metadata: {name: $NS, labels: {by: us}}, spec: {finalizers: [kubernetes]}}",
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let same = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(same.object("Namespace", ws.namespace())["evidence"], "proven", "{same}");
    ws.write("it.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS, labels: {by: us}}, spec: {finalizers: [example.com/own]}}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("Namespace", ws.namespace()), ["overridden spec.finalizers[0]"], "{diff}");
}

/// A value that the server does not store at all is not one that it keeps.
#[test]
fn a_field_that_the_server_drops_is_said_to_be_dropped() {
    let ws = Workspace::new();
    ws.define("Gadget", "properties: {list: {type: array, items: {type: object}}}");
    let gadget = "{apiVersion: $NS.example.com/v1, kind: Gadget, metadata: {name: it}, spec: {list: [{a: 1}]}}";
    ws.write("it.yaml", gadget);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("Gadget", "it"), ["overridden spec.list[0].a"], "{diff}");
    assert!(diff.stdout.contains("the cluster drops it"), "{diff}");
}
