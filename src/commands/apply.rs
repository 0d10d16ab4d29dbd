//! `apply`: read desired, read current, compare, show, act wave by wave, report.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use reconcile_core::compare::{EvidenceMode, Policy};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::plan::DependencyKind;
use reconcile_core::resolve::Consent;
use reconcile_report::formats::text::{self, explained, outcomes, readiness};
use reconcile_report::{Command, FailClass, FailOn, Failure, ObjectReport, Report, View};

use crate::cli::{CompareArgs, ConnectOptions, EvidenceChoice, InputArgs, OutputArgs, PruneArgs, ShardArgs, WaitArgs};
use crate::commands::diff::DiffArgs;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::live::early::EarlySubject;
use crate::output::Output;
use crate::output::events::Events;
use crate::run::base::{Base, allows_pruning};
use crate::run::contexts::ChosenContexts;
use crate::run::driver::ContextCommand;
use crate::run::earlier_runs::{PlanToFollow, digests, flags};
use crate::run::invocation::{Invocation, Run};
use crate::run::question::can_confirm;
use crate::run::reading::stored::restores;
use crate::run::settings::{Configured, Settings};
use crate::run::setup::{early_reads, policy, requested};
use crate::terminal::Closed;

pub(super) const AFTER_HELP: &str = "\
Exit codes (with --dry-run those of `diff`):
  0    everything was applied
  1    the answer to --confirm was no, and nothing was written
  2    invalid flags, configuration or input, and nothing was changed;
       or a report could not be written
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be compared or applied; the others were
  5    applied, but with --wait not everything became ready; nothing was
       deleted
  130  interrupted; the report shows what was done

Examples:
  # Apply a directory of manifests; a second run writes nothing
  kubectl reconcile apply -f deploy/

  # Also take fields that other appliers and controllers own
  kubectl reconcile apply -f deploy/ --force-conflicts

  # Wait up to ten minutes until everything is ready
  kubectl reconcile apply -f deploy/ --wait --timeout 10m

  # Apply as an apply set: delete members that are no longer in the manifests
  kubectl reconcile apply -f deploy/ --prune --applyset shop

  # Apply only the manifests with a label
  kubectl reconcile apply -f deploy/ -l app=web";

/// `apply`
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// The flag that selects a shard of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Flags for the comparison
    #[command(flatten)]
    pub compare: CompareArgs,
    /// Flags for objects that are no longer in the manifests
    #[command(flatten)]
    pub prune: PruneArgs,
    /// Only show what would change, like `kubectl reconcile diff` and with its exit codes
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "server",
        conflicts_with = "wait",
        help_heading = "Apply"
    )]
    pub dry_run: Option<DryRunChoice>,
    /// Show what would change, and ask for confirmation on the terminal before writing
    #[arg(long, help_heading = "Apply", conflicts_with = "dry_run")]
    pub confirm: bool,
    /// Do what this plan of `diff --save-plan` says: objects that differ otherwise by now are left alone
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Apply", conflicts_with = "dry_run")]
    pub plan: Option<PathBuf>,
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

/// `--dry-run`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRunChoice {
    /// Ask the server what would change (if no value is given)
    Server,
    /// Never send a PATCH, and compare locally, like `--evidence=read-only`
    Client,
}

impl From<DiffArgs> for ApplyArgs {
    /// `diff --apply` is `apply`.
    fn from(args: DiffArgs) -> Self {
        let DiffArgs { input, shard, compare, prune, confirm, wait, timeout, output, connection, .. } = args;
        let wait = WaitArgs { wait, timeout };
        Self { input, shard, compare, prune, dry_run: None, confirm, plan: None, wait, output, connection }
    }
}

impl From<ApplyArgs> for DiffArgs {
    /// `apply --dry-run` is `diff`.
    fn from(args: ApplyArgs) -> Self {
        let ApplyArgs { input, shard, mut compare, prune, dry_run, output, connection, .. } = args;
        let restores = input.from.is_some();
        if dry_run == Some(DryRunChoice::Client) {
            compare.evidence.evidence = EvidenceChoice::ReadOnly;
        }
        Self {
            input,
            shard,
            compare,
            prune,
            apply: false,
            confirm: false,
            wait: false,
            timeout: None,
            exit_zero: false,
            report_unmanaged: None,
            suggest_ignores: false,
            live: None,
            save_plan: None,
            baseline: None,
            show_known: false,
            audit_logs: Vec::new(),
            restores,
            output,
            connection,
        }
    }
}

struct Apply<'a> {
    args: &'a ApplyArgs,
    settings: &'a Settings,
    policy: Policy,
    set: Option<Requested>,
    to_follow: Option<PlanToFollow>,
}

/// Runs the command to its exit code.
pub(super) async fn run(args: &ApplyArgs, configured: Configured) -> Result<u8, Failure> {
    let output = Output::new(&args.output)?.of_shard(args.shard).identifying_cluster(args.plan.is_some());
    let result = apply(args, configured, &output).await;
    Ok(result.unwrap_or_else(|failure| output.failed(Command::Apply, failure)))
}

