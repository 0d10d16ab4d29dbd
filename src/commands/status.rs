//! `status`: read desired, observe, report.

use std::time::Duration;

use reconcile_report::formats::text::readiness;
use reconcile_report::{Command, Report};

use crate::cli::StatusArgs;
use crate::engine::wait::Waiting;
use crate::engine::wait::Watched;
use crate::session::configured::{Configured, Settings};
use crate::session::context_command::ContextCommand;
use crate::session::events::Events;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::report_builder::observed;
use crate::session::run::{Invocation, Run};
use crate::terminal::Closed;
use reconcile_core::manifest::DesiredSet;

struct Status<'a>(&'a StatusArgs);

/// Runs the command to its exit code.
pub(super) async fn run(args: &StatusArgs, configured: Configured) -> Result<u8, Failure> {
    let output = Output::new(&args.output)?.paged(&args.output).of_shard(args.shard);
    let result = status(args, configured, &output).await;
    Ok(result.unwrap_or_else(|failure| output.failed(Command::Status, failure)))
}

async fn status(args: &StatusArgs, configured: Configured, output: &Output) -> Result<u8, Failure> {
    let settings = &Settings::of(configured?, output);
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    invocation.in_contexts(&Status(args)).await
}

impl ContextCommand for Status<'_> {
    const NAME: Command = Command::Status;

    async fn pass(&self, run: &Run<'_>, desired: DesiredSet) -> Result<Report, Failure> {
        let Self(args) = self;
        let Run { server, settings, interrupt, .. } = run;
        let plan = run.plan(desired, None)?.shard(args.shard.shard, |_| false);
        let watched: Vec<Watched> = plan.targets().map(|target| Watched::of(target, &settings.readiness)).collect();
        let timeout = args.wait.duration().unwrap_or(Duration::ZERO);
        let events = Events::new(run.output, !timeout.is_zero());
        let waiting = Waiting { cluster: &server.cluster, timeout, interrupt, events: &events };
        let readiness = waiting.observe(&watched).await;
        Ok(observed(plan.targets(), readiness))
    }

    fn show(&self, report: &Report, output: &Output) -> Result<(), Closed> {
        output.warn(report);
        output.text(&readiness::whole(report, &output.view))
    }
}
