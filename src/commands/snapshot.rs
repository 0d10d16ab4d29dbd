//! `snapshot`: read desired, read current, write down.

use std::io::Write as _;

use anyhow::Context as _;
use serde_json::Value;

use super::failure::Failure;
use super::output::tell;
use super::reading::Reading;
use super::setup::{Connected, connected, planned};
use crate::cli::SnapshotArgs;
use crate::compare::{Redactor, withheld};
use crate::live::fetch::fetch;
use crate::live::snapshot::unreadable;
use crate::live::{LiveState, Target};
use crate::report::styled::Role;
use crate::report::{EXIT_CLEAN, EXIT_INCOMPLETE};
use crate::terminal::Terminal;

/// Runs the command to its exit code.
pub(super) async fn run(args: SnapshotArgs) -> u8 {
    let terminal = Terminal::new(args.console.color, false);
    match capture(&args, &terminal).await {
        Ok(code) => code,
        Err(failure) => {
            tell(&terminal, &failure.problems);
            failure.verdict.exit_code(false)
        }
    }
}

async fn capture(args: &SnapshotArgs, terminal: &Terminal) -> Result<u8, Failure> {
    let connecting = connected(&args.connection, args.console.verbosity, &args.input, terminal, None);
    let reading = Reading::begin(&args.input, terminal).await?;
    let (desired, connected) = Box::pin(reading.beside(connecting)).await?;
    let Connected { cluster, catalog, namespaces, .. } = connected;
    let plan = planned(desired, catalog, &namespaces)?;
    let targets: Vec<&Target> = plan.targets.iter().collect();
    let states = fetch(&cluster, &targets).await;
    let redactor = Redactor::default();
    let mut documents = Vec::new();
    let mut code = EXIT_CLEAN;
    for (target, state) in targets.iter().zip(states) {
        match state {
            LiveState::Absent => {}
            LiveState::Unreadable(trouble) => {
                terminal.note(Role::Problem, &format!("error: {}: {}", target.key, trouble.message));
                documents.push(unreadable(target, &trouble));
                code = EXIT_INCOMPLETE;
            }
            LiveState::Present(object) if !args.include_secrets => {
                documents.push(withheld(&target.key.gvk, &target.manifest.value, &object, &redactor));
            }
            LiveState::Present(object) => documents.push(object),
        }
    }
    write(&render(&documents)?, args, terminal)?;
    Ok(code)
}

fn render(documents: &[Value]) -> anyhow::Result<String> {
    let mut text = String::new();
    for document in documents {
        let yaml = serde_saphyr::to_string(document).context("an object can't be written as YAML")?;
        text.push_str("---\n");
        text.push_str(&yaml);
    }
    Ok(text)
}

/// A file with the values of Secrets is its owner's alone, from the moment on when it exists.
fn write(text: &str, args: &SnapshotArgs, terminal: &Terminal) -> anyhow::Result<()> {
    let Some(path) = &args.file else {
        // A reader that went away ends the run quietly.
        let _ = terminal.data(text);
        return Ok(());
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if args.include_secrets {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let written = options.open(path).and_then(|mut file| {
        #[cfg(unix)]
        if args.include_secrets {
            // The file may be an older one, open to others.
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        }
        file.write_all(text.as_bytes())
    });
    written.with_context(|| format!("{path}: cannot be written"))
}
