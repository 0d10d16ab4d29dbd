//! From the flags to the server: whose kubeconfig, as whom, how long, and what is said when there is no way.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::{Relay, Workspace, wait_until};

const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}";

fn with_settings() -> Workspace {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws
}

/// The kubeconfig of a user, changed.
fn kubeconfig(ws: &Workspace, user: &str, change: impl Fn(&mut Value)) -> String {
    let path = ws.as_user(user).kubeconfig();
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut config);
    fs::write(&path, config.to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn the_flag_wins_over_the_variable_and_the_variable_is_a_list() {
    let ws = with_settings();
    let good = kubeconfig(&ws, "admin", |_| {});
    let other = kubeconfig(&ws, "limited", |config| config["contexts"][0]["name"] = json!("second"));
    ws.env("KUBECONFIG", "/nowhere").reconcile(["diff", "-f", ".", "--kubeconfig", &good]).exits_with(1);
    // A file of the list that is missing is skipped, and the first context stands.
    let list = format!("/nowhere:{good}:{other}");
    ws.env("KUBECONFIG", &list).reconcile(["diff", "-f", "."]).exits_with(1);
    let run = ws.env("KUBECONFIG", &list).reconcile(["diff", "-f", ".", "--context=second"]).exits_with(4);
    assert!(run.stdout.contains("User \"limited\" cannot"), "{run}");
    let missing = ws.env("KUBECONFIG", &list).reconcile(["diff", "-f", ".", "--context=third"]).exits_with(2);
    assert!(missing.stderr.contains("second") && missing.stderr.contains("tests"), "{missing}");
    let kubectl = ws.env("KUBECONFIG", &list).kubectl(["config", "current-context"]).exits_with(0);
    assert_eq!(kubectl.stdout.trim(), "tests");
}

#[test]
fn the_default_kubeconfig_is_in_the_home_folder() {
    let ws = with_settings();
    let path = kubeconfig(&ws, "admin", |_| {});
    fs::create_dir(ws.home().join(".kube")).unwrap();
    fs::copy(path, ws.home().join(".kube/config")).unwrap();
    ws.env("KUBECONFIG", "").reconcile(["diff", "-f", "."]).exits_with(1);
}

#[test]
fn impersonation_asks_as_somebody_else() {
    let ws = with_settings();
    let (run, requests) = ws.requests_during(|| ws.reconcile(["diff", "-f", ".", "--as=limited"]).exits_with(4));
    assert!(
        run.object("ConfigMap", "settings")["error"]["message"].as_str().unwrap().contains("User \"limited\""),
        "{run}"
    );
    assert!(!requests.is_empty());
    ws.allow("limited", "get,list,patch,create", "configmaps");
    ws.reconcile(["diff", "-f", ".", "--as=limited", "--as-group=people"]).exits_with(1);
}

#[test]
fn server_and_token_are_enough_without_a_kubeconfig() {
    let ws = with_settings();
    ws.allow("editor", "get,list,patch,create", "configmaps");
    let token = kubeconfig(&ws, "editor", |_| {});
    let token: Value = serde_json::from_str(&fs::read_to_string(token).unwrap()).unwrap();
    let token = token["users"][0]["user"]["token"].as_str().unwrap();
    let bare = ["diff", "-f", ".", "-n", "$NS", "--server", ws.plane().url(), "--token", token];
    let nowhere = || ws.env("KUBECONFIG", "/nowhere");
    let untrusted = nowhere().reconcile(bare).exits_with(3);
    assert!(untrusted.stderr.contains("certificate signed by unknown authority"), "{untrusted}");
    let insecure = [&bare[..], &["--insecure-skip-tls-verify"]].concat();
    nowhere().reconcile(&insecure).exits_with(1);
    // As in an image that has no certificates.
    let bare_image = || nowhere().env("SSL_CERT_FILE", "/nowhere").env("SSL_CERT_DIR", "/nowhere");
    assert!(bare_image().reconcile(bare).exits_with(2).stderr.contains("the certificates cannot be used"));
    bare_image().reconcile(&insecure).exits_with(1);
}

#[test]
fn a_credential_plugin_is_run_once_and_leaves_standard_input_alone() {
    let ws = Workspace::new();
    ws.allow("editor", "get,list,patch,create", "configmaps");
    let plugin = ws.home().join("plugin");
    let script = "#!/bin/sh\ncat >>\"$HOME/eaten\"\necho run >>\"$HOME/runs\"\n\
        echo '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {\"token\": \"bearer-token-of-editor\"}}'\n";
    fs::write(&plugin, script).unwrap();
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).unwrap();
    let command = plugin.display().to_string();
    let config = kubeconfig(&ws, "editor", |config| {
        config["users"][0]["user"] = json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": command, "interactiveMode": "IfAvailable",
        }});
    });
    let caller = ws.stdin(SETTINGS).env("KUBECONFIG", &config);
    caller.reconcile(["apply", "-f", "-"]).exits_with(0);
    assert_eq!(fs::read_to_string(ws.home().join("runs")).unwrap(), "run\n");
    assert_eq!(fs::read_to_string(ws.home().join("eaten")).unwrap(), "");
    assert_eq!(ws.get("ConfigMap", "settings")["data"]["a"], "b");
}

