//! Reads that begin while discovery is under way: the same requests, only earlier, and discovery has the last word.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kubectl_reconcile::client::{ConnectOptions, Environment, connect};
use kubectl_reconcile::live::discover;
use reconcile_core::live::{Discovery, Resolution};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::control_plane::{Fault, Proxy, Replaced as _, Run, Workspace, is_before, resource, wait_until};

/// The two requests of discovery, as patterns of the proxy.
const CORE: &str = "/api !/apis !/api/ !openapi";
const GROUPS: &str = "/apis !/apis/";

/// Five ConfigMaps, which are listed, and a Deployment, which is read by its name.
fn shop() -> Workspace {
    let ws = Workspace::new();
    for number in 0..5 {
        ws.write(
            format!("map-{number}.yaml"),
            &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: map-{number}}}, data: {{a: b}}}}"),
        );
    }
    ws.write(
        "web.yaml",
        "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1.2'}]}
",
    );
    ws
}

/// A proxy that answers a part of discovery only after these requests have arrived.
fn late(ws: &Workspace, discovery: &str, awaited: &[&str]) -> Arc<Proxy> {
    let proxy = Arc::new(Proxy::new(ws));
    proxy.inject(1, "GET", discovery, Fault::After(Arc::new(until_arrived(ws, &proxy, awaited))));
    proxy
}

/// Waits until all of these requests have arrived.
fn until_arrived(ws: &Workspace, proxy: &Arc<Proxy>, awaited: &[&str]) -> impl Fn() + Send + Sync + use<> {
    let awaited: Vec<String> = awaited.iter().map(|text| ws.fill_in(text)).collect();
    let seen = Arc::downgrade(proxy);
    move || {
        let deadline = Instant::now() + Duration::from_secs(20);
        let has = |text: &String| {
            seen.upgrade().is_none_or(|proxy| proxy.requests().iter().any(|request| request.contains(text)))
        };
        while Instant::now() < deadline && !awaited.iter().all(has) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The position of the first request for which this returns true.
fn position(proxy: &Proxy, is_it: impl Fn(&str) -> bool) -> usize {
    let requests = proxy.requests();
    requests.iter().position(|request| is_it(request)).unwrap_or_else(|| panic!("it is not in {requests:#?}"))
}

/// Checks that no request was sent twice, and that the report counts all of them.
fn each_once(run: &Run, proxy: &Proxy) {
    let requests = proxy.requests();
    assert_eq!(requests.iter().collect::<BTreeSet<_>>().len(), requests.len(), "{requests:#?}");
    let counts = run.report()["requests"].as_object().expect("numbers of requests");
    let counted: u64 = counts.values().filter_map(Value::as_u64).sum();
    assert_eq!(counted, requests.len() as u64, "{counts:?} {requests:#?}");
}

/// The reason why an object was not compared.
fn reason<'r>(run: &'r Run, kind: &str, name: &str) -> &'r str {
    run.object(kind, name)["error"]["message"].as_str().unwrap_or_default()
}

const LIST: &str = "/namespaces/$NS/configmaps?limit=";
const GET: &str = "/namespaces/$NS/deployments/web";
const AUTOSCALERS: &str = "/namespaces/$NS/horizontalpodautoscalers?limit=";
const WEBHOOKS: &str = "/mutatingwebhookconfigurations?limit=";

#[test]
fn built_in_kinds_are_read_while_discovery_is_under_way() {
    let ws = shop();
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for (command, code) in [("diff", 0), ("apply", 0)] {
        let awaited = [LIST, GET, AUTOSCALERS, WEBHOOKS];
        let awaited = &awaited[..if command == "diff" { 4 } else { 3 }];
        let proxy = late(&ws, GROUPS, awaited);
        let started = Instant::now();
        let run = ws.through(&proxy.url()).reconcile([command, "-f", "."]).exits_with(code);
        assert!(started.elapsed() < Duration::from_secs(20), "discovery waited in vain: {:#?}", proxy.requests());
        assert_eq!(
            run.report()["summary"]["inSync"].as_u64().or(run.report()["summary"]["unchanged"].as_u64()),
            Some(6),
            "{run}"
        );
        each_once(&run, &proxy);
    }
}

