use clap::{Args, ValueHint};

use super::connection::ConnectionArgs;
use super::input::InputArgs;
use super::output::ConsoleArgs;
use super::shard::ShardArgs;

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    the objects were saved; those that do not exist are left out
  2    invalid flags, configuration or input
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be read; the snapshot says which
  130  interrupted; no snapshot was written

Examples:
  # Save the live objects of the manifests, without the values of Secrets
  kubectl reconcile snapshot -f deploy/ > live.yaml

  # Include the values of Secrets, in a file that only its owner can read
  kubectl reconcile snapshot -f deploy/ --include-secrets --file live.yaml";

/// `snapshot`
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// The flag that selects a shard of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Include the values of Secrets; a file written with `--file` is then readable only by its owner
    #[arg(long, help_heading = "Output")]
    pub include_secrets: bool,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub file: Option<String>,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
