//! `access`: read desired, derive what has to be allowed, ask the server what is, report.

use std::collections::BTreeSet;

use anyhow::Context as _;

use crate::cli::{AccessArgs, AccessFormat, EvidenceChoice, PurposeChoice, ReplaceChoice};
use crate::client::is_path_segment;
use crate::diagnostic::Diagnostic;
use crate::engine::prune::reach;
use crate::engine::unmanaged::searched;
use crate::live::Target;
use crate::live::autoscalers::AutoscalerSource;
use crate::plan::access::{Access, Needs, Purpose};
use crate::report::access::AccessReport;
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::contexts::only_one;
use crate::session::failure::Failure;
use crate::session::output::tell;
use crate::session::reading::Reading;
use crate::session::review::reviewed;
use crate::session::setup::{Connected, connected, planned};
use crate::session::signals::listen;
use crate::session::unmanaged::namespaces_of;
use crate::terminal::Terminal;

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: AccessArgs, configured: Configured) -> u8 {
    let terminal = Terminal::themed(args.console.color, args.console.theme, false);
    let shown = match Box::pin(report(&args, configured, &terminal)).await {
        Ok(report) => show(&report, args.output, &terminal).map(|()| report.exit_code),
        Err(failure) => Err(failure),
    };
    shown.unwrap_or_else(|failure| {
        tell(&terminal, &failure.problems);
        let stopped = AccessReport::stopped(failure);
        if args.output == AccessFormat::Json {
            let _ = terminal.data(&stopped.json());
        }
        stopped.exit_code
    })
}

fn show(report: &AccessReport, format: AccessFormat, terminal: &Terminal) -> Result<(), Failure> {
    tell(terminal, report.errors());
    let _ = match format {
        AccessFormat::Text => terminal.text(&report.text()),
        AccessFormat::Json => terminal.data(&report.json()),
        AccessFormat::Yaml => {
            let printed = terminal.document(&report.yaml().context("a role cannot be written as YAML")?);
            terminal.message(&report.missing());
            printed
        }
    };
    Ok(())
}

async fn report(args: &AccessArgs, configured: Configured, terminal: &Terminal) -> Result<AccessReport, Failure> {
    Settings::of(configured?, args.console.verbosity, terminal);
    let set = requested(&args.prune, &args.input, None)?;
    if args.prune.applyset_recover {
        let hint = "it may delete objects of any kind in any namespace: leave that to an administrator";
        return Err(Failure::refused("the permissions for `--applyset-recover` cannot be listed", hint));
    }
    if !is_path_segment(&args.name) {
        return Err(Failure::refused("`--name` cannot be part of the name of a role", "leave out `/` and `%`"));
    }
    let connection = only_one(&args.connection, "access")?;
    let reading = Reading::begin(&args.input, terminal).await?;
    let interrupt = listen(terminal);
    let connecting = connected(&connection, args.console.verbosity, &args.input, terminal, &interrupt);
    let (desired, connected) = Box::pin(reading.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, .. } = connected;
    let (prunes, mut errors) = match &set {
        Some(set) => {
            let (pruned, problems) = reach(set, (&cluster, &catalog, &namespaces)).await?;
            (Some(pruned), problems)
        }
        None => (None, Vec::new()),
    };
    let plan = planned(desired, catalog.clone(), &namespaces, None)?;
    let targets: Vec<&Target> = plan.targets().collect();
    errors.extend(targets.iter().filter_map(|target| unknown(target)));
    let asks = args.evidence != EvidenceChoice::ReadOnly;
    let replaces = args.replace == ReplaceChoice::Immutable;
    let autoscalers = AutoscalerSource::new(&catalog, targets.iter().copied()).searched(&targets);
    let unmanaged = match &args.report_unmanaged {
        Some(named) => (searched(&catalog), namespaces_of(named, targets.iter().map(|target| &target.key))?),
        None => Default::default(),
    };
    let needs = Needs { asks, replaces, by_name: args.by_name, waits: args.wait, prunes, autoscalers, unmanaged };
    let Access { roles, permissions, optional } = Access::of(&targets, &purposes(args), &needs, &args.name, &catalog);
    let reviewed = reviewed(&cluster, permissions, &mut errors).await?;
    Ok(AccessReport::new(roles, reviewed, optional.into_iter().collect(), errors).of(info))
}

fn purposes(args: &AccessArgs) -> BTreeSet<Purpose> {
    let purpose = |choice: &PurposeChoice| match choice {
        PurposeChoice::Diff => Purpose::Diff,
        PurposeChoice::Apply => Purpose::Apply,
    };
    args.purposes.iter().map(purpose).collect()
}

/// Why nothing can be said about a target.
fn unknown(target: &Target) -> Option<Diagnostic> {
    let trouble = target.resource.as_ref().err()?;
    let message = format!("the permissions for {} are not known: {}", target.key, trouble.message);
    Some(Diagnostic { message, ..trouble.clone() })
}
