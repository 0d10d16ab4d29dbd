use clap::Args;

use super::connection::ConnectionArgs;
use super::input::InputArgs;
use super::output::OutputArgs;
use super::shard::ShardArgs;
use super::wait::WaitArgs;

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    all objects are ready
  2    invalid flags or input
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be read
  5    at least one object is not ready
  130  interrupted

Examples:
  # Show whether everything in the manifests is ready
  kubectl reconcile status -f deploy/

  # Wait up to two minutes until it is
  kubectl reconcile status -f deploy/ --wait --timeout 2m";

/// `status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// The flag that selects a shard of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Flags for waiting until objects are ready
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Flags for the output
    #[command(flatten)]
    pub output: OutputArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
