//! `diff`: read desired, read current, compare, report.

mod offline;

use std::path::PathBuf;

use clap::{Args, ValueHint};
use reconcile_core::compare::{Class, Policy};
use reconcile_core::manifest::{DesiredSet, ReleaseInfo};
use reconcile_core::object::Shard;
use reconcile_core::plan::{DependencyKind, Plan};
use reconcile_report::formats::text::{self, explained};
use reconcile_report::upgrade_warning;
use reconcile_report::{Baseline, ClusterInfo, Command, FailClass, FailOn, Failure, KnownDifferences, Report};
use tokio_util::sync::CancellationToken;

use crate::cli::{CompareArgs, ConnectOptions, InputArgs, OutputArgs, PruneArgs, ShardArgs, WaitTimeout};
use crate::config::suggestion;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::engine::upgrade::refused_by_upgrade;
use crate::live::admission::Admission;
use crate::live::early::EarlySubject;
use crate::output::Output;
use crate::output::events::Events;
use crate::run::audit_log::{AuditLogs, PluralNames, plural_names};
use crate::run::base::{Base, allows_pruning};
use crate::run::contexts::ChosenContexts;
use crate::run::driver::ContextCommand;
use crate::run::earlier_runs::{PlanFile, baseline, digests, flags};
use crate::run::invocation::{Invocation, Run};
use crate::run::reading::captured::contexts;
use crate::run::reading::stored::restores;
use crate::run::settings::{Configured, Settings};
use crate::run::setup::{early_reads, policy, requested};
use crate::run::unmanaged::UnmanagedSearch;
use crate::terminal::Closed;

pub(super) const AFTER_HELP: &str = "\
Exit codes (with --apply those of `apply`):
  0    in sync (with --exit-zero also when there is drift)
  1    drift found
  2    invalid flags, configuration or input, and nothing was compared;
       or a report could not be written
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be compared; the others were
  130  interrupted

Examples:
  # Compare a directory of manifests with the cluster
  kubectl reconcile diff -f deploy/

  # Compare the output of another tool
  helm template shop ./chart | kubectl reconcile diff -f -

  # In a pipeline: read subdirectories too, and also write a JSON report
  kubectl reconcile diff -f deploy/ -R -o json=report.json

  # Also show the members of an apply set that pruning would delete
  kubectl reconcile diff -f deploy/ --prune --applyset shop

  # In one of four runs that share the work: compare a quarter of the objects
  kubectl reconcile diff -f deploy/ --shard 0/4 -o json=shard-0.json

  # Print a configuration that ignores the current differences, to be reviewed and committed
  kubectl reconcile diff -f deploy/ --suggest-ignores > suggested.yaml

  # Name the users who changed fields and deleted objects, from the audit log of the API server
  kubectl reconcile diff -f deploy/ --audit-log audit.log

  # Compare without a cluster, with objects saved by `kubectl reconcile snapshot`
  kubectl reconcile diff -f deploy/ --live live.yaml";

/// `diff`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "a flag is typed or not")]
pub struct DiffArgs {
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
    /// Apply the differences, like `kubectl reconcile apply`
    #[arg(long, help_heading = "Apply")]
    pub apply: bool,
    /// With `--apply`: ask for confirmation on the terminal before writing
    #[arg(long, help_heading = "Apply", requires = "apply")]
    pub confirm: bool,
    /// With `--apply`: wait until all objects are ready
    #[arg(long, requires = "apply", help_heading = "Apply")]
    pub wait: bool,
    /// With `--wait`: how long to wait, such as `90s` or `10m`; `0` checks once [default: 5m]
    #[arg(long, value_name = "DURATION", requires = "wait", help_heading = "Apply")]
    pub timeout: Option<WaitTimeout>,
    /// Exit with 0 even if there is drift
    #[arg(long, help_heading = "Output", conflicts_with = "fail_on")]
    pub exit_zero: bool,
    /// Also report objects of these namespaces that no manifest, owner or apply set explains; without a value, of the namespaces of
    /// the manifests
    #[arg(long, value_name = "NAMESPACE,…", num_args = 0..=1, require_equals = true, value_delimiter = ',', help_heading = "Compare",
          conflicts_with_all = ["live", "selector", "apply", "changed_only"])]
    pub report_unmanaged: Option<Vec<String>>,
    /// Print, instead of the differences, a configuration with ignore rules that hide exactly them
    #[arg(long, help_heading = "Output", conflicts_with_all = ["apply", "quiet"])]
    pub suggest_ignores: bool,
    /// Compare with the objects in this file instead of a cluster; an empty file means that no object exists
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Compare", conflicts_with = "apply")]
    pub live: Option<String>,
    /// Write the differences into this file as a plan, which `apply --plan` follows
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output",
          conflicts_with_all = ["apply", "live", "suggest_ignores"])]
    pub save_plan: Option<PathBuf>,
    /// Fail only for differences that this JSON report of an earlier `diff` does not have, and show only those
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Compare", conflicts_with = "apply")]
    pub baseline: Option<PathBuf>,
    /// With `--baseline`: also show the differences that it has
    #[arg(long, help_heading = "Compare", requires = "baseline")]
    pub show_known: bool,
    /// Name the users behind field managers, and those who deleted objects, from this audit log of the API server: JSON lines, also
    /// compressed with gzip (repeatable)
    #[arg(long = "audit-log", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Compare", conflicts_with = "apply")]
    pub audit_logs: Vec<PathBuf>,
    /// True for `apply --dry-run --from`, which shows what would be restored
    #[arg(skip)]
    pub restores: bool,
    /// Flags for the output
    #[command(flatten)]
    pub output: OutputArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectOptions,
}

