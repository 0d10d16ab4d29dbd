//! What can be typed: clap types only. What it means is decided in [`crate::commands`].

mod connection;
mod input;
mod output;
mod prune;
mod wait;

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use connection::ConnectionArgs;
pub use input::{InputArgs, ValidateLevel};
pub use output::{Format, OutputArgs, OutputTarget};
pub use prune::PruneArgs;
pub use wait::{WaitArgs, WaitTimeout};

/// Shows what differs between manifests and a cluster, field by field, and applies it in one idempotent pass
#[derive(Debug, Parser)]
#[command(name = "kubectl-reconcile", bin_name = "kubectl reconcile", version, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what differs; exit 1 when something does
    #[command(after_long_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Make the cluster as the manifests say, in one pass that can be repeated
    #[command(after_long_help = APPLY_EXAMPLES)]
    Apply(ApplyArgs),
    /// Show how far the live objects are on their way to being ready; exit 5 when one isn't
    #[command(after_long_help = STATUS_EXAMPLES)]
    Status(StatusArgs),
    /// Capture the live objects for an offline `diff --live FILE`
    #[command(after_long_help = SNAPSHOT_EXAMPLES)]
    Snapshot(SnapshotArgs),
    /// Print a completion script
    #[command(after_long_help = COMPLETION_EXAMPLES)]
    Completion(CompletionArgs),
    /// Print the manual page, of one command or of the whole program
    Man(ManArgs),
    /// Answer what kubectl asks for `kubectl reconcile <TAB>`: candidates, a line each
    #[command(name = "__complete", hide = true, disable_help_flag = true)]
    Complete(CompleteArgs),
}

const DIFF_EXAMPLES: &str = "\
Examples:
  # What differs between a folder of manifests and the cluster?
  kubectl reconcile diff -f deploy/

  # The same for the output of another tool
  helm template shop ./chart | kubectl reconcile diff -f -

  # For a pipeline: 0 in sync, 1 drift, 2 bad input, 3 no cluster, 4 not everything could be compared
  kubectl reconcile diff -f deploy/ -R -o json=report.json

  # What would be deleted, too: members of the apply set that no manifest names any more
  kubectl reconcile diff -f deploy/ --prune --applyset shop

  # Without a cluster, against captured objects
  kubectl reconcile diff -f deploy/ --live live.yaml";

const APPLY_EXAMPLES: &str = "\
Examples:
  # One pass; a second one sends no write
  kubectl reconcile apply -f deploy/

  # Also take back what other appliers and controllers own
  kubectl reconcile apply -f deploy/ --force-conflicts

  # Wait until everything is ready, for ten minutes at most; exit 5 when something isn't
  kubectl reconcile apply -f deploy/ --wait --timeout 10m

  # As an apply set: what is not in the folder any more is deleted
  kubectl reconcile apply -f deploy/ --prune --applyset shop

  # Only what carries a label
  kubectl reconcile apply -f deploy/ -l app=web";

const STATUS_EXAMPLES: &str = "\
Examples:
  # Is what the manifests describe up and running?
  kubectl reconcile status -f deploy/

  # Wait for it
  kubectl reconcile status -f deploy/ --wait --timeout 2m";

const SNAPSHOT_EXAMPLES: &str = "\
Examples:
  # Capture what the manifests name; values of Secrets are left out
  kubectl reconcile snapshot -f deploy/ > live.yaml

  # With the values of Secrets, into a file that only its owner can read
  kubectl reconcile snapshot -f deploy/ --include-secrets --file live.yaml";

const COMPLETION_EXAMPLES: &str = "\
Examples:
  # For this shell
  source <(kubectl reconcile completion bash)

  # For `kubectl reconcile <TAB>`: kubectl runs this file from PATH
  kubectl reconcile completion kubectl > ~/.local/bin/kubectl_complete-reconcile
  chmod +x ~/.local/bin/kubectl_complete-reconcile";

