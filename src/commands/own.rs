//! `own`: read desired, read current, compare, give fields to a manager, report.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};
use reconcile_core::compare::{EvidenceMode, FIELD_MANAGER, Policy};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::own::Recipient;
use reconcile_core::rules::Glob;
use reconcile_report::formats::text::owned;
use reconcile_report::{Command, Failure, Report, View};

use crate::cli::{
    AutoscalerChoice, BaseArgs, CompareArgs, ConnectOptions, EvidenceArgs, EvidenceChoice, FromSource, InputArgs,
    OutputArgs, ShardArgs, WritingArgs,
};
use crate::commands::apply::DryRunChoice;
use crate::engine::own::OwnRun;
use crate::live::early::EarlySubject;
use crate::output::events::Events;
use crate::output::{Output, now};
use crate::run::audit_log::{AuditLogs, plural_names};
use crate::run::contexts::ChosenContexts;
use crate::run::driver::ContextCommand;
use crate::run::invocation::{Invocation, Run};
use crate::run::settings::{Configured, Settings};
use crate::run::setup::{early_reads, policy};
use crate::terminal::Closed;

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    the fields were given, or there was nothing to do
  1    with --dry-run: there are fields to give
  2    invalid flags, configuration or input, and nothing was changed;
       or a report could not be written
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be handed over, does not exist, or has a
       field that differs from its manifest; the others were handed over
  130  interrupted; the report shows what was done

Examples:
  # Show who would lose fields, and who would get them
  kubectl reconcile own -f deploy/ --dry-run

  # Record the fields of the manifests as ours, after manual changes
  kubectl reconcile own -f deploy/

  # Give the fields of a release back to Helm
  kubectl reconcile own --from helm/shop

  # Hand a directory to Flux
  kubectl reconcile own -f deploy/ --field-manager kustomize-controller

  # Take it over from Argo CD, whose claims end
  kubectl reconcile own -f deploy/ --release 'argocd-*'";

/// `own`
#[derive(Debug, Args)]
pub struct OwnArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// The flag that selects a shard of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Name of the field manager that gets the fields [default: `kubectl-reconcile`, or `helm` with `--from helm/RELEASE`]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Ownership")]
    pub field_manager: Option<String>,
    /// Other field managers whose claims on these fields end, such as `argocd-*` (repeatable); those of manual changes always do
    #[arg(long, value_name = "GLOB,…", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new(), help_heading = "Ownership")]
    pub release: Vec<String>,
    /// Only show who would lose fields and who would get them; exit with 1 if there are any
    #[arg(long, value_name = "MODE", num_args = 0..=1, require_equals = true, default_missing_value = "server", help_heading = "Ownership")]
    pub dry_run: Option<DryRunChoice>,
    /// Name the users behind the field managers that lose fields, from this audit log of the API server: JSON lines, also compressed with
    /// gzip (repeatable)
    #[arg(long = "audit-log", value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Ownership")]
    pub audit_logs: Vec<PathBuf>,
    /// Treatment of fields that an autoscaler changes: leave them alone (respect), or treat them like all other fields (ignore)
    #[arg(long, value_name = "MODE", default_value = "respect", help_heading = "Compare")]
    pub autoscalers: AutoscalerChoice,
    /// Flags for the output
    #[command(flatten)]
    pub output: OutputArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectOptions,
}

impl OwnArgs {
    /// The field manager that gets the fields.
    fn manager(&self) -> &str {
        match (&self.field_manager, &self.input.from) {
            (Some(manager), _) => manager,
            (None, Some(FromSource::Helm { .. } | FromSource::Releases)) => "helm",
            (None, _) => FIELD_MANAGER,
        }
    }

    /// The flags of the comparison with the manifests.
    fn compare(&self) -> CompareArgs {
        let is_local = self.dry_run == Some(DryRunChoice::Client);
        let evidence = EvidenceArgs {
            // `kubectl apply --server-side` may get fields, although no apply of ours may share its name.
            field_manager: if self.manager() == KUBECTL { FIELD_MANAGER } else { self.manager() }.to_owned(),
            evidence: if is_local { EvidenceChoice::ReadOnly } else { EvidenceChoice::Auto },
            autoscalers: self.autoscalers,
            base: BaseArgs::default(),
        };
        CompareArgs::only(&evidence, &WritingArgs::default())
    }
}

/// The field manager of `kubectl apply --server-side`.
const KUBECTL: &str = "kubectl";

struct Own<'a> {
    args: &'a OwnArgs,
    compare: CompareArgs,
    policy: Policy,
    released: Vec<Glob>,
    audit_logs: AuditLogs,
}

/// Runs the command to its exit code.
pub(super) async fn run(args: &OwnArgs, configured: Configured) -> Result<u8, Failure> {
    let output = Output::new(&args.output)?.of_shard(args.shard);
    let result = own(args, configured, &output).await;
    Ok(result.unwrap_or_else(|failure| output.failed(Command::Own, failure)))
}

async fn own(args: &OwnArgs, configured: Configured, output: &Output) -> Result<u8, Failure> {
    let settings = &Settings::of(configured?, output);
    let compare = args.compare();
    // An object that does not exist is not created, so that no dry run tries its creation.
    let policy = Policy { tries_creations: false, manager: args.manager().to_owned(), ..policy(&compare, settings)? };
    let released = args.release.iter().map(|text| Glob::new(text)).collect();
    let contexts = ChosenContexts::of(&args.connection)?;
    let audit_logs = AuditLogs::open(&args.audit_logs, &contexts)?;
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    invocation.in_contexts(contexts, &Own { args, compare, policy, released, audit_logs }).await
}

impl ContextCommand for Own<'_> {
    const NAME: Command = Command::Own;

    fn early_reads(&self) -> Vec<EarlySubject> {
        early_reads(&self.compare, self.args.shard, [])
    }

    async fn pass(&self, run: &Run<'_>, desired: DesiredSet) -> Result<Report, Failure> {
        let Self { args, compare, policy, released, audit_logs } = self;
        let writes = args.dry_run.is_none();
        if writes {
            run.output.name_cluster(&run.info);
        }
        let events = Events::new(run.output, false);
        let plan = run.plan(desired, None)?;
        let mut comparison = run.comparison(compare, policy, &plan, &events);
        comparison.warns_of_sets = false;
        let plan = plan.shard(args.shard.shard, |_| false);
        let time = now();
        let recipient = Recipient { policy, released, time: &time, names_owners: !args.audit_logs.is_empty() };
        let tries = !writes && policy.evidence != EvidenceMode::ReadOnly;
        let plurals = plural_names(plan.targets());
        let pass = Box::pin(OwnRun::compare(comparison, plan, &recipient, tries)).await;
        let mut shown = events.builder.handed_over(false);
        let stop = run.interrupt.token();
        let unread = audit_logs.name_users(&mut shown.objects, &plurals, &policy.manager, stop).await;
        if writes {
            // A reader that went away changes nothing about the pass.
            let _ = run.output.text(&owned::transfers(&shown, &run.output.view));
            pass.act(&recipient).await;
        }
        let mut report = events.builder.handed_over(writes);
        report.name_users_of(shown);
        report.warnings.extend(pass.warnings(released).chain(unread));
        Ok(report)
    }

    fn show(&self, report: &Report, output: &Output) -> Result<(), Closed> {
        output.warn(report);
        if self.args.dry_run.is_some() {
            return output.text(&owned::whole(report, &output.view));
        }
        output.text(&owned::left(report, &output.view))?;
        // The first line named the cluster.
        output.text(&owned::summary(report, &View { is_headed: true, ..output.view.clone() }))
    }
}
