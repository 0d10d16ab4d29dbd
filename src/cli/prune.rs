use std::collections::BTreeSet;

use clap::{Args, ValueEnum};

use reconcile_core::plan::deletion::DeletionKind;

/// Flags of `diff` and `apply` for objects that are no longer in the manifests.
#[derive(Debug, Args)]
#[command(next_help_heading = "Apply")]
pub struct PruneArgs {
    /// Delete members of the apply set that are no longer in the manifests, after everything else has succeeded, and with `--wait` once
    /// it is ready
    #[arg(long)]
    pub prune: bool,
    /// Apply set to join and prune, named by its parent object: a Secret, or another kind as in `configmap/NAME`
    #[arg(long, value_name = "[RESOURCE[.GROUP]/]NAME")]
    pub applyset: Option<String>,
    /// Allow deletions that may take away more than was meant; without this flag or a yes to `--confirm`, nothing is deleted if one of
    /// them would be (repeatable)
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    pub prune_allow: Vec<AllowChoice>,
    /// Also delete members that the parent of the apply set does not list, in any namespace; without this flag they are only
    /// shown. Namespaces and CustomResourceDefinitions found this way are never deleted
    #[arg(long)]
    pub applyset_recover: bool,
}

/// `--prune-allow`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AllowChoice {
    /// Namespaces, with everything in them
    Namespaces,
    /// CustomResourceDefinitions, with all objects of their kinds
    Definitions,
    /// Objects in namespaces that neither a manifest nor `--namespace` names
    OtherNamespaces,
    /// More than half of the members of the set, in a run that deletes at least ten
    Most,
}

impl From<AllowChoice> for DeletionKind {
    fn from(choice: AllowChoice) -> Self {
        match choice {
            AllowChoice::Namespaces => Self::Namespaces,
            AllowChoice::Definitions => Self::Definitions,
            AllowChoice::OtherNamespaces => Self::OtherNamespaces,
            AllowChoice::Most => Self::Most,
        }
    }
}

impl PruneArgs {
    /// The kinds of deletions that are allowed.
    pub fn allowed(&self) -> BTreeSet<DeletionKind> {
        self.prune_allow.iter().map(|choice| DeletionKind::from(*choice)).collect()
    }
}
