//! `version`: the versions of the program and the server, and whether they were tested together.

use clap::{Args, ValueEnum};
use reconcile_core::text::yaml_in_order;
use reconcile_report::Failure;
use reconcile_report::formats::json as as_json;
use reconcile_report::version::VersionReport;

use crate::cli::{ConnectOptions, ConsoleArgs};
use crate::output::Output;
use crate::run::connection::asked_version;
use crate::terminal::Terminal;

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
    pub connection: ConnectOptions,
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

/// The commit that the program was built from, where the build names it: a release does, so that it can be built again.
const COMMIT: Option<&str> = option_env!("KUBECTL_RECONCILE_COMMIT");

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &VersionArgs, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let client = VersionReport::of_client(COMMIT);
    let report = if args.client {
        client
    } else {
        match asked_version(&args.connection, output).await {
            Ok(cluster) => client.beside(cluster),
            Err(failure) => client.without_server(failure),
        }
    };
    output.print_report(&report.errors, |terminal| match args.output {
        VersionFormat::Text => terminal.text(&report.text()),
        VersionFormat::Json => terminal.data(&as_json::document(&report)),
        VersionFormat::Yaml => terminal.document(&yaml_in_order(&report)),
    });
    Ok(report.exit_code)
}
