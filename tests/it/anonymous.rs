//! Without credentials: what the server tells everybody is used, and what it does not is said to be for lack of credentials.

use std::fs;

use crate::control_plane::{Caller, Workspace};

const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}";

/// Calls as nobody.
fn nobody(ws: &Workspace) -> Caller<'_> {
    let kubeconfig = ws.home().join("anonymous.kubeconfig");
    let text = ws.plane().anonymous_kubeconfig().replace("\"default\"", &format!("\"{}\"", ws.namespace()));
    fs::write(&kubeconfig, text).expect("a kubeconfig");
    ws.env("KUBECONFIG", &kubeconfig.display().to_string())
}

#[test]
fn a_server_that_lets_nobody_in_is_unreachable_for_nobody() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    for command in ["diff", "apply", "status"] {
        let run = nobody(&ws).reconcile([command, "-f", "."]);
        let run = run.exits_with(3);
        assert_eq!(run.report()["verdict"], "unreachable");
        assert!(run.stderr.contains("system:anonymous") && run.stderr.contains("no credentials were sent"), "{run}");
    }
}

#[test]
fn discovery_alone_is_not_enough_and_no_object_is_in_sync() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let flags = ["--clusterrole=system:discovery", "--group=system:unauthenticated"];
    ws.kubectl([&["create", "clusterrolebinding", "$NS-anonymous"][..], &flags].concat()).exits_with(0);
    for command in ["diff", "apply", "status"] {
        let run = nobody(&ws).reconcile([command, "-f", "."]);
        assert!([4, 5].contains(&run.code), "{run}");
        assert!(run.stdout.contains("system:anonymous") && run.stdout.contains("no credentials were sent"), "{run}");
    }
    ws.kubectl(["delete", "clusterrolebinding", "$NS-anonymous"]).exits_with(0);
}
