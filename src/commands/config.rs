//! `config`: the configuration in force, and its JSON Schema.

use jiff::Timestamp;
use reconcile_report::EXIT_SUCCESS;
use reconcile_report::Role;

use crate::cli::{ConfigCommand, ConfigCommandArgs, ConfigViewArgs, ViewFormat};
use crate::config::{Configuration, View, schema, typed_inputs};
use crate::session::failure::Failure;
use crate::terminal::Terminal;

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) fn run(args: &ConfigCommandArgs, terminal: &Terminal) -> Result<u8, Failure> {
    let _ = match &args.command {
        ConfigCommand::View(args) => terminal.data(&view(args, terminal)?),
        ConfigCommand::Schema => terminal.data(&schema()),
    };
    Ok(EXIT_SUCCESS)
}

fn view(args: &ConfigViewArgs, terminal: &Terminal) -> Result<String, Failure> {
    let configuration = Configuration::load(&args.config, &typed_inputs(&args.filename, args.kustomize.as_ref()))?;
    for warning in &configuration.warnings {
        terminal.note(Role::Note, &format!("warning: {warning}"));
    }
    let view = View { configuration: &configuration, now: Timestamp::now() };
    Ok(match args.output {
        ViewFormat::Yaml => view.yaml(),
        ViewFormat::Json => view.json(),
    })
}
