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
}
