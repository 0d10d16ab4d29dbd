use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::compare::CompareArgs;
use super::connection::ConnectionArgs;
use super::input::InputArgs;
use super::output::OutputArgs;
use super::prune::PruneArgs;
use super::shard::ShardArgs;
use super::wait::WaitTimeout;

pub(super) const AFTER_HELP: &str = "\
Exit codes (with --apply those of `apply`):
  0    in sync (with --exit-zero also when there is drift)
  1    drift found
  2    invalid flags, configuration or input, and nothing was compared;
       or a report could not be written
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be compared; the others were
  130  interrupted

Examples:
  # Compare a directory of manifests with the cluster
  kubectl reconcile diff -f deploy/

  # Compare the output of another tool
  helm template shop ./chart | kubectl reconcile diff -f -

  # In a pipeline: read subdirectories too, and also write a JSON report
  kubectl reconcile diff -f deploy/ -R -o json=report.json

  # Also show the members of an apply set that pruning would delete
  kubectl reconcile diff -f deploy/ --prune --applyset shop

  # In one of four runs that share the work: compare a quarter of the objects
  kubectl reconcile diff -f deploy/ --shard 0/4 -o json=shard-0.json

  # Print a configuration that ignores the current differences, to be reviewed and committed
  kubectl reconcile diff -f deploy/ --suggest-ignores > suggested.yaml

  # Name the users who changed fields and deleted objects, from the audit log of the API server
  kubectl reconcile diff -f deploy/ --audit-log audit.log

  # Compare without a cluster, with objects saved by `kubectl reconcile snapshot`
  kubectl reconcile diff -f deploy/ --live live.yaml";

/// `diff`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "a flag is typed or not")]
pub struct DiffArgs {
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
    /// Apply the differences, like `kubectl reconcile apply`
    #[arg(long, help_heading = "Apply")]
    pub apply: bool,
    /// With `--apply`: ask for confirmation on the terminal before writing
    #[arg(long, help_heading = "Apply", requires = "apply")]
    pub confirm: bool,
    /// With `--apply`: wait until all objects are ready
    #[arg(long, requires = "apply", help_heading = "Apply")]
    pub wait: bool,
    /// With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]
    #[arg(long, value_name = "DURATION", requires = "wait", help_heading = "Apply")]
    pub timeout: Option<WaitTimeout>,
    /// Exit with 0 even if there is drift
    #[arg(long, help_heading = "Output", conflicts_with = "fail_on")]
    pub exit_zero: bool,
    /// Also report objects of these namespaces that no manifest, owner or apply set explains; without a value, of the namespaces of
    /// the manifests
    #[arg(long, value_name = "NAMESPACE,…", num_args = 0..=1, require_equals = true, value_delimiter = ',', help_heading = "Compare",
          conflicts_with_all = ["live", "selector", "apply"])]
    pub report_unmanaged: Option<Vec<String>>,
    /// Print, instead of the differences, a configuration with ignore rules that hide exactly them
    #[arg(long, help_heading = "Output", conflicts_with_all = ["apply", "quiet"])]
    pub suggest_ignores: bool,
    /// Compare with the objects in this file instead of a cluster; an empty file means that no object exists
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Compare", conflicts_with = "apply")]
    pub live: Option<String>,
    /// Write the differences into this file as a plan, which `apply --plan` follows
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output",
          conflicts_with_all = ["apply", "live", "suggest_ignores"])]
    pub save_plan: Option<PathBuf>,
    /// Fail only for differences that this JSON report of an earlier `diff` does not have, and show only those
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Compare", conflicts_with = "apply")]
    pub baseline: Option<PathBuf>,
    /// With `--baseline`: also show the differences that it has
    #[arg(long, help_heading = "Compare", requires = "baseline")]
    pub show_known: bool,
    /// Name the users behind field managers, and those who deleted objects, from this audit log of the API server: JSON lines, also
    /// compressed with gzip (repeatable)
    #[arg(long = "audit-log", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Compare", conflicts_with = "apply")]
    pub audit_logs: Vec<PathBuf>,
    /// Flags for the output
    #[command(flatten)]
    pub output: OutputArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
