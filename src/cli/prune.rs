use clap::Args;

/// Flags of `diff` and `apply` on what no manifest names any more.
#[derive(Debug, Args)]
#[command(next_help_heading = "Act")]
pub struct PruneArgs {
    /// Delete the members of the apply set that no manifest names any more, once the pass is complete
    #[arg(long)]
    pub prune: bool,
    /// Apply set to join and to prune, by its parent: a Secret, or as in `configmap/NAME` an object of another kind
    #[arg(long, value_name = "[RESOURCE[.GROUP]/]NAME")]
    pub applyset: Option<String>,
    /// Also delete members that the parent of the apply set does not list, wherever in the cluster they are: without this
    /// flag they are only shown. Namespaces and CustomResourceDefinitions found that way are never deleted
    #[arg(long)]
    pub applyset_recover: bool,
}
