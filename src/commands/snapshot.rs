//! `snapshot`: read desired, read current, save.

use std::path::Path;

use clap::{Args, ValueHint};
use reconcile_core::compare::{Redactor, Secrecy, withheld};
use reconcile_core::live::snapshot::{heading, unreadable, written};
use reconcile_core::live::{LiveState, Target};
use reconcile_report::{EXIT_INCOMPLETE, EXIT_SUCCESS, Failure};
use serde_json::Value;

use crate::cli::{ConnectOptions, ConsoleArgs, InputArgs, ShardArgs};
use crate::live::definitions::definitions_beside;
use crate::live::discovery::Server;
use crate::live::early::EarlySubject;
use crate::live::fetch::fetch;
use crate::output::atomic_file::AtomicFile;
use crate::output::direct_file::Readers;
use crate::output::{Output, print_diagnostics, print_error_of, unwritable};
use crate::run::invocation::Invocation;
use crate::run::settings::{Configured, Settings};
use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
Exit codes:
  0    the objects were saved; those that do not exist are left out
  2    invalid flags, configuration or input
  3    the cluster cannot be reached, or rejected the credentials
  4    at least one object could not be read; the snapshot says which
  130  interrupted; no snapshot was written

Examples:
  # Save the live objects of the manifests, without the values of Secrets
  kubectl reconcile snapshot -f deploy/ > live.yaml

  # Include the values of Secrets, in a file that only its owner can read
  kubectl reconcile snapshot -f deploy/ --include-secrets --file live.yaml";

/// `snapshot`
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// The flag that selects a shard of their objects
    #[command(flatten)]
    pub shard: ShardArgs,
    /// Include the values of Secrets; a file written with `--file` is then readable only by its owner
    #[arg(long, help_heading = "Output")]
    pub include_secrets: bool,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub file: Option<String>,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectOptions,
}

/// Runs the command to its exit code.
pub(super) async fn run(args: &SnapshotArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let settings = &Settings::of(configured?, output);
    // A file with the values of Secrets is readable only by its owner from the moment it exists.
    let readers = if args.include_secrets { Readers::Owner } else { Readers::Usual };
    let open = |file: &String| match AtomicFile::open(Path::new(file), readers) {
        Ok(opened) => Ok((file.clone(), opened)),
        Err(error) => Err(Failure::invalid(unwritable(file, &error))),
    };
    let file = args.file.as_ref().map(open).transpose()?;
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    let early = if args.shard.shard.is_some() { Vec::new() } else { vec![EarlySubject::Objects] };
    let (run, desired) = invocation.begin("snapshot", early).await?;
    let Server { cluster, namespaces, .. } = &run.server;
    let unreadable = &desired.unreadable;
    print_diagnostics(terminal, unreadable);
    let is_incomplete = !unreadable.is_empty();
    let plan = run.plan(desired, None)?.shard(args.shard.shard, |_| false);
    let targets: Vec<&Target> = plan.targets().collect();
    let (states, definitions) = futures::join!(fetch(cluster, &targets), definitions_beside(cluster, &targets));
    if run.interrupt.is_set() {
        return Err(Failure::interrupted("the run was interrupted: no snapshot was written"));
    }
    let redactor = Redactor::default();
    let mut documents = vec![heading(&namespaces.default)];
    documents.extend(definitions);
    let mut code = if is_incomplete { EXIT_INCOMPLETE } else { EXIT_SUCCESS };
    terminal.warn(cluster.warned_of_reads());
    for (target, state) in targets.iter().zip(states) {
        if let LiveState::Unreadable(diagnostic) = &state {
            print_error_of(&target.key, diagnostic, terminal);
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
        LiveState::Present(object) => {
            let secrecy = Secrecy::of(&target.key.gvk, Some(target.desired.object()), Some(&object));
            let secrecy = secrecy.of_encrypted(target.desired.origin.is_encrypted);
            Some(withheld(&secrecy, &object, redactor))
        }
    }
}
