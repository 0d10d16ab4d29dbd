//! `completion`: scripts that ask the program for candidates, or that are generated from the definition of the command line.

use clap::CommandFactory as _;
use reconcile_report::EXIT_SUCCESS;

use crate::cli::{Cli, CompletionArgs, Script};
use crate::terminal::Terminal;

/// Prints the script. A reader that went away ends the run quietly.
pub(super) fn run(args: &CompletionArgs, terminal: &Terminal) -> u8 {
    let script = match args.shell.script() {
        Script::Dynamic(script) => script.to_owned(),
        Script::Generated(shell) => {
            let mut script = Vec::new();
            let mut command = Cli::command().bin_name("kubectl-reconcile");
            clap_complete::generate(shell, &mut command, "kubectl-reconcile", &mut script);
            String::from_utf8_lossy(&script).into_owned()
        }
    };
    let _ = terminal.data(&script);
    EXIT_SUCCESS
}
