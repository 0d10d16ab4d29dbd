use clap::Args;

use super::{ConnectionArgs, ConsoleArgs, InputArgs, ShardArgs};

pub(super) const AFTER_HELP: &str = "\
Examples:
  # Save the live objects of the manifests, without the values of Secrets
  kubectl reconcile snapshot -f deploy/ > live.yaml

  # Include the values of Secrets, in a file that only its owner can read
  kubectl reconcile snapshot -f deploy/ --include-secrets --file live.yaml";

/// `snapshot`
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// Which manifests to read
    #[command(flatten)]
    pub input: InputArgs,
    /// Which part of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Include the values of Secrets; a file written with `--file` is then readable only by its owner
    #[arg(long)]
    pub include_secrets: bool,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// How to reach the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
