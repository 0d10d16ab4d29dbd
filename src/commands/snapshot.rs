//! `snapshot`: read desired, read current, write down.

use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::cli::SnapshotArgs;
use crate::compare::{Redactor, withheld};
use crate::diagnostic::{Code, Diagnostic};
use crate::live::definitions::definitions_beside;
use crate::live::fetch::fetch;
use crate::live::snapshot::{heading, unreadable};
use crate::live::{LiveState, Target};
use crate::report::Role;
use crate::report::{EXIT_INCOMPLETE, EXIT_SUCCESS, Verdict};
use crate::session::configured::{Configured, Settings};
use crate::session::contexts::only_one;
use crate::session::failure::Failure;
use crate::session::output::{tell, unwritable};
use crate::session::reading::Reading;
use crate::session::report_file::{Readers, ReportFile};
use crate::session::setup::{Connected, connected, planned};
use crate::session::signals::listen;
use crate::terminal::Terminal;

/// Runs the command to its exit code.
pub(super) async fn run(args: SnapshotArgs, configured: Configured) -> u8 {
    let terminal = Terminal::themed(args.console.color, args.console.theme, false);
    match Box::pin(capture(&args, configured, &terminal)).await {
        Ok(code) => code,
        Err(failure) => {
            tell(&terminal, &failure.problems);
            failure.verdict.exit_code(false)
        }
    }
}

async fn capture(args: &SnapshotArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    Settings::of(configured?, args.console.verbosity, terminal);
    // A file with the values of Secrets is its owner's alone, from the moment on when it exists.
    let readers = if args.include_secrets { Readers::Owner } else { Readers::Usual };
    let open = |file: &String| match ReportFile::open(Path::new(file), readers) {
        Ok(opened) => Ok((file.clone(), opened)),
        Err(error) => Err(Failure::invalid(unwritable(file, &error))),
    };
    let file = args.file.as_ref().map(open).transpose()?;
    let connection = only_one(&args.connection, "snapshot")?;
    let reading = Reading::begin(&args.input, terminal).await?;
    let interrupt = listen(terminal);
    let connecting = connected(&connection, args.console.verbosity, &args.input, terminal, &interrupt);
    let (desired, connected) = Box::pin(reading.beside(connecting)).await?;
    let Connected { cluster, catalog, namespaces, .. } = connected;
    let plan = planned(desired, catalog, &namespaces, None)?.part(args.shard.shard, |_| false);
    let targets: Vec<&Target> = plan.targets().collect();
    let (states, definitions) = futures::join!(fetch(&cluster, &targets), definitions_beside(&cluster, &targets));
    if interrupt.is_set() {
        let problem = Diagnostic::new(Code::Interrupted, "the run was interrupted: no snapshot was written");
        return Err(Failure { verdict: Verdict::Interrupted, problems: vec![problem] });
    }
    let redactor = Redactor::default();
    let mut documents = vec![heading(&namespaces.default)];
    documents.extend(definitions);
    let mut code = EXIT_SUCCESS;
    for (target, state) in targets.iter().zip(states) {
        match state {
            LiveState::Absent => {}
            LiveState::Unreadable(trouble) => {
                terminal.note(Role::Problem, &format!("error: {}: {}", target.key, trouble.message));
                documents.push(unreadable(target, &trouble));
                code = EXIT_INCOMPLETE;
            }
            LiveState::Present(object) if !args.include_secrets => {
                documents.push(withheld(&target.key.gvk, target.desired.object(), &object, &redactor));
            }
            LiveState::Present(object) => documents.push(object),
        }
    }
    let text = render(&documents)?;
    match file {
        Some((name, file)) => {
            file.write(text.as_bytes()).map_err(|error| Failure::invalid(unwritable(&name, &error)))?;
        }
        // A reader that went away ends the run quietly.
        None => drop(terminal.document(&text)),
    }
    Ok(code)
}

fn render(documents: &[Value]) -> anyhow::Result<String> {
    let mut text = String::new();
    for document in documents {
        let yaml = serde_saphyr::to_string(document).context("an object cannot be written as YAML")?;
        text.push_str("---\n");
        text.push_str(&yaml);
    }
    Ok(text)
}
