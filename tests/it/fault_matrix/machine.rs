//! The own machine in trouble: a disk that is full, a home that cannot be written, streams that are closed.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::control_plane::Workspace;

const IT: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {v: old}}";

/// Runs our program in a shell, which sets the trouble up: `$RUN` is the program with its arguments.
pub fn in_shell(ws: &Workspace, script: &str, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_kubectl-reconcile");
    let line = script.replace("$RUN", &format!("{program} {}", arguments.join(" ")));
    let mut command = Command::new("bash");
    command
        .args(["-c", &line])
        .current_dir(ws.folder())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", ws.home())
        .env("KUBECONFIG", ws.as_user("admin").kubeconfig())
        .stdin(Stdio::null());
    let output = command.output().expect("a shell");
    assert_eq!(output.status.signal(), None, "{line}: {output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{line}: {output:?}");
    output
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn with_drift() -> Workspace {
    let ws = Workspace::new();
    ws.write("it.yaml", IT);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {v: new}}");
    ws
}

#[test]
fn closed_streams_change_no_exit_code_and_lose_no_report() {
    let ws = with_drift();
    let report = ws.folder().join("report.json");
    for stream in [">&-", "2>&-", ">&- 2>&-", "0<&- >&- 2>&-", "2>/dev/full", "| true; exit ${PIPESTATUS[0]}"] {
        for format in ["text", "json"] {
            let flags = ["diff", "-f", "it.yaml", "-o", format, "-o", "json=report.json"];
            let output = in_shell(&ws, &format!("$RUN {stream}"), &flags[..if format == "json" { 5 } else { 7 }]);
            assert_eq!(code(&output), 1, "{stream} {format}: {output:?}");
        }
        let output = in_shell(&ws, &format!("$RUN {stream}"), &["apply", "-f", "it.yaml", "-o", "json=report.json"]);
        assert_eq!(code(&output), 0, "{stream}: {output:?}");
        let written: serde_json::Value =
            serde_json::from_slice(&fs::read(&report).expect("a report")).expect("a report");
        assert_eq!(written["objects"][0]["outcome"], "updated", "{stream}");
        fs::remove_file(&report).expect("a report");
        assert_eq!(ws.get("ConfigMap", "it")["data"]["v"], "new");
        ws.apply_as("kubectl-reconcile", IT);
    }
}

#[test]
fn what_cannot_be_printed_is_an_error() {
    let ws = with_drift();
    for format in ["text", "json"] {
        let output = in_shell(&ws, "$RUN >/dev/full", &["diff", "-f", "it.yaml", "-o", format]);
        assert_eq!(code(&output), 2, "{output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(stderr, "error: standard output cannot be written: no space left on device\n");
    }
    let output = in_shell(&ws, "$RUN >/dev/full", &["apply", "-f", "it.yaml", "-o", "json=report.json"]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert_eq!(ws.get("ConfigMap", "it")["data"]["v"], "new", "the work is done all the same");
    assert!(ws.folder().join("report.json").exists());
    let output = in_shell(&ws, "$RUN >/dev/full 2>&1", &["diff", "-f", "it.yaml"]);
    assert_eq!(code(&output), 2, "{output:?}");
}

#[test]
fn a_report_on_a_full_disk_is_an_error_and_no_half_a_file() {
    let ws = with_drift();
    let output = in_shell(&ws, "$RUN", &["diff", "-f", "it.yaml", "-o", "json=/dev/full"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(stderr.contains("/dev/full") && stderr.contains("no space left on device"), "{stderr}");
    // No more than this many blocks in a file, and no signal about it: what a quota or a full disk does.
    let limited = "trap '' XFSZ; ulimit -f 0; $RUN";
    fs::write(ws.folder().join("report.json"), "the former report").expect("a file");
    let output = in_shell(&ws, limited, &["diff", "-f", "it.yaml", "-o", "json=report.json"]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("report.json"), "{output:?}");
    assert_eq!(fs::read_to_string(ws.folder().join("report.json")).expect("the file"), "the former report");
    let output = in_shell(&ws, limited, &["snapshot", "-f", "it.yaml", "--file", "live.yaml"]);
    assert_eq!(code(&output), 2, "{output:?}");
    let names = || fs::read_dir(ws.folder()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names().map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, ["it.yaml", "report.json"], "no draft is left");
}

#[test]
fn without_a_home_to_write_to_nothing_is_kept_and_all_is_well() {
    let ws = with_drift();
    ws.define("Gauge", "properties: {size: {type: integer}}");
    ws.write("gauge.yaml", "{apiVersion: $NS.example.com/v1, kind: Gauge, metadata: {name: a}, spec: {size: 1}}");
    let sealed: PathBuf = ws.home().join("sealed");
    fs::write(&sealed, "a file").expect("a file");
    for home in ["/proc/1/nowhere", "/dev/null", &sealed.display().to_string(), "", "relative"] {
        let output = in_shell(&ws, &format!("HOME={home} $RUN"), &["diff", "-f", "it.yaml", "-f", "gauge.yaml"]);
        assert_eq!(code(&output), 1, "{home}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{home}");
    }
    let limited = in_shell(&ws, "trap '' XFSZ; ulimit -f 0; $RUN", &["diff", "-f", "it.yaml", "-f", "gauge.yaml"]);
    assert_eq!(code(&limited), 1, "{limited:?}");
    let kept = ws.home().join(".kube/cache/kubectl-reconcile");
    let files = fs::read_dir(kept).into_iter().flatten().count();
    assert!(files <= 1, "no half of a table is kept");
    let limits = "ulimit -n 24; $RUN";
    let few = in_shell(&ws, limits, &["diff", "-f", "it.yaml", "-f", "gauge.yaml"]);
    assert!([1, 2, 3, 4].contains(&code(&few)), "{few:?}");
}
