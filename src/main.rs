//! `kubectl reconcile`: parse, run, exit code.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use kubectl_reconcile::{cli::Cli, commands};
use tokio::runtime::Runtime;

fn main() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    let runtime = Runtime::new().context("the threads for requests can't be started")?;
    let code = runtime.block_on(commands::run(cli));
    // A name lookup that hangs doesn't hold up the end.
    runtime.shutdown_background();
    Ok(code)
}
