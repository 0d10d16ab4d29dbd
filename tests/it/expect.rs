//! `expect:` in the configuration: a folder that knows where it belongs, and attempts to apply it elsewhere.

use std::fs;

use serde_json::{Value, json};

use crate::control_plane::{Run, Workspace};

const CONFIG: &str = "apiVersion: kubectl-reconcile/v1\nkind: Config\n";
const MANIFEST: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: $NS\ndata: {a: '1'}\n";
const ROLE: &str = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $NS}, rules: []}";

/// A workspace with a manifest in `deploy`, and next to it a configuration with these expectations.
fn expecting(expect: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("deploy/settings.yaml", MANIFEST);
    configure(&ws, &format!("expect:\n{expect}"));
    ws
}

fn configure(ws: &Workspace, settings: &str) {
    ws.write("deploy/.kubectl-reconcile.yaml", &format!("{CONFIG}{settings}\n"));
}

/// A kubeconfig with contexts of these names, all of them of the server of the workspace; the first is the current one.
fn contexts(ws: &Workspace, names: &[&str], user: Option<&Value>) -> String {
    let admin = ws.plane().kubeconfig("admin", ws.plane().url(), ws.namespace());
    let mut config: Value = serde_json::from_str(&admin).unwrap();
    let context = config["contexts"][0]["context"].clone();
    config["contexts"] = names.iter().map(|name| json!({"name": name, "context": context})).collect();
    config["current-context"] = names[0].into();
    if let Some(user) = user {
        config["users"][0]["user"] = user.clone();
    }
    ws.write("contexts.kubeconfig", &config.to_string()).display().to_string()
}

/// Runs a command that has to be refused before it sends a request.
#[track_caller]
fn refused(ws: &Workspace, arguments: &[&str]) -> Run {
    let (run, requests) = ws.requests_during(|| ws.reconcile(arguments));
    assert!(requests.is_empty(), "{requests:#?}");
    run.exits_with(2)
}

#[test]
fn another_context_is_refused_before_any_request_and_any_plugin() {
    let ws = expecting("  contexts: [\"prod-*\", live]");
    let ran = ws.folder().join("plugin-ran");
    let plugin = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [ran], "interactiveMode": "Never",
    }});
    let file = contexts(&ws, &["dev", "prod-eu", "live"], Some(&plugin));
    let commands: [&[&str]; 6] = [&["diff"], &["apply"], &["status"], &["access"], &["snapshot"], &["diff", "--apply"]];
    for command in commands {
        let run = refused(&ws, &[command, &["-f", "deploy", "--kubeconfig", &file]].concat());
        let message = "deploy/.kubectl-reconcile.yaml:4:3: context `dev` is not expected here, only `prod-*`, `live`";
        assert!(run.stderr.contains(message), "{run}");
        assert!(!ran.exists(), "{run}");
    }
    let file = contexts(&ws, &["dev", "prod-eu", "live"], None);
    for context in ["prod-eu", "live", "prod-*", "prod-eu,live"] {
        ws.reconcile(["diff", "-f", "deploy", "--kubeconfig", &file, "--context", context]).exits_with(1);
    }
    // One of several is enough: nothing is sent to any of them.
    for command in ["diff", "apply", "status"] {
        let run = refused(&ws, &[command, "-f", "deploy", "--kubeconfig", &file, "--context", "prod-eu,dev"]);
        assert!(run.stderr.contains("context `dev` is not expected here"), "{run}");
    }
    assert_eq!(ws.find("ConfigMap", "settings"), None);
}

/// A custom resource that names no namespace is known to live in one by its cluster alone.
#[test]
fn a_namespace_that_is_not_expected_in_one_of_several_contexts_is_refused_before_any_request() {
    let ws = expecting("  namespaces: [$NS]");
    ws.write("deploy/settings.yaml", &MANIFEST.replace("  namespace: $NS\n", ""));
    let file = contexts(&ws, &["good", "wrong"], None);
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    config["contexts"][1]["context"]["namespace"] = json!("elsewhere");
    fs::write(&file, config.to_string()).unwrap();
    let several = |command| [command, "-f", "deploy", "--kubeconfig", file.as_str(), "--context", "good,wrong"];
    for command in ["diff", "apply", "status"] {
        let run = refused(&ws, &several(command));
        let message = "context `wrong`: namespace `elsewhere` is not expected here, only";
        assert!(run.stderr.contains(message), "{run}");
    }
    assert_eq!(ws.find("ConfigMap", "settings"), None);
    let namespace = ws.namespace();
    ws.reconcile([&several("diff")[..], &["--namespace", namespace]].concat()).exits_with(1);
    ws.write("deploy/settings.yaml", &MANIFEST.replace("$NS", "elsewhere"));
    let run = refused(&ws, &several("apply"));
    assert_eq!(run.stderr.matches("namespace `elsewhere` is not expected here").count(), 1, "{run}");
}

