//! One file for each command: they compose the stages, and nothing else.

mod access;
mod apply;
mod complete;
mod completion;
mod config;
mod diff;
mod man;
mod report;
mod snapshot;
mod status;
mod version;

use std::process::ExitCode;

use crate::cli::{Command, Typed};
use crate::diagnostic::Diagnostic;
use crate::report::EXIT_INVALID;
use crate::session::configured::configured;
use crate::session::output::tell;
use crate::terminal::{ColorChoice, Terminal, has_lost_output};
use crate::text::io_reason;

/// Says why nothing can be run: the system has no threads, files or memory left. This is no drift, so the exit code is that of a
/// configuration error.
#[must_use]
pub fn not_started(error: &std::io::Error) -> ExitCode {
    let problem = Diagnostic::general(format!("the program cannot start: {}", io_reason(error)));
    let hint = "look at the limits of this process (`ulimit -a`)";
    tell(&Terminal::new(ColorChoice::Auto, false), &[problem.with_hint(hint)]);
    ExitCode::from(EXIT_INVALID)
}

/// Runs a command to its exit code.
pub async fn run(typed: Typed) -> ExitCode {
    let (cli, configured) = configured(typed);
    let code = match cli.command {
        Command::Diff(args) if args.apply => apply::run(args.into(), configured).await,
        Command::Diff(args) => diff::run(args, configured).await,
        Command::Apply(args) if args.dry_run.is_some() => diff::run(args.into(), configured).await,
        Command::Apply(args) => apply::run(args, configured).await,
        Command::Status(args) => status::run(args, configured).await,
        Command::Snapshot(args) => Box::pin(snapshot::run(args, configured)).await,
        Command::Access(args) => Box::pin(access::run(args, configured)).await,
        Command::Report(args) => report::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Completion(args) => completion::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Version(args) => Box::pin(version::run(args)).await,
        Command::Complete(args) => complete::run(args).await,
    };
    ExitCode::from(if has_lost_output() { code.max(EXIT_INVALID) } else { code })
}
