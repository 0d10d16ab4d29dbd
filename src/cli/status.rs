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
    /// Which manifests to read
    #[command(flatten)]
    pub input: InputArgs,
    /// Which shard of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Whether to wait for readiness
    #[command(flatten)]
    pub wait: WaitArgs,
    /// How to show the result
    #[command(flatten)]
    pub output: OutputArgs,
    /// How to reach the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