#[test]
fn flags_that_replace_the_cluster_of_an_expected_context_are_refused() {
    let ws = expecting("  contexts: [prod]");
    let file = contexts(&ws, &["prod"], None);
    let url = ws.plane().url().to_owned();
    let kubeconfig: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let cluster = kubeconfig["clusters"][0]["name"].as_str().unwrap();
    for (flag, value) in [("--server", url.as_str()), ("--cluster", cluster)] {
        let run = refused(&ws, &["apply", "-f", "deploy", "--kubeconfig", &file, flag, value]);
        assert!(run.stderr.contains(&format!("`{flag}` replaces the cluster of the context")), "{run}");
    }
    ws.reconcile(["diff", "-f", "deploy", "--kubeconfig", &file]).exits_with(1);
    // With the server among the expectations, the server itself is checked.
    configure(&ws, &format!("expect: {{contexts: [prod], servers: ['{url}/']}}"));
    ws.reconcile(["diff", "-f", "deploy", "--kubeconfig", &file, "--server", &url]).exits_with(1);
    let run = refused(&ws, &["diff", "-f", "deploy", "--kubeconfig", &file, "--server", "https://127.0.0.1:1"]);
    assert!(run.stderr.contains("the server `https://127.0.0.1:1` is not expected here, only"), "{run}");
}

#[test]
fn another_server_is_refused_whatever_the_context_is_called() {
    let ws = expecting("  servers: [\"https://10.1.2.3:6443\"]");
    let run = refused(&ws, &["apply", "-f", "deploy"]);
    assert!(run.stderr.contains("deploy/.kubectl-reconcile.yaml:4:3: the server `https://"), "{run}");
    assert!(run.stderr.contains("is not expected here, only `https://10.1.2.3:6443`"), "{run}");
    // A run without a context is not in an expected one.
    configure(&ws, "expect: {contexts: ['*'], servers: ['https://127.0.0.1:1']}");
    ws.write("empty.kubeconfig", "{apiVersion: v1, kind: Config}");
    let flags = ["apply", "-f", "deploy", "--kubeconfig", "empty.kubeconfig", "--server", "https://127.0.0.1:1"];
    assert!(refused(&ws, &flags).stderr.contains("no context is used"));
}

#[test]
fn an_object_in_another_namespace_is_invalid_input_at_its_line() {
    let ws = expecting("  namespaces: [shop, \"shop-*\"]");
    ws.write("deploy/role.yaml", ROLE);
    ws.write("empty.yaml", "");
    for more in [&[][..], &["--live", "empty.yaml"]] {
        let run = ws.reconcile([&["diff", "-f", "deploy", "-o", "json"], more].concat()).exits_with(2);
        let errors = run.report()["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{run}");
        assert_eq!((&errors[0]["file"], &errors[0]["line"]), (&json!("deploy/settings.yaml"), &json!(5)), "{run}");
        assert_eq!(errors[0]["message"], ws.fill_in("namespace `$NS` is not expected here, only `shop`, `shop-*`"));
    }
    // The namespace of an object that names none is checked as well.
    ws.write("deploy/settings.yaml", &MANIFEST.replace("  namespace: $NS\n", ""));
    let run = ws.reconcile(["apply", "-f", "deploy"]).exits_with(2);
    assert!(run.stderr.contains("deploy/settings.yaml:3"), "{run}");
    assert_eq!(ws.find("ConfigMap", "settings"), None);
    let namespace = ws.namespace();
    configure(&ws, &format!("expect: {{namespaces: ['{}*']}}", &namespace[..namespace.len() - 1]));
    ws.reconcile(["diff", "-f", "deploy"]).exits_with(1);
}

