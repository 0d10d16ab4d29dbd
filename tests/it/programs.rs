//! Programs that are started: never one from the working directory, where somebody else's files may be.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A working directory with a kustomization, and programs in it that leave a trace.
fn hostile() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["kustomize", "kubectl", "login"] {
        program(&folder.path().join(name), "touch ran");
    }
    fs::write(folder.path().join("kustomization.yaml"), "resources: []\n").unwrap();
    folder
}

fn program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn reconcile(folder: &Path, path: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-reconcile"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("HOME", folder)
        .output()
        .unwrap()
}

/// The only error of a report on standard output.
fn error(output: &Output) -> Value {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors = report["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{report}");
    errors[0].clone()
}

#[test]
fn kustomize_is_not_run_from_the_working_directory() {
    let folder = hostile();
    for (path, entry) in [("/nowhere:", "."), (".", "."), (":/nowhere", "."), ("../x:./", "./")] {
        let output = reconcile(folder.path(), path, &["diff", "-k", ".", "-o", "json"]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        let message = format!(
            "`kustomize` cannot be run: PATH leads to it only through the relative folder `{entry}`, and no program is run from there"
        );
        assert_eq!(error(&output)["message"], message, "{path}");
        assert!(!folder.path().join("ran").exists(), "{path}");
    }
}

#[test]
fn kustomize_is_taken_from_an_absolute_folder_behind_a_relative_one() {
    let folder = hostile();
    let programs = tempfile::tempdir().unwrap();
    let object = "echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}'";
    program(&programs.path().join("kustomize"), object);
    fs::write(folder.path().join("live.yaml"), "").unwrap();
    let path = format!(".:{}", programs.path().display());
    let output = reconcile(folder.path(), &path, &["diff", "-k", ".", "--live", "live.yaml", "-o", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["objects"][0]["name"], "a", "{report}");
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn credential_plugins_are_not_run_from_the_working_directory() {
    let folder = hostile();
    let kubeconfig = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n\
        clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\nusers:\n- name: u\n  user:\n    exec:\n      \
        command: login\n      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n";
    fs::write(folder.path().join("config"), kubeconfig).unwrap();
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}";
    fs::write(folder.path().join("a.yaml"), manifest).unwrap();
    let arguments = ["diff", "-f", "a.yaml", "--kubeconfig", "config", "-o", "json"];
    let output = reconcile(folder.path(), "/nowhere:", &arguments);
    let error = error(&output);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains(
            "the credential plugin `login` cannot be started: PATH leads to it through the relative folder `.`"
        ),
        "{message}"
    );
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(!folder.path().join("ran").exists());
}