/// Commands without a report read the objects early as well.
#[test]
fn pull_snapshot_and_blame_read_while_discovery_is_under_way() {
    let ws = shop();
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for words in [&["pull", "-f", ".", "--dry-run"][..], &["snapshot", "-f", "."], &["blame", "-f", "."]] {
        let proxy = late(&ws, GROUPS, &[LIST, GET]);
        let started = Instant::now();
        ws.through(&proxy.url()).reconcile(words).exits_with(0);
        assert!(started.elapsed() < Duration::from_secs(20), "discovery waited in vain: {:#?}", proxy.requests());
        let requests = proxy.requests();
        assert_eq!(requests.iter().collect::<BTreeSet<_>>().len(), requests.len(), "{requests:#?}");
    }
}

/// Kinds that only discovery knows are read as soon as it has answered: here, before the parent of the apply set is known.
#[test]
fn custom_kinds_and_policies_are_read_before_the_work_begins() {
    let ws = shop();
    ws.define("Note", "properties: {text: {type: string}}");
    for number in 0..5 {
        let note = resource("Note", &format!("note-{number}"), "");
        ws.write(format!("note-{number}.yaml"), &note);
    }
    let flags = ["-f", ".", "--prune", "--applyset=shop"];
    ws.reconcile([&["apply"][..], &flags].concat()).exits_with(0);
    let policies = if is_before(36, "policies that mutate") { "webhookconfigurations" } else { "admissionpolicies" };
    let policies = format!("/mutating{policies}?limit=");
    let proxy = late(&ws, "/secrets/shop", &["/$NS.example.com/v1/namespaces/$NS/notes?limit=", &policies]);
    let started = Instant::now();
    let run = ws.through(&proxy.url()).reconcile([&["diff"][..], &flags].concat()).exits_with(0);
    assert!(started.elapsed() < Duration::from_secs(20), "the parent waited in vain: {:#?}", proxy.requests());
    assert_eq!(run.report()["summary"]["inSync"], 11, "{run}");
    each_once(&run, &proxy);
}

/// The same answer to discovery, with another description of one resource of `apps/v1`.
fn described(change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) -> Fault {
    Fault::Rewritten(Arc::new(move |_, body| {
        let mut document: Value = serde_json::from_slice(body).expect("a discovery document");
        let groups = document["items"].as_array_mut().expect("groups");
        let apps = groups.iter_mut().find(|group| group["metadata"]["name"] == "apps").expect("the group `apps`");
        change(apps["versions"][0]["resources"].as_array_mut().expect("resources"));
        document.to_string().into_bytes()
    }))
}

#[test]
fn discovery_has_the_last_word() {
    let ws = shop();
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let is_deployment = |resource: &Value| resource["resource"] == "deployments";

    let proxy = late(&ws, CORE, &[LIST, GET]);
    proxy.inject(1, "GET", GROUPS, described(move |resources| resources.retain(|found| !is_deployment(found))));
    let run = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(4);
    assert!(reason(&run, "Deployment", "web").contains("the server has no kind `Deployment` in `apps/v1`"), "{run}");
    assert_eq!(run.report()["summary"]["inSync"], 5, "{run}");
    each_once(&run, &proxy);

    // The same kind under another name: the answer about the usual one is not used.
    let proxy = late(&ws, CORE, &[LIST, GET]);
    let rename = move |resources: &mut Vec<Value>| {
        for resource in resources.iter_mut().filter(|found| is_deployment(found)) {
            resource["resource"] = json!("workloads");
        }
    };
    proxy.inject(1, "GET", GROUPS, described(rename));
    let run = ws.through(&proxy.url()).reconcile(["diff", "-f", ".", "--evidence=read-only"]).exits_with(1);
    let discovered = position(&proxy, |request| request == "GET /apis");
    assert!(position(&proxy, |request| request.ends_with("/workloads/web")) > discovered, "{run}");
    assert_eq!(run.object("Deployment", "web")["action"], "create", "the server has no such resource: {run}");
    each_once(&run, &proxy);
}

