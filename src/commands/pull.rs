//! `pull`: read desired, read current, compare, and write live values into the manifests.

use std::ffi::OsStr;
use std::fs;

use reconcile_report::Role;
use reconcile_report::pull::PullReport;

use crate::cli::{CompareArgs, InputArgs, PullArgs, PullFormat, ShardArgs, WritingArgs};
use crate::engine::reconciliation::Reconciliation;
use crate::session::configured::{Configured, Settings};
use crate::session::edits::patch_questions::ask;
use crate::session::edits::pulling::{Collected, Pulling};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::question::{can_ask, interrupted};
use crate::session::run::Invocation;
use crate::session::setup::{early_reads, policy};
use crate::session::stored::refuse_stored;
use crate::terminal::Terminal;
use reconcile_core::compare::Class;
use reconcile_core::pull::Selection;

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &PullArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let report = Box::pin(report(args, configured, output)).await;
    let stopped = |failure| PullReport::stopped(failure, args.dry_run);
    let stopped = (args.output == PullFormat::Json).then_some(stopped);
    output.print_report(report, stopped, |report, terminal| match args.output {
        PullFormat::Json => terminal.data(&report.json()),
        PullFormat::Text => terminal.text(&report.patch()).and_then(|()| terminal.text(&report.summary())),
    })
}

async fn report(args: &PullArgs, configured: Configured, output: &Output) -> Result<PullReport, Failure> {
    let settings = &Settings::of(configured?, output);
    refuse_stored(&args.input, "pull")?;
    has_files(&args.input)?;
    if args.patch {
        let hint = "choose with `--class`, `--manager`, `--field` and `--object` instead";
        can_ask("`--patch` asks on a terminal, and there is none", &args.input, hint)?;
    }
    let (selection, compare) = (selection(args), compare_args(args));
    let policy = policy(&compare, settings)?;
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let (run, desired) = Box::pin(invocation.begin("pull", early_reads(&compare, ShardArgs::default(), []))).await?;
    let collected = Collected::default();
    let selection = selection.with_types(&run.server.discovery);
    let plan = run.plan(desired, None)?;
    let keys: Vec<_> = plan.targets().map(|target| &target.key).collect();
    for name in selection.unmatched(&keys) {
        let message = format!("warning: no object of the manifests is `{name}`");
        output.terminal.note(Role::Note, &message);
    }
    let comparison = run.comparison(&compare, &policy, &plan, &collected);
    let pass = Box::pin(Reconciliation::compare(comparison, plan, None)).await;
    for warning in pass.warnings() {
        output.terminal.note(Role::Note, &format!("warning: {warning}"));
    }
    pass.end();
    let mut pulling = Pulling::of(collected, &selection);
    for missing in &pulling.missing {
        output.terminal.note(Role::Note, &missing.to_string());
    }
    if args.patch {
        ask(&mut pulling, output, &run.interrupt).await?;
    }
    if run.interrupt.is_set() {
        return Err(interrupted());
    }
    Ok(PullReport::new(pulling.write(args.dry_run), args.dry_run, run.info))
}

/// Refuses an input in which no manifest is in a file.
fn has_files(input: &InputArgs) -> Result<(), Failure> {
    let message = "`pull` writes into the files of manifests, and this input has none";
    if let Some(folder) = &input.kustomize {
        let folder = folder.to_string_lossy();
        let hint = format!("kustomize makes these manifests: change the files that {folder}/kustomization.yaml names");
        return Err(Failure::refused(message, hint));
    }
    if input.filename.iter().all(|path| is_stream(path)) {
        return Err(Failure::refused(message, "name the files or folders of the manifests with `-f`"));
    }
    Ok(())
}

/// Returns true for standard input, a URL and what the shell or somebody else opens: a pipe or a device.
fn is_stream(path: &OsStr) -> bool {
    let text = path.to_str().unwrap_or_default();
    let begins = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    text == "-"
        || begins(&["http://", "https://", "/dev/stdin", "/dev/fd/", "/proc/self/fd/"])
        || fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn selection(args: &PullArgs) -> Selection {
    let PullArgs { classes, managers, fields, objects, .. } = args;
    let (classes, managers) = (classes.clone(), managers.clone());
    let fields = fields.iter().flat_map(|list| &list.0).cloned().collect();
    Selection { classes, managers, fields, objects: objects.clone() }
}

/// The flags of a comparison that takes no fields from others and writes nothing.
fn compare_args(args: &PullArgs) -> CompareArgs {
    let show_unmanaged = args.classes.contains(&Class::Unmanaged);
    CompareArgs { show_unmanaged, ..CompareArgs::only(&args.evidence, &WritingArgs::default()) }
}
