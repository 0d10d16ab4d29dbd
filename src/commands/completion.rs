//! `completion`: scripts generated from the definition of the command line.

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionArgs};
use crate::report::{EXIT_CLEAN, EXIT_INVALID};
use crate::terminal::{ColorChoice, Terminal};

/// Prints the script.
pub(super) fn run(args: &CompletionArgs) -> u8 {
    let mut script = Vec::new();
    if let Some(shell) = args.shell.generator() {
        clap_complete::generate(
            shell,
            &mut Cli::command().bin_name("kubectl-reconcile"),
            "kubectl-reconcile",
            &mut script,
        );
    }
    let terminal = Terminal::new(ColorChoice::Never, false);
    match terminal.data(&String::from_utf8_lossy(&script)) {
        Ok(()) => EXIT_CLEAN,
        Err(_) => EXIT_INVALID,
    }
}
