//! Reports and snapshots that go into pipes: those that a shell makes, and those that are found in a folder.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::control_plane::{Workspace, wait_until};
use crate::inputs::config_map;

/// The exit code of a line of bash, in which `reconcile` is the program, and its standard error. A program that hangs fails
/// the test.
#[track_caller]
fn bash(ws: &Workspace, line: &str) -> (i32, String) {
    let function = format!("reconcile() {{ '{}' \"$@\"; }}\n", env!("CARGO_BIN_EXE_kubectl-reconcile"));
    let mut child = Command::new("bash")
        .args(["-c", &(function + line)])
        .current_dir(ws.folder())
        .env("HOME", ws.home())
        .env("KUBECONFIG", ws.stdin("").kubeconfig())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("`{line}` hangs");
        }
        sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn drifted() -> Workspace {
    let ws = Workspace::new();
    ws.write("a.yaml", &config_map("a"));
    ws
}

/// Waits until a reader has written a report, and returns it.
#[track_caller]
fn report(ws: &Workspace, name: &str) -> Value {
    let read = || serde_json::from_slice(&fs::read(ws.folder().join(name)).unwrap_or_default()).ok();
    wait_until("the reader has the report", || read().is_some());
    read().unwrap()
}

#[test]
fn a_shell_can_pass_a_report_on() {
    let ws = drifted();
    assert_eq!(bash(&ws, "reconcile diff -f a.yaml -o json=>(cat >report.json)"), (1, String::new()));
    assert_eq!(report(&ws, "report.json")["verdict"], "drift");
    let (code, said) = bash(&ws, "mkfifo pipe; cat pipe >piped.json & reconcile diff -f a.yaml -o json=pipe");
    assert_eq!((code, said), (1, String::new()));
    assert_eq!(report(&ws, "piped.json")["verdict"], "drift");
    // A reader that comes a moment later is waited for.
    let (code, said) = bash(&ws, "(sleep 1; cat pipe >late.json) & reconcile diff -f a.yaml -o json=pipe");
    assert_eq!((code, said), (1, String::new()));
    assert_eq!(report(&ws, "late.json")["verdict"], "drift");
    assert_eq!(
        bash(&ws, "reconcile diff -f a.yaml -o name=/dev/stdout -o json=/dev/fd/3 3>opened.json"),
        (1, String::new())
    );
    assert_eq!(report(&ws, "opened.json")["verdict"], "drift");
}

#[test]
fn a_pipe_that_nobody_reads_is_an_error() {
    let ws = drifted();
    let (code, said) = bash(&ws, "mkfifo pipe; reconcile diff -f a.yaml -o json=pipe");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("pipe: cannot be written: no program reads from this pipe"), "{said}");
    let (code, said) = bash(&ws, "reconcile snapshot -f a.yaml --file pipe");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no program reads from this pipe"), "{said}");
}

#[test]
fn values_of_secrets_go_into_no_pipe_that_was_found_in_a_folder() {
    let ws = drifted();
    let value = ws.secret("for-no-reader-of-a-pipe");
    let secret = format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{key: {value}}}}}");
    ws.write("secret.yaml", &secret);
    ws.reconcile(["apply", "-f", "secret.yaml"]).exits_with(0);
    let snapshot = "reconcile snapshot -f secret.yaml --include-secrets";
    let (code, said) =
        bash(&ws, &format!("mkfifo pipe; cat pipe >stolen & {snapshot} --file pipe; code=$?; kill $!; exit $code"));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("secret values are written only to regular files and to standard output"), "{said}");
    assert!(!fs::read_to_string(ws.folder().join("stolen")).unwrap_or_default().contains("kind: Secret"));
    for file in [">(cat >passed.yaml)", "/dev/stdout >passed.yaml"] {
        assert_eq!(bash(&ws, &format!("{snapshot} --file {file}")), (0, String::new()));
        let path = ws.folder().join("passed.yaml");
        wait_until("the snapshot is there", || {
            fs::read_to_string(&path).is_ok_and(|text| text.contains("kind: Secret"))
        });
        fs::remove_file(&path).unwrap();
    }
}
