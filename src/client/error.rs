//! Diagnostics about a kubeconfig and the files that it names, with hints.

use std::path::{Path, PathBuf};

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::{io_reason, listed, one_line, similar};

/// The message if there is no kubeconfig and no `--server`, and this process runs in no pod.
pub(crate) const NO_CLUSTER: &str = "no cluster is configured: there is no kubeconfig and `--server` is not given";

/// The number of names that a hint lists.
const NAMES_SHOWN: usize = 10;

/// The diagnostic if there is no kubeconfig and no `--server`, and this process runs in no pod.
pub(super) fn no_cluster(looked_at: &[PathBuf]) -> Diagnostic {
    Diagnostic::general(NO_CLUSTER)
        .with_hint(format!("name a kubeconfig with `--kubeconfig` or `KUBECONFIG` (looked at {})", files(looked_at)))
}

/// The diagnostic if the context names no cluster, and no flag does.
pub(super) fn context_without_cluster(context: &str, looked_at: &[PathBuf]) -> Diagnostic {
    Diagnostic::general(format!("context `{}` names no cluster", one_line(context, 253)))
        .with_hint(format!("set its `cluster` in {}, or give `--cluster` or `--server`", files(looked_at)))
}

/// The diagnostic if this process runs in a pod that has no token, and nothing else names a cluster.
pub(super) fn no_token(file: &Path) -> Diagnostic {
    let message =
        format!("there is no kubeconfig, and this pod has no token for its cluster: `{}` is missing", file.display());
    Diagnostic::general(message).with_hint(
        "give the pod a service account with `automountServiceAccountToken: true`, or name a kubeconfig with \
         `--kubeconfig` or `KUBECONFIG`",
    )
}

/// The diagnostic if the kubeconfig has contexts, and none of them is the current one.
pub(super) fn no_current_context(contexts: &[&str], looked_at: &[PathBuf]) -> Diagnostic {
    let names = listed(contexts.iter().copied(), NAMES_SHOWN);
    Diagnostic::general(format!("the kubeconfig has no current context ({})", files(looked_at)))
        .with_hint(format!("name one with `--context`: {names}"))
}

/// The diagnostic if the kubeconfig has no such context, cluster or user. The hint lists the `existing` ones.
pub(super) fn not_found(what: &str, name: &str, existing: &[String], looked_at: &[PathBuf]) -> Diagnostic {
    let hint = if existing.is_empty() {
        format!("there is no {what} in {}", files(looked_at))
    } else {
        let names = listed(existing.iter().map(String::as_str), NAMES_SHOWN);
        let meant = similar(name, existing.iter().map(String::as_str));
        let meant = meant.map(|meant| format!("did you mean `{}`? ", one_line(meant, 253))).unwrap_or_default();
        format!("{meant}{} in {}: {names}", plural(what, existing.len()), files(looked_at))
    };
    Diagnostic::general(format!("{what} `{name}` does not exist in the kubeconfig")).with_hint(hint)
}

/// The diagnostic if a file that the kubeconfig or a flag names cannot be read. `what` is `certificate authority`,
/// `client certificate`, `client key` or `token file`.
pub(super) fn unreadable(what: &str, path: &Path, source: &std::io::Error) -> Diagnostic {
    Diagnostic::general(format!("cannot read the {what} `{}`: {}", path.display(), io_reason(source)))
}

fn plural(what: &str, count: usize) -> String {
    if count == 1 { format!("the only {what}") } else { format!("the {what}s") }
}

pub(super) fn files(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "no file".to_owned();
    }
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    listed(paths.iter().map(String::as_str), NAMES_SHOWN)
}

/// Reads a file that the kubeconfig names; `what` names it in the error.
pub(crate) fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    std::fs::read(path).map_err(|source| unreadable(what, path, &source))
}
