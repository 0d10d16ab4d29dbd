//! `status`: read desired, observe, report.

use std::time::Duration;

use crate::cli::StatusArgs;
use crate::engine::wait::Watched;
use crate::engine::waiting::Waiting;
use crate::report::{Command, ObjectReport, Report, readiness};
use crate::session::configured::{Configured, Settings};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Reading;
use crate::session::screen::Screen;
use crate::session::setup::{Connected, concluded, connected, planned};
use crate::session::signals::listen;

/// Runs the command to its exit code. A reader that went away ends the run quietly, with the verdict that was found.
pub(super) async fn run(args: StatusArgs, configured: Configured) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output,
        Err(code) => return code,
    };
    match report(&args, configured, &output).await {
        Ok(report) => {
            output.warn(&report);
            let shown = output.text(&readiness::whole(&report)).and_then(|()| output.finish(&report));
            shown.unwrap_or(report.exit_code)
        }
        Err(failure) => output.failed(Command::Status, failure),
    }
}

async fn report(args: &StatusArgs, configured: Configured, output: &Output) -> Result<Report, Failure> {
    let settings = Settings::of(configured?, args.output.console.verbosity, &output.terminal);
    let reading = Reading::begin(&args.input, &output.terminal).await?;
    let interrupt = listen(&output.terminal);
    let verbosity = args.output.console.verbosity;
    let connecting = connected(&args.connection, verbosity, &args.input, &output.terminal, &interrupt);
    let (desired, connected) = Box::pin(reading.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, .. } = connected;
    let plan = planned(desired, catalog, &namespaces, None)?;
    let watched: Vec<Watched> = plan.targets().map(Watched::from).collect();
    let timeout = args.wait.duration().unwrap_or(Duration::ZERO);
    let screen = Screen::new(output, !timeout.is_zero());
    let waiting = Waiting { cluster: &cluster, timeout, interrupt: &interrupt, events: &screen };
    let readiness = waiting.observe(&watched).await;
    let objects = plan.targets().zip(readiness).map(|(target, readiness)| ObjectReport::observed(target, readiness));
    let report = Report::observed(Command::Status, objects.collect());
    Ok(settings.named_in(concluded(report, info, &cluster, &interrupt)))
}
