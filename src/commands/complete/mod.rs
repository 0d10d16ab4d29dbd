//! `__complete`: candidates for the word under the cursor, in the form that kubectl expects of a plugin: a line each with
//! a description behind a tab, and last a directive (cobra's `ShellCompDirective`).

pub(crate) mod candidates;
mod lookup;

use std::time::Duration;

use clap::{Args, Command};
use reconcile_report::EXIT_SUCCESS;
use tokio::runtime::Handle;

use self::candidates::{Completion, Known, complete, connection_of, printed};
use self::lookup::looked_up;
use crate::terminal::Terminal;

/// `__complete`
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The words after `kubectl reconcile`, with the incomplete one last
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// The longest wait for candidates: for the cluster, and for a kubeconfig on a file system that does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Prints the candidates. A reader that went away ends the run quietly.
pub(super) async fn run(args: CompleteArgs, program: Command, terminal: &Terminal) -> u8 {
    // Files are read on a thread of their own: a file system that does not answer must not delay the shell.
    let runtime = Handle::current();
    let candidates = tokio::task::spawn_blocking(move || runtime.block_on(candidates(&program, args.words)));
    let completion = match tokio::time::timeout(PATIENCE, candidates).await {
        Ok(Ok(completion)) => completion,
        Ok(Err(_)) | Err(_) => Completion::default(),
    };
    let _ = terminal.data(&printed(&completion));
    EXIT_SUCCESS
}

/// Completes once to find the sources of the values, and again with their values.
async fn candidates(program: &Command, words: Vec<String>) -> Completion {
    let first = complete(program, &words, &Known::new());
    if first.sources.is_empty() {
        return first;
    }
    let known = looked_up(program, &first.sources, connection_of(program, &words), &words).await;
    complete(program, &words, &known)
}
