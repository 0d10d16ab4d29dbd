//! The commands. Each has a place of its own, with its flags, its run, and what only it needs; [`run`] is the frame of them all.

mod access;
mod apply;
mod blame;
#[cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]
pub(crate) mod complete;
mod completion;
mod config;
pub(crate) mod diff;
mod man;
mod own;
mod pull;
mod report;
mod resolve;
mod snapshot;
mod status;
mod version;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::io_reason;
use reconcile_report::EXIT_INVALID;

use self::access::AccessArgs;
use self::apply::ApplyArgs;
use self::blame::BlameArgs;
use self::complete::CompleteArgs;
use self::completion::CompletionArgs;
use self::config::{ConfigCommand, ConfigCommandArgs};
use self::diff::DiffArgs;
use self::man::ManArgs;
use self::own::OwnArgs;
use self::pull::PullArgs;
use self::report::{ReportArgs, ReportCommand};
use self::resolve::ResolveArgs;
use self::snapshot::SnapshotArgs;
use self::status::StatusArgs;
use self::version::VersionArgs;
use crate::cli::environment::{AFTER_HELP, connected, connected_diff};
use crate::cli::{ConsoleArgs, InputArgs, Typed};
use crate::output::print_diagnostics;
use crate::run::settings::configured;
use crate::terminal::{ColorChoice, Terminal, has_lost_output};

/// Show field by field how a cluster differs from its manifests, and apply the manifests in one idempotent pass
#[derive(Debug, Parser)]
#[command(name = "kubectl-reconcile", bin_name = "kubectl reconcile", version, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true)]
#[command(after_long_help = AFTER_HELP)]
pub struct Cli {
    /// The command to run
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show how the cluster differs from the manifests; exit with 1 if it does
    #[command(after_long_help = connected_diff(diff::AFTER_HELP))]
    Diff(DiffArgs),
    /// Make the cluster match the manifests; running it again changes nothing
    #[command(after_long_help = connected_diff(apply::AFTER_HELP))]
    Apply(ApplyArgs),
    /// Show whether the objects of the manifests are ready; exit with 5 if one is not
    #[command(after_long_help = connected(status::AFTER_HELP))]
    Status(StatusArgs),
    /// Show which manager owns each field of live objects
    #[command(after_long_help = connected(blame::AFTER_HELP))]
    Blame(BlameArgs),
    /// Write live values into the manifests, in place
    #[command(after_long_help = connected(pull::AFTER_HELP))]
    Pull(PullArgs),
    /// Decide about each difference on the terminal: apply it, pull it into the manifest, ignore it, or skip it
    #[command(after_long_help = connected(resolve::AFTER_HELP))]
    Resolve(ResolveArgs),
    /// Give the fields of the manifests to a field manager without changing a value
    #[command(after_long_help = connected(own::AFTER_HELP))]
    Own(OwnArgs),
    /// Save the live objects for an offline `diff --live FILE`
    #[command(after_long_help = connected(snapshot::AFTER_HELP))]
    Snapshot(SnapshotArgs),
    /// Print the roles that `diff` and `apply` need; exit with 1 if the user lacks a permission
    #[command(after_long_help = connected(access::AFTER_HELP))]
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
    #[command(after_long_help = connected(version::AFTER_HELP))]
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
            Self::Own(args) => Some(&args.input),
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
            Self::Own(args) => Some(&args.output.console),
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

/// Reports that the system has no threads, files or memory left to run anything. This is no drift, so the exit code is that of a
/// configuration error.
pub fn not_started(error: &std::io::Error) -> ExitCode {
    let diagnostic = Diagnostic::general(format!("the program cannot start: {}", io_reason(error)));
    let hint = "check the limits of this process (`ulimit -a`)";
    print_diagnostics(&Terminal::new(ColorChoice::Auto, false), &[diagnostic.with_hint(hint)]);
    ExitCode::from(EXIT_INVALID)
}

/// Runs a command to its exit code. A failure of a command that writes no report about it is printed here.
pub async fn run(typed: Typed<Cli>) -> ExitCode {
    let (cli, configured) = configured(typed, |cli| cli.command.input());
    let terminal = match cli.command.console() {
        Some(console) => Terminal::themed(console.color, console.theme, false),
        None => Terminal::new(ColorChoice::Never, false),
    };
    let result = match cli.command {
        Command::Diff(args) if args.apply => Box::pin(apply::run(&args.into(), configured)).await,
        Command::Diff(args) => Box::pin(diff::run(&args, configured)).await,
        Command::Apply(args) if args.dry_run.is_some() => Box::pin(diff::run(&args.into(), configured)).await,
        Command::Apply(args) => Box::pin(apply::run(&args, configured)).await,
        Command::Status(args) => Box::pin(status::run(&args, configured)).await,
        Command::Pull(args) => Box::pin(pull::run(&args, &Cli::command(), configured, &terminal)).await,
        Command::Resolve(args) => Box::pin(resolve::run(&args, &Cli::command(), configured, &terminal)).await,
        Command::Own(args) => Box::pin(own::run(&args, configured)).await,
        Command::Snapshot(args) => Box::pin(snapshot::run(&args, configured, &terminal)).await,
        Command::Access(args) => Box::pin(access::run(&args, configured, &terminal)).await,
        Command::Blame(args) => Box::pin(blame::run(&args, configured, &terminal)).await,
        Command::Report(args) => report::run(&args),
        Command::Config(args) => config::run(&args, &Cli::command(), &terminal),
        Command::Completion(args) => Ok(completion::run(&args, Cli::command(), &terminal)),
        Command::Man(args) => man::run(&args, Cli::command(), &terminal),
        Command::Version(args) => Box::pin(version::run(&args, &terminal)).await,
        Command::Complete(args) => Ok(complete::run(args, Cli::command(), &terminal).await),
    };
    let code = result.unwrap_or_else(|failure| {
        print_diagnostics(&terminal, &failure.diagnostics);
        failure.verdict.exit_code(false)
    });
    ExitCode::from(if has_lost_output() { code.max(EXIT_INVALID) } else { code })
}