/// `diff`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "a flag is typed or not")]
pub struct DiffArgs {
    /// Which manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// How they are compared
    #[command(flatten)]
    pub compare: CompareArgs,
    /// What becomes of objects that aren't in them any more
    #[command(flatten)]
    pub prune: PruneArgs,
    /// Apply the difference, as `apply` does
    #[arg(long, help_heading = "Act")]
    pub apply: bool,
    /// With `--apply`: ask on the terminal before anything is written
    #[arg(long, help_heading = "Act", requires = "apply")]
    pub confirm: bool,
    /// With `--apply`: wait until everything is ready
    #[arg(long, requires = "apply", help_heading = "Act")]
    pub wait: bool,
    /// With `--wait`: for this long at most, such as `90s` or `10m`; `0` looks once [default: 5m]
    #[arg(long, value_name = "TIME", requires = "wait", help_heading = "Act")]
    pub timeout: Option<WaitTimeout>,
    /// Exit 0 although there is drift
    #[arg(long, help_heading = "Output")]
    pub exit_zero: bool,
    /// Compare with the objects captured in this file instead of a cluster (an empty file: nothing exists)
    #[arg(long, value_name = "FILE", help_heading = "Compare", conflicts_with = "apply")]
    pub live: Option<String>,
    /// How the result is shown
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// `apply`
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Which manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// How they are compared
    #[command(flatten)]
    pub compare: CompareArgs,
    /// What becomes of objects that aren't in them any more
    #[command(flatten)]
    pub prune: PruneArgs,
    /// Only show what would be done, as `diff` does and with its exit codes
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "server",
        conflicts_with = "wait",
        help_heading = "Act"
    )]
    pub dry_run: Option<DryRun>,
    /// Show what would be done, and ask on the terminal before anything is written
    #[arg(long, help_heading = "Act", conflicts_with = "dry_run")]
    pub confirm: bool,
    /// Whether it waits
    #[command(flatten)]
    pub wait: WaitArgs,
    /// How the result is shown
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// `--dry-run`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// Ask the server what would happen
    Server,
    /// Ask nothing, and compare here what can't be proven, as `--evidence=read-only` does
    Client,
}

/// Flags of `diff` and `apply` on what counts as a difference and whose it is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Compare")]
pub struct CompareArgs {
    /// Name under which fields are owned
    #[arg(long, value_name = "NAME", default_value = "kubectl-reconcile")]
    pub field_manager: String,
    /// How a verdict is come by: prove, else ask the server (auto); ask for every object (server); never send a PATCH,
    /// and compare here what can't be proven (read-only)
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub evidence: EvidenceChoice,
    /// Show fields that others added, too
    #[arg(long)]
    pub show_unmanaged: bool,
    /// Count it as drift when values are equal and only not all of them are recorded as ours
    #[arg(long)]
    pub strict_ownership: bool,
    /// What may be taken from other owners: what hands changed, everything (also when no value is given), or nothing
    #[arg(long, value_name = "WHOSE", num_args = 0..=1, require_equals = true, default_value = "manual",
          default_missing_value = "all", help_heading = "Act")]
    pub force_conflicts: ForceChoice,
    /// What is done where a field that can't be changed differs: nothing, or the object is deleted and created anew
    #[arg(long, value_name = "WHEN", default_value = "never", help_heading = "Act")]
    pub replace: ReplaceChoice,
    /// Field managers whose claims on the fields of the manifests pass to us, such as `helm,kubectl`; apply sets that these
    /// tools keep are continued
    #[arg(long, value_name = "MANAGER,…", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), help_heading = "Act")]
    pub adopt: Vec<String>,
    /// Configuration instead of the `.kubectl-reconcile.yaml` beside the manifests or in the working directory
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// `--evidence`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvidenceChoice {
    /// Prove; where that fails, ask; where that isn't possible, compare here
    Auto,
    /// Ask the server about every object
    Server,
    /// Never send a PATCH
    ReadOnly,
}

/// `--force-conflicts`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ForceChoice {
    /// What kubectl and its commands changed
    Manual,
    /// Whatever other appliers and controllers own, too
    All,
    /// Nothing
    None,
}

/// `--replace`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplaceChoice {
    /// Tell, and leave the object alone
    Never,
    /// Delete the object and create it anew
    Immutable,
}

/// `status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Which manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Whether it waits
    #[command(flatten)]
    pub wait: WaitArgs,
    /// How the result is shown
    #[command(flatten)]
    pub output: OutputArgs,
    /// Which cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// `snapshot`
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// Which manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Keep the values of Secrets; a file is then readable by its owner only
    #[arg(long)]
    pub include_secrets: bool,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
    /// When output is coloured, and how much is told
    #[command(flatten)]
    pub console: output::ConsoleArgs,
    /// Which cluster
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// `completion`
#[derive(Debug, Args)]
pub struct CompletionArgs {
    /// For which shell; `kubectl` prints what kubectl itself runs for `kubectl reconcile <TAB>`
    pub shell: CompletionShell,
}

/// `man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command, such as `diff`
    pub command: Option<String>,
}

/// `__complete`
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The words behind `kubectl reconcile`, the last one as far as it is typed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// Shells that a completion script can be printed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    /// Bash
    Bash,
    /// Elvish
    Elvish,
    /// Fish
    Fish,
    /// `PowerShell`
    #[value(name = "powershell")]
    PowerShell,
    /// Zsh
    Zsh,
    /// The executable `kubectl_complete-reconcile`
    Kubectl,
}

impl CompletionShell {
    /// The generator, for those that have one.
    #[must_use]
    pub fn generator(self) -> Option<Shell> {
        match self {
            Self::Bash => Some(Shell::Bash),
            Self::Elvish => Some(Shell::Elvish),
            Self::Fish => Some(Shell::Fish),
            Self::PowerShell => Some(Shell::PowerShell),
            Self::Zsh => Some(Shell::Zsh),
            Self::Kubectl => None,
        }
    }
}
