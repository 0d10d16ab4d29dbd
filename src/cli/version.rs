use clap::{Args, ValueEnum};

use super::connection::ConnectionArgs;
use super::output::ConsoleArgs;

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    the versions were shown; a server that was not tested is a warning
  2    invalid flags or kubeconfig
  3    the cluster cannot be reached, or rejected the credentials
  130  interrupted

Examples:
  # Show the versions of the plugin and of the server, and whether they were tested together
  kubectl reconcile version

  # Only the version of the plugin, without a cluster
  kubectl reconcile version --client

  # In a script
  kubectl reconcile version -o json";

/// `version`
#[derive(Debug, Args)]
pub struct VersionArgs {
    /// Show only the version of the plugin, and contact no cluster
    #[arg(long, help_heading = "Output")]
    pub client: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub output: VersionFormat,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// `version --output`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VersionFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For programs and people
    Yaml,
}