struct Diff<'a> {
    args: &'a DiffArgs,
    settings: &'a Settings,
    policy: Policy,
    set: Option<Requested>,
    baseline: Option<Baseline>,
    plan_file: Option<PlanFile>,
    audit_logs: AuditLogs,
}

/// Runs the command to its exit code.
pub(super) async fn run(args: &DiffArgs, configured: Configured) -> Result<u8, Failure> {
    let output = Output::new(&args.output)?.paged(&args.output).of_shard(args.shard).showing_known(args.show_known);
    let adopted = FailClass::Of(Class::Adopted);
    let output = output.showing_ownership(args.compare.strict_ownership || args.compare.fail_on.contains(&adopted));
    let identifies = args.baseline.is_some() || args.save_plan.is_some() || output.writes_document();
    let output = output.identifying_cluster(identifies);
    let result = diff(args, configured, &output).await;
    Ok(result.unwrap_or_else(|failure| output.failed(Command::Diff, failure)))
}

async fn diff(args: &DiffArgs, configured: Configured, output: &Output) -> Result<u8, Failure> {
    if args.save_plan.is_some() && args.input.from.is_some() {
        let hint = "a plan is for manifests: pass them with `-f`, or leave out `--save-plan`";
        return Err(Failure::refused("`apply --from` follows no saved plan", hint));
    }
    let settings = &Settings::of(configured?, output);
    let policy = Policy { keeps_versions: output.shows_versions(), ..policy(&args.compare, settings)? };
    let set = requested(&args.prune, &args.input, args.shard.shard, &settings.configuration.expect)?;
    allows_pruning(&args.compare, set.is_some())?;
    let contexts = allowed_contexts(args, set.is_some(), output)?;
    let restores =
        args.restores && restores(&args.input, &args.compare, args.prune.prune || args.prune.applyset.is_some())?;
    let base = Base::of(&args.compare, &args.input, &output.terminal).await?;
    let base = base.as_ref();
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    let invocation = Invocation { has_live: true, base, restores, ..invocation };
    let baseline = args.baseline.as_deref().map(baseline).transpose()?;
    let plan_file = args.save_plan.as_deref().map(|path| PlanFile::open(path, &contexts)).transpose()?;
    let audit_logs = AuditLogs::open(&args.audit_logs, &contexts)?;
    let diff = Diff { args, settings, policy, set, baseline, plan_file, audit_logs };
    match &args.live {
        Some(file) => {
            let report = diff.without_cluster(file, base, output).await?;
            Ok(invocation.reported(&diff, report))
        }
        None => invocation.in_contexts(contexts, &diff).await,
    }
}

impl Diff<'_> {
    /// The differences that the baseline has in a cluster.
    fn known(&self, cluster: Option<&ClusterInfo>, base: Option<&Base>) -> Result<Option<KnownDifferences>, Failure> {
        let Some(baseline) = &self.baseline else { return Ok(None) };
        let known = baseline.of(cluster, base.is_some()).map_err(Failure::invalid)?;
        Ok(Some(known.of_input(baseline, |file| self.args.input.has_file(file))))
    }

    /// Names the users whom the audit logs have.
    async fn name_users(&self, report: &mut Report, plurals: &PluralNames, stop: &CancellationToken) {
        let Report { objects, warnings, .. } = report;
        warnings.extend(self.audit_logs.name_users(objects, plurals, &self.policy.manager, stop).await);
    }
}