#[test]
fn a_refusal_counts_if_discovery_confirms_the_kind_and_is_not_repeated() {
    let ws = Workspace::new();
    for number in 0..5 {
        ws.write(
            format!("{number}.yaml"),
            &format!(
                "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: map-{number}}}}}\n---\n\
                 {{apiVersion: v1, kind: Service, metadata: {{name: web-{number}}}, spec: {{clusterIP: None, ports: [{{port: 80}}]}}}}"
            ),
        );
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.allow("limited", "get,list,patch", "configmaps");
    let (run, requests) = ws.requests_during(|| ws.as_user("limited").reconcile(["diff", "-f", "."]));
    assert_eq!((run.code, &run.report()["summary"]["inSync"]), (4, &json!(5)), "{run}");
    for number in 0..5 {
        assert!(reason(&run, "Service", &format!("web-{number}")).contains("cannot get resource"), "{run}");
    }
    let own = requests.iter().filter(|request| request.user == "limited" && request.uri.contains("/services"));
    let uris: Vec<&str> = own.map(|request| request.uri.as_str()).collect();
    assert_eq!(uris.iter().collect::<BTreeSet<_>>().len(), uris.len(), "{uris:#?}");
    assert_eq!(uris.len(), 6, "a LIST and five GETs, as without early reads: {uris:#?}");
}

/// A page of 9 MiB has come before discovery says that it is needed.
#[test]
fn large_answers_are_not_asked_for_again() {
    let ws = Workspace::new();
    for number in 0..8 {
        let text = format!("{number}").repeat(900_000);
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("large-{number}")}, "stringData": {"text": text}});
        ws.write(format!("large-{number}.json"), &secret.to_string());
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "GET", GROUPS, Fault::After(Arc::new(|| std::thread::sleep(Duration::from_secs(3)))));
    let run = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(0);
    let lists = proxy.requests().iter().filter(|request| request.contains("/secrets?limit=")).count();
    assert_eq!(lists, 1, "{:#?}", proxy.requests());
    each_once(&run, &proxy);
}

#[test]
fn without_discovery_its_error_is_the_only_one() {
    let ws = shop();
    let proxy = late(&ws, CORE, &[LIST]);
    let status = |code: u16, reason: &str| {
        let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason});
        Fault::Answer(code, vec![("Content-Type", "application/json".to_owned())], body.to_string())
    };
    proxy.inject(99, "GET", "configmaps", status(403, "Forbidden"));
    proxy.inject(99, "GET", GROUPS, status(404, "NotFound"));
    let run = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]);
    assert!(run.code > 1, "{run}");
    assert!(!run.stderr.contains("configmaps"), "{run}");
}

#[test]
fn a_run_that_is_interrupted_during_discovery_ends_at_once() {
    let ws = shop();
    let proxy = Proxy::new(&ws);
    proxy.inject(9, "GET", GROUPS, Fault::Silence);
    proxy.inject(9, "GET", "configmaps", Fault::Silence);
    let run = ws.through(&proxy.url()).start_reconcile(["diff", "-f", "."]);
    let list = ws.fill_in(LIST);
    wait_until("objects are read", || proxy.requests().iter().any(|request| request.contains(&list)));
    run.interrupt();
    run.finish().exits_with(130);
}

