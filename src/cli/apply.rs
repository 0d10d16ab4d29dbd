use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::compare::{CompareArgs, EvidenceChoice};
use super::connection::ConnectionArgs;
use super::diff::DiffArgs;
use super::input::InputArgs;
use super::output::OutputArgs;
use super::prune::PruneArgs;
use super::shard::ShardArgs;
use super::wait::WaitArgs;

pub(super) const AFTER_HELP: &str = "\
Exit codes (with --dry-run those of `diff`):
  0    everything was applied
  1    the answer to --confirm was no, and nothing was written
  2    invalid flags, configuration or input, and nothing was changed;
       or a report could not be written
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be compared or applied; the others were
  5    applied, but with --wait not everything became ready
  130  interrupted; the report shows what was done

Examples:
  # Apply a directory of manifests; a second run writes nothing
  kubectl reconcile apply -f deploy/

  # Also take fields that other appliers and controllers own
  kubectl reconcile apply -f deploy/ --force-conflicts

  # Wait up to ten minutes until everything is ready
  kubectl reconcile apply -f deploy/ --wait --timeout 10m

  # Apply as an apply set: delete members that are no longer in the manifests
  kubectl reconcile apply -f deploy/ --prune --applyset shop

  # Apply only the manifests with a label
  kubectl reconcile apply -f deploy/ -l app=web";

/// `apply`
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// The flag that selects a shard of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Flags for the comparison
    #[command(flatten)]
    pub compare: CompareArgs,
    /// Flags for objects that are no longer in the manifests
    #[command(flatten)]
    pub prune: PruneArgs,
    /// Only show what would change, like `kubectl reconcile diff` and with its exit codes
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "server",
        conflicts_with = "wait",
        help_heading = "Apply"
    )]
    pub dry_run: Option<DryRunChoice>,
    /// Show what would change, and ask for confirmation on the terminal before writing
    #[arg(long, help_heading = "Apply", conflicts_with = "dry_run")]
    pub confirm: bool,
    /// Do what this plan of `diff --save-plan` says: objects that differ otherwise by now are left alone
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Apply", conflicts_with = "dry_run")]
    pub plan: Option<PathBuf>,
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

/// `--dry-run`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRunChoice {
    /// Ask the server what would change (if no value is given)
    Server,
    /// Never send a PATCH, and compare locally, like `--evidence=read-only`
    Client,
}

impl From<DiffArgs> for ApplyArgs {
    /// `diff --apply` is `apply`.
    fn from(args: DiffArgs) -> Self {
        let DiffArgs { input, shard, compare, prune, confirm, wait, timeout, output, connection, .. } = args;
        let (wait, plan) = (WaitArgs { wait, timeout }, None);
        Self { input, shard, compare, prune, dry_run: None, confirm, plan, wait, output, connection }
    }
}

impl From<ApplyArgs> for DiffArgs {
    /// `apply --dry-run` is `diff`.
    fn from(args: ApplyArgs) -> Self {
        let ApplyArgs { input, shard, mut compare, prune, dry_run, output, connection, .. } = args;
        if dry_run == Some(DryRunChoice::Client) {
            compare.evidence.evidence = EvidenceChoice::ReadOnly;
        }
        let (apply, confirm, wait, exit_zero, suggest_ignores) = (false, false, false, false, false);
        let (timeout, live, report_unmanaged, baseline, save_plan, show_known) = (None, None, None, None, None, false);
        let audit_logs = Vec::new();
        Self {
            input,
            shard,
            compare,
            prune,
            apply,
            confirm,
            wait,
            timeout,
            exit_zero,
            report_unmanaged,
            suggest_ignores,
            live,
            save_plan,
            baseline,
            show_known,
            audit_logs,
            output,
            connection,
        }
    }
}