async fn apply(args: &ApplyArgs, configured: Configured, output: &Output) -> Result<u8, Failure> {
    let restores = restores(&args.input, &args.compare, args.prune.prune || args.prune.applyset.is_some())?;
    if restores && args.plan.is_some() {
        let hint = "the record of the release says what it restores; see it with `--dry-run`";
        return Err(Failure::refused("`apply --from` follows no saved plan", hint));
    }
    let settings = &Settings::of(configured?, output);
    let policy = Policy { keeps_versions: output.shows_versions(), ..writing_policy(args, settings)? };
    let mut set = requested(&args.prune, &args.input, args.shard.shard, &settings.configuration.expect)?;
    allows_pruning(&args.compare, set.is_some())?;
    if !args.compare.no_expect_applyset {
        settings.configuration.expect.allows_apply_set(&args.prune).map_err(Failure::invalid)?;
    }
    let base = Base::of(&args.compare, &args.input, &output.terminal).await?;
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    let invocation = Invocation { base: base.as_ref(), restores, ..invocation };
    let contexts = ChosenContexts::of(&args.connection)?;
    let to_follow = args.plan.as_deref().map(|path| PlanToFollow::read(path, &contexts)).transpose()?;
    if let (Some(set), Some(PlanToFollow { plan, .. })) = (&mut set, &to_follow) {
        set.limits.allowed.extend(plan.prune_allow());
    }
    invocation.in_contexts(contexts, &Apply { args, settings, policy, set, to_follow }).await
}

impl ContextCommand for Apply<'_> {
    const NAME: Command = Command::Apply;

    fn early_reads(&self) -> Vec<EarlySubject> {
        early_reads(&self.args.compare, self.args.shard, [])
    }

    async fn pass(&self, run: &Run<'_>, desired: DesiredSet) -> Result<Report, Failure> {
        let Self { args, set, .. } = self;
        let policy = &run.policy(&self.policy, &desired);
        let Run { server, output, .. } = run;
        output.name_cluster(&run.info);
        let gate = FailOn::default();
        let wait = args.wait.duration();
        let events = Events::new(output, wait.is_some_and(|timeout| !timeout.is_zero()));
        let events = events.with_flags(&args.compare);
        let apply_set = Planned::prepare(set.as_ref(), &policy.adopt, server, &desired).await?;
        let plan = run.plan_with(&args.compare, desired, apply_set.as_ref().map(Planned::set)).await?;
        if let Some(to_follow) = &self.to_follow {
            let flags = flags(&args.compare, &args.prune, args.shard, run.base);
            to_follow.check(&run.info, &flags, &digests(&flags, plan.targets()))?;
        }
        let comparison = run.comparison(&args.compare, policy, &plan, &events);
        // Objects of this shard still come after the objects of other shards that they need.
        let plan = plan.shard(args.shard.shard, |need| need >= DependencyKind::Existence);
        let mut pass = Box::pin(Reconciliation::compare(comparison, plan, apply_set)).await;
        output.details(pass.unproven());
        // What is left because of a former object is part of what was planned.
        run.read_rest(&events.builder, &mut pass, args.shard.shard).await;
        if let Some(PlanToFollow { plan, .. }) = &self.to_follow {
            pass.keep_to_plan(&|target, decision| plan.consent(&ObjectReport::new(target, decision)), &|key, diff| {
                plan.consent(&ObjectReport::unwanted(key, diff.clone())) == Consent::Write
            });
        }
        let would_be = events.builder.report(Command::Diff, &gate, &pass);
        // A reader that went away changes nothing about the pass.
        let _ = output.text(&text::differences(&would_be, &output.view));
        if !(args.confirm && pass.has_work()) {
            run.asks_nothing();
        } else if !run.confirmed(&would_be).await {
            return Ok(Report { command: Command::Apply, ..would_be });
        }
        if args.confirm {
            pass.hold_what_differs_from_what_was_shown();
            pass.allow_deletions();
        }
        drop(would_be);

        pass.act(wait).await;
        let mut report = events.builder.last_report(Command::Apply, &gate, &pass);
        // Differences are resolved now, and what the server warns of stays.
        let classes = args.compare.fail_on.iter().filter(|class| **class == FailClass::Warnings);
        report.fail_on = classes.map(|class| class.name()).collect();
        pass.end();
        Ok(report)
    }

    fn show(&self, report: &Report, output: &Output) -> Result<(), Closed> {
        output.warn(report);
        if self.args.compare.explain_ignores {
            output.text(&explained(report, &self.settings.ignore, &output.view))?;
        }
        if !output.view.summary {
            output.text(&outcomes::left(report, &output.view))?;
            output.text(&readiness::left(report, &output.view))?;
        }
        // The first line named the cluster.
        output.text(&text::summary(report, &View { is_headed: true, ..output.view.clone() }))
    }
}

/// The policy of a run that writes. With `--confirm`, there has to be a terminal to ask on.
fn writing_policy(args: &ApplyArgs, settings: &Settings) -> Result<Policy, Failure> {
    let mut policy = policy(&args.compare, settings)?;
    if policy.evidence == EvidenceMode::ReadOnly {
        let message = "`apply` writes, which `--evidence=read-only` forbids";
        return Err(Failure::refused(message, "compare with `diff --evidence=read-only`"));
    }
    if args.confirm {
        can_confirm(&args.input)?;
    }
    // Skip the dry run of a creation: the write reports the same errors, unless `--confirm` has to show them first, or `--plan` has
    // to find what `diff` has found.
    policy.tries_creations = args.confirm || args.plan.is_some() || policy.evidence == EvidenceMode::Server;
    Ok(policy)
}
