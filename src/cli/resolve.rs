use clap::Args;

use super::compare::{EvidenceArgs, WritingArgs};
use super::connection::ConnectionArgs;
use super::input::InputArgs;
use super::output::ConsoleArgs;

pub(super) const AFTER_HELP: &str = "\
Each question is about one difference; one that several objects have in common comes once. The answers: apply it to the cluster, \
pull it into the manifest, ignore it from now on by a rule in the configuration, or skip it. Nothing is written before the last \
question, which shows the changes of files and of the cluster. Files are written first. `resolve` deletes nothing that is no longer in \
the manifests.

Exit codes:
  0    everything was resolved, or nothing differs
  1    something was skipped; or nothing was changed, because the user quit or the last answer was no
  2    invalid flags, configuration or input, or there is no terminal to ask on
  3    the cluster cannot be reached, or rejected the credentials
  4    some of it could not be written, compared or applied; the rest was
  130  interrupted; before the last question, nothing was changed

Examples:
  # Decide about each difference between a directory of manifests and the cluster
  kubectl reconcile resolve -f deploy/

  # Offer to take fields from other appliers and controllers, too
  kubectl reconcile resolve -f deploy/ --force-conflicts";

/// `resolve`
#[derive(Debug, Args)]
pub struct ResolveArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Flags of the comparison
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    /// Flags that decide what is written
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
