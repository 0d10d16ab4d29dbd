//! `pull`: read desired, read current, compare, and write live values into the manifests.

use reconcile_report::Role;
use reconcile_report::pull::PullReport;

use crate::cli::{CompareArgs, ForceChoice, InputArgs, PullArgs, PullFormat, ReplaceChoice};
use crate::engine::reconciliation::Reconciliation;
use crate::session::configured::{Configured, Settings};
use crate::session::edits::patch_questions::{ask, can_ask, interrupted};
use crate::session::edits::pulling::{Collected, Pulling};
use crate::session::failure::Failure;
use crate::session::output::{Output, print_diagnostics};
use crate::session::run::Invocation;
use crate::session::setup::policy;
use crate::session::stored::refuse_stored;
use crate::terminal::Terminal;
use reconcile_core::compare::Class;
use reconcile_core::pull::Selection;

/// Runs the command to its exit code. A reader that went away ends the run quietly.
pub(super) async fn run(args: &PullArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let report = match Box::pin(report(args, configured, output)).await {
        Ok(report) => report,
        Err(failure) if args.output == PullFormat::Json => PullReport::stopped(failure, args.dry_run),
        Err(failure) => return Err(failure),
    };
    print_diagnostics(terminal, report.errors());
    let _ = match args.output {
        PullFormat::Json => terminal.data(&report.json()),
        PullFormat::Text => terminal.text(&report.patch()).and_then(|()| terminal.text(&report.summary())),
    };
    Ok(report.exit_code)
}

async fn report(args: &PullArgs, configured: Configured, output: &Output) -> Result<PullReport, Failure> {
    let settings = &Settings::of(configured?, output);
    refuse_stored(&args.input, "pull")?;
    has_files(&args.input)?;
    if args.patch {
        can_ask(args.input.filename.iter().any(|path| path == "-"))?;
    }
    let (selection, compare) = (selection(args), compare_args(args));
    let policy = policy(&compare, settings)?;
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let (run, desired) = Box::pin(invocation.begin("pull")).await?;
    let collected = Collected::default();
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
    for remark in &pulling.remarks {
        output.terminal.note(Role::Note, remark);
    }
    if args.patch {
        ask(pulling.proposals(), output, &run.interrupt).await?;
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
    let is_stream = |path: &str| path == "-" || path.starts_with("http://") || path.starts_with("https://");
    if input.filename.iter().all(|path| path.to_str().is_some_and(is_stream)) {
        return Err(Failure::refused(message, "name the files or folders of the manifests with `-f`"));
    }
    Ok(())
}

fn selection(args: &PullArgs) -> Selection {
    let PullArgs { classes, managers, fields, objects, .. } = args;
    let (classes, managers) = (classes.clone(), managers.clone());
    Selection { classes, managers, fields: fields.clone(), objects: objects.clone() }
}

/// The flags of a comparison that takes no fields from others and writes nothing.
fn compare_args(args: &PullArgs) -> CompareArgs {
    CompareArgs {
        field_manager: args.field_manager.clone(),
        evidence: args.evidence,
        autoscalers: args.autoscalers,
        show_unmanaged: args.classes.contains(&Class::Unmanaged),
        explain_ignores: false,
        strict_ownership: false,
        fail_on: Vec::new(),
        force_conflicts: ForceChoice::Manual,
        replace: ReplaceChoice::Never,
        adopt: Vec::new(),
        leave_applyset: false,
        no_expect_applyset: true,
        create_namespace: false,
    }
}
