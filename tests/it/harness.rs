//! The harness itself: that it starts, ends and sees what it claims to see.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::control_plane::{Component, ControlPlane, Fault, Proxy, Relay, Run, Workspace, leaked_secret};

#[test]
fn a_workspace_shows_who_wrote_what() {
    let ws = Workspace::new();
    assert_eq!(ws.find("ConfigMap", "banner"), None);
    let before = ws.all_resource_versions();
    ws.apply_as(
        "gitops",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, namespace: $NS}, data: {text: hello}}",
    );
    assert_ne!(ws.all_resource_versions(), before);

    let created = ws.resource_version("ConfigMap", "banner");
    ws.patch_as("someone", "configmap/banner", &json!({"data": {"colour": "red"}}));
    let banner = ws.get("configmaps", "banner");
    assert_ne!(banner["metadata"]["resourceVersion"], created.as_str());
    let managers: Vec<_> = banner["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (&e["manager"], &e["operation"]))
        .collect();
    assert_eq!(managers, [(&json!("gitops"), &json!("Apply")), (&json!("someone"), &json!("Update"))]);

    let after = ws.all_resource_versions();
    assert_eq!(after["ConfigMap banner"], ws.resource_version("ConfigMap", "banner"));
    assert_eq!(
        after.get(&format!("Namespace {}", ws.namespace())),
        before.get(&format!("Namespace {}", ws.namespace()))
    );
    assert_eq!(ws.all_resource_versions(), after, "looking changes nothing");
    ws.delete("configmap/banner");
    assert_eq!(ws.find("ConfigMap", "banner"), None);
}

#[test]
fn the_api_server_tells_what_it_was_asked() {
    let ws = Workspace::new();
    let neighbour = Workspace::new();
    let ((), requests) = ws.requests_during(|| {
        neighbour.kubectl(["create", "configmap", "noise"]).exits_with(0);
        ws.kubectl(["create", "configmap", "banner", "--dry-run=server"]).exits_with(0);
        ws.kubectl(["create", "configmap", "banner"]).exits_with(0);
        ws.as_user("limited").kubectl(["create", "configmap", "other"]).exits_with(1);
    });
    assert!(requests.iter().all(|request| request.user_agent.starts_with("kubectl/")), "{requests:#?}");
    let dry_runs: Vec<_> = requests.iter().filter(|request| request.is_dry_run()).map(|request| request.code).collect();
    assert_eq!(dry_runs, [201]);
    let writes: Vec<_> =
        requests.iter().filter(|request| request.is_write()).map(|r| (r.verb.as_str(), r.code)).collect();
    assert_eq!(writes, [("create", 201), ("create", 403)]);
    assert_eq!(ws.requests_during(|| ()).1.len(), 0);
}

#[test]
fn users_may_do_what_the_workspace_allows() {
    let ws = Workspace::new();
    ws.allow("reader", "get,list", "configmaps");
    let reader = ws.as_user("reader");
    assert_eq!(reader.kubectl(["get", "configmaps"]).code, 0);
    let forbidden = reader.kubectl(["get", "secrets"]).exits_with(1);
    assert!(forbidden.stderr.contains(r#"User "reader" cannot list resource "secrets""#), "{forbidden}");
    assert_eq!(ws.as_user("limited").kubectl(["get", "configmaps"]).code, 1);
}

#[test]
fn a_deployment_becomes_available_on_the_full_control_plane() {
    let ws = Workspace::on(&ControlPlane::full());
    ws.write("web.yaml", WEB);
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.scale("deployment/web", 2);
    ws.kubectl(["wait", "deployment/web", "--for=condition=Available", "--timeout=60s"]).exits_with(0);
    ws.kubectl(["wait", "deployment/web", "--for=jsonpath={.status.readyReplicas}=2", "--timeout=60s"]).exits_with(0);
}

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: shop/web:1.2}]}
";

/// Plays two parts: started by itself with the variable set, it holds a control plane until it is killed.
#[test]
fn a_killed_test_run_takes_its_processes_along() {
    const HOLDER: &str = "HARNESS_TEST_HOLDS_A_CONTROL_PLANE";
    if std::env::var_os(HOLDER).is_some() {
        let plane = ControlPlane::private();
        writeln!(io::stdout(), "pids: {:?}", plane.pids()).unwrap();
        thread::sleep(Duration::from_mins(1));
        return;
    }
    // Says what is missing, where nothing can be started, once and clearly.
    drop(ControlPlane::shared());
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "harness::a_killed_test_run_takes_its_processes_along", "--nocapture"])
        .env(HOLDER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(holder.stdout.take().unwrap()).lines();
    let pids = output.map_while(Result::ok).find_map(|line| {
        let list = line.split_once("pids: [")?.1.trim_end_matches(']').to_owned();
        Some(list.split(", ").map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>())
    });
    let pids = pids.expect("the holder tells the process ids of its control plane");
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_until_gone(&pids);
}

#[test]
fn a_component_ends_with_its_value_even_in_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let start = || Component::start("sleep", folder.path().join("sleep"), "sleep".as_ref(), ["60"]).unwrap();
    let pid = start().pid();
    wait_until_gone(&[pid]);
    assert!(!folder.path().join("sleep").exists());

    let component = start();
    let pid = component.pid();
    let panicking = thread::spawn(move || {
        let _held = component;
        std::panic::resume_unwind(Box::new("a failing test"));
    });
    assert!(panicking.join().is_err());
    wait_until_gone(&[pid]);
}

