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
use crate::cli::{ConsoleArgs, InputArgs, Typed};
use crate::output::print_diagnostics;
use crate::run::settings::configured;
use crate::terminal::{ColorChoice, Terminal, has_lost_output};

/// The end of the help of the program: exit codes, environment variables and examples of all commands.
const AFTER_HELP: &str = "\
Exit codes:
  0    in sync (diff), everything applied (apply), everything ready (status),
       all permissions held (access)
  1    drift found (diff), a permission is missing (access), or the answer to
       --confirm was no, and nothing was written (apply)
  2    invalid flags, configuration or input, and nothing was compared or changed;
       or a report could not be written
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be compared or applied; the others were
  5    not everything is ready (status, apply --wait)
  130  interrupted; the report shows what was done
  101  a bug in the program: report the line that it printed

Environment variables:
  KUBECONFIG                 kubeconfig files, separated by colons (on Windows: semicolons)
  KUBERC                     file with the preferences of kubectl, or `off`; only its
                             policy for credential plugins is used
  KUBECTL_KUBERC             `false` turns these preferences off
  HTTPS_PROXY, HTTP_PROXY    proxy for the connection, unless the kubeconfig names one
  NO_PROXY                   servers that are reached without a proxy
  NO_COLOR                   no colours, unless --color says otherwise
  CLICOLOR_FORCE             colours even if the output is not a terminal
  CI                         neither a live progress line nor a pager, unless empty or `false`
  TERM                       no colours, progress line or pager if it is `dumb` or not set
  KUBECTL_RECONCILE_PAGER, PAGER
                             pager for text on a terminal, `cat` for none (default: less -FRX)
  LESS, LV                   options of these pagers, unless set: FRX and -c
  COLUMNS                    width of the text, if the output is not a terminal
  KUBECTL_EXTERNAL_DIFF      diff program that -o unified runs instead of printing a patch
  SOURCE_DATE_EPOCH          time of the run in reports, in seconds since 1970
  KUBECTL_RECONCILE_PLAN_KEY
                             key for --save-plan and --plan, so that plans cover values of Secrets
  GITHUB_STEP_SUMMARY        (in GitHub Actions) a report in this file is appended to it
  RUST_BACKTRACE             after a bug in the program, 1 also shows where it was
  HOME                       where ~/.kube/config and ~/.kube/cache are
  KUBECACHEDIR               directory for cached types instead of ~/.kube/cache
  PATH                       where kustomize, kubectl and credential plugins are found;
                             relative entries are ignored
  PATHEXT                    (Windows) endings of programs
  POD_NAMESPACE              (in a Pod) default namespace
  KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT
                             (in a Pod) the API server, if there is no kubeconfig

Examples:
  # What differs between the manifests and the cluster?
  kubectl reconcile diff -f deploy/

  # Make the cluster match, and wait until everything is ready
  kubectl reconcile apply -f deploy/ --wait

  # All flags, exit codes and examples of a command
  kubectl reconcile diff --help";
/// The variables that the help of each command with a cluster lists.
const COMMON_VARIABLES: [&str; 5] = ["KUBECONFIG", "HTTPS_PROXY", "NO_PROXY", "NO_COLOR", "KUBECTL_RECONCILE_PAGER"];
/// The variable for `-o unified`.
const DIFF_VARIABLE: &str = "KUBECTL_EXTERNAL_DIFF";

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

/// The end of the help of a command that talks to a cluster: with the variables, before the examples.
fn connected(after_help: &str) -> String {
    with_variables(after_help, &COMMON_VARIABLES)
}

/// The end of the help of a command that connects and shows differences as a patch.
fn connected_diff(after_help: &str) -> String {
    let names: Vec<&str> = COMMON_VARIABLES.into_iter().chain([DIFF_VARIABLE]).collect();
    with_variables(after_help, &names)
}

fn with_variables(after_help: &str, names: &[&str]) -> String {
    let variables: Vec<&str> = names.iter().flat_map(|name| lines_of(name)).collect();
    let variables = variables.join("\n");
    let section = format!("Environment variables (`kubectl reconcile --help` lists all):\n{variables}\n");
    match after_help.split_once("\n\nExamples:") {
        Some((before, examples)) => format!("{before}\n\n{section}\nExamples:{examples}"),
        None => format!("{after_help}\n\n{section}"),
    }
}

/// The lines about a variable in the help of the program.
fn lines_of(name: &str) -> impl Iterator<Item = &'static str> {
    let mut lines = AFTER_HELP
        .lines()
        .skip_while(move |line| line.trim_start().split([' ', ',']).next() != Some(name) || !line.starts_with("  "));
    let first = lines.next();
    first.into_iter().chain(lines.take_while(|line| line.starts_with("    ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_is_described_where_all_of_them_are() {
        for name in COMMON_VARIABLES.into_iter().chain([DIFF_VARIABLE]) {
            let text: Vec<&str> = lines_of(name).collect();
            assert!((1..=2).contains(&text.len()) && text[0].contains(name), "{name}: {text:?}");
        }
        let help = connected("Exit codes:\n  0    yes\n\nExamples:\n  # a");
        assert!(help.starts_with("Exit codes:") && help.ends_with("Examples:\n  # a"), "{help}");
        assert!(help.contains("\n  KUBECONFIG ") && !help.contains(DIFF_VARIABLE), "{help}");
        assert!(connected_diff("").contains(DIFF_VARIABLE));
    }
}
