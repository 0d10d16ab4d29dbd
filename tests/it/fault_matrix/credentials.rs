//! Credentials that end half-way, and answers that would lead them elsewhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::oracle::{ended_well, held, is_truthful};
use super::passes::{ARGUMENTS, Pass, REQUESTS};
use crate::control_plane::scripted::{Server, ok};
use crate::control_plane::{Fault, Proxy, Workspace};

fn expired() -> Fault {
    let refusal =
        r#"{"kind": "Status", "status": "Failure", "reason": "Unauthorized", "code": 401, "message": "expired"}"#;
    Fault::Answer(401, Vec::new(), refusal.to_owned())
}

/// A kubeconfig that leads to a proxy with these credentials.
fn kubeconfig(ws: &Workspace, proxy: &Proxy, user: &Value) -> String {
    let path = ws.as_user("editor").kubeconfig();
    let mut config: Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("a kubeconfig")).expect("a kubeconfig");
    config["clusters"][0]["cluster"]["server"] = proxy.url().into();
    config["users"][0]["user"] = user.clone();
    fs::write(&path, config.to_string()).expect("a kubeconfig");
    path.display().to_string()
}

#[test]
fn a_token_that_expires_is_renewed_anywhere() {
    let mut pass = Pass::new();
    pass.ws.allow("editor", "*", "*.*");
    let plugin = pass.ws.home().join("plugin");
    let script = "#!/bin/sh\necho run >>\"$HOME/runs\"\n\
        echo '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {\"token\": \"bearer-token-of-editor\"}}'\n";
    fs::write(&plugin, script).expect("a plugin");
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).expect("a plugin");
    for (method, pattern) in REQUESTS {
        pass.advance();
        let proxy = Proxy::new(&pass.ws);
        let exec =
            json!({"apiVersion": "client.authentication.k8s.io/v1", "command": plugin, "interactiveMode": "Never"});
        let kubeconfig = kubeconfig(&pass.ws, &proxy, &json!({"exec": exec}));
        let _ = fs::remove_file(pass.ws.home().join("runs"));
        proxy.inject(1, method, pattern, expired());
        let run = pass.ws.env("KUBECONFIG", &kubeconfig).reconcile(ARGUMENTS).exits_with(0);
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{method} {pattern}: {run}");
        assert_eq!(fs::read_to_string(pass.ws.home().join("runs")).unwrap_or_default(), "run\nrun\n", "{run}");
        is_truthful(pattern, &run, &pass.wanted(), &held(&pass.ws));
    }
}

#[test]
fn a_token_file_that_is_rotated_half_way_is_read_again() {
    let mut pass = Pass::new();
    for user in ["editor", "reader"] {
        pass.ws.allow(user, "*", "*.*");
    }
    let file = pass.ws.home().join("token");
    for (method, pattern) in REQUESTS.into_iter().filter(|(_, pattern)| *pattern != "/apis") {
        pass.advance();
        fs::write(&file, "bearer-token-of-reader\n").expect("a token file");
        let proxy = Proxy::new(&pass.ws);
        let kubeconfig = kubeconfig(&pass.ws, &proxy, &json!({"tokenFile": file}));
        let rotated = file.clone();
        let rotate = move || fs::write(&rotated, "bearer-token-of-editor\n").expect("a token file");
        proxy.inject(1, method, pattern, Fault::AfterThat(Arc::new(rotate), Box::new(expired())));
        let caller = pass.ws.env("KUBECONFIG", &kubeconfig);
        let (run, requests) = pass.ws.requests_during(|| caller.reconcile(ARGUMENTS).exits_with(0));
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{method} {pattern}: {run}");
        is_truthful(pattern, &run, &pass.wanted(), &held(&pass.ws));
        assert!(requests.iter().any(|request| request.user == "editor"), "{method} {pattern}: {run}");
    }
    // A file that holds the same token still is no reason to try again.
    pass.advance();
    let proxy = Proxy::new(&pass.ws);
    let kubeconfig = kubeconfig(&pass.ws, &proxy, &json!({"tokenFile": file}));
    proxy.inject(99, "PATCH", "configmaps/ !dryRun", expired());
    let run = pass.ws.env("KUBECONFIG", &kubeconfig).reconcile(ARGUMENTS);
    ended_well("the same token", &run);
    is_truthful("the same token", &run, &pass.wanted(), &held(&pass.ws));
    assert!(run.stderr.contains("refused the credentials") || run.stdout.contains("refused the credentials"), "{run}");
    pass.finishes("the same token");
}

#[test]
fn no_redirection_takes_credentials_elsewhere() {
    let runtime = Runtime::new().expect("a runtime");
    let elsewhere = runtime.block_on(Server::start(|_, _| ok()));
    let mut pass = Pass::new();
    pass.ws.allow("editor", "*", "*.*");
    // Each request is led to another server, and to another path of the same one, by one of the codes in turn.
    let ways = [true, false].into_iter().flat_map(|is_elsewhere| REQUESTS.map(|request| (is_elsewhere, request)));
    for ((is_elsewhere, (method, pattern)), code) in ways.zip([301, 302, 307, 308, 303].into_iter().cycle()) {
        let what = format!("{code} for {method} {pattern}");
        pass.advance();
        let proxy = Proxy::new(&pass.ws);
        let host = if is_elsewhere { format!("http://{}", elsewhere.address()) } else { proxy.url() };
        let headers = vec![("Location", format!("{host}/login"))];
        proxy.inject(2, method, pattern, Fault::Answer(code, headers, String::new()));
        let run = pass.ws.as_user("editor").through(&proxy.url()).reconcile(ARGUMENTS);
        ended_well(&what, &run);
        is_truthful(&what, &run, &pass.wanted(), &held(&pass.ws));
        assert!(!proxy.requests().iter().any(|request| request.contains("/login")), "{what}: {run}");
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{what}: {run}");
    }
    assert_eq!(elsewhere.lines(), Vec::<String>::new());
    pass.finishes("redirections");
}
