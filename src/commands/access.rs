//! `access`: read desired, derive the permissions, ask the server which ones the user has, report.

use std::collections::BTreeSet;

use reconcile_report::access::AccessReport;

use crate::cli::{AccessArgs, AccessFormat, EvidenceChoice, PurposeChoice, ReplaceChoice};
use crate::client::is_path_segment;
use crate::engine::namespaces::needed_namespaces;
use crate::engine::prune::reach;
use crate::engine::server::Server;
use crate::engine::unmanaged::searched;
use crate::live::autoscalers::AutoscalerSource;
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::review::reviewed;
use crate::session::run::Invocation;
use crate::session::stored::reads_of_stored;
use crate::session::unmanaged::namespaces_of;
use crate::terminal::Terminal;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::Target;
use reconcile_core::plan::access::{Access, Needs, Purpose};

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &AccessArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let report = report(args, configured, output).await;
    let stopped = (args.output == AccessFormat::Json).then_some(AccessReport::stopped);
    output.print_report(report, stopped, |report, terminal| match args.output {
        AccessFormat::Text => terminal.text(&report.text()),
        AccessFormat::Json => terminal.data(&report.json()),
        AccessFormat::Yaml => {
            let printed = terminal.document(&report.yaml());
            terminal.message(&report.missing());
            printed
        }
    })
}

async fn report(args: &AccessArgs, configured: Configured, output: &Output) -> Result<AccessReport, Failure> {
    let settings = &Settings::of(configured?, output);
    let set = requested(&args.prune, &args.input, None)?;
    excluded(args)?;
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let (run, desired) = invocation.begin("access", Vec::new()).await?;
    let Server { cluster, discovery, .. } = &run.server;
    let (prunes, unreadable) = match &set {
        Some(set) => reach(set, &run.server).await.map(|(pruned, unreadable)| (Some(pruned), unreadable))?,
        None => (None, None),
    };
    let plan = run.plan(desired, None)?;
    let mut targets: Vec<&Target> = plan.targets().collect();
    let namespaces = if args.create_namespace {
        let required = run.server.namespaces.required.as_deref();
        let of_set = prunes.as_ref().and_then(|pruned| pruned.namespace.as_deref());
        needed_namespaces(&run.server, &targets, required.into_iter().chain(of_set))
    } else {
        Vec::new()
    };
    targets.extend(&namespaces);
    let mut errors: Vec<Diagnostic> =
        unreadable.into_iter().chain(targets.iter().filter_map(|target| unknown(target))).collect();
    let unmanaged = match &args.report_unmanaged {
        Some(named) => (searched(discovery), namespaces_of(named, targets.iter().map(|target| &target.key))?),
        None => Default::default(),
    };
    let needs = Needs {
        asks: args.evidence != EvidenceChoice::ReadOnly,
        replaces: args.replace == ReplaceChoice::Immutable,
        by_name: args.by_name,
        waits: args.wait,
        prunes,
        autoscalers: AutoscalerSource::new(discovery, targets.iter().copied()).searched(&targets),
        unmanaged,
        stored: reads_of_stored(&args.input, &run.server).await?,
    };
    let Access { roles, permissions, optional } = Access::of(&targets, &purposes(args), &needs, &args.name, discovery);
    let reviewed = reviewed(cluster, permissions, &mut errors).await?;
    Ok(AccessReport::new(roles, reviewed, optional.into_iter().collect(), errors).binding(&args.subjects).of(run.info))
}

/// Refuses flags for which no roles can be made.
fn excluded(args: &AccessArgs) -> Result<(), Failure> {
    if args.prune.applyset_recover {
        let hint = "it may delete objects of any kind in any namespace: leave that to an administrator";
        return Err(Failure::refused("the permissions for `--applyset-recover` cannot be listed", hint));
    }
    if !args.subjects.is_empty() && args.output == AccessFormat::Text {
        return Err(Failure::refused(
            "`--subject` prints bindings, which `-o text` does not",
            "use `-o yaml` or `-o json`",
        ));
    }
    if !is_path_segment(&args.name) {
        return Err(Failure::refused("`--name` cannot be part of the name of a role", "leave out `/` and `%`"));
    }
    Ok(())
}

fn purposes(args: &AccessArgs) -> BTreeSet<Purpose> {
    let purpose = |choice: &PurposeChoice| match choice {
        PurposeChoice::Diff | PurposeChoice::Pull => Purpose::Diff,
        PurposeChoice::Apply | PurposeChoice::Resolve => Purpose::Apply,
        PurposeChoice::Blame => Purpose::Blame,
    };
    args.purposes.iter().map(purpose).collect()
}

/// An error if the permissions for a target are not known.
fn unknown(target: &Target) -> Option<Diagnostic> {
    let diagnostic = target.resource.as_ref().err()?;
    let message = format!("the permissions for {} are not known: {}", target.key, diagnostic.message);
    // A mistake in the manifest has its own location.
    let Diagnostic { location, excerpt, .. } = diagnostic.details.first().unwrap_or(diagnostic).clone();
    Some(Diagnostic { message, location, excerpt, ..diagnostic.clone() })
}