#[test]
fn an_apply_without_the_expected_set_is_refused_with_the_flags_to_pass() {
    let ws = expecting("  applyset: secret/pay");
    let wrong: [&[&str]; 4] =
        [&[], &["--prune", "--applyset=other"], &["--prune", "--applyset=configmap/pay"], &["--leave-applyset"]];
    for flags in wrong {
        for command in [&["apply"][..], &["diff", "--apply"]] {
            let run = refused(&ws, &[command, &["-f", "deploy"], flags].concat());
            let message = "deploy/.kubectl-reconcile.yaml:4:3: these manifests belong to apply set `secret/pay`";
            assert!(run.stderr.contains(message), "{run}");
            assert!(run.stderr.contains("hint: pass `--prune --applyset secret/pay`"), "{run}");
        }
    }
    ws.reconcile(["diff", "-f", "deploy"]).exits_with(1);
    ws.reconcile(["apply", "--dry-run", "-f", "deploy"]).exits_with(1);
    ws.reconcile(["apply", "-f", "deploy", "--prune", "--applyset=pay"]).exits_with(0);
    ws.reconcile(["apply", "-f", "deploy", "--prune", "--applyset=secrets/pay"]).exits_with(0);
    let alone = ws.reconcile(["apply", "-f", "deploy", "--no-expect-applyset"]).exits_with(0);
    assert!(alone.stderr.contains("1 object belongs to apply set `pay`"), "{alone}");
}

#[test]
fn a_loosened_file_does_not_count_beside_a_named_one() {
    let ws = expecting("  contexts: ['*']");
    ws.write("trusted.yaml", &format!("{CONFIG}expect: {{servers: ['https://10.1.2.3:6443'], applyset: pay}}\n"));
    refused(&ws, &["diff", "-f", "deploy", "--config", "trusted.yaml"]);
    for (default, flag) in [("no-expect-applyset: true", "--no-expect-applyset"), ("context: prod", "--context")] {
        configure(&ws, &format!("defaults: {{{default}}}"));
        let run = refused(&ws, &["apply", "-f", "deploy"]);
        assert!(run.stderr.contains(&format!("`defaults` cannot set `{flag}`")), "{run}");
    }
}

#[test]
fn mistakes_in_the_expectations_are_reported_with_their_places() {
    for (expect, message) in [
        ("contexts: []", "`contexts` is empty, so that nothing would be allowed"),
        ("contexts: prod", "`contexts` is a list"),
        ("context: [prod]", "unknown key `context` in `expect`"),
        ("servers: [10.1.2.3]", "`10.1.2.3` is not the URL of a server"),
        ("servers: ['https://127.0.0.1:*']", "`https://127.0.0.1:*` is not the URL of a server"),
        ("servers: ['https://*.shop']", "`servers` takes no globs: list each URL"),
        ("servers: ['https://admin:secret@10.1.2.3']", "leave the user name and the password out"),
        ("servers: ['https://127.0.0.1:99999']", "`https://127.0.0.1:99999` is not the URL of a server"),
        ("namespaces: ['shop-(a)']", "is not a glob"),
        ("applyset: a/b/c", "`a/b/c` does not name an apply set"),
        ("applyset: cm/Pay", "`Pay` cannot be the name of an apply set"),
        ("contexts: ['']", "an item of `contexts` must be a string"),
    ] {
        let run = refused(&expecting(&format!("  {expect}")), &["diff", "-f", "deploy"]);
        assert!(run.stderr.contains("deploy/.kubectl-reconcile.yaml:4:") && run.stderr.contains(message), "{run}");
        assert!(!run.stderr.contains("secret@"), "{run}");
    }
}

#[test]
fn the_configuration_in_force_shows_them() {
    let expect = json!({
        "contexts": ["prod-*"], "servers": ["https://10.1.2.3:6443"], "namespaces": ["shop"], "applyset": "secret/pay",
    });
    let ws = expecting("  applyset: pay");
    configure(&ws, &format!("expect: {expect}"));
    let view = ws.reconcile(["config", "view", "-f", "deploy", "-o", "json"]).exits_with(0);
    let shown: Value = serde_json::from_str(&view.stdout).unwrap();
    assert_eq!(shown["expect"], expect);
    let written = ws.reconcile(["config", "view", "-f", "deploy"]).exits_with(0).stdout;
    ws.write("deploy/.kubectl-reconcile.yaml", &written);
    let again = ws.reconcile(["config", "view", "-f", "deploy"]).exits_with(0).stdout;
    assert_eq!(again, written, "what is shown is a configuration");
}
