//! `completion`: scripts generated from the definition of the command line.

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionArgs};
use crate::report::EXIT_SUCCESS;
use crate::terminal::{ColorChoice, Terminal};

/// What kubectl runs for `kubectl reconcile <TAB>`: an executable of this name on PATH (kubectl `pkg/cmd/plugin`).
const FOR_KUBECTL: &str = "#!/bin/sh
# kubectl runs this file, as kubectl_complete-reconcile on PATH, for `kubectl reconcile <TAB>`.
exec kubectl-reconcile __complete \"$@\"
";

/// Prints the script. A reader that went away ends the run quietly.
pub(super) fn run(args: &CompletionArgs) -> u8 {
    let script = match args.shell.generator() {
        None => FOR_KUBECTL.to_owned(),
        Some(shell) => {
            let mut script = Vec::new();
            let mut command = Cli::command().bin_name("kubectl-reconcile");
            clap_complete::generate(shell, &mut command, "kubectl-reconcile", &mut script);
            String::from_utf8_lossy(&script).into_owned()
        }
    };
    let _ = Terminal::new(ColorChoice::Never, false).data(&script);
    EXIT_SUCCESS
}