#[test]
fn a_relay_delays_both_directions() {
    let ws = Workspace::new();
    let relay = Relay::new(ws.plane().url(), Duration::from_millis(100));
    let started = Instant::now();
    ws.through(&relay.url()).kubectl(["get", "--raw", "/version"]).exits_with(0);
    // Three round trips: TCP, TLS and the request.
    assert!(started.elapsed() >= Duration::from_millis(600), "{:?}", started.elapsed());
    assert_eq!(relay.connections(), 1);
}

#[test]
fn a_proxy_lets_picked_requests_go_wrong() {
    let ws = Arc::new(Workspace::new());
    let proxy = Proxy::new(&ws);
    let create = |name: &str| ws.through(&proxy.url()).kubectl(["create", "configmap", name]);
    assert_eq!(create("first").code, 0);
    assert_eq!(proxy.requests().iter().filter(|request| request.starts_with("POST")).count(), 1);

    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no room", "code": 507});
    let headers = vec![("Content-Type", "application/json".to_owned())];
    proxy.inject(1, "POST", "configmaps !dryRun", Fault::Answer(507, headers, body.to_string()));
    assert!(create("second").exits_with(1).stderr.contains("no room"));
    proxy.inject(1, "POST", "configmaps", Fault::Refused);
    assert_eq!(create("second").code, 1);
    assert_eq!(ws.find("ConfigMap", "second"), None);

    for fault in [Fault::AnswerLost, Fault::AnswerCut] {
        proxy.inject(1, "POST", "configmaps", fault);
        assert_eq!(create("second").code, 1);
        ws.delete("configmap/second");
    }
    proxy.inject(1, "POST", "configmaps", Fault::Silence);
    let hanging = ws.through(&proxy.url()).kubectl(["create", "configmap", "second", "--request-timeout=300ms"]);
    assert_eq!(hanging.code, 1, "{hanging}");

    let rival = Arc::clone(&ws);
    proxy.inject(
        1,
        "POST",
        "configmaps",
        Fault::After(Arc::new(move || {
            rival.kubectl(["create", "configmap", "second"]).exits_with(0);
        })),
    );
    assert!(create("second").exits_with(1).stderr.contains("already exists"));

    let limited = ws.as_user("limited").through(&proxy.url()).kubectl(["get", "configmaps"]).exits_with(1);
    assert!(limited.stderr.contains(r#"User "limited" cannot list"#), "{limited}");
}

#[test]
fn commands_see_nothing_of_the_developers_own_configuration() {
    let ws = Workspace::new();
    let view = ws.env("KUBECTL_EXPLAIN_OPENAPIV3", "false").kubectl([
        "config",
        "view",
        "-o",
        "jsonpath={..namespace} {..server}",
    ]);
    assert_eq!(view.exits_with(0).stdout, format!("{} {}", ws.namespace(), ws.plane().url()));
    ws.reconcile(["--help"]).exits_with(0);
}

#[test]
fn a_program_under_way_can_be_interrupted() {
    let ws = Workspace::new();
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "GET", "configmaps", Fault::Silence);
    let waiting = ws.through(&proxy.url()).start_kubectl(["get", "configmaps"]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !proxy.requests().iter().any(|request| request.contains("configmaps")) {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(5));
    }
    assert!(is_alive(waiting.pid()));
    // Not by SIGINT: what a shell starts in the background ignores that, and so would kubectl.
    waiting.terminate();
    assert_eq!(waiting.finish().code, -15, "ended by SIGTERM");
}

#[test]
fn a_registered_secret_is_found_in_every_spelling() {
    let ws = Workspace::new();
    let secret = ws.secret("correct \"horse\" battery");
    assert_eq!(leaked_secret("nothing to see"), None);
    assert_eq!(leaked_secret("password: correct \"horse\" battery!"), Some(secret.clone()));
    assert_eq!(leaked_secret(&json!({"password": secret}).to_string()), Some(secret.clone()));
    let encoded = "Y29ycmVjdCAiaG9yc2UiIGJhdHRlcnkK"; // with a newline, as `base64` on a terminal makes it
    assert_eq!(leaked_secret(&format!("data: {encoded}")), Some(secret));
}

#[test]
fn an_object_of_a_report_is_found_by_kind_and_name() {
    let report = json!({"objects": [{"kind": "Service", "name": "web", "action": "create"}]});
    let run =
        Run { command: String::new(), code: 1, stdout: String::new(), stderr: String::new(), report: Some(report) };
    assert_eq!(run.object("Service", "web")["action"], "create");
}

fn is_alive(pid: u32) -> bool {
    Command::new("sh").args(["-c", "kill -0 $0 2>/dev/null", &pid.to_string()]).status().unwrap().success()
}

fn wait_until_gone(pids: &[u32]) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while pids.iter().any(|pid| is_alive(*pid)) {
        assert!(Instant::now() < deadline, "still alive: {pids:?}");
        thread::sleep(Duration::from_millis(20));
    }
}