/// The token of the first reads has expired: it is renewed once for all of them, and each read is repeated once.
#[test]
fn early_reads_that_are_refused_are_repeated_with_renewed_credentials() {
    let ws = shop();
    ws.allow("editor", "*", "*.*");
    ws.as_user("editor").reconcile(["apply", "-f", "."]).exits_with(0);
    let plugin = ws.home().join("plugin");
    let script = "#!/bin/sh\necho run >>\"$HOME/runs\"\n\
        echo '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {\"token\": \"bearer-token-of-editor\"}}'\n";
    std::fs::write(&plugin, script).expect("a plugin");
    std::fs::set_permissions(&plugin, std::fs::Permissions::from_mode(0o755)).expect("a plugin");
    for refused in [&[LIST][..], &[LIST, GET], &[LIST, GET, AUTOSCALERS, "/version"]] {
        let proxy = late(&ws, GROUPS, &[LIST, GET]);
        // All of them have the old token: none is refused before the last has been sent.
        let sent: Arc<dyn Fn() + Send + Sync> = Arc::new(until_arrived(&ws, &proxy, refused));
        for pattern in refused {
            let expired = Fault::Answer(401, Vec::new(), String::new());
            proxy.inject(1, "GET", &ws.fill_in(pattern), Fault::AfterThat(Arc::clone(&sent), Box::new(expired)));
        }
        let path = ws.as_user("editor").kubeconfig();
        let mut config: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).expect("a kubeconfig");
        config["clusters"][0]["cluster"]["server"] = proxy.url().into();
        config["users"][0]["user"] = json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": plugin, "interactiveMode": "Never"
        }});
        std::fs::write(&path, config.to_string()).unwrap();
        let _ = std::fs::remove_file(ws.home().join("runs"));
        let caller = ws.env("KUBECONFIG", &path.display().to_string());
        let run = caller.reconcile(["diff", "-f", "."]).exits_with(0);
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{refused:?}: {run}");
        assert_eq!(std::fs::read_to_string(ws.home().join("runs")).unwrap(), "run\nrun\n", "{refused:?}: {run}");
        for pattern in [LIST, GET, AUTOSCALERS] {
            let sent = proxy.requests().iter().filter(|request| request.contains(&ws.fill_in(pattern))).count();
            assert_eq!(sent, 1 + usize::from(refused.contains(&pattern)), "{:#?}", proxy.requests());
        }
    }
}

/// A read that has no answer in time is no other than a read after discovery: the same result, after as many requests.
#[test]
fn early_reads_have_the_deadline_and_the_retries_of_any_read() {
    let ws = shop();
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let outcome = |words: &[&str]| {
        let proxy = Proxy::new(&ws);
        proxy.inject(99, "GET", "configmaps", Fault::Silence);
        let started = Instant::now();
        let run = ws.through(&proxy.url()).reconcile(words).exits_with(4);
        assert!(started.elapsed() < Duration::from_mins(2), "{run}");
        let mut asked: Vec<String> =
            proxy.requests().into_iter().filter(|request| request.contains("configmaps")).collect();
        asked.sort();
        (
            reason(&run, "ConfigMap", "map-0").replaced(&proxy.url(), "URL"),
            run.report()["summary"]["inSync"].clone(),
            asked,
        )
    };
    let early = outcome(&["diff", "-f", ".", "--request-timeout=5s"]);
    // With shards, nothing is read early.
    let late = outcome(&["diff", "-f", ".", "--request-timeout=5s", "--shard=0/1"]);
    assert_eq!(early, late);
    assert_eq!(early.1, 1, "the Deployment");
}

#[test]
fn nothing_is_read_early_in_namespaces_where_the_run_has_no_business() {
    let ws = shop();
    ws.write("other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: kube-system}}");
    ws.write("kubectl-reconcile.yaml", "expect:\n  namespaces: [$NS]\n");
    let proxy = Proxy::new(&ws);
    let asked = || proxy.requests().iter().any(|request| request.contains("/namespaces/kube-system/"));
    ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(2);
    assert!(!asked(), "{:#?}", proxy.requests());
    ws.write("kubectl-reconcile.yaml", "{}");
    ws.through(&proxy.url()).reconcile(["diff", "-f", ".", "-n", "$NS"]).exits_with(2);
    assert!(!asked(), "{:#?}", proxy.requests());
}

/// The paths that are expected are those of the server, for all kinds of the embedded types that it serves.
#[test]
fn the_usual_names_of_built_in_resources_are_right() {
    let ws = Workspace::new();
    let kubeconfig = ws.through(ws.plane().url()).kubeconfig();
    let options = ConnectOptions { kubeconfig: Some(kubeconfig), ..ConnectOptions::default() };
    let discovery = Runtime::new().expect("a runtime").block_on(async {
        let cluster = connect(&options, &Environment::default()).await.expect("a connection");
        discover(&cluster).await.expect("discovery")
    });
    let expected = Discovery::assumed();
    let mut served = 0;
    for usual in expected.resources() {
        if let Resolution::Known(found) = discovery.resolve(&usual.gvk) {
            assert_eq!((&usual.plural, usual.namespaced), (&found.plural, found.namespaced), "{:?}", usual.gvk);
            assert!(usual.verbs.is_subset(&found.verbs), "{:?}", usual.gvk);
            served += 1;
        }
    }
    assert!(served > 50, "{served} kinds");
}
