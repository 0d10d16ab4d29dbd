//! `kubectl reconcile`: parse, run, exit code.

use std::process::ExitCode;

use kubectl_reconcile::{cli::Typed, commands, terminal::report_panics};
use mimalloc::MiMalloc;
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    report_panics();
    let typed = Typed::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return commands::not_started(&error),
    };
    let code = runtime.block_on(commands::run(typed));
    // A DNS lookup that hangs must not delay the end.
    runtime.shutdown_background();
    code
}
