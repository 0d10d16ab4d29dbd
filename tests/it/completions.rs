//! The completion scripts in `completions/` are those that the program prints, and kubectl completes through them.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::control_plane::{Run, Workspace, wait_until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-reconcile");

/// Each script, and the shell that it is for.
const SCRIPTS: [(&str, &str); 6] = [
    ("_kubectl-reconcile", "zsh"),
    ("_kubectl-reconcile.ps1", "powershell"),
    ("kubectl-reconcile.bash", "bash"),
    ("kubectl-reconcile.elv", "elvish"),
    ("kubectl-reconcile.fish", "fish"),
    ("kubectl_complete-reconcile", "kubectl"),
];

/// `UPDATE_COMPLETIONS=1 cargo test --test it completions` rewrites them.
#[test]
fn completion_scripts_are_those_that_the_program_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    for (file, shell) in SCRIPTS {
        let printed = Command::new(PROGRAM).args(["completion", shell]).output().expect("the program runs").stdout;
        if std::env::var_os("UPDATE_COMPLETIONS").is_some() {
            fs::write(folder.join(file), &printed).expect("the script is written");
        }
        let kept = fs::read(folder.join(file)).expect("the script");
        assert!(kept == printed, "{file} is out of date: run `UPDATE_COMPLETIONS=1 cargo test --test it completions`");
    }
}

/// Puts the program and what kubectl runs for it into a folder, and returns a `PATH` that begins with it.
pub fn installed(folder: &Path) -> String {
    symlink(PROGRAM, folder.join("kubectl-reconcile")).expect("a link to the program");
    let script = folder.join("kubectl_complete-reconcile");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/kubectl_complete-reconcile"), &script).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

/// What `kubectl __complete reconcile …` prints.
fn through_kubectl(ws: &Workspace, path: &str, words: &[&str]) -> Run {
    let words = ["__complete", "reconcile"].iter().chain(words);
    ws.env("PATH", path).kubectl(words.copied()).exits_with(0)
}

#[test]
fn kubectl_completes_commands_flags_and_values() {
    let ws = Workspace::new();
    let path = installed(&ws.folder());
    let complete = |words: &[&str]| through_kubectl(&ws, &path, words).stdout;

    assert!(complete(&["di"]).starts_with("diff\t"));
    assert!(complete(&["apply", "--force"]).starts_with("--force-conflicts\t"));
    assert!(complete(&["diff", "--evidence", "read"]).starts_with("read-only\t"));
    assert!(complete(&["diff", "--evidence=read"]).starts_with("read-only\t"), "the shells put the flag before it");
    assert!(complete(&["diff", "--fail-on", "drift,manu"]).starts_with("drift,manual\t"));
    assert_eq!(complete(&["diff", "-f", ""]).trim(), ":0");
    assert_eq!(complete(&["diff", "-k", ""]).trim(), ":16");
    let contexts = complete(&["diff", "--context", ""]);
    let current = ws.kubectl(["config", "current-context"]).exits_with(0).stdout;
    assert!(contexts.contains(current.trim()), "{contexts}");
}

#[test]
fn kubectl_completes_what_the_cluster_has() {
    let ws = Workspace::new();
    let path = installed(&ws.folder());
    let complete = |words: &[&str]| through_kubectl(&ws, &path, words).stdout;
    ws.write("web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n");
    ws.reconcile(["apply", "-f", "web.yaml", "--prune", "--applyset", "shop"]).exits_with(0);
    ws.reconcile(["apply", "-f", "web.yaml", "--prune", "--applyset", "configmap/shop"]).exits_with(4);
    ws.apply_as("team-tool", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: b}\n");

    let namespace = ws.namespace().to_owned();
    let all_but_last = &ws.namespace()[..ws.namespace().len() - 1];
    // A server that is slow to answer is not waited for.
    let completes = |words: &[&str], expected: &str| {
        let has_it = || complete(words).lines().any(|line| line == expected);
        wait_until(&format!("{words:?} is completed with {expected}"), has_it);
    };
    completes(&["diff", "-n", all_but_last], &namespace);
    completes(&["diff", "--report-unmanaged=kube-"], "kube-system");
    completes(&["apply", "--prune", "--applyset", ""], "shop");
    let adopted = || complete(&["apply", "--adopt", "helm,team"]);
    wait_until("the other manager is completed first", || adopted().lines().next() == Some("helm,team-tool"));
    completes(&["apply", "--field-manager", ""], "team-tool");
    completes(&["apply", "--field-manager", ""], "kubectl-reconcile");
    // Of another namespace, named before.
    assert!(!complete(&["apply", "-n", "default", "--applyset", ""]).contains("shop"));
}

/// Whatever is wrong with the cluster or the kubeconfig, a person who presses TAB sees no error, and does not wait for long.
#[test]
fn completion_is_quiet_and_bounded_without_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = |server: &str, user: &str| {
        format!(
            "{{apiVersion: v1, kind: Config, current-context: c, clusters: [{{name: c, cluster: {{server: '{server}'}}}}], \
             users: [{{name: u, user: {user}}}], contexts: [{{name: c, context: {{cluster: c, user: u, namespace: of-context}}}}]}}"
        )
    };
    let plugin = folder.path().join("login");
    fs::write(&plugin, "#!/bin/sh\necho 'Please log in' >&2\nsleep 60\n").unwrap();
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).unwrap();
    let exec = format!(
        "{{exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: '{}'}}}}",
        plugin.display()
    );
    let address = silent.local_addr().unwrap();
    let cases = [
        ("silent", config(&format!("https://{address}"), "{}"), true),
        ("closed", config(&format!("https://{closed}"), "{}"), true),
        ("plugin", config(&format!("https://{address}"), &exec), true),
        ("broken", "{".to_owned(), false),
        ("missing", String::new(), false),
    ];
    for (name, text, has_names) in cases {
        let file = folder.path().join(name);
        if name != "missing" {
            fs::write(&file, text).unwrap();
        }
        let started = Instant::now();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/kubectl_complete-reconcile");
        let output = Command::new("sh")
            .arg(script)
            .args(["diff", "--kubeconfig"])
            .arg(&file)
            .args(["--namespace", ""])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", Path::new(PROGRAM).parent().unwrap().display()))
            .env("HOME", folder.path())
            .output()
            .unwrap();
        let took = started.elapsed();
        assert!(took < Duration::from_secs(30), "{name}: {took:?}");
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
        let expected = if has_names { "of-context\n:4\n" } else { ":4\n" };
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}");
    }
}

/// Words that are typed in any state never end in an error.
#[test]
fn no_words_are_an_error() {
    for words in [
        &[][..],
        &[""],
        &["--"],
        &["diff", "--", ""],
        &["nonsense", "x", "-"],
        &["diff", "--nonsense=", "--also", ""],
        &["config", "view", "-o"],
        &["diff", "\u{1b}[2J"],
        &["man", ""],
        &["__complete", "__complete", ""],
    ] {
        let output =
            Command::new(PROGRAM).arg("__complete").args(words).env("KUBECONFIG", "/nowhere").output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{words:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().last().unwrap().starts_with(':'), "{words:?}: {text}");
    }
}
