//! `status`: read desired, observe, report.

use std::time::Duration;

use crate::cli::StatusArgs;
use crate::engine::wait::Watched;
use crate::engine::waiting::Waiting;
use crate::report::formats::text::readiness;
use crate::report::{Command, ObjectReport, Report};
use crate::rules::ReadinessRules;
use crate::session::configured::{Configured, Settings};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Manifests;
use crate::session::screen::Screen;
use crate::session::setup::{Connected, concluded, connected, planned};
use crate::session::site::Site;
use crate::session::task::Task;
use crate::terminal::Closed;

/// Runs the command to its exit code.
pub(super) async fn run(args: StatusArgs, configured: Configured) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output.paged(&args.output).of_part(args.shard),
        Err(code) => return code,
    };
    match configured {
        Ok(configuration) => {
            let settings = Settings::of(configuration, args.output.console.verbosity, &output.terminal);
            let StatusArgs { connection, input, .. } = &args;
            let task = Task { command: Command::Status, connection, input, output: &output, settings: &settings };
            let work = async |site: Site<'_>, manifests| {
                Box::pin(observed(&args, &site, manifests, &settings.readiness)).await
            };
            task.run(work, &show).await
        }
        Err(failure) => output.failed(Command::Status, failure),
    }
}

fn show(report: &Report, output: &Output) -> Result<(), Closed> {
    output.warn(report);
    output.text(&readiness::whole(report, &output.view))
}

async fn observed(
    args: &StatusArgs,
    Site { connection, output, interrupt, .. }: &Site<'_>,
    manifests: Manifests,
    rules: &ReadinessRules,
) -> Result<Report, Failure> {
    let verbosity = args.output.console.verbosity;
    let connecting = connected(connection, verbosity, &args.input, &output.terminal, interrupt);
    let (desired, connected) = Box::pin(manifests.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, .. } = connected;
    let plan = planned(desired, catalog, &namespaces, None)?.part(args.shard.shard, |_| false);
    let watched: Vec<Watched> = plan.targets().map(|target| Watched::of(target, rules)).collect();
    let timeout = args.wait.duration().unwrap_or(Duration::ZERO);
    let screen = Screen::new(output, !timeout.is_zero());
    let journal = output.journal();
    let waiting = Waiting { cluster: &cluster, timeout, interrupt, events: &(&screen, &journal) };
    let readiness = waiting.observe(&watched).await;
    let objects = plan.targets().zip(readiness).map(|(target, readiness)| ObjectReport::observed(target, readiness));
    let report = Report::observed(Command::Status, objects.collect());
    Ok(concluded(report, info, &cluster, interrupt))
}
