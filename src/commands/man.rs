//! `man`: manual pages generated from the definition of the command line.

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::cli::{Cli, ManArgs};
use crate::report::EXIT_SUCCESS;
use crate::session::failure::Failure;
use crate::session::output::tell;
use crate::terminal::{ColorChoice, Terminal};

/// Prints the page. A reader that went away ends the run quietly.
pub(super) fn run(args: &ManArgs) -> u8 {
    let terminal = Terminal::new(ColorChoice::Never, false);
    match page(args) {
        Ok(page) => {
            let _ = terminal.data(&page);
            EXIT_SUCCESS
        }
        Err(error) => {
            let failure = Failure::from(error);
            tell(&terminal, &failure.problems);
            failure.verdict.exit_code(false)
        }
    }
}

fn page(args: &ManArgs) -> anyhow::Result<String> {
    let program = Cli::command().name("kubectl-reconcile").bin_name("kubectl reconcile");
    let command = match &args.command {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).filter(|command| !command.is_hide_set());
            let command = found.with_context(|| format!("there is no command `{name}`"))?.clone();
            command.display_name(format!("kubectl-reconcile-{name}")).bin_name(format!("kubectl reconcile {name}"))
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).context("the manual page cannot be made")?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
