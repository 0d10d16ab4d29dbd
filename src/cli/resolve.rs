use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::compare::{AutoscalerChoice, EvidenceChoice, ForceChoice, ReplaceChoice};
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
    /// Name of the field manager that applies and owns the fields of the manifests
    #[arg(long, value_name = "NAME", default_value = "kubectl-reconcile", value_parser = NonEmptyStringValueParser::new(), help_heading = "Compare")]
    pub field_manager: String,
    /// Method to determine drift: prove it from the live object and ask the server only when needed (auto), always ask (server),
    /// or never send a PATCH and compare locally (read-only)
    #[arg(long, value_name = "MODE", default_value = "auto", help_heading = "Compare")]
    pub evidence: EvidenceChoice,
    /// Treatment of fields that an autoscaler changes: leave them alone (respect), or treat them like all other fields (ignore)
    #[arg(long, value_name = "MODE", default_value = "respect", help_heading = "Compare")]
    pub autoscalers: AutoscalerChoice,
    /// Which fields to take from other managers: manual changes (`manual`), all, or none; without a value, all
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_value = "manual",
          default_missing_value = "all", help_heading = "Apply")]
    pub force_conflicts: ForceChoice,
    /// Action when an immutable field differs: report it, or delete and recreate the object
    #[arg(long, value_name = "WHEN", default_value = "never", help_heading = "Apply")]
    pub replace: ReplaceChoice,
    /// Create the namespaces of `--namespace` and of the manifests that do not exist
    #[arg(long, help_heading = "Apply")]
    pub create_namespace: bool,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
