//! What leaves for the server, whatever the names in the input are made of: `diff` changes nothing.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kubectl_reconcile::client::{Cluster, ConnectOptions, Environment, connect};
use kubectl_reconcile::engine::comparison::dry_run::drive;
use kubectl_reconcile::live::fetch::fetch;
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reconcile_core::compare::{ComparisonMachine, Policy};
use reconcile_core::live::{Resource, Target};
use reconcile_core::manifest::Input;
use reconcile_core::manifest::yaml::Validation;
use reconcile_core::manifest::{DesiredObject, Hooks, ReadOptions, read};
use reconcile_core::object::Selector;
use serde_json::{Value, json};
use structured_merge::{GroupVersionKind, ObjectKey};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::control_plane::{Proxy, Workspace};

/// A definition whose resources anybody may keep anything in.
#[test]
fn a_namespace_that_ends_a_url_changes_nothing() {
    let ws = Workspace::new();
    ws.define("Dial", "properties: {role: {type: string}}");
    ws.write("victim.yaml", "{apiVersion: $NS.example.com/v1, kind: Dial, metadata: {name: w}, spec: {role: guest}}");
    ws.kubectl(["create", "-f", "victim.yaml"]).exits_with(0);
    let before = ws.get("dials", "w");
    for rest in ["/dials/w#", "/dials/w?x=", "/dials/w?dryRun=All&x=", "/../$NS", "%2Fdials%2Fw%23"] {
        let manifest = format!(
            "{{apiVersion: $NS.example.com/v1, kind: Dial, metadata: {{name: x, namespace: \"$NS{rest}\"}}, spec: {{role: admin}}}}"
        );
        ws.write("attack.yaml", &manifest);
        for flags in [&[][..], &["--evidence=server"], &["--force-conflicts=all"]] {
            let proxy = Proxy::new(&ws);
            let diff = ws.through(&proxy.url()).reconcile([&["diff", "-f", "attack.yaml"][..], flags].concat());
            assert!([2, 4].contains(&diff.code), "{diff}");
            for request in proxy.requests() {
                assert!(request.starts_with("GET ") || request.contains("?dryRun=All"), "{request}");
                assert!(!request.contains("dials/w"), "{request}");
            }
        }
        assert_eq!(ws.get("dials", "w"), before, "{rest}");
    }
}

/// A server that has every object it is asked for, refuses every apply, and remembers what it was asked.
struct Fake {
    address: SocketAddr,
    live: Arc<Mutex<Value>>,
    seen: Arc<Mutex<Vec<(Method, String)>>>,
}

