use clap::Args;

/// Flags of `diff` and `apply` for objects that are no longer in the manifests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Apply")]
pub struct PruneArgs {
    /// Delete members of the apply set that are no longer in the manifests, after everything else has succeeded
    #[arg(long)]
    pub prune: bool,
    /// Apply set to join and prune, named by its parent object: a Secret, or another kind as in `configmap/NAME`
    #[arg(long, value_name = "[RESOURCE[.GROUP]/]NAME")]
    pub applyset: Option<String>,
    /// Also delete members that the parent of the apply set does not list, in any namespace; without this flag they are only
    /// shown. Namespaces and CustomResourceDefinitions found this way are never deleted
    #[arg(long)]
    pub applyset_recover: bool,
}
