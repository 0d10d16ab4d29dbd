//! `status`: read desired, observe, report.

use std::time::Duration;

use clap::Args;
use reconcile_core::manifest::DesiredSet;
use reconcile_report::formats::text::readiness;
use reconcile_report::{Command, Failure, Report};

use crate::cli::{ConnectOptions, InputArgs, OutputArgs, ShardArgs, WaitArgs};
use crate::engine::wait::{Waiting, Watched};
use crate::output::Output;
use crate::output::events::Events;
use crate::output::report_builder::observed;
use crate::run::contexts::ChosenContexts;
use crate::run::driver::ContextCommand;
use crate::run::invocation::{Invocation, Run};
use crate::run::settings::{Configured, Settings};
use crate::terminal::Closed;

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    all objects are ready
  2    invalid flags or input
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be read
  5    at least one object is not ready
  130  interrupted

Examples:
  # Show whether everything in the manifests is ready
  kubectl reconcile status -f deploy/

  # Show whether one Deployment is ready
  kubectl reconcile status deployment/web

  # Wait up to two minutes until everything is
  kubectl reconcile status -f deploy/ --wait --timeout 2m";

/// `status`
#[derive(Debug, Args)]
#[command(mut_arg("filename", |arg| arg.required_unless_present_any(["kustomize", "from", "objects"])))]
pub struct StatusArgs {
    /// Objects as `TYPE/NAME…` or `TYPE NAME…`; or those of the manifests with `-f` or `-k`
    #[arg(value_name = "TYPE/NAME", conflicts_with_all = ["filename", "kustomize", "from", "recursive", "selector", "allow_empty"])]
    pub objects: Vec<String>,
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// The flag that selects a shard of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Flags for waiting until objects are ready
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Flags for the output
    #[command(flatten)]
    pub output: OutputArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectOptions,
}

struct Status<'a>(&'a StatusArgs);

/// Runs the command to its exit code.
pub(super) async fn run(args: &StatusArgs, configured: Configured) -> Result<u8, Failure> {
    let output = Output::new(&args.output)?.paged(&args.output).of_shard(args.shard);
    let result = status(args, configured, &output).await;
    Ok(result.unwrap_or_else(|failure| output.failed(Command::Status, failure)))
}

async fn status(args: &StatusArgs, configured: Configured, output: &Output) -> Result<u8, Failure> {
    let settings = &Settings::of(configured?, output);
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    let invocation = Invocation { objects: &args.objects, ..invocation };
    invocation.in_contexts(ChosenContexts::of(&args.connection)?, &Status(args)).await
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
