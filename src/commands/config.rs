//! `config`: the configuration in force, and its JSON Schema.

use jiff::Timestamp;

use crate::cli::{ConfigCommand, ConfigCommandArgs, ConfigViewArgs, ViewFormat};
use crate::config::{Configuration, View, schema, typed_inputs};
use crate::report::EXIT_SUCCESS;
use crate::report::Role;
use crate::session::output::tell;
use crate::terminal::{ColorChoice, Terminal};

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) fn run(args: &ConfigCommandArgs) -> u8 {
    match &args.command {
        ConfigCommand::View(args) => view(args),
        ConfigCommand::Schema => {
            let _ = Terminal::new(ColorChoice::Never, false).data(&schema());
            EXIT_SUCCESS
        }
    }
}

fn view(args: &ConfigViewArgs) -> u8 {
    let terminal = Terminal::themed(args.console.color, args.console.theme, false);
    match Configuration::load(&args.config, &typed_inputs(&args.filename, args.kustomize.as_ref())) {
        Ok(configuration) => {
            for warning in &configuration.warnings {
                terminal.note(Role::Note, &format!("warning: {warning}"));
            }
            let view = View { configuration: &configuration, now: Timestamp::now() };
            let _ = terminal.data(&match args.output {
                ViewFormat::Yaml => view.yaml(),
                ViewFormat::Json => view.json(),
            });
            EXIT_SUCCESS
        }
        Err(failure) => {
            tell(&terminal, &failure.problems);
            failure.verdict.exit_code(false)
        }
    }
}
