//! The command line: one file per command, and one for each group of flags that commands share. [`crate::commands`] gives it
//! meaning.

mod access;
mod apply;
mod blame;
pub(crate) mod candidates;
mod compare;
mod complete;
mod completion;
mod config;
mod connection;
mod diff;
mod environment;
mod familiar;
mod input;
mod man;
mod mistyped;
mod output;
mod prune;
mod pull;
mod report;
mod resolve;
mod shard;
mod snapshot;
mod status;
mod typed;
mod version;
mod wait;

use clap::{Parser, Subcommand};

pub use access::{AccessArgs, AccessFormat, PurposeChoice};
pub use apply::{ApplyArgs, DryRunChoice};
pub use blame::{BlameArgs, BlameFormat};
pub use compare::{
    AutoscalerChoice, CompareArgs, EvidenceArgs, EvidenceChoice, ForceChoice, ReplaceChoice, WritingArgs,
};
pub use complete::CompleteArgs;
pub use completion::{CompletionArgs, CompletionShell, Script};
pub use config::{ConfigArgs, ConfigCommand, ConfigCommandArgs, ConfigViewArgs, ViewFormat};
pub use connection::ConnectionArgs;
pub use diff::DiffArgs;
pub use input::{FromSource, HooksChoice, InputArgs, ValidateLevel};
pub use man::ManArgs;
pub use output::{ConsoleArgs, OutputArgs, OutputTarget, TextArgs};
pub use prune::PruneArgs;
pub use pull::{PullArgs, PullFormat};
pub use report::{MergeArgs, ReportArgs, ReportCommand};
pub use resolve::ResolveArgs;
pub use shard::ShardArgs;
pub use snapshot::SnapshotArgs;
pub use status::StatusArgs;
pub(crate) use typed::Addition;
pub use typed::Typed;
pub use version::{VersionArgs, VersionFormat};
pub use wait::{WaitArgs, WaitTimeout};

/// Show field by field how a cluster differs from its manifests, and apply the manifests in one idempotent pass
#[derive(Debug, Parser)]
#[command(name = "kubectl-reconcile", bin_name = "kubectl reconcile", version, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true)]
#[command(after_long_help = environment::AFTER_HELP)]
pub struct Cli {
    /// The command to run
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show how the cluster differs from the manifests; exit with 1 if it does
    #[command(after_long_help = environment::connected_diff(diff::AFTER_HELP))]
    Diff(DiffArgs),
    /// Make the cluster match the manifests; running it again changes nothing
    #[command(after_long_help = environment::connected_diff(apply::AFTER_HELP))]
    Apply(ApplyArgs),
    /// Show whether the objects of the manifests are ready; exit with 5 if one is not
    #[command(after_long_help = environment::connected(status::AFTER_HELP))]
    Status(StatusArgs),
    /// Show which manager owns each field of live objects
    #[command(after_long_help = environment::connected(blame::AFTER_HELP))]
    Blame(BlameArgs),
    /// Write live values into the manifests, in place
    #[command(after_long_help = environment::connected(pull::AFTER_HELP))]
    Pull(PullArgs),
    /// Decide about each difference on the terminal: apply it, pull it into the manifest, ignore it, or skip it
    #[command(after_long_help = environment::connected(resolve::AFTER_HELP))]
    Resolve(ResolveArgs),
    /// Save the live objects for an offline `diff --live FILE`
    #[command(after_long_help = environment::connected(snapshot::AFTER_HELP))]
    Snapshot(SnapshotArgs),
    /// Print the roles that `diff` and `apply` need; exit with 1 if the user lacks a permission
    #[command(after_long_help = environment::connected(access::AFTER_HELP))]
    Access(AccessArgs),
    /// Work with the JSON reports of earlier runs
    #[command(after_long_help = report::AFTER_HELP, disable_help_subcommand = true)]
    Report(ReportArgs),
    /// Show the configuration in force, or its JSON Schema
    #[command(after_long_help = config::AFTER_HELP, disable_help_subcommand = true)]
    Config(ConfigCommandArgs),
    /// Print a completion script
    #[command(after_long_help = completion::AFTER_HELP)]
    Completion(CompletionArgs),
    /// Print the manual page of the program or of one command, or write all pages
    #[command(after_long_help = man::AFTER_HELP)]
    Man(ManArgs),
    /// Show the versions of the plugin and the server, and whether they were tested together
    #[command(after_long_help = environment::connected(version::AFTER_HELP))]
    Version(VersionArgs),
    /// Print completion candidates for kubectl, one per line
    #[command(name = "__complete", hide = true, disable_help_flag = true)]
    Complete(CompleteArgs),
}

impl Command {
    /// The manifests that the command reads, whose configuration is its own; `None` if it reads none.
    pub(crate) fn input(&self) -> Option<&InputArgs> {
        match self {
            Self::Diff(args) => Some(&args.input),
            Self::Apply(args) => Some(&args.input),
            Self::Status(args) => Some(&args.input),
            Self::Pull(args) => Some(&args.input),
            Self::Resolve(args) => Some(&args.input),
            Self::Snapshot(args) => Some(&args.input),
            Self::Access(args) => Some(&args.input),
            Self::Blame(args) => args.reads_manifests().then_some(&args.input),
            Self::Report(_)
            | Self::Config(_)
            | Self::Completion(_)
            | Self::Man(_)
            | Self::Version(_)
            | Self::Complete(_) => None,
        }
    }

    /// The flags for colours; `None` if the command prints data without colours.
    pub(crate) fn console(&self) -> Option<&ConsoleArgs> {
        match self {
            Self::Diff(args) => Some(&args.output.console),
            Self::Apply(args) => Some(&args.output.console),
            Self::Status(args) => Some(&args.output.console),
            Self::Pull(args) => Some(&args.console),
            Self::Resolve(args) => Some(&args.console),
            Self::Snapshot(args) => Some(&args.console),
            Self::Access(args) => Some(&args.console),
            Self::Blame(args) => Some(&args.text.console),
            Self::Report(ReportArgs { command: ReportCommand::Merge(args) }) => Some(&args.output.console),
            Self::Config(ConfigCommandArgs { command: ConfigCommand::View(args) }) => Some(&args.console),
            Self::Version(args) => Some(&args.console),
            Self::Config(ConfigCommandArgs { command: ConfigCommand::Schema })
            | Self::Completion(_)
            | Self::Man(_)
            | Self::Complete(_) => None,
        }
    }
}
