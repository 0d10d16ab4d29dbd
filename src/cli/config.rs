use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::output::ConsoleArgs;

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

/// Flags that choose the configuration.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Configuration file to use instead of `.kubectl-reconcile.yaml` next to the manifests, above them in the same repository, or
    /// in the working directory
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Use no configuration file, and ignore no fields that manifests name in annotations
    #[arg(long)]
    pub no_config: bool,
}

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
