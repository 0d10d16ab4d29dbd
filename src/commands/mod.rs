//! One file for each command, which composes the stages. [`run`] is the frame of them all.

mod access;
mod apply;
mod blame;
mod complete;
mod completion;
mod config;
mod diff;
mod man;
mod pull;
mod report;
mod resolve;
mod snapshot;
mod status;
mod version;

use std::process::ExitCode;

use reconcile_report::EXIT_INVALID;

use crate::cli::{Command, Typed};
use crate::session::configured::configured;
use crate::session::output::print_diagnostics;
use crate::terminal::{ColorChoice, Terminal, has_lost_output};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::io_reason;

/// Reports that the system has no threads, files or memory left to run anything. This is no drift, so the exit code is that of a
/// configuration error.
pub fn not_started(error: &std::io::Error) -> ExitCode {
    let diagnostic = Diagnostic::general(format!("the program cannot start: {}", io_reason(error)));
    let hint = "check the limits of this process (`ulimit -a`)";
    print_diagnostics(&Terminal::new(ColorChoice::Auto, false), &[diagnostic.with_hint(hint)]);
    ExitCode::from(EXIT_INVALID)
}

/// Runs a command to its exit code. A failure of a command that writes no report about it is printed here.
pub async fn run(typed: Typed) -> ExitCode {
    let (cli, configured) = configured(typed);
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
        Command::Pull(args) => Box::pin(pull::run(&args, configured, &terminal)).await,
        Command::Resolve(args) => Box::pin(resolve::run(&args, configured, &terminal)).await,
        Command::Snapshot(args) => Box::pin(snapshot::run(&args, configured, &terminal)).await,
        Command::Access(args) => Box::pin(access::run(&args, configured, &terminal)).await,
        Command::Blame(args) => Box::pin(blame::run(&args, configured, &terminal)).await,
        Command::Report(args) => report::run(&args),
        Command::Config(args) => config::run(&args, &terminal),
        Command::Completion(args) => Ok(completion::run(&args, &terminal)),
        Command::Man(args) => man::run(&args, &terminal),
        Command::Version(args) => Box::pin(version::run(&args, &terminal)).await,
        Command::Complete(args) => Ok(complete::run(args, &terminal).await),
    };
    let code = result.unwrap_or_else(|failure| {
        print_diagnostics(&terminal, &failure.diagnostics);
        failure.verdict.exit_code(false)
    });
    ExitCode::from(if has_lost_output() { code.max(EXIT_INVALID) } else { code })
}