impl Fake {
    async fn start() -> Fake {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let live = Arc::<Mutex<Value>>::default();
        let seen = Arc::<Mutex<Vec<_>>>::default();
        let object = Arc::clone(&live);
        let record = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let object = Arc::clone(&object);
                let record = Arc::clone(&record);
                let service = service_fn(move |request: Request<Incoming>| {
                    record.lock().unwrap().push((request.method().clone(), request.uri().to_string()));
                    let is_apply =
                        request.headers().get("content-type").is_some_and(|kind| kind.as_bytes().ends_with(b"yaml"));
                    let live = object.lock().unwrap().clone();
                    async move { answer(is_apply, &live) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Fake { address, live, seen }
    }
}

fn answer(is_apply: bool, live: &Value) -> Result<Response<Full<Bytes>>, http::Error> {
    let refusal = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 422, "reason": "Invalid",
        "message": "fieldManager: Required value"});
    let (code, body) = if is_apply { (422, refusal.to_string()) } else { (200, live.to_string()) };
    Response::builder().status(code).header("content-type", "application/json").body(Full::new(body.into()))
}

/// An object that somebody made by hand, which the manifest wants otherwise.
fn object(key: &ObjectKey, role: &str) -> Value {
    let fields = json!({"f:spec": {"f:role": {}}});
    json!({"apiVersion": key.gvk.api_version(), "kind": key.gvk.kind, "spec": {"role": role}, "metadata": {
        "name": key.name, "namespace": key.namespace, "uid": "1", "resourceVersion": "7",
        "managedFields": [{"manager": "kubectl-create", "operation": "Update", "apiVersion": key.gvk.api_version(),
            "fieldsType": "FieldsV1", "fieldsV1": fields}]}})
}

/// The target of an object, whose status is a subresource if it has one.
pub fn target(key: &ObjectKey, plural: &str, object: Value, status: bool) -> Target {
    let text = b"{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}".to_vec();
    let input = Input::new("generated", text);
    let options = ReadOptions {
        validation: Validation::Strict,
        selector: Selector::default(),
        hooks: Hooks::Include,
        allow_empty: false,
    };
    let manifest = read(&[input], &options).expect("a manifest").manifests.remove(0);
    let resource = Resource {
        gvk: key.gvk.clone(),
        plural: plural.to_owned(),
        namespaced: true,
        verbs: ["get", "list", "patch", "create"].map(ToOwned::to_owned).into(),
        status,
        pending: false,
    };
    Target {
        key: key.clone(),
        resource: Ok(resource.into()),
        versions: [key.gvk.api_version()].into(),
        desired: DesiredObject::exactly(object, manifest.origin().clone()),
        base: std::sync::OnceLock::new(),
        shard_member: None,
    }
}

fn with_a_role(key: &ObjectKey, plural: &str) -> Target {
    let object = json!({"apiVersion": key.gvk.api_version(), "kind": key.gvk.kind, "spec": {"role": "admin"},
        "metadata": {"name": key.name, "namespace": key.namespace}});
    target(key, plural, object, false)
}

/// What `diff` asks of the server about one object.
async fn compare(cluster: &Cluster, target: &Target) {
    let policy = Policy::of("kubectl-reconcile");
    let state = fetch(cluster, &[target]).await.remove(0);
    let mut machine = ComparisonMachine::new(target, state, structured_merge::untyped_object(), &policy);
    let resource = target.resource.as_deref().expect("a resource");
    drive(cluster, resource, &mut machine).await;
}

#[test]
fn no_name_makes_a_dry_run_a_write_or_leads_to_another_object() {
    let runtime = Runtime::new().expect("a runtime");
    let (fake, cluster) = runtime.block_on(async {
        let fake = Fake::start().await;
        let server = Some(format!("http://{}", fake.address));
        let options = ConnectOptions { server, ..ConnectOptions::default() };
        let cluster = connect(&options, &Environment::default()).await.expect("a connection");
        (fake, cluster)
    });
    let name = || prop_oneof![3 => r"[a-c#?%&/.;+ =:@\\\u{0}\u{7f}\u{e9}]{0,6}", 1 => "[a-c]{1,3}"];
    let names = (name(), name(), name(), name(), name());
    let mut runner = TestRunner::new(Config { cases: 2000, failure_persistence: None, ..Config::default() });
    let mut patched = 0;
    let patched = &std::cell::RefCell::new(&mut patched);
    runner
        .run(&names, |(group, version, plural, namespace, name)| {
            let gvk = GroupVersionKind::in_group(group, version, "Widget");
            let key = ObjectKey { gvk, namespace: Some(namespace), name };
            *fake.live.lock().unwrap() = object(&key, "guest");
            runtime.block_on(compare(&cluster, &with_a_role(&key, &plural)));
            let root = if key.gvk.group.is_empty() { vec!["api"] } else { vec!["apis", &key.gvk.group] };
            let namespace = key.namespace.as_deref().unwrap_or_default();
            let collection = [&root[..], &[&key.gvk.version, "namespaces", namespace, &plural]].concat();
            for (method, uri) in fake.seen.lock().unwrap().drain(..) {
                let (path, query) = uri.split_once('?').unwrap_or((&uri, ""));
                let decode = |segment: &str| percent_decode_str(segment).decode_utf8_lossy().into_owned();
                let segments: Vec<String> = path.split('/').skip(1).map(decode).collect();
                let object = [&collection[..], &[&key.name]].concat();
                prop_assert!(segments == object || method == Method::POST && segments == collection, "{method} {uri}");
                prop_assert!(
                    method == Method::GET || query.split('&').any(|pair| pair == "dryRun=All"),
                    "{method} {uri}"
                );
                **patched.borrow_mut() += usize::from(method == Method::PATCH);
            }
            Ok(())
        })
        .unwrap();
    assert!(**patched.borrow() > 100, "names that a path can hold are asked about");
}
