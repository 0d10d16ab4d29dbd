//! `__complete`: candidates for the word under the cursor, in the form that kubectl expects of a plugin: a line each with
//! a description behind a tab, and last a directive (cobra's `ShellCompDirective`).

use std::time::Duration;

use reconcile_report::EXIT_SUCCESS;
use tokio::runtime::Handle;

use crate::cli::CompleteArgs;
use crate::cli::candidates::{Completion, Known, complete, connection_of, printed};
use crate::session::lookup::looked_up;
use crate::terminal::Terminal;

/// The longest wait for candidates: for the cluster, and for a kubeconfig on a file system that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Prints the candidates. A reader that went away ends the run quietly.
pub(super) async fn run(args: CompleteArgs, terminal: &Terminal) -> u8 {
    // Files are read on a thread of their own: a file system that does not answer must not delay the shell.
    let runtime = Handle::current();
    let candidates = tokio::task::spawn_blocking(move || runtime.block_on(candidates(args.words)));
    let completion = match tokio::time::timeout(PATIENCE, candidates).await {
        Ok(Ok(completion)) => completion,
        Ok(Err(_)) | Err(_) => Completion::default(),
    };
    let _ = terminal.data(&printed(&completion));
    EXIT_SUCCESS
}

/// Completes once to find the sources of the values, and again with their values.
async fn candidates(words: Vec<String>) -> Completion {
    let first = complete(&words, &Known::new());
    if first.sources.is_empty() {
        return first;
    }
    let known = looked_up(&first.sources, connection_of(&words), &words).await;
    complete(&words, &known)
}
