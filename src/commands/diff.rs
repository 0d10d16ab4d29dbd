//! `diff`: read desired, read current, compare, report.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reconcile_report::formats::text::{self, explained, summary};
use reconcile_report::{Baseline, ClusterInfo, Command, KnownDifferences, Report};

use crate::cli::DiffArgs;
use crate::config::suggestion;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::live::admission::Admission;
use crate::live::early::EarlySubject;
use crate::session::apply_set::requested;
use crate::session::audit_log::{AuditLogs, PluralNames, plural_names};
use crate::session::captured::without_cluster;
use crate::session::configured::{Configured, Settings};
use crate::session::context_command::ContextCommand;
use crate::session::diff_flags::{excluded, gate};
use crate::session::events::Events;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::plan_file::{PlanFile, digests, flags};
use crate::session::report_input::baseline;
use crate::session::run::{Invocation, Run};
use crate::session::setup::{early_reads, policy};
use crate::session::unmanaged::UnmanagedSearch;
use crate::terminal::Closed;
use reconcile_core::compare::Policy;
use reconcile_core::manifest::DesiredSet;
use reconcile_core::plan::DependencyKind;

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
    let identifies = args.baseline.is_some() || args.save_plan.is_some() || output.writes_baseline();
    let output = output.identifying_cluster(identifies);
    let result = diff(args, configured, &output).await;
    Ok(result.unwrap_or_else(|failure| output.failed(Command::Diff, failure)))
}

async fn diff(args: &DiffArgs, configured: Configured, output: &Output) -> Result<u8, Failure> {
    let settings = &Settings::of(configured?, output);
    let policy = Policy { keeps_versions: output.shows_versions(), ..policy(&args.compare, settings)? };
    let set = requested(&args.prune, &args.input, args.shard.shard)?;
    excluded(args, set.is_some(), output)?;
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let baseline = args.baseline.as_deref().map(baseline).transpose()?;
    let plan_file = args.save_plan.as_deref().map(|path| PlanFile::open(path, &args.connection)).transpose()?;
    let audit_logs = AuditLogs::open(&args.audit_logs, &args.connection)?;
    let diff = Diff { args, settings, policy, set, baseline, plan_file, audit_logs };
    match &args.live {
        Some(file) => {
            let (policy, known) = (&diff.policy, diff.known(None)?);
            let (mut report, plurals) = without_cluster(args, file, policy, settings, known, output).await?;
            diff.name_users(&mut report, &plurals, Arc::default()).await;
            Ok(invocation.reported(&diff, report))
        }
        None => invocation.in_contexts(&diff).await,
    }
}

impl Diff<'_> {
    /// The differences that the baseline has in a cluster.
    fn known(&self, cluster: Option<&ClusterInfo>) -> Result<Option<KnownDifferences>, Failure> {
        let Some(baseline) = &self.baseline else { return Ok(None) };
        let known = baseline.of(cluster).map_err(Failure::invalid)?;
        Ok(Some(known.of_input(baseline, |file| self.args.input.has_file(file))))
    }
}

impl Diff<'_> {
    /// Names the users whom the audit logs have.
    async fn name_users(&self, report: &mut Report, plurals: &PluralNames, stop: Arc<AtomicBool>) {
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
        let Self { args, policy, set, .. } = self;
        let Run { server, output, .. } = run;
        let cluster = run.info.clone();
        let (gate, events) = (gate(args), Events::new(output, false).beside(self.known(Some(&cluster))?));
        let admission = Admission::load(&server.cluster, &server.discovery);
        let apply_set = Planned::prepare(set.as_ref(), &policy.adopt, server, &desired).await?;
        let hooks = run.hooks(&desired);
        let plan = run.plan_with(&args.compare, desired, apply_set.as_ref().map(Planned::set)).await?;
        let digests = self.plan_file.as_ref().map(|_| digests(plan.targets()));
        let comparison = run.comparison(&args.compare, policy, &plan, &events);
        // Namespaces and definitions of other shards are read, too: their changes affect the objects of this shard.
        let plan = plan.shard(args.shard.shard, |need| need >= DependencyKind::Inside);
        let unmanaged = UnmanagedSearch::of(args, &gate, &plan, hooks)?;
        let plurals = plural_names(plan.targets());
        // What is requested first leaves first: a comparison may take a while before it waits.
        let (admission, pass) = futures::join!(admission, Reconciliation::compare(comparison, plan, apply_set));
        output.details(pass.unproven());

        let mut report = events.builder.last_report(Command::Diff, &gate, &pass);
        let caveats = admission.caveats(pass.proven().filter_map(|target| target.resource.as_ref().ok()));
        report.warnings.splice(..0, caveats);
        if let (Some(file), Some(digests), false) = (&self.plan_file, digests, run.interrupt.is_set()) {
            file.write(&report, cluster.clone(), flags(&args.compare, &args.prune, args.shard), digests)?;
        }
        self.name_users(&mut report, &plurals, run.interrupt.flag()).await;
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
            return output.terminal.data(&suggestion(&self.settings.configuration, ignore, report));
        }
        output.text(&text::findings(report, &output.view))?;
        if self.args.compare.explain_ignores {
            output.text(&explained(report, ignore, &output.view))?;
        }
        output.text(&summary::summary(report, &output.view))
    }
}
