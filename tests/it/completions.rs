//! The completion scripts in `completions/` are those that the program prints, and kubectl completes through them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::control_plane::Workspace;

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

#[test]
fn kubectl_completes_commands_flags_and_contexts() {
    let ws = Workspace::new();
    let folder = ws.folder();
    std::os::unix::fs::symlink(PROGRAM, folder.join("kubectl-reconcile")).expect("a link to the program");
    let script = folder.join("kubectl_complete-reconcile");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/kubectl_complete-reconcile"), &script).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let complete = |words: &[&str]| {
        let words = ["__complete", "reconcile"].iter().chain(words);
        ws.env("PATH", &path).kubectl(words.copied()).exits_with(0).stdout
    };

    assert!(complete(&["di"]).starts_with("diff\t"));
    assert!(complete(&["apply", "--force"]).starts_with("--force-conflicts\t"));
    assert!(complete(&["diff", "--evidence", "read"]).starts_with("read-only\t"));
    let contexts = complete(&["diff", "--context", ""]);
    let current = ws.kubectl(["config", "current-context"]).exits_with(0).stdout;
    assert!(contexts.contains(current.trim()), "{contexts}");
}
