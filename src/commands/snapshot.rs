//! `snapshot`: read desired, read current, save.

use std::path::Path;

use reconcile_report::Role;
use reconcile_report::{EXIT_INCOMPLETE, EXIT_SUCCESS};
use serde_json::Value;

use crate::cli::SnapshotArgs;
use crate::engine::server::Server;
use crate::live::definitions::definitions_beside;
use crate::live::early::EarlySubject;
use crate::live::fetch::fetch;
use crate::session::configured::{Configured, Settings};
use crate::session::direct_file::Readers;
use crate::session::failure::Failure;
use crate::session::output::{Output, unwritable};
use crate::session::report_file::ReportFile;
use crate::session::run::Invocation;
use crate::terminal::Terminal;
use reconcile_core::compare::{Redactor, withheld};
use reconcile_core::live::snapshot::{heading, unreadable, written};
use reconcile_core::live::{LiveState, Target};

/// Runs the command to its exit code.
pub(super) async fn run(args: &SnapshotArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let settings = &Settings::of(configured?, output);
    // A file with the values of Secrets is readable only by its owner from the moment it exists.
    let readers = if args.include_secrets { Readers::Owner } else { Readers::Usual };
    let open = |file: &String| match ReportFile::open(Path::new(file), readers) {
        Ok(opened) => Ok((file.clone(), opened)),
        Err(error) => Err(Failure::invalid(unwritable(file, &error))),
    };
    let file = args.file.as_ref().map(open).transpose()?;
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let early = if args.shard.shard.is_some() { Vec::new() } else { vec![EarlySubject::Objects] };
    let (run, desired) = invocation.begin("snapshot", early).await?;
    let Server { cluster, namespaces, .. } = &run.server;
    let plan = run.plan(desired, None)?.shard(args.shard.shard, |_| false);
    let targets: Vec<&Target> = plan.targets().collect();
    let (states, definitions) = futures::join!(fetch(cluster, &targets), definitions_beside(cluster, &targets));
    if run.interrupt.is_set() {
        return Err(Failure::interrupted("the run was interrupted: no snapshot was written"));
    }
    let redactor = Redactor::default();
    let mut documents = vec![heading(&namespaces.default)];
    documents.extend(definitions);
    let mut code = EXIT_SUCCESS;
    for (target, state) in targets.iter().zip(states) {
        if let LiveState::Unreadable(diagnostic) = &state {
            terminal.note(Role::Error, &format!("error: {}: {}", target.key, diagnostic.message));
            code = EXIT_INCOMPLETE;
        }
        documents.extend(document(target, state, args.include_secrets, &redactor));
    }
    let text = written(&documents);
    match file {
        Some((name, file)) => {
            file.write(text.as_bytes()).map_err(|error| Failure::invalid(unwritable(&name, &error)))?;
        }
        // A reader that went away ends the run quietly.
        None => drop(terminal.document(&text)),
    }
    Ok(code)
}

/// The object as the snapshot has it; `None` if it does not exist.
fn document(target: &Target, state: LiveState, with_secrets: bool, redactor: &Redactor) -> Option<Value> {
    match state {
        LiveState::Absent => None,
        LiveState::Unreadable(diagnostic) => Some(unreadable(target, &diagnostic)),
        LiveState::Present(object) if with_secrets => Some(object),
        LiveState::Present(object) => Some(withheld(&target.key.gvk, target.desired.object(), &object, redactor)),
    }
}