#[test]
fn a_credential_plugin_that_fails_is_named() {
    let ws = with_settings();
    let config = |command: &str| {
        kubeconfig(&ws, "editor", |config| {
            config["users"][0]["user"] = json!({"exec": {
                "apiVersion": "client.authentication.k8s.io/v1", "command": command, "interactiveMode": "Never",
                "installHint": "brew install the-plugin",
            }});
        })
    };
    let missing = ws.reconcile(["diff", "-f", ".", "--kubeconfig", &config("no-such-plugin")]);
    assert_eq!(missing.code, 2, "{missing}");
    assert!(missing.stderr.contains("no-such-plugin") && missing.stderr.contains("brew install"), "{missing}");
    let failing = ws.reconcile(["diff", "-f", ".", "--kubeconfig", &config("false")]).exits_with(3);
    assert!(failing.stderr.contains("false"), "{failing}");
}

/// A person who has to log in may take minutes. Ctrl-C on a terminal ends the plugin as well, also before it ends us.
#[test]
fn an_interrupt_ends_a_credential_plugin_and_is_no_missing_cluster() {
    let ws = with_settings();
    let plugin = ws.home().join("plugin");
    for interrupted in ["exec sleep 60", "kill -INT $PPID; kill -INT $$"] {
        let started = ws.home().join("started");
        fs::write(&plugin, format!("#!/bin/sh\ntouch {}\n{interrupted}\n", started.display())).unwrap();
        fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).unwrap();
        let config = kubeconfig(&ws, "editor", |config| {
            config["users"][0]["user"] = json!({"exec": {
                "apiVersion": "client.authentication.k8s.io/v1", "command": plugin, "interactiveMode": "Never",
            }});
        });
        let apply = ws.start_reconcile(["apply", "-f", ".", "--kubeconfig", &config]);
        wait_until("the plugin runs", || started.exists());
        if interrupted.starts_with("exec") {
            apply.interrupt();
        }
        let run = apply.finish().exits_with(130);
        assert_eq!(run.report()["verdict"], "interrupted", "{run}");
        fs::remove_file(started).unwrap();
    }
    assert_eq!(ws.find("ConfigMap", "settings"), None);
}

#[test]
fn wrong_credentials_are_no_missing_cluster_and_no_forbidden_objects() {
    let ws = with_settings();
    let config = kubeconfig(&ws, "editor", |config| config["users"][0]["user"]["token"] = json!("made-up"));
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", ".", "--kubeconfig", &config]).exits_with(3);
        assert!(run.stderr.contains(ws.plane().url()) && run.stderr.contains("Unauthorized"), "{run}");
        assert_eq!(run.report()["verdict"], "unreachable");
        assert_eq!(run.report()["objects"], json!([]));
    }
}

#[test]
fn a_cluster_that_is_down_is_named_with_the_cause() {
    let ws = with_settings();
    for command in ["diff", "apply"] {
        let started = Instant::now();
        let run = ws.through("https://127.0.0.1:1").reconcile([command, "-f", "."]).exits_with(3);
        assert!(started.elapsed() < Duration::from_secs(30));
        for text in ["https://127.0.0.1:1", "connection refused", "hint: "] {
            assert!(run.stderr.contains(text), "{run}");
        }
        assert_eq!(run.stderr.matches("error: ").count(), 1, "{run}");
    }
    // Reports say the same, and name the cluster.
    let diff = ["diff", "-f", ".", "-o", "text=report.txt", "-o", "prometheus"];
    let run = ws.through("https://127.0.0.1:1").reconcile(diff).exits_with(3);
    let cluster = &run.report()["cluster"];
    assert_eq!(cluster["server"], "https://127.0.0.1:1", "{run}");
    assert!(run.stdout.contains(&format!("context={}", cluster["context"])), "{run}");
    let text = fs::read_to_string(ws.folder().join("report.txt")).unwrap();
    assert!(text.contains("connection refused") && text.contains("context ") && !text.contains("in sync"), "{text}");
    let run = ws.through("https://no-such-host.invalid:6443").reconcile(["diff", "-f", "."]).exits_with(3);
    assert!(run.stderr.contains("no-such-host.invalid"), "{run}");
}

