//! `version`: the plugin, the server, and whether the two were tested together.

use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace};

fn parsed(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

#[test]
fn the_server_of_the_tests_is_supported() {
    let ws = Workspace::new();
    let text = ws.reconcile(["version"]).exits_with(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(&format!("client: {} (", env!("CARGO_PKG_VERSION"))), "{text}");
    assert!(lines[1].starts_with("server: v1."), "{text}");
    assert_eq!(lines[2], "skew:   supported (tested with servers 1.30 to 1.37)");

    let kubectl: Value =
        serde_json::from_str(&ws.kubectl(["version", "-o", "json"]).exits_with(0).stdout).expect("JSON of kubectl");
    let report = parsed(&ws.reconcile(["version", "-o", "json"]).exits_with(0));
    assert_eq!(report["cluster"]["version"], kubectl["serverVersion"]["gitVersion"]);
    assert_eq!(report["client"]["platform"], kubectl["clientVersion"]["platform"]);
    assert_eq!(report["skew"], json!({"support": "supported", "oldest": "1.30", "newest": "1.37"}));
    assert_eq!(report["exitCode"], 0);
    let yaml = ws.reconcile(["version", "-o", "yaml"]).exits_with(0).stdout;
    let documents = kube_yaml::read(yaml.as_bytes(), kube_yaml::Validation::Strict).documents;
    assert_eq!(documents[0].value, report);
}

#[test]
fn the_client_is_shown_without_a_server() {
    let ws = Workspace::new();
    let (client, requests) = ws.requests_during(|| ws.reconcile(["version", "--client", "-o", "json"]).exits_with(0));
    assert!(requests.is_empty(), "{requests:?}");
    assert_eq!(parsed(&client)["cluster"], Value::Null);

    let gone = ws.reconcile(["version", "--server", "https://127.0.0.1:1", "-o", "json"]).exits_with(3);
    let report = parsed(&gone);
    assert_eq!(report["client"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&report["exitCode"], report["skew"].is_null()), (&json!(3), true));
    assert!(report["errors"][0]["message"].as_str().unwrap().contains("connection refused"), "{gone}");
    assert!(gone.stderr.contains("connection refused"), "{gone}");

    assert!(ws.reconcile(["version", "--context", "missing"]).exits_with(2).stdout.starts_with("client: "));
    ws.reconcile(["version", "--token", "wrong", "--client-key", "", "--context", "*"]).exits_with(2);
}
