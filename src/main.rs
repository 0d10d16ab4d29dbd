//! `kubectl reconcile`: parse, run, exit code.

use std::process::ExitCode;

use clap::Parser as _;
use kubectl_reconcile::{cli::Cli, commands};

#[tokio::main]
async fn main() -> ExitCode {
    commands::run(Cli::parse()).await
}