impl ContextCommand for Diff<'_> {
    const NAME: Command = Command::Diff;

    fn early_reads(&self) -> Vec<EarlySubject> {
        early_reads(&self.args.compare, self.args.shard, [EarlySubject::Admission])
    }

    async fn pass(&self, run: &Run<'_>, desired: DesiredSet) -> Result<Report, Failure> {
        let Self { args, set, .. } = self;
        let policy = &run.policy(&self.policy, &desired);
        let Run { server, output, .. } = run;
        let cluster = run.info.clone();
        let gate = gate(args);
        let events = Events::new(output, false).with_flags(&args.compare);
        let events = events.beside(self.known(Some(&cluster), run.base)?);
        let admission = Admission::load(&server.cluster, &server.discovery);
        let apply_set = Planned::prepare(set.as_ref(), &policy.adopt, server, &desired).await?;
        let hooks = run.hooks(&desired);
        let releases = desired.releases.as_ref().filter(|_| !self.args.restores).into_iter();
        let of_helm_4: Vec<ReleaseInfo> = releases.flat_map(|all| all.server_side().cloned()).collect();
        let plan = run.plan_with(&args.compare, desired, apply_set.as_ref().map(Planned::set)).await?;
        let flags = flags(&args.compare, &args.prune, args.shard, run.base);
        let digests = self.plan_file.as_ref().map(|_| digests(&flags, plan.targets()));
        let comparison = run.comparison(&args.compare, policy, &plan, &events);
        let plan = shard_to_compare(plan, args.shard.shard);
        let unmanaged = UnmanagedSearch::of(args.report_unmanaged.as_deref(), args.shard.shard, &gate, &plan, hooks)?;
        let plurals = plural_names(plan.targets());
        // What is requested first leaves first: a comparison may take a while before it waits.
        let (admission, mut pass) = futures::join!(admission, Reconciliation::compare(comparison, plan, apply_set));
        output.details(pass.unproven());

        run.read_rest(&events.builder, &mut pass, args.shard.shard).await;
        pass.warn_of_skips();
        let planned = self.plan_file.as_ref().map(|_| events.builder.plan(&gate));
        let mut report = events.builder.last_report(Command::Diff, &gate, &pass);
        let caveats = admission.caveats(pass.proven().filter_map(|target| target.resource.as_deref().ok()));
        report.warnings.splice(..0, caveats);
        if !of_helm_4.is_empty() {
            let refused = refused_by_upgrade(pass.comparison(), pass.decided(), &of_helm_4).await;
            let warning = |release: &ReleaseInfo| upgrade_warning(refused.get(&release.named())?, release);
            report.warnings.extend(of_helm_4.iter().filter_map(warning));
        }
        if let (Some(file), Some(digests), Some(planned), false) =
            (&self.plan_file, digests, planned, run.interrupt.is_set())
        {
            report.warnings.extend(file.write(&planned, cluster.clone(), flags, digests)?);
        }
        self.name_users(&mut report, &plurals, run.interrupt.token()).await;
        report.cluster = Some(cluster);
        if let Some(unmanaged) = unmanaged {
            report = unmanaged.add_to(report, server).await;
        }
        pass.end();
        Ok(report)
    }

    fn show(&self, report: &Report, output: &Output) -> Result<(), Closed> {
        output.warn(report);
        let ignore = &self.settings.ignore;
        if self.args.suggest_ignores {
            output.terminal.warn(text::object_warnings(&report.objects, &output.view));
            return output.terminal.data(&suggestion(&self.settings.configuration, ignore, report));
        }
        output.text(&text::findings(report, &output.view))?;
        if self.args.compare.explain_ignores {
            output.text(&explained(report, ignore, &output.view))?;
        }
        output.text(&text::summary(report, &output.view))
    }
}

/// The objects of a shard. Namespaces and definitions of other shards are read, too: their changes affect the objects of this shard.
fn shard_to_compare(plan: Plan, shard: Option<Shard>) -> Plan {
    plan.shard(shard, |need| need >= DependencyKind::Inside)
}

/// The differences that make the command fail.
pub(crate) fn gate(args: &DiffArgs) -> FailOn {
    FailOn {
        exit_zero: args.exit_zero,
        strict_ownership: args.compare.strict_ownership,
        classes: args.compare.fail_on.clone(),
        show_unmanaged: args.compare.show_unmanaged,
    }
}

/// The contexts of the run. Flags that cannot be combined are refused.
fn allowed_contexts(args: &DiffArgs, prunes: bool, output: &Output) -> Result<ChosenContexts, Failure> {
    if args.live.is_some() && prunes {
        let message = "`--prune` needs a cluster: a snapshot does not show the members of a set";
        return Err(Failure::refused(message, "leave `--live` out"));
    }
    let contexts = contexts(args.live.is_some(), &args.connection, &args.input, "compared")?;
    if args.live.is_some() && args.compare.evidence.base.is_helm() {
        let message = "`--base helm` reads releases from the cluster, and `--live` replaces the cluster";
        return Err(Failure::refused(message, "pass what `helm get manifest` prints with `--base`"));
    }
    if args.suggest_ignores {
        suggests_on_stdout(contexts.are_several(), output)?;
    }
    Ok(contexts)
}

/// One configuration goes to standard output, and nothing else does.
fn suggests_on_stdout(are_several: bool, output: &Output) -> Result<(), Failure> {
    if !output.shows_text() {
        let message = "`--suggest-ignores` and a report cannot share standard output";
        return Err(Failure::refused(message, "send the report to a file, as in `-o json=report.json`"));
    }
    if are_several {
        let message = "`--suggest-ignores` and several contexts cannot be combined";
        return Err(Failure::refused(message, "run it for one context after the other"));
    }
    Ok(())
}