#[test]
fn a_certificate_that_does_not_fit_is_named() {
    let ws = with_settings();
    let other = rcgen::generate_simple_self_signed(["elsewhere".to_owned()]).unwrap().cert.pem();
    let file = ws.write("other.crt", &other).display().to_string();
    let untrusting = kubeconfig(&ws, "admin", |config| {
        let cluster = config["clusters"][0]["cluster"].as_object_mut().unwrap();
        cluster.remove("certificate-authority-data");
        cluster.insert("certificate-authority".to_owned(), json!(file));
    });
    let run = ws.reconcile(["diff", "-f", "settings.yaml", "--kubeconfig", &untrusting]).exits_with(3);
    assert!(run.stderr.contains("certificate signed by unknown authority"), "{run}");
    assert!(run.stderr.contains(ws.plane().url()) && run.stderr.contains("hint: "), "{run}");
    let run = ws.reconcile(["diff", "-f", "settings.yaml", "--tls-server-name=elsewhere"]).exits_with(3);
    assert!(run.stderr.contains("not for `elsewhere`"), "{run}");
    ws.reconcile(["diff", "-f", "settings.yaml", "--tls-server-name=localhost"]).exits_with(1);
    let plain = ws.plane().url().replace("https:", "http:");
    let run = ws.reconcile(["diff", "-f", "settings.yaml", "--server", &plain]);
    assert_eq!(run.code, 3, "{run}");
}

#[test]
fn a_distant_server_is_only_slow() {
    let ws = with_settings();
    let relay = Relay::new(ws.plane().url(), Duration::from_millis(50));
    ws.through(&relay.url()).reconcile(["apply", "-f", ".", "--request-timeout=10s"]).exits_with(0);
    ws.through(&relay.url()).reconcile(["diff", "-f", "."]).exits_with(0);
    let hurried = ws.through(&relay.url()).reconcile(["diff", "-f", ".", "--request-timeout=20ms"]).exits_with(3);
    assert!(hurried.stderr.contains(&relay.url()), "{hurried}");
}

#[test]
fn kubectl_runs_the_plugin() {
    let ws = with_settings();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_kubectl-reconcile")).parent().unwrap().display().to_string();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap_or_default());
    let run = ws.env("PATH", &path).kubectl(["reconcile", "diff", "-f", "."]).exits_with(1);
    assert!(run.stdout.contains("ConfigMap"), "{run}");
    ws.env("PATH", &path).kubectl(["reconcile", "apply", "-f", "."]).exits_with(0);
    ws.env("PATH", &path).kubectl(["reconcile", "diff", "-f", "."]).exits_with(0);
}

#[test]
fn what_logs_in_is_never_shown_in_a_url() {
    let ws = Workspace::new();
    let password = ws.secret("in-the-address-of-the-server");
    ws.write("new.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}");
    let server = ws.plane().url().replace("https://", &format!("https://admin:{password}@"));
    let diff = ws.through(&server).reconcile(["diff", "-f", ".", "-v", "9"]).exits_with(1);
    assert_eq!(diff.report()["cluster"]["server"], ws.plane().url());
    assert!(diff.stderr.contains("are not used"), "{diff}");
    let question = ws.through(&server).stdin("n\n").on_terminal().reconcile(["apply", "-f", ".", "--confirm"]);
    assert!(question.exits_with(1).stderr.contains(ws.plane().url()));
    for server in ["https://admin:$PW@127.0.0.1:1", "ftp://admin:$PW@x", "https://admin:$PW@", "https://a:/$PW@x"] {
        let run = ws.through(&server.replace("$PW", &password)).reconcile(["diff", "-f", ".", "-v", "9"]);
        assert!(run.code == 2 || run.code == 3, "{run}");
    }
    for url in [
        "http://127.0.0.1:1/x.yaml?private_token=$PW",
        "http://me:$PW@127.0.0.1:1/x",
        "http://127.0.0.1:1/x#$PW",
        "HTTPS://me:$PW@x/y",
    ] {
        let run = ws.reconcile(["diff", "-f", &url.replace("$PW", &password), "--live", "/dev/null"]).exits_with(2);
        assert!(!run.stderr.is_empty());
    }
}
