use std::ffi::OsString;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};

/// Flags that name what was applied last, which tells on which side a difference changed.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Base")]
pub struct BaseArgs {
    /// Manifests that were applied last, to tell changes of the manifests from changes in the cluster: file, directory, glob or URL, or
    /// `helm` for the deployed releases of the objects (repeatable)
    #[arg(id = "base", long = "base", value_name = "PATH", value_delimiter = ',', value_hint = ValueHint::AnyPath, conflicts_with = "from")]
    pub paths: Vec<OsString>,
    /// The revision of the git repository of the manifests in which they were applied last: the same files as they are there. `auto` is
    /// where the branch began: its merge base with its upstream, or with the default branch of the remote
    #[arg(long, value_name = "REF", value_parser = NonEmptyStringValueParser::new(), conflicts_with_all = ["base", "from"])]
    pub since: Option<String>,
    /// Compare only the objects whose manifests differ from those of the base
    #[arg(long, conflicts_with = "from")]
    pub changed_only: bool,
}

impl BaseArgs {
    /// Returns true if a base is named.
    pub fn is_given(&self) -> bool {
        !self.paths.is_empty() || self.since.is_some()
    }

    /// Returns true if the base is what Helm keeps of the releases of the objects.
    pub fn is_helm(&self) -> bool {
        self.paths.iter().any(|path| path == "helm")
    }
}
