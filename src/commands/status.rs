//! `status`: read desired, observe, report.

use std::time::Duration;

use crate::cli::{ConnectionArgs, StatusArgs};
use crate::engine::wait::Watched;
use crate::engine::waiting::Waiting;
use crate::report::{Command, ObjectReport, Report, readiness};
use crate::session::contexts::{Choice, chosen};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::{Manifests, Reading};
use crate::session::screen::Screen;
use crate::session::setup::{Connected, concluded, connected, planned};
use crate::session::several::Several;
use crate::session::signals::listen;
use crate::session::site::Site;
use crate::terminal::Closed;

/// Runs the command to its exit code. A reader that went away ends the run quietly, with the verdict that was found.
pub(super) async fn run(args: StatusArgs) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output,
        Err(code) => return code,
    };
    match chosen(&args.connection) {
        Ok(Choice::Several(contexts)) => {
            let several = Several {
                command: Command::Status,
                contexts,
                connection: &args.connection,
                input: &args.input,
                output: &output,
            };
            let work = async |site: Site<'_>, manifests| observed(&args, &site, manifests).await;
            Box::pin(several.run(work, show)).await
        }
        Ok(Choice::One(connection)) => match report(&args, &connection, &output).await {
            Ok(report) => {
                let shown = show(&report, &output).and_then(|()| output.finish(&report));
                shown.unwrap_or(report.exit_code)
            }
            Err(failure) => output.failed(Command::Status, failure),
        },
        Err(failure) => output.failed(Command::Status, failure),
    }
}

fn show(report: &Report, output: &Output) -> Result<(), Closed> {
    output.text(&readiness::whole(report))
}

async fn report(args: &StatusArgs, connection: &ConnectionArgs, output: &Output) -> Result<Report, Failure> {
    let reading = Reading::begin(&args.input, &output.terminal).await?;
    let site = Site::only(connection, output, listen(&output.terminal));
    observed(args, &site, Manifests::Reading(reading)).await
}

async fn observed(
    args: &StatusArgs,
    Site { connection, output, interrupt, .. }: &Site<'_>,
    manifests: Manifests,
) -> Result<Report, Failure> {
    let verbosity = args.output.console.verbosity;
    let connecting = connected(connection, verbosity, &args.input, &output.terminal, Some(interrupt));
    let (desired, connected) = Box::pin(manifests.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, .. } = connected;
    let plan = planned(desired, catalog, &namespaces, None)?;
    let watched: Vec<Watched> = plan.targets().map(Watched::from).collect();
    let timeout = args.wait.duration().unwrap_or(Duration::ZERO);
    let screen = Screen::new(output, !timeout.is_zero());
    let waiting = Waiting { cluster: &cluster, timeout, interrupt, events: &screen };
    let readiness = waiting.observe(&watched).await;
    let objects = plan.targets().zip(readiness).map(|(target, readiness)| ObjectReport::observed(target, readiness));
    let report = Report::observed(Command::Status, objects.collect());
    Ok(concluded(report, info, &cluster, interrupt))
}
