//! `status` of objects that the command line names. What readiness means is tested in [`crate::wait`].

use serde_json::{Value, json};

use crate::control_plane::Workspace;
use crate::manifests::WEB;

#[test]
fn objects_are_named_as_kubectl_takes_them() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.kubectl(["create", "configmap", "settings", "--from-literal=a=b"]).exits_with(0);

    let ready = ws.reconcile(["status", "cm/settings"]).exits_with(0);
    assert!(ready.stdout.contains(&ws.fill_in("ConfigMap $NS/settings")), "{ready}");
    let by_manifest = ws.reconcile(["status", "-f", "web.yaml"]).exits_with(5);
    for words in [&["status", "deploy/web"][..], &["status", "deployments", "web"], &["status", "Deployment.apps/web"]]
    {
        assert_eq!(ws.reconcile(words).exits_with(5).stdout, by_manifest.stdout, "{words:?}");
    }
    let several = ws.reconcile(["status", "deploy/web", "cm/settings", "-o", "json"]).exits_with(5);
    let report: Value = serde_json::from_str(&several.stdout).unwrap();
    assert_eq!((&report["command"], report["objects"].as_array().unwrap().len()), (&json!("status"), 2), "{several}");
    assert_eq!(report["objects"][0]["source"]["file"], "command line", "{several}");
    let github = ws.reconcile(["status", "deploy/web", "-o", "github"]).exits_with(5);
    assert!(!github.stdout.contains("file="), "there is no file to annotate: {github}");
}

#[test]
fn what_does_not_exist_and_what_is_no_object_are_told() {
    let ws = Workspace::new();
    let gone = ws.reconcile(["status", "deploy/gone"]).exits_with(5);
    assert!(gone.stdout.contains("gone"), "{gone}");
    for (words, said) in [
        (&["status"][..], "-f, --filename <PATH> | -k, --kustomize <DIR> | --from <SOURCE> | <TYPE/NAME>"),
        (&["status", "deploy"], "`deploy` names no object"),
        (&["status", "deploymnt/web"], "did you mean `deployments`?"),
        (&["status", "deploy/web", "-f", "x.yaml"], "cannot be used with"),
    ] {
        let run = ws.reconcile(words).exits_with(2);
        assert!(run.stderr.contains(said) && run.stdout.is_empty(), "{run}");
    }
}

#[test]
fn hints_name_the_flags_that_the_command_has() {
    let ws = Workspace::new();
    for (command, has_live) in [("diff", true), ("blame", true), ("apply", false), ("status", false), ("pull", false)] {
        ws.write("web.yaml", WEB);
        let kubeconfig = ws.folder().join("none").display().to_string();
        let run = ws.as_user("admin").env("KUBECONFIG", &kubeconfig).env("HOME", "/nonexistent");
        let run = run.reconcile([command, "-f", "web.yaml"]);
        assert!(run.stderr.contains("no cluster is configured"), "{run}");
        assert_eq!(run.stderr.contains("--live"), has_live, "{run}");
    }
}
