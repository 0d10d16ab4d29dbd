//! `access`: read desired, derive what has to be allowed, ask the server what is, report.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;

use crate::cli::{AccessArgs, AccessFormat, EvidenceChoice, PurposeChoice, ReplaceChoice};
use crate::client::{Cluster, RequestError};
use crate::diagnostic::Diagnostic;
use crate::engine::prune::reach;
use crate::live::Target;
use crate::live::access::review;
use crate::object::Permission;
use crate::plan::access::{Needs, Purpose, optional, permissions, roles};
use crate::report::access::{AccessReport, Reviewed};
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::failure::Failure;
use crate::session::output::tell;
use crate::session::reading::Reading;
use crate::session::setup::{Connected, connected, planned};
use crate::session::signals::listen;
use crate::terminal::Terminal;

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: AccessArgs, configured: Configured) -> u8 {
    let terminal = Terminal::new(args.console.color, false);
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
    let set = requested(&args.prune, &args.input)?;
    if args.prune.applyset_recover {
        let hint = "it may delete objects of any kind in any namespace: leave that to an administrator";
        return Err(Failure::refused("the permissions for `--applyset-recover` cannot be told", hint));
    }
    let reading = Reading::begin(&args.input, terminal).await?;
    let interrupt = listen(terminal);
    let connecting = connected(&args.connection, args.console.verbosity, &args.input, terminal, &interrupt);
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
    let needs = Needs { asks, replaces: args.replace == ReplaceChoice::Immutable, waits: args.wait, prunes };
    let mut all_roles = Vec::new();
    let (mut needed, mut wished) = (BTreeMap::<Permission, Vec<Purpose>>::new(), BTreeSet::new());
    for purpose in purposes(args) {
        let permissions = permissions(&targets, purpose, &needs);
        all_roles.extend(roles(&permissions, purpose, &args.name));
        permissions.into_iter().for_each(|permission| needed.entry(permission).or_default().push(purpose));
        wished.extend(optional(&catalog, purpose));
    }
    let reviewed = reviewed(&cluster, needed, &mut errors).await?;
    Ok(AccessReport::new(all_roles, reviewed, wished.into_iter().collect(), errors).of(info))
}

fn purposes(args: &AccessArgs) -> BTreeSet<Purpose> {
    let purpose = |choice: &PurposeChoice| match choice {
        PurposeChoice::Diff => Purpose::Diff,
        PurposeChoice::Apply => Purpose::Apply,
    };
    args.purposes.iter().map(purpose).collect()
}

/// Why nothing can be told of a target.
fn unknown(target: &Target) -> Option<Diagnostic> {
    let trouble = target.resource.as_ref().err()?;
    let message = format!("the permissions for {} are not known: {}", target.key, trouble.message);
    Some(Diagnostic { message, ..trouble.clone() })
}

/// Asks the server for each permission. What it cannot answer is an error of the report; an error of all is one of the run.
async fn reviewed(
    cluster: &Cluster,
    needed: BTreeMap<Permission, Vec<Purpose>>,
    errors: &mut Vec<Diagnostic>,
) -> Result<Vec<Reviewed>, RequestError> {
    let answers = review(cluster, &needed.keys().collect::<Vec<_>>()).await;
    let mut reviewed = Vec::with_capacity(needed.len());
    for ((permission, purposes), answer) in needed.into_iter().zip(answers) {
        let allowed = match answer {
            Ok(is_allowed) => Some(is_allowed),
            Err(error) if error.is_whole_run() => return Err(error),
            Err(error) => {
                let trouble = Diagnostic::from(&error);
                let message = format!("whether {permission} is allowed is not known: {}", trouble.message);
                errors.push(Diagnostic { message, ..trouble });
                None
            }
        };
        reviewed.push(Reviewed { purposes, permission, allowed });
    }
    Ok(reviewed)
}
