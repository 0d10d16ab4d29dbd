use clap::Args;

use reconcile_core::object::Shard;

/// The flag for one of several runs that share the objects of the same manifests.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct ShardArgs {
    /// Take only shard I of N of the objects, with I from 0, such as `0/4`; all N runs read the same manifests, and `report merge`
    /// joins their reports
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
}
