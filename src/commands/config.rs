//! `config`: the configuration in force, and its JSON Schema.

use std::ffi::OsString;

use clap::{Args, Command, Subcommand, ValueEnum, ValueHint};
use jiff::Timestamp;
use reconcile_report::{EXIT_SUCCESS, Failure};

use crate::cli::{ConfigArgs, ConsoleArgs};
use crate::config::{Configuration, View, schema, typed_inputs};
use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    the configuration or its schema was shown
  2    invalid flags or configuration

Examples:
  # Show which configuration a run over these manifests would use, and its settings
  kubectl reconcile config view -f deploy/

  # Let an editor check the configuration
  kubectl reconcile config schema > kubectl-reconcile.schema.json";

const AFTER_HELP_OF_VIEW: &str = "\
Exit codes:
  0    the configuration was shown, even if there is none
  2    invalid flags or configuration

Examples:
  # The configuration in force for these manifests, and the file that it comes from
  kubectl reconcile config view -f deploy/

  # For a script: the file, and the location of each rule
  kubectl reconcile config view -f deploy/ -o json";

const AFTER_HELP_OF_SCHEMA: &str = "\
Exit codes:
  0    the schema was printed
  2    invalid flags, or the schema could not be printed

Examples:
  # For an editor: name the file in `# yaml-language-server: $schema=...`
  kubectl reconcile config schema > kubectl-reconcile.schema.json";

/// `config`
#[derive(Debug, Args)]
pub struct ConfigCommandArgs {
    /// The command
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// The commands of `config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show the configuration in force and where it comes from
    #[command(after_long_help = AFTER_HELP_OF_VIEW)]
    View(ConfigViewArgs),
    /// Print the JSON Schema of the configuration
    #[command(after_long_help = AFTER_HELP_OF_SCHEMA)]
    Schema,
}

/// `config view`
#[derive(Debug, Args)]
pub struct ConfigViewArgs {
    /// File, directory or glob whose configuration to show (repeatable) [default: the working directory]
    #[arg(short, long = "filename", value_name = "PATH", value_delimiter = ',', value_hint = ValueHint::AnyPath, help_heading = "Input")]
    pub filename: Vec<OsString>,
    /// Kustomization directory whose configuration to show
    #[arg(short = 'k', long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "filename", help_heading = "Input")]
    pub kustomize: Option<OsString>,
    /// Flags that choose the configuration
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml", help_heading = "Output")]
    pub output: ViewFormat,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
}

/// `config view --output`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ViewFormat {
    /// YAML, with where it comes from in comments
    Yaml,
    /// JSON, with `file` and the location of each rule
    Json,
}

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) fn run(args: &ConfigCommandArgs, program: &Command, terminal: &Terminal) -> Result<u8, Failure> {
    let _ = match &args.command {
        ConfigCommand::View(args) => terminal.data(&view(args, program, terminal)?),
        ConfigCommand::Schema => terminal.data(&schema(program)),
    };
    Ok(EXIT_SUCCESS)
}

fn view(args: &ConfigViewArgs, program: &Command, terminal: &Terminal) -> Result<String, Failure> {
    let configuration =
        Configuration::load(program, &args.config, &typed_inputs(&args.filename, args.kustomize.as_ref()))?;
    terminal.warn(&configuration.warnings);
    let view = View { configuration: &configuration, now: Timestamp::now() };
    Ok(match args.output {
        ViewFormat::Yaml => view.yaml(),
        ViewFormat::Json => view.json(),
    })
}
