//! `kubectl reconcile`: parse, run, exit code.

use std::process::ExitCode;

use clap::Parser as _;
use kubectl_reconcile::{cli::Cli, commands};
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return commands::not_started(&error),
    };
    let code = runtime.block_on(commands::run(cli));
    // A name lookup that hangs doesn't hold up the end.
    runtime.shutdown_background();
    code
}
